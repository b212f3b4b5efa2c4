/* rebuild_histories.c - the records of histories, made anew from their files of pages.
 *
 * Pages say which rows they hold, so a file is walked from head to head until there is none: what
 * lies behind is a crash's leftover. Files of one history follow one another by their rows' ids,
 * and each has its name: the first that can be read counts. Two histories of one name are there if
 * one was removed and its files were not gone yet: the newer one, of the higher number, keeps it.
 * Lost are what only the catalogue had: limits, rows that were in no page yet, and which rows were
 * evicted from a file that is still there. */
#include "db/rebuild_histories.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "archive/archive.h"
#include "base/error.h"
#include "base/memory.h"
#include "db/histories.h"

struct pages_file {
    uint32_t history;
    uint64_t number;
    uint64_t first_id; /* of its first page; 0: it has none */
};

struct listing {
    struct dir *dir;
    struct pages_file *items;
    size_t count, capacity;
    bool failed; /* no memory */
};

/* A history while it is made. */
struct making {
    struct catalog *catalog;
    struct history_record record;
    struct archive_group group;
    paua_error *err;
};

static paua_status read_head(int fd, const char *name, uint64_t at, struct stored_page *page)
{
    uint8_t bytes[STORED_PAGE_NBYTES];
    struct reader r;
    uint64_t hash;
    paua_status status = fd_pread(fd, name, bytes, sizeof bytes, at, NULL);

    if (status != PAUA_OK) return status;
    r = reader_over(bytes, sizeof bytes);
    return stored_head_decode(&r, page, &hash);
}

/* What a file's header and first page say; false: it is no file of pages. */
static bool look_at(struct dir *dir, const char *name, uint64_t number, struct pages_file *found)
{
    uint8_t bytes[FILE_HEADER_NBYTES];
    struct file_header header;
    struct stored_page page;
    bool good;
    int fd;

    if (dir_open_file(dir, name, DIR_READ, &fd, NULL) != PAUA_OK) return false;
    good = fd_pread(fd, name, bytes, sizeof bytes, 0, NULL) == PAUA_OK &&
           file_header_decode(bytes, sizeof bytes, &header) == PAUA_OK &&
           header.kind == FILE_PAGES && header.number == number;
    if (good) *found = (struct pages_file){.history = header.collection, .number = number};
    if (good && read_head(fd, name, PAGES_BEGIN, &page) == PAUA_OK)
        found->first_id = page.head.first_id;
    fd_close(fd);
    return good && found->first_id > 0;
}

static void file_each(void *arg, const char *name, uint64_t nbytes)
{
    struct listing *l = arg;
    struct pages_file found;
    enum file_kind kind;
    uint64_t number;
    bool temporary;

    (void)nbytes;
    if (l->failed || !file_name_parse(name, &number, &kind, &temporary)) return;
    if (temporary || kind != FILE_PAGES || !look_at(l->dir, name, number, &found)) return;
    if (mem_grow((void **)&l->items, &l->capacity, l->count + 1, sizeof l->items[0]) != 0)
        l->failed = true;
    else
        l->items[l->count++] = found;
}

static int by_history_and_id(const void *a, const void *b)
{
    const struct pages_file *x = a, *y = b;

    if (x->history != y->history) return x->history < y->history ? -1 : 1;
    return x->first_id < y->first_id ? -1 : x->first_id > y->first_id;
}

/* Stores the group at hand, if it has pages. */
static paua_status group_store(struct making *m)
{
    const struct history_group group = {.history = m->record.history,
                                        .first_page = m->group.first_page,
                                        .first_row = m->group.first_row,
                                        .file = m->group.file,
                                        .offset = m->group.offset,
                                        .page_count = m->group.page_count,
                                        .heads = m->group.heads};
    struct writer w = {0};
    paua_status status;

    if (m->group.page_count == 0) return PAUA_OK;
    status = history_group_encode(&group, &w);
    status = status == PAUA_OK ? catalog_put(m->catalog, TABLE_HISTORY_GROUP,
                                             CATALOG_ID(group.history, group.first_page), w.bytes,
                                             w.length, m->err)
                               : error_set_nomem(m->err);
    writer_free(&w);
    m->group.page_count = 0;
    m->record.group_count++;
    return status;
}

/* Can a page be the next one of the group at hand? */
static bool goes_on(const struct making *m, const struct stored_page *page)
{
    if (m->group.page_count == 0 || m->group.page_count == HISTORY_GROUP_PAGES_MAX) return false;
    return page->form == STORED_PLAIN ||
           (page->form == STORED_ZSTD_KEYED && page->key_distance == m->group.page_count);
}

