/* test_kill.c - a process that writes is killed at random moments, again and again, on one
 * database. Every call that it had reported must be there, and of the one that it was in all or
 * nothing.
 *
 * The child is this program, run anew with a path: it writes batch after batch from a given one on,
 * and before each says its number on standard output: those before are done. Batch b has the keys
 * 8b .. 8b + n - 1, n depending on b; every fourth batch also deletes the keys of the batch before
 * it, and sometimes everything is optimized, so that kills fall into seals and merges too. With
 * indexes, there are rows enough from the beginning, everything is optimized more often, and one
 * more index comes and goes: kills fall into codes, graphs and stubs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "crash/folder.h"
#include "crash/scenario.h"
#include "support/share.h"

#define DIM 64u
#define KEYS_A_BATCH 8u
#define SAMPLE_KILLS 20u
#define WHOLE_KILLS 200u
#define BATCHES_MAX 100000u
#define BASE_ROWS 1200u /* with indexes, keys from BASE_KEY on */
#define BASE_KEY ((uint64_t)BATCHES_MAX * KEYS_A_BATCH)

/* How a run is made; a child is told by number. */
struct mode {
    paua_durability durability;
    bool indexed;
};

enum { FULL, BATCH, INDEXED_FULL, INDEXED_BATCH };

static const struct mode modes[] = {
    {PAUA_FULL, false}, {PAUA_BATCH, false}, {PAUA_FULL, true}, {PAUA_BATCH, true}};

static const char *program;

static uint32_t rows_of(uint32_t batch) { return 1 + batch * 5 % KEYS_A_BATCH; }

static bool deletes_before(uint32_t batch) { return batch % 4 == 3; }

/* Batches that were deleted by the batch after them. */
static bool deleted(uint32_t batch, uint32_t batches)
{
    return batch + 1 < batches && deletes_before(batch + 1);
}

/* All of one size: codes can tell apart only what is not small beside the rest. */
static void vector_make(uint64_t key, float vector[DIM])
{
    uint64_t random = key * UINT64_C(0x9E3779B97F4A7C15);

    for (uint32_t i = 0; i < DIM; i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        vector[i] = (float)(random >> 54);
    }
}

static void die(const char *what, const paua_error *err)
{
    fprintf(stderr, "%s: %s\n", what, err->message);
    exit(3);
}

static const paua_index_params graph = {PAUA_INDEX_VAMANA, 8, 16, 32, 0};

static paua_db *open_database(const char *path, const struct mode *mode, paua_collection **c,
                              paua_error *err)
{
    paua_vector_field fields[] = {{.name = "kept", .dim = DIM, .metric = PAUA_L2},
                                  {.name = "coded",
                                   .dim = DIM,
                                   .metric = PAUA_L2,
                                   .precision = PAUA_INT8,
                                   .originals = PAUA_ORIGINALS_NONE}};
    paua_schema schema = {
        .size = sizeof schema, .fields = fields, .field_count = mode->indexed ? 2 : 1};
    paua_open_opts opts = {
        .size = sizeof opts, .create = true, .durability = mode->durability, .batch_ms = 5};
    paua_db *db = NULL;
    paua_status status = paua_open(path, &opts, &db, err);

    fields[0].index = fields[1].index = graph;
    if (status != PAUA_OK) return NULL;
    status = paua_collection_open(db, "rows", c, err);
    if (status == PAUA_ENOTFOUND) status = paua_collection_create(db, "rows", &schema, c, err);
    if (status == PAUA_OK) return db;
    paua_close(db);
    return NULL;
}

static void batch_delete(paua_collection *c, uint32_t batch)
{
    uint64_t keys[KEYS_A_BATCH];
    paua_keys k = {.count = rows_of(batch), .u64 = keys};
    paua_error err;

    for (uint32_t i = 0; i < k.count; i++)
        keys[i] = (uint64_t)batch * KEYS_A_BATCH + i;
    if (paua_delete(c, &k, NULL, NULL, &err) != PAUA_OK) die("delete", &err);
}

static void rows_write(paua_collection *c, uint64_t first, uint32_t count)
{
    static float vectors[BASE_ROWS * DIM];
    static uint64_t keys[BASE_ROWS];
    static paua_bytes documents[BASE_ROWS];
    paua_vectors v[] = {{.data = vectors}, {.data = vectors}};
    paua_rows rows = {.size = sizeof rows,
                      .keys = {.count = count, .u64 = keys},
                      .vectors = v,
                      .vectors_count = paua_collection_schema(c)->field_count,
                      .documents = documents};
    paua_error err;

    for (uint32_t i = 0; i < count; i++) {
        keys[i] = first + i;
        vector_make(keys[i], vectors + i * DIM);
        documents[i] = (paua_bytes){"a document", (size_t)(keys[i] % 11)};
    }
    if (paua_insert(c, &rows, NULL, NULL, &err) != PAUA_OK) die("insert", &err);
}

