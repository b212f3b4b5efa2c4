/* test_stored.c - whole histories as bytes: damage is found, salvaging leaves marked holes. */
#include "support.h"

#include <stdio.h>

#include "history/stored.h"

/* Three pages, one of them keyed, and a tail. */
static struct test_buffer sample(void)
{
    paua_history *h = test_history(&(struct test_opts){.page_rows = 20});
    struct test_buffer bytes;

    for (uint64_t i = 0; i < 70; i++) {
        char text[60];

        snprintf(text, sizeof text, "row %llu of the sample, of the sample", (unsigned long long)i);
        test_append(h, 60, text);
    }
    test_idle_twice(h);
    assert_int_equal(test_stats(h).cold_pages, 2);
    bytes = test_encode(h);
    paua_history_close(h);
    return bytes;
}

/* Decodes a copy of exactly these bytes. */
static paua_status decode(const char *bytes, size_t nbytes, bool salvage, paua_history **h,
                          uint64_t *damaged)
{
    paua_history_decode_opts opts = {.size = sizeof opts, .salvage = salvage};
    char *exact = malloc(nbytes + (nbytes == 0));
    paua_status status;

    assert_non_null(exact);
    if (nbytes > 0) memcpy(exact, bytes, nbytes);
    status = paua_history_decode(exact, nbytes, &opts, h, damaged, &test_err);
    free(exact);
    return status;
}

static void what_is_written_is_read_and_written_again(void **state)
{
    struct test_buffer bytes = sample(), again;
    paua_history *h = test_decode(&bytes);
    paua_history_view *v = test_view(h);

    (void)state;
    assert_int_equal(paua_history_view_rows(v), 70);
    assert_row(v, 33, "row 33 of the sample, of the sample");
    assert_row(v, 69, "row 69 of the sample, of the sample");
    assert_int_equal(test_stats(h).pages, 3);
    paua_history_view_close(v);
    paua_history_close(h);
    h = test_decode(&bytes);
    assert_int_equal(test_stats(h).cold_pages, 3);
    again = test_encode(h);
    assert_int_equal(again.nbytes, bytes.nbytes);
    assert_memory_equal(again.bytes, bytes.bytes, bytes.nbytes);
    test_append(h, 60, "more");
    assert_true(test_stats(h).next_id == 72);
    paua_history_close(h);
    test_buffer_free(&bytes);
    test_buffer_free(&again);
}

static void an_empty_history_is_48_bytes(void **state)
{
    paua_history *h = test_history(NULL);
    struct test_buffer bytes = test_encode(h);

    (void)state;
    paua_history_close(h);
    assert_int_equal(bytes.nbytes, STORED_HISTORY_NBYTES);
    h = test_decode(&bytes);
    assert_int_equal(test_stats(h).rows, 0);
    test_append_numbered(h, 0, 1);
    paua_history_close(h);
    test_buffer_free(&bytes);
}

static void every_flipped_bit_is_refused(void **state)
{
    struct test_buffer bytes = sample();
    paua_history *h = NULL;

    (void)state;
    for (size_t bit = 0; bit < 8 * bytes.nbytes; bit++) {
        paua_status status;

        bytes.bytes[bit / 8] = (char)(bytes.bytes[bit / 8] ^ 1 << bit % 8);
        status = decode(bytes.bytes, bytes.nbytes, false, &h, NULL);
        if (status != PAUA_ECORRUPT || h != NULL) fail_msg("bit %zu", bit);
        bytes.bytes[bit / 8] = (char)(bytes.bytes[bit / 8] ^ 1 << bit % 8);
    }
    test_buffer_free(&bytes);
}

static void every_other_length_is_refused(void **state)
{
    struct test_buffer bytes = sample();
    paua_history *h = NULL;

    (void)state;
    for (size_t cut = 0; cut < bytes.nbytes; cut++)
        if (decode(bytes.bytes, cut, true, &h, NULL) != PAUA_ECORRUPT) fail_msg("cut to %zu", cut);
    test_write(&bytes, "\0", 1);
    assert_int_equal(decode(bytes.bytes, bytes.nbytes, true, &h, NULL), PAUA_ECORRUPT);
    assert_null(h);
    test_buffer_free(&bytes);
}

