/* history_list.c - which histories there are, what they take, and removing one.
 *
 * What a history takes is in its records of groups; summing them up reads no page. A history whose
 * record is damaged has no name, and a listing says so and lists the others. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "db/files.h"
#include "db/histories.h"
#include "history/stored.h"

struct walk {
    const struct history_record *record;
    paua_status (*each)(void *arg, uint64_t number, uint64_t nbytes, bool last);
    void *arg;
    uint64_t file;
    uint64_t file_nbytes;
    uint64_t pages;
    int64_t first_time; /* of the first page */
    bool tolerant;      /* a damaged record is passed over */
};

static paua_status pass_on(const struct walk *w)
{
    if (w->file == 0 || w->each == NULL) return PAUA_OK;
    return w->each(w->arg, w->file, w->file_nbytes, w->file == w->record->file);
}

static paua_status group_each(void *arg, uint64_t id, paua_bytes bytes)
{
    struct walk *w = arg;
    struct history_group g;
    struct stored_page page;
    struct reader r;
    uint64_t hash, nbytes = 0;
    paua_status status = history_group_decode(bytes.data, bytes.nbytes, &g);

    if (status != PAUA_OK || CATALOG_ID(g.history, g.first_page) != id)
        return w->tolerant ? PAUA_OK : PAUA_ECORRUPT;
    if (g.file != w->file) {
        status = pass_on(w);
        w->file = g.file;
    }
    r = reader_over(g.heads, (size_t)g.page_count * HISTORY_PAGE_HEAD_NBYTES);
    for (uint32_t i = 0; i < g.page_count && status == PAUA_OK; i++) {
        status = stored_head_decode(&r, &page, &hash);
        nbytes += STORED_PAGE_NBYTES + (uint64_t)page.nbytes;
        if (status == PAUA_OK && w->pages++ == 0) w->first_time = page.head.first_time;
    }
    w->file_nbytes = g.offset + nbytes;
    return status;
}

static paua_status walk_groups(struct catalog *catalog, struct walk *w, paua_error *err)
{
    uint32_t history = w->record->history;
    paua_status status = catalog_each(catalog, TABLE_HISTORY_GROUP, CATALOG_ID(history, 0),
                                      CATALOG_ID(history, CATALOG_LOW_MAX), group_each, w, err);

    return status == PAUA_OK ? pass_on(w) : status;
}

paua_status history_files(struct catalog *catalog, const struct history_record *record,
                          paua_status (*each)(void *arg, uint64_t number, uint64_t nbytes,
                                              bool last),
                          void *arg, paua_error *err)
{
    struct walk w = {.record = record, .each = each, .arg = arg};
    paua_status status = walk_groups(catalog, &w, err);

    /* A file whose groups have all gone is still the one that pages are added to. */
    if (status == PAUA_OK && record->file != 0 && w.file != record->file)
        status = each(arg, record->file, record->file_nbytes, true);
    return status;
}

static paua_status count_file(void *arg, uint64_t number, uint64_t nbytes, bool last)
{
    paua_db_history_info *info = arg;

    (void)number;
    (void)last;
    info->files++;
    info->file_nbytes += nbytes;
    return PAUA_OK;
}

/* Figures of what is stored; inside a read transaction. */
static paua_status sum_up(struct catalog *catalog, const struct history_record *record,
                          paua_db_history_info *info, paua_error *err)
{
    struct walk w = {.record = record, .each = count_file, .arg = info, .tolerant = true};
    struct history_tail tail;
    paua_bytes bytes;
    paua_status status = walk_groups(catalog, &w, err);

    if (status != PAUA_OK) return status;
    info->name = record->name;
    info->rows = record->next_row - record->first_row;
    info->next_id = record->next_id;
    info->first_time_ms = w.first_time;
    info->last_time_ms = record->last_time;
    info->pages = w.pages;
    info->limits = (paua_history_limits){record->max_rows, record->max_nbytes, record->max_age_ms};
    info->page_rows = record->page_rows;
    if (catalog_get(catalog, TABLE_HISTORY_TAIL, record->history, &bytes, NULL) == PAUA_OK) {
        struct stored_page page;
        struct reader r;
        uint64_t hash;

        info->tail_nbytes = bytes.nbytes;
        if (w.pages == 0 && history_tail_decode(bytes.data, bytes.nbytes, &tail) == PAUA_OK) {
            r = reader_over(tail.page.data, tail.page.nbytes);
            if (stored_head_decode(&r, &page, &hash) == PAUA_OK)
                info->first_time_ms = page.head.first_time;
        }
    }
    return PAUA_OK;
}