static void batch_write(paua_collection *c, uint32_t batch)
{
    rows_write(c, (uint64_t)batch * KEYS_A_BATCH, rows_of(batch));
    if (deletes_before(batch)) batch_delete(c, batch - 1);
}

static void upkeep(paua_collection *c, uint32_t batch, bool indexed)
{
    paua_error err;
    paua_status status;

    if (batch % (indexed ? 8 : 40) == 7 && paua_optimize(c, NULL, &err) != PAUA_OK)
        die("optimize", &err);
    if (indexed && batch % 8 == 1) {
        status = paua_index_create(c, "kept", "more", &graph, NULL, &err);
        if (status != PAUA_OK && status != PAUA_EEXISTS) die("index create", &err);
    }
    if (indexed && batch % 8 == 4) {
        status = paua_index_drop(c, "more", &err);
        if (status != PAUA_OK && status != PAUA_ENOTFOUND) die("index drop", &err);
    }
}

/* Never returns: writes until it is killed. */
static void child_run(const char *path, uint32_t batch, const struct mode *mode)
{
    paua_collection *c;
    paua_error err;

    if (open_database(path, mode, &c, &err) == NULL) die("open", &err);
    for (; batch < BATCHES_MAX; batch++) {
        if (write(STDOUT_FILENO, &batch, sizeof batch) != sizeof batch) exit(4);
        batch_write(c, batch);
        upkeep(c, batch, mode->indexed);
    }
    exit(5);
}

/* Lets a child say `numbers` batches and write for a while longer; returns the one that it was
 * in. */
static uint32_t child_kill(const char *path, uint32_t batch, int mode, uint32_t numbers,
                           uint32_t after_us)
{
    struct timespec pause = {.tv_sec = 0, .tv_nsec = (long)after_us * 1000};
    char number[16], mode_number[4];
    int ends[2], how;
    uint32_t said = batch;
    pid_t pid;

    snprintf(number, sizeof number, "%u", batch);
    snprintf(mode_number, sizeof mode_number, "%d", mode);
    assert_int_equal(pipe(ends), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        execl(program, program, path, number, mode_number, (char *)NULL);
        _exit(6);
    }
    close(ends[1]);
    for (; numbers > 0 && read(ends[0], &batch, sizeof batch) == sizeof batch; numbers--)
        said = batch;
    nanosleep(&pause, NULL);
    kill(pid, SIGKILL);
    while (read(ends[0], &batch, sizeof batch) == sizeof batch)
        said = batch;
    close(ends[0]);
    assert_int_equal(waitpid(pid, &how, 0), pid);
    if (!WIFSIGNALED(how)) fail_msg("the child ended by itself with %d", WEXITSTATUS(how));
    return said;
}

static bool batch_there(paua_collection *c, uint32_t batch)
{
    uint64_t keys[KEYS_A_BATCH];
    paua_keys k = {.count = rows_of(batch), .u64 = keys};
    const paua_record *record = NULL;
    paua_cursor *cursor;
    float vector[DIM];
    uint32_t found = 0;

    for (uint32_t i = 0; i < k.count; i++)
        keys[i] = (uint64_t)batch * KEYS_A_BATCH + i;
    assert_int_equal(paua_fetch(c, &k, NULL, &cursor, NULL), PAUA_OK);
    for (uint32_t i = 0; i < k.count; i++) {
        assert_int_equal(paua_cursor_next(cursor, &record, NULL), PAUA_OK);
        if (!record->found) continue;
        found++;
        vector_make(keys[i], vector);
        assert_memory_equal(record->vectors[0], vector, sizeof vector);
        assert_int_equal(record->document.nbytes, keys[i] % 11);
    }
    paua_cursor_close(cursor);
    if (found != 0 && found != k.count)
        fail_msg("batch %u: %u of %zu rows are there", batch, found, k.count);
    return found > 0;
}

/* Is row i of the beginning the nearest to its own vector? */
static bool base_found(paua_collection *c, paua_hits *hits, uint64_t i, const char *field,
                       uint32_t ef)
{
    paua_search_opts opts = {.size = sizeof opts, .k = 1, .field = field, .ef = ef};
    paua_error err = {.message = ""};
    float vector[DIM];

    vector_make(BASE_KEY + i, vector);
    if (paua_search(c, vector, 1, 0, &opts, hits, &err) != PAUA_OK)
        fail_msg("searching: %s", err.message);
    assert_int_equal(paua_hits_count(hits, 0), 1);
    return paua_hits_at(hits, 0, 0).key.u64 == BASE_KEY + i;
}

/* Rows that were there from the beginning are found through the index of each field: all of them
 * where every code is compared, and more than half by a walk, since the graphs are poor, made
 * fast. */
