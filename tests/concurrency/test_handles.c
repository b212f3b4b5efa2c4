/* test_handles.c - calls that wait together, and handles that open and close together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "concurrency/journal.h"
#include "concurrency/pairs.h"
#include "db/db.h"

#define CALLERS 64u

struct callers {
    paua_db *db;
    paua_collection *journal;
    struct journal_marks marks;
    uint32_t each;
    _Atomic uint32_t next;
    _Atomic bool stop;
};

static void *insert_singly(void *arg)
{
    struct callers *c = arg;
    uint32_t writer = atomic_fetch_add(&c->next, 1);

    for (uint32_t i = 0; i < c->each; i++)
        journal_write(c->journal, &c->marks, writer, 1);
    return NULL;
}

static void threads_run(uint32_t count, void *(*run)(void *), void *arg)
{
    pthread_t threads[CALLERS];

    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run, arg), 0);
    for (uint32_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

/* What is on the disk while the database is open, copied and opened elsewhere, must have all. */
static void rows_are_in_a_copy(const char *path, struct journal_marks *marks, uint64_t rows)
{
    paua_collection *journal;
    char copy[96];
    paua_db *db;

    snprintf(copy, sizeof copy, "%s-copy", path);
    world_copy(path, copy);
    db = world_open(copy, (paua_open_opts){0});
    journal = world_collection(db, "journal");
    assert_int_equal(journal_read(journal, marks), rows);
    world_validate(journal);
    paua_collection_close(journal);
    paua_close(db);
    world_check(copy);
    world_remove(copy);
}

static void sixty_four_waiting_callers_share_commits_and_all_rows_are_durable(void **state)
{
    static struct callers c;
    struct view *view;
    uint64_t rows, commits;
    char path[64];

    (void)state;
    c = (struct callers){.each = world_whole() ? 500 : 20, .marks.writers = CALLERS};
    world_make(path);
    c.db = world_open(path, (paua_open_opts){.create = true});
    journal_create(c.db, "journal", &c.journal);
    threads_run(CALLERS, insert_singly, &c);
    view = collection_peek(c.journal);
    rows = view->live_rows;
    commits = view->head.last_sequence;
    view_unref(view);
    assert_int_equal(rows, CALLERS * c.each);
    assert_true(commits < rows / 2);
    rows_are_in_a_copy(path, &c.marks, rows);
    paua_collection_close(c.journal);
    paua_close(c.db);
    world_remove(path);
}

/* Each caller opens the collection, inserts one row of its own, and closes it: the last handle may
 * be any. */
static void *open_insert_close(void *arg)
{
    struct callers *c = arg;
    uint32_t writer = atomic_fetch_add(&c->next, 1);

    for (uint32_t i = 0; i < c->each; i++) {
        paua_collection *journal = world_collection(c->db, "journal");

        journal_write(journal, &c->marks, writer, 1);
        paua_collection_close(journal);
    }
    return NULL;
}

static void *flush_run(void *arg)
{
    struct callers *c = arg;

    while (!atomic_load(&c->stop))
        MUST(paua_flush(c->db, &err));
    return NULL;
}

static void rows_survive_handles_that_open_and_close_at_the_same_time(void **state)
{
    static struct callers c;
    pthread_t flusher;
    char path[64];

    (void)state;
    c = (struct callers){.each = world_whole() ? 2000 : 150, .marks.writers = 2};
    world_make(path);
    c.db =
        world_open(path, (paua_open_opts){.create = true, .durability = PAUA_BATCH, .batch_ms = 1});
    journal_create(c.db, "journal", &c.journal);
    paua_collection_close(c.journal);
    assert_int_equal(pthread_create(&flusher, NULL, flush_run, &c), 0);
    threads_run(2, open_insert_close, &c);
    atomic_store(&c.stop, true);
    pthread_join(flusher, NULL);
    c.journal = world_collection(c.db, "journal");
    assert_int_equal(journal_read(c.journal, &c.marks), 2 * c.each);
    world_validate(c.journal);
    paua_collection_close(c.journal);
    paua_close(c.db);
    world_check(path);
    world_remove(path);
}

/* Collections are made and dropped beside one that is written. */
static void *create_drop(void *arg)
{
    struct callers *c = arg;
    uint32_t number = atomic_fetch_add(&c->next, 1);
    char name[32];

    snprintf(name, sizeof name, "short-lived %u", number);
    for (uint32_t i = 0; i < c->each; i++) {
        struct journal_marks marks = {.writers = 1};
        paua_collection *journal;

        journal_create(c->db, name, &journal);
        journal_write(journal, &marks, 0, 3);
        if (i % 2 == 0) MUST(paua_optimize(journal, NULL, &err));
        assert_int_equal(journal_read(journal, &marks), 3);
        paua_collection_close(journal);
        MUST(paua_collection_drop(c->db, name, &err));
    }
    return NULL;
}

static void count_name(void *arg, const char *name)
{
    (void)name;
    ++*(uint32_t *)arg;
}

static void collections_are_made_and_dropped_by_many_threads(void **state)
{
    static struct callers c;
    uint32_t names = 0;
    char path[64];

    (void)state;
    c = (struct callers){.each = world_whole() ? 200 : 20};
    world_make(path);
    c.db = world_open(path, (paua_open_opts){.create = true, .durability = PAUA_OFF});
    threads_run(8, create_drop, &c);
    MUST(paua_collection_list(c.db, count_name, &names, &err));
    assert_int_equal(names, 0);
    paua_close(c.db);
    world_check(path);
    world_remove(path);
}

static void no_data_file(void *arg, const char *name, uint64_t nbytes)
{
    enum file_kind kind;
    uint64_t number;
    bool temporary;

    (void)arg;
    (void)nbytes;
    assert_false(file_name_parse(name, &number, &kind, &temporary));
}

static void *close_run(void *journal)
{
    paua_collection_close(journal); /* waits for the merge */
    return NULL;
}

/* Eight sealed segments start a merge in the background; the collection is dropped meanwhile. */
static void a_merge_that_outlives_its_collection_leaves_nothing_behind(void **state)
{
    char path[64];
    paua_db *db;

    (void)state;
    world_make(path);
    for (uint32_t turn = 0; turn < (world_whole() ? 20u : 3u); turn++) {
        struct journal_marks marks = {.writers = 1};
        paua_collection *journal;
        pthread_t closer;

        db = world_open(path, (paua_open_opts){.create = true, .durability = PAUA_OFF});
        journal_create(db, "journal", &journal);
        while (marks.committed[0] < 8 * 16384)
            journal_write(journal, &marks, 0, JOURNAL_BATCH_MAX);
        assert_int_equal(pthread_create(&closer, NULL, close_run, journal), 0);
        world_sleep_ms(turn);
        while (paua_collection_drop(db, "journal", NULL) == PAUA_EBUSY)
            world_sleep_ms(1); /* the closer has not begun */
        pthread_join(closer, NULL);
        paua_close(db);
        db = world_open(path, (paua_open_opts){.no_background = true});
        MUST(dir_list(db->dir, no_data_file, NULL, &err));
        paua_close(db);
    }
    world_check(path);
    world_remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sixty_four_waiting_callers_share_commits_and_all_rows_are_durable),
        cmocka_unit_test(rows_survive_handles_that_open_and_close_at_the_same_time),
        cmocka_unit_test(a_merge_that_outlives_its_collection_leaves_nothing_behind),
        cmocka_unit_test(collections_are_made_and_dropped_by_many_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
