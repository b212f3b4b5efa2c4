/* flat.c - see flat.h.
 *
 * Batches   A tile of dot products (kernel.h) is only within a rounding bound of the one-query
 *           kernels, so it decides what is certainly too far, and the rest is measured again by
 *           the one-query kernel while the row is in cache: about k (1 + ln(n / k)) rows a query.
 * Bound     |tile - exact dot| <= e |q| |x| with e = 4 dim 2^-24: twice kernel.h's bound for
 *           either side (Cauchy-Schwarz bounds the sum of absolute terms).
 * Rejected  a table of norms beside the vectors: 4 bytes a row, to save what memory-bound scans
 *           have time for anyway. */
#include "index/flat.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Squares and products outside these bounds may have lost what decides. */
#define SMALL 0x1p-80f
#define LARGE 0x1p120f
#define NEAR 1e-4 /* cosine distances below it are computed in doubles */

static double component(const struct flat_query *q, const uint8_t *row, uint32_t i)
{
    uint16_t half;
    float value;

    if (q->precision == PAUA_FP32) {
        memcpy(&value, row + 4 * (size_t)i, 4);
    } else {
        memcpy(&half, row + 2 * (size_t)i, 2);
        q->kernels->f32_from_f16(&half, 1, &value);
    }
    return value;
}

/* The definition of the distance. */
static double distance_exact(const struct flat_query *q, const uint8_t *row)
{
    double dot = 0, norm = 0, l2 = 0;

    for (uint32_t i = 0; i < q->dim; i++) {
        double a = q->query[i], b = component(q, row, i);

        dot += a * b;
        norm += b * b;
        l2 += (a - b) * (a - b);
    }
    if (q->metric == PAUA_L2) return l2;
    if (q->metric == PAUA_IP) return -dot;
    if (q->norm == 0 || norm == 0) return q->norm == norm ? 0 : 1;
    l2 = 1 - dot / sqrt(q->norm * norm);
    return l2 < 0 ? 0 : l2;
}

void flat_query_init(struct flat_query *q, const float *query, uint32_t dim, paua_metric metric,
                     paua_precision precision, float *scaled)
{
    double norm = 0, inverse;

    for (uint32_t i = 0; i < dim; i++)
        norm += (double)query[i] * query[i];
    *q = (struct flat_query){.kernels = kernels_best(),
                             .query = query,
                             .scaled = query,
                             .dim = dim,
                             .metric = metric,
                             .precision = precision,
                             .norm = norm};
    if (metric != PAUA_COSINE) return;
    inverse = norm > 0 ? 1 / sqrt(norm) : 0;
    for (uint32_t i = 0; i < dim; i++)
        scaled[i] = (float)(query[i] * inverse);
    q->scaled = scaled;
}

static void distances_cosine(const struct flat_query *q, const uint8_t *rows, size_t row_nbytes,
                             uint32_t n, double *distances)
{
    float dots[FLAT_BLOCK_ROWS], norms[FLAT_BLOCK_ROWS];

    if (q->precision == PAUA_FP16)
        q->kernels->dot_norm_f16(q->scaled, rows, row_nbytes, n, q->dim, dots, norms);
    else
        q->kernels->dot_norm_f32(q->scaled, rows, row_nbytes, n, q->dim, dots, norms);
    for (uint32_t i = 0; i < n; i++)
        distances[i] = 1 - (double)dots[i] / sqrt((double)norms[i]);
    for (uint32_t i = 0; i < n; i++)
        if (!(norms[i] > SMALL && norms[i] < LARGE && distances[i] >= NEAR) || q->norm == 0)
            distances[i] = distance_exact(q, rows + i * row_nbytes);
}

static void distances_l2(const struct flat_query *q, const uint8_t *rows, size_t row_nbytes,
                         uint32_t n, double *distances)
{
    float sums[FLAT_BLOCK_ROWS];

    if (q->precision == PAUA_FP16)
        q->kernels->l2sq_f16(q->query, rows, row_nbytes, n, q->dim, sums);
    else
        q->kernels->l2sq_f32(q->query, rows, row_nbytes, n, q->dim, sums);
    for (uint32_t i = 0; i < n; i++)
        distances[i] = sums[i] > SMALL && sums[i] < LARGE
                           ? (double)sums[i]
                           : distance_exact(q, rows + i * row_nbytes);
}

static void distances_ip(const struct flat_query *q, const uint8_t *rows, size_t row_nbytes,
                         uint32_t n, double *distances)
{
    float dots[FLAT_BLOCK_ROWS];

    if (q->precision == PAUA_FP16)
        q->kernels->dot_f16(q->query, rows, row_nbytes, n, q->dim, dots);
    else
        q->kernels->dot_f32(q->query, rows, row_nbytes, n, q->dim, dots);
    for (uint32_t i = 0; i < n; i++)
        distances[i] = fabsf(dots[i]) > SMALL && fabsf(dots[i]) < LARGE
                           ? -(double)dots[i]
                           : distance_exact(q, rows + i * row_nbytes);
}

