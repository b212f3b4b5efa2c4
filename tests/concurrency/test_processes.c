/* test_processes.c - several processes write one database: different collections at the same time,
 * the same one never; and what a forked child may do with what it inherits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "concurrency/journal.h"
#include "concurrency/pairs.h"

#define PROCESSES 10u
#define ROWS_EACH 3000u

struct job {
    const char *path;
    uint32_t number;
    _Atomic uint32_t *ready; /* how many stand at the line */
    paua_db *db;             /* inherited */
    paua_collection *collection;
    paua_cursor *cursor;
    paua_hits *hits;
};

/* Opens the database itself, makes a collection, and writes it in single rows and batches with a
 * seal and a merge on the way. */
static void write_three_thousand_rows(void *arg)
{
    const struct job *job = arg;
    struct journal_marks marks = {.writers = 1};
    paua_open_opts opts = {.create = true,
                           .durability = job->number % 2 == 0 ? PAUA_FULL : PAUA_BATCH};
    paua_collection *journal;
    paua_db *db;
    char name[32];

    snprintf(name, sizeof name, "journal %u", job->number);
    atomic_fetch_add(job->ready, 1);
    while (atomic_load(job->ready) < PROCESSES)
        world_sleep_ms(1);
    db = world_open(job->path, opts);
    journal_create(db, name, &journal);
    for (uint32_t i = 0; i < 30; i++)
        journal_write(journal, &marks, 0, 1);
    for (uint32_t turn = 0; marks.committed[0] < ROWS_EACH; turn++) {
        uint32_t left = ROWS_EACH - marks.committed[0];

        journal_write(journal, &marks, 0, left < 270 ? left : 270);
        if (turn == 3 || turn == 7) MUST(paua_optimize(journal, NULL, &err));
        CHECK(journal_read(journal, &marks) == marks.committed[0]);
    }
    world_validate(journal);
    paua_collection_close(journal);
    paua_close(db);
}

static void ten_processes_write_ten_collections_of_one_database(void **state)
{
    struct journal_marks marks = {.writers = 1};
    struct job jobs[PROCESSES];
    pid_t pids[PROCESSES];
    char path[64];
    paua_db *db;

    (void)state;
    world_make(path);
    for (uint32_t i = 0; i < PROCESSES; i++) {
        jobs[i] = (struct job){.path = path, .number = i};
        jobs[i].ready = i == 0 ? world_share(sizeof *jobs[0].ready) : jobs[0].ready;
        pids[i] = world_fork(write_three_thousand_rows, &jobs[i]);
    }
    for (uint32_t i = 0; i < PROCESSES; i++)
        assert_true(world_wait(pids[i]));
    marks.committed[0] = ROWS_EACH;
    db = world_open(path, (paua_open_opts){0});
    for (uint32_t i = 0; i < PROCESSES; i++) {
        char name[32];
        paua_collection *journal;

        snprintf(name, sizeof name, "journal %u", i);
        journal = world_collection(db, name);
        assert_int_equal(journal_read(journal, &marks), ROWS_EACH);
        paua_collection_close(journal);
    }
    paua_close(db);
    world_check(path);
    world_remove(path);
}

/* In another process than the writer. */
static void be_refused(void *arg)
{
    const struct job *job = arg;
    paua_db *db = world_open(job->path, (paua_open_opts){0});
    paua_collection *pairs = world_collection(db, "pairs");
    uint64_t key = 7, start = world_now_ms();
    paua_keys keys = {.count = 1, .u64 = &key};
    paua_error err = {.message = ""};
    char expected[64], self[256] = "";
    FILE *cmdline = fopen("/proc/self/cmdline", "r");

    CHECK(cmdline != NULL && fgets(self, sizeof self, cmdline) != NULL);
    fclose(cmdline);
    CHECK(paua_delete(pairs, &keys, NULL, NULL, &err) == PAUA_EBUSY);
    CHECK(err.status == PAUA_EBUSY && world_now_ms() - start < 1000);
    snprintf(expected, sizeof expected, "process %ld (", (long)getppid());
    CHECK(strstr(err.message, expected) != NULL);
    CHECK(strstr(err.message, self) != NULL); /* the holder runs the same command */
    CHECK(strstr(err.message, "pairs") != NULL);
    CHECK(paua_optimize(pairs, NULL, &err) == PAUA_EBUSY);
    CHECK(paua_collection_drop(db, "pairs", &err) == PAUA_EBUSY);
    pairs_iterate_any(pairs, 1); /* reading goes on */
    paua_collection_close(pairs);
    paua_close(db);
}

static void write_one_round(void *arg)
{
    const struct job *job = arg;
    static struct pairs_marks marks = {.writers = 2};
    paua_db *db = world_open(job->path, (paua_open_opts){0});
    paua_collection *pairs = world_collection(db, "pairs");

    pairs_write(pairs, &marks, 1, 1);
    paua_collection_close(pairs);
    paua_close(db);
}