/* A flipped bit anywhere: the history comes back whole, with holes, or not at all. */
static void salvaging_keeps_what_is_readable(void **state)
{
    struct test_buffer bytes = sample();
    size_t with_holes = 0;

    (void)state;
    for (size_t bit = 0; bit < 8 * bytes.nbytes; bit += 7) {
        paua_history *h = NULL;
        uint64_t damaged = 0, lost = 0;

        bytes.bytes[bit / 8] = (char)(bytes.bytes[bit / 8] ^ 1 << bit % 8);
        if (decode(bytes.bytes, bytes.nbytes, true, &h, &damaged) == PAUA_OK) {
            paua_history_view *v = test_view(h);

            test_validate(h);
            assert_int_equal(paua_history_view_rows(v), 70);
            for (uint64_t i = 0; i < 70; i++) {
                paua_history_row row;
                paua_status status = paua_history_view_row(v, i, &row, &test_err);
                char text[60];

                snprintf(text, sizeof text, "row %llu of the sample, of the sample",
                         (unsigned long long)i);
                if (status == PAUA_OK) assert_row(v, i, text);
                lost += status == PAUA_ECORRUPT;
            }
            assert_true(lost == damaged && lost > 0);
            with_holes++;
            paua_history_view_close(v);
            paua_history_close(h);
        }
        bytes.bytes[bit / 8] = (char)(bytes.bytes[bit / 8] ^ 1 << bit % 8);
    }
    assert_true(with_holes > 20);
    test_buffer_free(&bytes);
}

static bool note_hole(void *arg, uint64_t index, const paua_history_row *row)
{
    uint64_t *hole = arg;

    if (row->damaged_rows == 0) return true;
    assert_int_equal(row->text_nbytes, 0);
    hole[0] = index;
    hole[1] = row->damaged_rows;
    return true;
}

static void a_hole_is_an_error_and_marked(void **state)
{
    struct test_buffer bytes = sample(), text = {0};
    paua_history *h = NULL;
    paua_history_view *v;
    paua_history_range range = {.size = sizeof range, .count = UINT64_MAX};
    paua_history_reflow *f = NULL;
    paua_history_row row;
    uint64_t damaged, hole[2] = {0};
    size_t second = STORED_HISTORY_NBYTES;

    (void)state;
    second += STORED_PAGE_NBYTES + (size_t)bytes_get((const uint8_t *)bytes.bytes + second + 20, 4);
    bytes.bytes[second + STORED_PAGE_NBYTES] ^= 1;
    assert_ok(decode(bytes.bytes, bytes.nbytes, true, &h, &damaged));
    assert_int_equal(damaged, 20);
    v = test_view(h);
    assert_fails(paua_history_view_row(v, 25, &row, &test_err), PAUA_ECORRUPT);
    assert_non_null(strstr(test_err.message, "rows 20 to 39"));
    assert_row(v, 40, "row 40 of the sample, of the sample");
    assert_fails(paua_history_view_each(v, &range, note_hole, hole, &test_err), PAUA_ECORRUPT);
    range.holes = true;
    for (int lines = 0; lines < 2; lines++) {
        range.lines = lines == 1;
        memset(hole, 0, sizeof hole);
        assert_ok(paua_history_view_each(v, &range, note_hole, hole, &test_err));
        assert_true(hole[0] == 20 && hole[1] == 20);
    }
    assert_ok(paua_history_view_export(v, &range, PAUA_HISTORY_TEXT, test_write, &text, &test_err));
    assert_non_null(strstr(text.bytes, "\n[20 rows from 20 on are damaged]\nrow 40 of"));
    assert_fails(paua_history_encode(v, test_write, &text, &test_err), PAUA_ECORRUPT);
    assert_ok(paua_history_reflow_open(v, 100, 0, 70, &f, &test_err));
    assert_int_equal(paua_history_reflow_rows(f), 51);
    assert_fails(paua_history_reflow_row(f, 20, &row, NULL, &test_err), PAUA_ECORRUPT);
    assert_ok(paua_history_reflow_row(f, 21, &row, NULL, &test_err));
    assert_true(row.id == 41);
    paua_history_reflow_close(f);
    paua_history_view_close(v);
    test_validate(h);
    test_idle_twice(h);
    paua_history_close(h);
    test_buffer_free(&bytes);
    test_buffer_free(&text);
}

