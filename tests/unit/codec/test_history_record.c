/* test_history_record.c - what src/codec/history_record.c promises about the records of histories.
 *
 * Offsets in HISTORY's record: 12 history, 16 generation, 24 first row, 32 tail's row, 40 next row,
 * 48 next id, 56 next page, 64 last time, 72 file, 80 its bytes, 88 groups, 92, 100, 108 limits,
 * 116 rows a page, 120 name.
 * In GROUP's: 12 history, 16 first page, 24 first row, 32 file, 40 offset, 48 pages, 52 bytes of
 * the filter, 56 heads. In TAIL's: 12 history, 16 generation, 24 first row, 32 page. */
#include "damage.h"

#include "codec/history_record.h"
#include "codec/record.h"

static const struct history_record HISTORY = {.history = 7,
                                              .generation = 99,
                                              .first_row = 1000,
                                              .tail_row = 5000,
                                              .next_row = 5003,
                                              .next_id = 5004,
                                              .next_page = 20,
                                              .last_time = 123456789,
                                              .file = 17,
                                              .file_nbytes = 40000,
                                              .group_count = 3,
                                              .max_rows = 1,
                                              .max_nbytes = 2,
                                              .max_age_ms = 3,
                                              .page_rows = 256,
                                              .name = "shell"};

static uint8_t heads[2 * HISTORY_PAGE_HEAD_NBYTES] = {1, 2, 3};
static const struct history_group GROUP = {.history = 7,
                                           .first_page = 16,
                                           .first_row = 4000,
                                           .file = 17,
                                           .offset = 64,
                                           .page_count = 2,
                                           .heads = heads,
                                           .filter = {"filter", 6}};

static const struct history_tail TAIL = {
    .history = 7, .generation = 99, .first_row = 5000, .page = {heads, 100}};

static paua_status decode_history(const void *bytes, size_t length, void *out)
{
    return history_record_decode(bytes, length, out);
}

static paua_status decode_group(const void *bytes, size_t length, void *out)
{
    return history_group_decode(bytes, length, out);
}

static paua_status decode_tail(const void *bytes, size_t length, void *out)
{
    return history_tail_decode(bytes, length, out);
}

static paua_status encode_history(const void *record, struct writer *w)
{
    return history_record_encode(record, w);
}

static paua_status encode_group(const void *group, struct writer *w)
{
    return history_group_encode(group, w);
}

static paua_status encode_tail(const void *tail, struct writer *w)
{
    return history_tail_encode(tail, w);
}

static const struct decoder HISTORY_DECODER = {decode_history, sizeof(struct history_record),
                                               mend_record};
static const struct decoder GROUP_DECODER = {decode_group, sizeof(struct history_group),
                                             mend_record};
static const struct decoder TAIL_DECODER = {decode_tail, sizeof(struct history_tail), mend_record};

static void records_decode_to_what_was_encoded(void **state)
{
    struct writer w = {0};
    struct history_record h;
    struct history_group g;
    struct history_tail t;

    (void)state;
    assert_int_equal(history_record_encode(&HISTORY, &w), PAUA_OK);
    assert_int_equal(history_record_decode(w.bytes, w.length, &h), PAUA_OK);
    assert_int_equal(h.generation, 99);
    assert_int_equal(h.next_id, 5004);
    assert_int_equal(h.group_count, 3);
    assert_int_equal(h.max_age_ms, 3);
    assert_string_equal(h.name, "shell");
    writer_free(&w);
    w = (struct writer){0};
    assert_int_equal(history_group_encode(&GROUP, &w), PAUA_OK);
    assert_int_equal(history_group_decode(w.bytes, w.length, &g), PAUA_OK);
    assert_int_equal(g.first_row, 4000);
    assert_memory_equal(g.heads, heads, sizeof heads);
    assert_memory_equal(g.filter.data, "filter", 6);
    writer_free(&w);
    w = (struct writer){0};
    assert_int_equal(history_tail_encode(&TAIL, &w), PAUA_OK);
    assert_int_equal(history_tail_decode(w.bytes, w.length, &t), PAUA_OK);
    assert_int_equal(t.page.nbytes, 100);
    assert_memory_equal(t.page.data, heads, 100);
    writer_free(&w);
}

static void history_records_have_the_documented_bytes(void **state)
{
    struct writer w = {0};

    (void)state;
    assert_int_equal(history_record_encode(&HISTORY, &w), PAUA_OK);
    assert_int_equal(w.length, 120 + 6);
    assert_memory_equal(w.bytes, "PHIS", 4);
    assert_int_equal(bytes_get(w.bytes + 88, 4), 3);
    assert_int_equal(bytes_get(w.bytes + 116, 4), 256);
    writer_free(&w);
    w = (struct writer){0};
    assert_int_equal(history_group_encode(&GROUP, &w), PAUA_OK);
    assert_int_equal(w.length, 56 + 160 + 6);
    assert_memory_equal(w.bytes, "PHGR", 4);
    writer_free(&w);
    w = (struct writer){0};
    assert_int_equal(history_tail_encode(&TAIL, &w), PAUA_OK);
    assert_int_equal(w.length, 32 + 100);
    assert_memory_equal(w.bytes, "PHTR", 4);
    writer_free(&w);
}

