/* model_choose.c - how large the walk plane is, by trying; then the refine plane, in what is left.
 *
 * Sizes are tried from small to large: the sample is encoded, and held-out rows ask for their k
 * nearest. The first walk plane whose pool of 2k holds nearly all of them is taken. Where that
 * leaves less than half of the bytes to the refine plane, and no originals are compared in the end,
 * the size that ends in the best recall after refining is taken instead. Queries are floats here:
 * their rounding hurts all sizes alike.
 *
 * True distances come from the rotated sample itself: a turn keeps inner products. Ties count as
 * found, so copies of a row do no harm. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "index/model_train.h"

#define MEASURED_ROWS 768u
#define MEASURED_NBYTES (8u << 20)
#define COVERED 0.999
#define COVERED_LEAST 0.98 /* smaller planes are not worth refining */
#define TRIALS_MAX 8u
#define K_LEAST 20u
#define QUERY_BLOCK 16u

struct choice {
    const struct sample *sample;
    uint32_t k;
    float *truth;  /* queries x count: distances up to a constant of the query's */
    float *bounds; /* of the k nearest, by query */
    uint8_t *codes;
    float *factors;
    uint32_t budget;
    struct plane_model walk, refine; /* on trial */
    bool refining;                   /* count kept, too */
    uint32_t measured;               /* rows of residual, at even distances in the sample */
    float *residual;
    double energy[SEGMENTS_MAX]; /* mean square by segment */
    struct measures first, rest; /* of z; of what the walk plane leaves */
    double missed[2];            /* share of the energy that walk, and both planes miss */
    uint32_t found[SAMPLE_QUERIES], kept[SAMPLE_QUERIES]; /* of k: in the pool; after refining */
};

static const float *query_row(const struct choice *c, uint32_t q)
{
    return sample_row(c->sample, c->sample->count + q);
}

static uint32_t blocks_of(uint32_t n, uint32_t each) { return (n + each - 1) / each; }

static uint32_t block_end(uint32_t n, uint32_t each, uint32_t block)
{
    return n - block * each < each ? n : (block + 1) * each;
}

/* The k-th smallest of n, by a heap of the k smallest with the greatest on top. */
static float kth(const float *values, uint32_t n, uint32_t k, float *heap)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t at;

        if (count == k && values[i] >= heap[0]) continue;
        if (count < k) {
            for (at = count++; at > 0 && heap[(at - 1) / 2] < values[i]; at = (at - 1) / 2)
                heap[at] = heap[(at - 1) / 2];
        } else {
            for (at = 0; 2 * at + 1 < k;) {
                uint32_t child = 2 * at + 1;

                child += child + 1 < k && heap[child + 1] > heap[child];
                if (heap[child] <= values[i]) break;
                heap[at] = heap[child];
                at = child;
            }
        }
        heap[at] = values[i];
    }
    return heap[0];
}

static void set_truth(struct choice *c, uint32_t q, const float *product, float *heap)
{
    const struct sample *sample = c->sample;
    float *truth = c->truth + (size_t)q * sample->count;

    for (uint32_t i = 0; i < sample->count; i++) {
        bool itself = sample->positions[i] == sample->positions[sample->count + q];

        truth[i] =
            itself ? INFINITY : sample->aux[i] - 2 * product[(size_t)i * KERNEL_TILE_QUERIES];
    }
    c->bounds[q] = kth(truth, sample->count, c->k, heap);
}

