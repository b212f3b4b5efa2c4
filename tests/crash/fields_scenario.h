/* fields_scenario.h - calls that write fields, index them, and change which there are, as a table;
 * and what a database reads like, as text.
 *
 * What it must read like is read from the database itself after each call: fields, rows and values,
 * and how many rows some filters find. That these are right is for property/fields to say. */
#ifndef PAUA_TESTS_CRASH_FIELDS_SCENARIO_H
#define PAUA_TESTS_CRASH_FIELDS_SCENARIO_H

#include <paua/paua.h>

#define STEP_COUNT 36u
#define TEXT_NBYTES_MAX 131072u

/* An open database, and its collection if there is one. */
struct place_open {
    char path[256];
    paua_durability durability;
    paua_db *db;
    paua_collection *c;
};

/* Opens for writing; nothing merges by itself. */
paua_status place_begin(struct place_open *p, bool create, paua_error *err);
void place_close(struct place_open *p);
/* Makes the collection. */
paua_status place_create(struct place_open *p, paua_error *err);

enum call {
    OPEN,
    CREATE,
    INSERT,
    UPDATE,
    DELETE_WHERE,
    OPTIMIZE,
    ADD,
    RENAME,
    RETYPE,
    INDEX,
    UNINDEX,
    DROP,
    FLUSH,
    CLOSE
};

struct move {
    enum call call;
    uint64_t first, last;
    const char *name, *other; /* fields: numbers and text; or a filter, a new name, an index */
    int by;                   /* or a type, or the kind of an index */
};

extern const struct move steps[STEP_COUNT];

paua_status move_make(const struct move *s, struct place_open *p, paua_error *err);

/* Rows first .. last in one call: field `number` becomes key * by, `text` digits of the key and by,
 * or NULL in every fifth row; a name that is NULL: not given. */
paua_status rows_write(struct place_open *p, bool insert, uint64_t first, uint64_t last,
                       const char *number, int by, const char *text, paua_error *err);

struct text {
    char bytes[TEXT_NBYTES_MAX];
    size_t nbytes;
};

/* Fields, indexes, rows, values and counts; nothing if there is no collection. */
paua_status read_all(const struct place_open *p, struct text *t, paua_error *err);

#endif