static void damaged_histories_are_refused(void **state)
{
    static const struct forgery forgeries[] = {
        {12, 4, 0, PAUA_OK},          {24, 8, 5004, PAUA_OK},   {32, 8, 5004, PAUA_OK},
        {40, 8, UINT64_MAX, PAUA_OK}, {48, 8, 0, PAUA_OK},      {56, 8, 1ull << 40, PAUA_OK},
        {64, 8, 1ull << 63, PAUA_OK}, {72, 8, 0, PAUA_OK},      {80, 8, 0, PAUA_OK},
        {80, 8, 1ull << 63, PAUA_OK}, {88, 4, 21, PAUA_OK},     {116, 4, 0, PAUA_OK},
        {116, 4, 257, PAUA_OK},       {120, 1, 0, PAUA_OK},     {120, 1, 6, PAUA_OK},
        {121, 1, '\n', PAUA_OK},      {4, 2, 2, PAUA_EVERSION}, {6, 2, 1, PAUA_OK},
    };
    struct writer w = {0};

    (void)state;
    assert_int_equal(history_record_encode(&HISTORY, &w), PAUA_OK);
    assert_every_flipped_bit_is_refused(&HISTORY_DECODER, w.bytes, w.length);
    assert_every_other_length_is_refused(&HISTORY_DECODER, w.bytes, w.length, true);
    assert_forgeries_are_refused(&HISTORY_DECODER, w.bytes, w.length, forgeries,
                                 sizeof forgeries / sizeof forgeries[0]);
    writer_free(&w);
}

static void damaged_groups_are_refused(void **state)
{
    static const struct forgery forgeries[] = {
        {12, 4, 0, PAUA_OK},          {16, 8, 1ull << 40, PAUA_OK}, {24, 8, 1ull << 63, PAUA_OK},
        {32, 8, 0, PAUA_OK},          {40, 8, 1ull << 63, PAUA_OK}, {48, 4, 0, PAUA_OK},
        {48, 4, 1, PAUA_OK},          {48, 4, 3, PAUA_OK},          {48, 4, 9, PAUA_OK},
        {48, 4, UINT32_MAX, PAUA_OK}, {52, 4, 5, PAUA_OK},          {52, 4, 7, PAUA_OK},
        {52, 4, UINT32_MAX, PAUA_OK}, {4, 2, 2, PAUA_EVERSION},
    };
    struct writer w = {0};

    (void)state;
    assert_int_equal(history_group_encode(&GROUP, &w), PAUA_OK);
    assert_every_flipped_bit_is_refused(&GROUP_DECODER, w.bytes, w.length);
    assert_every_other_length_is_refused(&GROUP_DECODER, w.bytes, w.length, true);
    assert_forgeries_are_refused(&GROUP_DECODER, w.bytes, w.length, forgeries,
                                 sizeof forgeries / sizeof forgeries[0]);
    writer_free(&w);
}

/* What follows the fields is the page: only the page's own checks know its length. */
static void damaged_tails_are_refused(void **state)
{
    static const struct forgery forgeries[] = {
        {12, 4, 0, PAUA_OK}, {24, 8, 1ull << 63, PAUA_OK}, {4, 2, 2, PAUA_EVERSION}};
    struct writer w = {0};

    (void)state;
    assert_int_equal(history_tail_encode(&TAIL, &w), PAUA_OK);
    assert_every_flipped_bit_is_refused(&TAIL_DECODER, w.bytes, w.length);
    assert_every_other_length_is_refused(&TAIL_DECODER, w.bytes, w.length, false);
    assert_forgeries_are_refused(&TAIL_DECODER, w.bytes, w.length, forgeries,
                                 sizeof forgeries / sizeof forgeries[0]);
    mend_record(w.bytes, 32 + HISTORY_PAGE_HEAD_NBYTES - 1);
    assert_refused(&TAIL_DECODER, w.bytes, 32 + HISTORY_PAGE_HEAD_NBYTES - 1, PAUA_ECORRUPT);
    writer_free(&w);
}

static void encoding_without_memory_fails(void **state)
{
    (void)state;
    assert_encode_needs_memory(encode_history, &HISTORY);
    assert_encode_needs_memory(encode_group, &GROUP);
    assert_encode_needs_memory(encode_tail, &TAIL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_decode_to_what_was_encoded),
        cmocka_unit_test(history_records_have_the_documented_bytes),
        cmocka_unit_test(damaged_histories_are_refused),
        cmocka_unit_test(damaged_groups_are_refused),
        cmocka_unit_test(damaged_tails_are_refused),
        cmocka_unit_test(encoding_without_memory_fails),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
