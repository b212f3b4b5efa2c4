/* array.c - conditions on arrays: array_length(), CONTAIN_ALL, CONTAIN_ANY.
 *
 * Each is a call on an array's stored bytes. What is looked for is sorted; elements are searched
 * in it one by one, so ANY is one pass over the array. ALL is one pass for each 64 values looked
 * for, which are ticked off in a word: no memory is needed, and nothing is quadratic.
 * An element that no value of the type can be equal to (5.5 among integers, NaN) is never found.
 * NULL among what is looked for makes the answer unknown where it could change it. */
#include "filter/bind.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* ---- array_length() ---- */

struct length_test {
    uint32_t type;
    const struct key_range *ranges;
    size_t range_count;
};

static bool length_call(const void *arg, const uint8_t *data, size_t nbytes)
{
    const struct length_test *test = arg;

    return ranges_hold(test->ranges, test->range_count, array_length(test->type, data, nbytes));
}

static struct step *length_step(const struct binding *binding, const struct length_test *made)
{
    struct length_test *length = arena_copy(binding->arena, made, sizeof *made);
    struct column_test test = {.kind = TEST_CALL, .call = length_call, .arg = length};

    if (made->range_count == 0) return step_constant(binding, false);
    if (made->ranges[0].high - made->ranges[0].low == UINT32_MAX) return step_not_null(binding);
    return length != NULL ? step_test(binding, &test, COST_CALL) : NULL;
}

static paua_status bind_length(const struct binding *binding, struct step **step)
{
    struct length_test test = {.type = binding->field.type};
    struct step *made;
    paua_status status = bind_ranges(binding, PAUA_TYPE_UINT32, &test.ranges, &test.range_count);

    if (status != PAUA_OK) return status;
    made = length_step(binding, &test);
    if (made == NULL) return error_set_nomem(binding->err);
    *step = made;
    return PAUA_OK;
}

/* ---- CONTAIN_ALL, CONTAIN_ANY ---- */

/* What is looked for: keys (each a range, as zero has two), or byte strings. */
struct contain_test {
    uint32_t element;
    bool all, negated;
    struct key_range *keys; /* rising, disjoint */
    paua_bytes *strings;    /* rising, distinct */
    size_t count;
};

/* The elements of an array, one after another. */
struct elements {
    uint32_t type;
    struct reader reader;
    uint64_t key;
    paua_bytes bytes;
};

static uint64_t element_key(uint32_t type, uint64_t bits)
{
    unsigned unused = 64 - 8 * (unsigned)type_width(type);
    double number;
    float narrow;
    uint32_t half = (uint32_t)bits;

    if (type == PAUA_TYPE_FLOAT) {
        memcpy(&narrow, &half, sizeof narrow);
        return key_of_float(narrow);
    }
    if (type == PAUA_TYPE_DOUBLE) {
        memcpy(&number, &bits, sizeof number);
        return key_of_double(number);
    }
    if (type == PAUA_TYPE_TIMESTAMP || (type >= PAUA_TYPE_INT8 && type <= PAUA_TYPE_INT64))
        return key_of_int((int64_t)(bits << unused) >> unused);
    return bits;
}

static bool elements_next(struct elements *e)
{
    uint32_t nbytes;

    if (reader_left(&e->reader) == 0) return false;
    if (type_is_number(e->type)) {
        e->key = element_key(e->type, reader_uint(&e->reader, type_width(e->type)));
    } else {
        nbytes = reader_u32(&e->reader);
        e->bytes = (paua_bytes){reader_bytes(&e->reader, nbytes), nbytes};
    }
    return !e->reader.short_read;
}

/* -1, 0 or 1: how an element compares with the i-th of what is looked for. */
static int element_compare(const struct contain_test *test, size_t i, const struct elements *e)
{
    if (test->strings != NULL)
        return bytes_compare(e->bytes.data, e->bytes.nbytes, test->strings[i].data,
                             test->strings[i].nbytes);
    return e->key < test->keys[i].low ? -1 : e->key > test->keys[i].high;
}

/* Which one from `low` to below `high` an element is equal to; `high`: none. */
static size_t element_find(const struct contain_test *test, size_t low, size_t high,
                           const struct elements *e)
{
    size_t none = high;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = element_compare(test, middle, e);

        if (order == 0) return middle;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return none;
}

static bool contains_any(const struct contain_test *test, struct elements elements)
{
    while (elements_next(&elements))
        if (element_find(test, 0, test->count, &elements) < test->count) return true;
    return false;
}

