/* save.c - adding to a history that is stored: pages to its file, the tail to the catalogue.
 *
 * A save has three steps, so that no file is written under SQLite's write lock:
 *   begin   sealed pages that are in no file are compressed, appended and synced. What lies behind
 *           the committed length of a file is nobody's, so nothing has changed yet
 *   put     one transaction: groups that are new or have grown, the tail as it is now, and the
 *           history's record; groups of files that retention drops go
 *   end     the archive becomes what the catalogue says, and the pages' memory is given back
 *
 * The tail is put as a whole each time. It is one page at most, some KiB compressed, and SQLite
 * writes whole pages whatever the length of a record; in return reopening is one decode, and a
 * reader needs no more than the newest record.
 * Up to eight pages share a key and a record. A file is followed by another one only between
 * groups, so no page needs two files. The newest page stays hot in memory.
 * Cost: a page 0.1 to 0.4 ms to compress; a tail 0.05 ms. */
#include <string.h>

#include "archive/archive.h"
#include "base/error.h"
#include "base/memory.h"
#include "history/payload.h"

#define WRITE_NBYTES 262144u
#define TAIL_LEVEL 3

struct saved_page {
    struct page *page; /* one reference */
    struct page_file *file;
    struct page_stored stored;
};

struct archive_save {
    struct archive *a;
    const struct archive_save_opts *opts;
    paua_history_scratch *scratch;
    struct history_record record; /* as it will be */
    struct saved_page *pages;
    size_t page_count, page_capacity;
    struct archive_group *groups; /* new or grown, oldest first; pages are added to the last */
    size_t group_count, group_capacity;
    struct archive_file *files; /* new, oldest first */
    size_t file_count, file_capacity;
    struct page_file *file; /* that pages are added to; borrowed */
    struct frame *key;      /* of the last group; NULL: none */
    struct writer out;      /* bytes of the file from out_at on */
    uint64_t out_at;
    struct writer tail;
    size_t drop_count; /* files of the archive, the oldest ones */
    paua_error *err;
};

static paua_status flush(struct archive_save *s)
{
    paua_status status;

    if (s->out.failed) return error_set_nomem(s->err);
    if (s->out.length == 0) return PAUA_OK;
    status = fd_pwrite(s->file->fd, s->file->name, s->out.bytes, s->out.length, s->out_at, s->err);
    s->out_at += s->out.length;
    s->out.length = 0;
    return status;
}

static paua_status sync_file(struct archive_save *s)
{
    paua_status status = flush(s);

    if (status != PAUA_OK || !s->opts->sync || s->file == NULL || s->page_count == 0) return status;
    return dir_sync_file(s->a->dir, s->file->fd, s->file->name, s->err);
}

/* A new file, for the page that comes next. */
static paua_status next_file(struct archive_save *s, const struct page *page)
{
    uint64_t number = 0;
    struct page_file *file = NULL;
    paua_status status = sync_file(s);

    if (status == PAUA_OK &&
        mem_grow((void **)&s->files, &s->file_capacity, s->file_count + 1, sizeof s->files[0]) != 0)
        status = error_set_nomem(s->err);
    if (status == PAUA_OK) status = s->opts->file_number(s->opts->arg, &number, s->err);
    if (status == PAUA_OK)
        status =
            page_file_make(s->a->dir, s->record.history, s->record.name, number, &file, s->err);
    if (status != PAUA_OK) return status;
    s->files[s->file_count++] = (struct archive_file){.number = number,
                                                      .file = file,
                                                      .first_page = s->record.next_page,
                                                      .first_row = page->ordinal,
                                                      .first_time = page_first_time(page)};
    s->file = file;
    s->out_at = PAGES_BEGIN;
    s->record.file = number;
    s->record.file_nbytes = PAGES_BEGIN;
    return PAUA_OK;
}