static paua_status truth_block(void *arg, uint32_t block, paua_error *err)
{
    struct choice *c = arg;
    const struct sample *sample = c->sample;
    uint32_t first = block * KERNEL_TILE_QUERIES, dims = model_room_dims(sample->model);
    uint32_t end = block_end(sample->queries, KERNEL_TILE_QUERIES, block);
    struct panel panel;
    float *heap = mem_alloc(c->k * sizeof *heap);
    bool ok = heap != NULL && panel_init(&panel, dims, sample->count);

    if (ok) {
        panel_pack(&panel, query_row(c, first), sample->stride, end - first, dims);
        kernels_best()->dot_tile(panel.packed, sample->rows, sample->stride * sizeof(float),
                                 sample->count, dims, panel.product);
        for (uint32_t q = first; q < end; q++)
            set_truth(c, q, panel.product + (q - first), heap);
        panel_free(&panel);
    }
    mem_free(heap);
    return ok ? PAUA_OK : error_set_nomem(err);
}

static paua_status encode_block(void *arg, uint32_t block, paua_error *err)
{
    struct choice *c = arg;
    const struct sample *sample = c->sample;
    uint32_t first = block * SAMPLE_BLOCK, end = block_end(sample->count, SAMPLE_BLOCK, block);
    struct coder coder;

    if (!coder_init(&coder, &c->walk, sample->model->dim)) return error_set_nomem(err);
    for (uint32_t i = first; i < end; i++) {
        float *factors = c->factors + (size_t)i * CODE_FACTORS;

        coder_encode(&coder, sample_row(sample, i), c->codes + (size_t)i * c->walk.layout.nbytes,
                     factors);
        factors[CODE_GROUPS] = sample->aux[i];
    }
    coder_free(&coder);
    return PAUA_OK;
}

/* What is in the pool by code. */
static void count_found(struct choice *c, uint32_t q, const float *distances, float bound)
{
    const float *truth = c->truth + (size_t)q * c->sample->count;
    uint32_t found = 0;

    for (uint32_t i = 0; i < c->sample->count; i++)
        found += distances[i] <= bound && truth[i] <= c->bounds[q];
    c->found[q] = found < c->k ? found : c->k;
}

/* Room of one thread for queries on trial. */
struct trial {
    int8_t *values;
    float *distances, *heap, *again, *z;
    uint32_t *pool;
    struct coder refine;
    uint8_t *code;
    void *memory;
};

static bool trial_init(struct trial *trial, const struct choice *c)
{
    size_t values = (size_t)c->walk.layout.step_count * CODE_LINE_NBYTES, pool = 2 * (size_t)c->k;
    size_t words = c->sample->count + 3 * pool + c->sample->stride;
    char *memory = mem_aligned(64, values + words * sizeof(float) + c->refine.layout.nbytes);

    *trial = (struct trial){.values = (int8_t *)memory, .memory = memory};
    if (memory == NULL) return false;
    trial->distances = (float *)(memory + values);
    trial->heap = trial->distances + c->sample->count;
    trial->again = trial->heap + pool;
    trial->pool = (uint32_t *)(trial->again + pool);
    trial->z = trial->again + 2 * pool;
    trial->code = (uint8_t *)(trial->z + c->sample->stride);
    return coder_init(&trial->refine, &c->refine, c->sample->model->dim);
}

static void trial_free(struct trial *trial)
{
    coder_free(&trial->refine);
    mem_free(trial->memory);
}

/* D of the query and row i after refining, up to the query's constant. */
static float refined(const struct choice *c, struct trial *trial, uint32_t q, uint32_t i)
{
    const struct sample *sample = c->sample;
    const float *z = sample_row(sample, i);
    float factors[CODE_FACTORS], product, left;

    memcpy(trial->z, z, sample->stride * sizeof *z);
    plane_add(&c->walk, c->codes + (size_t)i * c->walk.layout.nbytes,
              c->factors + (size_t)i * CODE_FACTORS, -1, trial->z);
    coder_encode(&trial->refine, trial->z, trial->code, factors);
    plane_add(&c->refine, trial->code, factors, -1, trial->z);
    kernels_best()->dot_f32(query_row(c, q), z, 0, 1, sample->model->dim, &product);
    kernels_best()->dot_f32(query_row(c, q), trial->z, 0, 1, sample->model->dim, &left);
    return sample->aux[i] - 2 * (product - left);
}

