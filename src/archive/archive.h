/* archive.h - a history whose pages are in files and whose tail is in the catalogue: loading it,
 * following it, adding to it.
 *
 * Everything works on a catalogue inside a transaction that the caller has begun, and on a
 * directory; locks between threads and processes are the caller's. */
#ifndef PAUA_ARCHIVE_ARCHIVE_H
#define PAUA_ARCHIVE_ARCHIVE_H

#include "archive/page_file.h"
#include "codec/history_record.h"
#include "history/history.h"
#include "store/catalog.h"

/* A file and what it has: pages first_page .., up to the next file's. */
struct archive_file {
    uint64_t number;
    struct page_file *file; /* one reference; NULL: it could not be opened, its pages are damaged */
    uint64_t first_page;
    uint64_t first_row;
    int64_t first_time;
    uint64_t nbytes;
    uint32_t group_count;
};

/* The group that pages are added to. */
struct archive_group {
    uint64_t first_page;
    uint64_t first_row;
    uint64_t next_row; /* after its last page's last one */
    uint64_t file;
    uint64_t offset;
    uint64_t end;        /* of its last page */
    uint32_t page_count; /* 0: there is no group */
    uint8_t heads[HISTORY_GROUP_PAGES_MAX * HISTORY_PAGE_HEAD_NBYTES];
    bool has_filter; /* for searches; made when the group is full */
    uint8_t filter[FILTER_NBYTES];
};

struct archive {
    struct dir *dir;
    paua_history *history;        /* owned */
    struct history_record record; /* as committed; history 0: nothing is loaded */
    struct archive_file *files;   /* oldest first */
    size_t file_count, file_capacity;
    struct archive_group group;
    uint64_t damaged_rows; /* in holes that loading found */
    uint64_t *dropped;     /* numbers of files that the catalogue no longer names */
    size_t dropped_count, dropped_capacity;
};

/* An empty one, with room for rows of this history. scratch is shared. PAUA_ENOMEM. */
paua_status archive_open(struct archive *a, struct dir *dir, const struct history_record *record,
                         const paua_history_limits *limits, paua_history_scratch *scratch,
                         paua_error *err);
void archive_close(struct archive *a);

/* Brings the archive to what the record and the catalogue say, keeping the pages that it has. What
 * is damaged becomes a hole.
 *
 *   gone   set if a file was not there: what was read may be older than its removal
 *
 * PAUA_EIO, PAUA_ENOMEM, PAUA_EVERSION; then nothing changed. */
paua_status archive_load(struct archive *a, struct catalog *catalog,
                         const struct history_record *record, bool *gone, paua_error *err);

/* The next load reads everything again. */
void archive_forget(struct archive *a);

/* The record of a history: PAUA_ENOTFOUND, PAUA_ECORRUPT, PAUA_EVERSION. */
paua_status archive_record(struct catalog *catalog, uint32_t history, struct history_record *record,
                           paua_error *err);

/* Bytes of all files. */
uint64_t archive_nbytes(const struct archive *a);

/* ---- adding to it (save.c) ---- */

struct archive_save_opts {
    uint64_t file_nbytes;              /* a file that has so many is followed by another one */
    bool sync;                         /* before pages are named in the catalogue */
    const paua_history_limits *limits; /* or NULL: those of the record; max_nbytes counts */
    bool drop_all;                     /* where no row of a page is kept, the last file goes too */
    /* A number for a new file. */
    paua_status (*file_number)(void *arg, uint64_t *number, paua_error *err);
    void *arg;
};

struct archive_save;

/* Writes sealed pages that are in no file yet, and syncs them. Nothing is changed that anybody can
 * see. *save is to be ended by archive_save_end in any case. */
paua_status archive_save_begin(struct archive *a, const struct archive_save_opts *opts,
                               struct archive_save **save, paua_error *err);

/* Puts groups, tail and history into the catalogue, inside a write transaction, and takes out what
 * retention drops. */
paua_status archive_save_put(struct archive_save *save, struct catalog *catalog, paua_error *err);

enum archive_outcome {
    ARCHIVE_COMMITTED, /* what was put is in the catalogue: so the archive says too, and the memory
                          of its pages is given back */
    ARCHIVE_FAILED,    /* it is not: files that were made for it are removed */
    ARCHIVE_UNCERTAIN  /* nobody knows: they stay */
};

/* Frees the save; NULL does nothing. */
void archive_save_end(struct archive_save *save, enum archive_outcome outcome);

/* Removes the files that commits have dropped, best effort: the commits are durable. */
void archive_remove_dropped(struct archive *a);

/* The record alone, for what changes no row. */
paua_status archive_put_record(struct catalog *catalog, const struct history_record *record,
                               paua_error *err);

#endif
