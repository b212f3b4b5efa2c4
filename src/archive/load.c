/* load.c - a history from its records: cold pages that stay in their files, and a tail.
 *
 * Only heads are read, eighty bytes a page, from the catalogue; so a million rows cost some hundred
 * records. What was there before is kept: groups but the last never change, and the last one only
 * grows. Everything is made aside and put in place at the end, so that a failure changes nothing.
 *
 * Rows are contiguous from the oldest one that is kept. Where they are not, or where a record is
 * damaged, the rows between two good groups become a hole: their number is known, no more. Rows
 * before the oldest kept one may be missing, since the tail forgets them before they are sealed.
 * A hole counts for pages of 65,535 rows at most, as a page's counter of rows allows. */
#include "archive/archive.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "history/payload.h"

#define HOLE_ROWS_MAX UINT16_MAX

struct loading {
    struct archive *a;
    const struct history_record *record;
    struct heap *heap;
    struct list *list;
    struct archive_file *files;
    size_t file_count, file_capacity;
    size_t file_shared; /* so many are the archive's own references */
    struct archive_group group;
    struct filters *filters;
    uint64_t next_row; /* that a page is expected for */
    uint64_t next_id;
    int64_t last_time;
    uint64_t damaged_rows;
    bool gone;
    paua_error *err;
};

static paua_status add(struct loading *l, const struct page_head *head, struct page_store *store,
                       const struct page_stored *stored)
{
    struct page *page = page_make(l->heap, head, NULL, NULL);

    if (page == NULL) return error_set_nomem(l->err);
    if (store != NULL)
        page_store_away(page, store, stored, false);
    else
        l->damaged_rows += head->row_count;
    if (!list_add(l->heap, &l->list, page)) {
        page_unref(page);
        return error_set_nomem(l->err);
    }
    l->next_row = head->ordinal + head->row_count;
    l->next_id = head->last_id + 1;
    l->last_time = head->last_time;
    return PAUA_OK;
}

/* Rows up to `row` are not to be had. */
static paua_status fill(struct loading *l, uint64_t row)
{
    paua_status status = PAUA_OK;

    if (l->next_row < l->record->first_row)
        l->next_row = row < l->record->first_row ? row : l->record->first_row;
    while (l->next_row < row && status == PAUA_OK) {
        uint64_t left = row - l->next_row;
        struct page_head head = {.ordinal = l->next_row,
                                 .first_id = l->next_id,
                                 .first_time = l->last_time,
                                 .last_time = l->last_time,
                                 .row_count =
                                     (uint32_t)(left < HOLE_ROWS_MAX ? left : HOLE_ROWS_MAX)};

        head.last_id = head.first_id + head.row_count - 1;
        status = add(l, &head, NULL, NULL);
    }
    return status;
}

/* The group's file, opened if it is another one than that of the group before. */
static paua_status find_file(struct loading *l, const struct history_group *g,
                             struct archive_file **file)
{
    struct archive_file *last = l->file_count == 0 ? NULL : &l->files[l->file_count - 1];
    paua_error refused;
    paua_status status;

    if (last != NULL && last->number == g->file) {
        *file = last;
        return PAUA_OK;
    }
    if (mem_grow((void **)&l->files, &l->file_capacity, l->file_count + 1, sizeof l->files[0]) != 0)
        return error_set_nomem(l->err);
    last = &l->files[l->file_count];
    *last = (struct archive_file){
        .number = g->file, .first_page = g->first_page, .first_row = g->first_row};
    status = page_file_open(l->a->dir, l->record->history, g->file, false, &last->file, &refused);
    if (status == PAUA_ENOTFOUND) l->gone = true;
    if (status != PAUA_OK && status != PAUA_ENOTFOUND && status != PAUA_ECORRUPT)
        return error_set(l->err, status, "%s", refused.message);
    l->file_count++;
    *file = last;
    return PAUA_OK;
}

/* What the heads of a group say, all of it checked. */
struct group_pages {
    struct stored_page pages[HISTORY_GROUP_PAGES_MAX];
    uint64_t rows;
    uint64_t nbytes;
};

