/* test_filehead.c - what src/codec/filehead.c promises about headers, footers and trailers.
 *
 * Offsets in FOOTER's record: 12 data bytes, 20 row count, 24 section count, 28, 32 and 36 bytes of
 * ids, manifest and schema, 40 reserved; sections at 44 and 64: +0 id, +2 reserved, +4 offset, +12
 * bytes; 84 checksums of two pages; 92 ids "I", 93 manifest "MM", 95 schema "SSS". */
#include "damage.h"

#include "base/crc32c.h"
#include "codec/filehead.h"
#include "codec/record.h"

static const struct file_header HEADER = {.kind = FILE_VECTORS_F16,
                                          .compat = 0x10,
                                          .read_compat = 0x20,
                                          .number = 17,
                                          .collection = 7,
                                          .field = 1,
                                          .row_nbytes = 1536,
                                          .dim = 768};

static const uint8_t PAGE_CRCS[] = {1, 2, 3, 4, 5, 6, 7, 8};

static const struct file_footer FOOTER = {
    .data_nbytes = 70000,
    .row_count = 40,
    .section_count = 2,
    .sections = {{.id = SECTION_DOCUMENTS, .offset = 0, .nbytes = 60000},
                 {.id = SECTION_LENGTHS, .offset = 65536, .nbytes = 4000}},
    .page_crcs = PAGE_CRCS,
    .page_count = 2,
    .ids = {"I", 1},
    .manifest = {"MM", 2},
    .schema = {"SSS", 3}};

static const struct file_trailer TRAILER = {
    .footer_offset = 70064, .footer_nbytes = 98, .footer_crc = 0x12345678};

static paua_status decode_header(const void *bytes, size_t length, void *out)
{
    return file_header_decode(bytes, length, out);
}

static paua_status decode_footer(const void *bytes, size_t length, void *out)
{
    return file_footer_decode(bytes, length, out);
}

static paua_status decode_trailer(const void *bytes, size_t length, void *out)
{
    return file_trailer_decode(bytes, length, out);
}

static paua_status encode_footer(const void *footer, struct writer *w)
{
    return file_footer_encode(footer, w);
}

static void mend_header(uint8_t *bytes, size_t length)
{
    if (length >= 64) bytes_put(bytes + 60, crc32c(0, bytes, 60), 4);
}

static void mend_trailer(uint8_t *bytes, size_t length)
{
    if (length >= 24) bytes_put(bytes + 16, crc32c(0, bytes, 16), 4);
}

static const struct decoder HEADER_DECODER = {decode_header, sizeof(struct file_header),
                                              mend_header};
static const struct decoder FOOTER_DECODER = {decode_footer, sizeof(struct file_footer),
                                              mend_record};
static const struct decoder TRAILER_DECODER = {decode_trailer, sizeof(struct file_trailer),
                                               mend_trailer};

static void assert_header_round_trip(const struct file_header *header)
{
    uint8_t bytes[FILE_HEADER_NBYTES];
    struct file_header back;

    file_header_encode(header, bytes);
    assert_int_equal(file_header_decode(bytes, sizeof bytes, &back), PAUA_OK);
    assert_int_equal(back.kind, header->kind);
    assert_int_equal(back.compat, header->compat);
    assert_int_equal(back.read_compat, header->read_compat);
    assert_int_equal(back.incompat, header->incompat);
    assert_true(back.number == header->number);
    assert_int_equal(back.collection, header->collection);
    assert_int_equal(back.field, header->field);
    assert_int_equal(back.row_nbytes, header->row_nbytes);
    assert_int_equal(back.dim, header->dim);
}

static void a_headers_bytes_are_the_committed_ones(void **state)
{
    uint8_t bytes[FILE_HEADER_NBYTES];

    (void)state;
    file_header_encode(&HEADER, bytes);
    assert_golden(
        bytes, sizeof bytes,
        "5041554146494c45 0100 02 00 10000000 20000000 00000000 1100000000000000 07000000 "
        "01000000 00060000 00030000 000000000000000000000000 76a0a545");
}

