/* history_write.c - rows into a history of a database, and their commits.
 *
 * Rows go into the history in memory. They are committed together: pages to files, the tail to the
 * catalogue (archive/save.c), once the first has waited for commit_ms or they are commit_nbytes,
 * asked at every append and tick. A commit that fails leaves the rows where they are.
 * A file of pages is synced before the commit that names it, under PAUA_BATCH too, since its bytes
 * are not checked at opening; so there an interval costs one sync if a page was sealed in it. */
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "db/histories.h"

#define ROW_NBYTES 16u /* beside its text or cells */
#define NS_PER_MS 1000000u

static paua_status file_number(void *arg, uint64_t *number, paua_error *err)
{
    return db_file_numbers(arg, 1, number, err);
}

/* What would be put is what there is. */
static bool nothing_new(const struct paua_db_history *h, const paua_history_limits *limits)
{
    const paua_history *rows = h->archive.history;

    return limits == NULL && h->archive.record.next_row == rows->next_ordinal &&
           h->archive.record.first_row == rows->first_ordinal;
}

static paua_status save(struct paua_db_history *h, struct archive_save *s, paua_error *err)
{
    paua_status status = db_begin(h->db, err);

    if (status != PAUA_OK) return status;
    status = archive_save_put(s, h->db->writer, err);
    return db_finish(h->db, status, err);
}

paua_status history_commit(struct paua_db_history *h, const paua_history_limits *limits,
                           bool drop_all, paua_error *err)
{
    paua_db *db = h->db;
    const struct archive_save_opts opts = {.file_nbytes = h->file_nbytes,
                                           .sync = db->opts.durability != PAUA_OFF,
                                           .drop_all = drop_all,
                                           .limits = limits,
                                           .file_number = file_number,
                                           .arg = db};
    struct archive_save *s = NULL;
    paua_status status;

    if (nothing_new(h, limits) && !drop_all) return PAUA_OK;
    status = archive_save_begin(&h->archive, &opts, &s, err);
    if (status == PAUA_OK) status = save(h, s, err);
    archive_save_end(s, status == PAUA_OK    ? ARCHIVE_COMMITTED
                        : db_poisoned(h->db) ? ARCHIVE_UNCERTAIN
                                             : ARCHIVE_FAILED);
    if (status != PAUA_OK) return status;
    atomic_store(&db->histories_unsynced, true);
    h->waiting_nbytes = 0;
    if (h->archive.dropped_count > 0 && db_settle(db) == PAUA_OK)
        archive_remove_dropped(&h->archive);
    return PAUA_OK;
}

/* Milliseconds that rows may still wait. */
static uint32_t wait_left(const struct paua_db_history *h)
{
    uint64_t waited;

    if (h->waiting_nbytes == 0) return UINT32_MAX;
    waited = (clock_now_ns() - h->waiting_since_ns) / NS_PER_MS;
    return waited >= h->commit_ms ? 0 : (uint32_t)(h->commit_ms - waited);
}

static bool commit_due(const struct paua_db_history *h)
{
    if (h->waiting_nbytes == 0) return false;
    return h->at_once || h->waiting_nbytes >= h->commit_nbytes || wait_left(h) == 0;
}

/* Rows that were appended wait for their commit. */
static void rows_wait(struct paua_db_history *h, const paua_history_new_row *rows, size_t count)
{
    if (count > 0 && h->waiting_nbytes == 0) h->waiting_since_ns = clock_now_ns();
    for (size_t i = 0; i < count; i++) {
        const paua_history_new_row *row = (const void *)((const char *)rows + i * rows->size);

        h->waiting_nbytes += ROW_NBYTES + (row->cells != NULL ? row->cell_count : row->text_nbytes);
    }
}

/* Locks the handle of a writer, or of a private history. */
static paua_status enter(struct paua_db_history *h, paua_error *err)
{
    paua_status status;

    if (h == NULL) return error_set(err, PAUA_EINVAL, "the history is NULL");
    status = h->is_private ? db_check(h->db, err) : db_check_writable(h->db, err);
    if (status != PAUA_OK) return status;
    if (!h->is_private && !h->is_writer)
        return error_set(err, PAUA_EREADONLY, "history %s: opened read-only; open it for writing",
                         h->name);
    pthread_mutex_lock(&h->mutex);
    return PAUA_OK;
}

static paua_status leave(struct paua_db_history *h, paua_status status)
{
    pthread_mutex_unlock(&h->mutex);
    return status;
}