static bool contains_all(const struct contain_test *test, const struct elements *elements)
{
    for (size_t from = 0; from < test->count; from += 64) {
        size_t to = test->count - from > 64 ? from + 64 : test->count;
        uint64_t missing = UINT64_MAX >> (64 - (to - from));
        struct elements e = *elements;

        while (missing != 0 && elements_next(&e)) {
            size_t found = element_find(test, from, to, &e);

            if (found < to) missing &= ~(UINT64_C(1) << (found - from));
        }
        if (missing != 0) return false;
    }
    return true;
}

static bool contain_call(const void *arg, const uint8_t *data, size_t nbytes)
{
    const struct contain_test *test = arg;
    struct elements elements = {.type = test->element, .reader = reader_over(data, nbytes)};
    bool contains = test->all ? contains_all(test, &elements) : contains_any(test, elements);

    return contains != test->negated;
}

static int by_low(const void *a, const void *b)
{
    uint64_t x = ((const struct key_range *)a)->low, y = ((const struct key_range *)b)->low;

    return (x > y) - (x < y);
}

static size_t keys_sort(struct key_range *keys, size_t count)
{
    size_t kept = 0;

    if (count > 1) qsort(keys, count, sizeof *keys, by_low);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || keys[kept - 1].low != keys[i].low) keys[kept++] = keys[i];
    return kept;
}

/* What the list had that is not looked for. */
struct left_out {
    bool null;
    bool impossible;
};

static paua_status look_for(const struct binding *binding, const struct literal *literal,
                            struct contain_test *test, struct left_out *left_out)
{
    struct cuts cuts;
    paua_status status;

    if (literal->value.type == PAUA_TYPE_NULL) {
        left_out->null = true;
        return PAUA_OK;
    }
    if (test->strings != NULL) {
        if (literal->value.type != test->element) return binding_mismatch(binding, literal);
        test->strings[test->count++] = literal->value.as.bytes;
        return PAUA_OK;
    }
    status = binding_cut(binding, test->element, literal, &cuts);
    if (status != PAUA_OK) return status;
    if (cuts.has_equal && !cuts.nan)
        test->keys[test->count++] = cuts.equal;
    else
        left_out->impossible = true;
    return PAUA_OK;
}

/* What is known without looking at an array, if anything is. */
static struct step *contain_step(const struct binding *binding, const struct contain_test *made,
                                 const struct left_out *left_out)
{
    struct contain_test *test = arena_copy(binding->arena, made, sizeof *made);
    struct column_test call = {.kind = TEST_CALL, .call = contain_call, .arg = test};

    if (test == NULL) return NULL;
    if (made->all && left_out->impossible)
        return made->negated ? step_not_null(binding) : step_constant(binding, false);
    /* ALL of these and NULL never holds, and never holds not to contain ANY of these and NULL. */
    if (left_out->null && made->all != made->negated) return step_constant(binding, false);
    if (made->count == 0)
        return made->all != made->negated ? step_not_null(binding) : step_constant(binding, false);
    return step_test(binding, &call, COST_CALL);
}

static paua_status bind_contain(const struct binding *binding, struct step **step)
{
    const struct compare *compare = binding->compare;
    paua_op op = binding_op(binding);
    struct contain_test test = {
        .element = type_element(binding->field.type),
        .all = op == PAUA_CONTAIN_ALL || op == PAUA_NOT_CONTAIN_ALL,
        .negated = op == PAUA_NOT_CONTAIN_ALL || op == PAUA_NOT_CONTAIN_ANY,
    };
    struct left_out left_out = {false, false};
    bool numbers = type_is_number(test.element);
    struct step *made;
    void *room = arena_alloc(binding->arena,
                             compare->count * (numbers ? sizeof *test.keys : sizeof *test.strings));

    if (room == NULL) return error_set_nomem(binding->err);
    if (numbers)
        test.keys = room;
    else
        test.strings = room;
    for (size_t i = 0; i < compare->count; i++) {
        paua_status status = look_for(binding, &compare->literals[i], &test, &left_out);

        if (status != PAUA_OK) return status;
    }
    test.count = numbers ? keys_sort(test.keys, test.count) : bytes_sort(test.strings, test.count);
    made = contain_step(binding, &test, &left_out);
    if (made == NULL) return error_set_nomem(binding->err);
    *step = made;
    return PAUA_OK;
}

paua_status bind_array(const struct binding *binding, struct step **step)
{
    if (binding->compare->length) return bind_length(binding, step);
    if (binding->compare->op >= PAUA_CONTAIN_ALL) return bind_contain(binding, step);
    return binding_operator_mismatch(binding);
}
