/* bind_bytes.c - comparisons of strings, of bytes, and of both in mixed fields.
 *
 * Equality becomes a set of byte strings, order a range of them, LIKE whichever of these says the
 * same or else a call. A mixed field's byte strings begin with their type, so that its strings and
 * its bytes are two ranges: a comparison by order, and LIKE, holds for values of the literal's own
 * type only, while = and != tell values of the two types apart, as they differ. */
#include "filter/bind.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "filter/like.h"

static bool is_null(const struct literal *literal) { return literal->value.type == PAUA_TYPE_NULL; }

static bool is_mixed(const struct binding *binding)
{
    return binding->field.type == PAUA_TYPE_MIXED;
}

/* A literal's bytes as the field stores them. */
static paua_status stored(const struct binding *binding, const struct literal *literal,
                          paua_bytes *bytes)
{
    const paua_bytes *given = &literal->value.as.bytes;
    uint16_t type = literal->value.type;
    uint8_t *copy;

    if ((type != PAUA_TYPE_STRING && type != PAUA_TYPE_BYTES) ||
        (!is_mixed(binding) && type != binding->field.type))
        return binding_mismatch(binding, literal);
    *bytes = *given;
    if (!is_mixed(binding)) return PAUA_OK;
    copy = arena_alloc(binding->arena, given->nbytes + 1);
    if (copy == NULL) return error_set_nomem(binding->err);
    copy[0] = (uint8_t)type;
    memcpy(copy + 1, given->data, given->nbytes);
    *bytes = (paua_bytes){copy, given->nbytes + 1};
    return PAUA_OK;
}

static int by_bytes(const void *a, const void *b)
{
    const paua_bytes *x = a, *y = b;

    return bytes_compare(x->data, x->nbytes, y->data, y->nbytes);
}

size_t bytes_sort(paua_bytes *items, size_t count)
{
    size_t kept = 0;

    if (count > 1) qsort(items, count, sizeof *items, by_bytes);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || by_bytes(&items[kept - 1], &items[i]) != 0) items[kept++] = items[i];
    return kept;
}

static paua_status finish(const struct binding *binding, struct step *made, struct step **step)
{
    if (made == NULL) return error_set_nomem(binding->err);
    *step = made;
    return PAUA_OK;
}

/* =, !=, IN, NOT IN. */
static paua_status bind_set(const struct binding *binding, struct step **step)
{
    const struct compare *compare = binding->compare;
    paua_op op = binding_op(binding);
    struct column_test test = {.kind = TEST_SET, .negated = op == PAUA_NE || op == PAUA_NOT_IN};
    paua_bytes *set = arena_alloc(binding->arena, compare->count * sizeof *set);
    bool null = false;

    if (set == NULL) return error_set_nomem(binding->err);
    for (size_t i = 0; i < compare->count; i++) {
        paua_status status;

        if (is_null(&compare->literals[i])) {
            null = true;
            continue;
        }
        status = stored(binding, &compare->literals[i], &set[test.set_count++]);
        if (status != PAUA_OK) return status;
    }
    test.set = set;
    test.set_count = bytes_sort(set, test.set_count);
    if (test.set_count == 0 || (null && test.negated))
        return finish(binding, step_constant(binding, false), step);
    return finish(binding, step_test(binding, &test, COST_SET), step);
}

/* The limits of a mixed field's values of one type. */
static void limit_to(const struct binding *binding, uint16_t type, struct column_test *test)
{
    static const uint8_t tags[] = {PAUA_TYPE_STRING, PAUA_TYPE_STRING + 1, PAUA_TYPE_BYTES,
                                   PAUA_TYPE_BYTES + 1};
    const uint8_t *tag = type == PAUA_TYPE_STRING ? tags : tags + 2;

    if (!is_mixed(binding)) return;
    test->low = (paua_bytes){tag, 1};
    test->high = (paua_bytes){tag + 1, 1};
    test->high_open = true;
}

static void set_low(struct column_test *test, const paua_bytes *bytes, bool open)
{
    test->low = *bytes;
    test->low_open = open;
}

static void set_high(struct column_test *test, const paua_bytes *bytes, bool open)
{
    test->high = *bytes;
    test->high_open = open;
}

/* <, <=, > or >= one literal. */
static paua_status bind_order(const struct binding *binding, paua_op op,
                              const struct literal *literal, struct step **step)
{
    struct column_test test = {.kind = TEST_BYTES};
    paua_bytes bytes;
    paua_status status;

    if (is_null(literal)) return finish(binding, step_constant(binding, false), step);
    status = stored(binding, literal, &bytes);
    if (status != PAUA_OK) return status;
    limit_to(binding, literal->value.type, &test);
    if (op == PAUA_LT || op == PAUA_LE)
        set_high(&test, &bytes, op == PAUA_LT);
    else
        set_low(&test, &bytes, op == PAUA_GT);
    return finish(binding, step_test(binding, &test, COST_BYTES), step);
}