static void a_header_comes_back_with_every_field(void **state)
{
    static const struct file_header others[] = {
        {.kind = FILE_VECTORS_F32,
         .number = UINT64_MAX,
         .collection = UINT32_MAX,
         .field = 15,
         .row_nbytes = 4 * PAUA_DIM_MAX,
         .dim = PAUA_DIM_MAX},
        {.kind = FILE_HEAP,
         .compat = UINT32_MAX,
         .read_compat = UINT32_MAX,
         .number = 1,
         .collection = 1},
        {.kind = FILE_KEYS, .number = 1, .collection = 1},
        {.kind = FILE_CODES, .number = 2, .collection = 1, .field = 15, .dim = PAUA_DIM_MAX},
        {.kind = FILE_GRAPH, .number = 3, .collection = 1, .dim = 1},
        {.kind = FILE_COLUMNS, .number = 4, .collection = 1},
    };

    (void)state;
    assert_header_round_trip(&HEADER);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_header_round_trip(&others[i]);
}

static void each_kind_of_file_has_its_suffix(void **state)
{
    (void)state;
    assert_string_equal(file_kind_suffix(FILE_VECTORS_F32), ".f32");
    assert_string_equal(file_kind_suffix(FILE_VECTORS_F16), ".f16");
    assert_string_equal(file_kind_suffix(FILE_HEAP), ".heap");
    assert_string_equal(file_kind_suffix(FILE_KEYS), ".keys");
    assert_string_equal(file_kind_suffix(FILE_CODES), ".codes");
    assert_string_equal(file_kind_suffix(FILE_GRAPH), ".graph");
    assert_string_equal(file_kind_suffix(FILE_COLUMNS), ".columns");
}

static void a_damaged_header_is_refused(void **state)
{
    uint8_t bytes[FILE_HEADER_NBYTES];

    (void)state;
    file_header_encode(&HEADER, bytes);
    assert_every_flipped_bit_is_refused(&HEADER_DECODER, bytes, sizeof bytes);
    assert_every_other_length_is_refused(&HEADER_DECODER, bytes, sizeof bytes, true);
}

static void a_forged_header_is_refused(void **state)
{
    static const struct forgery forgeries[] = {
        {0, 1, 'p', 0},
        {7, 1, 'F', 0},
        {8, 2, 0, PAUA_EVERSION},
        {8, 2, 2, PAUA_EVERSION},
        {10, 1, 0, 0}, /* kind */
        {10, 1, FILE_VECTORS_F32, 0},
        {10, 1, FILE_HEAP, 0},
        {10, 1, FILE_CODES, 0},
        {10, 1, FILE_COLUMNS + 1, 0},
        {11, 1, 1, 0}, /* reserved */
        {20, 4, 1, PAUA_EVERSION},
        {20, 4, UINT32_C(1) << 31, PAUA_EVERSION},
        {24, 8, 0, 0},  /* number */
        {32, 4, 0, 0},  /* collection */
        {36, 4, 16, 0}, /* field */
        {40, 4, 0, 0},  /* row_nbytes */
        {40, 4, 1538, 0},
        {44, 4, 0, 0}, /* dim */
        {44, 4, 65536, 0},
        {44, 4, 768 + (UINT32_C(1) << 31), 0}, /* times 2 wraps round */
        {48, 4, 1, 0},                         /* reserved */
        {56, 4, 256, 0},
    };
    uint8_t bytes[FILE_HEADER_NBYTES];

    (void)state;
    file_header_encode(&HEADER, bytes);
    assert_forgeries_are_refused(&HEADER_DECODER, bytes, sizeof bytes, forgeries,
                                 sizeof forgeries / sizeof forgeries[0]);
    bytes_put(bytes + 40, 0, 4); /* no components of no bytes */
    bytes_put(bytes + 44, 0, 4);
    mend_header(bytes, sizeof bytes);
    assert_refused(&HEADER_DECODER, bytes, sizeof bytes, PAUA_ECORRUPT);
    bytes_put(bytes + 40, 2 * 65536, 4);
    bytes_put(bytes + 44, 65536, 4);
    mend_header(bytes, sizeof bytes);
    assert_refused(&HEADER_DECODER, bytes, sizeof bytes, PAUA_ECORRUPT);
}

