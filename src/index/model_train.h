/* model_train.h - what the files that train a model share. */
#ifndef PAUA_INDEX_MODEL_TRAIN_H
#define PAUA_INDEX_MODEL_TRAIN_H

#include "index/model_private.h"

/* model_sample.c: the rows that a model is trained on. */

#define SAMPLE_QUERIES 192u
#define SAMPLE_BLOCK 256u /* rows that one thread takes at a time */

struct sample {
    const struct model_source *source;
    struct model *model; /* dim, metric, lane, segments, stride, trained and seed are set */
    uint32_t count;      /* rows of the sample; `queries` held-out rows come after them */
    uint32_t queries;
    uint32_t stride;     /* floats from row to row: segments x lane, in whole lines */
    uint32_t *positions; /* of the rows in the source */
    float *rows;         /* centred, divided by scale, and rotated once there is a matrix */
    float *aux;          /* of rows and queries, in units of scale^2 */
    double scale;        /* a power of two: rows have components of at most 1 */
};

/* Reads, centres and scales. */
paua_status sample_read(struct sample *sample, paua_error *err);
/* rows become M rows: by model->matrix, dim x stride, or by signs. */
paua_status sample_rotate(struct sample *sample, paua_error *err);
void sample_free(struct sample *sample);

/* Calls work for blocks 0 .. count - 1 by the source's threads; the status of the first block that
 * fails ends it, and so does a request to cancel. */
typedef paua_status (*block_fn)(void *arg, uint32_t block, paua_error *err);
paua_status sample_each_block(const struct sample *sample, uint32_t count, block_fn work, void *arg,
                              paua_error *err);

static inline float *sample_row(const struct sample *sample, uint32_t i)
{
    return sample->rows + (size_t)i * sample->stride;
}

/* model_axes.c: model->matrix becomes dim x stride: principal axes of the sample by falling
 * variance, turned at random within each segment. */
paua_status axes_train(const struct sample *sample, paua_error *err);

/* model_measure.c: what codes miss. */

#define SEGMENTS_MAX 1024u /* of 65,535 dimensions */

struct measures {
    double energy[SEGMENTS_MAX]; /* mean square of the segment's rows */
    double cost[SEGMENTS_MAX][LAYOUT_WIDTHS];
    float step[SEGMENTS_MAX][LAYOUT_WIDTHS]; /* the best, in units of the segment's deviation */
};

/* Mean square of rows by segment. */
void energies(const struct sample *sample, const float *rows, uint32_t n, double *energy);

/* rows: n x sample->stride, rotated, or what is left of them; query_energy: mean square of z by
 * segment. */
paua_status measure(const struct sample *sample, const float *rows, uint32_t n,
                    const double *query_energy, struct measures *to, paua_error *err);

/* The planes of least error in nbytes, by measures of z, and of what the walk plane left. *plane is
 * overwritten. False when out of memory. */
bool walk_plane(const struct model *model, const struct measures *measures, uint32_t nbytes,
                struct plane_model *plane);
bool refine_plane(const struct model *model, const struct measures *measures, uint32_t nbytes,
                  struct plane_model *plane);

/* model_choose.c: both planes of a model from its rotated sample, sigma in the sample's scale. */
paua_status planes_choose(const struct sample *sample, paua_error *err);

#endif
