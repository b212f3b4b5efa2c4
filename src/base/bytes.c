/* bytes.c - the growing writer, and variable-length numbers. */
#include "base/bytes.h"

#include <string.h>

#include "base/memory.h"

#define VARINT_NBYTES_MAX 10

uint64_t reader_varint(struct reader *r)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < VARINT_NBYTES_MAX; i++) {
        uint8_t byte = reader_u8(r);

        if (r->short_read) return 0;
        /* The tenth byte has room for the highest bit only. */
        if (i == VARINT_NBYTES_MAX - 1 && byte > 1) break;
        value |= (uint64_t)(byte & 0x7F) << (7 * i);
        if (byte & 0x80) continue;
        /* A last byte of zero adds nothing: a shorter form exists. */
        if (byte == 0 && i > 0) break;
        return value;
    }
    r->short_read = true;
    r->at = r->end;
    return 0;
}

uint8_t *writer_room(struct writer *w, size_t length)
{
    void *block = w->bytes;
    size_t needed = length > 0 ? length : 1; /* room for nothing is a pointer all the same */
    uint8_t *room;

    if (w->failed) return NULL;
    if (needed > SIZE_MAX - w->length || mem_grow(&block, &w->capacity, w->length + needed, 1)) {
        w->failed = true;
        return NULL;
    }
    w->bytes = block;
    room = w->bytes + w->length;
    w->length += length;
    return room;
}

void writer_bytes(struct writer *w, const void *bytes, size_t length)
{
    uint8_t *room;

    assert(bytes != NULL || length == 0);
    if (length == 0) return;
    room = writer_room(w, length);
    if (room != NULL) memcpy(room, bytes, length);
}

void writer_uint(struct writer *w, uint64_t value, size_t width)
{
    uint8_t *room = writer_room(w, width);

    assert(width >= 1 && width <= 8);
    assert(width == 8 || value >> (8 * width) == 0);
    if (room != NULL) bytes_put(room, value, width);
}

void writer_varint(struct writer *w, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        writer_u8(w, (uint8_t)(value | 0x80));
    writer_u8(w, (uint8_t)value);
}

void writer_free(struct writer *w)
{
    mem_free(w->bytes);
    *w = (struct writer){0};
}