static void a_heap_files_header_has_no_vector_fields(void **state)
{
    static const struct forgery forgeries[] = {{36, 4, 1, 0},          {40, 4, 4, 0},
                                               {44, 4, 1, 0},          {10, 1, 0, 0},
                                               {10, 1, FILE_CODES, 0}, {10, 1, FILE_VALUES + 1, 0},
                                               {10, 1, 255, 0}};
    static const struct file_header heap = {.kind = FILE_HEAP, .number = 1, .collection = 1};
    uint8_t bytes[FILE_HEADER_NBYTES];

    (void)state;
    file_header_encode(&heap, bytes);
    assert_forgeries_are_refused(&HEADER_DECODER, bytes, sizeof bytes, forgeries,
                                 sizeof forgeries / sizeof forgeries[0]);
}

static void a_codes_files_header_is_checked_like_that_of_vectors(void **state)
{
    static const struct forgery forgeries[] = {
        {10, 1, 0, 0},         {10, 1, 7, 0},    {10, 1, FILE_VECTORS_F32, 0},
        {10, 1, FILE_HEAP, 0}, {36, 4, 16, 0},   {40, 4, 4, 0},
        {44, 4, 0, 0},         {44, 4, 65536, 0}};
    static const struct file_header codes = {
        .kind = FILE_CODES, .number = 1, .collection = 1, .field = 1, .dim = 7};
    uint8_t bytes[FILE_HEADER_NBYTES];

    (void)state;
    file_header_encode(&codes, bytes);
    assert_forgeries_are_refused(&HEADER_DECODER, bytes, sizeof bytes, forgeries,
                                 sizeof forgeries / sizeof forgeries[0]);
}

static void assert_same_description(paua_bytes a, paua_bytes b)
{
    assert_int_equal(a.nbytes, b.nbytes);
    assert_int_equal(a.data != NULL, b.data != NULL);
    if (b.nbytes > 0) assert_memory_equal(a.data, b.data, b.nbytes);
}

static void assert_footer_round_trip(const struct file_footer *footer)
{
    struct writer w = {0};
    struct file_footer back;

    assert_int_equal(file_footer_encode(footer, &w), PAUA_OK);
    assert_int_equal(file_footer_decode(w.bytes, w.length, &back), PAUA_OK);
    assert_true(back.data_nbytes == footer->data_nbytes);
    assert_int_equal(back.row_count, footer->row_count);
    assert_int_equal(back.section_count, footer->section_count);
    for (uint32_t i = 0; i < back.section_count; i++) {
        assert_int_equal(back.sections[i].id, footer->sections[i].id);
        assert_true(back.sections[i].offset == footer->sections[i].offset);
        assert_true(back.sections[i].nbytes == footer->sections[i].nbytes);
    }
    assert_int_equal(back.page_count, footer->page_count);
    if (back.page_count > 0)
        assert_memory_equal(back.page_crcs, footer->page_crcs, 4 * (size_t)back.page_count);
    assert_same_description(back.ids, footer->ids);
    assert_same_description(back.manifest, footer->manifest);
    assert_same_description(back.schema, footer->schema);
    writer_free(&w);
}

static void a_footers_bytes_are_the_committed_ones(void **state)
{
    struct writer w = {0};

    (void)state;
    assert_int_equal(file_footer_encode(&FOOTER, &w), PAUA_OK);
    assert_golden(
        w.bytes, w.length,
        "50465452 0100 0000 c233c705 7011010000000000 28000000 02000000 01000000 02000000 03000000 "
        "00000000 0200 0000 0000000000000000 60ea000000000000 "
        "0300 0000 0000010000000000 a00f000000000000 01020304 05060708 49 4d4d 535353");
    writer_free(&w);
}