static bool page_fits(const struct stored_page *page, const struct stored_page *before, uint32_t at)
{
    if (page->is_tail || (page->form == STORED_ZSTD_KEYED && page->key_distance != at))
        return false;
    if (before == NULL) return true;
    return page->head.first_id > before->last_id && page->head.first_time >= before->last_time;
}

static bool read_heads(const struct history_group *g, struct group_pages *pages)
{
    struct reader r = reader_over(g->heads, (size_t)g->page_count * HISTORY_PAGE_HEAD_NBYTES);
    uint64_t hash;

    *pages = (struct group_pages){.rows = 0};
    for (uint32_t i = 0; i < g->page_count; i++) {
        struct stored_page *page = &pages->pages[i];

        if (stored_head_decode(&r, page, &hash) != PAUA_OK) return false;
        if (!page_fits(page, i == 0 ? NULL : page - 1, i)) return false;
        pages->rows += page->head.row_count;
        pages->nbytes += STORED_PAGE_NBYTES + (uint64_t)page->nbytes;
    }
    return true;
}

static bool group_fits(const struct loading *l, const struct history_group *g,
                       const struct group_pages *pages)
{
    const struct archive_file *last = l->file_count == 0 ? NULL : &l->files[l->file_count - 1];

    if (g->first_row < l->next_row || pages->rows > l->record->tail_row ||
        g->first_row > l->record->tail_row - pages->rows)
        return false;
    if (g->first_page + g->page_count > l->record->next_page) return false;
    if (pages->pages[0].head.first_id < l->next_id) return false;
    if (pages->pages[0].head.first_time < l->last_time) return false;
    if (g->file == l->record->file && g->offset + pages->nbytes > l->record->file_nbytes)
        return false;
    if (l->group.page_count > 0 && g->first_page < l->group.first_page + l->group.page_count)
        return false;
    return last == NULL || g->file != last->number || g->offset >= last->nbytes;
}

/* Long histories search with the filters of their groups; short ones do without. */
static paua_status take_filter(struct loading *l, const struct archive_group *group)
{
    const struct filters *f = l->filters;

    if (!group->has_filter || group->next_row <= l->record->first_row ||
        l->record->next_row - l->record->first_row < l->a->history->filter_rows)
        return PAUA_OK;
    if (f != NULL && f->items[f->count - 1]->end_ordinal > group->first_row) return PAUA_OK;
    if (filters_add_stored(l->heap, &l->filters, group->first_row, group->next_row,
                           group->filter) == PAUA_OK)
        return PAUA_OK;
    return error_set_nomem(l->err);
}

static struct archive_group group_of(const struct history_group *g, const struct group_pages *pages)
{
    struct archive_group group = {.first_page = g->first_page,
                                  .first_row = g->first_row,
                                  .next_row = g->first_row + pages->rows,
                                  .file = g->file,
                                  .offset = g->offset,
                                  .end = g->offset + pages->nbytes,
                                  .page_count = g->page_count};

    memcpy(group.heads, g->heads, (size_t)g->page_count * HISTORY_PAGE_HEAD_NBYTES);
    group.has_filter = g->filter.nbytes == sizeof group.filter;
    if (group.has_filter) memcpy(group.filter, g->filter.data, sizeof group.filter);
    return group;
}

static paua_status add_pages(struct loading *l, const struct history_group *g,
                             const struct group_pages *pages, const struct archive_file *file)
{
    struct page_stored stored = {.at = g->offset};
    uint64_t ordinal = g->first_row;
    paua_status status = PAUA_OK;

    for (uint32_t i = 0; i < g->page_count && status == PAUA_OK; i++) {
        const struct stored_page *p = &pages->pages[i];
        const struct page_head head = {.ordinal = ordinal,
                                       .first_id = p->head.first_id,
                                       .last_id = p->last_id,
                                       .first_time = p->head.first_time,
                                       .last_time = p->last_time,
                                       .row_count = p->head.row_count,
                                       .last_soft = p->last_soft && file->file != NULL,
                                       .has_gaps = p->has_gaps};

        ordinal += head.row_count;
        stored.key_at = p->form == STORED_ZSTD_KEYED ? g->offset : 0;
        stored.hash = p->head.hash;
        stored.nbytes = p->nbytes;
        if (ordinal > l->record->first_row)
            status = add(l, &head, file->file == NULL ? NULL : &file->file->store, &stored);
        stored.at += STORED_PAGE_NBYTES + (uint64_t)p->nbytes;
    }
    return status;
}

