/* write.h - one write call, and the group of calls that share a commit. */
#ifndef PAUA_DB_WRITE_H
#define PAUA_DB_WRITE_H

#include <semaphore.h>

#include "db/db.h"
#include "db/edit.h"

enum write_op { WRITE_INSERT, WRITE_UPSERT, WRITE_UPDATE, WRITE_DELETE };

struct write_request {
    struct write_request *next;
    enum write_op op;
    const paua_rows *rows; /* NULL for WRITE_DELETE */
    const paua_keys *keys;
    bool all_or_nothing;
    paua_status *row_status; /* may be NULL */
    paua_error *err;    /* may be NULL; written at the end alone, since a try may be repeated */
    paua_error refusal; /* what it will say if result is not PAUA_OK */
    size_t refused;
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
    struct writer keys, lengths; /* stored forms for the batch record */
    struct writer scratch, row;
};

/* Begins a group on the current view; write_mutex is held and the files are open. */
paua_status group_begin(struct group *g, struct paua_collection *c, paua_error *err);
/* Forgets the group: staged rows are taken back unless `committed`. */
void group_end(struct group *g, bool committed);

/* Decides each row of a request: rows that are accepted are staged, others get their status. */
void stage_request(struct group *g, struct write_request *request);

/* Appends what was staged to the files, commits and publishes it. */
paua_status group_commit(struct group *g, paua_error *err);

#endif
