/* value_index_write.c - an index of a field's values on its way to a file.
 *
 * The sorted entries (value_order.h) are all the memory there is. For SORTED their rows are written
 * one after the other. For BITMAP the entries of one value become one entry with its first row, the
 * rows up to and with it, and the end of its set, which is written as soon as it is known; the
 * entry takes the place of one that has been read already. So the sets come first in the file, then
 * what was gathered, and last the description, which says how long the sets are. */
#include "index/value_index.h"

#include <assert.h>

#include "base/error.h"
#include "base/memory.h"
#include "codec/rowset.h"
#include "codec/value_index_record.h"
#include "index/sections.h"
#include "index/value_order.h"

#define STEP 1024u /* numbers written at a time */
#define CANCEL_EACH 4096u

/* An entry of BITMAP that is gathered: its key is where its set ends. */
struct writing {
    struct value_order order;
    struct file_writer *file;
    struct file_footer footer;
    struct value_index_record record;
};

/* ---- arrays of what entries hold ---- */

static uint64_t row_of(const struct value_entry *entry) { return entry->row; }
static uint64_t total_of(const struct value_entry *entry) { return entry->total; }
static uint64_t end_of(const struct value_entry *entry) { return entry->key; }

static paua_status begin_section(struct writing *w, enum section_id id, uint64_t nbytes,
                                 paua_error *err)
{
    paua_status status = sections_put(w->file, &w->footer, id, NULL, 0, err);

    if (status == PAUA_OK) w->footer.sections[w->footer.section_count - 1].nbytes = nbytes;
    return status;
}

/* One little-endian number of `width` bytes an entry. */
static paua_status put_numbers(struct writing *w, enum section_id id, size_t width,
                               uint64_t (*number_of)(const struct value_entry *entry),
                               paua_error *err)
{
    uint32_t entries = w->record.entries;
    uint8_t bytes[STEP * sizeof(uint64_t)];
    paua_status status = begin_section(w, id, (uint64_t)entries * width, err);

    for (uint32_t done = 0; status == PAUA_OK && done < entries; done += STEP) {
        uint32_t n = entries - done < STEP ? entries - done : STEP;

        for (uint32_t i = 0; i < n; i++)
            bytes_put(bytes + i * width, number_of(&w->order.entries[done + i]), width);
        status = file_writer_append(w->file, bytes, n * width, err);
    }
    return status;
}

/* ---- sets ---- */

/* Adds the rows of n entries to an empty set; false: out of memory. */
static bool fill_set(roaring_bitmap_t *set, const struct value_entry *entries, uint32_t n)
{
    uint32_t rows[STEP];

    for (uint32_t done = 0; done < n; done += STEP) {
        uint32_t step = n - done < STEP ? n - done : STEP;

        for (uint32_t i = 0; i < step; i++)
            rows[i] = entries[done + i].row;
        roaring_bitmap_add_many(set, step, rows);
    }
    return roaring_bitmap_get_cardinality(set) == n;
}

static paua_status put_set(struct writing *w, const struct value_entry *entries, uint32_t n,
                           struct writer *room, paua_error *err)
{
    roaring_bitmap_t *set = roaring_bitmap_create();
    paua_status status = PAUA_ENOMEM;

    room->length = 0;
    if (set != NULL && fill_set(set, entries, n)) status = rowset_encode(set, room);
    if (set != NULL) roaring_bitmap_free(set);
    if (status != PAUA_OK) return error_set_nomem(err);
    w->record.sets_nbytes += room->length;
    return file_writer_append(w->file, room->bytes, room->length, err);
}

/* One past the last entry that has the value of entry `first`. */
static uint32_t group_end(const struct value_order *order, uint32_t first)
{
    uint32_t end = first + 1;

    while (end < order->count &&
           value_order_same(order, &order->entries[first], &order->entries[end]))
        end++;
    return end;
}

static paua_status gather(struct writing *w, struct writer *room, paua_error *err)
{
    struct value_order *order = &w->order;
    paua_status status = PAUA_OK;

    for (uint32_t first = 0, end; first < order->count; first = end) {
        uint32_t row = order->entries[first].row;

        end = group_end(order, first);
        if (end - first > 1) status = put_set(w, &order->entries[first], end - first, room, err);
        if (status == PAUA_OK && w->record.entries % CANCEL_EACH == 0)
            status = value_order_canceled(order->source, err);
        if (status != PAUA_OK) return status;
        order->entries[w->record.entries++] =
            (struct value_entry){.key = w->record.sets_nbytes, .row = row, .total = end};
    }
    return PAUA_OK;
}

static paua_status put_sets(struct writing *w, paua_error *err)
{
    struct writer room = {0};
    paua_status status = begin_section(w, SECTION_VALUE_SETS, 0, err);
    uint32_t section = w->footer.section_count - 1;

    if (status != PAUA_OK) return status;
    status = gather(w, &room, err);
    w->footer.sections[section].nbytes = w->record.sets_nbytes;
    writer_free(&room);
    return status;
}

/* ---- the file ---- */

static paua_status put_record(struct writing *w, paua_error *err)
{
    struct writer bytes = {0};
    paua_status status =
        value_index_record_encode(&w->record, &bytes) == PAUA_OK
            ? sections_put(w->file, &w->footer, SECTION_VALUE_INDEX, bytes.bytes, bytes.length, err)
            : error_set_nomem(err);

    writer_free(&bytes);
    return status;
}

static paua_status put_all(struct writing *w, paua_error *err)
{
    bool sets = w->record.kind == PAUA_INDEX_BITMAP;
    paua_status status = PAUA_OK;

    if (sets)
        status = put_sets(w, err);
    else
        w->record.entries = w->order.count;
    if (status == PAUA_OK) status = put_numbers(w, SECTION_VALUE_ROWS, 4, row_of, err);
    if (status == PAUA_OK && sets) status = put_numbers(w, SECTION_VALUE_TOTALS, 4, total_of, err);
    if (status == PAUA_OK && sets) status = put_numbers(w, SECTION_VALUE_ENDS, 8, end_of, err);
    return status == PAUA_OK ? put_record(w, err) : status;
}

paua_status value_index_write(struct dir *dir, const struct file_header *header,
                              const struct value_index_source *source, struct file_ref *ref,
                              paua_error *err)
{
    struct writing w = {
        .footer = {.row_count = source->rows},
        .record = {.kind = source->kind, .rows = source->rows, .columns_crc = source->columns_crc}};
    struct file_ref written;
    paua_status status;

    assert(header->kind == FILE_VALUES && source->rows > 0);
    assert(source->kind == PAUA_INDEX_BITMAP || source->kind == PAUA_INDEX_SORTED);
    status = value_order_make(&w.order, source, err);
    if (status == PAUA_OK) status = file_writer_create(dir, header, true, &w.file, err);
    if (status == PAUA_OK) {
        status = put_all(&w, err);
        if (status == PAUA_OK)
            status = sections_seal(dir, w.file, header, &w.footer, &written, err);
        file_writer_close(w.file);
    }
    value_order_free(&w.order);
    if (status == PAUA_OK) *ref = written;
    return status;
}