/* Has the file at hand as many bytes, or rows, or is it as old, as retention wants of one? */
static bool file_is_full(const struct archive_save *s, const struct page *page)
{
    const struct history_record *r = &s->record;
    const struct archive *a = s->a;
    const struct archive_file *file = s->file_count > 0   ? &s->files[s->file_count - 1]
                                      : a->file_count > 0 ? &a->files[a->file_count - 1]
                                                          : NULL;
    uint64_t nbytes = s->opts->file_nbytes;

    if (s->file == NULL || file == NULL || file->number != s->file->number) return s->file == NULL;
    if (r->max_nbytes > 0 && r->max_nbytes / 8 < nbytes) nbytes = r->max_nbytes / 8;
    if (r->file_nbytes >= nbytes && r->file_nbytes > PAGES_BEGIN) return true;
    if (r->max_rows > 0 && page->ordinal - file->first_row >= r->max_rows / 4 &&
        page->ordinal - file->first_row >= HISTORY_GROUP_PAGES_MAX * (uint64_t)r->page_rows)
        return true;
    return r->max_age_ms > 0 && file->first_time > 0 &&
           (uint64_t)(page_first_time(page) - file->first_time) >= r->max_age_ms / 4 + 1;
}

static struct archive_group *last_group(struct archive_save *s)
{
    return s->group_count == 0 ? NULL : &s->groups[s->group_count - 1];
}

static paua_status next_group(struct archive_save *s, const struct page *page)
{
    struct archive_group *g;
    paua_status status = file_is_full(s, page) ? next_file(s, page) : PAUA_OK;

    if (status != PAUA_OK) return status;
    if (mem_grow((void **)&s->groups, &s->group_capacity, s->group_count + 1,
                 sizeof s->groups[0]) != 0)
        return error_set_nomem(s->err);
    g = &s->groups[s->group_count++];
    *g = (struct archive_group){.first_page = s->record.next_page,
                                .first_row = page->ordinal,
                                .next_row = page->ordinal,
                                .file = s->record.file,
                                .offset = s->record.file_nbytes,
                                .end = s->record.file_nbytes};
    frame_unref(s->key);
    s->key = NULL;
    s->record.group_count++;
    return PAUA_OK;
}

/* The group that a page goes to: the last one, or a new one. */
static paua_status settle_group(struct archive_save *s, const struct page *page)
{
    const struct archive_group *g = last_group(s);

    if (g != NULL && g->page_count < HISTORY_GROUP_PAGES_MAX && g->next_row == page->ordinal)
        return PAUA_OK;
    return next_group(s, page);
}

/* Appends the head and bytes of a block to s->out; stores its head's fields. */
static paua_status put_block(struct archive_save *s, const struct block *b, uint32_t distance,
                             struct stored_page *stored)
{
    struct heap *heap = s->a->history->heap;
    struct frame *frame = NULL;
    paua_status status = frame_make(s->scratch, heap, b, s->key, &frame);

    if (status == PAUA_ECORRUPT) { /* the key cannot be read back; later pages do without too */
        frame_unref(s->key);
        s->key = NULL;
        status = frame_make(s->scratch, heap, b, NULL, &frame);
    }
    if (status == PAUA_OK) {
        stored->form = frame->key != NULL ? STORED_ZSTD_KEYED : STORED_ZSTD;
        stored->key_distance = frame->key != NULL ? distance : 0;
        stored->nbytes = frame->nbytes;
        stored->head.hash = frame->hash;
        stored->head.payload_nbytes = frame->payload_nbytes;
        stored_page_encode(stored, frame->bytes, &s->out);
        if (distance == 0) s->key = frame_ref(frame);
    } else if (status == PAUA_ENOSPACE) {
        scratch_lock(s->scratch);
        status = frame_payload(s->scratch, b, 0);
        if (status == PAUA_OK) {
            stored->form = STORED_PLAIN;
            stored->nbytes = stored->head.payload_nbytes = (uint32_t)s->scratch->payload.length;
            stored->head.hash = frame_hash(s->scratch->payload.bytes, stored->nbytes);
            stored_page_encode(stored, s->scratch->payload.bytes, &s->out);
        }
        scratch_unlock(s->scratch);
    }
    frame_unref(frame);
    return status == PAUA_OK && !s->out.failed ? PAUA_OK : error_set_nomem(s->err);
}