static void base_search(paua_collection *c)
{
    static const char *const fields[] = {"kept", "coded"};
    paua_stats stats = {.size = sizeof stats};
    uint32_t walks = 0, walked = 0;
    paua_hits *hits;

    assert_int_equal(paua_hits_open(&hits, NULL), PAUA_OK);
    assert_int_equal(paua_collection_stats(c, &stats, NULL), PAUA_OK);
    for (uint64_t i = 0; i < BASE_ROWS; i += 61)
        for (size_t f = 0; f < 2; f++, walks++) {
            if (!base_found(c, hits, i, fields[f], 2 * (uint32_t)stats.rows))
                fail_msg("row %u is not found by %s", (unsigned)i, fields[f]);
            walked += base_found(c, hits, i, fields[f], (uint32_t)stats.rows / 2);
        }
    if (walked <= walks / 2) fail_msg("%u of %u walks found their row", walked, walks);
    paua_hits_close(hits);
}

/* Checks everything before the batch that was interrupted, finishes that one, and returns the
 * next. */
static uint32_t check_and_finish(const char *path, uint32_t batch, const struct mode *mode)
{
    const struct mode durable = {PAUA_FULL, mode->indexed};
    paua_collection *c;
    paua_error err;
    paua_db *db = open_database(path, &durable, &c, &err);
    uint64_t live = mode->indexed ? BASE_ROWS : 0;
    paua_stats stats = {.size = sizeof stats};

    if (db == NULL) fail_msg("opening: %s", err.message);
    if (mode->indexed) base_search(c);
    for (uint32_t b = 0; b + 1 < batch; b++) {
        if (batch_there(c, b) != !deleted(b, batch)) fail_msg("batch %u of %u", b, batch);
        if (!deleted(b, batch)) live += rows_of(b);
    }
    if (batch > 0) { /* the batch before may have been deleted by the one that was interrupted */
        bool before = batch_there(c, batch - 1), now = batch_there(c, batch);

        if (!before && !(now && deletes_before(batch))) fail_msg("batch %u is lost", batch - 1);
        live += (before ? rows_of(batch - 1) : 0) + (now ? rows_of(batch) : 0);
        assert_int_equal(paua_collection_stats(c, &stats, NULL), PAUA_OK);
        assert_int_equal(stats.rows, live);
        if (!now)
            batch_write(c, batch);
        else if (before && deletes_before(batch))
            batch_delete(c, batch - 1);
    } else if (!batch_there(c, 0)) {
        batch_write(c, 0);
    }
    paua_collection_close(c);
    paua_close(db);
    return batch + 1;
}

static void base_write(const char *path, const struct mode *mode)
{
    paua_collection *c;
    paua_error err;
    paua_db *db = open_database(path, mode, &c, &err);

    if (db == NULL) fail_msg("opening: %s", err.message);
    rows_write(c, BASE_KEY, BASE_ROWS);
    paua_collection_close(c);
    paua_close(db);
}

static void kill_again_and_again(int mode)
{
    uint32_t kills = sweep_whole() ? WHOLE_KILLS : SAMPLE_KILLS, batch = 0;
    char folder[FOLDER_PATH_NBYTES], path[FOLDER_PATH_NBYTES + 16], why[600];

    folder_temporary(folder);
    snprintf(path, sizeof path, "%s/db", folder);
    if (modes[mode].indexed) base_write(path, &modes[mode]);
    for (uint32_t i = 0; i < kills; i++) {
        uint32_t after_us = (3000 + i * 7919 % 60000) * (modes[mode].indexed ? 3 : 1);

        batch = child_kill(path, batch, mode, i % 3, after_us); /* 2: one was finished */
        batch = check_and_finish(path, batch, &modes[mode]);
    }
    print_message("%u kills, %u batches\n", kills, batch);
    assert_true(batch > kills);
    if (!path_clean(path, why)) fail_msg("%s", why);
    folder_remove(folder);
}

static void a_killed_writer_has_lost_nothing_that_it_reported(void **state)
{
    (void)state;
    kill_again_and_again(FULL);
}

static void a_killed_writer_has_lost_nothing_under_batch_durability(void **state)
{
    (void)state;
    kill_again_and_again(BATCH);
}

static void a_killed_writer_of_indexes_has_lost_nothing_that_it_reported(void **state)
{
    (void)state;
    kill_again_and_again(INDEXED_FULL);
}

static void a_killed_writer_of_indexes_has_lost_nothing_under_batch_durability(void **state)
{
    (void)state;
    kill_again_and_again(INDEXED_BATCH);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_killed_writer_has_lost_nothing_that_it_reported),
        cmocka_unit_test(a_killed_writer_has_lost_nothing_under_batch_durability),
        cmocka_unit_test(a_killed_writer_of_indexes_has_lost_nothing_that_it_reported),
        cmocka_unit_test(a_killed_writer_of_indexes_has_lost_nothing_under_batch_durability),
    };

    program = argv[0];
    if (argc == 4) child_run(argv[1], (uint32_t)atoi(argv[2]), &modes[atoi(argv[3])]);
    return share_run(share_read(argc, argv), tests, sizeof tests / sizeof tests[0]);
}
