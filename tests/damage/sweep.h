/* sweep.h - one damage after the other, each judged in a child process, so that a crash or a hang
 * is caught, counted, and the next one tried. */
#ifndef PAUA_TESTS_DAMAGE_SWEEP_H
#define PAUA_TESTS_DAMAGE_SWEEP_H

#include "damage/small.h"

enum verdict {
    HARMLESS,   /* every row was read as it is */
    READ_ERROR, /* opening or reading failed with a typed error, and the check finds it too */
    MISNAMED,   /* the same, but the damaged file is not named */
    READ_ONLY,  /* the same, but the check finds nothing: it should have */
    CHECK_ONLY, /* rows differ, and only the check says so: as documented for PAUA_VERIFY_HEADER,
                   which every eighth reader asks for */
    UNNOTICED,  /* rows are missing or differ, and nobody says so */
    CRASHED,
    HUNG,
    VERDICTS
};

struct sweep {
    const char *name;
    struct image *image;                /* undamaged */
    const struct transcript *reference; /* what it reads */
    const struct transcript *also;      /* another right answer, or NULL */
    uint32_t count;
    /* Damages the files in `path`, which are undamaged; false: there is nothing to do. */
    bool (*damage)(const struct sweep *sweep, uint32_t index, const char *path);
    /* Says which damage this is, for a verdict that fails. */
    void (*describe)(const struct sweep *sweep, uint32_t index, char text[160]);
    /* The damaged file, which messages must name; NULL: not asked. */
    const char *(*file_of)(const struct sweep *sweep, uint32_t index);
    bool trusting; /* pages are not verified: rows may differ, but nothing may crash */
    bool write;    /* open for writing and write as well */
    uint32_t tally[VERDICTS], tried;
};

/* Tries all; prints the tally and each failing damage. True if none crashed, hung or went by
 * unnoticed. */
bool sweep_run(struct sweep *sweep);

/* What a sweep that writes does: writes back what is there already in each collection, and
 * merges. */
paua_status sweep_rewrite(paua_db *db, paua_error *err);

#endif
