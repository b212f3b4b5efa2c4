/* test_column_record.c - directories of files of columns: "PCOL".
 *
 * Offsets: u64 segment at 12, u32 rows at 20, u32 fields at 24; the first field at 28: u32 id, u32
 * type, u64 offset (36), u64 nbytes (44), u32 dictionary count (52), u64 dictionary bytes (56), u16
 * name length (64), name (66), and at 68 its chunk: u8 kind, u8 width, u16 0, u32 nulls (72), u64
 * base (76), u64 least (84), u64 most (92), u64 bytes (100). The second field is at 108. */
#include "damage.h"

#include "base/memory.h"
#include "codec/column_record.h"

#define ROWS 100u
#define SECOND 80u /* from a field to the next */

struct world {
    struct column_chunk_record chunks[5];
    struct column_field_record fields[5];
    struct column_directory directory;
    uint64_t nbytes;
};

/* A field of each kind of chunk. */
static void world_make(struct world *world)
{
    static const struct column_chunk_record chunks[5] = {
        {.kind = COLUMN_RECORD_PACKED, .width = 4, .nulls = 1, .base = 7, .least = 8, .most = 20},
        {.kind = COLUMN_RECORD_SPARSE, .width = 8, .nulls = 90, .base = 1, .least = 1, .most = 2},
        {.kind = COLUMN_RECORD_RAW, .nulls = 3, .base = 1, .least = 0, .most = UINT64_MAX},
        {.kind = COLUMN_RECORD_UNREPEATED, .base = 1, .most = UINT64_MAX, .nbytes = 333},
        {.kind = COLUMN_RECORD_CONSTANT, .nulls = 100, .base = 1, .least = 1, .most = 0}};
    static const uint64_t nbytes[5] = {56, 16 + 24, 816, 336 + 400 + 400, 0};

    *world = (struct world){0};
    memcpy(world->chunks, chunks, sizeof chunks);
    for (uint32_t i = 0; i < 5; i++) {
        world->fields[i] = (struct column_field_record){.id = 3 + i,
                                                        .type = PAUA_TYPE_INT32,
                                                        .name = {'f', (char)('0' + i)},
                                                        .offset = world->nbytes,
                                                        .nbytes = nbytes[i],
                                                        .chunks = &world->chunks[i]};
        if (i == 1) {
            world->fields[i].dictionary_count = 2;
            world->fields[i].dictionary_nbytes = 5;
            world->fields[i].nbytes = 16 + 24 + 16;
        }
        world->nbytes += world->fields[i].nbytes;
    }
    world->directory = (struct column_directory){
        .segment = 12, .rows = ROWS, .field_count = 5, .fields = world->fields};
}

static uint64_t section_nbytes;

static paua_status decode(const void *bytes, size_t length, void *out)
{
    return column_directory_decode(bytes, length, section_nbytes, out);
}

static const struct decoder decoder = {
    .decode = decode, .out_nbytes = sizeof(struct column_directory), .mend = mend_record};

static void encode(struct writer *w)
{
    struct world world;

    world_make(&world);
    section_nbytes = world.nbytes;
    assert_int_equal(column_directory_encode(&world.directory, w), PAUA_OK);
}

static void a_directory_comes_back_as_it_was(void **state)
{
    struct column_directory back = {0};
    struct world world;
    struct writer w = {0};

    (void)state;
    encode(&w);
    world_make(&world);
    assert_int_equal(decode(w.bytes, w.length, &back), PAUA_OK);
    assert_true(back.segment == 12 && back.rows == ROWS && back.field_count == 5);
    for (uint32_t i = 0; i < 5; i++) {
        const struct column_field_record *a = &back.fields[i], *b = &world.fields[i];

        assert_true(a->id == b->id && a->type == b->type && a->offset == b->offset);
        assert_true(a->nbytes == b->nbytes && a->dictionary_count == b->dictionary_count);
        assert_true(a->dictionary_nbytes == b->dictionary_nbytes);
        assert_string_equal(a->name, b->name);
        assert_true(a->chunks->kind == b->chunks->kind && a->chunks->width == b->chunks->width);
        assert_true(a->chunks->nulls == b->chunks->nulls && a->chunks->base == b->chunks->base);
        assert_true(a->chunks->least == b->chunks->least && a->chunks->most == b->chunks->most);
        assert_true(a->chunks->nbytes == b->chunks->nbytes);
    }
    column_directory_free(&back);
    writer_free(&w);
}

static void a_directory_without_fields_is_one(void **state)
{
    struct column_directory none = {.segment = 1, .rows = 5}, back = {0};
    struct writer w = {0};

    (void)state;
    assert_int_equal(column_directory_encode(&none, &w), PAUA_OK);
    assert_int_equal(column_directory_decode(w.bytes, w.length, 0, &back), PAUA_OK);
    assert_int_equal(back.field_count, 0);
    column_directory_free(&back);
    assert_int_equal(column_directory_decode(w.bytes, w.length, 8, &back), PAUA_ECORRUPT);
    writer_free(&w);
}

