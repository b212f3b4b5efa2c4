/* batch_columns.c - see batch_columns.h. One pass checks everything; what reads afterwards trusts
 * that. Nothing is allocated. */
#include "codec/batch_columns.h"

#define KEY_NBYTES 8u

void batch_columns_begin(struct writer *w, uint32_t count) { writer_u32(w, count); }

void batch_value_put(struct writer *w, bool number, uint64_t key, const void *data, size_t nbytes)
{
    if (number) {
        writer_u64(w, key);
        return;
    }
    writer_varint(w, nbytes);
    writer_bytes(w, data, nbytes);
}

void batch_column_put(struct writer *w, const struct batch_column *column, uint32_t row_count)
{
    writer_u32(w, column->field);
    writer_u8(w, column->number);
    writer_u32(w, column->value_count);
    writer_bytes(w, column->values, column->values_nbytes);
    writer_u8(w, (uint8_t)column->code_nbytes);
    writer_bytes(w, column->codes, (size_t)row_count * column->code_nbytes);
}

void batch_patches_begin(struct writer *w, uint32_t count) { writer_u32(w, count); }

void batch_patch_put(struct writer *w, const struct batch_patch *patch)
{
    writer_u64(w, patch->row);
    writer_u32(w, patch->field);
    writer_u8(w, (uint8_t)patch->kind);
    if (patch->kind == BATCH_PATCH_NULL) return;
    batch_value_put(w, patch->kind == BATCH_PATCH_NUMBER, patch->key, patch->bytes.data,
                    patch->bytes.nbytes);
}

static bool take_value(struct reader *r, bool number, uint64_t *key, paua_bytes *bytes)
{
    uint64_t nbytes;

    if (number) {
        *key = reader_u64(r);
        return !r->short_read;
    }
    nbytes = reader_varint(r);
    if (r->short_read || nbytes > BATCH_VALUE_NBYTES_MAX) return false;
    bytes->data = reader_bytes(r, nbytes);
    bytes->nbytes = (size_t)nbytes;
    return bytes->data != NULL;
}

static bool codes_valid(const struct batch_column *column, uint32_t row_count)
{
    if (column->code_nbytes == 0) return column->value_count >= 1;
    for (uint32_t row = 0; row < row_count; row++)
        if (batch_column_code(column, row) > column->value_count) return false;
    return true;
}

static bool take_column(struct reader *r, uint32_t row_count, struct batch_column *column)
{
    uint8_t number;
    uint64_t key;
    paua_bytes bytes;

    column->field = reader_u32(r);
    number = reader_u8(r);
    column->number = number == 1;
    column->value_count = reader_u32(r);
    if (r->short_read || number > 1 || column->field < 1) return false;
    if (column->value_count > row_count) return false;
    column->values = r->at;
    for (uint32_t i = 0; i < column->value_count; i++)
        if (!take_value(r, column->number, &key, &bytes)) return false;
    column->values_nbytes = (size_t)(r->at - column->values);
    column->code_nbytes = reader_u8(r);
    if (column->code_nbytes == 3 || column->code_nbytes > 4) return false;
    column->codes = reader_bytes(r, (uint64_t)row_count * column->code_nbytes);
    return !r->short_read;
}

static bool take_patch(struct reader *r, struct batch_patch *patch)
{
    uint8_t kind;

    *patch = (struct batch_patch){0};
    patch->row = reader_u64(r);
    patch->field = reader_u32(r);
    kind = reader_u8(r);
    if (r->short_read || kind > BATCH_PATCH_BYTES || patch->field < 1) return false;
    patch->kind = (enum batch_patch_kind)kind;
    if (kind == BATCH_PATCH_NULL) return true;
    return take_value(r, kind == BATCH_PATCH_NUMBER, &patch->key, &patch->bytes);
}

bool batch_columns_valid(const void *bytes, size_t nbytes, uint32_t row_count)
{
    struct reader r = reader_over(bytes, nbytes);
    uint32_t count = reader_u32(&r), last = 0;

    for (uint32_t i = 0; i < count; i++) {
        struct batch_column column;

        if (!take_column(&r, row_count, &column) || column.field <= last) return false;
        if (!codes_valid(&column, row_count)) return false;
        last = column.field;
    }
    count = reader_u32(&r);
    for (uint32_t i = 0; i < count; i++) {
        struct batch_patch patch;

        if (!take_patch(&r, &patch)) return false;
    }
    return !r.short_read && r.at == r.end;
}

void batch_columns_open(struct batch_columns_reader *it, const void *bytes, size_t nbytes,
                        uint32_t row_count)
{
    *it = (struct batch_columns_reader){.r = reader_over(bytes, nbytes), .row_count = row_count};
    if (nbytes > 0) it->left = reader_u32(&it->r);
}

bool batch_columns_next(struct batch_columns_reader *it, struct batch_column *column)
{
    assert(!it->in_patches);
    if (it->left == 0) return false;
    it->left--;
    return take_column(&it->r, it->row_count, column);
}

bool batch_patches_next(struct batch_columns_reader *it, struct batch_patch *patch)
{
    if (!it->in_patches) {
        assert(it->left == 0);
        if (reader_left(&it->r) > 0) it->left = reader_u32(&it->r);
        it->in_patches = true;
    }
    if (it->left == 0) return false;
    it->left--;
    return take_patch(&it->r, patch);
}

void batch_value_next(const struct batch_column *column, size_t *at, uint64_t *key,
                      paua_bytes *bytes)
{
    struct reader r = reader_over(column->values + *at, column->values_nbytes - *at);

    take_value(&r, column->number, key, bytes);
    *at = (size_t)(r.at - column->values);
}

uint32_t batch_column_code(const struct batch_column *column, uint32_t row)
{
    if (column->code_nbytes == 0) return 1;
    return (uint32_t)bytes_get(column->codes + (size_t)row * column->code_nbytes,
                               column->code_nbytes);
}
