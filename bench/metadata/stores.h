/* stores.h - the three stores that the metadata benchmark compares: ours, and two plain ones. */
#ifndef PAUA_BENCH_METADATA_STORES_H
#define PAUA_BENCH_METADATA_STORES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <paua/paua_types.h>

/* What is stored: values[key * rows + row]. */
struct workload {
    uint32_t rows, keys;
    paua_bytes *names;  /* of the keys */
    paua_bytes *values; /* without data: the row has no such key */
    char *bytes;        /* that both borrow */
};

static inline paua_bytes workload_value(const struct workload *w, uint32_t row, uint32_t key)
{
    return w->values[(size_t)key * w->rows + row];
}

/* Takes a row: its keys, and the value of each; what they borrow lives as long as the store's own
 * rule says. */
typedef void (*pairs_fn)(void *arg, uint32_t row, const paua_bytes *keys, const paua_value *values,
                         uint32_t count);

struct store;

/* One table of operations a store. Failures of memory end the program. */
struct store_kind {
    const char *prefix; /* of its figures */
    struct store *(*build)(const struct workload *workload);
    void (*free)(struct store *store);
    size_t (*nbytes)(const struct store *store); /* by its own count; 0: it has none */
    /* Rows whose value of `key` is `value`, as a bitmap of (rows + 63) / 64 words. */
    void (*filter)(struct store *store, paua_bytes key, paua_bytes value, uint64_t *bitmap);
    /* Gives out every row as a result that a later write to the store leaves alone. */
    void (*materialize)(struct store *store, pairs_fn each, void *arg);
    /* Gives out every row as it lies in the store. */
    void (*walk)(struct store *store, pairs_fn each, void *arg);
};

extern const struct store_kind columns_kind, owned_kind, keyed_kind;

void *checked(void *block); /* ends the program if NULL */

#endif