static struct stored_page head_of(const struct block *b, uint32_t first)
{
    struct stored_page stored = {.last_soft = block_soft(b, b->row_count - 1),
                                 .last_id = block_id(b, b->row_count - 1),
                                 .last_time = block_time(b, b->row_count - 1),
                                 .head = {.first_id = block_id(b, first),
                                          .first_time = block_time(b, first),
                                          .row_count = b->row_count - first}};

    stored.has_gaps = stored.last_id - stored.head.first_id != stored.head.row_count - 1u;
    return stored;
}

static paua_status save_block(struct archive_save *s, struct page *page, const struct block *b)
{
    struct stored_page stored = head_of(b, 0);
    struct archive_group *g = last_group(s);
    struct saved_page *saved;
    size_t begin = s->out.length;
    paua_status status = put_block(s, b, g->page_count, &stored);

    if (status != PAUA_OK) return status;
    if (mem_grow((void **)&s->pages, &s->page_capacity, s->page_count + 1, sizeof s->pages[0]) != 0)
        return error_set_nomem(s->err);
    saved = &s->pages[s->page_count++];
    *saved = (struct saved_page){.page = page_ref(page), .file = s->file};
    saved->stored = (struct page_stored){.at = g->end,
                                         .key_at = stored.form == STORED_ZSTD_KEYED ? g->offset : 0,
                                         .hash = stored.head.hash,
                                         .nbytes = stored.nbytes};
    memcpy(g->heads + (size_t)g->page_count * HISTORY_PAGE_HEAD_NBYTES, s->out.bytes + begin,
           HISTORY_PAGE_HEAD_NBYTES);
    g->page_count++;
    g->next_row += b->row_count;
    g->end += STORED_PAGE_NBYTES + (uint64_t)stored.nbytes;
    s->record.file_nbytes = g->end;
    s->record.next_page++;
    if (s->file_count > 0) s->files[s->file_count - 1].nbytes = g->end;
    return s->out.length >= WRITE_NBYTES ? flush(s) : PAUA_OK;
}

/* The filter of a group that list->pages[at] has made full, if its pages are all there. */
static paua_status save_filter(struct archive_save *s, size_t at)
{
    const struct list *list = s->a->history->list;
    struct archive_group *g = last_group(s);
    struct filters *made = NULL;
    struct page *const *pages;

    if (g->page_count < HISTORY_GROUP_PAGES_MAX || at + 1 - list->first < HISTORY_GROUP_PAGES_MAX)
        return PAUA_OK;
    pages = list->pages + at + 1 - HISTORY_GROUP_PAGES_MAX;
    if (pages[0]->ordinal != g->first_row) return PAUA_OK;
    if (filters_add(s->a->history->heap, &made, pages, HISTORY_GROUP_PAGES_MAX) != PAUA_OK)
        return error_set_nomem(s->err);
    memcpy(g->filter, made->items[0]->bits, sizeof g->filter);
    g->has_filter = true;
    filters_unref(made);
    return PAUA_OK;
}

static paua_status save_page(struct archive_save *s, size_t at)
{
    struct page *page = s->a->history->list->pages[at];
    struct block *b = NULL;
    paua_status status = page_pin(page, false, &b);

    if (status == PAUA_ECORRUPT) return PAUA_OK; /* it becomes a hole */
    if (status != PAUA_OK) return error_set_nomem(s->err);
    status = settle_group(s, page);
    if (status == PAUA_OK) status = save_block(s, page, b);
    if (status == PAUA_OK) status = save_filter(s, at);
    block_unref(b);
    return status;
}

