/* model_axes.c - the axes of a sample: covariance, eigenvectors, and a random turn within segments.
 *
 * Covariance  Upper triangle by panels of KERNEL_TILE_QUERIES columns: the sample is transposed a
 *             slice of rows at a time, so that dot_tile sums over rows, in floats within a chunk
 *             and in doubles from chunk to chunk. A panel belongs to one thread, and chunks come in
 *             order, so the result does not depend on threads.
 * Axes        LAPACK's divide and conquer (dsyevd), eigenvalues rising: row i of M is the
 *             eigenvector of the i-th greatest.
 * Turn        Within a segment of `lane` axes a random orthogonal matrix makes components alike,
 *             so that one width and one sigma fit all; the last segment may be smaller.
 * Cost        n dim^2 multiply-adds and some 10 dim^3; 0.45 s of the latter at 768 dimensions.
 *
 * Rejected: iterating towards the leading axes only (refine codes need all of them). */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "index/model_train.h"

#define CHUNK 512u                 /* rows that dot_tile sums over */
#define SLICE (4 * CHUNK)          /* rows that are transposed at once */
#define SLICE_STRIDE (SLICE + 16u) /* columns do not all fall into one cache set */

/* Fortran: lengths of the character arguments come last. */
void dsyevd_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w,
             double *work, const int *lwork, int *iwork, const int *liwork, int *info,
             size_t jobz_length, size_t uplo_length);

struct covariance {
    const struct sample *sample;
    double *sums;      /* dim x dim, rows at or below a panel's first are filled */
    float *transposed; /* dim x SLICE_STRIDE */
    uint32_t first, n; /* rows of the slice */
};

static uint32_t panel_count(uint32_t dim)
{
    return (dim + KERNEL_TILE_QUERIES - 1) / KERNEL_TILE_QUERIES;
}

static paua_status transpose_panel(void *arg, uint32_t panel, paua_error *err)
{
    struct covariance *c = arg;
    uint32_t dim = c->sample->model->dim, first = panel * KERNEL_TILE_QUERIES;
    uint32_t end = first + KERNEL_TILE_QUERIES < dim ? first + KERNEL_TILE_QUERIES : dim;

    (void)err;
    for (uint32_t r = 0; r < c->n; r++) {
        const float *x = sample_row(c->sample, c->first + r);

        for (uint32_t j = first; j < end; j++)
            c->transposed[(size_t)j * SLICE_STRIDE + r] = x[j];
    }
    return PAUA_OK;
}

static void add_chunk(struct covariance *c, uint32_t first, uint32_t from, uint32_t n,
                      float *packed, float *product)
{
    uint32_t dim = c->sample->model->dim, rows = dim - first;
    uint32_t columns = rows < KERNEL_TILE_QUERIES ? rows : KERNEL_TILE_QUERIES;

    memset(packed, 0, (size_t)n * KERNEL_TILE_QUERIES * sizeof *packed);
    for (uint32_t r = 0; r < n; r++)
        memcpy(packed + (size_t)r * KERNEL_TILE_QUERIES,
               sample_row(c->sample, c->first + from + r) + first, columns * sizeof *packed);
    kernels_best()->dot_tile(packed, c->transposed + (size_t)first * SLICE_STRIDE + from,
                             SLICE_STRIDE * sizeof(float), rows, n, product);
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t t = 0; t < columns; t++)
            c->sums[(size_t)(first + i) * dim + first + t] +=
                product[(size_t)i * KERNEL_TILE_QUERIES + t];
}

static paua_status add_panel(void *arg, uint32_t panel, paua_error *err)
{
    struct covariance *c = arg;
    uint32_t first = panel * KERNEL_TILE_QUERIES, rows = c->sample->model->dim - first;
    size_t packed = CHUNK * KERNEL_TILE_QUERIES;
    float *memory = mem_aligned(64, (packed + (size_t)rows * KERNEL_TILE_QUERIES) * sizeof *memory);

    if (memory == NULL) return error_set_nomem(err);
    for (uint32_t from = 0; from < c->n; from += CHUNK)
        add_chunk(c, first, from, c->n - from < CHUNK ? c->n - from : CHUNK, memory,
                  memory + packed);
    mem_free(memory);
    return PAUA_OK;
}

