/* scenario.h - calls of the library as a table, what the database must hold after each, and reading
 * back what it does hold.
 *
 * Keys are numbers below KEYS_MAX. A row's vectors say which key and which call wrote them, and so
 * does its document; so a read row proves that nothing of it is another's.
 *
 * The last collection has indexes, and does not keep the originals of its second field: those are
 * read nearly as they were written. */
#ifndef PAUA_TESTS_CRASH_SCENARIO_H
#define PAUA_TESTS_CRASH_SCENARIO_H

#include <paua/paua.h>

#define KEYS_MAX 16500u
#define COLLECTIONS 3u
#define INDEXED 2u /* the collection that has indexes */

struct row {
    uint16_t vector;   /* which call wrote it; 0: there is no row */
    uint16_t document; /* 0: none */
};

struct table {
    bool exists;
    uint8_t indexes; /* a bit for each that there may be */
    struct row rows[KEYS_MAX];
};

struct model {
    struct table tables[COLLECTIONS];
};

enum step_kind {
    STEP_OPEN,
    STEP_CREATE,
    STEP_INSERT,    /* keys of the range that are new, in one call */
    STEP_UPSERT,    /* the whole range, vectors and documents */
    STEP_DOCUMENTS, /* upsert of documents only, for the keys that are there */
    STEP_DELETE,    /* the keys that are there */
    STEP_OPTIMIZE,
    STEP_FLUSH,
    STEP_INDEX,   /* one more index of the first field: INDEX_EXTRA */
    STEP_UNINDEX, /* drops index number `first` */
    STEP_DROP,
    STEP_CLOSE,
    STEP_SEARCH,
    STEP_FETCH,
    STEP_BACKUP,
    STEP_CHECK
};

/* Numbers of the indexes; the first two are named like their fields. */
enum { INDEX_WIDE, INDEX_NARROW, INDEX_EXTRA, INDEXES };

struct step {
    enum step_kind kind;
    uint32_t collection;
    uint64_t first, last; /* keys; UNINDEX: a number */
};

/* An open database with what is open of its collections. */
struct world {
    char path[256];
    paua_durability durability;
    paua_db *db;
    paua_collection *collections[COLLECTIONS];
};

/* Opens the database for writing and the collections that exist. Nothing merges by itself. */
paua_status world_open(struct world *world, bool create, paua_error *err);
void world_close(struct world *world);
/* Opens those collections that exist and are not open yet. */
paua_status world_attach(struct world *world, paua_error *err);
/* Where STEP_BACKUP puts its copy: beside the database. */
void world_backup_path(const struct world *world, char path[256]);

/* What the step does to a model; version (1 ..) marks what it writes. */
void step_expect(const struct step *step, uint16_t version, struct model *model);

/* Makes the call; `model` is the state before it. */
paua_status step_run(const struct step *step, uint16_t version, const struct model *model,
                     struct world *world, paua_error *err);

/* Reads all of a database into *found. False, and why, if anything cannot be read or is not as it
 * was written, or an index does not find what is there. */
bool world_read(struct world *world, struct model *found, char why[600]);

/* Optimized: is there nothing left for an index to cover? */
bool world_settled(const struct world *world, char why[600]);

/* Closed, paua_check finds nothing at all: nothing damaged and no stray file. */
bool path_clean(const char *path, char why[600]);

#endif
