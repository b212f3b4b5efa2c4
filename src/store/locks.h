/* locks.h - who writes what: open-file-description locks on byte ranges of the file `locks`.
 *
 * Byte 0 is the presence lock: shared by every handle that writes anything, exclusive for whoever
 * sweeps away unreferenced files or drops the catalogue. Collection (or history) c owns the 128
 * bytes at 4,096 + 128 c: locked by its writer, who leaves its process id and command line in them,
 * for the message that a second writer gets. OFD locks belong to the open file, so two handles in
 * one process exclude each other too, and closing another descriptor drops nothing. */
#ifndef PAUA_STORE_LOCKS_H
#define PAUA_STORE_LOCKS_H

#include <paua/paua.h>

#include "store/dir.h"

struct locks;

/* Opens `locks`, making it if needed. On a read-only medium or without permission, or with
 * read_only, it is opened for looking only (or not at all if missing) and locks_writable() is
 * false. In memory every call succeeds and does nothing. */
paua_status locks_open(struct dir *dir, bool read_only, struct locks **locks, paua_error *err);
void locks_close(struct locks *locks);
bool locks_writable(const struct locks *locks);

/* Does any other open file hold the presence lock? Works on a look-only handle. */
bool locks_writer_present(struct locks *locks);

/* PAUA_EBUSY: somebody sweeps at this moment (retried for a second first). */
paua_status locks_share_presence(struct locks *locks, paua_error *err);
/* Exclusive presence, at once or PAUA_EBUSY. Released by locks_drop_presence. */
paua_status locks_try_exclusive(struct locks *locks, paua_error *err);
void locks_drop_presence(struct locks *locks);

/* Takes the writer lock of a collection, at once or PAUA_EBUSY: "collection NAME is being written
 * by process 123 (paua import ...); wait for it or stop it". */
paua_status locks_take_collection(struct locks *locks, uint32_t collection, const char *name,
                                  paua_error *err);
void locks_drop_collection(struct locks *locks, uint32_t collection);

/* The same for a history: numbers of histories are of the same row as those of collections. */
paua_status locks_take_history(struct locks *locks, uint32_t history, const char *name,
                               paua_error *err);
void locks_drop_history(struct locks *locks, uint32_t history);

#endif