static void ends_are_wide_where_bytes_are_4_gib_or_more(void **state)
{
    struct column_chunk_record chunk = {.kind = COLUMN_RECORD_UNREPEATED};
    struct column_chunk_layout layout;

    (void)state;
    chunk.nbytes = UINT32_MAX;
    column_chunk_lay(&chunk, 100, 8, &layout);
    assert_true(layout.ends == 8 + (UINT64_C(1) << 32));
    assert_true(layout.hashes == layout.ends + 400);
    chunk.nbytes++;
    column_chunk_lay(&chunk, 100, 8, &layout);
    assert_true(layout.hashes == layout.ends + 800);
    assert_true(layout.end == layout.hashes + 400);
}

static void damaged_directories_are_refused(void **state)
{
    struct writer w = {0};

    (void)state;
    encode(&w);
    assert_every_flipped_bit_is_refused(&decoder, w.bytes, w.length);
    assert_every_other_length_is_refused(&decoder, w.bytes, w.length, true);
    section_nbytes++;
    assert_refused(&decoder, w.bytes, w.length, PAUA_ECORRUPT);
    section_nbytes -= 2;
    assert_refused(&decoder, w.bytes, w.length, PAUA_ECORRUPT);
    writer_free(&w);
}

static void forged_directories_are_refused(void **state)
{
    static const struct forgery forgeries[] = {
        {.at = 4, .width = 2, .value = 2, .status = PAUA_EVERSION},
        {.at = 20, .width = 4, .value = 0}, /* rows */
        {.at = 20, .width = 4, .value = 99},
        {.at = 20, .width = 4, .value = UINT32_MAX},
        {.at = 24, .width = 4, .value = 4}, /* fields */
        {.at = 24, .width = 4, .value = 6},
        {.at = 24, .width = 4, .value = UINT32_MAX},
        {.at = 28, .width = 4, .value = 4}, /* id: that of the next */
        {.at = 36, .width = 8, .value = 8}, /* offset */
        {.at = 44, .width = 8, .value = 64},
        {.at = 44, .width = 8, .value = UINT64_MAX - 7},
        {.at = 52, .width = 4, .value = 1}, /* a dictionary that does not fit */
        {.at = 56, .width = 8, .value = 1},
        {.at = 56, .width = 8, .value = UINT64_MAX},
        {.at = 64, .width = 2, .value = 0}, /* name */
        {.at = 64, .width = 2, .value = 256},
        {.at = 66, .width = 1, .value = 0x1F},
        {.at = 66, .width = 1, .value = 0xFF},
        {.at = 68, .width = 1, .value = 5}, /* kind */
        {.at = 68, .width = 1, .value = COLUMN_RECORD_CONSTANT},
        {.at = 69, .width = 1, .value = 3}, /* width */
        {.at = 69, .width = 1, .value = 8},
        {.at = 69, .width = 1, .value = 64},
        {.at = 70, .width = 2, .value = 1},
        {.at = 72, .width = 4, .value = 100}, /* nulls: all of them */
        {.at = 72, .width = 4, .value = 101},
        {.at = 84, .width = 8, .value = 21},                /* a zone that falls */
        {.at = 100, .width = 8, .value = 8},                /* bytes of what is not unrepeated */
        {.at = 69 + SECOND, .width = 1, .value = 128},      /* sparse: width */
        {.at = 72 + SECOND, .width = 4, .value = 80},       /* sparse: more entries */
        {.at = 69 + 2 * SECOND, .width = 1, .value = 8},    /* raw: width */
        {.at = 72 + 2 * SECOND, .width = 4, .value = 0},    /* raw: presence that is not there */
        {.at = 76 + 2 * SECOND, .width = 8, .value = 2},    /* raw: base */
        {.at = 84 + 3 * SECOND, .width = 8, .value = 1},    /* unrepeated: zone */
        {.at = 100 + 3 * SECOND, .width = 8, .value = 337}, /* unrepeated: bytes */
        {.at = 100 + 3 * SECOND, .width = 8, .value = UINT64_C(1) << 32},
        {.at = 72 + 4 * SECOND, .width = 4, .value = 99}, /* constant: nulls */
        {.at = 69 + 4 * SECOND, .width = 1, .value = 1},
        {.at = 84 + 4 * SECOND, .width = 8, .value = 2}, /* constant: neither none nor one */
    };
    struct writer w = {0};

    (void)state;
    encode(&w);
    assert_forgeries_are_refused(&decoder, w.bytes, w.length, forgeries,
                                 sizeof forgeries / sizeof forgeries[0]);
    writer_free(&w);
}

static void decoding_without_memory_says_so(void **state)
{
    struct column_directory back = {0};
    struct writer w = {0};

    (void)state;
    encode(&w);
    for (uint64_t n = 1; n <= 2; n++) {
        mem_fail_after(n);
        assert_int_equal(decode(w.bytes, w.length, &back), PAUA_ENOMEM);
        mem_fail_after(0);
        assert_null(back.fields);
    }
    writer_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_directory_comes_back_as_it_was),
        cmocka_unit_test(a_directory_without_fields_is_one),
        cmocka_unit_test(ends_are_wide_where_bytes_are_4_gib_or_more),
        cmocka_unit_test(damaged_directories_are_refused),
        cmocka_unit_test(forged_directories_are_refused),
        cmocka_unit_test(decoding_without_memory_says_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