/* Goes on with the archive's last group and its file. */
static paua_status take_up(struct archive_save *s)
{
    struct archive *a = s->a;
    struct archive_file *file = a->file_count == 0 ? NULL : &a->files[a->file_count - 1];

    if (file == NULL || file->file == NULL || file->number != s->record.file) return PAUA_OK;
    if (!file->file->writable) {
        struct page_file *writable;
        paua_status status =
            page_file_open(a->dir, s->record.history, file->number, true, &writable, NULL);

        if (status == PAUA_ENOMEM) return error_set_nomem(s->err);
        if (status != PAUA_OK) return PAUA_OK; /* another file will do */
        page_file_unref(file->file);
        file->file = writable;
    }
    s->file = file->file;
    s->out_at = s->record.file_nbytes;
    if (a->group.page_count == 0 || a->group.file != file->number ||
        a->group.end != s->record.file_nbytes)
        return PAUA_OK;
    if (mem_grow((void **)&s->groups, &s->group_capacity, 1, sizeof s->groups[0]) != 0)
        return error_set_nomem(s->err);
    s->groups[s->group_count++] = a->group;
    if (page_file_key(s->file, a->history->heap, s->scratch, a->group.offset, &s->key) ==
        PAUA_ENOMEM)
        return error_set_nomem(s->err);
    return PAUA_OK;
}

static paua_status save_pages(struct archive_save *s)
{
    const paua_history *h = s->a->history;
    size_t at = h->list == NULL ? 0 : h->list->end;
    paua_status status;

    while (at > 0 && at > h->list->first && h->list->pages[at - 1]->ordinal >= s->record.tail_row)
        at--;
    if (h->list == NULL || at == h->list->end) return PAUA_OK;
    status = take_up(s);
    for (; at < h->list->end && status == PAUA_OK; at++)
        status = save_page(s, at);
    return status == PAUA_OK ? sync_file(s) : status;
}

/* The tail's record, if it has rows. */
static paua_status encode_tail(struct archive_save *s)
{
    paua_history *h = s->a->history;
    struct history_tail tail = {.history = s->record.history,
                                .generation = s->record.generation,
                                .first_row = s->record.tail_row};
    struct writer page = {0};
    struct stored_page stored;
    const struct block *b;
    paua_status status;

    if (history_tail_rows(h) == 0) return PAUA_OK;
    b = history_tail_block(h);
    if (b == NULL) return error_set_nomem(s->err);
    stored = head_of(b, 0);
    stored.is_tail = true;
    scratch_lock(s->scratch);
    status = frame_payload(s->scratch, b, 0);
    if (status == PAUA_OK) {
        const struct writer *payload = &s->scratch->payload, *packed = &s->scratch->packed;

        stored.head.payload_nbytes = (uint32_t)payload->length;
        stored.head.hash = frame_hash(payload->bytes, payload->length);
        status = scratch_pack(s->scratch, payload->bytes, payload->length, NULL, 0, TAIL_LEVEL);
        stored.form = status == PAUA_OK ? STORED_ZSTD : STORED_PLAIN;
        stored.nbytes = (uint32_t)(status == PAUA_OK ? packed->length : payload->length);
        if (status == PAUA_OK || status == PAUA_ENOSPACE)
            stored_page_encode(&stored, status == PAUA_OK ? packed->bytes : payload->bytes, &page);
        if (status == PAUA_ENOSPACE) status = PAUA_OK;
    }
    scratch_unlock(s->scratch);
    tail.page = (paua_bytes){page.bytes, page.length};
    if (status == PAUA_OK && !page.failed) status = history_tail_encode(&tail, &s->tail);
    if (page.failed) status = PAUA_ENOMEM;
    writer_free(&page);
    return status == PAUA_OK ? PAUA_OK : error_set_nomem(s->err);
}

/* Records of groups that go with a file, those that this save has just added to it among them. */
static uint32_t groups_of(const struct archive_save *s, const struct archive_file *file)
{
    uint32_t count = file->group_count;

    for (size_t i = 0; i < s->group_count; i++)
        count +=
            s->groups[i].file == file->number && s->groups[i].first_page >= s->a->record.next_page;
    return count < s->record.group_count ? count : s->record.group_count;
}

/* Counts the oldest files that are not needed, and moves the first row behind those that are too
 * many bytes. The last file stays: pages are added to it. */