static void a_footer_comes_back_with_every_field(void **state)
{
    static const struct file_footer empty = {0};
    struct file_footer full = {.data_nbytes = FILE_PAGE_NBYTES,
                               .row_count = UINT32_MAX,
                               .section_count = FILE_SECTIONS_MAX,
                               .page_crcs = PAGE_CRCS,
                               .page_count = 1};

    (void)state;
    for (uint32_t i = 0; i < FILE_SECTIONS_MAX; i++)
        full.sections[i] = (struct section){(uint16_t)(UINT16_MAX - i), i / 2 * 2048, i % 2 * 2048};
    assert_footer_round_trip(&FOOTER);
    assert_footer_round_trip(&empty);
    assert_footer_round_trip(&full);
}

static void a_damaged_footer_is_refused(void **state)
{
    struct writer w = {0};

    (void)state;
    assert_int_equal(file_footer_encode(&FOOTER, &w), PAUA_OK);
    assert_every_flipped_bit_is_refused(&FOOTER_DECODER, w.bytes, w.length);
    assert_every_other_length_is_refused(&FOOTER_DECODER, w.bytes, w.length, true);
    writer_free(&w);
}

static void a_forged_footer_is_refused(void **state)
{
    static const struct forgery forgeries[] = {
        {4, 2, 2, PAUA_EVERSION},
        {12, 8, 65536, 0},  /* one page less */
        {12, 8, 131073, 0}, /* one page more */
        {12, 8, 69535, 0},  /* shorter than its sections */
        {12, 8, UINT64_MAX, 0},
        {12, 8, (UINT64_C(1) << 48) + 70000, 0}, /* the pages wrap round in 32 bits */
        {24, 4, 1, 0},                           /* section count */
        {24, 4, 3, 0},
        {24, 4, 65, 0},
        {24, 4, UINT32_MAX, 0},
        {28, 4, 0, 0}, /* descriptions */
        {28, 4, 2, 0},
        {32, 4, UINT32_MAX, 0},
        {36, 4, 4, 0},
        {40, 4, 1, 0}, /* reserved */
        {44, 2, 0, 0}, /* section's id */
        {44, 2, SECTION_LENGTHS, 0},
        {46, 2, 1, 0},    /* reserved */
        {48, 8, 5537, 0}, /* overlaps the next */
        {48, 8, 65537, 0},
        {56, 8, 65537, 0},
        {68, 8, 59999, 0},
        {68, 8, 66001, 0}, /* ends outside the data */
        {68, 8, 70001, 0}, /* begins outside the data */
        {76, 8, 4465, 0},
        {76, 8, UINT64_MAX - 65535, 0}, /* its end wraps round */
    };
    struct writer w = {0};

    (void)state;
    assert_int_equal(file_footer_encode(&FOOTER, &w), PAUA_OK);
    assert_int_equal(w.length, 98);
    assert_forgeries_are_refused(&FOOTER_DECODER, w.bytes, w.length, forgeries,
                                 sizeof forgeries / sizeof forgeries[0]);
    writer_free(&w);
}

/* Right but for the number of its empty sections. */
static void more_sections_than_there_is_room_for_are_refused(void **state)
{
    (void)state;
    for (uint32_t count = FILE_SECTIONS_MAX; count <= FILE_SECTIONS_MAX + 1; count++) {
        struct writer w = {0};
        struct file_footer footer;

        record_begin(&w, 0x52544650, 1);
        writer_u64(&w, 0);
        writer_u32(&w, 0);
        writer_u32(&w, count);
        writer_u64(&w, 0);
        writer_u64(&w, 0);
        for (uint32_t i = 0; i < count; i++) {
            writer_u32(&w, i + 1);
            writer_u64(&w, 0);
            writer_u64(&w, 0);
        }
        assert_int_equal(record_end(&w), PAUA_OK);
        if (count <= FILE_SECTIONS_MAX)
            assert_int_equal(file_footer_decode(w.bytes, w.length, &footer), PAUA_OK);
        else
            assert_refused(&FOOTER_DECODER, w.bytes, w.length, PAUA_ECORRUPT);
        writer_free(&w);
    }
}

