/* bytes.h - little-endian fields, read from bytes nobody has checked yet and written to a buffer
 * that grows.
 *
 * A reader never passes its end. A short read returns 0 and sets `short_read` for good, so a
 * decoder reads all its fields in a row and asks once. A writer that runs out of memory sets
 * `failed` for good, and is likewise asked once. */
#ifndef PAUA_BASE_BYTES_H
#define PAUA_BASE_BYTES_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reader {
    const uint8_t *at;
    const uint8_t *end;
    bool short_read;
};

static inline struct reader reader_over(const void *bytes, size_t length)
{
    const uint8_t *first = bytes != NULL ? bytes : (const uint8_t *)"";

    assert(bytes != NULL || length == 0);
    return (struct reader){.at = first, .end = first + length, .short_read = false};
}

static inline size_t reader_left(const struct reader *r) { return (size_t)(r->end - r->at); }

/* Borrowed pointer to the next length bytes, or NULL (short_read set). */
static inline const uint8_t *reader_bytes(struct reader *r, uint64_t length)
{
    const uint8_t *at = r->at;

    if (reader_left(r) < length) {
        r->short_read = true;
        r->at = r->end;
        return NULL;
    }
    r->at += length;
    return at;
}

static inline uint64_t reader_uint(struct reader *r, size_t width)
{
    const uint8_t *at = reader_bytes(r, width);
    uint64_t value = 0;

    assert(width >= 1 && width <= 8);
    if (at == NULL) return 0;
    for (size_t i = 0; i < width; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

static inline uint8_t reader_u8(struct reader *r) { return (uint8_t)reader_uint(r, 1); }
static inline uint16_t reader_u16(struct reader *r) { return (uint16_t)reader_uint(r, 2); }
static inline uint32_t reader_u32(struct reader *r) { return (uint32_t)reader_uint(r, 4); }
static inline uint64_t reader_u64(struct reader *r) { return reader_uint(r, 8); }

/* LEB128, at most 10 bytes, shortest form only; anything else sets short_read. */
uint64_t reader_varint(struct reader *r);

struct writer {
    uint8_t *bytes; /* owned; writer_free() */
    size_t length;
    size_t capacity;
    bool failed;
};

/* Room for length more bytes at the end, not yet filled; NULL when out of memory. */
uint8_t *writer_room(struct writer *w, size_t length);
void writer_bytes(struct writer *w, const void *bytes, size_t length);
void writer_uint(struct writer *w, uint64_t value, size_t width);
static inline void writer_u8(struct writer *w, uint8_t value) { writer_uint(w, value, 1); }
static inline void writer_u16(struct writer *w, uint16_t value) { writer_uint(w, value, 2); }
static inline void writer_u32(struct writer *w, uint32_t value) { writer_uint(w, value, 4); }
static inline void writer_u64(struct writer *w, uint64_t value) { writer_uint(w, value, 8); }
void writer_varint(struct writer *w, uint64_t value);
void writer_free(struct writer *w);

/* Stores a little-endian number of `width` bytes at `at`; the raw form for in-place patches. */
static inline void bytes_put(uint8_t *at, uint64_t value, size_t width)
{
    for (size_t i = 0; i < width; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static inline uint64_t bytes_get(const uint8_t *at, size_t width)
{
    uint64_t value = 0;

    for (size_t i = 0; i < width; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

#endif