static paua_status covariance(const struct sample *sample, double *sums, paua_error *err)
{
    uint32_t dim = sample->model->dim;
    struct covariance c = {.sample = sample, .sums = sums};
    paua_status status = PAUA_OK;

    c.transposed = mem_aligned(64, (size_t)dim * SLICE_STRIDE * sizeof *c.transposed);
    if (c.transposed == NULL) return error_set_nomem(err);
    memset(sums, 0, (size_t)dim * dim * sizeof *sums);
    for (; status == PAUA_OK && c.first < sample->count; c.first += SLICE) {
        c.n = sample->count - c.first < SLICE ? sample->count - c.first : SLICE;
        status = sample_each_block(sample, panel_count(dim), transpose_panel, &c, err);
        if (status == PAUA_OK)
            status = sample_each_block(sample, panel_count(dim), add_panel, &c, err);
    }
    mem_free(c.transposed);
    return status;
}

/* a: dim x dim, symmetric, its lower rows filled (to Fortran: the upper triangle); becomes the
 * eigenvectors, one a row, by rising eigenvalue, unless they cannot be found. */
static paua_status eigenvectors(uint32_t dim, double *a, bool *found, paua_error *err)
{
    int n = (int)dim, info = 0, query = -1, lwork, liwork = 0;
    double size = 0, *values = mem_alloc(dim * sizeof *values), *work = NULL;
    int *iwork = NULL;
    paua_status status = PAUA_OK;

    dsyevd_("V", "U", &n, a, &n, values, &size, &query, &liwork, &query, &info, 1, 1);
    lwork = (int)size;
    work = mem_alloc((size_t)lwork * sizeof *work);
    iwork = mem_alloc((size_t)liwork * sizeof *iwork);
    if (values == NULL || work == NULL || iwork == NULL)
        status = error_set_nomem(err);
    else
        dsyevd_("V", "U", &n, a, &n, values, work, &lwork, iwork, &liwork, &info, 1, 1);
    *found = info == 0;
    mem_free(values);
    mem_free(work);
    mem_free(iwork);
    return status;
}

/* Rows of a segment: a random mixture of its eigenvectors. */
static void turn_segment(const struct model *model, const double *axes, uint32_t segment,
                         double *turn, double *row)
{
    uint32_t dim = model->dim, first = segment * model->lane;
    uint32_t n = model_segment_dims(dim, model->lane, segment);

    rotation_dense(model->seed + segment, n, turn);
    for (uint32_t i = 0; i < n; i++) {
        float *to = model->matrix + (size_t)(first + i) * model->stride;

        memset(row, 0, dim * sizeof *row);
        for (uint32_t k = 0; k < n; k++) {
            const double *axis = axes + (size_t)(dim - 1 - first - k) * dim;

            for (uint32_t j = 0; j < dim; j++)
                row[j] += turn[i * n + k] * axis[j];
        }
        for (uint32_t j = 0; j < dim; j++)
            to[j] = (float)row[j];
    }
}

paua_status axes_train(const struct sample *sample, paua_error *err)
{
    struct model *model = sample->model;
    uint32_t dim = model->dim;
    double *axes = mem_alloc((size_t)dim * dim * sizeof *axes);
    double *turn = mem_alloc(((size_t)model->lane * model->lane + dim) * sizeof *turn);
    size_t nbytes = (size_t)dim * model->stride * sizeof(float);
    paua_status status = PAUA_OK;

    model->matrix = mem_aligned(64, nbytes + 64);
    if (axes == NULL || turn == NULL || model->matrix == NULL) status = error_set_nomem(err);
    if (status == PAUA_OK) status = covariance(sample, axes, err);
    if (status == PAUA_OK) status = eigenvectors(dim, axes, &model->trained, err);
    if (status == PAUA_OK && model->trained) {
        memset(model->matrix, 0, nbytes + 64);
        model->matrix_rows = dim;
        for (uint32_t s = 0; s < model->segments; s++)
            turn_segment(model, axes, s, turn, turn + (size_t)model->lane * model->lane);
    }
    mem_free(axes);
    mem_free(turn);
    return status;
}