static paua_status private_info(struct paua_db_history *h, paua_db_history_info *info)
{
    const paua_history *rows = h->archive.history;

    info->name = h->name;
    info->rows = rows->next_ordinal - rows->first_ordinal;
    info->next_id = rows->next_id;
    info->last_time_ms = rows->last_time;
    info->limits = rows->limits;
    info->page_rows = rows->page_rows;
    info->is_private = true;
    return PAUA_OK;
}

static paua_status stored_info(struct paua_db_history *h, paua_db_history_info *info,
                               paua_error *err)
{
    const paua_history *rows = h->archive.history;
    struct catalog *catalog = db_lock_reader(h->db);
    paua_status status = catalog_begin_read(catalog, err);

    if (status == PAUA_OK) status = sum_up(catalog, &h->archive.record, info, err);
    catalog_rollback(catalog);
    db_unlock_reader(h->db);
    info->name = h->name;
    info->damaged_rows = h->archive.damaged_rows;
    info->waiting_rows = rows->next_ordinal - h->archive.record.next_row;
    info->rows = rows->next_ordinal - rows->first_ordinal;
    info->next_id = rows->next_id;
    info->last_time_ms = rows->last_time;
    return status;
}

paua_status paua_db_history_get_info(paua_db_history *h, paua_db_history_info *info,
                                     paua_error *err)
{
    paua_db_history_info found = {.size = info->size};
    paua_status status;

    if (h == NULL) return error_set(err, PAUA_EINVAL, "the history is NULL");
    status = db_check(h->db, err);
    if (status != PAUA_OK) return status;
    pthread_mutex_lock(&h->mutex);
    if (!h->is_private && !h->is_writer) status = history_load(h, err);
    if (status == PAUA_OK)
        status = h->is_private ? private_info(h, &found) : stored_info(h, &found, err);
    pthread_mutex_unlock(&h->mutex);
    if (status == PAUA_OK)
        memcpy(info, &found, info->size < sizeof found ? info->size : sizeof found);
    return status;
}

struct records {
    struct history_record *items;
    size_t count, capacity;
    paua_status bad;
};

static paua_status collect(void *arg, uint64_t id, paua_bytes bytes)
{
    struct records *r = arg;
    struct history_record record;
    paua_status status = history_record_decode(bytes.data, bytes.nbytes, &record);

    if (status != PAUA_OK || record.history != id) {
        r->bad = status == PAUA_EVERSION ? PAUA_EVERSION : PAUA_ECORRUPT;
        return PAUA_OK;
    }
    if (mem_grow((void **)&r->items, &r->capacity, r->count + 1, sizeof r->items[0]) != 0)
        return PAUA_ENOMEM;
    r->items[r->count++] = record;
    return PAUA_OK;
}

/* All of them as one snapshot has them, their figures in *infos. */
static paua_status list_read(paua_db *db, struct records *r, paua_db_history_info **infos,
                             paua_error *err)
{
    struct catalog *catalog = db_lock_reader(db);
    paua_status status = catalog_begin_read(catalog, err);

    if (status == PAUA_OK)
        status = catalog_each(catalog, TABLE_HISTORY, 0, INT64_MAX, collect, r, err);
    if (status == PAUA_OK) {
        *infos = mem_zalloc(r->count + 1, sizeof **infos);
        if (*infos == NULL) status = PAUA_ENOMEM;
    }
    for (size_t i = 0; i < r->count && status == PAUA_OK; i++) {
        (*infos)[i].size = sizeof **infos;
        status = sum_up(catalog, &r->items[i], &(*infos)[i], err);
        if (status != PAUA_ECORRUPT) continue;
        r->bad = status;
        (*infos)[i].name = r->items[i].name;
        status = PAUA_OK;
    }
    catalog_rollback(catalog);
    db_unlock_reader(db);
    return status == PAUA_ENOMEM ? error_set_nomem(err) : status;
}

