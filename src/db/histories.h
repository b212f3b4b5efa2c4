/* histories.h - what an open history of a database holds, and the parts that its files share.
 *
 * Lock order: a history's mutex comes after the collections' and before the database's own; page
 * and scratch locks come last. */
#ifndef PAUA_DB_HISTORIES_H
#define PAUA_DB_HISTORIES_H

#include <paua/paua_db_history.h>

#include "archive/archive.h"
#include "db/db.h"

struct paua_db_history {
    paua_db *db;
    struct paua_db_history *next; /* of the database's writers; under its mutex */
    pthread_mutex_t mutex;        /* of all below but what never changes */
    bool is_writer;               /* never changes, nor does what follows */
    bool is_private;
    bool at_once;
    uint32_t number; /* 0: private */
    uint32_t commit_ms, commit_nbytes;
    uint64_t file_nbytes;
    char name[PAUA_NAME_NBYTES_MAX + 1];

    struct archive archive;    /* of a private one only its history */
    uint64_t waiting_nbytes;   /* of rows that are not committed, roughly; 0: none */
    uint64_t waiting_since_ns; /* when the first of them came */
};

/* The record of a history by its name: PAUA_ENOTFOUND, PAUA_ECORRUPT, PAUA_EVERSION. */
paua_status history_find(struct catalog *catalog, const char *name, struct history_record *record,
                         paua_error *err);

/* Brings a history up to what is committed. PAUA_ENOTFOUND: it was removed. */
paua_status history_load(struct paua_db_history *h, paua_error *err);

/* Takes the writer lock of a history, for this handle; PAUA_EBUSY also if this process has it. h is
 * put into the database's list of writers. */
paua_status history_lock(struct paua_db_history *h, paua_error *err);
void history_unlock(struct paua_db_history *h);

/* With the mutex held: commits rows, evictions and limits. */
paua_status history_commit(struct paua_db_history *h, const paua_history_limits *limits,
                           bool drop_all, paua_error *err);

/* Calls each(arg, number, nbytes, last) for each file of a history, inside a transaction: its
 * committed length, and whether it may grow. PAUA_ECORRUPT: a record is damaged. */
paua_status history_files(struct catalog *catalog, const struct history_record *record,
                          paua_status (*each)(void *arg, uint64_t number, uint64_t nbytes,
                                              bool last),
                          void *arg, paua_error *err);

#endif
