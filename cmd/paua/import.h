/* import.h - moves the rows of a source into a collection, batch by batch. */
#ifndef PAUA_CMD_IMPORT_H
#define PAUA_CMD_IMPORT_H

#include "cli.h"
#include "progress.h"
#include "source.h"

struct import {
    const struct cli *cli;
    struct session *session;
    struct source source;
    struct row_block block;
    struct progress progress;
    paua_status *statuses; /* one a row of the block */
    bool upsert;
    bool keep_going;
    size_t field;
    uint64_t limit;    /* rows at most; UINT64_MAX: all */
    uint64_t imported; /* written by this run */
    uint64_t already;  /* there before, with the same content */
    uint64_t refused;
    uint64_t bytes_total; /* of all files whose size is known, else 0 */
    uint64_t bytes_done;  /* of the files before the one at work */
};

/* Imports one file; last: the files of lines must end with it. EXIT_OK, or the error was printed;
 * rows refused under keep_going are printed and counted, and are no error here. */
int import_file(struct import *import, const struct file_format *format, const char *path,
                bool last);

/* Writes the block; what it holds is durable (or as durable as asked) on return. */
int import_write_block(struct import *import);

/* Of the rows that paua_insert refused with PAUA_EEXISTS: marks in statuses those whose stored
 * content is the same with PAUA_OK, and the others with PAUA_EEXISTS. */
int import_compare_existing(struct import *import);

/* Reports a refused row; EXIT_OK under keep_going, else EXIT_FAILED. */
int import_refuse(struct import *import, const char *text);

#endif
