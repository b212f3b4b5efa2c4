/* test_indexed_searches.c - searches through indexes and without, in threads and from another
 * process, while rows are written and indexes are made, dropped and merged away; and indexes that
 * the background thread builds, while the collection is closed.
 *
 * Keys form blocks. A call writes a whole block, or deletes it, and gives its rows their version,
 * which decides their vectors. So a snapshot has all rows of a block, of one version, or none; and
 * that version is no older than what was committed before the search began, nor newer than what was
 * started when it ended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "concurrency/world.h"
#include "db/db.h"

#define DIM 6u
#define BLOCKS 24u
#define BLOCK_ROWS 100u
#define ROWS (BLOCKS * BLOCK_ROWS)
#define READERS 2u
#define BUILDS 2u /* at least so many, if they do not take a minute */
#define DELETE_EVERY 6u
#define VERSIONS 64u /* most that one search may meet of a block */
#define SLACK 1e-4

/* Shared by all processes of one test. */
struct play {
    char path[64];
    paua_originals originals;
    _Atomic bool stop;
    _Atomic uint32_t started[BLOCKS], committed[BLOCKS];
    _Atomic uint32_t next_reader;
    _Atomic uint64_t reads, rounds, builds, covered, backups;
    paua_db *db; /* of the parent */
    paua_collection *c;
};

static bool deleted_in(uint32_t version) { return version % DELETE_EVERY == 0; }

/* Numbers in [0, 1) that key and version decide. */
static void vector_of(uint64_t key, uint32_t version, float vector[DIM])
{
    uint64_t x = key << 32 | version;

    for (uint32_t i = 0; i < DIM; i++) {
        x = (x + 0x9E3779B97F4A7C15) * 0xBF58476D1CE4E5B9;
        x ^= x >> 31;
        vector[i] = (float)(x >> 40) / (float)(1 << 24);
    }
}

static double distance_of(const float query[DIM], uint64_t key, uint32_t version)
{
    float vector[DIM];
    double sum = 0;

    vector_of(key, version, vector);
    for (uint32_t i = 0; i < DIM; i++)
        sum += ((double)query[i] - vector[i]) * ((double)query[i] - vector[i]);
    return sum;
}

/* ---- writing ---- */

static void block_write(struct play *play, uint32_t block, uint32_t version)
{
    static const paua_write_opts whole = {.size = sizeof whole, .all_or_nothing = true};
    float vectors[BLOCK_ROWS][DIM];
    uint64_t keys[BLOCK_ROWS];
    paua_vectors field = {.data = vectors[0]};
    paua_rows rows = {.size = sizeof rows,
                      .keys = {.count = BLOCK_ROWS, .u64 = keys},
                      .vectors = &field,
                      .vectors_count = 1};

    for (uint32_t i = 0; i < BLOCK_ROWS; i++) {
        keys[i] = block * BLOCK_ROWS + i;
        vector_of(keys[i], version, vectors[i]);
    }
    atomic_store(&play->started[block], version);
    if (deleted_in(version))
        MUST(paua_delete(play->c, &rows.keys, &whole, NULL, &err));
    else
        MUST(paua_upsert(play->c, &rows, &whole, NULL, &err));
    atomic_store(&play->committed[block], version);
}

static void *write_run(void *arg)
{
    struct play *play = arg;

    while (!atomic_load(&play->stop)) {
        for (uint32_t block = 0; block < BLOCKS && !atomic_load(&play->stop); block++) {
            block_write(play, block, atomic_load(&play->committed[block]) + 1);
            world_sleep_ms(2);
        }
        atomic_fetch_add(&play->rounds, 1);
    }
    return NULL;
}

/* Rows that the last index covers. */
static void index_rows(void *arg, const paua_index *index) { *(uint64_t *)arg = index->rows; }

static uint64_t rows_indexed(paua_collection *c)
{
    uint64_t rows = 0;

    MUST(paua_index_list(c, index_rows, &rows, &err));
    return rows;
}