/* A group that is damaged is passed over: what comes next shows how many rows it had. */
static paua_status take_group(void *arg, uint64_t id, paua_bytes bytes)
{
    struct loading *l = arg;
    struct history_group g;
    struct group_pages pages;
    struct archive_file *file = NULL;
    paua_status status = history_group_decode(bytes.data, bytes.nbytes, &g);

    if (status == PAUA_EVERSION)
        return error_set(l->err, status, CATALOG_NAME ": was written by a newer version of paua");
    if (status != PAUA_OK || CATALOG_ID(g.history, g.first_page) != id ||
        g.history != l->record->history || !read_heads(&g, &pages) || !group_fits(l, &g, &pages))
        return PAUA_OK;
    status = find_file(l, &g, &file);
    if (status == PAUA_OK) status = fill(l, g.first_row);
    if (status == PAUA_OK) status = add_pages(l, &g, &pages, file);
    if (status != PAUA_OK) return status;
    if (file->first_time == 0) file->first_time = pages.pages[0].head.first_time;
    file->nbytes = g.offset + pages.nbytes;
    file->group_count++;
    l->group = group_of(&g, &pages);
    return take_filter(l, &l->group);
}

/* Are all rows of a file before the oldest one that is kept? */
static bool file_has_gone(const struct loading *l, size_t at)
{
    const struct archive *a = l->a;

    if (at + 1 < a->file_count) return a->files[at + 1].first_row <= l->record->first_row;
    return a->group.next_row <= l->record->first_row && a->files[at].number != l->record->file;
}

/* Pages before the last group stay, but those whose rows have all gone, and files likewise. */
static paua_status keep(struct loading *l)
{
    const struct archive *a = l->a;
    const struct paua_history *h = a->history;

    for (size_t i = 0; i < history_page_count(h); i++) {
        struct page *page = h->list->pages[h->list->first + i];

        if (page->ordinal >= a->group.first_row) break;
        if (page->ordinal + page->row_count <= l->record->first_row) continue;
        if (!list_add(l->heap, &l->list, page)) return error_set_nomem(l->err);
        page_ref(page);
        l->next_row = page->ordinal + page->row_count;
        l->next_id = page_last_id(page) + 1;
        l->last_time = page_last_time(page);
        if (page_stored(page) == NULL) l->damaged_rows += page->row_count;
    }
    for (size_t i = 0; i < a->file_count && a->group.page_count > 0; i++) {
        struct archive_file *file = &a->files[i];

        if (file_has_gone(l, i)) continue;
        if (mem_grow((void **)&l->files, &l->file_capacity, l->file_count + 1,
                     sizeof l->files[0]) != 0)
            return error_set_nomem(l->err);
        l->files[l->file_count] = *file;
        if (file->file != NULL) page_store_ref(&file->file->store);
        if (file->number == a->group.file) { /* that group is read again */
            l->files[l->file_count].nbytes = a->group.offset;
            l->files[l->file_count].group_count--;
        }
        l->file_count++;
    }
    return PAUA_OK;
}

static void files_free(struct archive_file *files, size_t count)
{
    for (size_t i = 0; i < count; i++)
        page_file_unref(files[i].file);
    mem_free(files);
}

/* Decodes the tail into the history's, which is empty. PAUA_ECORRUPT: a hole it is. */
static paua_status decode_tail(struct loading *l, const struct history_tail *tail,
                               struct builder *to)
{
    paua_history_scratch *s = heap_scratch(l->heap);
    struct reader r = reader_over(tail->page.data, tail->page.nbytes);
    struct stored_page p;
    const uint8_t *data;
    bool intact;
    paua_status status = s == NULL ? PAUA_ENOMEM : stored_page_decode(&r, &p, &data, &intact);

