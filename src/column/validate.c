/* validate.c - every invariant of a column as it is read.
 *
 * Zones and counts of NULLs are those of the rows; codes are values of the dictionary, which has
 * none twice; keys and values obey their type; hashes are those of their values. */
#include "column/chunk.h"

struct seen {
    uint32_t nulls;
    uint64_t least, most;
    bool valid;
};

static void see(const struct column_view *view, uint64_t key, struct seen *seen)
{
    bool valid = type_is_number(view->type) ? value_key_valid(view->type, key)
                                            : key >= 1 && key <= view->dictionary.count;

    seen->valid &= valid;
    if (seen->least > seen->most) {
        seen->least = seen->most = key;
        return;
    }
    if (key < seen->least) seen->least = key;
    if (key > seen->most) seen->most = key;
}

/* A code's key; one that wraps around is beyond any zone of ours. */
static void see_code(const struct column_view *view, const struct column_chunk *chunk,
                     uint32_t code, struct seen *seen)
{
    uint64_t key = chunk->base + code - 1;

    seen->valid &= key >= chunk->base;
    see(view, key, seen);
}

static void see_packed(const struct column_view *view, const struct column_chunk *chunk,
                       struct seen *seen)
{
    for (uint32_t at = 0; at < chunk->rows; at++) {
        uint32_t code = packed_get(chunk->codes, chunk->width, at);

        if (code == 0)
            seen->nulls++;
        else
            see_code(view, chunk, code, seen);
    }
}

static void see_sparse(const struct column_view *view, const struct column_chunk *chunk,
                       struct seen *seen)
{
    for (uint32_t i = 0, next = 0; i < chunk->entries; i++) {
        uint32_t place = sparse_place(chunk, i);

        seen->valid &= place >= next && place < chunk->rows;
        next = place + 1;
        if (chunk->width == CHUNK_KEY_BITS) {
            see(view, sparse_key(chunk, i), seen);
            continue;
        }
        seen->valid &= packed_get(chunk->codes, chunk->width, i) != 0;
        see_code(view, chunk, packed_get(chunk->codes, chunk->width, i), seen);
    }
    seen->nulls = chunk->rows - chunk->entries;
}

static void see_raw(const struct column_view *view, const struct column_chunk *chunk,
                    struct seen *seen)
{
    for (uint32_t at = 0; at < chunk->rows; at++) {
        if (raw_present(chunk, at))
            see(view, packed_load64(chunk->codes + 8 * (size_t)at), seen);
        else
            seen->nulls++;
    }
}

static const char *check_unrepeated(const struct column_view *view,
                                    const struct column_chunk *chunk)
{
    uint32_t nulls = 0;

    for (uint32_t at = 0; at < chunk->rows; at++) {
        uint32_t hash = packed_load32(chunk->hashes + 4 * (size_t)at);
        const uint8_t *data;
        size_t nbytes;

        if (hash == 0) nulls++;
        if (hash == 0 && chunk->bytes == NULL) continue;
        chunk_bytes(view, chunk, at, &data, &nbytes);
        if (hash == 0 && nbytes > 0) return "has bytes where there is no value";
        if (hash != 0 && hash != value_hash(data, nbytes))
            return "has a hash that is not its value's";
        if (!value_bytes_valid(view->type, data, nbytes) && hash != 0)
            return "has a value that its type has not";
    }
    return nulls == chunk->nulls ? NULL : "counts its NULLs wrong";
}

static const char *check_chunk(const struct column_view *view, const struct column_chunk *chunk)
{
    struct seen seen = {.least = 1, .valid = true};

    switch (chunk->kind) {
    case CHUNK_CONSTANT:
        if (chunk->least <= chunk->most) see(view, chunk->least, &seen);
        seen.nulls = chunk->least <= chunk->most ? 0 : chunk->rows;
        break;
    case CHUNK_SPARSE:
        see_sparse(view, chunk, &seen);
        break;
    case CHUNK_PACKED:
        see_packed(view, chunk, &seen);
        break;
    case CHUNK_RAW:
        see_raw(view, chunk, &seen);
        break;
    case CHUNK_UNREPEATED:
        return check_unrepeated(view, chunk);
    }
    if (!seen.valid) return "has a code or key that means no value";
    if (seen.nulls != chunk->nulls) return "counts its NULLs wrong";
    if (seen.least != chunk->least || seen.most != chunk->most)
        return "has a zone that is not its rows'";
    return NULL;
}

static const char *check_dictionary(const struct column_view *view)
{
    const struct dictionary_view *d = &view->dictionary;
    const uint8_t *data, *last = NULL;
    size_t nbytes, last_nbytes = 0;

    for (uint32_t i = 0; i < d->count; i++) {
        d->value(d->owner, i, &data, &nbytes);
        if (!value_bytes_valid(view->type, data, nbytes))
            return "has a value that its type has not";
        if (d->sorted && i > 0 && bytes_compare(last, last_nbytes, data, nbytes) >= 0)
            return "has a dictionary out of order";
        last = data;
        last_nbytes = nbytes;
    }
    return NULL;
}

const char *column_validate(const struct column_view *view)
{
    const char *wrong = NULL;
    uint64_t rows = 0;

    if (!type_valid(view->type)) return "has a type that no field has";
    if (type_is_number(view->type) && view->dictionary.count > 0)
        return "has a dictionary of numbers";
    for (uint32_t i = 0; i < view->chunk_count && wrong == NULL; i++) {
        const struct column_chunk *chunk = &view->chunks[i];

        if (chunk->kind == CHUNK_UNREPEATED && type_is_number(view->type))
            return "has bytes for numbers";
        if (chunk->kind == CHUNK_RAW && !type_is_number(view->type)) return "has keys for bytes";
        if (!type_is_number(view->type) && (chunk->width == CHUNK_KEY_BITS || chunk->base != 1))
            return "has keys for bytes";
        if (i + 1 < view->chunk_count && chunk->rows != COLUMN_CHUNK_ROWS)
            return "has a short chunk among others";
        wrong = check_chunk(view, chunk);
        rows += chunk->rows;
    }
    if (wrong == NULL && rows > view->rows) return "has more rows than it says";
    return wrong != NULL ? wrong : check_dictionary(view);
}
