/* workload.c - rows for the metadata benchmark, from a fixed seed. */
#include "workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_ROOM 40u
#define SPARSE_KEYS 4u /* of each row */

uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* Rows that hold one of a key's values point to the same text, as rows that are read do not: no
 * store looks at where a value lies. */
static void repeated(struct workload *w, uint32_t key, uint32_t values, char *texts,
                     uint64_t *state)
{
    for (uint32_t v = 0; v < values; v++)
        snprintf(texts + (size_t)v * TEXT_ROOM, TEXT_ROOM, "meta_value_%u_%u", key, v);
    for (uint32_t row = 0; row < w->rows; row++) {
        const char *value = texts + next_random(state) % values * TEXT_ROOM;

        w->values[(size_t)key * w->rows + row] = (paua_bytes){value, strlen(value)};
    }
}

static void distinct(struct workload *w, uint32_t key, const char *shape, char *texts)
{
    bool names = strcmp(shape, "names") == 0;

    for (uint32_t row = 0; row < w->rows; row++) {
        char *text = texts + (size_t)row * TEXT_ROOM;
        uint32_t number = names && row % 50 == 49 ? row - 1 : row;

        if (names)
            snprintf(text, TEXT_ROOM, "customer name of row %09u", number);
        else
            snprintf(text, TEXT_ROOM, "v%02u%011u", key % 100, row * 2654435761u);
        w->values[(size_t)key * w->rows + row] = (paua_bytes){text, strlen(text)};
    }
}

static void sparse(struct workload *w, uint32_t values, char *texts, uint64_t *state)
{
    for (uint32_t v = 0; v < values; v++)
        snprintf(texts + (size_t)v * TEXT_ROOM, TEXT_ROOM, "value_%u", v);
    for (uint32_t row = 0; row < w->rows; row++) {
        for (uint32_t i = 0; i < SPARSE_KEYS; i++) {
            const char *value = texts + next_random(state) % values * TEXT_ROOM;
            size_t key = next_random(state) % w->keys;

            w->values[key * w->rows + row] = (paua_bytes){value, strlen(value)};
        }
    }
}

bool workload_make(const char *shape, uint32_t rows, uint32_t keys, uint32_t values,
                   struct workload *workload)
{
    bool is_sparse = strcmp(shape, "sparse") == 0, is_repeated = strcmp(shape, "repeated") == 0;
    size_t each = is_repeated || is_sparse ? values : rows, names = (size_t)keys * TEXT_ROOM;
    uint64_t state = 1;

    if (!is_sparse && !is_repeated && strcmp(shape, "distinct") != 0 && strcmp(shape, "names") != 0)
        return false;
    *workload = (struct workload){.rows = rows, .keys = keys};
    workload->names = checked(calloc(keys, sizeof workload->names[0]));
    workload->values = checked(calloc((size_t)rows * keys, sizeof workload->values[0]));
    workload->bytes = checked(malloc(names + (size_t)keys * each * TEXT_ROOM));
    for (uint32_t key = 0; key < keys; key++) {
        char *name = workload->bytes + (size_t)key * TEXT_ROOM;
        char *texts = workload->bytes + names + key * each * TEXT_ROOM;

        snprintf(name, TEXT_ROOM, "meta_key_%u", key);
        workload->names[key] = (paua_bytes){name, strlen(name)};
        if (is_repeated)
            repeated(workload, key, values, texts, &state);
        else if (!is_sparse)
            distinct(workload, key, shape, texts);
    }
    if (is_sparse) sparse(workload, values, workload->bytes + names, &state);
    return true;
}

void workload_free(struct workload *workload)
{
    free(workload->names);
    free(workload->values);
    free(workload->bytes);
}
