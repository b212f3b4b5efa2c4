/* test_golden_history.c - a history that version 1 wrote is read as it was, and written the same.
 *
 *   test_golden_history DIRECTORY */
#include "golden/history_rows.h"
#include "golden/same_rows.h"

#include <stdio.h>

#include "history/stored.h"

static const char *folder;

static struct test_buffer load(const char *name)
{
    struct test_buffer buffer = {0};
    char path[4096], bytes[4096];
    size_t nbytes;
    FILE *file;

    snprintf(path, sizeof path, "%s/history-v1/%s", folder, name);
    file = fopen(path, "rb");
    if (file == NULL) fail_msg("%s cannot be opened", path);
    while ((nbytes = fread(bytes, 1, sizeof bytes, file)) > 0)
        assert_true(test_write(&buffer, bytes, nbytes));
    fclose(file);
    return buffer;
}

static void a_golden_history_is_read_as_it_was_written(void **state)
{
    struct test_buffer bytes = load("history");
    paua_history *golden = test_decode(&bytes), *fresh = golden_history();
    paua_history_view *v = test_view(golden), *w = test_view(fresh);

    (void)state;
    assert_int_equal(paua_history_view_rows(v), GOLDEN_ROWS);
    for (uint64_t i = 0; i < GOLDEN_ROWS; i++) {
        paua_history_row a, b;

        assert_ok(paua_history_view_row(v, i, &a, &test_err));
        assert_ok(paua_history_view_row(w, i, &b, &test_err));
        assert_rows_same(&a, &b);
    }
    assert_int_equal(golden->next_id, fresh->next_id);
    paua_history_view_close(v);
    paua_history_view_close(w);
    paua_history_close(golden);
    paua_history_close(fresh);
    test_buffer_free(&bytes);
}

static void the_golden_file_has_every_form_of_a_page(void **state)
{
    struct test_buffer bytes = load("history");
    struct reader r = reader_over(bytes.bytes, bytes.nbytes);
    struct stored_history head;
    size_t forms[3] = {0}, gaps = 0, times = 0, soft = 0;

    (void)state;
    assert_int_equal(stored_history_decode(&r, &head), PAUA_OK);
    assert_true(head.has_tail);
    for (uint32_t i = 0; i <= head.page_count; i++) {
        struct stored_page page;
        const uint8_t *data;
        bool intact;

        assert_int_equal(stored_page_decode(&r, &page, &data, &intact), PAUA_OK);
        assert_true(intact);
        assert_int_equal(page.is_tail, i == head.page_count);
        forms[page.form]++;
        gaps += page.has_gaps;
        times += page.last_time > 0;
        soft += page.last_soft;
    }
    assert_int_equal(reader_left(&r), 0);
    assert_true(forms[STORED_PLAIN] > 0 && forms[STORED_ZSTD] > 0 && forms[STORED_ZSTD_KEYED] > 0);
    assert_true(gaps > 0 && times > 0 && soft > 0);
    test_buffer_free(&bytes);
}

static void payloads_are_written_byte_for_byte(void **state)
{
    struct test_buffer golden = load("payloads");
    paua_history *h = golden_history();
    struct writer payloads = {0};

    (void)state;
    for (size_t at = 0; at <= history_page_count(h); at++)
        golden_payload(h, at, &payloads);
    assert_int_equal(payloads.length, golden.nbytes);
    assert_memory_equal(payloads.bytes, golden.bytes, golden.nbytes);
    writer_free(&payloads);
    paua_history_close(h);
    test_buffer_free(&golden);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_golden_history_is_read_as_it_was_written),
        cmocka_unit_test(the_golden_file_has_every_form_of_a_page),
        cmocka_unit_test(payloads_are_written_byte_for_byte),
    };

    if (argc != 2) {
        fprintf(stderr, "usage: test_golden_history DIRECTORY\n");
        return 2;
    }
    folder = argv[1];
    return cmocka_run_group_tests_name("golden/history", tests, NULL, NULL);
}
