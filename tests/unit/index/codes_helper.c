/* codes_helper.c - see codes_helper.h. */
#include "codes_helper.h"

#include "base/memory.h"

float *rows_make(uint32_t count, uint32_t dim)
{
    float *values = malloc((size_t)count * dim * sizeof values[0]);
    uint64_t seed = 77;

    assert_non_null(values);
    for (size_t i = 0; i < (size_t)count * dim; i++) {
        float wide = 4.0f / (float)(1 + i % dim);

        values[i] = wide * ((float)(random_next(&seed) % 2000) / 1000 - 1) + 0.25f;
    }
    return values;
}

struct file_header rows_header(uint32_t dim)
{
    return (struct file_header){
        .kind = FILE_CODES, .number = CODES_NUMBER, .collection = 3, .field = 1, .dim = dim};
}

static paua_status rows_read(void *arg, uint32_t first, uint32_t n, float *to, paua_error *err)
{
    const struct rows *rows = arg;

    (void)err;
    assert_true(first + n <= rows->count);
    memcpy(to, rows->values + (size_t)first * rows->dim, (size_t)n * rows->dim * sizeof to[0]);
    return PAUA_OK;
}

struct model_source rows_source(const struct rows *rows, uint32_t threads)
{
    return (struct model_source){.rows = rows_read,
                                 .arg = (void *)(uintptr_t)rows,
                                 .count = rows->count,
                                 .dim = rows->dim,
                                 .metric = rows->metric,
                                 .precision = rows->precision,
                                 .threads = threads};
}

struct codes_target rows_target(const struct rows *rows, struct dir *dir)
{
    return (struct codes_target){
        .dir = dir, .header = rows_header(rows->dim), .source_digest = 0xABCDEF0123456789};
}

struct file_ref rows_write(const struct rows *rows, struct dir *dir, uint32_t threads)
{
    struct model_source source = rows_source(rows, threads);
    struct codes_target target = rows_target(rows, dir);
    paua_error err = {0};
    struct file_ref ref;

    if (codes_write(&target, &source, &ref, &err) != PAUA_OK) fail_msg("%s", err.message);
    assert_int_equal(ref.number, CODES_NUMBER);
    return ref;
}

paua_status rows_open(uint32_t dim, struct dir *dir, const struct file_ref *ref,
                      struct opened_as as, struct codes **codes, paua_error *err)
{
    struct file_header header = rows_header(dim);
    struct data_file_opts opts = {.no_mmap = as.no_mmap, .verify = as.verify};
    struct data_file *file;
    paua_status status = data_file_open_sealed(dir, &header, ref, opts, &file, err);

    if (status != PAUA_OK) return status;
    status = codes_open(file, as.lean, codes, err);
    data_file_unref(file);
    return status;
}

/* A search's room. */
struct use {
    const struct codes *codes;
    struct model_scratch scratch;
    int8_t *values, *refining, *missed, *lut;
    uint8_t *refine;
    const uint8_t **walk_rows, **refine_rows;
    const float **walk_factors, **refine_factors;
    float *distances, *decoded;
    uint64_t *keys;
};

static void *room(size_t nbytes)
{
    void *block = mem_aligned(64, nbytes + 1);

    assert_non_null(block);
    memset(block, 0, nbytes + 1);
    return block;
}

static void use_make(struct use *u, const struct codes *codes)
{
    size_t walk = (size_t)codes->walk.layout.step_count * CODE_LINE_NBYTES;
    size_t refine = (size_t)codes->model.refine.layout.step_count * CODE_LINE_NBYTES;
    size_t n = codes->rows;

    *u = (struct use){.codes = codes};
    assert_true(model_scratch_init(&u->scratch, &codes->model));
    u->values = room(walk);
    u->missed = room(walk);
    u->refining = room(refine);
    u->lut = room((size_t)codes->walk.layout.field_count * 16);
    u->refine = room(n * codes->model.refine.layout.nbytes + CODE_SLACK_NBYTES);
    u->walk_rows = room(n * sizeof u->walk_rows[0]);
    u->refine_rows = room(n * sizeof u->refine_rows[0]);
    u->walk_factors = room(n * sizeof u->walk_factors[0]);
    u->refine_factors = room(n * sizeof u->refine_factors[0]);
    u->distances = room(n * sizeof(float));
    u->decoded = room(n * codes->model.dim * sizeof(float));
    u->keys = room((n + 8) * sizeof(uint64_t));
}

static void use_free(struct use *u)
{
    void *const all[] = {u->values,         u->missed,    u->refining,    u->lut,
                         u->refine,         u->walk_rows, u->refine_rows, u->walk_factors,
                         u->refine_factors, u->distances, u->decoded,     u->keys};

    model_scratch_free(&u->scratch);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        mem_free(all[i]);
}

/* False when the refine codes are damaged, which a lean file tells only now. */
static bool use_rows(struct use *u)
{
    const struct codes *codes = u->codes;
    size_t nbytes = codes->model.refine.layout.nbytes;

    for (uint32_t row = 0; row < codes->rows; row++) {
        u->walk_rows[row] = codes->walk.codes + (size_t)row * codes->walk.layout.nbytes;
        u->walk_factors[row] = codes->walk.factors + (size_t)row * CODE_FACTORS;
        if (nbytes == 0) continue;
        if (codes_refine_row(codes, row, u->refine + row * nbytes, &u->refine_rows[row], NULL) !=
            PAUA_OK)
            return false;
        u->refine_factors[row] = codes->refine_factors + (size_t)row * CODE_FACTORS;
    }
    return true;
}

static void use_prune(struct use *u)
{
    const struct code_plane *plane = &u->codes->walk;
    struct code_query query;
    struct prune_lut lut;

    model_prune_lut(&u->codes->model, &lut, u->lut);
    for (uint32_t row = 0; row < u->codes->rows; row++) {
        model_query_row(&u->codes->model, plane, &lut, row, u->values, &query);
        code_kernels_best()->distances(plane, &query, NULL, 0, u->codes->rows, u->distances);
    }
}

void codes_use(const struct codes *codes)
{
    const struct code_kernels *kernels = code_kernels_best();
    float *query = calloc(codes->model.dim, sizeof query[0]);
    uint32_t *ids = calloc(codes->rows, sizeof ids[0]);
    struct use u;
    struct code_query q;
    struct refine_query r;
    struct refine_rows rows;

    assert_non_null(query);
    assert_non_null(ids);
    use_make(&u, codes);
    for (uint32_t j = 0; j < codes->model.dim; j++)
        query[j] = (float)(j % 5) - 1.5f;
    for (uint32_t i = 0; i < codes->rows; i++)
        ids[i] = i;
    use_prune(&u);
    model_query_walk(&codes->model, query, &u.scratch, u.values, &q);
    kernels->distances(&codes->walk, &q, NULL, 0, codes->rows, u.distances);
    kernels->keys_below(&codes->walk, &q, ids, codes->rows, 1e30f, u.keys);
    if (use_rows(&u)) {
        r = (struct refine_query){.refine.values = u.refining, .missed.values = u.missed};
        rows = (struct refine_rows){u.walk_rows, u.walk_factors, u.refine_rows, u.refine_factors};
        model_query_refine(&codes->model, &u.scratch, &r);
        model_refine(&codes->model, &r, &rows, codes->rows, u.distances);
        assert_int_equal(codes_decode(codes, 0, codes->rows, u.decoded, NULL), PAUA_OK);
    }
    use_free(&u);
    free(query);
    free(ids);
}
