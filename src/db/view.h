/* view.h - one state of a collection that readers hold: segments, a prefix of the tail, which rows
 * of each are dead, and which values of their fields were replaced. Immutable and
 * reference-counted; writers publish a new one.
 *
 * A place names a row in a view: source 0 .. segment_count - 1 is a segment, source segment_count
 * is the tail. Sources are in the order of row ids. */
#ifndef PAUA_DB_VIEW_H
#define PAUA_DB_VIEW_H

#include "codec/head.h"
#include "column/column_file.h"
#include "column/patches.h"
#include "db/artifacts.h"
#include "db/fields.h"
#include "db/segment.h"
#include "db/tail.h"

/* A set of dead positions, shared between views. */
struct deleted {
    _Atomic uint32_t refs;
    roaring_bitmap_t *set;
    uint32_t count;
};

struct view_segment {
    struct segment *segment;
    struct deleted *deleted;     /* NULL: none */
    uint32_t stored_crc;         /* checksum of its record in TABLE_DELETED; 0: none there */
    struct artifacts *artifacts; /* codes and graphs; NULL: none */
    struct column_file *columns; /* values of fields; NULL: all are NULL */
    struct file_ref columns_ref; /* number 0: none */
    struct patches *patches;     /* on top of columns; NULL: none */
    uint32_t patches_crc;        /* of the record in TABLE_PATCH; 0: none there */
};

/* Whoever holds the schema that views point to: it goes when the last of them has gone, so hits and
 * cursors may outlive the handle that they came from. */
struct view_owner {
    _Atomic uint32_t refs;
    void (*free)(struct view_owner *owner);
};

struct view {
    _Atomic uint32_t refs;
    const struct schema *schema;
    struct view_owner *owner; /* referenced; NULL: the schema outlives the view anyway */
    struct head head;
    uint64_t durable_sequence;  /* batches up to here were synced when it was loaded */
    uint64_t batch_nbytes;      /* of the records of all batches since the last segment */
    struct index_list *indexes; /* NULL: none */
    struct field_list *fields;  /* NULL: none */
    uint64_t live_rows;
    uint64_t dead_rows;
    struct tail *tail; /* NULL: no tail yet */
    uint32_t tail_rows;
    struct deleted *tail_deleted;
    struct patches *tail_patches;
    uint32_t segment_count;
    struct view_segment segments[];
};

struct place {
    uint32_t source;
    uint32_t row;
};

#define NO_PLACE ((struct place){UINT32_MAX, UINT32_MAX})

/* A view with room for segments, all empty; NULL when out of memory. */
struct view *view_new(const struct schema *schema, struct view_owner *owner,
                      uint32_t segment_count);
void view_owner_unref(struct view_owner *owner); /* NULL does nothing */
/* A copy that shares everything (references taken). */
struct view *view_copy(const struct view *view);
/* Makes an empty slot of another view the same as one (references taken). */
void view_slot_share(struct view_segment *to, const struct view_segment *from);
struct view *view_ref(struct view *view);
void view_unref(struct view *view);
/* The digest of segments, their deletions, columns and patches, and fields, as heads store it. */
uint32_t view_digest(const struct view *view);
/* Counts live and dead rows once the rest is set. */
void view_count(struct view *view);

struct deleted *deleted_new(roaring_bitmap_t *set); /* takes the set, freed on failure too */
struct deleted *deleted_ref(struct deleted *deleted);
void deleted_unref(struct deleted *deleted);

static inline bool place_is_none(struct place place) { return place.source == UINT32_MAX; }
static inline uint32_t view_sources(const struct view *view)
{
    return view->segment_count + (view->tail != NULL ? 1 : 0);
}
uint32_t view_source_rows(const struct view *view, uint32_t source);
const roaring_bitmap_t *view_source_deleted(const struct view *view, uint32_t source);

/* The live row with this key, or NO_PLACE. */
paua_status view_find(const struct view *view, struct key key, struct place *place,
                      paua_error *err);
/* The same with other dead rows and another length of the tail: for writers, who see rows that are
 * not committed yet. */
paua_status view_find_with(const struct view *view, uint32_t tail_rows,
                           const roaring_bitmap_t *(*deleted_of)(const void *arg, uint32_t source),
                           const void *arg, struct key key, struct place *place, paua_error *err);
uint64_t view_row_id(const struct view *view, struct place place);
/* Where a row id is, dead or not; NO_PLACE if a rewrite dropped it. */
struct place view_find_row(const struct view *view, uint64_t id);

/* Key, vectors, document of a row: in the map, or in scratch. */
paua_status view_key(const struct view *view, struct place place, struct writer *scratch,
                     struct key *key, paua_error *err);
/* How many of n rows from a place on lie together in one file. */
uint32_t view_run(const struct view *view, struct place place, uint32_t n);
/* Vectors of at most n consecutive rows that lie together: *n becomes how many. */
paua_status view_vectors(const struct view *view, uint32_t field, struct place place, uint32_t *n,
                         struct writer *scratch, const uint8_t **bytes, paua_error *err);
paua_status view_document(const struct view *view, struct place place, struct writer *scratch,
                          paua_bytes *document, paua_error *err);
/* Value of a field of a row; byte strings are borrowed while the view is held. */
paua_status view_cell(const struct view *view, uint32_t field, struct place place,
                      struct cell *cell, paua_error *err);
const struct patches *view_source_patches(const struct view *view, uint32_t source);

/* Reads one vector as floats. */
paua_status view_vector(const struct view *view, uint32_t field, struct place place,
                        struct writer *scratch, float *vector, paua_error *err);

#endif
