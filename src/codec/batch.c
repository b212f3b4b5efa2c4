/* batch.c - one committed write as stored. The layout is in batch.h.
 *
 * Variable parts stay where they are: a decoded batch points into its record, so decoding allocates
 * nothing and costs one pass over the keys and lengths. Each count is compared with the bytes that
 * are there before it is used. Encode asserts what decode checks, with the same code. */
#include "codec/batch.h"

#include "base/utf8.h"
#include "codec/record.h"

#define MAGIC 0x54414250u /* "PBAT" */
#define VERSION 1u
#define VERSION_COLUMNS 2u
#define AT_VERSION 4u
#define LENGTH_NBYTES 4u
#define ROW_ID_NBYTES 8u

void batch_put_key(struct writer *w, paua_key_kind kind, const paua_key *key)
{
    if (kind == PAUA_KEY_U64) writer_u64(w, key->u64);
    if (kind != PAUA_KEY_STRING) return;
    assert(key->bytes.nbytes >= 1 && key->bytes.nbytes <= PAUA_KEY_NBYTES_MAX);
    writer_u16(w, (uint16_t)key->bytes.nbytes);
    writer_bytes(w, key->bytes.data, key->bytes.nbytes);
}

static bool extent_valid(const struct extent *extent)
{
    return extent->nbytes <= UINT64_MAX - extent->offset;
}

static bool numbers_valid(const struct batch *batch)
{
    if (batch->collection < 1 || batch->sequence < 1) return false;
    if (batch->durable_sequence > batch->sequence) return false;
    if (batch->row_count > UINT64_MAX - batch->first_row) return false;
    if (batch->key_kind > PAUA_KEY_VECTOR) return false;
    if (batch->field_count > PAUA_VECTOR_FIELDS_MAX) return false;
    for (uint32_t i = 0; i < batch->field_count; i++)
        if (!extent_valid(&batch->vectors[i])) return false;
    return extent_valid(&batch->heap);
}

/* Moves r past the keys of row_count rows; false if one breaks the rules or bytes are missing. */
static bool skip_keys(struct reader *r, paua_key_kind kind, uint32_t row_count)
{
    if (kind == PAUA_KEY_VECTOR) return true;
    if (kind == PAUA_KEY_U64) return reader_bytes(r, (uint64_t)row_count * 8) != NULL;
    for (uint32_t i = 0; i < row_count; i++) {
        uint16_t nbytes = reader_u16(r);
        const uint8_t *key = reader_bytes(r, nbytes);

        if (key == NULL || nbytes < 1 || nbytes > PAUA_KEY_NBYTES_MAX) return false;
        if (utf8_valid_prefix(key, nbytes) != nbytes) return false;
    }
    return true;
}

static bool lengths_valid(const struct batch *batch)
{
    uint64_t total = 0;

    if (!batch->has_documents) return batch->heap.nbytes == 0;
    for (uint32_t row = 0; row < batch->row_count; row++) {
        uint32_t nbytes = batch_document_length(batch, row);

        if (nbytes == BATCH_NO_DOCUMENT) continue;
        if (nbytes > PAUA_DOCUMENT_NBYTES_MAX) return false;
        total += nbytes;
    }
    return total == batch->heap.nbytes;
}

static bool deletes_valid(const struct batch *batch)
{
    for (uint32_t i = 1; i < batch->delete_count; i++)
        if (batch_delete(batch, i) <= batch_delete(batch, i - 1)) return false;
    return true;
}

static void put_extent(struct writer *w, const struct extent *extent)
{
    writer_u64(w, extent->offset);
    writer_u64(w, extent->nbytes);
    writer_u32(w, extent->crc);
}

paua_status batch_encode(const struct batch *batch, struct writer *w)
{
    struct reader keys = reader_over(batch->keys, batch->keys_nbytes);
    bool keys_valid = skip_keys(&keys, batch->key_kind, batch->row_count) && keys.at == keys.end;

    assert(numbers_valid(batch) && keys_valid);
    assert(lengths_valid(batch) && deletes_valid(batch));
    (void)keys_valid;
    record_begin(w, MAGIC, batch->columns.data == NULL ? VERSION : VERSION_COLUMNS);
    writer_u32(w, batch->collection);
    writer_u64(w, batch->sequence);
    writer_u64(w, batch->durable_sequence);
    writer_u64(w, batch->first_row);
    writer_u32(w, batch->row_count);
    writer_u32(w, batch->delete_count);
    writer_u8(w, (uint8_t)batch->key_kind);
    writer_u8(w, batch->has_documents);
    writer_u8(w, (uint8_t)batch->field_count);
    writer_u8(w, 0);
    for (uint32_t i = 0; i < batch->field_count; i++)
        put_extent(w, &batch->vectors[i]);
    if (batch->has_documents) put_extent(w, &batch->heap);
    writer_bytes(w, batch->keys, batch->keys_nbytes);
    if (batch->has_documents)
        writer_bytes(w, batch->lengths, (size_t)batch->row_count * LENGTH_NBYTES);
    writer_bytes(w, batch->deletes, (size_t)batch->delete_count * ROW_ID_NBYTES);
    if (batch->columns.data != NULL) {
        writer_u32(w, (uint32_t)batch->columns.nbytes);
        writer_bytes(w, batch->columns.data, batch->columns.nbytes);
    }
    return record_end(w);
}