/* How many of the true k are among the best k of the pool after refining. */
static void count_kept(struct choice *c, struct trial *trial, uint32_t q, float bound)
{
    const float *truth = c->truth + (size_t)q * c->sample->count;
    uint32_t n = 0, kept = 0;

    for (uint32_t i = 0; i < c->sample->count && n < 2 * c->k; i++)
        if (trial->distances[i] <= bound) trial->pool[n++] = i;
    for (uint32_t i = 0; i < n; i++)
        trial->again[i] = refined(c, trial, q, trial->pool[i]);
    bound = kth(trial->again, n, c->k < n ? c->k : n, trial->heap);
    for (uint32_t i = 0; i < n; i++)
        kept += trial->again[i] <= bound && truth[trial->pool[i]] <= c->bounds[q];
    c->kept[q] = kept < c->k ? kept : c->k;
}

static void try_query(struct choice *c, struct trial *trial, uint32_t q)
{
    const struct sample *sample = c->sample;
    const struct code_plane plane = {c->walk.layout, c->codes, c->factors};
    struct code_query query = {.values = trial->values};
    uint32_t pool = 2 * c->k < sample->count ? 2 * c->k : sample->count;
    float bound;

    plane_query(&c->walk, query_row(c, q), trial->values, query.scale, query.shift, NULL);
    code_kernels_best()->distances(&plane, &query, NULL, 0, sample->count, trial->distances);
    for (uint32_t i = 0; i < sample->count; i++)
        if (sample->positions[i] == sample->positions[sample->count + q])
            trial->distances[i] = INFINITY;
    bound = kth(trial->distances, sample->count, pool, trial->heap);
    count_found(c, q, trial->distances, bound);
    if (c->refining) count_kept(c, trial, q, bound);
}

static paua_status query_block(void *arg, uint32_t block, paua_error *err)
{
    struct choice *c = arg;
    uint32_t end = block_end(c->sample->queries, QUERY_BLOCK, block);
    struct trial trial;
    bool ok = trial_init(&trial, c);

    for (uint32_t q = block * QUERY_BLOCK; ok && q < end; q++)
        try_query(c, &trial, q);
    trial_free(&trial);
    return ok ? PAUA_OK : error_set_nomem(err);
}

static double share(const struct choice *c, const uint32_t *counts)
{
    uint64_t sum = 0;

    for (uint32_t q = 0; q < c->sample->queries; q++)
        sum += counts[q];
    return (double)sum / c->k / c->sample->queries;
}

/* Asks for the held-out rows' nearest with the planes on trial. */
static paua_status ask(struct choice *c, bool refining, paua_error *err)
{
    c->refining = refining;
    return sample_each_block(c->sample, blocks_of(c->sample->queries, QUERY_BLOCK), query_block, c,
                             err);
}

/* Rows at even distances to measure on, as they are. */
static void fill_residual(struct choice *c)
{
    const struct sample *sample = c->sample;

    for (uint32_t i = 0; i < c->measured; i++)
        memcpy(c->residual + (size_t)i * sample->stride,
               sample_row(sample, (uint32_t)((uint64_t)i * sample->count / c->measured)),
               sample->stride * sizeof(float));
}

/* What a plane leaves of the rows in residual; its share of what they were at first. */
static bool take_out(struct choice *c, const struct plane_model *plane, double *missed)
{
    const struct model *model = c->sample->model;
    float factors[CODE_FACTORS];
    uint8_t *code = mem_alloc(plane->layout.nbytes + 1u);
    double left = 0, all = 0;
    struct coder coder;

    if (code == NULL || !coder_init(&coder, plane, model->dim)) {
        mem_free(code);
        return false;
    }
    for (uint32_t i = 0; i < c->measured; i++) {
        float *z = c->residual + (size_t)i * c->sample->stride;

        coder_encode(&coder, z, code, factors);
        plane_add(plane, code, factors, -1, z);
        for (uint32_t j = 0; j < model->dim; j++)
            left += (double)z[j] * z[j];
    }
    for (uint32_t s = 0; s < model->segments; s++)
        all += c->energy[s] * c->measured;
    *missed = all > 0 ? left / all : 0;
    coder_free(&coder);
    mem_free(code);
    return true;
}

