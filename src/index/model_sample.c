/* model_sample.c - an even sample of the rows, and some rows between them to ask for.
 *
 * Rows at even distances, at most SAMPLE_ROWS_MAX of them and SAMPLE_NBYTES in all, so memory is
 * bounded whatever the source holds. Everything is cut into blocks that do not depend on the number
 * of threads, and sums are taken in the order of rows. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "index/model_train.h"

#define SAMPLE_ROWS_MAX 20000u
#define SAMPLE_NBYTES (24u << 20)
#define LONG_ROW 16.0F /* times the median length */

static double square_of(const float *x, uint32_t dim)
{
    double sum = 0;

    for (uint32_t j = 0; j < dim; j++)
        sum += (double)x[j] * x[j];
    return sum;
}

struct blocks {
    const struct sample *sample;
    block_fn work;
    void *arg;
    uint32_t count;
    _Atomic uint32_t next;
    pthread_mutex_t lock; /* of what follows */
    uint32_t failed;      /* first block that failed, or count */
    paua_status status;
    paua_error *err;
};

static bool canceled(const struct model_source *source)
{
    return source->cancel != NULL &&
           __atomic_load_n(&source->cancel->requested, __ATOMIC_RELAXED) != 0;
}

static void block_failed(struct blocks *blocks, uint32_t block, paua_status status,
                         const paua_error *err)
{
    pthread_mutex_lock(&blocks->lock);
    if (block < blocks->failed) {
        blocks->failed = block;
        blocks->status = status;
        if (blocks->err != NULL) *blocks->err = *err;
    }
    pthread_mutex_unlock(&blocks->lock);
    atomic_store(&blocks->next, blocks->count);
}

static void blocks_work(void *arg, uint32_t worker)
{
    struct blocks *blocks = arg;
    paua_error err;
    uint32_t block;

    (void)worker;
    while ((block = atomic_fetch_add(&blocks->next, 1)) < blocks->count) {
        paua_status status =
            canceled(blocks->sample->source)
                ? error_set(&err, PAUA_ECANCELED, "training was canceled; nothing was written")
                : blocks->work(blocks->arg, block, &err);

        if (status != PAUA_OK) {
            block_failed(blocks, block, status, &err);
            return;
        }
    }
}

paua_status sample_each_block(const struct sample *sample, uint32_t count, block_fn work, void *arg,
                              paua_error *err)
{
    struct blocks blocks = {
        .sample = sample, .work = work, .arg = arg, .count = count, .failed = count, .err = err};
    uint32_t threads = sample->source->threads < count ? sample->source->threads : count;

    if (count == 0) return PAUA_OK;
    if (pthread_mutex_init(&blocks.lock, NULL) != 0) return error_set_nomem(err);
    parallel_run(threads > 0 ? threads : 1, blocks_work, &blocks);
    pthread_mutex_destroy(&blocks.lock);
    return blocks.failed < count ? blocks.status : PAUA_OK;
}

static uint32_t block_rows(uint32_t total, uint32_t block)
{
    uint32_t left = total - block * SAMPLE_BLOCK;

    return left < SAMPLE_BLOCK ? left : SAMPLE_BLOCK;
}

static uint32_t block_count(uint32_t total) { return (total + SAMPLE_BLOCK - 1) / SAMPLE_BLOCK; }

/* Rows that follow each other in the source come in one call. They arrive dim apart and are spread
 * to the sample's stride from the last on. */
static paua_status read_block(void *arg, uint32_t block, paua_error *err)
{
    struct sample *sample = arg;
    const struct model_source *source = sample->source;
    uint32_t first = block * SAMPLE_BLOCK;
    uint32_t end = first + block_rows(sample->count + sample->queries, block);

    for (uint32_t i = first, n; i < end; i += n) {
        paua_status status;

        for (n = 1; i + n < end && sample->positions[i + n] == sample->positions[i] + n;)
            n++;
        status = source->rows(source->arg, sample->positions[i], n, sample_row(sample, i), err);
        if (status != PAUA_OK) return status;
        for (uint32_t r = n; r-- > 0;) {
            float *from = sample_row(sample, i) + (size_t)r * source->dim;

            memmove(sample_row(sample, i + r), from, source->dim * sizeof *from);
        }
        for (uint32_t r = 0; r < n; r++) {
            float *x = sample_row(sample, i + r);

            vector_load(source->metric, source->dim, x, x);
            memset(x + source->dim, 0, (sample->stride - source->dim) * sizeof *x);
        }
    }
    return PAUA_OK;
}

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;

    return x < y ? -1 : x > y;
}

/* Rows much longer than most are shortened: a single one would else be the mean and an axis. */
static paua_status limit_lengths(struct sample *sample, paua_error *err)
{
    uint32_t dim = sample->model->dim, total = sample->count + sample->queries;
    float *lengths = mem_alloc(2 * (size_t)total * sizeof *lengths), *sorted = lengths + total,
          most;

    if (lengths == NULL) return error_set_nomem(err);
    for (uint32_t i = 0; i < total; i++)
        lengths[i] = (float)sqrt(square_of(sample_row(sample, i), dim));
    memcpy(sorted, lengths, total * sizeof *lengths);
    qsort(sorted, sample->count, sizeof *sorted, by_value);
    most = LONG_ROW * sorted[sample->count / 2];
    for (uint32_t i = 0; i < total && most > 0; i++) {
        float *x = sample_row(sample, i), scale = most / lengths[i];

        for (uint32_t j = 0; j < dim && lengths[i] > most; j++)
            x[j] *= scale;
    }
    mem_free(lengths);
    return PAUA_OK;
}

