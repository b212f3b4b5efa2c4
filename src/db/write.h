/* write.h - one write call, and the group of calls that share a commit. */
#ifndef PAUA_DB_WRITE_H
#define PAUA_DB_WRITE_H

#include <semaphore.h>

#include "db/db.h"
#include "db/edit.h"

enum write_op { WRITE_INSERT, WRITE_UPSERT, WRITE_UPDATE, WRITE_DELETE, WRITE_DELETE_WHERE };

/* A field that a request gives, as the group knows it. */
struct request_column {
    uint32_t id; /* 0: nothing is given, and there is no such field */
    uint32_t type;
};

struct write_request {
    struct write_request *next;
    enum write_op op;
    const paua_rows *rows; /* NULL for WRITE_DELETE */
    const paua_keys *keys;
    bool all_or_nothing;
    bool replace_fields;
    const paua_filter *filter;      /* WRITE_DELETE_WHERE */
    struct request_column *columns; /* rows->column_count; of the group's arena */
    paua_status *row_status;        /* may be NULL */
    paua_error *err;    /* may be NULL; written at the end alone, since a try may be repeated */
    paua_error refusal; /* what it will say if result is not PAUA_OK */
    size_t refused;
    uint64_t deleted; /* WRITE_DELETE_WHERE: rows */
    paua_status result;
    sem_t wake; /* posted when it is done, or is to lead */
    bool done;
    struct write_request *rest; /* done too: for this call to wake */
    uint32_t rest_count;
};

/* A new row that is not committed yet: where what it does not give comes from. */
struct staged {
    const struct write_request *request;
    size_t index;
    struct place old; /* the row it replaces, or NO_PLACE */
};

struct group {
    struct paua_collection *c;
    struct view *view; /* the state that the group starts from; referenced */
    struct edit edit;
    uint32_t first; /* tail row of staged[0] */
    uint64_t heap_nbytes;
    struct staged *staged;
    size_t count, capacity;
    struct place *deletes; /* in the order made */
    size_t delete_count, delete_capacity;
    const uint8_t **key_bytes; /* vector keys of staged rows, in `arena` */
    size_t key_capacity;
    struct arena arena;
    struct field_item *new_fields; /* brought by requests to a dynamic collection */
    uint32_t new_field_count;
    size_t new_field_capacity;
    uint32_t *patched; /* sources of the patches made, in their order */
    size_t patched_count, patched_capacity;
    struct cell *cells; /* of the row that is being decided, one a column of its request */
    size_t cell_capacity;
    struct arena cell_arena;
    struct writer columns, values; /* fields for the batch record */
    struct writer keys, lengths;   /* stored forms for the batch record */
    struct writer scratch, row;
};

/* Begins a group on the current view; write_mutex is held and the files are open. */
paua_status group_begin(struct group *g, struct paua_collection *c, paua_error *err);
/* Forgets the group: staged rows are taken back unless `committed`. */
void group_end(struct group *g, bool committed);

/* Decides each row of a request: rows that are accepted are staged, others get their status. */
void stage_request(struct group *g, struct write_request *request);

/* Has a group anything to commit? */
static inline bool group_has_work(const struct group *g)
{
    return g->count > 0 || g->delete_count > 0 || g->patched_count > 0;
}

/* Finds the fields that a request gives; a dynamic collection gets those that are new. */
paua_status stage_fields_begin(struct group *g, struct write_request *r, paua_error *err);
/* Takes the values of row i into g->cells. PAUA_EINVAL: one does not fit its field. */
paua_status stage_fields_take(struct group *g, const struct write_request *r, size_t i,
                              paua_error *err);
/* Puts the values taken into the tail's row `row`, which replaces `old` (may be NO_PLACE). */
paua_status stage_fields_put(struct group *g, const struct write_request *r, size_t i, uint32_t row,
                             struct place old, paua_error *err);
/* Patches an existing row with the values taken. */
paua_status stage_fields_patch(struct group *g, const struct write_request *r, size_t i,
                               struct place place, paua_error *err);

/* Stores the fields of staged rows, and patches, in g->columns; `next` has the edits applied. */
paua_status commit_fields(struct group *g, const struct view *next, paua_error *err);

/* Appends what was staged to the files, commits and publishes it. */
paua_status group_commit(struct group *g, paua_error *err);

#endif
