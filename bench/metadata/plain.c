/* plain.c - the metadata benchmark's plain stores: a hash map of strings a row.
 *
 * owned  every row has its own copies of its keys and values, as a map of strings has them.
 * keyed  keys are kept once for all rows, and rows point to them; values are the rows' own.
 * A map is an array of slots, a power of two, at most half full, with open addressing; its strings
 * are blocks of malloc. A result that outlives a write has to copy: a new map, values (and, owned,
 * keys) copied. */
#include <stdlib.h>
#include <string.h>

#include "stores.h"

#define SLOTS_MIN 4u

struct slot {
    paua_bytes key, value; /* key.data NULL: free */
};

struct map {
    struct slot *slots;
    uint32_t mask, count;
};

struct store {
    uint32_t rows;
    bool keyed;
    struct map *maps;
    struct map names; /* keyed: every key once */
    paua_bytes *keys; /* of one row */
    paua_value *values;
};

static uint32_t hash_of(paua_bytes text)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325); /* FNV-1a */

    for (size_t i = 0; i < text.nbytes; i++)
        hash = (hash ^ ((const uint8_t *)text.data)[i]) * UINT64_C(0x100000001B3);
    return (uint32_t)(hash ^ hash >> 32);
}

static bool same(paua_bytes a, paua_bytes b)
{
    return a.nbytes == b.nbytes && memcmp(a.data, b.data, a.nbytes) == 0;
}

static paua_bytes copy_of(paua_bytes text)
{
    char *copy = checked(malloc(text.nbytes + 1));

    memcpy(copy, text.data, text.nbytes);
    return (paua_bytes){copy, text.nbytes};
}

static struct slot *find(const struct map *map, paua_bytes key, uint32_t hash)
{
    for (uint32_t at = hash & map->mask;; at = (at + 1) & map->mask)
        if (map->slots[at].key.data == NULL || same(map->slots[at].key, key))
            return &map->slots[at];
}

static void map_make(struct map *map, uint32_t slots)
{
    *map = (struct map){.slots = checked(calloc(slots, sizeof map->slots[0])), .mask = slots - 1};
}

static struct slot *add(struct map *map, paua_bytes key)
{
    struct map larger;

    if (map->slots == NULL) map_make(map, SLOTS_MIN);
    if ((map->count + 1) * 2 > map->mask + 1) {
        map_make(&larger, (map->mask + 1) * 2);
        for (uint32_t i = 0; i <= map->mask; i++)
            if (map->slots[i].key.data != NULL)
                *find(&larger, map->slots[i].key, hash_of(map->slots[i].key)) = map->slots[i];
        larger.count = map->count;
        free(map->slots);
        *map = larger;
    }
    map->count++;
    return find(map, key, hash_of(key));
}

/* The kept copy of a key. */
static paua_bytes key_kept(struct store *store, paua_bytes key)
{
    struct slot *slot;

    if (!store->keyed) return copy_of(key);
    slot = store->names.slots != NULL ? find(&store->names, key, hash_of(key)) : NULL;
    if (slot == NULL || slot->key.data == NULL) {
        slot = add(&store->names, key);
        slot->key = copy_of(key);
    }
    return slot->key;
}

static void map_free(struct map *map, bool keyed)
{
    for (uint32_t i = 0; map->slots != NULL && i <= map->mask; i++) {
        if (!keyed) free((void *)(uintptr_t)map->slots[i].key.data);
        free((void *)(uintptr_t)map->slots[i].value.data);
    }
    free(map->slots);
}

static struct store *build(const struct workload *w, bool keyed)
{
    struct store *store = checked(calloc(1, sizeof *store));

    store->rows = w->rows;
    store->keyed = keyed;
    store->maps = checked(calloc(w->rows, sizeof store->maps[0]));
    store->keys = checked(calloc(w->keys, sizeof store->keys[0]));
    store->values = checked(calloc(w->keys, sizeof store->values[0]));
    for (uint32_t row = 0; row < w->rows; row++) {
        for (uint32_t key = 0; key < w->keys; key++) {
            paua_bytes value = workload_value(w, row, key);
            struct slot *slot;

            if (value.data == NULL) continue;
            slot = add(&store->maps[row], w->names[key]);
            slot->key = key_kept(store, w->names[key]);
            slot->value = copy_of(value);
        }
    }
    return store;
}

static struct store *build_owned(const struct workload *w) { return build(w, false); }
static struct store *build_keyed(const struct workload *w) { return build(w, true); }

static void release(struct store *store)
{
    for (uint32_t row = 0; row < store->rows; row++)
        map_free(&store->maps[row], store->keyed);
    map_free(&store->names, false);
    free(store->maps);
    free(store->keys);
    free(store->values);
    free(store);
}

static size_t nbytes(const struct store *store)
{
    (void)store;
    return 0;
}

static void filter(struct store *store, paua_bytes key, paua_bytes value, uint64_t *bitmap)
{
    uint32_t hash = hash_of(key);

    memset(bitmap, 0, ((size_t)store->rows + 63) / 64 * sizeof bitmap[0]);
    for (uint32_t row = 0; row < store->rows; row++) {
        const struct map *map = &store->maps[row];
        const struct slot *slot = map->slots != NULL ? find(map, key, hash) : NULL;

        if (slot != NULL && slot->key.data != NULL && same(slot->value, value))
            bitmap[row / 64] |= UINT64_C(1) << row % 64;
    }
}

static void give(struct store *store, uint32_t row, const struct map *map, pairs_fn each, void *arg)
{
    uint32_t count = 0;

    for (uint32_t i = 0; map->slots != NULL && i <= map->mask; i++) {
        if (map->slots[i].key.data == NULL) continue;
        store->keys[count] = map->slots[i].key;
        store->values[count++] =
            (paua_value){.type = PAUA_TYPE_STRING, .as.bytes = map->slots[i].value};
    }
    each(arg, row, store->keys, store->values, count);
}

static void walk(struct store *store, pairs_fn each, void *arg)
{
    for (uint32_t row = 0; row < store->rows; row++)
        give(store, row, &store->maps[row], each, arg);
}

static void materialize(struct store *store, pairs_fn each, void *arg)
{
    for (uint32_t row = 0; row < store->rows; row++) {
        const struct map *from = &store->maps[row];
        struct map copy = {0};

        if (from->slots != NULL) map_make(&copy, from->mask + 1);
        for (uint32_t i = 0; from->slots != NULL && i <= from->mask; i++) {
            const struct slot *slot = &from->slots[i];

            if (slot->key.data == NULL) continue;
            copy.slots[i].key = store->keyed ? slot->key : copy_of(slot->key);
            copy.slots[i].value = copy_of(slot->value);
        }
        give(store, row, &copy, each, arg);
        map_free(&copy, store->keyed);
    }
}

const struct store_kind owned_kind = {.prefix = "owned_",
                                      .build = build_owned,
                                      .free = release,
                                      .nbytes = nbytes,
                                      .filter = filter,
                                      .materialize = materialize,
                                      .walk = walk};
const struct store_kind keyed_kind = {.prefix = "keyed_",
                                      .build = build_keyed,
                                      .free = release,
                                      .nbytes = nbytes,
                                      .filter = filter,
                                      .materialize = materialize,
                                      .walk = walk};