/* Drops the first index, and makes it again; or makes another, and drops it. */
static void *index_run(void *arg)
{
    static const char *const names[] = {"vector", "extra", "again", "flat"};
    struct play *play = arg;

    for (uint32_t turn = 0; !atomic_load(&play->stop); turn++) {
        const char *name = names[turn % 4];
        paua_index_params params = {.kind = turn % 4 == 3 ? PAUA_INDEX_FLAT : PAUA_INDEX_VAMANA};
        paua_optimize_opts opts = {.size = sizeof opts, .threads = 1 + turn % 2};

        if (params.kind == PAUA_INDEX_VAMANA) {
            params.degree = 6 + turn % 8;
            params.list = 20;
        }
        MUST(paua_optimize(play->c, &opts, &err));
        if (turn % 4 == 0) MUST(paua_index_drop(play->c, name, &err));
        MUST(paua_index_create(play->c, NULL, name, &params, &opts, &err));
        atomic_fetch_add(&play->covered, rows_indexed(play->c));
        MUST(paua_optimize(play->c, &opts, &err));
        if (turn % 4 != 0) MUST(paua_index_drop(play->c, name, &err));
        atomic_fetch_add(&play->builds, 1);
    }
    return NULL;
}

/* ---- reading ---- */

struct sight {
    uint32_t from[BLOCKS], to[BLOCKS];
    uint64_t versions[BLOCKS]; /* bit i: from + i is possible for all rows seen */
    uint32_t seen[BLOCKS];
    bool found[ROWS];
};

static void sight_begin(struct sight *s, struct play *play)
{
    memset(s, 0, sizeof *s);
    for (uint32_t b = 0; b < BLOCKS; b++)
        s->from[b] = atomic_load(&play->committed[b]);
}

/* A hit excludes the versions that it cannot be of. */
static void sight_hit(struct sight *s, const struct play *play, const float query[DIM],
                      paua_hit hit)
{
    uint32_t block = (uint32_t)(hit.key.u64 / BLOCK_ROWS);
    uint64_t possible = 0;

    CHECK(hit.key.u64 < ROWS && !s->found[hit.key.u64]);
    s->found[hit.key.u64] = true;
    s->seen[block]++;
    CHECK(s->to[block] - s->from[block] < VERSIONS);
    for (uint32_t v = s->from[block]; v <= s->to[block]; v++)
        if (v != 0 && !deleted_in(v) &&
            (play->originals == PAUA_ORIGINALS_NONE ||
             fabs(hit.distance - distance_of(query, hit.key.u64, v)) < SLACK))
            possible |= UINT64_C(1) << (v - s->from[block]);
    if (s->seen[block] == 1) s->versions[block] = possible;
    s->versions[block] &= possible;
    CHECK(s->versions[block] != 0);
}

static bool may_be(const struct sight *s, uint32_t block, bool live)
{
    for (uint32_t v = s->from[block]; v <= s->to[block]; v++)
        if ((v != 0 && !deleted_in(v)) == live) return true;
    return false;
}

static void sight_end(const struct sight *s, uint32_t k, size_t count)
{
    uint32_t least = 0, most = 0;

    for (uint32_t b = 0; b < BLOCKS; b++) {
        least += may_be(s, b, false) ? 0 : BLOCK_ROWS;
        most += may_be(s, b, true) ? BLOCK_ROWS : 0;
        if (k > ROWS) CHECK(s->seen[b] == 0 || s->seen[b] == BLOCK_ROWS);
    }
    CHECK(count >= (least < k ? least : k) && count <= (most < k ? most : k));
}

static void search_judge(struct play *play, paua_collection *c, paua_hits *hits, uint32_t turn)
{
    static const uint32_t ks[] = {10, 1, 100, ROWS + 1};
    paua_search_opts opts = {
        .size = sizeof opts, .k = ks[turn % 4], .exact = turn % 5 == 0, .refine = turn % 3 == 0};
    float query[DIM];
    double last = -INFINITY;
    struct sight s;

    vector_of(turn, 77, query);
    sight_begin(&s, play);
    MUST(paua_search(c, query, 1, 0, &opts, hits, &err));
    for (uint32_t b = 0; b < BLOCKS; b++)
        s.to[b] = atomic_load(&play->started[b]);
    for (size_t i = 0; i < paua_hits_count(hits, 0); i++) {
        paua_hit hit = paua_hits_at(hits, 0, i);

        CHECK(hit.distance >= last);
        last = hit.distance;
        sight_hit(&s, play, query, hit);
    }
    sight_end(&s, opts.k, paua_hits_count(hits, 0));
    atomic_fetch_add(&play->reads, 1);
}

