/* test_indexes.c - random operations on collections with indexes, against a plain array: whatever
 * is written, merged, built, dropped, reopened or backed up, an exact search gives the array's
 * answer, and a search through an index gives as many distinct live rows, near enough. Degrees are
 * tiny and rows few, but enough for real graphs. A seed that fails repeats: it is in the message
 * (PAUA_SEED=n runs it alone). PAUA_SWEEP=whole runs many more.
 * Floors hold for each seed: the worst of 120 was .02 above its own. */
#include "support/support.h"

#include <math.h>

#include "db/db.h"
#include "db/merge.h"
#include "support/share.h"

#define KEYS 2600u
#define DIM 24u
#define DIM2 5u
#define CENTRES 40u
#define BATCH 900u
#define STRIDE 7u /* between the keys of a batch; shares no factor with KEYS */
#define QUERIES 4u
#define OPERATIONS 24u
#define SEEDS_SAMPLE 8u
#define SEEDS_WHOLE 120u /* about a minute; four of each metric, precision, place */
#define SLACK 1e-5

/* All indexes that there may be. */
static const struct {
    const char *name;
    uint32_t field;
} indexes[] = {{"vector", 0}, {"second", 1}, {"a", 0}, {"b", 0}};
#define INDEXES (sizeof indexes / sizeof indexes[0])

struct tally {
    uint64_t found, wanted;
};

struct world {
    uint64_t number, seed;
    struct test_schema schema;
    struct test_dir dir;
    bool in_memory;
    paua_db *db, *reader_db; /* the reader follows from outside; NULL in memory */
    paua_collection *c, *reader;
    paua_hits *hits;
    bool live[KEYS], defined[INDEXES];
    float first[KEYS][DIM], second[KEYS][DIM2]; /* of live rows, as stored */
    float centres[CENTRES][DIM];
    struct tally indexed, refined, exact; /* of the first field; exact: without originals */
};

static uint32_t below(struct world *w, uint32_t n) { return test_random_below(&w->seed, n); }

static uint32_t live_count(const struct world *w)
{
    uint32_t n = 0;

    for (uint32_t id = 0; id < KEYS; id++)
        n += w->live[id];
    return n;
}

static void vector_make(struct world *w, float vector[DIM])
{
    const float *centre = w->centres[below(w, CENTRES)];

    test_random_floats(&w->seed, vector, DIM);
    for (uint32_t i = 0; i < DIM; i++)
        vector[i] = 0.3F + centre[i] / (1 + (float)i / 8) + vector[i] / 4;
}

static bool stores_halves(const struct world *w)
{
    return w->schema.originals == PAUA_ORIGINALS_FP16 ||
           (w->schema.originals == PAUA_ORIGINALS_DEFAULT && w->schema.precision == PAUA_FP16);
}

/* ---- what must be found ---- */

struct question {
    uint32_t field, dim, k;
    paua_metric metric;
    float queries[QUERIES * DIM];
    uint64_t allowed[KEYS + 1];
    bool limited, may[KEYS]; /* only these */
    paua_keys keys;
};