paua_status paua_db_history_append(paua_db_history *h, const paua_history_new_row *rows,
                                   size_t count, size_t *appended, paua_error *err)
{
    size_t done = 0;
    paua_status status = enter(h, err);

    if (status != PAUA_OK) return status;
    status = paua_history_append(h->archive.history, rows, count, &done, err);
    if (!h->is_private) {
        rows_wait(h, rows, done);
        if (status == PAUA_OK && commit_due(h)) status = history_commit(h, NULL, false, err);
    }
    if (appended != NULL) *appended = done;
    return leave(h, status);
}

paua_status paua_db_history_tick(paua_db_history *h, uint32_t *wait_ms, paua_error *err)
{
    uint32_t wait = UINT32_MAX;
    paua_status status = enter(h, err);

    if (status != PAUA_OK) return status;
    if (!h->is_private) {
        if (commit_due(h)) status = history_commit(h, NULL, false, err);
        wait = wait_left(h);
    }
    if (status == PAUA_OK && wait_ms != NULL) *wait_ms = wait;
    return leave(h, status);
}

paua_status paua_db_history_flush(paua_db_history *h, paua_error *err)
{
    paua_status status = enter(h, err);

    if (status != PAUA_OK) return status;
    if (!h->is_private) {
        status = history_commit(h, NULL, false, err);
        if (status == PAUA_OK && h->db->opts.durability != PAUA_FULL)
            status = db_sync_catalog(h->db, err);
    }
    return leave(h, status);
}

paua_status paua_db_history_idle(paua_db_history *h, size_t max_pages, size_t *left,
                                 paua_error *err)
{
    paua_status status;

    if (h == NULL) return error_set(err, PAUA_EINVAL, "the history is NULL");
    status = db_check(h->db, err);
    if (status != PAUA_OK) return status;
    pthread_mutex_lock(&h->mutex);
    status = paua_history_idle(h->archive.history, max_pages, left, err);
    return leave(h, status);
}

/* Applies limits to the rows in memory; those in bytes are the files' business, but for a private
 * history. */
static void limits_apply(struct paua_db_history *h, const paua_history_limits *limits,
                         int64_t now_ms)
{
    paua_history_limits l = {limits->max_rows, h->is_private ? limits->max_nbytes : 0,
                             limits->max_age_ms};

    paua_history_set_limits(h->archive.history, &l);
    if (now_ms > 0) paua_history_expire(h->archive.history, now_ms, NULL);
}

static paua_status now_check(const paua_history_limits *limits, int64_t now_ms, paua_error *err)
{
    if (limits == NULL) return error_set(err, PAUA_EINVAL, "the limits are NULL");
    return now_ms >= 0 ? PAUA_OK : error_set(err, PAUA_EINVAL, "a time is not negative");
}

paua_status paua_db_history_set_limits(paua_db_history *h, const paua_history_limits *limits,
                                       int64_t now_ms, paua_error *err)
{
    paua_status status = now_check(limits, now_ms, err);

    if (status == PAUA_OK) status = enter(h, err);
    if (status != PAUA_OK) return status;
    if (!h->is_private) {
        struct history_record record = h->archive.record;

        /* First the promise, then the rows: after a failure both are as they were. */
        record.max_rows = limits->max_rows;
        record.max_nbytes = limits->max_nbytes;
        record.max_age_ms = limits->max_age_ms;
        record.generation++;
        status = db_begin(h->db, err);
        if (status == PAUA_OK) {
            status = archive_put_record(h->db->writer, &record, err);
            status = db_finish(h->db, status, err);
        }
        if (status != PAUA_OK) return leave(h, status);
        h->archive.record = record;
    }
    limits_apply(h, limits, now_ms);
    if (!h->is_private) status = history_commit(h, limits, false, err);
    return leave(h, status);
}

paua_status paua_db_history_trim(paua_db_history *h, const paua_history_limits *limits,
                                 int64_t now_ms, paua_error *err)
{
    paua_history_limits own;
    paua_status status = now_check(limits, now_ms, err);

    if (status == PAUA_OK) status = enter(h, err);
    if (status != PAUA_OK) return status;
    own = h->archive.history->limits;
    limits_apply(h, limits, now_ms);
    paua_history_set_limits(h->archive.history, &own);
    if (!h->is_private) status = history_commit(h, limits, false, err);
    return leave(h, status);
}

paua_status paua_db_history_clear(paua_db_history *h, paua_error *err)
{
    paua_status status = enter(h, err);

    if (status != PAUA_OK) return status;
    paua_history_clear(h->archive.history);
    if (!h->is_private) status = history_commit(h, NULL, true, err);
    return leave(h, status);
}

void paua_db_history_get_stats(paua_db_history *h, paua_history_stats *stats)
{
    pthread_mutex_lock(&h->mutex);
    paua_history_get_stats(h->archive.history, stats);
    pthread_mutex_unlock(&h->mutex);
}
