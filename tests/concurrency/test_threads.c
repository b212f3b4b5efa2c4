/* test_threads.c - writers, readers, optimize, backup and opening handles, all at once, in threads:
 * many more than there are cores. Every result must equal some snapshot (pairs.h, journal.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "concurrency/journal.h"
#include "concurrency/pairs.h"
#include "db/db.h"

#define WRITERS 4u
#define READERS 8u
#define JOURNAL_ROWS_MAX 60000u

struct stage {
    char path[64];
    bool in_memory;
    paua_db *db;
    paua_collection *pairs, *journal;
    struct pairs_marks pairs_marks;
    struct journal_marks journal_marks;
    _Atomic bool stop;
    _Atomic uint32_t next_writer, next_reader, next_backup;
    _Atomic uint64_t writes, reads, merges, backups, opens;
};

static void *write_run(void *arg)
{
    struct stage *s = arg;
    uint32_t writer = atomic_fetch_add(&s->next_writer, 1);

    for (uint32_t round = 1; !atomic_load(&s->stop); round++) {
        pairs_write(s->pairs, &s->pairs_marks, writer, round);
        if (atomic_load(&s->journal_marks.committed[writer]) < JOURNAL_ROWS_MAX / WRITERS)
            journal_write(s->journal, &s->journal_marks, writer, 1 + round * 37 % 300);
        atomic_fetch_add(&s->writes, 1);
    }
    return NULL;
}

static void *read_run(void *arg)
{
    struct stage *s = arg;
    uint32_t reader = atomic_fetch_add(&s->next_reader, 1);
    uint64_t rows, rows_before = 0;
    paua_hits *hits;

    MUST(paua_hits_open(&hits, &err));
    for (uint32_t turn = reader; !atomic_load(&s->stop); turn++) {
        pairs_fetch(s->pairs, &s->pairs_marks, turn % WRITERS, turn / WRITERS % PAIRS_EACH);
        pairs_search(s->pairs, &s->pairs_marks, hits);
        pairs_iterate(s->pairs, &s->pairs_marks);
        if (turn % 16 == 0) pairs_iterate_slowly(s->pairs, &s->pairs_marks, 2);
        if (turn % 4 == 0) {
            rows = journal_read(s->journal, &s->journal_marks);
            CHECK(rows >= rows_before);
            rows_before = rows;
        }
        atomic_fetch_add(&s->reads, 1);
    }
    paua_hits_close(hits);
    return NULL;
}

static void *optimize_run(void *arg)
{
    struct stage *s = arg;

    while (!atomic_load(&s->stop)) {
        MUST(paua_optimize(s->pairs, NULL, &err));
        world_sleep_ms(5);
        MUST(paua_optimize(s->journal, NULL, &err));
        world_sleep_ms(20);
        atomic_fetch_add(&s->merges, 1);
    }
    return NULL;
}

static void backup_judge(const char *path)
{
    paua_db *db = world_open(path, (paua_open_opts){.read_only = true});
    paua_collection *pairs = world_collection(db, "pairs");
    paua_collection *journal = world_collection(db, "journal");
    struct journal_marks marks = {.writers = WRITERS};

    pairs_iterate_any(pairs, WRITERS);
    journal_read(journal, &marks);
    paua_collection_close(pairs);
    paua_collection_close(journal);
    paua_close(db);
    world_check(path);
}

static void *backup_run(void *arg)
{
    struct stage *s = arg;

    while (!atomic_load(&s->stop)) {
        uint32_t number = atomic_fetch_add(&s->next_backup, 1);
        paua_backup_opts opts = {.size = sizeof opts, .link = !s->in_memory && number % 2 == 1};
        char path[96];

        snprintf(path, sizeof path, "%s-backup-%u", s->path, number);
        MUST(paua_backup(s->db, path, &opts, &err));
        backup_judge(path);
        world_remove(path);
        atomic_fetch_add(&s->backups, 1);
        world_sleep_ms(30);
    }
    return NULL;
}

/* Handles that come and go, with the numbers and names of what they open. */
static void *open_run(void *arg)
{
    struct stage *s = arg;

    while (!atomic_load(&s->stop)) {
        paua_collection *again = world_collection(s->db, "pairs");
        paua_stats stats = {.size = sizeof stats};

        MUST(paua_collection_stats(again, &stats, &err));
        CHECK(stats.rows <= WRITERS * PAIRS_EACH * 2);
        CHECK(strcmp(paua_collection_name(again), "pairs") == 0);
        paua_collection_close(again);
        if (!s->in_memory) MUST(paua_flush(s->db, &err));
        atomic_fetch_add(&s->opens, 1);
        world_sleep_ms(3);
    }
    return NULL;
}