void flat_distances(const struct flat_query *q, const void *rows, size_t row_nbytes, uint32_t n,
                    double *distances)
{
    switch (q->metric) {
    case PAUA_L2:
        distances_l2(q, rows, row_nbytes, n, distances);
        break;
    case PAUA_IP:
        distances_ip(q, rows, row_nbytes, n, distances);
        break;
    default:
        distances_cosine(q, rows, row_nbytes, n, distances);
        break;
    }
}

void flat_panel_pack(struct flat_panel *panel)
{
    uint32_t dim = panel->queries[0]->dim;

    memset(panel->packed, 0, (size_t)dim * KERNEL_TILE_QUERIES * sizeof(float));
    for (uint32_t t = 0; t < panel->count; t++)
        for (uint32_t i = 0; i < dim; i++)
            panel->packed[(size_t)i * KERNEL_TILE_QUERIES + t] = panel->queries[t]->scaled[i];
}

void flat_block_init(struct flat_block *block, const struct flat_query *any, const void *rows,
                     size_t row_nbytes, uint32_t n, float *wide)
{
    block->rows = rows;
    block->row_nbytes = row_nbytes;
    block->n = n;
    block->wide = rows;
    if (any->precision == PAUA_FP16) {
        any->kernels->f32_from_f16(rows, (size_t)n * any->dim, wide);
        block->wide = wide;
        any->kernels->norm_f16(rows, row_nbytes, n, any->dim, block->norms);
    } else {
        any->kernels->norm_f32(rows, row_nbytes, n, any->dim, block->norms);
    }
}

/* What a dot product must reach so that the row may lie within the bound: the least value of
 * dot + slope * w, where w is |x| (cosine, ip) or |x|^2 (l2), is `least`. */
struct cutoff {
    float least[KERNEL_TILE_QUERIES];
    float slope[KERNEL_TILE_QUERIES];
};

/* Rounds the cut-off down so that its own rounding never drops a row. */
static float loosen(double value)
{
    return (float)(value - fabs(value) * 4 * FLT_EPSILON) - FLT_MIN;
}

/* cosine: 1 - dot / |x| <= b      <=> dot - (1 - b) |x| >= 0, and e |x| of slack
 * ip:     -dot <= b               <=> dot >= -b, and e |q| |x| of slack
 * l2:     |q|^2 + |x|^2 - 2 dot <= b <=> dot - |x|^2 / 2 >= (|q|^2 - b) / 2, and 4 e (|q|^2 +
 *         |x|^2) of slack, since both norms, the dot and the kernel's own sum are rounded */
static void cutoff_set(const struct flat_panel *panel, const double *bounds, struct cutoff *c)
{
    for (uint32_t t = 0; t < KERNEL_TILE_QUERIES; t++) {
        const struct flat_query *q = panel->queries[t < panel->count ? t : 0];
        double e = 4.0 * q->dim * 0x1p-24, bound = bounds[t < panel->count ? t : 0];

        if (t >= panel->count) { /* nobody: always far */
            c->slope[t] = 0;
            c->least[t] = INFINITY;
            continue;
        }
        if (!(q->norm > SMALL && q->norm < LARGE)) { /* out of floats' reach: never far */
            c->slope[t] = INFINITY;
            c->least[t] = 0;
            continue;
        }
        switch (q->metric) {
        case PAUA_COSINE:
            c->slope[t] = (float)(bound - 1 + e + 8 * FLT_EPSILON);
            c->least[t] = 0;
            break;
        case PAUA_IP:
            c->slope[t] = (float)(e * sqrt(q->norm) * 1.001);
            c->least[t] = loosen(-bound);
            break;
        default:
            c->slope[t] = (float)(4 * e - 0.5);
            c->least[t] = loosen((q->norm - bound) / 2 - 4 * e * q->norm);
        }
    }
}

void flat_panel_scan(const struct flat_panel *panel, const struct flat_block *block,
                     const double *bounds, float *tile, uint32_t *may)
{
    const struct flat_query *any = panel->queries[0];
    uint32_t all = panel->count == 32 ? UINT32_MAX : (1u << panel->count) - 1;
    struct cutoff c;

    any->kernels->dot_tile(panel->packed, block->wide, any->dim * sizeof(float), block->n, any->dim,
                           tile);
    cutoff_set(panel, bounds, &c);
    for (uint32_t i = 0; i < block->n; i++) {
        const float *dots = tile + (size_t)i * KERNEL_TILE_QUERIES;
        float norm = block->norms[i], w = any->metric == PAUA_L2 ? norm : sqrtf(norm);
        uint32_t far = 0;

        may[i] = all;
        if (!(norm > SMALL && norm < LARGE)) continue;
        for (uint32_t t = 0; t < KERNEL_TILE_QUERIES; t++)
            far += dots[t] + c.slope[t] * w < c.least[t];
        if (far == KERNEL_TILE_QUERIES) {
            may[i] = 0;
            continue;
        }
        for (uint32_t t = 0; t < KERNEL_TILE_QUERIES; t++)
            if (dots[t] + c.slope[t] * w < c.least[t]) may[i] &= ~(1u << t);
    }
}