static void encoding_a_footer_without_memory_fails(void **state)
{
    (void)state;
    assert_encode_needs_memory(encode_footer, &FOOTER);
}

static void a_trailers_bytes_are_the_committed_ones(void **state)
{
    uint8_t bytes[FILE_TRAILER_NBYTES];

    (void)state;
    file_trailer_encode(&TRAILER, bytes);
    assert_golden(bytes, sizeof bytes, "b011010000000000 62000000 78563412 73ea28e1 50454e44");
}

static void a_trailer_comes_back_with_every_field(void **state)
{
    static const struct file_trailer cases[] = {
        {64, 12, 0},
        {UINT64_MAX - 12 - 24, 12, UINT32_MAX},
        {70064, UINT32_MAX, 7},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t bytes[FILE_TRAILER_NBYTES];
        struct file_trailer back;

        file_trailer_encode(&cases[i], bytes);
        assert_int_equal(file_trailer_decode(bytes, sizeof bytes, &back), PAUA_OK);
        assert_true(back.footer_offset == cases[i].footer_offset);
        assert_int_equal(back.footer_nbytes, cases[i].footer_nbytes);
        assert_int_equal(back.footer_crc, cases[i].footer_crc);
    }
}

static void a_damaged_or_forged_trailer_is_refused(void **state)
{
    static const struct forgery forgeries[] = {
        {0, 8, 63, 0},                       /* inside the header */
        {0, 8, UINT64_MAX - 98 - 24 + 1, 0}, /* the end wraps round */
        {0, 8, UINT64_MAX, 0},
        {8, 4, 11, 0}, /* too short for a record */
        {20, 4, 0, 0}, /* magic */
        {20, 4, 0x444E4551, 0},
    };
    uint8_t bytes[FILE_TRAILER_NBYTES];

    (void)state;
    file_trailer_encode(&TRAILER, bytes);
    assert_every_flipped_bit_is_refused(&TRAILER_DECODER, bytes, sizeof bytes);
    assert_every_other_length_is_refused(&TRAILER_DECODER, bytes, sizeof bytes, true);
    assert_forgeries_are_refused(&TRAILER_DECODER, bytes, sizeof bytes, forgeries,
                                 sizeof forgeries / sizeof forgeries[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_headers_bytes_are_the_committed_ones),
        cmocka_unit_test(a_header_comes_back_with_every_field),
        cmocka_unit_test(each_kind_of_file_has_its_suffix),
        cmocka_unit_test(a_damaged_header_is_refused),
        cmocka_unit_test(a_forged_header_is_refused),
        cmocka_unit_test(a_heap_files_header_has_no_vector_fields),
        cmocka_unit_test(a_codes_files_header_is_checked_like_that_of_vectors),
        cmocka_unit_test(a_footers_bytes_are_the_committed_ones),
        cmocka_unit_test(a_footer_comes_back_with_every_field),
        cmocka_unit_test(a_damaged_footer_is_refused),
        cmocka_unit_test(a_forged_footer_is_refused),
        cmocka_unit_test(more_sections_than_there_is_room_for_are_refused),
        cmocka_unit_test(encoding_a_footer_without_memory_fails),
        cmocka_unit_test(a_trailers_bytes_are_the_committed_ones),
        cmocka_unit_test(a_trailer_comes_back_with_every_field),
        cmocka_unit_test(a_damaged_or_forged_trailer_is_refused),
    };
    return cmocka_run_group_tests_name("codec/filehead", tests, NULL, NULL);
}
