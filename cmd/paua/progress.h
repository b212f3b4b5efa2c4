/* progress.h - one line on stderr that tells how long work still takes. */
#ifndef PAUA_CMD_PROGRESS_H
#define PAUA_CMD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli.h"

struct progress {
    bool on;
    bool terminal;
    bool shown;
    const char *unit;  /* e.g. "rows" */
    const char *stage; /* what progress_callback was told last; NULL before it */
    double start_s;    /* of the work, or of the stage */
    double last_s;
};

/* forced: also without a terminal (one line a second), and from the start. */
void progress_begin(struct progress *progress, const struct cli *cli, const char *unit,
                    bool forced);

/* count: units so far. done of total (0: unknown) is the share of the whole work. */
void progress_show(struct progress *progress, uint64_t count, uint64_t done, uint64_t total);

/* Clears the line. */
void progress_end(struct progress *progress);

/* A paua_progress_fn over a struct progress: work in stages, each with its own time. */
void progress_callback(void *progress, const char *what, uint64_t done, uint64_t total);

#endif
