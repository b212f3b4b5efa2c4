/* test_model.c - random operations, and after them a collection that agrees with a plain array: in
 * every kind of key, with one field or two, on disk and in memory, through seals, merges, reopening
 * and backups. A seed that fails repeats: it is in the message. PAUA_SWEEP=whole runs many more. */
#include "property/model.h"

#include "db/db.h"
#include "support/share.h"

#define OPERATIONS 120u
#define SEEDS_SAMPLE 18u
#define SEEDS_WHOLE 600u

static struct share share; /* of the seeds */

struct world {
    struct replica model;
    uint64_t seed;
    struct test_dir dir;
    bool in_memory;
    paua_db *db;
    paua_collection *c;
    paua_db *reader_db; /* follows from outside; NULL in memory */
    paua_collection *reader;
};

static void world_check(struct world *w, paua_collection *c)
{
    assert_int_equal(test_count(c), model_count(&w->model));
    expect_rows(&w->model, c);
    expect_iteration(&w->model, c);
    for (int i = 0; i < 3; i++)
        expect_search(&w->model, c, &w->seed);
    test_validate(c);
}

static paua_open_opts any_opts(struct world *w)
{
    uint32_t at = test_random_below(&w->seed, 12); /* syncs are slow */

    return (paua_open_opts){.size = sizeof(paua_open_opts),
                            .create = true,
                            .no_mmap = test_random_below(&w->seed, 3) == 0,
                            .durability = at == 0   ? PAUA_FULL
                                          : at == 1 ? PAUA_BATCH
                                                    : PAUA_OFF,
                            .verify = (paua_verify)test_random_below(&w->seed, 2),
                            .batch_ms = 1,
                            .no_background = test_random_below(&w->seed, 2) == 0};
}

static void world_open(struct world *w)
{
    paua_open_opts opts = any_opts(w);

    assert_ok(paua_open(w->dir.path, &opts, &w->db, &test_err));
    assert_ok(paua_collection_open(w->db, "c", &w->c, &test_err));
}

static void world_close(struct world *w)
{
    paua_collection_close(w->c);
    paua_close(w->db);
}

static void look_read_only(struct world *w, const char *path)
{
    paua_open_opts opts = {.size = sizeof opts, .read_only = true};
    paua_collection *c;
    paua_db *db;

    opts.no_mmap = test_random_below(&w->seed, 2) == 0;
    assert_ok(paua_open(path, &opts, &db, &test_err));
    assert_ok(paua_collection_open(db, "c", &c, &test_err));
    world_check(w, c);
    paua_collection_close(c);
    paua_close(db);
}

/* ---- operations ---- */

static void write_any(struct world *w)
{
    paua_status wanted_rows[BATCH_MAX], rows[BATCH_MAX], wanted, status;
    struct call call;

    call_make(&w->model, &w->seed, &call);
    wanted = model_apply(&w->model, &call, wanted_rows);
    status = call_run(&w->model, w->c, &call, rows);
    if (status != wanted)
        fail_msg("status %d (%s), not %d", (int)status, test_err.message, (int)wanted);
    for (size_t i = 0; i < call.n; i++)
        assert_int_equal(rows[i], wanted_rows[i]);
}

static void optimize(struct world *w) { assert_ok(paua_optimize(w->c, NULL, &test_err)); }

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

static void flush(struct world *w) { assert_ok(paua_flush(w->db, &test_err)); }

static void reopen(struct world *w)
{
    if (w->in_memory) return;
    world_close(w);
    world_open(w);
    world_check(w, w->c);
}

static void reopen_read_only(struct world *w)
{
    if (w->in_memory) return;
    world_close(w);
    look_read_only(w, w->dir.path);
    world_open(w);
}

static void backup(struct world *w)
{
    struct test_dir copy;

    test_dir_make(&copy);
    assert_ok(paua_backup(w->db, copy.path, NULL, &test_err));
    look_read_only(w, copy.path);
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
    } operations[] = {
        {60, write_any},  {12, seal},  {4, optimize},         {4, merge_in_background},
        {3, flush},       {4, reopen}, {2, reopen_read_only}, {1, backup},
        {1, check_whole}, {9, follow}};
    uint32_t at = test_random_below(&w->seed, 100);

    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        if (at < operations[i].weight) {
            operations[i].run(w);
            return;
        }
        at -= operations[i].weight;
    }
}

/* ---- one seed ---- */

static void world_make(struct world *w, uint64_t seed)
{
    static const paua_metric metrics[] = {PAUA_L2, PAUA_IP, PAUA_COSINE};
    paua_open_opts opts;

    *w = (struct world){.seed = seed, .in_memory = seed % 4 == 3};
    w->model.schema =
        (struct test_schema){.key_kind = (paua_key_kind)(seed % 3),
                             .document = (paua_document_kind)(seed / 3 % 3),
                             .dim = DIM,
                             .metric = metrics[test_random_below(&w->seed, 3)],
                             .precision = (paua_precision)test_random_below(&w->seed, 2),
                             .dim2 = test_random_below(&w->seed, 2) == 0 ? 0 : DIM2};
    test_dir_make(&w->dir);
    opts = any_opts(w);
    opts.in_memory = w->in_memory;
    assert_ok(paua_open(w->dir.path, &opts, &w->db, &test_err));
    w->c = test_create(w->db, "c", &w->model.schema);
    if (w->in_memory) return;
    opts = (paua_open_opts){.size = sizeof opts, .read_only = true};
    assert_ok(paua_open(w->dir.path, &opts, &w->reader_db, &test_err));
    assert_ok(paua_collection_open(w->reader_db, "c", &w->reader, &test_err));
}

static void world_free(struct world *w)
{
    paua_collection_close(w->reader);
    paua_close(w->reader_db);
    world_close(w);
    test_dir_remove(&w->dir);
}

static void run_seed(uint64_t seed)
{
    static struct world w;

    world_make(&w, seed);
    for (uint32_t i = 0; i < OPERATIONS; i++) {
        operate(&w);
        assert_int_equal(test_count(w.c), model_count(&w.model));
        if (i % 5 == 4) world_check(&w, w.c);
    }
    check_whole(&w);
    world_free(&w);
}

static void a_collection_agrees_with_the_model_whatever_is_done(void **state)
{
    const char *one = getenv("PAUA_SEED");
    uint64_t seeds = test_sweep_whole() ? SEEDS_WHOLE : SEEDS_SAMPLE;

    (void)state;
    for (uint64_t seed = share.at; seed < seeds && one == NULL; seed += share.of) {
        print_message("seed %llu\r", (unsigned long long)seed);
        run_seed(seed);
    }
    if (one != NULL) run_seed(strtoull(one, NULL, 10));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_collection_agrees_with_the_model_whatever_is_done),
    };

    share = share_read(argc, argv);
    return cmocka_run_group_tests_name("property/model", tests, NULL, NULL);
}
