/* patches_record.c - patches as the catalogue stores them (magic "PPAT").
 *
 *   u32 fields; then for each, ids rising:
 *     u32 field, u32 type, u32 count (at least 1); then for each patch, rows rising:
 *       u32 row, u8 1 or 0 (NULL); unless NULL: u64 key, or u32 length and the bytes
 *
 * Decoding runs over each field's bytes twice, to check and count, and then to fill, so that a list
 * is allocated only after all of it has been seen to be there. */
#include <assert.h>

#include "codec/record.h"
#include "column/patch_list.h"

#define PATCHES_MAGIC UINT32_C(0x54415050) /* "PPAT" */
#define PATCHES_VERSION 1u
#define FIELD_NBYTES_MIN 17u /* with one patch that is NULL */

static void list_encode(const struct patch_list *list, uint32_t type, struct writer *w)
{
    writer_u32(w, list->field);
    writer_u32(w, type);
    writer_u32(w, list->count);
    for (uint32_t i = 0; i < list->count; i++) {
        struct cell cell;

        patch_list_cell(list, i, &cell);
        assert(!cell.present || type_is_number(type) == (cell.data == NULL));
        writer_u32(w, list->rows[i]);
        writer_u8(w, cell.present);
        if (!cell.present) continue;
        if (type_is_number(type)) {
            writer_u64(w, cell.key);
        } else {
            writer_u32(w, (uint32_t)cell.nbytes);
            writer_bytes(w, cell.data, cell.nbytes);
        }
    }
}

paua_status patches_encode(const struct patches *patches, uint32_t (*type_of)(void *, uint32_t),
                           void *arg, struct writer *w)
{
    uint32_t fields = 0;

    for (uint32_t i = 0; patches != NULL && i < patches->count; i++)
        fields += type_of(arg, patches->lists[i]->field) != PAUA_TYPE_NONE;
    record_begin(w, PATCHES_MAGIC, PATCHES_VERSION);
    writer_u32(w, fields);
    for (uint32_t i = 0; fields > 0 && i < patches->count; i++) {
        uint32_t type = type_of(arg, patches->lists[i]->field);

        if (type != PAUA_TYPE_NONE) list_encode(patches->lists[i], type, w);
    }
    return record_end(w);
}

static bool take_cell(struct reader *r, uint32_t type, struct cell *cell)
{
    uint8_t present = reader_u8(r);
    uint32_t length;

    *cell = (struct cell){.present = present == 1};
    if (present == 0) return !r->short_read;
    if (type_is_number(type)) {
        cell->key = reader_u64(r);
        return !r->short_read && present == 1 && value_key_valid(type, cell->key);
    }
    length = reader_u32(r);
    cell->nbytes = length;
    cell->data = reader_bytes(r, length);
    return !r->short_read && present == 1 && value_bytes_valid(type, cell->data, length);
}

/* `count` patches of a type, at the reader. */
static bool take_patches(struct reader *r, uint32_t type, uint32_t count, uint32_t rows,
                         struct patch_maker *maker)
{
    for (uint32_t i = 0, next = 0; i < count; i++) {
        uint32_t row = reader_u32(r);
        struct cell cell;

        if (r->short_read || row < next || row >= rows || !take_cell(r, type, &cell)) return false;
        patch_make_add(maker, row, &cell);
        next = row + 1;
    }
    return true;
}

struct decoding {
    uint32_t rows;
    uint32_t (*type_of)(void *, uint32_t);
    void *arg;
    uint32_t next_field; /* ids are this or more */
};

/* One field; *list becomes NULL if the field was dropped. */
static paua_status take_list(struct reader *r, struct decoding *d, struct patch_list **list)
{
    uint32_t field = reader_u32(r), type = reader_u32(r), count = reader_u32(r), wanted;
    struct patch_maker maker = {0};
    struct reader again = *r;

    if (r->short_read || field < d->next_field || field == UINT32_MAX || count == 0 ||
        !type_valid(type))
        return PAUA_ECORRUPT;
    d->next_field = field + 1;
    if (!take_patches(r, type, count, d->rows, &maker)) return PAUA_ECORRUPT;
    wanted = d->type_of(d->arg, field);
    *list = NULL;
    if (wanted == PAUA_TYPE_NONE) return PAUA_OK;
    if (wanted != type) return PAUA_ECORRUPT;
    if (!patch_make_list(&maker, field)) return PAUA_ENOMEM;
    take_patches(&again, type, count, d->rows, &maker);
    *list = maker.list;
    return PAUA_OK;
}

paua_status patches_decode(const void *bytes, size_t nbytes, uint32_t rows,
                           uint32_t (*type_of)(void *, uint32_t), void *arg,
                           struct patches **patches)
{
    struct decoding d = {.rows = rows, .type_of = type_of, .arg = arg};
    struct patches *draft;
    struct reader r;
    paua_status status = record_open(bytes, nbytes, PATCHES_MAGIC, PATCHES_VERSION, &r);
    uint32_t fields;

    if (status != PAUA_OK) return status;
    fields = reader_u32(&r);
    if (r.short_read || fields > reader_left(&r) / FIELD_NBYTES_MIN) return PAUA_ECORRUPT;
    draft = patches_new(fields);
    if (draft == NULL) return PAUA_ENOMEM;
    for (uint32_t i = 0; i < fields && status == PAUA_OK; i++) {
        struct patch_list *list = NULL;

        status = take_list(&r, &d, &list);
        patches_add(draft, list);
    }
    if (status == PAUA_OK && r.at != r.end) status = PAUA_ECORRUPT;
    if (status != PAUA_OK) {
        patches_unref(draft);
        return status;
    }
    *patches = patches_done(draft);
    return PAUA_OK;
}