/* Heads changed with their hash mended: the checks of values have to refuse. */
static const struct {
    size_t page; /* 0: the history's head; n: the n-th page's; 4: the tail's */
    size_t at, width;
    uint64_t value;
    paua_status status;
} FORGERIES[] = {
    {0, 0, 4, 0x12345678, PAUA_ECORRUPT}, /* magic */
    {0, 4, 2, 2, PAUA_EVERSION},
    {0, 4, 2, 0, PAUA_ECORRUPT},
    {0, 6, 2, 0, PAUA_ECORRUPT}, /* no tail */
    {0, 6, 2, 2, PAUA_ECORRUPT},
    {0, 8, 8, 0, PAUA_ECORRUPT}, /* next id */
    {0, 8, 8, 70, PAUA_ECORRUPT},
    {0, 16, 8, 71, PAUA_ECORRUPT},         /* rows */
    {0, 24, 8, UINT64_MAX, PAUA_ECORRUPT}, /* last time */
    {0, 32, 4, 2, PAUA_ECORRUPT},          /* pages */
    {0, 32, 4, 4, PAUA_ECORRUPT},
    {0, 32, 4, UINT32_MAX, PAUA_ECORRUPT},
    {0, 36, 4, 1, PAUA_ECORRUPT},         /* reserved */
    {1, 0, 4, 0x4C544850, PAUA_ECORRUPT}, /* a tail's magic */
    {1, 0, 4, 0, PAUA_ECORRUPT},
    {1, 4, 1, 2, PAUA_EVERSION},
    {1, 4, 1, 0, PAUA_ECORRUPT},
    {1, 5, 1, 0, PAUA_ECORRUPT}, /* form */
    {1, 5, 1, 2, PAUA_ECORRUPT},
    {1, 5, 1, 3, PAUA_ECORRUPT},
    {1, 6, 1, 1, PAUA_ECORRUPT}, /* key distance */
    {2, 6, 1, 0, PAUA_ECORRUPT},
    {2, 6, 1, 2, PAUA_ECORRUPT},
    {2, 6, 1, 8, PAUA_ECORRUPT},
    {2, 5, 1, 1, PAUA_ECORRUPT},
    {1, 7, 1, 1, PAUA_ECORRUPT}, /* flags */
    {1, 7, 1, 2, PAUA_ECORRUPT},
    {1, 7, 1, 4, PAUA_ECORRUPT},
    {1, 8, 4, 0, PAUA_ECORRUPT}, /* rows */
    {1, 8, 4, 19, PAUA_ECORRUPT},
    {1, 8, 4, 257, PAUA_ECORRUPT},
    {1, 12, 4, 1, PAUA_ECORRUPT}, /* reserved */
    {1, 16, 4, 0, PAUA_ECORRUPT}, /* payload bytes */
    {1, 16, 4, 100000, PAUA_ECORRUPT},
    {1, 16, 4, UINT32_MAX, PAUA_ECORRUPT},
    {1, 20, 4, 10, PAUA_ECORRUPT}, /* bytes */
    {1, 20, 4, UINT32_MAX, PAUA_ECORRUPT},
    {1, 24, 8, 0, PAUA_ECORRUPT}, /* first id */
    {1, 24, 8, 2, PAUA_ECORRUPT},
    {1, 32, 8, UINT64_MAX, PAUA_ECORRUPT}, /* last id */
    {1, 32, 8, 21, PAUA_ECORRUPT},
    {2, 24, 8, 20, PAUA_ECORRUPT},
    {1, 40, 8, 5, PAUA_ECORRUPT}, /* times */
    {1, 48, 8, 5, PAUA_ECORRUPT},
    {1, 40, 8, UINT64_MAX, PAUA_ECORRUPT},
    {1, 56, 8, 1, PAUA_ECORRUPT}, /* hashes */
    {1, 64, 8, 1, PAUA_ECORRUPT},
    {4, 0, 4, 0x47504850, PAUA_ECORRUPT}, /* a page's magic */
    {4, 5, 1, 2, PAUA_ECORRUPT},
    {4, 7, 1, 1, PAUA_ECORRUPT},
    {4, 8, 4, 9, PAUA_ECORRUPT},
    {4, 24, 8, 60, PAUA_ECORRUPT},
    {4, 56, 8, 1, PAUA_ECORRUPT},
};