/* The walk plane of so many bytes, and the sample in its codes. */
static paua_status try_walk(struct choice *c, uint32_t nbytes, paua_error *err)
{
    const struct sample *sample = c->sample;

    plane_free(&c->walk);
    plane_free(&c->refine);
    if (!walk_plane(sample->model, &c->first, nbytes, &c->walk)) return error_set_nomem(err);
    return sample_each_block(sample, blocks_of(sample->count, SAMPLE_BLOCK), encode_block, c, err);
}

/* The refine plane in what the walk plane on trial leaves of the budget. */
static paua_status try_refine(struct choice *c, paua_error *err)
{
    uint32_t left = c->budget - c->walk.layout.nbytes;
    paua_status status;

    plane_free(&c->refine);
    fill_residual(c);
    if (!take_out(c, &c->walk, &c->missed[0])) return error_set_nomem(err);
    c->missed[1] = c->missed[0];
    if (left < c->sample->model->lane) return PAUA_OK;
    status = measure(c->sample, c->residual, c->measured, c->energy, &c->rest, err);
    if (status != PAUA_OK) return status;
    if (!refine_plane(c->sample->model, &c->rest, left, &c->refine) ||
        !take_out(c, &c->refine, &c->missed[1]))
        return error_set_nomem(err);
    return PAUA_OK;
}

/* Sizes worth trying, rising: whole lines, every number of them where they are few. */
static uint32_t sizes(const struct choice *c, uint32_t *nbytes)
{
    static const uint32_t parts[TRIALS_MAX] = {12, 8, 6, 5, 4, 3, 2};
    const struct model *model = c->sample->model;
    uint32_t most = c->budget, half = model->segments * model->lane / 2, n = 0;

    most = most < half ? most : (half + model->lane - 1) / model->lane * model->lane;
    for (uint32_t i = 0; i < TRIALS_MAX; i++) {
        uint32_t lines = most / model->lane;
        uint32_t line = lines <= TRIALS_MAX ? i + 1 : 0;

        if (lines > TRIALS_MAX && parts[i] > 0)
            line = (model->dim / parts[i] + model->lane / 2) / model->lane;
        if (line == 0 || line > lines || (n > 0 && line * model->lane <= nbytes[n - 1])) continue;
        nbytes[n++] = line * model->lane;
    }
    return n;
}

/* Tries sizes from small to large; the first that covers, and how much each covered. */
static paua_status first_that_covers(struct choice *c, const uint32_t *nbytes, uint32_t n,
                                     double *coverage, uint32_t *first, paua_error *err)
{
    for (uint32_t i = 0; i < n; i++) {
        paua_status status = try_walk(c, nbytes[i], err);

        if (status == PAUA_OK) status = ask(c, false, err);
        if (status != PAUA_OK) return status;
        coverage[i] = share(c, c->found);
        *first = i;
        if (coverage[i] >= COVERED) break;
    }
    return PAUA_OK;
}

/* Of the sizes up to the first that covers, the one that ends in the best recall. */
static paua_status best_after_refining(struct choice *c, const uint32_t *nbytes,
                                       const double *coverage, uint32_t *chosen, paua_error *err)
{
    double best = -1;
    uint32_t last = *chosen;

    for (uint32_t i = 0; i <= last; i++) {
        paua_status status;
        double kept;

        if (coverage[i] < COVERED_LEAST && i < last) continue;
        status = try_walk(c, nbytes[i], err);
        if (status == PAUA_OK) status = try_refine(c, err);
        if (status == PAUA_OK) status = ask(c, true, err);
        if (status != PAUA_OK) return status;
        kept = share(c, c->kept);
        if (kept <= best) continue;
        best = kept;
        *chosen = i;
    }
    return PAUA_OK;
}