static void a_second_writer_fails_at_once_and_learns_who_holds_it(void **state)
{
    static struct pairs_marks marks = {.writers = 1};
    struct job job = {0};
    char path[64];
    paua_db *db;
    paua_collection *pairs;

    (void)state;
    world_make(path);
    job.path = path;
    db = world_open(path, (paua_open_opts){.create = true, .no_background = true});
    pairs_create(db, "pairs", &pairs);
    pairs_write(pairs, &marks, 0, 1);
    assert_true(world_wait(world_fork(be_refused, &job)));
    paua_collection_close(pairs);
    assert_true(world_wait(world_fork(write_one_round, &job))); /* the handle is closed: free */
    pairs = world_collection(db, "pairs");
    pairs_write(pairs, &marks, 0, 2); /* and free again, and the other's rows are here */
    pairs_iterate_any(pairs, 2);
    world_validate(pairs);
    paua_collection_close(pairs);
    paua_close(db);
    world_check(path);
    world_remove(path);
}

static void use_inherited_handles(void *arg)
{
    const struct job *job = arg;
    paua_collection *other;
    paua_cursor *cursor;
    const paua_record *record;
    paua_stats stats = {.size = sizeof stats};
    paua_search_opts search = {.size = sizeof search, .k = 1};
    uint64_t key = 7;
    float query[PAIRS_DIM] = {0};
    paua_keys keys = {.count = 1, .u64 = &key};
    paua_vectors vectors = {.data = query};
    paua_bytes document;
    paua_rows rows = {.size = sizeof rows, .keys = keys, .vectors = &vectors, .vectors_count = 1};

    CHECK(paua_insert(job->collection, &rows, NULL, NULL, NULL) == PAUA_EFORKED);
    CHECK(paua_upsert(job->collection, &rows, NULL, NULL, NULL) == PAUA_EFORKED);
    CHECK(paua_update(job->collection, &rows, NULL, NULL, NULL) == PAUA_EFORKED);
    CHECK(paua_delete(job->collection, &keys, NULL, NULL, NULL) == PAUA_EFORKED);
    CHECK(paua_optimize(job->collection, NULL, NULL) == PAUA_EFORKED);
    CHECK(paua_fetch(job->collection, &keys, NULL, &cursor, NULL) == PAUA_EFORKED);
    CHECK(paua_iterate(job->collection, NULL, &cursor, NULL) == PAUA_EFORKED);
    CHECK(paua_cursor_next(job->cursor, &record, NULL) == PAUA_EFORKED);
    CHECK(paua_search(job->collection, query, 1, 0, &search, job->hits, NULL) == PAUA_EFORKED);
    CHECK(paua_hits_document(job->hits, 0, 0, &document, NULL) == PAUA_EFORKED);
    CHECK(paua_collection_stats(job->collection, &stats, NULL) == PAUA_EFORKED);
    CHECK(paua_collection_open(job->db, "pairs", &other, NULL) == PAUA_EFORKED);
    CHECK(paua_collection_drop(job->db, "pairs", NULL) == PAUA_EFORKED);
    CHECK(paua_flush(job->db, NULL) == PAUA_EFORKED);
    CHECK(paua_backup(job->db, "never", NULL, NULL) == PAUA_EFORKED);
    paua_cursor_close(job->cursor);
    paua_hits_close(job->hits);
    paua_collection_close(job->collection);
    paua_close(job->db);
    be_refused(arg); /* what it opens itself works, and the parent is still the writer */
}

static void a_forked_child_cannot_use_what_it_inherits(void **state)
{
    static struct pairs_marks marks = {.writers = 1};
    static const float origin[PAIRS_DIM];
    paua_search_opts search = {.size = sizeof search, .k = 3};
    struct job job = {0};
    char path[64];

    (void)state;
    world_make(path);
    job.path = path;
    job.db = world_open(path, (paua_open_opts){.create = true, .no_background = true});
    pairs_create(job.db, "pairs", &job.collection);
    pairs_write(job.collection, &marks, 0, 1);
    MUST(paua_hits_open(&job.hits, &err));
    MUST(paua_search(job.collection, origin, 1, 0, &search, job.hits, &err));
    MUST(paua_iterate(job.collection, NULL, &job.cursor, &err));
    assert_true(world_wait(world_fork(use_inherited_handles, &job)));
    pairs_write(job.collection, &marks, 0, 2); /* the parent notices nothing */
    pairs_search(job.collection, &marks, job.hits);
    world_validate(job.collection);
    paua_cursor_close(job.cursor);
    paua_hits_close(job.hits);
    paua_collection_close(job.collection);
    paua_close(job.db);
    world_check(path);
    world_remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_processes_write_ten_collections_of_one_database),
        cmocka_unit_test(a_second_writer_fails_at_once_and_learns_who_holds_it),
        cmocka_unit_test(a_forked_child_cannot_use_what_it_inherits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
