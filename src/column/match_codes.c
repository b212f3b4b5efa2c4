/* match_codes.c - which codes of a dictionary pass a test of byte strings.
 *
 * A sorted dictionary is searched; values of one that is not are tested one by one, 65,536 of them
 * in about a millisecond. What passes is kept as a range of codes where it is one, since scanning
 * for a range is fastest, and as a bit a code otherwise. */
#include <string.h>

#include "base/memory.h"
#include "column/matching.h"

#define TABLE_BITS_MIN 65536u /* so that codes of 16 bits and less need no check */

static bool table_make(struct matching *m)
{
    struct passing *p = &m->passing;
    uint32_t bits = m->view->dictionary.count + 1;
    size_t nbytes;
    uint8_t *table;

    if (bits < TABLE_BITS_MIN) bits = TABLE_BITS_MIN;
    nbytes = (bits + (size_t)7) / 8;
    if (m->scratch->codes_nbytes < nbytes) {
        table = mem_realloc(m->scratch->codes, nbytes);
        if (table == NULL) return false;
        m->scratch->codes = table;
        m->scratch->codes_nbytes = nbytes;
    }
    memset(m->scratch->codes, 0, nbytes);
    *p = (struct passing){.low = UINT32_MAX, .table = m->scratch->codes, .table_bits = bits};
    return true;
}

static void table_add(struct matching *m, uint32_t code)
{
    struct passing *p = &m->passing;

    m->scratch->codes[code / 8] = (uint8_t)(m->scratch->codes[code / 8] | 1u << code % 8);
    if (code < p->low) p->low = code;
    if (code > p->high) p->high = code;
}

/* A table without gaps is a range. */
static void table_end(struct matching *m, uint32_t count)
{
    struct passing *p = &m->passing;

    if (count == 0) *p = (struct passing){.low = 1, .high = 0};
    if (p->table != NULL && p->high - p->low + 1 == count) p->table = NULL;
}

/* How many values of a sorted dictionary come before this one, or (after) at it too. */
static uint32_t rank_of(const struct dictionary_view *d, const paua_bytes *value, bool after)
{
    uint32_t first = 0, end = d->count;

    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        const uint8_t *data;
        size_t nbytes;
        int order;

        d->value(d->owner, middle, &data, &nbytes);
        order = bytes_compare(data, nbytes, value->data, value->nbytes);
        if (order < 0 || (order == 0 && after))
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

static void sorted_range(struct matching *m)
{
    const struct column_test *test = m->test;
    const struct dictionary_view *d = &m->view->dictionary;
    struct passing *p = &m->passing;

    *p = (struct passing){.low = 1, .high = d->count};
    if (test->low.data != NULL) p->low = rank_of(d, &test->low, test->low_open) + 1;
    if (test->high.data != NULL) p->high = rank_of(d, &test->high, !test->high_open);
}

static paua_status sorted_set(struct matching *m)
{
    const struct dictionary_view *d = &m->view->dictionary;
    uint32_t found = 0;

    if (!table_make(m)) return PAUA_ENOMEM;
    for (size_t i = 0; i < m->test->set_count; i++) {
        uint32_t rank = rank_of(d, &m->test->set[i], false);

        if (rank == rank_of(d, &m->test->set[i], true)) continue;
        table_add(m, rank + 1);
        found++;
    }
    table_end(m, found);
    return PAUA_OK;
}

static paua_status each_value(struct matching *m)
{
    const struct dictionary_view *d = &m->view->dictionary;
    uint32_t found = 0;

    if (!table_make(m)) return PAUA_ENOMEM;
    for (uint32_t i = 0; i < d->count; i++) {
        const uint8_t *data;
        size_t nbytes;

        d->value(d->owner, i, &data, &nbytes);
        if (!bytes_pass(m->test, data, nbytes)) continue;
        table_add(m, i + 1);
        found++;
    }
    table_end(m, found);
    return PAUA_OK;
}

paua_status matching_codes(struct matching *m)
{
    bool sorted = m->view->dictionary.sorted;
    paua_status status = PAUA_OK;

    if (m->passing_known) return PAUA_OK;
    if (sorted && m->test->kind == TEST_BYTES)
        sorted_range(m);
    else if (sorted && m->test->kind == TEST_SET && !m->test->negated)
        status = sorted_set(m);
    else
        status = each_value(m);
    m->passing_known = status == PAUA_OK;
    return status;
}