static void retire(struct archive_save *s)
{
    const struct archive *a = s->a;
    struct history_record *r = &s->record;
    uint64_t nbytes = archive_nbytes(a);
    uint64_t max = s->opts->limits != NULL ? s->opts->limits->max_nbytes : r->max_nbytes;
    size_t count = a->file_count + s->file_count;

    if (s->file_count == 0 && a->file_count > 0) nbytes += r->file_nbytes - a->record.file_nbytes;
    for (size_t i = 0; i < s->file_count; i++)
        nbytes += s->files[i].nbytes;
    for (size_t i = 0; i + 1 < count && i < a->file_count; i++) {
        uint64_t next_row = i + 1 < a->file_count ? a->files[i + 1].first_row
                                                  : s->files[i + 1 - a->file_count].first_row;

        if (next_row > r->first_row && (max == 0 || nbytes <= max)) break;
        if (next_row > r->first_row) r->first_row = next_row;
        nbytes -= a->files[i].nbytes;
        s->drop_count = i + 1;
    }
    for (size_t i = 0; i < s->drop_count; i++)
        r->group_count -= groups_of(s, &a->files[i]);
    if (!s->opts->drop_all || r->first_row < r->tail_row || s->page_count > 0) return;
    s->drop_count = a->file_count;
    r->file = 0;
    r->file_nbytes = 0;
    r->group_count = 0;
}

/* Nothing may fail after the commit. */
static paua_status reserve(struct archive_save *s)
{
    struct archive *a = s->a;

    if (mem_grow((void **)&a->files, &a->file_capacity, a->file_count + s->file_count,
                 sizeof a->files[0]) != 0 ||
        mem_grow((void **)&a->dropped, &a->dropped_capacity, a->dropped_count + s->drop_count,
                 sizeof a->dropped[0]) != 0)
        return error_set_nomem(s->err);
    return PAUA_OK;
}

paua_status archive_save_begin(struct archive *a, const struct archive_save_opts *opts,
                               struct archive_save **save, paua_error *err)
{
    struct archive_save *s = mem_zalloc(1, sizeof *s);
    paua_history *h = a->history;
    paua_status status;

    if (s == NULL) return error_set_nomem(err);
    *s = (struct archive_save){.a = a, .opts = opts, .record = a->record, .err = err};
    *save = s;
    s->scratch = heap_scratch(h->heap);
    if (s->scratch == NULL) return error_set_nomem(err);
    s->record.generation++;
    status = save_pages(s);
    if (status != PAUA_OK) return status;
    s->record.first_row = h->first_ordinal;
    s->record.tail_row = history_tail_ordinal(h);
    s->record.next_row = h->next_ordinal;
    s->record.next_id = h->next_id;
    s->record.last_time = h->last_time;
    retire(s);
    status = encode_tail(s);
    return status == PAUA_OK ? reserve(s) : status;
}

static paua_status put_group(const struct archive_save *s, struct catalog *catalog,
                             const struct archive_group *g, paua_error *err)
{
    const struct history_group group = {
        .history = s->record.history,
        .first_page = g->first_page,
        .first_row = g->first_row,
        .file = g->file,
        .offset = g->offset,
        .page_count = g->page_count,
        .heads = g->heads,
        .filter = {g->has_filter ? g->filter : NULL, g->has_filter ? sizeof g->filter : 0}};
    struct writer w = {0};
    paua_status status = history_group_encode(&group, &w);

    status = status == PAUA_OK
                 ? catalog_put(catalog, TABLE_HISTORY_GROUP,
                               CATALOG_ID(s->record.history, g->first_page), w.bytes, w.length, err)
                 : error_set_nomem(err);
    writer_free(&w);
    return status;
}

paua_status archive_put_record(struct catalog *catalog, const struct history_record *record,
                               paua_error *err)
{
    struct writer w = {0};
    paua_status status = history_record_encode(record, &w);

    status = status == PAUA_OK
                 ? catalog_put(catalog, TABLE_HISTORY, record->history, w.bytes, w.length, err)
                 : error_set_nomem(err);
    writer_free(&w);
    return status;
}