static void stage_open(struct stage *s, paua_open_opts opts)
{
    memset(s, 0, sizeof *s);
    s->in_memory = opts.in_memory;
    s->pairs_marks.writers = s->journal_marks.writers = WRITERS;
    world_make(s->path);
    opts.create = true;
    s->db = world_open(s->path, opts);
    pairs_create(s->db, "pairs", &s->pairs);
    journal_create(s->db, "journal", &s->journal);
}

static void stage_judge(struct stage *s)
{
    pairs_iterate(s->pairs, &s->pairs_marks);
    assert_true(journal_read(s->journal, &s->journal_marks) > 0);
    world_validate(s->pairs);
    world_validate(s->journal);
    MUST(paua_optimize(s->pairs, NULL, &err));
    MUST(paua_optimize(s->journal, NULL, &err));
    world_validate(s->pairs);
    world_validate(s->journal);
    assert_true(s->writes > 0 && s->reads > 0 && s->merges > 0 && s->backups > 0 && s->opens > 0);
}

static void stage_close(struct stage *s)
{
    paua_collection_close(s->pairs);
    paua_collection_close(s->journal);
    paua_close(s->db);
    if (!s->in_memory) world_check(s->path);
    world_remove(s->path);
}

static void stage_run(paua_open_opts opts)
{
    static struct stage stage;
    static void *(*const others[])(void *) = {optimize_run, backup_run, open_run, open_run};
    pthread_t threads[WRITERS + READERS + 4];
    uint32_t count = 0;

    stage_open(&stage, opts);
    for (uint32_t i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&threads[count++], NULL, write_run, &stage), 0);
    for (uint32_t i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&threads[count++], NULL, read_run, &stage), 0);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[count++], NULL, others[i], &stage), 0);
    world_sleep_ms(world_whole() ? 8000 : 1000);
    atomic_store(&stage.stop, true);
    while (count > 0)
        pthread_join(threads[--count], NULL);
    print_message("%llu writes, %llu reads, %llu merges, %llu backups\n",
                  (unsigned long long)stage.writes, (unsigned long long)stage.reads,
                  (unsigned long long)stage.merges, (unsigned long long)stage.backups);
    stage_judge(&stage);
    stage_close(&stage);
}

static void every_result_is_a_snapshot_on_disk_durable_in_full(void **state)
{
    (void)state;
    stage_run((paua_open_opts){.durability = PAUA_FULL});
}

static void every_result_is_a_snapshot_on_disk_with_durability_off(void **state)
{
    (void)state;
    stage_run((paua_open_opts){.durability = PAUA_OFF});
}

static void every_result_is_a_snapshot_on_disk_synced_in_batches(void **state)
{
    (void)state;
    stage_run((paua_open_opts){.durability = PAUA_BATCH, .batch_ms = 20});
}

static void every_result_is_a_snapshot_without_maps(void **state)
{
    (void)state;
    stage_run((paua_open_opts){.durability = PAUA_OFF, .no_mmap = true});
}

static void every_result_is_a_snapshot_in_memory(void **state)
{
    (void)state;
    stage_run((paua_open_opts){.in_memory = true});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_result_is_a_snapshot_on_disk_durable_in_full),
        cmocka_unit_test(every_result_is_a_snapshot_on_disk_with_durability_off),
        cmocka_unit_test(every_result_is_a_snapshot_on_disk_synced_in_batches),
        cmocka_unit_test(every_result_is_a_snapshot_without_maps),
        cmocka_unit_test(every_result_is_a_snapshot_in_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
