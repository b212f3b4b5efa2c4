/* outfile.h - a file that appears under its name only when it is whole. */
#ifndef PAUA_CMD_OUTFILE_H
#define PAUA_CMD_OUTFILE_H

#include <stdbool.h>
#include <stdio.h>

#include "instream.h"

struct outfile {
    FILE *stream;
    const char *name; /* for messages */
    char *path;       /* final name; NULL: written in place (standard output, devices, pipes) */
    char *temporary;
};

/* path is borrowed; "-" is standard output. */
bool outfile_open(struct outfile *out, const char *path, struct fault *fault);

/* Closes and gives the file its name. On failure nothing of it remains. */
bool outfile_commit(struct outfile *out, struct fault *fault);

/* Closes and removes what was written; does nothing after a commit. */
void outfile_abort(struct outfile *out);

#endif
