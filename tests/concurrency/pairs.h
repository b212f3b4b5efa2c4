/* pairs.h - a collection whose every snapshot can be judged.
 *
 * A writer owns PAIRS_EACH pairs of rows. Round after round it writes its pairs in order, each in
 * one all-or-nothing call that gives both rows the round as their version; in every eighth round it
 * deletes them instead. So in any snapshot both rows of a pair are there with equal versions, or
 * neither is; versions along a writer's pairs do not rise and differ by one at most; and each is
 * no older than what had been committed when the read began, nor newer than what had been started
 * when it ended. The marks live in memory that processes may share. */
#ifndef PAUA_TESTS_CONCURRENCY_PAIRS_H
#define PAUA_TESTS_CONCURRENCY_PAIRS_H

#include "concurrency/world.h"

#define PAIRS_WRITERS_MAX 8u
#define PAIRS_EACH 16u
#define PAIRS_DIM 8u

struct pairs_marks {
    uint32_t writers; /* how many there are */
    _Atomic uint32_t started[PAIRS_WRITERS_MAX][PAIRS_EACH];
    _Atomic uint32_t committed[PAIRS_WRITERS_MAX][PAIRS_EACH];
};

void pairs_create(paua_db *db, const char *name, paua_collection **collection);

/* One round of a writer; rounds begin at 1 and rise by 1. A round that a killed writer began is
 * written again. */
void pairs_write(paua_collection *collection, struct pairs_marks *marks, uint32_t writer,
                 uint32_t round);

/* Each takes one snapshot and judges it. live: the writers are at work, so only what had been
 * committed before and started after the read bounds it; otherwise the two are equal. */
void pairs_iterate(paua_collection *collection, struct pairs_marks *marks);
void pairs_search(paua_collection *collection, struct pairs_marks *marks, paua_hits *hits);
void pairs_fetch(paua_collection *collection, struct pairs_marks *marks, uint32_t writer,
                 uint32_t pair);
/* The same over an iteration that pauses between rows while files are merged away under it. */
void pairs_iterate_slowly(paua_collection *collection, struct pairs_marks *marks,
                          uint32_t pause_ms);
/* A database that stands still (a backup, say): consistent, with no bounds of time. */
void pairs_iterate_any(paua_collection *collection, uint32_t writers);

#endif
