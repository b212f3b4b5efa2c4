/* test_readers.c - readers in other processes follow a live writer, through merges, sweeps by other
 * writers, and the writer's sudden end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "concurrency/journal.h"
#include "concurrency/pairs.h"

#define READERS 3u

/* Shared by all processes of one test. */
struct play {
    char path[64];
    _Atomic bool stop;
    _Atomic uint32_t round; /* the writer's last */
    _Atomic uint64_t reads;
    _Atomic uint32_t next_reader;
    paua_durability durability;
    struct pairs_marks pairs;
    struct journal_marks journal;
};

static struct play *play_begin(paua_durability durability)
{
    struct play *play = world_share(sizeof *play);
    paua_collection *pairs, *journal, *other;
    paua_db *db;

    play->durability = durability;
    play->pairs.writers = play->journal.writers = 1;
    world_make(play->path);
    db = world_open(play->path, (paua_open_opts){.create = true});
    pairs_create(db, "pairs", &pairs);
    journal_create(db, "journal", &journal);
    journal_create(db, "other", &other);
    paua_collection_close(pairs);
    paua_collection_close(journal);
    paua_collection_close(other);
    paua_close(db);
    return play;
}

/* Goes on from where an earlier writer was killed: the last call may or may not have committed. */
static void write_on(void *arg)
{
    struct play *play = arg;
    paua_db *db = world_open(play->path, (paua_open_opts){.durability = play->durability});
    paua_collection *pairs = world_collection(db, "pairs");
    paua_collection *journal = world_collection(db, "journal");

    atomic_store(&play->journal.committed[0], (uint32_t)journal_read(journal, &play->journal));
    while (!atomic_load(&play->stop)) {
        uint32_t round = atomic_load(&play->round) + 1;

        pairs_write(pairs, &play->pairs, 0, round);
        atomic_store(&play->round, round);
        if (play->journal.committed[0] < 40000)
            journal_write(journal, &play->journal, 0, 1 + round * 53 % 400);
        if (round % 6 == 0) MUST(paua_optimize(pairs, NULL, &err));
        if (round % 10 == 0) MUST(paua_optimize(journal, NULL, &err));
    }
    world_validate(pairs);
    world_validate(journal);
    paua_collection_close(pairs);
    paua_collection_close(journal);
    paua_close(db);
}

/* Each reader opens in its own way. */
static paua_open_opts reader_opts(uint32_t reader)
{
    return (paua_open_opts){.read_only = reader % 2 == 0, .no_mmap = reader % 3 == 2};
}

static void read_on(void *arg)
{
    struct play *play = arg;
    uint32_t reader = atomic_fetch_add(&play->next_reader, 1);
    paua_db *db = world_open(play->path, reader_opts(reader));
    paua_collection *pairs = world_collection(db, "pairs");
    paua_collection *journal = world_collection(db, "journal");
    uint64_t rows, rows_before = 0;
    paua_hits *hits;

    MUST(paua_hits_open(&hits, &err));
    for (uint32_t turn = 0; !atomic_load(&play->stop); turn++) {
        pairs_iterate(pairs, &play->pairs);
        pairs_search(pairs, &play->pairs, hits);
        pairs_fetch(pairs, &play->pairs, 0, turn % PAIRS_EACH);
        if (turn % 8 == 0) pairs_iterate_slowly(pairs, &play->pairs, 3);
        if (turn % 4 == 0) {
            rows = journal_read(journal, &play->journal);
            CHECK(rows >= rows_before);
            rows_before = rows;
        }
        atomic_fetch_add(&play->reads, 1);
    }
    paua_hits_close(hits);
    paua_collection_close(pairs);
    paua_collection_close(journal);
    paua_close(db);
}

/* Opens anew again and again, as writer of something else: each opening sweeps what no record
 * names, which the other writer's new files are for a while. */
static void open_and_write_other(void *arg)
{
    struct play *play = arg;
    struct journal_marks marks = {.writers = 1};

    while (!atomic_load(&play->stop)) {
        paua_db *db = world_open(play->path, (paua_open_opts){.durability = PAUA_OFF});
        paua_collection *other = world_collection(db, "other");

        journal_write(other, &marks, 0, 20);
        CHECK(journal_read(other, &marks) == marks.committed[0]);
        paua_collection_close(other);
        paua_close(db);
        world_sleep_ms(2);
    }
}

static void play_end(struct play *play, const pid_t *pids, uint32_t count)
{
    atomic_store(&play->stop, true);
    for (uint32_t i = 0; i < count; i++)
        assert_true(world_wait(pids[i]));
    assert_true(atomic_load(&play->reads) > 0 && atomic_load(&play->round) > 0);
    print_message("%u rounds, %llu reads\n", atomic_load(&play->round),
                  (unsigned long long)atomic_load(&play->reads));
    world_check(play->path);
    world_remove(play->path);
}

static void follow(paua_durability durability)
{
    struct play *play = play_begin(durability);
    pid_t pids[READERS + 3];
    uint32_t count = 0;

    pids[count++] = world_fork(write_on, play);
    for (uint32_t i = 0; i < READERS; i++)
        pids[count++] = world_fork(read_on, play);
    pids[count++] = world_fork(open_and_write_other, play);
    world_sleep_ms(world_whole() ? 8000 : 2000);
    play_end(play, pids, count);
}

static void readers_follow_a_live_writer_through_merges_and_sweeps(void **state)
{
    (void)state;
    follow(PAUA_FULL);
}

static void readers_follow_a_live_writer_with_durability_off(void **state)
{
    (void)state;
    follow(PAUA_OFF);
}

static void readers_survive_a_writer_that_is_killed_and_follow_the_next(void **state)
{
    struct play *play = play_begin(PAUA_BATCH);
    uint32_t kills = world_whole() ? 40 : 8;
    pid_t pids[READERS + 1];

    (void)state;
    for (uint32_t i = 0; i < READERS; i++)
        pids[i] = world_fork(read_on, play);
    for (uint32_t i = 0; i < kills; i++) {
        pid_t writer = world_fork(write_on, play);
        int status;

        world_sleep_ms(50 + i * 37 % 300);
        assert_int_equal(kill(writer, SIGKILL), 0);
        assert_int_equal(waitpid(writer, &status, 0), writer);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
    pids[READERS] = world_fork(write_on, play);
    world_sleep_ms(300);
    play_end(play, pids, READERS + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_follow_a_live_writer_through_merges_and_sweeps),
        cmocka_unit_test(readers_follow_a_live_writer_with_durability_off),
        cmocka_unit_test(readers_survive_a_writer_that_is_killed_and_follow_the_next),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