static paua_status page_take(struct making *m, uint64_t file, uint64_t at,
                             const struct stored_page *page, const uint8_t *head)
{
    struct history_record *r = &m->record;
    paua_status status = PAUA_OK;

    if (!goes_on(m, page)) {
        status = group_store(m);
        m->group = (struct archive_group){
            .first_page = r->next_page, .first_row = r->next_row, .file = file, .offset = at};
    }
    memcpy(m->group.heads + (size_t)m->group.page_count * HISTORY_PAGE_HEAD_NBYTES, head,
           HISTORY_PAGE_HEAD_NBYTES);
    m->group.page_count++;
    r->next_page++;
    r->next_row += page->head.row_count;
    r->next_id = page->last_id + 1;
    r->last_time = page->last_time;
    return status;
}

/* All pages of a file that follow what there is. */
static paua_status file_take(struct making *m, struct dir *dir, const struct pages_file *f)
{
    uint64_t at = PAGES_BEGIN, length = 0;
    struct page_file *file;
    struct stored_page page;
    uint8_t head[HISTORY_PAGE_HEAD_NBYTES];
    paua_status status = page_file_open(dir, f->history, f->number, false, &file, m->err);

    if (status == PAUA_OK && m->record.name[0] == '\0') page_file_history(file, m->record.name);
    if (status == PAUA_OK) status = fd_length(file->fd, file->name, &length, m->err);
    while (status == PAUA_OK && read_head(file->fd, file->name, at, &page) == PAUA_OK) {
        if (page.is_tail || page.head.first_id < m->record.next_id ||
            page.head.first_time < m->record.last_time ||
            length < at + STORED_PAGE_NBYTES + page.nbytes ||
            (page.form == STORED_ZSTD_KEYED && !goes_on(m, &page)))
            break;
        status = fd_pread(file->fd, file->name, head, sizeof head, at, m->err);
        if (status == PAUA_OK) status = page_take(m, f->number, at, &page, head);
        at += STORED_PAGE_NBYTES + (uint64_t)page.nbytes;
    }
    if (status == PAUA_OK) {
        m->record.file = f->number;
        m->record.file_nbytes = at;
        status = group_store(m);
    }
    page_file_unref(file);
    return status;
}

/* A history that has no name, or one that another has, gets one; *own: it was not needed. */
static paua_status settle_name(struct making *m, bool *own)
{
    struct history_record other;
    char *name = m->record.name;
    paua_status status = PAUA_OK;

    *own = name[0] != '\0';
    for (uint32_t i = *own ? 0 : 1; status == PAUA_OK; i++) {
        if (i == 1) snprintf(name, sizeof m->record.name, "history-%u", m->record.history);
        if (i > 1) snprintf(name, sizeof m->record.name, "history-%u-%u", m->record.history, i);
        *own = i == 0;
        status = history_find(m->catalog, name, &other, NULL);
    }
    return status == PAUA_ENOTFOUND ? PAUA_OK : error_set(m->err, status, "cannot name a history");
}

static paua_status history_make(struct check *check, struct catalog *catalog, struct dir *dir,
                                const struct pages_file *files, size_t count, paua_error *err)
{
    struct making m = {.catalog = catalog, .err = err};
    char what[500];
    bool own_name = false;
    paua_status status = PAUA_OK;

    m.record = (struct history_record){
        .history = files[0].history, .next_id = 1, .page_rows = PAUA_HISTORY_PAGE_ROWS_MAX};
    for (size_t i = 0; i < count && status == PAUA_OK; i++)
        status = file_take(&m, dir, &files[i]);
    m.record.tail_row = m.record.next_row;
    if (status == PAUA_OK) status = settle_name(&m, &own_name);
    if (status == PAUA_OK) status = archive_put_record(catalog, &m.record, err);
    if (status != PAUA_OK) return status;
    snprintf(what, sizeof what,
             "history \"%s\" was made anew: its %slimits and rows that were in no page are lost",
             m.record.name, own_name ? "" : "name, its ");
    check_report(check, false, NULL, what, "look at it with paua history show");
    return PAUA_OK;
}

paua_status rebuild_histories(struct check *check, struct dir *dir, struct catalog *catalog,
                              uint64_t *number_max, paua_error *err)
{
    struct listing l = {.dir = dir};
    paua_status status = dir_list(dir, file_each, &l, err);

    if (status == PAUA_OK && l.failed) status = error_set_nomem(err);
    if (l.count > 0) qsort(l.items, l.count, sizeof l.items[0], by_history_and_id);
    if (l.count > 0 && l.items[l.count - 1].history > *number_max)
        *number_max = l.items[l.count - 1].history;
    for (size_t end = l.count, i; end > 0 && status == PAUA_OK; end = i) {
        for (i = end - 1; i > 0 && l.items[i - 1].history == l.items[i].history;)
            i--;
        status = history_make(check, catalog, dir, &l.items[i], end - i, err);
    }
    mem_free(l.items);
    return status;
}