    if (status != PAUA_OK) return status;
    if (!intact || !p.is_tail || reader_left(&r) != 0 || p.form == STORED_ZSTD_KEYED ||
        tail->first_row + p.head.row_count != l->record->next_row || p.head.first_id < l->next_id ||
        p.head.first_time < l->last_time)
        return PAUA_ECORRUPT;
    scratch_lock(s);
    if (p.form == STORED_ZSTD) {
        status = scratch_unpack(s, data, p.nbytes, NULL, 0, p.head.payload_nbytes, &s->payload);
        data = s->payload.bytes;
    }
    if (status == PAUA_OK && frame_hash(data, p.head.payload_nbytes) != p.head.hash)
        status = PAUA_ECORRUPT;
    if (status == PAUA_OK)
        status = payload_decode(data, p.head.payload_nbytes, p.head.row_count, p.head.first_id,
                                p.head.first_time, to);
    scratch_unlock(s);
    if (status != PAUA_OK) builder_reset(to);
    return status;
}

static paua_status load_tail(struct loading *l, struct catalog *catalog, struct builder *to)
{
    uint64_t first =
        l->record->tail_row > l->record->first_row ? l->record->tail_row : l->record->first_row;
    struct history_tail tail;
    paua_error refused = {.status = PAUA_OK};
    paua_bytes record;
    paua_status status;

    if (first == l->record->next_row) return PAUA_OK;
    status = catalog_get(catalog, TABLE_HISTORY_TAIL, l->record->history, &record, &refused);
    if (status == PAUA_OK) status = history_tail_decode(record.data, record.nbytes, &tail);
    if (status == PAUA_OK && (tail.history != l->record->history || tail.first_row != first ||
                              tail.generation > l->record->generation))
        status = PAUA_ECORRUPT;
    if (status == PAUA_OK) status = decode_tail(l, &tail, to);
    if (status == PAUA_ENOMEM) return error_set_nomem(l->err);
    if (status == PAUA_EVERSION)
        return error_set(l->err, status, CATALOG_NAME ": was written by a newer version of paua");
    if (status == PAUA_ENOTFOUND || status == PAUA_ECORRUPT) return fill(l, l->record->next_row);
    return status == PAUA_OK ? PAUA_OK : error_set(l->err, status, "%s", refused.message);
}

/* Puts what was loaded in the place of what there was. */
static void settle(struct loading *l, struct builder *tail)
{
    const struct history_record *record = l->record;
    struct archive *a = l->a;
    paua_history *h = a->history;
    struct list *old = h->list;

    for (size_t i = 0; i < history_page_count(h); i++) {
        struct page *page = old->pages[old->first + i];

        if (page->ordinal + page->row_count <= record->first_row ||
            page->ordinal >= a->group.first_row)
            page_detach(page);
    }
    h->list = l->list;
    list_unref(old);
    filters_unref(h->filters);
    h->filters = l->filters;
    filters_drop(&h->filters, record->first_row);
    history_forget_tail_copy(h);
    builder_free(&h->tail);
    h->tail = *tail;
    h->page_number = history_page_count(h);
    h->first_ordinal = record->first_row;
    h->next_ordinal = record->next_row;
    h->next_id = record->next_id;
    h->last_time = record->last_time;
    files_free(a->files, a->file_count);
    a->files = l->files;
    a->file_count = l->file_count;
    a->file_capacity = l->file_capacity;
    a->group = l->group;
    a->record = *record;
    a->damaged_rows = l->damaged_rows;
}

paua_status archive_load(struct archive *a, struct catalog *catalog,
                         const struct history_record *record, bool *gone, paua_error *err)
{
    struct loading l = {
        .a = a, .record = record, .heap = a->history->heap, .next_id = 1, .err = err};
    struct builder tail;
    paua_status status;

    builder_init(&tail, l.heap);
    if (a->history->filters != NULL) l.filters = filters_ref(a->history->filters);
    status = keep(&l);
    if (status == PAUA_OK)
        status = catalog_each(catalog, TABLE_HISTORY_GROUP,
                              CATALOG_ID(record->history, a->group.first_page),
                              CATALOG_ID(record->history, CATALOG_LOW_MAX), take_group, &l, err);
    if (status == PAUA_OK) status = fill(&l, record->tail_row);
    if (status == PAUA_OK) status = load_tail(&l, catalog, &tail);
    *gone = l.gone;
    if (status == PAUA_OK) {
        settle(&l, &tail);
        return PAUA_OK;
    }
    list_unref(l.list);
    filters_unref(l.filters);
    files_free(l.files, l.file_count);
    builder_free(&tail);
    return status;
}