static double distance_to(const struct world *w, const struct question *q, uint32_t query,
                          uint32_t id)
{
    const float *row = q->field == 0 ? w->first[id] : w->second[id];

    return test_distance(q->metric, q->queries + query * q->dim, row, q->dim);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* The distances of all rows that may be found, rising; returns their number. */
static uint32_t truth(const struct world *w, const struct question *q, uint32_t query,
                      double distances[KEYS])
{
    uint32_t n = 0;

    for (uint32_t id = 0; id < KEYS; id++)
        if (w->live[id] && (!q->limited || q->may[id]))
            distances[n++] = distance_to(w, q, query, id);
    qsort(distances, n, sizeof distances[0], by_value);
    return n;
}

static void question_make(struct world *w, struct question *q)
{
    static const uint32_t ks[] = {1, 10, 10, 10, 100, KEYS + 5};

    q->field = w->schema.dim2 != 0 && below(w, 4) == 0 ? 1 : 0;
    q->dim = q->field == 0 ? DIM : DIM2;
    q->metric = q->field == 0 ? w->schema.metric : PAUA_L2;
    q->k = ks[below(w, sizeof ks / sizeof ks[0])];
    for (uint32_t i = 0; i < QUERIES; i++)
        if (q->field == 0)
            vector_make(w, q->queries + i * DIM);
        else
            test_random_floats(&w->seed, q->queries + i * DIM2, DIM2);
    q->limited = below(w, 4) == 0;
    q->keys = (paua_keys){.u64 = q->allowed};
    if (!q->limited) return;
    for (uint32_t id = 0, share = 1 + below(w, 40); id < KEYS; id++) {
        q->may[id] = below(w, share) == 0;
        if (q->may[id]) q->allowed[q->keys.count++] = id;
    }
    q->allowed[q->keys.count++] = KEYS + 1; /* there is none */
}

/* Tallies how many of the hits belong to the k nearest, of how many. approximate: rows and
 * distances may differ from the truth, but never their number, and none is dead, forbidden or
 * twice there. */
static void answer_check(struct world *w, const struct question *q, bool approximate,
                         struct tally *t)
{
    static double distances[KEYS];

    for (uint32_t query = 0; query < QUERIES; query++) {
        uint32_t n = truth(w, q, query, distances), wanted = n < q->k ? n : q->k;
        bool seen[KEYS] = {false};
        double last = -INFINITY;

        assert_int_equal(paua_hits_count(w->hits, query), wanted);
        for (uint32_t i = 0; i < wanted; i++) {
            paua_hit hit = paua_hits_at(w->hits, query, i);
            uint64_t id = hit.key.u64;
            double d;

            assert_true(id < KEYS && w->live[id]);
            assert_false(seen[id]);
            assert_true(!q->limited || q->may[id]);
            assert_true(hit.distance >= last);
            seen[id] = true;
            last = hit.distance;
            d = distance_to(w, q, query, (uint32_t)id);
            if (wanted < n && d <= distances[wanted - 1] + SLACK) t->found++;
            if (approximate) continue;
            assert_true(fabs(hit.distance - d) <= SLACK * (1 + fabs(d)));
            assert_true(fabs(d - distances[i]) <= SLACK * (1 + fabs(d)));
        }
        if (wanted < n) t->wanted += wanted; /* all there are is no merit */
    }
}

/* A name of an index of this field, or NULL: the first, or none. */
static const char *index_any(struct world *w, uint32_t field)
{
    size_t i = below(w, INDEXES + 2);

    return i < INDEXES && w->defined[i] && indexes[i].field == field ? indexes[i].name : NULL;
}

static void searches_check(struct world *w, paua_collection *c)
{
    static struct question q;
    paua_search_opts opts = {.size = sizeof opts, .ef = 0, .exact = true};
    bool originals;
    struct tally other = {0}; /* of the second field */

    question_make(w, &q);
    originals = q.field == 1 || w->schema.originals != PAUA_ORIGINALS_NONE;
    opts.k = q.k;
    opts.field = q.field == 0 ? NULL : "second";
    opts.allowed = q.limited ? &q.keys : NULL;
    assert_ok(paua_search(c, q.queries, QUERIES, 0, &opts, w->hits, &test_err));
    answer_check(w, &q, !originals, q.field == 0 ? &w->exact : &other);

    opts.exact = false;
    opts.ef = q.k > 200 || below(w, 2) == 0 ? 0 : 200;
    opts.index = index_any(w, q.field);
    opts.refine = below(w, 2) == 0;
    opts.threads = 1 + below(w, 2);
    assert_ok(paua_search(c, q.queries, QUERIES, 0, &opts, w->hits, &test_err));
    answer_check(w, &q, true,
                 q.field == 1               ? &other
                 : originals && opts.refine ? &w->refined
                                            : &w->indexed);
    assert_true(other.found * 100 >= other.wanted * 90);
}

static void world_check(struct world *w, paua_collection *c)
{
    assert_int_equal(test_count(c), live_count(w));
    for (int i = 0; i < 3; i++)
        searches_check(w, c);
    test_validate(c);
}

/* ---- operations ---- */

static paua_open_opts any_opts(struct world *w)
{
    return (paua_open_opts){.size = sizeof(paua_open_opts),
                            .create = true,
                            .in_memory = w->in_memory,
                            .no_mmap = below(w, 3) == 0,
                            .lean = below(w, 3) == 0,
                            .map_originals = below(w, 2) == 0,
                            .durability = PAUA_OFF,
                            .verify = (paua_verify)below(w, 2),
                            .no_background = below(w, 2) == 0};
}

struct rows_new {
    uint32_t n;
    uint64_t keys[BATCH];
    float first[BATCH * DIM], second[BATCH * DIM2];
};

static void rows_new_make(struct world *w, struct rows_new *b, uint32_t most)
{
    uint32_t from = below(w, KEYS);

    b->n = 1 + below(w, most);
    for (uint32_t i = 0; i < b->n; i++) {
        b->keys[i] = (from + i * STRIDE) % KEYS;
        vector_make(w, b->first + i * DIM);
    }
    test_random_floats(&w->seed, b->second, b->n * DIM2);
}

static void row_store(struct world *w, const struct rows_new *b, uint32_t i)
{
    uint64_t id = b->keys[i];

    w->live[id] = true;
    memcpy(w->second[id], b->second + i * DIM2, sizeof w->second[id]);
    for (uint32_t d = 0; d < DIM; d++)
        w->first[id][d] =
            stores_halves(w) ? test_half(b->first[i * DIM + d]) : b->first[i * DIM + d];
}

static void write_any(struct world *w)
{
    static struct rows_new b;
    static paua_status got[BATCH];
    paua_status (*const calls[])(paua_collection *, const paua_rows *, const paua_write_opts *,
                                 paua_status *,
                                 paua_error *) = {paua_insert, paua_upsert, paua_update};
    paua_vectors v[2] = {{b.first, 0}, {b.second, 0}};
    uint32_t what = below(w, 5), refused = 0;
    paua_rows rows;
    paua_status status;

    rows_new_make(w, &b, below(w, 2) == 0 ? BATCH : BATCH / 20);
    rows = test_rows(test_u64(b.keys, b.n), v, NULL);
    rows.vectors_count = w->schema.dim2 == 0 ? 1 : 2;
    what = what < 2 ? 0 : what - 2; /* inserts are most */
    status = calls[what](w->c, &rows, NULL, got, &test_err);
    for (uint32_t i = 0; i < b.n; i++) {
        bool was = w->live[b.keys[i]];
        paua_status want = what == 0 && was    ? PAUA_EEXISTS
                           : what == 2 && !was ? PAUA_ENOTFOUND
                                               : PAUA_OK;

        assert_int_equal(got[i], want);
        if (want == PAUA_OK)
            row_store(w, &b, i);
        else
            refused++;
    }
    assert_int_equal(status, refused > 0 ? PAUA_EPARTIAL : PAUA_OK);
}

/* A few rows, or most of those that there are. */
static void delete_any(struct world *w)
{
    static uint64_t keys[KEYS];
    uint32_t share = below(w, 6) == 0 ? 1 : 10, n = 0;
    paua_keys k;

    for (uint32_t id = 0; id < KEYS; id++)
        if (w->live[id] && below(w, 12) >= share) {
            if (share == 10 && below(w, 3) != 0) continue;
            keys[n++] = id;
            w->live[id] = false;
        }
    if (n == 0) return;
    k = test_u64(keys, n);
    assert_ok(paua_delete(w->c, &k, NULL, NULL, &test_err));
}

static void optimize(struct world *w)
{
    paua_optimize_opts opts = {.size = sizeof opts, .threads = below(w, 3)};

    assert_ok(paua_optimize(w->c, &opts, &test_err));
}

static void cancel_soon(void *arg, const char *what, uint64_t done, uint64_t total)
{
    (void)what;
    (void)done;
    (void)total;
    paua_cancel_request(arg);
}

static void optimize_in_vain(struct world *w)
{
    paua_cancel cancel = {0};
    paua_optimize_opts opts = {
        .size = sizeof opts, .progress = cancel_soon, .progress_arg = &cancel, .cancel = &cancel};
    paua_status status = paua_optimize(w->c, &opts, &test_err);

    assert_true(status == PAUA_OK || status == PAUA_ECANCELED);
}

static void index_make(struct world *w)
{
    size_t i = below(w, INDEXES);
    const char *field = indexes[i].field == 0 ? "vector" : "second";
    paua_index_params params = {.kind = (paua_index_kind)(1 + below(w, 2))};

    if (indexes[i].field == 1 && w->schema.dim2 == 0) return;
    if (params.kind == PAUA_INDEX_VAMANA) {
        params.degree = 4 + below(w, 12);
        params.list = 8 + below(w, 60);
    }
    if (w->defined[i]) {
        assert_fails(paua_index_create(w->c, field, indexes[i].name, &params, NULL, &test_err),
                     PAUA_EEXISTS);
        return;
    }
    assert_ok(paua_index_create(w->c, field, indexes[i].name, &params, NULL, &test_err));
    w->defined[i] = true;
}

static void index_drop(struct world *w)
{
    size_t i = below(w, INDEXES);

    if (w->defined[i])
        assert_ok(paua_index_drop(w->c, indexes[i].name, &test_err));
    else
        assert_fails(paua_index_drop(w->c, indexes[i].name, &test_err), PAUA_ENOTFOUND);
    w->defined[i] = false;
}

static void index_note(void *arg, const paua_index *index)
{
    struct world *w = arg;
    size_t i = 0;

    while (i < INDEXES && strcmp(indexes[i].name, index->name) != 0)
        i++;
    assert_true(i < INDEXES && w->defined[i]);
    assert_string_equal(index->field, indexes[i].field == 0 ? "vector" : "second");
    w->defined[i] = false; /* each once */
}

static void index_list(struct world *w)
{
    bool defined[INDEXES];

    memcpy(defined, w->defined, sizeof defined);
    assert_ok(paua_index_list(w->c, index_note, w, &test_err));
    for (size_t i = 0; i < INDEXES; i++)
        assert_false(w->defined[i]);
    memcpy(w->defined, defined, sizeof defined);
}

static void seal(struct world *w)
{
    pthread_mutex_lock(&w->c->write_mutex);
    assert_ok(writer_begin(w->c, &test_err));
    assert_ok(seal_tail(w->c, &test_err));
    pthread_mutex_unlock(&w->c->write_mutex);
}

static void merge_in_background(struct world *w)
{
    bool did;

    assert_ok(merge_run(w->c, MERGE_BACKGROUND, NULL, &did, &test_err));
}

static void reopen(struct world *w)
{
    paua_open_opts opts = any_opts(w);

    if (w->in_memory) return;
    paua_collection_close(w->c);
    paua_close(w->db);
    assert_ok(paua_open(w->dir.path, &opts, &w->db, &test_err));
    assert_ok(paua_collection_open(w->db, "c", &w->c, &test_err));
}

static void backup(struct world *w)
{
    paua_open_opts opts = {.size = sizeof opts, .read_only = true};
    paua_collection *c;
    struct test_dir copy;
    paua_db *db;

    opts.no_mmap = below(w, 2) == 0;
    test_dir_make(&copy);
    assert_ok(paua_backup(w->db, copy.path, NULL, &test_err));
    assert_ok(paua_open(copy.path, &opts, &db, &test_err));
    assert_ok(paua_collection_open(db, "c", &c, &test_err));
    world_check(w, c);
    paua_collection_close(c);
    paua_close(db);
    assert_ok(paua_check(copy.path, NULL, &test_err));
    test_dir_remove(&copy);
}

static void check_whole(struct world *w)
{
    if (!w->in_memory) assert_ok(paua_check(w->dir.path, NULL, &test_err));
}

static void follow(struct world *w)
{
    if (w->reader != NULL) world_check(w, w->reader);
}

static void operate(struct world *w)
{
    static const struct {
        uint32_t weight;
        void (*run)(struct world *w);
    } operations[] = {{34, write_any},
                      {10, delete_any},
                      {10, optimize},
                      {3, optimize_in_vain},
                      {8, index_make},
                      {4, index_drop},
                      {3, index_list},
                      {8, seal},
                      {4, merge_in_background},
                      {5, reopen},
                      {2, backup},
                      {2, check_whole},
                      {7, follow}};
    uint32_t at = below(w, 100);

    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        if (at < operations[i].weight) {
            operations[i].run(w);
            return;
        }
        at -= operations[i].weight;
    }
}