static struct extent take_extent(struct reader *r)
{
    struct extent extent;

    extent.offset = reader_u64(r);
    extent.nbytes = reader_u64(r);
    extent.crc = reader_u32(r);
    return extent;
}

/* The fields of fixed length. False if a flag, a kind or a count is out of range. */
static bool take_numbers(struct reader *r, struct batch *batch)
{
    uint8_t has_documents;

    batch->collection = reader_u32(r);
    batch->sequence = reader_u64(r);
    batch->durable_sequence = reader_u64(r);
    batch->first_row = reader_u64(r);
    batch->row_count = reader_u32(r);
    batch->delete_count = reader_u32(r);
    batch->key_kind = (paua_key_kind)reader_u8(r);
    has_documents = reader_u8(r);
    batch->has_documents = has_documents == 1;
    batch->field_count = reader_u8(r);
    if (has_documents > 1 || reader_u8(r) != 0) return false;
    if (batch->field_count > PAUA_VECTOR_FIELDS_MAX) return false;
    for (uint32_t i = 0; i < batch->field_count; i++)
        batch->vectors[i] = take_extent(r);
    if (batch->has_documents) batch->heap = take_extent(r);
    return !r->short_read && numbers_valid(batch);
}

static bool has_columns(const uint8_t *bytes, size_t length)
{
    return length >= RECORD_HEADER_NBYTES && bytes_get(bytes + AT_VERSION, 2) == VERSION_COLUMNS;
}

static bool take_columns(struct reader *r, struct batch *batch)
{
    batch->columns.nbytes = reader_u32(r);
    batch->columns.data = reader_bytes(r, batch->columns.nbytes);
    return batch->columns.data != NULL &&
           batch_columns_valid(batch->columns.data, batch->columns.nbytes, batch->row_count);
}

paua_status batch_decode(const void *bytes, size_t length, struct batch *batch)
{
    struct batch draft = {0};
    struct reader r;
    bool columns = has_columns(bytes, length);
    paua_status status = record_open(bytes, length, MAGIC, columns ? VERSION_COLUMNS : VERSION, &r);

    assert(batch != NULL);
    if (status != PAUA_OK) return status;
    if (!take_numbers(&r, &draft)) return PAUA_ECORRUPT;
    draft.keys = r.at;
    if (!skip_keys(&r, draft.key_kind, draft.row_count)) return PAUA_ECORRUPT;
    draft.keys_nbytes = (size_t)(r.at - draft.keys);
    if (draft.has_documents)
        draft.lengths = reader_bytes(&r, (uint64_t)draft.row_count * LENGTH_NBYTES);
    if (draft.delete_count > 0)
        draft.deletes = reader_bytes(&r, (uint64_t)draft.delete_count * ROW_ID_NBYTES);
    if (columns && !take_columns(&r, &draft)) return PAUA_ECORRUPT;
    if (r.short_read || r.at != r.end) return PAUA_ECORRUPT;
    if (!lengths_valid(&draft) || !deletes_valid(&draft)) return PAUA_ECORRUPT;

    *batch = draft;
    return PAUA_OK;
}

paua_key batch_next_key(const struct batch *batch, size_t *at)
{
    paua_key key = {0};

    assert(*at <= batch->keys_nbytes);
    if (batch->key_kind == PAUA_KEY_U64) {
        key.u64 = bytes_get(batch->keys + *at, 8);
        *at += 8;
    } else if (batch->key_kind == PAUA_KEY_STRING) {
        key.bytes.nbytes = (size_t)bytes_get(batch->keys + *at, 2);
        key.bytes.data = batch->keys + *at + 2;
        *at += 2 + key.bytes.nbytes;
    }
    return key;
}

uint32_t batch_document_length(const struct batch *batch, uint32_t row)
{
    assert(row < batch->row_count);
    if (batch->lengths == NULL) return BATCH_NO_DOCUMENT;
    return (uint32_t)bytes_get(batch->lengths + (size_t)row * LENGTH_NBYTES, LENGTH_NBYTES);
}

uint64_t batch_delete(const struct batch *batch, uint32_t index)
{
    assert(index < batch->delete_count);
    return bytes_get(batch->deletes + (size_t)index * ROW_ID_NBYTES, ROW_ID_NBYTES);
}