/* What the walk finds is compared with originals in the end. */
static bool has_originals(const struct choice *c)
{
    paua_precision precision = c->sample->source->precision;

    return precision == PAUA_FP32 || precision == PAUA_FP16;
}

static paua_status choose(struct choice *c, paua_error *err)
{
    uint32_t nbytes[TRIALS_MAX], n = sizes(c, nbytes), chosen = 0;
    double coverage[TRIALS_MAX];
    paua_status status = first_that_covers(c, nbytes, n, coverage, &chosen, err);

    if (status == PAUA_OK && !has_originals(c) && 2 * nbytes[chosen] > c->budget && chosen > 0) {
        status = best_after_refining(c, nbytes, coverage, &chosen, err);
        if (status == PAUA_OK) status = try_walk(c, nbytes[chosen], err);
    }
    return status == PAUA_OK ? try_refine(c, err) : status;
}

static bool choice_init(struct choice *c)
{
    const struct sample *sample = c->sample;
    const struct model *model = sample->model;
    size_t most = (size_t)(model->segments + 1) / 2 * model->lane + model->lane;

    c->budget = model_budget(sample->source->precision, model->dim) / model->lane * model->lane;
    c->k = sample->count / 1000 > K_LEAST ? sample->count / 1000 : K_LEAST;
    c->k = c->k < sample->count ? c->k : sample->count;
    c->measured = (uint32_t)(MEASURED_NBYTES / (sample->stride * sizeof(float)));
    c->measured = c->measured < MEASURED_ROWS ? c->measured : MEASURED_ROWS;
    c->measured = c->measured < sample->count ? c->measured : sample->count;
    c->truth = mem_alloc((size_t)sample->queries * sample->count * sizeof *c->truth);
    c->bounds = mem_alloc(sample->queries * sizeof *c->bounds);
    c->codes = mem_aligned(64, sample->count * most + CODE_SLACK_NBYTES);
    c->factors = mem_aligned(64, (size_t)sample->count * CODE_FACTORS * sizeof *c->factors);
    c->residual = mem_alloc((size_t)c->measured * sample->stride * sizeof *c->residual);
    return c->truth != NULL && c->bounds != NULL && c->codes != NULL && c->factors != NULL &&
           c->residual != NULL;
}

static void choice_free(struct choice *c)
{
    mem_free(c->truth);
    mem_free(c->bounds);
    mem_free(c->codes);
    mem_free(c->factors);
    mem_free(c->residual);
    plane_free(&c->walk);
    plane_free(&c->refine);
    mem_free(c);
}

paua_status planes_choose(const struct sample *sample, paua_error *err)
{
    struct choice *c = mem_zalloc(1, sizeof *c);
    paua_status status = PAUA_OK;

    if (c == NULL) return error_set_nomem(err);
    c->sample = sample;
    if (!choice_init(c)) status = error_set_nomem(err);
    if (status == PAUA_OK)
        status = sample_each_block(sample, blocks_of(sample->queries, KERNEL_TILE_QUERIES),
                                   truth_block, c, err);
    if (status == PAUA_OK) {
        fill_residual(c);
        energies(sample, c->residual, c->measured, c->energy);
        status = measure(sample, c->residual, c->measured, c->energy, &c->first, err);
    }
    if (status == PAUA_OK) status = choose(c, err);
    if (status == PAUA_OK) {
        sample->model->walk = c->walk;
        sample->model->refine = c->refine;
        sample->model->walk_error = c->missed[0];
        sample->model->refine_error = c->missed[1];
        c->walk = c->refine = (struct plane_model){0};
    }
    choice_free(c);
    return status;
}
