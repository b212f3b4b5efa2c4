/* bind_number.c - comparisons of numbers, booleans and timestamps: ranges of keys.
 *
 * Each literal cuts the keys of the field's type in three (cuts.h); operators take the parts that
 * they name, and what they take is put in order and joined. A NULL literal makes a comparison
 * unknown for every row: it adds nothing to = and IN, and nothing at all passes != and NOT IN. */
#include "filter/bind.h"

#include <assert.h>
#include <stdlib.h>

#include "base/error.h"

struct ranges {
    struct key_range *items;
    size_t count;
};

static bool is_null(const struct literal *literal) { return literal->value.type == PAUA_TYPE_NULL; }

static bool literal_is_number(const struct literal *literal)
{
    uint16_t type = literal->value.type;

    return type == PAUA_TYPE_INT64 || type == PAUA_TYPE_UINT64 || type == PAUA_TYPE_DOUBLE;
}

paua_status binding_cut(const struct binding *binding, uint32_t type, const struct literal *literal,
                        struct cuts *cuts)
{
    paua_value value = literal->value;
    paua_error err;

    if (type == PAUA_TYPE_TIMESTAMP && value.type == PAUA_TYPE_STRING) {
        const paua_bytes *text = &literal->value.as.bytes;

        if (paua_timestamp_parse(text->data, text->nbytes, &value.as.i64, &err) != PAUA_OK)
            return place_error(binding->err, literal->place, "%s", err.message);
        value.type = PAUA_TYPE_TIMESTAMP;
    } else if (type == PAUA_TYPE_TIMESTAMP || type == PAUA_TYPE_BOOL) {
        if (value.type != type) return binding_mismatch(binding, literal);
    } else if (!literal_is_number(literal)) {
        return binding_mismatch(binding, literal);
    }
    *cuts = cuts_of(type, &value);
    return PAUA_OK;
}

static void add(struct ranges *ranges, bool has, struct key_range range)
{
    if (has) ranges->items[ranges->count++] = range;
}

/* Adds the keys that compare with one literal as the operator says. */
static void add_compared(struct ranges *ranges, paua_op op, const struct cuts *cuts)
{
    bool equal = cuts->has_equal;

    if (op == PAUA_LT || op == PAUA_LE || op == PAUA_NE) add(ranges, cuts->has_below, cuts->below);
    if (op == PAUA_EQ) add(ranges, equal && !cuts->nan, cuts->equal);
    if (op == PAUA_NE) add(ranges, equal && cuts->nan, cuts->equal);
    if (op == PAUA_LE || op == PAUA_GE) add(ranges, equal, cuts->equal);
    if (op == PAUA_GT || op == PAUA_GE || op == PAUA_NE) add(ranges, cuts->has_above, cuts->above);
}

static int by_low(const void *a, const void *b)
{
    uint64_t x = ((const struct key_range *)a)->low, y = ((const struct key_range *)b)->low;

    return (x > y) - (x < y);
}

size_t ranges_join(struct key_range *ranges, size_t count)
{
    size_t joined = 0;

    if (count > 1) qsort(ranges, count, sizeof *ranges, by_low);
    for (size_t i = 0; i < count; i++) {
        struct key_range *last = &ranges[joined - (joined > 0)], next = ranges[i];

        if (joined > 0 && (last->high == UINT64_MAX || next.low <= last->high + 1)) {
            if (next.high > last->high) last->high = next.high;
        } else {
            ranges[joined++] = next;
        }
    }
    return joined;
}

size_t ranges_complement(struct key_range *ranges, size_t count, struct key_range all)
{
    uint64_t low = all.low;
    size_t left = 0;
    bool done = false;

    for (size_t i = 0; i < count; i++) {
        struct key_range range = ranges[i];

        if (range.low > low) ranges[left++] = (struct key_range){low, range.low - 1};
        done = range.high == all.high;
        low = range.high + 1;
    }
    if (!done) ranges[left++] = (struct key_range){low, all.high};
    return left;
}

static void join(struct ranges *ranges)
{
    ranges->count = ranges_join(ranges->items, ranges->count);
}