paua_status paua_db_history_list(paua_db *db,
                                 void (*each)(void *arg, const paua_db_history_info *info),
                                 void *arg, paua_error *err)
{
    struct records r = {.bad = PAUA_OK};
    paua_db_history_info *infos = NULL;
    paua_status status = db_check(db, err);

    if (status != PAUA_OK) return status;
    status = list_read(db, &r, &infos, err);
    for (size_t i = 0; i < r.count && status == PAUA_OK; i++)
        each(arg, &infos[i]);
    if (status == PAUA_OK && r.bad != PAUA_OK)
        status =
            error_set(err, r.bad, CATALOG_NAME ": a history is damaged or newer; run paua check");
    mem_free(infos);
    mem_free(r.items);
    return status;
}

struct numbers {
    uint64_t *items;
    size_t count, capacity;
};

static paua_status number_add(void *arg, uint64_t number, uint64_t nbytes, bool last)
{
    struct numbers *n = arg;

    (void)nbytes;
    (void)last;
    if (mem_grow((void **)&n->items, &n->capacity, n->count + 1, sizeof n->items[0]) != 0)
        return PAUA_ENOMEM;
    n->items[n->count++] = number;
    return PAUA_OK;
}

/* Inside a write transaction. Where a record is damaged, files stay for the next sweep. */
static paua_status records_remove(struct catalog *catalog, uint32_t history, struct numbers *n,
                                  paua_error *err)
{
    struct history_record record;
    paua_status status = archive_record(catalog, history, &record, err);

    if (status == PAUA_ENOTFOUND) return error_set(err, status, "the history was removed already");
    if (status == PAUA_OK) status = history_files(catalog, &record, number_add, n, err);
    if (status == PAUA_ENOMEM) return error_set_nomem(err);
    if (status != PAUA_OK && status != PAUA_ECORRUPT) return status;
    status = catalog_delete(catalog, TABLE_HISTORY, history, history, err);
    if (status == PAUA_OK)
        status = catalog_delete(catalog, TABLE_HISTORY_TAIL, history, history, err);
    if (status == PAUA_OK)
        status = catalog_delete(catalog, TABLE_HISTORY_GROUP, CATALOG_ID(history, 0),
                                CATALOG_ID(history, CATALOG_LOW_MAX), err);
    return status;
}

/* As its writer. */
static paua_status remove_locked(paua_db *db, uint32_t history, paua_error *err)
{
    struct numbers n = {0};
    paua_status status = db_begin(db, err);

    if (status == PAUA_OK) {
        status = records_remove(db->writer, history, &n, err);
        status = db_finish(db, status, err);
    }
    if (status == PAUA_OK && db_settle(db) == PAUA_OK)
        for (size_t i = 0; i < n.count; i++)
            files_unlink(db->dir, n.items[i], FILE_PAGES);
    mem_free(n.items);
    return status;
}

paua_status paua_db_history_remove(paua_db *db, const char *name, paua_error *err)
{
    struct paua_db_history h = {.db = db};
    struct history_record record;
    struct catalog *catalog;
    paua_status status = db_check_writable(db, err);

    if (status != PAUA_OK) return status;
    if (name == NULL) return error_set(err, PAUA_EINVAL, "the name is NULL");
    catalog = db_lock_reader(db);
    status = history_find(catalog, name, &record, err);
    db_unlock_reader(db);
    if (status != PAUA_OK) return status;
    h.number = record.history;
    strcpy(h.name, record.name);
    status = history_lock(&h, err);
    if (status != PAUA_OK) return status;
    status = remove_locked(db, record.history, err);
    history_unlock(&h);
    return status;
}
