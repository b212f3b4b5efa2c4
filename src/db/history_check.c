/* history_check.c - checking histories: every record, every page, the tail.
 *
 * Each is opened as any reader would open it, so what loading makes a hole of is one here; then
 * every page is restored, which tests its checksums and the whole of its format. Rows and files are
 * named. A damaged page costs its rows and no others, the damaged name in a file none. */
#include <stdio.h>

#include "base/error.h"
#include "base/memory.h"
#include "db/check.h"
#include "db/histories.h"

#define RESTORE "restore it from a backup; the other rows of the history stay readable"
#define WHAT_NBYTES 400u

static void report_rows(struct check *check, const struct paua_db_history *h, struct page *page)
{
    const struct page_stored *stored = page_stored(page);
    const char *file = NULL;
    char what[WHAT_NBYTES];

    if (stored != NULL) file = ((const struct page_file *)(const void *)stored->store)->name;
    snprintf(what, sizeof what, "rows %llu to %llu of history %s %s",
             (unsigned long long)page->ordinal,
             (unsigned long long)(page->ordinal + page->row_count - 1), h->name,
             stored != NULL ? "are damaged" : "are missing: their file or record is");
    check_report(check, true, file, what, RESTORE);
}

static paua_status pages_check(struct check *check, const struct paua_db_history *h)
{
    const paua_history *rows = h->archive.history;

    for (size_t i = 0; i < history_page_count(rows); i++) {
        struct page *page = rows->list->pages[rows->list->first + i];
        struct block *block = NULL;
        paua_status status = page_pin(page, false, &block);

        block_unref(block);
        if (status == PAUA_ENOMEM) return status;
        if (status != PAUA_OK) report_rows(check, h, page);
        if (check->opts->progress != NULL)
            check->opts->progress(check->opts->progress_arg, "checking histories", i + 1,
                                  history_page_count(rows));
    }
    return PAUA_OK;
}

/* What a lost catalogue would be made anew with. It may be another name than the catalogue's, if
 * that was made anew when the name was taken, or damaged. */
static void names_check(struct check *check, const struct paua_db_history *h)
{
    char name[PAUA_NAME_NBYTES_MAX + 1], what[WHAT_NBYTES];

    for (size_t i = 0; i < h->archive.file_count; i++) {
        const struct page_file *file = h->archive.files[i].file;

        if (file == NULL) continue; /* its rows are missing, and reported */
        if (page_file_history(file, name) == PAUA_OK) continue;
        snprintf(what, sizeof what, "the name of history %s in it is damaged", h->name);
        check_report(check, true, file->name, what,
                     "its rows are readable; restore it from a backup, or export and import the "
                     "history");
    }
}

static paua_status history_check(struct check *check, paua_db *db, const char *name,
                                 paua_error *err)
{
    const paua_db_history_opts opts = {.size = sizeof opts, .read_only = true};
    paua_db_history *h;
    paua_error local;
    paua_status status = paua_db_history_open(db, name, &opts, &h, &local);

    if (status == PAUA_ENOTFOUND) return PAUA_OK; /* removed meanwhile */
    if (status == PAUA_ENOMEM) return error_set_nomem(err);
    if (status != PAUA_OK) {
        check_report_message(check, NULL, local.message, RESTORE);
        return PAUA_OK;
    }
    status = pages_check(check, h);
    if (status == PAUA_OK) names_check(check, h);
    paua_db_history_close(h);
    return status == PAUA_OK ? PAUA_OK : error_set_nomem(err);
}

struct names {
    struct check *check;
    struct history_record *items;
    size_t count, capacity;
};

static paua_status collect(void *arg, uint64_t id, paua_bytes bytes)
{
    struct names *n = arg;
    struct history_record record;
    char what[64];

    if (history_record_decode(bytes.data, bytes.nbytes, &record) != PAUA_OK ||
        record.history != id) {
        snprintf(what, sizeof what, "the record of history %llu is damaged",
                 (unsigned long long)id);
        check_report(n->check, true, NULL, what, "restore it from a backup");
        return PAUA_OK;
    }
    if (mem_grow((void **)&n->items, &n->capacity, n->count + 1, sizeof n->items[0]) != 0)
        return PAUA_ENOMEM;
    n->items[n->count++] = record;
    return PAUA_OK;
}

paua_status check_histories(struct check *check, paua_db *db, paua_error *err)
{
    struct names n = {.check = check};
    paua_error local = {.status = PAUA_OK};
    paua_status status =
        catalog_each(db_lock_reader(db), TABLE_HISTORY, 0, INT64_MAX, collect, &n, &local);

    db_unlock_reader(db);
    if (status == PAUA_ECORRUPT || status == PAUA_EIO) {
        check_report_message(check, NULL, local.message, "restore it from a backup");
        status = PAUA_OK;
    }
    if (status == PAUA_ENOMEM)
        error_set_nomem(err);
    else if (status != PAUA_OK && err != NULL)
        *err = local;
    for (size_t i = 0; i < n.count && status == PAUA_OK; i++)
        status = history_check(check, db, n.items[i].name, err);
    mem_free(n.items);
    return status;
}