/* ---- one seed ---- */

/* So many rows that there are indexes from the start. */
static void fill(struct world *w)
{
    static struct rows_new b;
    paua_vectors v[2] = {{b.first, 0}, {b.second, 0}};

    for (uint32_t first = 0; first + BATCH <= KEYS; first += BATCH) {
        paua_rows rows;

        test_random_floats(&w->seed, b.second, BATCH * DIM2);
        for (uint32_t i = 0; i < BATCH; i++) {
            b.keys[i] = first + i;
            vector_make(w, b.first + i * DIM);
            row_store(w, &b, i);
        }
        rows = test_rows(test_u64(b.keys, BATCH), v, NULL);
        rows.vectors_count = w->schema.dim2 == 0 ? 1 : 2;
        assert_ok(paua_insert(w->c, &rows, NULL, NULL, &test_err));
    }
    optimize(w);
}

static void schema_make(struct world *w)
{
    struct test_schema *s = &w->schema;

    *s = (struct test_schema){.document = PAUA_DOCUMENT_NONE,
                              .dim = DIM,
                              .metric = (paua_metric)(PAUA_L2 + w->number % 3),
                              .precision = (paua_precision)(w->number % 5),
                              .dim2 = below(w, 2) == 0 ? 0 : DIM2};
    if (s->precision >= PAUA_INT8)
        s->originals = (paua_originals)(PAUA_ORIGINALS_DEFAULT + below(w, 4));
    if (below(w, 4) == 0 && s->originals != PAUA_ORIGINALS_NONE) return; /* until one is made */
    s->index.kind = (paua_index_kind)(PAUA_INDEX_VAMANA + below(w, 2));
    if (s->index.kind == PAUA_INDEX_VAMANA) s->index.degree = 4 + below(w, 20);
    w->defined[0] = true;
    w->defined[1] = s->dim2 != 0;
}

