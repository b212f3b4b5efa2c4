/* test_threads.c - readers in other threads while the owner appends, idles, evicts and closes.
 * Worth most under ThreadSanitizer. */
#include "support.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { READERS = 3, ROUNDS = 40 };

struct reader_job {
    paua_history_view *view; /* of rows numbered from first on; closed by the reader */
    uint64_t first;
    uint64_t seed;
    size_t wrong;
};

static size_t row_wrong(const paua_history_row *row, uint64_t number)
{
    char text[40];
    int nbytes = snprintf(text, sizeof text, "row %llu", (unsigned long long)number);

    return row->text_nbytes != (uint32_t)nbytes || memcmp(row->text, text, row->text_nbytes) != 0;
}

static bool check_row(void *arg, uint64_t index, const paua_history_row *row)
{
    struct reader_job *job = arg;

    job->wrong += row_wrong(row, job->first + index);
    return true;
}

/* The newest row is found once, from the oldest on. */
static size_t search_wrong(struct reader_job *job, uint64_t rows)
{
    char text[40];
    paua_history_search_opts opts = {.size = sizeof opts, .pattern = text, .whole_word = true};
    paua_history_search *s = NULL;
    paua_history_found found = PAUA_HISTORY_MORE;
    paua_history_match match = {0};

    opts.pattern_nbytes = (size_t)snprintf(text, sizeof text, "row %llu",
                                           (unsigned long long)(job->first + rows - 1));
    if (paua_history_search_open(job->view, &opts, &s, NULL) != PAUA_OK) return 1;
    while (found == PAUA_HISTORY_MORE)
        if (paua_history_search_next(s, 100, &found, &match, NULL, NULL) != PAUA_OK) break;
    paua_history_search_close(s);
    return found != PAUA_HISTORY_MATCH || match.row != rows - 1;
}

static void *reader_run(void *arg)
{
    struct reader_job *job = arg;
    paua_history_range range = {.size = sizeof range, .count = UINT64_MAX};
    uint32_t rows = (uint32_t)paua_history_view_rows(job->view);

    for (int i = 0; i < 20; i++) {
        uint64_t index = test_random_below(&job->seed, rows);
        paua_history_row row;

        if (paua_history_view_row(job->view, index, &row, NULL) != PAUA_OK)
            job->wrong++;
        else
            job->wrong += row_wrong(&row, job->first + index);
    }
    if (paua_history_view_each(job->view, &range, check_row, job, NULL) != PAUA_OK) job->wrong++;
    job->wrong += search_wrong(job, rows);
    paua_history_view_close(job->view);
    return NULL;
}

static void readers_see_their_rows_whatever_the_owner_does(void **state)
{
    struct test_opts opts = {.limits = {.max_rows = 700}, .page_rows = 32};
    paua_history *h = test_history(&opts);
    uint64_t next = 1000;

    (void)state;
    h->filter_rows = h->filter_extent = 100;
    test_append_numbered(h, 0, 1000);
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t threads[READERS];
        struct reader_job jobs[READERS];

        for (int i = 0; i < READERS; i++) {
            jobs[i] = (struct reader_job){
                .view = test_view(h), .first = next - 700, .seed = (uint64_t)(round * READERS + i)};
            assert_int_equal(pthread_create(&threads[i], NULL, reader_run, &jobs[i]), 0);
        }
        for (int i = 0; i < 10; i++) {
            test_append_numbered(h, next, 10);
            next += 10;
            assert_ok(paua_history_idle(h, 10, NULL, &test_err));
        }
        if (round + 1 == ROUNDS) paua_history_close(h);
        for (int i = 0; i < READERS; i++) {
            assert_int_equal(pthread_join(threads[i], NULL), 0);
            assert_int_equal(jobs[i].wrong, 0);
        }
    }
}

/* Histories of several threads take turns with one scratch. */
static void *own_history_run(void *arg)
{
    paua_history_opts opts = {.size = sizeof opts, .scratch = arg, .page_rows = 32};
    paua_history *h = NULL;
    paua_history_view *v = NULL;
    size_t wrong = paua_history_open(&opts, &h, NULL) != PAUA_OK;

    for (uint64_t i = 0; i < 2000 && wrong == 0; i++) {
        char text[40];
        paua_history_new_row row = {.size = sizeof row, .width = 40, .text = text};

        row.text_nbytes = (size_t)snprintf(text, sizeof text, "row %llu", (unsigned long long)i);
        wrong += paua_history_append(h, &row, 1, NULL, NULL) != PAUA_OK;
        if (i % 50 == 0) wrong += paua_history_idle(h, 10, NULL, NULL) != PAUA_OK;
    }
    wrong += wrong > 0 || paua_history_view_open(h, &v, NULL) != PAUA_OK;
    for (uint64_t i = 0; i < 2000 && wrong == 0; i += 37) {
        paua_history_row row;

        wrong += paua_history_view_row(v, i, &row, NULL) != PAUA_OK || row_wrong(&row, i);
    }
    paua_history_view_close(v);
    paua_history_close(h);
    return wrong == 0 ? arg : NULL;
}

static void threads_share_a_scratch(void **state)
{
    paua_history_scratch *scratch = NULL;
    pthread_t threads[READERS];

    (void)state;
    assert_ok(paua_history_scratch_open(&scratch, &test_err));
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, own_history_run, scratch), 0);
    for (int i = 0; i < READERS; i++) {
        void *fine = NULL;

        assert_int_equal(pthread_join(threads[i], &fine), 0);
        assert_non_null(fine);
    }
    paua_history_scratch_close(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_see_their_rows_whatever_the_owner_does),
        cmocka_unit_test(threads_share_a_scratch),
    };

    return cmocka_run_group_tests_name("history/threads", tests, NULL, NULL);
}