/* Takes out the groups of the files that go. */
static paua_status drop_groups(const struct archive_save *s, struct catalog *catalog,
                               paua_error *err)
{
    const struct archive *a = s->a;
    uint64_t end;

    if (s->drop_count == 0) return PAUA_OK;
    if (s->drop_count < a->file_count)
        end = a->files[s->drop_count].first_page;
    else
        end = s->file_count > 0 ? s->files[0].first_page : s->record.next_page;
    if (end == 0) return PAUA_OK;
    return catalog_delete(catalog, TABLE_HISTORY_GROUP, CATALOG_ID(s->record.history, 0),
                          CATALOG_ID(s->record.history, end - 1), err);
}

paua_status archive_save_put(struct archive_save *s, struct catalog *catalog, paua_error *err)
{
    uint32_t history = s->record.history;
    paua_status status = PAUA_OK;

    for (size_t i = 0; i < s->group_count && status == PAUA_OK; i++)
        if (s->page_count > 0) status = put_group(s, catalog, &s->groups[i], err);
    if (status == PAUA_OK) status = drop_groups(s, catalog, err);
    if (status == PAUA_OK)
        status = s->tail.length > 0
                     ? catalog_put(catalog, TABLE_HISTORY_TAIL, history, s->tail.bytes,
                                   s->tail.length, err)
                     : catalog_delete(catalog, TABLE_HISTORY_TAIL, history, history, err);
    return status == PAUA_OK ? archive_put_record(catalog, &s->record, err) : status;
}

static struct archive_file *find_file(struct archive *a, uint64_t number)
{
    for (size_t i = a->file_count; i-- > 0;)
        if (a->files[i].number == number) return &a->files[i];
    return NULL;
}

static void adopt_files(struct archive_save *s)
{
    struct archive *a = s->a;

    for (size_t i = 0; i < s->drop_count; i++) {
        a->dropped[a->dropped_count++] = a->files[i].number;
        page_file_unref(a->files[i].file);
    }
    a->file_count -= s->drop_count;
    if (a->file_count > 0)
        memmove(a->files, a->files + s->drop_count, a->file_count * sizeof a->files[0]);
    for (size_t i = 0; i < s->file_count; i++)
        a->files[a->file_count++] = s->files[i];
    s->file_count = 0;
    for (size_t i = 0; i < s->group_count && s->page_count > 0; i++) {
        struct archive_file *file = find_file(a, s->groups[i].file);

        if (file == NULL) continue;
        file->nbytes = s->groups[i].end;
        file->group_count += s->groups[i].first_page >= a->record.next_page;
    }
}

/* The archive is what has been committed. */
static void adopt(struct archive_save *s)
{
    struct archive *a = s->a;
    paua_history *h = a->history;

    for (size_t i = 0; i < s->page_count; i++) {
        struct saved_page *saved = &s->pages[i];

        page_store_away(saved->page, &saved->file->store, &saved->stored,
                        saved->page == h->list->pages[h->list->end - 1]);
    }
    if (s->page_count > 0) a->group = *last_group(s);
    if (s->record.file == 0) a->group = (struct archive_group){.page_count = 0};
    adopt_files(s);
    a->record = s->record;
    history_evict_to(h, a->record.first_row);
}

void archive_save_end(struct archive_save *s, enum archive_outcome outcome)
{
    if (s == NULL) return;
    if (outcome == ARCHIVE_COMMITTED) adopt(s);
    for (size_t i = 0; i < s->file_count; i++) {
        if (outcome == ARCHIVE_FAILED) dir_unlink(s->a->dir, s->files[i].file->name, NULL);
        page_file_unref(s->files[i].file);
    }
    for (size_t i = 0; i < s->page_count; i++)
        page_unref(s->pages[i].page);
    frame_unref(s->key);
    writer_free(&s->out);
    writer_free(&s->tail);
    mem_free(s->pages);
    mem_free(s->groups);
    mem_free(s->files);
    mem_free(s);
}