static void *read_run(void *arg)
{
    struct play *play = arg;
    uint32_t reader = atomic_fetch_add(&play->next_reader, 1);
    paua_hits *hits;

    MUST(paua_hits_open(&hits, &err));
    for (uint32_t turn = reader * 1000; !atomic_load(&play->stop); turn++) {
        search_judge(play, play->c, hits, turn);
        world_sleep_ms(1); /* builds want a core too */
    }
    paua_hits_close(hits);
    return NULL;
}

/* Another process, which opens anew now and then. */
static void follow(void *arg)
{
    struct play *play = arg;
    paua_hits *hits;

    MUST(paua_hits_open(&hits, &err));
    for (uint32_t turn = 0; !atomic_load(&play->stop); turn++) {
        paua_open_opts opts = {.read_only = true, .no_mmap = turn % 2 == 0, .lean = turn % 3 == 0};
        paua_db *db = world_open(play->path, opts);
        paua_collection *c = world_collection(db, "c");

        for (uint32_t i = 0; i < 40 && !atomic_load(&play->stop); i++)
            search_judge(play, c, hits, turn * 40 + i);
        if (turn % 8 == 0) world_validate(c);
        paua_collection_close(c);
        paua_close(db);
    }
    paua_hits_close(hits);
}

static void *backup_run(void *arg)
{
    struct play *play = arg;

    for (uint32_t number = 0; !atomic_load(&play->stop); number++) {
        paua_backup_opts opts = {.size = sizeof opts, .link = number % 2 == 1};
        char path[96];

        snprintf(path, sizeof path, "%s-backup-%u", play->path, number);
        MUST(paua_backup(play->db, path, &opts, &err));
        world_check(path);
        world_remove(path);
        atomic_fetch_add(&play->backups, 1);
        world_sleep_ms(50);
    }
    return NULL;
}

/* ---- all together ---- */

static void collection_make(const char *path, const paua_vector_field *field)
{
    paua_schema schema = {
        .size = sizeof schema, .document = PAUA_DOCUMENT_NONE, .fields = field, .field_count = 1};
    paua_db *db = world_open(path, (paua_open_opts){.create = true, .durability = PAUA_OFF});
    paua_collection *c;

    MUST(paua_collection_create(db, "c", &schema, &c, &err));
    paua_collection_close(c);
    paua_close(db);
}

static void play_threads(struct play *play)
{
    static void *(*const others[])(void *) = {write_run, index_run, backup_run};
    pthread_t threads[READERS + 3];
    uint64_t end = world_now_ms() + 60000;
    uint32_t count = 0;

    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[count++], NULL, others[i], play), 0);
    for (uint32_t i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&threads[count++], NULL, read_run, play), 0);
    world_sleep_ms(world_whole() ? 20000 : 1000);
    while (atomic_load(&play->builds) < BUILDS && world_now_ms() < end)
        world_sleep_ms(10);
    atomic_store(&play->stop, true);
    while (count > 0)
        pthread_join(threads[--count], NULL);
}

static void play_run(paua_precision precision, paua_originals originals)
{
    const paua_vector_field field = {.name = "vector",
                                     .dim = DIM,
                                     .metric = PAUA_L2,
                                     .precision = precision,
                                     .originals = originals,
                                     .index = {.kind = PAUA_INDEX_VAMANA, .degree = 8, .list = 16}};
    struct play *play = world_share(sizeof *play);
    pid_t pid;

    play->originals = originals;
    world_make_fast(play->path);
    collection_make(play->path, &field);
    pid = world_fork(follow, play);
    play->db = world_open(play->path, (paua_open_opts){.durability = PAUA_OFF});
    play->c = world_collection(play->db, "c");
    for (uint32_t block = 0; block < BLOCKS; block++) /* out of step: most live at any time */
        block_write(play, block, 1 + block % (DELETE_EVERY - 1));
    play_threads(play);
    assert_true(world_wait(pid));
    print_message("%llu rounds, %llu reads, %llu builds of %llu rows, %llu backups\n",
                  (unsigned long long)play->rounds, (unsigned long long)play->reads,
                  (unsigned long long)play->builds, (unsigned long long)play->covered,
                  (unsigned long long)play->backups);
    assert_true(play->reads > 0 && play->builds > 0 && play->covered > 0 && play->backups > 0);
    world_validate(play->c);
    paua_collection_close(play->c);
    paua_close(play->db);
    world_check(play->path);
    world_remove(play->path);
}

