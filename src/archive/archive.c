/* archive.c - a stored history as a handle holds it: opening, closing, figures.
 *
 * The history in memory has no limit in bytes of its own: what is stored leaves memory by itself,
 * and the limit is on the files (save.c). */
#include "archive/archive.h"

#include "base/error.h"
#include "base/memory.h"

paua_status archive_open(struct archive *a, struct dir *dir, const struct history_record *record,
                         const paua_history_limits *limits, paua_history_scratch *scratch,
                         paua_error *err)
{
    const paua_history_opts opts = {.size = sizeof opts,
                                    .limits = {limits->max_rows, 0, limits->max_age_ms},
                                    .scratch = scratch,
                                    .page_rows = record->page_rows};
    paua_history *history;
    paua_status status = paua_history_open(&opts, &history, err);

    if (status != PAUA_OK) return status;
    history->heap->stores_pages = true;
    *a = (struct archive){.dir = dir, .history = history};
    return PAUA_OK;
}

void archive_close(struct archive *a)
{
    paua_history_close(a->history);
    for (size_t i = 0; i < a->file_count; i++)
        page_file_unref(a->files[i].file);
    mem_free(a->files);
    mem_free(a->dropped);
    *a = (struct archive){.file_count = 0};
}

void archive_forget(struct archive *a)
{
    a->record.history = 0;
    a->group = (struct archive_group){.page_count = 0};
}

paua_status archive_record(struct catalog *catalog, uint32_t history, struct history_record *record,
                           paua_error *err)
{
    struct history_record found;
    paua_bytes bytes;
    paua_status status = catalog_get(catalog, TABLE_HISTORY, history, &bytes, err);

    if (status != PAUA_OK) return status;
    status = history_record_decode(bytes.data, bytes.nbytes, &found);
    if (status == PAUA_OK && found.history != history) status = PAUA_ECORRUPT;
    if (status == PAUA_EVERSION)
        return error_set(err, status, CATALOG_NAME ": was written by a newer version of paua");
    if (status != PAUA_OK)
        return error_set(err, PAUA_ECORRUPT,
                         CATALOG_NAME ": the record of history %u is damaged; run paua check",
                         history);
    *record = found;
    return PAUA_OK;
}

uint64_t archive_nbytes(const struct archive *a)
{
    uint64_t nbytes = 0;

    for (size_t i = 0; i < a->file_count; i++)
        nbytes += a->files[i].nbytes;
    return nbytes;
}

void archive_remove_dropped(struct archive *a)
{
    char name[FILE_NAME_NBYTES];

    for (size_t i = 0; i < a->dropped_count; i++) {
        file_name(name, a->dropped[i], FILE_PAGES);
        dir_unlink(a->dir, name, NULL);
    }
    a->dropped_count = 0;
}