static paua_status find_mean(struct sample *sample, paua_error *err)
{
    uint32_t dim = sample->model->dim;
    double *mean = mem_zalloc(dim, sizeof *mean);

    if (mean == NULL) return error_set_nomem(err);
    for (uint32_t i = 0; i < sample->count; i++) {
        const float *x = sample_row(sample, i);

        for (uint32_t j = 0; j < dim; j++)
            mean[j] += x[j];
    }
    for (uint32_t j = 0; j < dim; j++)
        sample->model->mean[j] = (float)(mean[j] / sample->count);
    mem_free(mean);
    return PAUA_OK;
}

/* The power of two above the greatest centred component. */
static void find_scale(struct sample *sample)
{
    const struct model *model = sample->model;
    float most = 0;
    int exponent;

    for (uint32_t i = 0; i < sample->count; i++) {
        const float *x = sample_row(sample, i);

        for (uint32_t j = 0; j < model->dim; j++) {
            float z = fabsf(x[j] - model->mean[j]);

            most = z > most ? z : most;
        }
    }
    frexpf(most, &exponent);
    sample->scale = most > 1e-30f ? ldexp(1, exponent) : most > 0 ? ldexp(1, -99) : 1;
}

static paua_status centre_block(void *arg, uint32_t block, paua_error *err)
{
    struct sample *sample = arg;
    const struct model *model = sample->model;
    uint32_t first = block * SAMPLE_BLOCK;
    uint32_t end = first + block_rows(sample->count + sample->queries, block);

    (void)err;
    for (uint32_t i = first; i < end; i++) {
        float *x = sample_row(sample, i);
        double square = 0, along = 0;

        for (uint32_t j = 0; j < model->dim; j++) {
            double z = ((double)x[j] - model->mean[j]) / sample->scale;

            square += z * z;
            along += z * (model->mean[j] / sample->scale);
            x[j] = (float)z;
        }
        sample->aux[i] = model_scalar(model->metric == PAUA_L2 ? square : -2 * along);
    }
    return PAUA_OK;
}

static bool sample_alloc(struct sample *sample)
{
    const struct model_source *source = sample->source;
    size_t row_nbytes = sample->stride * sizeof(float);
    uint32_t most = (uint32_t)(SAMPLE_NBYTES / row_nbytes);

    most = most < SAMPLE_ROWS_MAX ? most : SAMPLE_ROWS_MAX;
    sample->count = source->count < most ? source->count : most;
    sample->queries = source->count < SAMPLE_QUERIES ? source->count : SAMPLE_QUERIES;
    size_t n = (size_t)sample->count + sample->queries;
    sample->positions = mem_alloc(n * sizeof *sample->positions);
    sample->rows = mem_aligned(64, (n * sample->stride + 16) * sizeof *sample->rows);
    sample->aux = mem_alloc(n * sizeof *sample->aux);
    return sample->positions != NULL && sample->rows != NULL && sample->aux != NULL;
}

paua_status sample_read(struct sample *sample, paua_error *err)
{
    const struct model_source *source = sample->source;
    uint32_t total;
    paua_status status;

    if (!sample_alloc(sample)) return error_set_nomem(err);
    total = sample->count + sample->queries;
    for (uint32_t i = 0; i < sample->count; i++)
        sample->positions[i] = (uint32_t)((uint64_t)i * source->count / sample->count);
    for (uint32_t i = 0; i < sample->queries; i++)
        sample->positions[sample->count + i] =
            (uint32_t)((2 * (uint64_t)i + 1) * source->count / (2 * (uint64_t)sample->queries));
    status = sample_each_block(sample, block_count(total), read_block, sample, err);
    if (status == PAUA_OK && source->metric != PAUA_COSINE) status = limit_lengths(sample, err);
    if (status == PAUA_OK) status = find_mean(sample, err);
    if (status != PAUA_OK) return status;
    find_scale(sample);
    return sample_each_block(sample, block_count(total), centre_block, sample, err);
}

static paua_status rotate_by_matrix(struct sample *sample, uint32_t first, uint32_t n,
                                    paua_error *err)
{
    const struct model *model = sample->model;
    struct panel panel;

    if (!panel_init(&panel, model->dim, model->matrix_rows)) return error_set_nomem(err);
    for (uint32_t at = 0; at < n; at += KERNEL_TILE_QUERIES) {
        uint32_t count = n - at < KERNEL_TILE_QUERIES ? n - at : KERNEL_TILE_QUERIES;

        panel_multiply(&panel, model, sample_row(sample, first + at), sample->stride, count);
        for (uint32_t t = 0; t < count; t++) {
            float *z = sample_row(sample, first + at + t);

            for (uint32_t j = 0; j < model->dim; j++)
                z[j] = panel.product[(size_t)j * KERNEL_TILE_QUERIES + t];
        }
    }
    panel_free(&panel);
    return PAUA_OK;
}

static paua_status rotate_block(void *arg, uint32_t block, paua_error *err)
{
    struct sample *sample = arg;
    const struct model *model = sample->model;
    uint32_t first = block * SAMPLE_BLOCK;
    uint32_t n = block_rows(sample->count + sample->queries, block);
    float *room;

    if (model->trained) return rotate_by_matrix(sample, first, n, err);
    room = mem_alloc(model->dim * sizeof *room);
    if (room == NULL) return error_set_nomem(err);
    for (uint32_t i = first; i < first + n; i++)
        rotation_apply(model->seed, model->dim, sample_row(sample, i), room);
    mem_free(room);
    return PAUA_OK;
}

paua_status sample_rotate(struct sample *sample, paua_error *err)
{
    return sample_each_block(sample, block_count(sample->count + sample->queries), rotate_block,
                             sample, err);
}

void sample_free(struct sample *sample)
{
    mem_free(sample->positions);
    mem_free(sample->rows);
    mem_free(sample->aux);
}