static void forged_heads_are_refused(void **state)
{
    struct test_buffer bytes = sample();
    size_t heads[5] = {0, STORED_HISTORY_NBYTES};
    uint8_t *raw = (uint8_t *)bytes.bytes;

    (void)state;
    for (size_t i = 2; i < 5; i++)
        heads[i] =
            heads[i - 1] + STORED_PAGE_NBYTES + (size_t)bytes_get(raw + heads[i - 1] + 20, 4);
    for (size_t i = 0; i < sizeof FORGERIES / sizeof FORGERIES[0]; i++) {
        uint8_t *head = raw + heads[FORGERIES[i].page], was[STORED_PAGE_NBYTES];
        size_t nbytes = FORGERIES[i].page == 0 ? STORED_HISTORY_NBYTES : STORED_PAGE_NBYTES;
        paua_history *h = NULL;
        paua_status status;

        memcpy(was, head, nbytes);
        assert_true(bytes_get(head + FORGERIES[i].at, FORGERIES[i].width) != FORGERIES[i].value);
        bytes_put(head + FORGERIES[i].at, FORGERIES[i].value, FORGERIES[i].width);
        bytes_put(head + nbytes - 8, frame_hash(head, nbytes - 8), 8);
        status = decode(bytes.bytes, bytes.nbytes, false, &h, NULL);
        if (status != FORGERIES[i].status || h != NULL)
            fail_msg("case %zu: %s", i, paua_strstatus(status));
        memcpy(head, was, nbytes);
    }
    test_buffer_free(&bytes);
}

/* Salvaging takes what a head says of bytes that are damaged, so a head is checked by itself. */
static void heads_of_damaged_pages_are_still_checked(void **state)
{
    static const struct {
        size_t page;
        size_t at, width;
        uint64_t value;
    } CASES[] = {
        {1, 5, 1, 0},           {1, 5, 1, 3},           {1, 6, 1, 1},           {1, 7, 1, 2},
        {1, 7, 1, 4},           {1, 8, 4, 0},           {1, 8, 4, 19},          {1, 8, 4, 257},
        {1, 16, 4, 0},          {1, 16, 4, UINT32_MAX}, {1, 16, 4, 5},          {1, 24, 8, 0},
        {1, 24, 8, 2},          {1, 24, 8, 30},         {1, 32, 8, UINT64_MAX}, {1, 40, 8, 5},
        {1, 40, 8, UINT64_MAX}, {1, 48, 8, 5},          {2, 6, 1, 0},           {2, 6, 1, 8},
        {2, 5, 1, 1},
    };
    struct test_buffer bytes = sample();
    size_t heads[3] = {0, STORED_HISTORY_NBYTES};
    uint8_t *raw = (uint8_t *)bytes.bytes;

    (void)state;
    heads[2] = heads[1] + STORED_PAGE_NBYTES + (size_t)bytes_get(raw + heads[1] + 20, 4);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        uint8_t *head = raw + heads[CASES[i].page], was[STORED_PAGE_NBYTES];
        struct reader r = reader_over(head, bytes.nbytes - heads[CASES[i].page]);
        struct stored_page page;
        const uint8_t *data;
        bool intact;

        memcpy(was, head, sizeof was);
        bytes_put(head + CASES[i].at, CASES[i].value, CASES[i].width);
        bytes_put(head + 72, frame_hash(head, 72), 8);
        if (stored_page_decode(&r, &page, &data, &intact) != PAUA_ECORRUPT) fail_msg("case %zu", i);
        memcpy(head, was, sizeof was);
    }
    test_buffer_free(&bytes);
}

