/* paua_db_history.h - terminal histories that a database keeps.
 *
 * A history of paua_history.h with a name, whose rows survive the program: its newest rows are
 * committed to the catalogue every so often, its sealed pages are appended to files. Rows go in
 * here; they come out through views, as paua_history.h has them, and so do searches and exports.
 *
 * Writers   One a history, in any process (PAUA_EBUSY names the other one); any number of histories
 *           are written at once.
 * Readers   Any number, in any processes. A reader sees what has been committed whenever it opens a
 *           view, and never a part of a commit.
 * Crashes   What was committed survives. Rows that were appended after the last commit are lost:
 *           those of commit_ms, or of commit_nbytes, at most. See paua_durability for power loss.
 * Damage    A page that is damaged is a hole, an error for whoever reads its rows; the rest stays
 *           readable.
 * Threads   A handle may be used by many threads at once; views as paua_history.h says.
 * Time      No thread works in the background: call paua_db_history_tick now and then.
 * Lifetime  Handles are closed before their database; views may outlive both. */
#ifndef PAUA_PAUA_DB_HISTORY_H
#define PAUA_PAUA_DB_HISTORY_H

#include <paua/paua.h>
#include <paua/paua_history.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct paua_db_history paua_db_history;

typedef struct paua_db_history_opts {
    size_t size;
    bool create;        /* make it if there is none of this name */
    bool read_only;     /* never a writer: rows cannot be appended */
    bool is_private;    /* in memory only: nothing of it reaches the disk, nobody else sees it; the
                        database need not be writable */
    bool at_once;       /* every append commits before it returns */
    uint32_t page_rows; /* of a new history: as in paua_history_opts */
    paua_history_limits limits; /* of a new history. max_nbytes bounds its files, which go whole:
                                   the last one, an eighth of that, stays */
    uint32_t commit_ms;         /* rows wait so long for their commit; default 500 */
    uint32_t commit_nbytes;     /* or until they are so many bytes; default 1 MiB */
    uint64_t
        file_nbytes; /* a file of pages that has so many is followed by another; default 64 MiB;
                             limits make it smaller */
} paua_db_history_opts;

/* Opens a history. Reads records of 8 pages each and the newest rows; pages are read from their
 * files when rows of them are asked for, one at a time.
 *
 *   name   1 to 255 bytes of UTF-8 without control characters
 *
 * Errors: PAUA_ENOTFOUND, PAUA_EBUSY (it has a writer; open it read_only), PAUA_EINVAL,
 * PAUA_EREADONLY (the database is, and read_only not set), PAUA_ECORRUPT (its record), PAUA_EIO,
 * PAUA_ENOMEM. */
PAUA_API paua_status paua_db_history_open(paua_db *db, const char *name,
                                          const paua_db_history_opts *opts,
                                          paua_db_history **history, paua_error *err);

/* Commits what waits, if it can: call paua_db_history_flush to know. NULL does nothing. */
PAUA_API void paua_db_history_close(paua_db_history *history);

/* Appends rows as paua_history_append does. They are visible to views of this handle at once, to
 * other readers when they are committed: here, if they have waited long enough, are enough, or
 * at_once is set; otherwise in a later call.
 *
 *   appended   if not NULL, how many went in, on failure too
 *
 * Errors: those of paua_history_append. Those of a commit (PAUA_ENOSPACE, PAUA_EIO, PAUA_EPOISONED
 * ...) come with all rows appended: they are kept in memory, and the next commit tries again. */
PAUA_API paua_status paua_db_history_append(paua_db_history *history,
                                            const paua_history_new_row *rows, size_t count,
                                            size_t *appended, paua_error *err);

/* Commits if rows have waited for commit_ms.
 *
 *   wait_ms   if not NULL, receives how long it may take until the next call; UINT32_MAX: nothing
 *             waits
 *
 * Errors: those of a commit. */
PAUA_API paua_status paua_db_history_tick(paua_db_history *history, uint32_t *wait_ms,
                                          paua_error *err);

/* Commits what waits and makes it durable, whatever the durability. */
PAUA_API paua_status paua_db_history_flush(paua_db_history *history, paua_error *err);

/* Gives back the memory of pages that nobody reads, as paua_history_idle does. */
PAUA_API paua_status paua_db_history_idle(paua_db_history *history, size_t max_pages, size_t *left,
                                          paua_error *err);

/* Its rows as they are now. Of a reader: as last committed; PAUA_ENOTFOUND when it was removed. */
PAUA_API paua_status paua_db_history_view_open(paua_db_history *history, paua_history_view **view,
                                               paua_error *err);

/* Replaces the limits, for good, and commits what they evict.
 *   now_ms   0, or the time that max_age_ms counts back from instead of that of the newest row
 *
 * Errors of these three: those of a commit. What could not be committed is evicted from this handle
 * all the same, and for good by the next commit. */
PAUA_API paua_status paua_db_history_set_limits(paua_db_history *history,
                                                const paua_history_limits *limits, int64_t now_ms,
                                                paua_error *err);

/* Evicts, once, what these limits would, and commits. The limits that it has stay. */
PAUA_API paua_status paua_db_history_trim(paua_db_history *history,
                                          const paua_history_limits *limits, int64_t now_ms,
                                          paua_error *err);

/* Evicts every row and removes its files; ids go on where they were. */
PAUA_API paua_status paua_db_history_clear(paua_db_history *history, paua_error *err);

typedef struct paua_db_history_info {
    size_t size;
    const char *name; /* until the callback returns, or the handle is closed */
    uint64_t rows;
    uint64_t waiting_rows; /* of this handle's, not committed yet */
    uint64_t damaged_rows; /* in holes found when it was opened; not known to a listing */
    uint64_t next_id;
    int64_t first_time_ms; /* of the oldest page, or 0 */
    int64_t last_time_ms;  /* of the newest row ever, or 0 */
    uint64_t pages;        /* in files */
    uint64_t files;
    uint64_t file_nbytes; /* of the files */
    uint64_t tail_nbytes; /* of the newest rows in the catalogue */
    paua_history_limits limits;
    uint32_t page_rows;
    bool is_private;
} paua_db_history_info;

/* Fills what fits in info->size, which the caller sets. */
PAUA_API paua_status paua_db_history_get_info(paua_db_history *history, paua_db_history_info *info,
                                              paua_error *err);

/* Figures of the history in memory, as paua_history_get_stats gives them. */
PAUA_API void paua_db_history_get_stats(paua_db_history *history, paua_history_stats *stats);

/* Calls `each` for each history, by age. The callback may call anything but this database. */
PAUA_API paua_status paua_db_history_list(paua_db *db,
                                          void (*each)(void *arg, const paua_db_history_info *info),
                                          void *arg, paua_error *err);

/* Removes a history and its files. Readers keep the views that they have.
 * Errors: PAUA_ENOTFOUND, PAUA_EBUSY (it has a writer), PAUA_EREADONLY, PAUA_EIO. */
PAUA_API paua_status paua_db_history_remove(paua_db *db, const char *name, paua_error *err);

#ifdef __cplusplus
}
#endif

#endif
