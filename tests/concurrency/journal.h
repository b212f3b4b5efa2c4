/* journal.h - a collection that only grows: writer w inserts the keys "w.0", "w.1", "w.2" ... in
 * batches. Whatever the snapshot, each writer's keys begin at 0 and have no gap, oldest first, and
 * reach at least as far as what had been committed before. */
#ifndef PAUA_TESTS_CONCURRENCY_JOURNAL_H
#define PAUA_TESTS_CONCURRENCY_JOURNAL_H

#include "concurrency/world.h"

#define JOURNAL_WRITERS_MAX 64u
#define JOURNAL_BATCH_MAX 512u

struct journal_marks {
    uint32_t writers;
    _Atomic uint32_t committed[JOURNAL_WRITERS_MAX];
};

void journal_create(paua_db *db, const char *name, paua_collection **collection);

/* Inserts the next `count` keys of a writer. */
void journal_write(paua_collection *collection, struct journal_marks *marks, uint32_t writer,
                   uint32_t count);

/* Walks a snapshot; returns its rows. */
uint64_t journal_read(paua_collection *collection, struct journal_marks *marks);

#endif