/* Two holes, whose heads hold each by itself and do not follow one another. */
static void holes_are_in_order(void **state)
{
    static const struct {
        uint64_t first_id, last_id, first_time, last_time;
        paua_status status;
    } CASES[] = {
        {21, 40, 0, 0, PAUA_OK},
        {21, 40, 7, 8, PAUA_ECORRUPT}, /* the third has none */
        {20, 39, 0, 0, PAUA_ECORRUPT},
        {22, 41, 0, 0, PAUA_ECORRUPT}, /* in the third's way */
    };
    struct test_buffer bytes = sample();
    uint8_t *raw = (uint8_t *)bytes.bytes;
    size_t second = STORED_HISTORY_NBYTES + STORED_PAGE_NBYTES +
                    (size_t)bytes_get(raw + STORED_HISTORY_NBYTES + 20, 4);

    (void)state;
    raw[second + STORED_PAGE_NBYTES] ^= 1;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        paua_history *h = NULL;
        uint8_t *head = raw + second;

        bytes_put(head + 24, CASES[i].first_id, 8);
        bytes_put(head + 32, CASES[i].last_id, 8);
        bytes_put(head + 40, CASES[i].first_time, 8);
        bytes_put(head + 48, CASES[i].last_time, 8);
        bytes_put(head + 72, frame_hash(head, 72), 8);
        if (decode(bytes.bytes, bytes.nbytes, true, &h, NULL) != CASES[i].status)
            fail_msg("case %zu", i);
        paua_history_close(h);
    }
    test_buffer_free(&bytes);
}

static void writing_can_be_stopped(void **state)
{
    paua_history *h = test_history(&(struct test_opts){.page_rows = 20});
    paua_history_view *v;

    (void)state;
    test_append_numbered(h, 0, 70);
    v = test_view(h);
    for (size_t n = 1; n <= 5; n++) {
        struct test_buffer bytes = {.until_stop = n};

        assert_fails(paua_history_encode(v, test_write, &bytes, &test_err), PAUA_ECANCELED);
        test_buffer_free(&bytes);
    }
    paua_history_view_close(v);
    paua_history_close(h);
}

static void evicted_rows_are_not_written(void **state)
{
    paua_history *h = test_history(&(struct test_opts){.page_rows = 20});
    paua_history_limits limits = {.max_rows = 45};
    struct test_buffer bytes;
    paua_history_view *v;

    (void)state;
    test_append_numbered(h, 0, 70);
    assert_ok(paua_history_go_cold(h, &test_err));
    paua_history_set_limits(h, &limits);
    bytes = test_encode(h);
    assert_null(memmem(bytes.bytes, bytes.nbytes, "row 24", 6));
    paua_history_close(h);
    h = test_decode(&bytes);
    v = test_view(h);
    assert_numbered(v, 25, 45);
    paua_history_view_close(v);
    paua_history_close(h);
    test_buffer_free(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_and_written_again),
        cmocka_unit_test(an_empty_history_is_48_bytes),
        cmocka_unit_test(every_flipped_bit_is_refused),
        cmocka_unit_test(every_other_length_is_refused),
        cmocka_unit_test(salvaging_keeps_what_is_readable),
        cmocka_unit_test(a_hole_is_an_error_and_marked),
        cmocka_unit_test(forged_heads_are_refused),
        cmocka_unit_test(heads_of_damaged_pages_are_still_checked),
        cmocka_unit_test(holes_are_in_order),
        cmocka_unit_test(writing_can_be_stopped),
        cmocka_unit_test(evicted_rows_are_not_written),
    };

    return cmocka_run_group_tests_name("history/stored", tests, NULL, NULL);
}
