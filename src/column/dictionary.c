/* dictionary.c - interning byte strings: an open-addressed table of codes.
 *
 * The table holds codes alone, 4 bytes a slot, at most half of the slots taken: with more, rows
 * whose values collide cost a branch that nobody can predict, which is half of a row's time. Values
 * are compared where they lie in the pool, lengths first. Growing hashes them anew.
 *
 * Hash      Strings up to 16 bytes are two words that overlap, multiplied with each other as 128
 *           bits and folded (the core of wyhash); longer ones go to XXH3. It is stored nowhere.
 * Cost      A known value of up to 16 bytes: some 40 instructions; no call. */
#include "column/dictionary.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/memory.h"
#include "kernel/packed_codes.h"

#define SLOTS_FIRST 64u
#define SHORT_NBYTES 16u
#define INLINE static inline __attribute__((always_inline))

/* The first and the last 8 bytes of a string that is short: of fewer bytes, all of them. */
struct ends {
    uint64_t first, last;
};

INLINE struct ends ends_of(const uint8_t *data, size_t nbytes)
{
    if (nbytes >= 8) return (struct ends){packed_load64(data), packed_load64(data + nbytes - 8)};
    if (nbytes >= 4) return (struct ends){packed_load32(data), packed_load32(data + nbytes - 4)};
    if (nbytes == 0) return (struct ends){0, 0};
    return (struct ends){data[0], (uint64_t)data[nbytes / 2] << 8 | data[nbytes - 1]};
}

INLINE uint32_t hash_of(const uint8_t *data, size_t nbytes)
{
    __extension__ typedef unsigned __int128 wide;
    struct ends ends;
    wide product;

    if (nbytes > SHORT_NBYTES) return (uint32_t)XXH3_64bits(data, nbytes);
    ends = ends_of(data, nbytes);
    product = (wide)(ends.first ^ UINT64_C(0xA0761D6478BD642F) ^ nbytes) *
              (ends.last ^ UINT64_C(0xE7037ED1A0B428DB));
    return (uint32_t)(product ^ product >> 64);
}

INLINE bool same_bytes(const uint8_t *a, const uint8_t *b, size_t nbytes)
{
    struct ends x, y;

    if (nbytes > SHORT_NBYTES) return memcmp(a, b, nbytes) == 0;
    x = ends_of(a, nbytes);
    y = ends_of(b, nbytes);
    return x.first == y.first && x.last == y.last;
}

INLINE void value_of(const void *owner, uint32_t index, const uint8_t **data, size_t *nbytes)
{
    const struct dictionary *d = owner;

    pool_value((const uint8_t *const *)d->pool->blocks, d->places[index], data, nbytes);
}

/* The slot that holds the value, or the free one where it belongs. */
INLINE uint32_t *slot_of(const struct dictionary *d, const uint8_t *data, size_t nbytes)
{
    uint32_t mask = d->slot_count - 1, at = hash_of(data, nbytes) & mask;

    for (;; at = (at + 1) & mask) {
        const uint8_t *other;
        size_t other_nbytes;

        if (d->slots[at] == 0) return &d->slots[at];
        value_of(d, d->slots[at] - 1, &other, &other_nbytes);
        if (other_nbytes == nbytes && same_bytes(other, data, nbytes)) return &d->slots[at];
    }
}

/* Enters all codes into empty slots; codes are distinct values, so only free slots matter. */
static void enter_all(struct dictionary *d)
{
    uint32_t mask = d->slot_count - 1;

    for (uint32_t i = 0; i < d->count; i++) {
        const uint8_t *data;
        size_t nbytes;
        uint32_t at;

        value_of(d, i, &data, &nbytes);
        for (at = hash_of(data, nbytes) & mask; d->slots[at] != 0;)
            at = (at + 1) & mask;
        d->slots[at] = i + 1;
    }
}

static bool room_make(struct dictionary *d)
{
    uint32_t wanted = d->slot_count == 0 ? SLOTS_FIRST : d->slot_count * 2;
    void *places = d->places;
    uint32_t *slots;

    if (mem_grow(&places, &d->capacity, (size_t)d->count + 1, sizeof d->places[0]) != 0)
        return false;
    d->places = places;
    if (((uint64_t)d->count + 1) * 2 <= d->slot_count) return true;
    if (wanted == 0) return false;
    slots = mem_zalloc(wanted, sizeof slots[0]);
    if (slots == NULL) return false;
    mem_free(d->slots);
    d->slots = slots;
    d->slot_count = wanted;
    enter_all(d);
    return true;
}

/* Adds a value that is new. */
static __attribute__((noinline)) uint32_t add(struct dictionary *d, const uint8_t *data,
                                              size_t nbytes)
{
    if (!room_make(d) || !pool_add(d->pool, data, nbytes, &d->places[d->count])) return 0;
    d->count++;
    *slot_of(d, data, nbytes) = d->count;
    return d->count;
}

uint32_t dictionary_intern(struct dictionary *d, const uint8_t *data, size_t nbytes)
{
    uint32_t code = d->slot_count > 0 ? *slot_of(d, data, nbytes) : 0;

    return code != 0 ? code : add(d, data, nbytes);
}

uint32_t dictionary_find(const struct dictionary *d, const uint8_t *data, size_t nbytes)
{
    return d->slot_count > 0 ? *slot_of(d, data, nbytes) : 0;
}

uint32_t dictionary_find_many(const struct dictionary *d, const struct cell *values, uint32_t n,
                              uint32_t code_most, uint32_t *codes)
{
    uint32_t i;

    if (d->slot_count == 0) return 0;
    for (i = 0; i < n; i++) {
        codes[i] = 0;
        if (!values[i].present) continue;
        codes[i] = *slot_of(d, values[i].data, values[i].nbytes);
        if (codes[i] == 0 || codes[i] > code_most) break;
    }
    return i;
}

void dictionary_rewind(struct dictionary *d, uint32_t count)
{
    if (count == 0) {
        dictionary_free(d);
        return;
    }
    if (count >= d->count) return;
    d->count = count;
    memset(d->slots, 0, (size_t)d->slot_count * sizeof d->slots[0]);
    enter_all(d);
}

struct dictionary_view dictionary_look(const struct dictionary *d)
{
    return (struct dictionary_view){.count = d->count, .owner = d, .value = value_of};
}

size_t dictionary_nbytes(const struct dictionary *d)
{
    return d->capacity * sizeof d->places[0] + d->slot_count * sizeof d->slots[0];
}

void dictionary_free(struct dictionary *d)
{
    mem_free(d->places);
    mem_free(d->slots);
    *d = (struct dictionary){.pool = d->pool};
}