static void world_make(struct world *w, uint64_t number)
{
    paua_open_opts opts;

    *w = (struct world){.number = number, .seed = number, .in_memory = number % 6 == 5};
    test_random_floats(&w->seed, w->centres[0], CENTRES * DIM);
    schema_make(w);
    test_dir_make(&w->dir);
    opts = any_opts(w);
    assert_ok(paua_hits_open(&w->hits, &test_err));
    assert_ok(paua_open(w->dir.path, &opts, &w->db, &test_err));
    w->c = test_create(w->db, "c", &w->schema);
    if (w->in_memory) return;
    opts = (paua_open_opts){.size = sizeof opts, .read_only = true};
    assert_ok(paua_open(w->dir.path, &opts, &w->reader_db, &test_err));
    assert_ok(paua_collection_open(w->reader_db, "c", &w->reader, &test_err));
}

static void world_free(struct world *w)
{
    paua_collection_close(w->reader);
    paua_close(w->reader_db);
    paua_collection_close(w->c);
    paua_close(w->db);
    paua_hits_close(w->hits);
    test_dir_remove(&w->dir);
}

static void floor_check(const struct world *w, const char *what, struct tally t, double floor)
{
    double recall = t.wanted == 0 ? 1 : (double)t.found / (double)t.wanted;

    if (recall < floor)
        fail_msg("seed %llu: recall %s is %.4f", (unsigned long long)w->number, what, recall);
}

