/* merge.h - turning some consecutive segments into one.
 *
 * A plan cuts their rows into pieces, a piece being what is left of one old part: kept (its files
 * are shared, dead rows and all), or rewritten (its live rows are copied). Rewritten pieces that
 * follow each other share one new part. The new segment's row r lies in the piece with the greatest
 * first_new <= r. */
#ifndef PAUA_DB_MERGE_H
#define PAUA_DB_MERGE_H

#include "db/db.h"

struct piece {
    uint32_t segment;   /* index in the view that was planned on */
    uint32_t part;      /* index in that segment */
    uint32_t first_old; /* position in that segment of its first row */
    uint32_t first_new; /* position in the new segment */
    uint32_t count;     /* rows in the new segment; 0 for a part that is dead */
    bool rewrite;
    uint32_t *positions; /* rewrite: the old positions that live on, rising; owned */
};

struct merge {
    struct paua_collection *c;
    struct view *view;     /* planned on; referenced */
    uint32_t first, count; /* segments */
    struct piece *pieces;
    size_t piece_count;
    uint32_t rows; /* of the new segment */
    struct manifest manifest;
    struct writer record;
    struct file_ref columns;        /* of the new segment; number 0: no values */
    const paua_optimize_opts *opts; /* may be NULL */
    uint64_t done, total;           /* rows, for progress */
};

/* Looks for work: segments first .. first + count - 1 of the view are to become one (count 0: there
 * is nothing to do). `from`: segments before it have been dealt with. */
void merge_plan(const struct view *view, enum merge_policy policy, uint32_t from, uint32_t *first,
                uint32_t *count);

/* Cuts into pieces. */
paua_status merge_cut(struct merge *m, enum merge_policy policy, paua_error *err);
void merge_free(struct merge *m);

/* The piece and old position of a new row. */
const struct piece *merge_origin(const struct merge *m, uint32_t row, uint32_t *position);

/* Writes every new file and fills the manifest and its record. On failure no file is left. */
paua_status merge_build(struct merge *m, paua_error *err);
/* Removes the files that merge_build made. */
void merge_unbuild(struct merge *m);

#endif