static void complement(struct ranges *ranges, uint32_t type)
{
    ranges->count = ranges_complement(ranges->items, ranges->count, type_keys(type));
}

static paua_status in_ranges(const struct binding *binding, uint32_t type, struct ranges *ranges)
{
    const struct compare *compare = binding->compare;
    bool none = false, negated = binding_op(binding) == PAUA_NOT_IN;

    for (size_t i = 0; i < compare->count; i++) {
        struct cuts cuts;
        paua_status status;

        if (is_null(&compare->literals[i])) {
            none = negated; /* unknown, if it is none of the others */
            continue;
        }
        status = binding_cut(binding, type, &compare->literals[i], &cuts);
        if (status != PAUA_OK) return status;
        add_compared(ranges, PAUA_EQ, &cuts);
    }
    join(ranges);
    if (negated) complement(ranges, type);
    if (none) ranges->count = 0;
    return PAUA_OK;
}

static paua_status between_ranges(const struct binding *binding, uint32_t type,
                                  struct ranges *ranges)
{
    const struct literal *literals = binding->compare->literals;
    bool outside = binding_op(binding) == PAUA_NOT_BETWEEN, null = false;
    paua_status status;
    struct cuts cuts;

    for (int i = 0; i < 2; i++) {
        if (is_null(&literals[i])) {
            null = true;
            continue;
        }
        status = binding_cut(binding, type, &literals[i], &cuts);
        if (status != PAUA_OK) return status;
        add_compared(ranges, i == 0 ? PAUA_LT : PAUA_GT, &cuts);
    }
    join(ranges);
    if (outside) return PAUA_OK;
    /* What is neither below the one nor above the other. */
    complement(ranges, type);
    if (null) ranges->count = 0;
    return PAUA_OK;
}

static paua_status compared_ranges(const struct binding *binding, uint32_t type,
                                   struct ranges *ranges)
{
    const struct literal *literal = &binding->compare->literals[0];
    struct cuts cuts;
    paua_status status;

    if (is_null(literal)) return PAUA_OK;
    status = binding_cut(binding, type, literal, &cuts);
    if (status != PAUA_OK) return status;
    add_compared(ranges, binding_op(binding), &cuts);
    join(ranges);
    return PAUA_OK;
}

paua_status bind_ranges(const struct binding *binding, uint32_t type,
                        const struct key_range **ranges, size_t *count)
{
    size_t room = binding->compare->count + 3;
    struct ranges made = {arena_alloc(binding->arena, room * sizeof *made.items), 0};
    paua_status status;

    if (made.items == NULL) return error_set_nomem(binding->err);
    switch (binding->compare->op) {
    case PAUA_IN:
    case PAUA_NOT_IN:
        status = in_ranges(binding, type, &made);
        break;
    case PAUA_BETWEEN:
    case PAUA_NOT_BETWEEN:
        status = between_ranges(binding, type, &made);
        break;
    default:
        assert(binding->compare->op <= PAUA_GE);
        status = compared_ranges(binding, type, &made);
        break;
    }
    if (status != PAUA_OK) return status;
    *ranges = made.items;
    *count = made.count;
    return PAUA_OK;
}

bool ranges_hold(const struct key_range *ranges, size_t count, uint64_t key)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (ranges[middle].high < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && ranges[low].low <= key;
}

paua_status bind_number(const struct binding *binding, struct step **step)
{
    struct key_range all = type_keys(binding->field.type);
    struct column_test test = {.kind = TEST_KEYS};
    struct step *made;
    paua_status status;

    if (binding->compare->op > PAUA_NOT_BETWEEN || binding->compare->op == PAUA_LIKE ||
        binding->compare->op == PAUA_NOT_LIKE)
        return binding_operator_mismatch(binding);
    status = bind_ranges(binding, binding->field.type, &test.ranges, &test.range_count);
    if (status != PAUA_OK) return status;
    if (test.range_count == 0)
        made = step_constant(binding, false);
    else if (test.ranges[0].low == all.low && test.ranges[0].high == all.high)
        made = step_not_null(binding);
    else
        made = step_test(binding, &test, COST_KEYS);
    if (made == NULL) return error_set_nomem(binding->err);
    *step = made;
    return PAUA_OK;
}
