/* history_record.c - records of durable histories as stored.
 *
 * Fields of the record "PHIS", version 1:
 *   u32 history, u64 generation, u64 first row, u64 tail's row, u64 next row, u64 next id,
 *   u64 next page, u64 last time, u64 file, u64 its length, u32 number of groups, u64 most rows,
 *   u64 most bytes, u64 most milliseconds, u32 rows a page, name (u8 length and bytes).
 * Of "PHGR": u32 history, u64 first page, u64 first row, u64 file, u64 offset, u32 number of pages,
 *   u32 bytes of the filter, heads of 80 bytes, filter.
 * Of "PHTR": u32 history, u64 generation, u64 first row, the rest a stored page.
 * Encode asserts what decode checks. */
#include "codec/history_record.h"

#include "codec/record.h"
#include "codec/schema.h"

#define HISTORY_MAGIC 0x53494850u /* "PHIS" */
#define GROUP_MAGIC 0x52474850u   /* "PHGR" */
#define TAIL_MAGIC 0x52544850u    /* "PHTR" */
#define VERSION 1u
#define NUMBER_MAX ((UINT64_C(1) << 40) - 1) /* of pages and rows: the low part of an id */
#define OFFSET_MAX (UINT64_C(1) << 62)
#define PAGE_ROWS_MAX 256u

static bool history_valid(const struct history_record *h)
{
    if (h->history < 1) return false;
    if (h->first_row > h->next_row || h->tail_row > h->next_row) return false;
    if (h->next_row > INT64_MAX || h->next_page > NUMBER_MAX) return false;
    if (h->next_id < 1 || h->last_time < 0) return false;
    if ((h->file == 0) != (h->file_nbytes == 0) || h->file_nbytes > OFFSET_MAX) return false;
    if (h->group_count > h->next_page) return false;
    if (h->page_rows < 1 || h->page_rows > PAGE_ROWS_MAX) return false;
    return schema_name_valid(h->name);
}

paua_status history_record_encode(const struct history_record *h, struct writer *w)
{
    assert(history_valid(h));
    record_begin(w, HISTORY_MAGIC, VERSION);
    writer_u32(w, h->history);
    writer_u64(w, h->generation);
    writer_u64(w, h->first_row);
    writer_u64(w, h->tail_row);
    writer_u64(w, h->next_row);
    writer_u64(w, h->next_id);
    writer_u64(w, h->next_page);
    writer_u64(w, (uint64_t)h->last_time);
    writer_u64(w, h->file);
    writer_u64(w, h->file_nbytes);
    writer_u32(w, h->group_count);
    writer_u64(w, h->max_rows);
    writer_u64(w, h->max_nbytes);
    writer_u64(w, h->max_age_ms);
    writer_u32(w, h->page_rows);
    schema_name_put(w, h->name);
    return record_end(w);
}

paua_status history_record_decode(const void *bytes, size_t length, struct history_record *record)
{
    struct history_record h = {0};
    struct reader r;
    paua_status status = record_open(bytes, length, HISTORY_MAGIC, VERSION, &r);

    assert(record != NULL);
    if (status != PAUA_OK) return status;
    h.history = reader_u32(&r);
    h.generation = reader_u64(&r);
    h.first_row = reader_u64(&r);
    h.tail_row = reader_u64(&r);
    h.next_row = reader_u64(&r);
    h.next_id = reader_u64(&r);
    h.next_page = reader_u64(&r);
    h.last_time = (int64_t)reader_u64(&r);
    h.file = reader_u64(&r);
    h.file_nbytes = reader_u64(&r);
    h.group_count = reader_u32(&r);
    h.max_rows = reader_u64(&r);
    h.max_nbytes = reader_u64(&r);
    h.max_age_ms = reader_u64(&r);
    h.page_rows = reader_u32(&r);
    if (!schema_name_take(&r, h.name)) return PAUA_ECORRUPT;
    if (r.short_read || r.at != r.end) return PAUA_ECORRUPT;
    if (!history_valid(&h)) return PAUA_ECORRUPT;

    *record = h;
    return PAUA_OK;
}

static bool group_valid(const struct history_group *g)
{
    if (g->history < 1 || g->file < 1) return false;
    if (g->page_count < 1 || g->page_count > HISTORY_GROUP_PAGES_MAX) return false;
    if (g->first_page > NUMBER_MAX - HISTORY_GROUP_PAGES_MAX) return false;
    if (g->first_row > INT64_MAX || g->offset > OFFSET_MAX) return false;
    return g->filter.nbytes <= HISTORY_FILTER_NBYTES_MAX;
}

paua_status history_group_encode(const struct history_group *g, struct writer *w)
{
    assert(group_valid(g));
    record_begin(w, GROUP_MAGIC, VERSION);
    writer_u32(w, g->history);
    writer_u64(w, g->first_page);
    writer_u64(w, g->first_row);
    writer_u64(w, g->file);
    writer_u64(w, g->offset);
    writer_u32(w, g->page_count);
    writer_u32(w, (uint32_t)g->filter.nbytes);
    writer_bytes(w, g->heads, (size_t)g->page_count * HISTORY_PAGE_HEAD_NBYTES);
    if (g->filter.nbytes > 0) writer_bytes(w, g->filter.data, g->filter.nbytes);
    return record_end(w);
}

paua_status history_group_decode(const void *bytes, size_t length, struct history_group *group)
{
    struct history_group g = {0};
    struct reader r;
    paua_status status = record_open(bytes, length, GROUP_MAGIC, VERSION, &r);

    assert(group != NULL);
    if (status != PAUA_OK) return status;
    g.history = reader_u32(&r);
    g.first_page = reader_u64(&r);
    g.first_row = reader_u64(&r);
    g.file = reader_u64(&r);
    g.offset = reader_u64(&r);
    g.page_count = reader_u32(&r);
    g.filter.nbytes = reader_u32(&r);
    if (r.short_read || !group_valid(&g)) return PAUA_ECORRUPT;
    g.heads = reader_bytes(&r, (uint64_t)g.page_count * HISTORY_PAGE_HEAD_NBYTES);
    if (g.filter.nbytes > 0) g.filter.data = reader_bytes(&r, g.filter.nbytes);
    if (r.short_read || r.at != r.end) return PAUA_ECORRUPT;

    *group = g;
    return PAUA_OK;
}

static bool tail_valid(const struct history_tail *t)
{
    return t->history >= 1 && t->first_row <= INT64_MAX &&
           t->page.nbytes >= HISTORY_PAGE_HEAD_NBYTES;
}

paua_status history_tail_encode(const struct history_tail *t, struct writer *w)
{
    assert(tail_valid(t));
    record_begin(w, TAIL_MAGIC, VERSION);
    writer_u32(w, t->history);
    writer_u64(w, t->generation);
    writer_u64(w, t->first_row);
    writer_bytes(w, t->page.data, t->page.nbytes);
    return record_end(w);
}

paua_status history_tail_decode(const void *bytes, size_t length, struct history_tail *tail)
{
    struct history_tail t = {0};
    struct reader r;
    paua_status status = record_open(bytes, length, TAIL_MAGIC, VERSION, &r);

    assert(tail != NULL);
    if (status != PAUA_OK) return status;
    t.history = reader_u32(&r);
    t.generation = reader_u64(&r);
    t.first_row = reader_u64(&r);
    t.page.nbytes = reader_left(&r);
    t.page.data = reader_bytes(&r, t.page.nbytes);
    if (r.short_read || !tail_valid(&t)) return PAUA_ECORRUPT;

    *tail = t;
    return PAUA_OK;
}