static void run_seed(uint64_t number)
{
    static const double floors[] = {[PAUA_FP32] = .95,
                                    [PAUA_FP16] = .95,
                                    [PAUA_INT8] = .95,
                                    [PAUA_INT4] = .92,
                                    [PAUA_INT2] = .92};
    static struct world w;
    double floor;

    world_make(&w, number);
    if (number % 4 != 0) fill(&w);
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        operate(&w);
        world_check(&w, w.c);
    }
    check_whole(&w);
    floor = floors[w.schema.precision];
    floor_check(&w, "through indexes", w.indexed, floor);
    floor_check(&w, "refined", w.refined, .95);
    floor_check(&w, "of an exact search", w.exact, floor);
    world_free(&w);
}

static void searches_agree_with_the_model_whatever_is_done(void **state)
{
    const char *one = getenv("PAUA_SEED");
    uint64_t seeds = test_sweep_whole() ? SEEDS_WHOLE : SEEDS_SAMPLE;
    const struct share *share = *state;

    for (uint64_t seed = share->at; seed < seeds && one == NULL; seed += share->of) {
        print_message("seed %llu\r", (unsigned long long)seed);
        run_seed(seed);
    }
    if (one != NULL) run_seed(strtoull(one, NULL, 10));
}

int main(int argc, char **argv)
{
    struct share share = share_read(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(searches_agree_with_the_model_whatever_is_done, &share),
    };

    return cmocka_run_group_tests_name("property/indexes", tests, NULL, NULL);
}