static void every_search_is_of_a_snapshot_while_indexes_come_and_go(void **state)
{
    (void)state;
    play_run(PAUA_FP32, PAUA_ORIGINALS_DEFAULT);
}

static void every_search_is_of_a_snapshot_while_originals_go(void **state)
{
    (void)state;
    play_run(PAUA_INT8, PAUA_ORIGINALS_NONE);
}

/* ---- in the background ---- */

#define MANY 66000u /* more than the background thread leaves for later */
#define SMALL_DIM 2u

static void cancel_index(void *arg, const char *what, uint64_t done, uint64_t total)
{
    (void)done;
    (void)total;
    if (strncmp(what, "merging", 7) != 0) paua_cancel_request(arg);
}

static const paua_vector_field small_field = {
    .name = "vector",
    .dim = SMALL_DIM,
    .metric = PAUA_L2,
    .precision = PAUA_INT8,
    .index = {.kind = PAUA_INDEX_VAMANA, .degree = 4, .list = 6, .occlusion = 20}};

static void rows_insert(paua_collection *c, uint64_t first, size_t n)
{
    float *data = calloc(n, SMALL_DIM * sizeof data[0]);
    uint64_t *keys = calloc(n, sizeof keys[0]);
    paua_vectors vectors = {.data = data};
    paua_rows rows = {.size = sizeof rows,
                      .keys = {.count = n, .u64 = keys},
                      .vectors = &vectors,
                      .vectors_count = 1};

    CHECK(data != NULL && keys != NULL);
    for (size_t i = 0; i < n; i++) {
        float vector[DIM];

        keys[i] = first + i;
        vector_of(keys[i], 1, vector);
        memcpy(data + i * SMALL_DIM, vector, SMALL_DIM * sizeof data[0]);
    }
    MUST(paua_insert(c, &rows, NULL, NULL, &err));
    free(data);
    free(keys);
}

/* One segment of many rows that lacks its index. */
static void many_make(char path[64])
{
    paua_cancel cancel = {0};
    paua_optimize_opts opts = {
        .size = sizeof opts, .progress = cancel_index, .progress_arg = &cancel, .cancel = &cancel};
    paua_collection *c;
    paua_db *db;

    world_make_fast(path);
    collection_make(path, &small_field);
    db = world_open(path, (paua_open_opts){.durability = PAUA_OFF, .no_background = true});
    c = world_collection(db, "c");
    rows_insert(c, 0, MANY);
    CHECK(paua_optimize(c, &opts, NULL) == PAUA_ECANCELED);
    paua_collection_close(c);
    paua_close(db);
}

/* Opens for writing, becomes the writer, and has the background thread look for work. */
static paua_db *many_open(const char *path, paua_collection **c)
{
    static const uint64_t key = MANY;
    static const float vector[SMALL_DIM] = {2, 2};
    paua_vectors vectors = {.data = vector};
    paua_rows rows = {.size = sizeof rows,
                      .keys = {.count = 1, .u64 = &key},
                      .vectors = &vectors,
                      .vectors_count = 1};
    paua_db *db = world_open(path, (paua_open_opts){.durability = PAUA_OFF});

    *c = world_collection(db, "c");
    MUST(paua_upsert(*c, &rows, NULL, NULL, &err));
    maintenance_wake(db);
    return db;
}