static paua_status bind_between(const struct binding *binding, struct step **step)
{
    const struct literal *from = &binding->compare->literals[0], *to = from + 1;
    struct column_test test = {.kind = TEST_BYTES};
    paua_bytes low = {0}, high = {0};
    paua_status status = PAUA_OK;

    if (!is_null(from)) status = stored(binding, from, &low);
    if (status == PAUA_OK && !is_null(to)) status = stored(binding, to, &high);
    if (status != PAUA_OK) return status;
    if (is_null(from) || is_null(to) || from->value.type != to->value.type ||
        by_bytes(&low, &high) > 0)
        return finish(binding, step_constant(binding, false), step);
    set_low(&test, &low, false);
    set_high(&test, &high, false);
    return finish(binding, step_test(binding, &test, COST_BYTES), step);
}

static paua_status bind_outside(const struct binding *binding, struct step **step)
{
    const struct literal *literals = binding->compare->literals;
    struct step *below, *above;
    paua_status status = bind_order(binding, PAUA_LT, &literals[0], &below);

    if (status == PAUA_OK) status = bind_order(binding, PAUA_GT, &literals[1], &above);
    if (status != PAUA_OK) return status;
    return finish(binding, step_any(binding, below, above), step);
}

/* ---- LIKE ---- */

struct like_test {
    paua_bytes compiled;
    bool mixed, negated;
};

static bool like_call(const void *arg, const uint8_t *data, size_t nbytes)
{
    const struct like_test *test = arg;

    if (test->mixed) {
        if (nbytes == 0 || data[0] != PAUA_TYPE_STRING) return false;
        data++;
        nbytes--;
    }
    return like_matches(&test->compiled, data, nbytes) != test->negated;
}

static struct step *like_step(const struct binding *binding, const paua_bytes *compiled)
{
    struct like_test *like = arena_alloc(binding->arena, sizeof *like);
    struct column_test test = {.kind = TEST_CALL, .call = like_call, .arg = like};

    if (like == NULL) return NULL;
    *like = (struct like_test){.compiled = *compiled,
                               .mixed = is_mixed(binding),
                               .negated = binding_op(binding) == PAUA_NOT_LIKE};
    return step_test(binding, &test, COST_CALL);
}

/* All strings that begin with `prefix`. */
static struct step *prefix_step(const struct binding *binding, const paua_bytes *prefix)
{
    struct literal literal = {.value = {.type = PAUA_TYPE_STRING, .as.bytes = *prefix}};
    struct column_test test = {.kind = TEST_BYTES};
    uint8_t *past;
    paua_bytes low;

    if (prefix->nbytes == 0 && !is_mixed(binding)) return step_not_null(binding);
    limit_to(binding, PAUA_TYPE_STRING, &test);
    if (prefix->nbytes > 0) {
        if (stored(binding, &literal, &low) != PAUA_OK) return NULL;
        past = arena_copy(binding->arena, low.data, low.nbytes);
        if (past == NULL) return NULL;
        past[low.nbytes - 1]++; /* of UTF-8: below 0xFF */
        set_low(&test, &low, false);
        set_high(&test, &(paua_bytes){past, low.nbytes}, true);
    }
    return step_test(binding, &test, COST_BYTES);
}

/* Is the pattern a string and then %, or a string alone? */
static bool is_plain(const paua_bytes *compiled, bool *prefix)
{
    const uint8_t *bytes = compiled->data;
    size_t nbytes = compiled->nbytes;

    *prefix = nbytes > 0 && bytes[nbytes - 1] == LIKE_ANY;
    for (size_t i = 0; i < nbytes - *prefix; i++)
        if (bytes[i] >= LIKE_ONE) return false;
    return true;
}

static paua_status bind_like(const struct binding *binding, struct step **step)
{
    const struct compare *compare = binding->compare;
    const struct literal *pattern = &compare->literals[0];
    const paua_bytes *escape = compare->count == 2 ? &pattern[1].value.as.bytes : NULL;
    paua_bytes compiled;
    bool prefix;

    if (binding->field.type == PAUA_TYPE_BYTES) return binding_operator_mismatch(binding);
    if (is_null(pattern)) return finish(binding, step_constant(binding, false), step);
    if (!like_compile(&pattern->value.as.bytes, escape, binding->arena, &compiled))
        return error_set_nomem(binding->err);
    if (binding_op(binding) == PAUA_LIKE && is_plain(&compiled, &prefix)) {
        struct literal literal = {.value = {.type = PAUA_TYPE_STRING, .as.bytes = compiled}};
        struct compare equal = {.literals = &literal, .count = 1, .op = PAUA_EQ};
        struct binding same = *binding;

        compiled.nbytes -= prefix;
        if (prefix) return finish(binding, prefix_step(binding, &compiled), step);
        same.compare = &equal;
        same.negated = false;
        return bind_set(&same, step);
    }
    return finish(binding, like_step(binding, &compiled), step);
}

paua_status bind_bytes(const struct binding *binding, struct step **step)
{
    paua_op op = binding_op(binding);

    switch (op) {
    case PAUA_EQ:
    case PAUA_NE:
    case PAUA_IN:
    case PAUA_NOT_IN:
        return bind_set(binding, step);
    case PAUA_LT:
    case PAUA_LE:
    case PAUA_GT:
    case PAUA_GE:
        return bind_order(binding, op, &binding->compare->literals[0], step);
    case PAUA_BETWEEN:
        return bind_between(binding, step);
    case PAUA_NOT_BETWEEN:
        return bind_outside(binding, step);
    case PAUA_LIKE:
    case PAUA_NOT_LIKE:
        return bind_like(binding, step);
    default:
        return binding_operator_mismatch(binding);
    }
}
