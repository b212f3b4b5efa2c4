/* fuzz_filter.c - text of filters. What parses has a text that parses to the same text; what binds
 * passes a row or not, and its opposite never passes with it; memory stays a constant times the
 * text. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/bind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* Bytes of memory for a byte of text, and for a filter without any. */
#define EACH_NBYTES_MAX 160u
#define FIRST_NBYTES_MAX 16384u

static const char letters[] = "bintufdsyma";
static const uint32_t types[] = {PAUA_TYPE_BOOL,
                                 PAUA_TYPE_INT32,
                                 PAUA_TYPE_INT64,
                                 PAUA_TYPE_TIMESTAMP,
                                 PAUA_TYPE_UINT64,
                                 PAUA_TYPE_FLOAT,
                                 PAUA_TYPE_DOUBLE,
                                 PAUA_TYPE_STRING,
                                 PAUA_TYPE_BYTES,
                                 PAUA_TYPE_MIXED,
                                 PAUA_TYPE_ARRAY | PAUA_TYPE_STRING};

/* Fields of one letter, and lists of numbers that begin with l. */
static bool find(const void *arg, const char *name, size_t nbytes, struct filter_field *field)
{
    const char *letter = nbytes == 1 ? memchr(letters, name[0], strlen(letters)) : NULL;

    (void)arg;
    if (nbytes > 1 && name[0] == 'l')
        *field = (struct filter_field){99, PAUA_TYPE_ARRAY | PAUA_TYPE_DOUBLE};
    else if (letter != NULL)
        *field = (struct filter_field){(uint32_t)(letter - letters), types[letter - letters]};
    return letter != NULL || (nbytes > 1 && name[0] == 'l');
}

static const char *name_at(const void *arg, uint32_t i)
{
    static const char *const names[] = {"b", "int", "list", "name"};

    (void)arg;
    return i < 4 ? names[i] : NULL;
}

/* One row's values. */
static void cell_of(void *arg, uint32_t field, struct cell *cell)
{
    static const uint8_t array[16] = {1, 0,   0,   0,   'a', 7,   0,   0,
                                      0, 'b', 'c', 'd', 'e', 'f', 'g', 'h'};
    static const uint8_t mixed[] = {PAUA_TYPE_STRING, 'a', 'b'};

    (void)arg;
    *cell = (struct cell){.present = field % 5 != 4, .key = UINT64_C(0x80000005) + field};
    if (field <= 1) cell->key = field == 0 ? 1 : UINT64_C(1) << 63;
    cell->data = field == 9 ? mixed : array;
    cell->nbytes = field == 9 ? sizeof mixed : 16;
    if (field == 7) cell->nbytes = 5;
}

static struct bound_filter *bind(const paua_filter *filter, bool unknown_is_null)
{
    const struct filter_fields fields = {find, name_at, NULL};
    struct bound_filter *bound = NULL;
    paua_error err;

    if (filter_bind(filter, &fields, unknown_is_null, &bound, &err) != PAUA_OK)
        REQUIRE(err.status == PAUA_EINVAL && err.message[0] != '\0');
    return bound;
}

/* Binds a filter and its opposite, and frees it. */
static void try_bound(paua_filter *filter, size_t nbytes, bool unknown_is_null)
{
    struct bound_filter *bound = bind(filter, unknown_is_null), *opposite;
    paua_error err;

    if (paua_filter_not(filter, &filter, &err) == PAUA_OK) {
        opposite = bind(filter, unknown_is_null);
        REQUIRE((bound != NULL) == (opposite != NULL));
        if (bound != NULL)
            REQUIRE(!filter_passes(bound, cell_of, NULL) ||
                    !filter_passes(opposite, cell_of, NULL));
        bound_filter_free(opposite);
    }
    if (bound != NULL) REQUIRE(bound->arena.nbytes <= FIRST_NBYTES_MAX + EACH_NBYTES_MAX * nbytes);
    bound_filter_free(bound);
    paua_filter_free(filter);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    paua_filter *filter, *again;
    char *text, *second;
    size_t nbytes, second_nbytes;
    paua_error err;

    if (paua_filter_parse((const char *)data, size, &filter, &err) != PAUA_OK) {
        REQUIRE(err.status == PAUA_EINVAL && err.message[0] != '\0');
        return 0;
    }
    REQUIRE(filter->arena.nbytes <= FIRST_NBYTES_MAX + EACH_NBYTES_MAX * size);
    text = paua_filter_text(filter, &nbytes);
    REQUIRE(text != NULL);
    if (nbytes <= FILTER_NBYTES_MAX) {
        REQUIRE(paua_filter_parse(text, nbytes, &again, &err) == PAUA_OK);
        second = paua_filter_text(again, &second_nbytes);
        REQUIRE(second != NULL && nbytes == second_nbytes && memcmp(text, second, nbytes) == 0);
        free(second);
        try_bound(again, nbytes, false);
    }
    free(text);
    try_bound(filter, size, true);
    return 0;
}