static void a_background_build_stops_when_its_collection_is_closed(void **state)
{
    static const uint32_t delays_ms[] = {0, 3, 20, 80, 200};
    paua_collection *c;
    char path[64];
    paua_db *db;

    (void)state;
    many_make(path);
    for (size_t i = 0; i < sizeof delays_ms / sizeof delays_ms[0]; i++) {
        db = many_open(path, &c);
        world_sleep_ms(delays_ms[i]);
        paua_collection_close(c);
        paua_close(db);
        world_check(path);
    }
    world_remove(path);
}

static void the_background_builds_an_index_while_rows_are_found(void **state)
{
    static const float query[SMALL_DIM] = {2, 2};
    paua_search_opts opts = {.size = sizeof opts, .k = 1};
    uint64_t end = world_now_ms() + 100000;
    paua_collection *c;
    paua_hits *hits;
    char path[64];
    paua_db *db;

    (void)state;
    many_make(path);
    db = many_open(path, &c);
    MUST(paua_hits_open(&hits, &err));
    while (rows_indexed(c) == 0 && world_now_ms() < end) {
        MUST(paua_search(c, query, 1, 0, &opts, hits, &err));
        assert_int_equal(paua_hits_at(hits, 0, 0).key.u64, MANY);
        world_sleep_ms(5);
    }
    assert_int_equal(rows_indexed(c), MANY);
    paua_hits_close(hits);
    paua_collection_close(c);
    paua_close(db);
    world_check(path);
    world_remove(path);
}

static void who_optimizes_does_not_wait_for_the_background(void **state)
{
    paua_collection *c;
    char path[64];
    paua_db *db;

    (void)state;
    many_make(path);
    db = many_open(path, &c);
    world_sleep_ms(30);
    MUST(paua_optimize(c, NULL, &err));
    assert_true(rows_indexed(c) >= MANY); /* with the row that many_open wrote, or without */
    paua_collection_close(c);
    paua_close(db);
    world_check(path);
    world_remove(path);
}

struct busy_writer {
    paua_collection *c;
    uint32_t calls;
};

#define BUSY_CALLS_MAX 60u
#define BUSY_ROWS 1100u /* enough for an index */

/* Seals one more segment whenever an index makes progress. */
static void write_more(void *arg, const char *what, uint64_t done, uint64_t total)
{
    struct busy_writer *w = arg;

    (void)done;
    (void)total;
    if (strncmp(what, "merging", 7) == 0 || w->calls == BUSY_CALLS_MAX) return;
    w->calls++;
    rows_insert(w->c, w->calls * BUSY_ROWS, BUSY_ROWS);
    pthread_mutex_lock(&w->c->write_mutex);
    MUST(seal_tail(w->c, &err));
    pthread_mutex_unlock(&w->c->write_mutex);
}

static void an_optimize_ends_though_a_writer_goes_on(void **state)
{
    struct busy_writer w = {0};
    paua_optimize_opts opts = {.size = sizeof opts, .progress = write_more, .progress_arg = &w};
    char path[64];
    paua_db *db;

    (void)state;
    world_make_fast(path);
    collection_make(path, &small_field);
    db = world_open(path, (paua_open_opts){.durability = PAUA_OFF, .no_background = true});
    w.c = world_collection(db, "c");
    rows_insert(w.c, 0, BUSY_ROWS);
    MUST(paua_optimize(w.c, &opts, &err));
    assert_true(w.calls > 0 && w.calls < BUSY_CALLS_MAX);
    assert_int_equal(rows_indexed(w.c), BUSY_ROWS);
    paua_collection_close(w.c);
    paua_close(db);
    world_remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_search_is_of_a_snapshot_while_indexes_come_and_go),
        cmocka_unit_test(every_search_is_of_a_snapshot_while_originals_go),
        cmocka_unit_test(a_background_build_stops_when_its_collection_is_closed),
        cmocka_unit_test(the_background_builds_an_index_while_rows_are_found),
        cmocka_unit_test(who_optimizes_does_not_wait_for_the_background),
        cmocka_unit_test(an_optimize_ends_though_a_writer_goes_on),
    };

    return cmocka_run_group_tests_name("concurrency/indexed_searches", tests, NULL, NULL);
}
