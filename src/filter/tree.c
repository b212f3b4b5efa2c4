/* tree.c - filters built by calls, and what trees from text and from calls have in common.
 *
 * A filter owns an arena with the nodes that it made; one that combines others takes those over
 * with their arenas, so combining copies nothing and freeing is a loop. Values are brought to few
 * types here (struct literal), so that a filter built by calls is equal to one parsed from its
 * text. Immutable from when it is given to the caller until it is taken over or freed. */
#include "filter/tree.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "filter/like.h"

static bool combines(const struct node *node)
{
    return node->kind == NODE_ALL || node->kind == NODE_ANY;
}

bool node_in_parens(enum node_kind parent, const struct node *child)
{
    return combines(child) && !(parent == NODE_ANY && child->kind == NODE_ALL);
}

uint32_t node_nesting(enum node_kind parent, const struct node *child)
{
    uint32_t nesting = child != NULL ? child->nesting : 0;

    if (parent == NODE_NOT) nesting++;
    if (child != NULL && node_in_parens(parent, child)) nesting++;
    return nesting;
}

/* ---- comparisons ---- */

static paua_status like_check(const struct compare *compare, paua_error *err)
{
    const struct literal *pattern = &compare->literals[0], *escape = NULL;

    if (compare->length)
        return place_error(err, compare->place, "array_length() is a number; LIKE is for strings");
    for (size_t i = 0; i < compare->count; i++) {
        uint16_t type = compare->literals[i].value.type;
        char excerpt[EXCERPT_NBYTES];

        if (type == PAUA_TYPE_STRING || (type == PAUA_TYPE_NULL && i == 0)) continue;
        literal_excerpt(&compare->literals[i], excerpt);
        return place_error(err, compare->literals[i].place, "%s takes a string, not %s",
                           i == 0 ? "LIKE" : "ESCAPE", excerpt);
    }
    if (compare->count == 2) escape = &compare->literals[1];
    if (escape != NULL && !like_escape_valid(&escape->value.as.bytes))
        return place_error(err, escape->place, "ESCAPE takes one character, or none");
    if (pattern->value.type == PAUA_TYPE_STRING &&
        !like_valid(&pattern->value.as.bytes, escape != NULL ? &escape->value.as.bytes : NULL))
        return place_error(err, pattern->place,
                           "the pattern ends with its escape character; write it twice to mean it");
    return PAUA_OK;
}

static bool count_right(const struct compare *compare)
{
    switch (compare->op) {
    case PAUA_LIKE:
    case PAUA_NOT_LIKE:
        return compare->count == 1 || compare->count == 2;
    case PAUA_BETWEEN:
    case PAUA_NOT_BETWEEN:
        return compare->count == 2;
    case PAUA_IN:
    case PAUA_NOT_IN:
        return compare->count >= 1;
    case PAUA_IS_NULL:
    case PAUA_IS_NOT_NULL:
        return compare->count == 0;
    case PAUA_CONTAIN_ALL:
    case PAUA_NOT_CONTAIN_ALL:
    case PAUA_CONTAIN_ANY:
    case PAUA_NOT_CONTAIN_ANY:
        return true;
    default:
        return compare->count == 1;
    }
}

paua_status compare_check(const struct compare *compare, paua_error *err)
{
    if (!count_right(compare))
        return place_error(err, compare->place, "%zu values are not what this operator takes",
                           compare->count);
    if (compare->op == PAUA_LIKE || compare->op == PAUA_NOT_LIKE) return like_check(compare, err);
    if (compare->length && compare->op >= PAUA_CONTAIN_ALL)
        return place_error(err, compare->place,
                           "array_length() is a number; CONTAIN_ALL and CONTAIN_ANY take an array");
    return PAUA_OK;
}

/* A caller's value as a literal. PAUA_EINVAL, PAUA_ENOMEM. */
static paua_status literal_make(struct arena *arena, const paua_value *value,
                                struct literal *literal, paua_error *err)
{
    *literal = (struct literal){.value = {.type = value->type, .as = value->as}};
    if (value->type >= PAUA_TYPE_INT8 && value->type <= PAUA_TYPE_INT64) {
        literal->value.type = PAUA_TYPE_INT64;
    } else if (value->type >= PAUA_TYPE_UINT8 && value->type <= PAUA_TYPE_UINT64) {
        literal->value.type = value->as.u64 > INT64_MAX ? PAUA_TYPE_UINT64 : PAUA_TYPE_INT64;
    } else if (value->type == PAUA_TYPE_FLOAT || value->type == PAUA_TYPE_DOUBLE) {
        literal->value.type = PAUA_TYPE_DOUBLE;
        /* One NaN of each sign: text has no more. */
        if (isnan(value->as.f64))
            literal->value.as.f64 =
                copysign((double)__builtin_nanf(""), signbit(value->as.f64) ? -1.0 : 1.0);
    } else if (value->type == PAUA_TYPE_STRING || value->type == PAUA_TYPE_BYTES) {
        const paua_bytes *bytes = &value->as.bytes;

        if (bytes->data == NULL || bytes->nbytes > PAUA_VALUE_NBYTES_MAX)
            return error_set(err, PAUA_EINVAL, "a filter's value is absent, or above 64 MiB");
        if (value->type == PAUA_TYPE_STRING &&
            utf8_valid_prefix(bytes->data, bytes->nbytes) < bytes->nbytes)
            return error_set(err, PAUA_EINVAL, "a filter's string is not UTF-8");
        literal->value.as.bytes.data = arena_copy(arena, bytes->data, bytes->nbytes);
        if (literal->value.as.bytes.data == NULL) return error_set_nomem(err);
    } else if (value->type != PAUA_TYPE_NULL && value->type != PAUA_TYPE_BOOL &&
               value->type != PAUA_TYPE_TIMESTAMP) {
        return error_set(err, PAUA_EINVAL,
                         "a filter's value is of type %s; fields are not "
                         "compared with that",
                         paua_type_name(value->type));
    }
    return PAUA_OK;
}

static paua_status compare_make(struct arena *arena, const paua_value *values,
                                struct compare *compare, paua_error *err)
{
    struct literal *literals = NULL;

    if (compare->count <= SIZE_MAX / sizeof *literals)
        literals = arena_alloc(arena, compare->count * sizeof *literals);
    compare->literals = literals;
    compare->name = arena_copy(arena, compare->name, compare->name_nbytes);
    if (literals == NULL || compare->name == NULL) return error_set_nomem(err);
    for (size_t i = 0; i < compare->count; i++) {
        paua_status status = literal_make(arena, &values[i], &literals[i], err);

        if (status != PAUA_OK) return status;
    }
    return compare_check(compare, err);
}

/* A filter with an empty root. */
static struct paua_filter *filter_new(enum node_kind kind)
{
    struct paua_filter *filter = mem_zalloc(1, sizeof *filter);

    if (filter == NULL) return NULL;
    filter->root = arena_alloc(&filter->arena, sizeof *filter->root);
    if (filter->root == NULL) {
        mem_free(filter);
        return NULL;
    }
    *filter->root = (struct node){.kind = kind};
    return filter;
}

paua_status paua_filter_compare(const char *field, bool length, paua_op op,
                                const paua_value *values, size_t count, paua_filter **filter,
                                paua_error *err)
{
    struct paua_filter *made;
    struct compare *compare;
    paua_status status;

    if (field == NULL || field[0] == '\0' || (values == NULL && count > 0) || filter == NULL)
        return error_set(err, PAUA_EINVAL, "no field, no values, or nowhere to put the filter");
    if (op < PAUA_EQ || op > PAUA_NOT_CONTAIN_ANY)
        return error_set(err, PAUA_EINVAL, "%d is no operator", (int)op);
    if (utf8_valid_prefix(field, strlen(field)) < strlen(field))
        return error_set(err, PAUA_EINVAL, "a field's name is not UTF-8");
    made = filter_new(NODE_COMPARE);
    if (made == NULL) return error_set_nomem(err);
    compare = &made->root->as.compare;
    *compare = (struct compare){
        .name = field, .name_nbytes = strlen(field), .count = count, .op = op, .length = length};
    status = compare_make(&made->arena, values, compare, err);
    if (status != PAUA_OK) {
        paua_filter_free(made);
        return status;
    }
    *filter = made;
    return PAUA_OK;
}

/* ---- combining ---- */

/* NULL, or why these cannot be combined. */
static const char *combine_refusal(paua_filter *const *filters, size_t count, enum node_kind kind)
{
    const char *refusal = NULL;
    size_t listed = 0;

    for (; listed < count && refusal == NULL; listed++) {
        if (filters[listed] == NULL)
            refusal = "a filter to combine is NULL";
        else if (filters[listed]->listed)
            refusal = "a filter is combined with itself; parse or build it twice";
        else if (node_nesting(kind, filters[listed]->root) > FILTER_DEPTH_MAX)
            refusal = "conditions are nested too deep";
        else
            filters[listed]->listed = true;
    }
    for (size_t i = 0; i < listed; i++)
        if (filters[i] != NULL) filters[i]->listed = false;
    return refusal;
}

/* Takes over one filter: its root becomes the child before `next`, its memory that of `taker`. */
static void take(struct paua_filter *taker, struct paua_filter *filter, struct node *next)
{
    struct paua_filter **last = &filter->taken;
    uint32_t nesting = node_nesting(taker->root->kind, filter->root);

    while (*last != NULL)
        last = &(*last)->next;
    *last = taker->taken;
    filter->next = filter->taken;
    filter->taken = NULL;
    taker->taken = filter;
    filter->root->next = next;
    taker->root->as.first = filter->root;
    if (nesting > taker->root->nesting) taker->root->nesting = nesting;
}

static paua_status combine(enum node_kind kind, paua_filter *const *filters, size_t count,
                           paua_filter **filter, paua_error *err)
{
    const char *refusal;
    struct paua_filter *made;

    if ((filters == NULL && count > 0) || filter == NULL)
        return error_set(err, PAUA_EINVAL, "no filters, or nowhere to put what they make");
    refusal = combine_refusal(filters, count, kind);
    if (refusal != NULL) return error_set(err, PAUA_EINVAL, "%s", refusal);
    if (count == 1 && kind != NODE_NOT) {
        *filter = filters[0];
        return PAUA_OK;
    }
    if (count == 0) kind = kind == NODE_ALL ? NODE_TRUE : NODE_FALSE;
    made = filter_new(kind);
    if (made == NULL) return error_set_nomem(err);
    for (size_t i = count; i > 0; i--)
        take(made, filters[i - 1], i < count ? made->root->as.first : NULL);
    *filter = made;
    return PAUA_OK;
}

paua_status paua_filter_all(paua_filter *const *filters, size_t count, paua_filter **filter,
                            paua_error *err)
{
    return combine(NODE_ALL, filters, count, filter, err);
}

paua_status paua_filter_any(paua_filter *const *filters, size_t count, paua_filter **filter,
                            paua_error *err)
{
    return combine(NODE_ANY, filters, count, filter, err);
}

paua_status paua_filter_not(paua_filter *inner, paua_filter **filter, paua_error *err)
{
    return combine(NODE_NOT, &inner, 1, filter, err);
}

void paua_filter_free(paua_filter *filter)
{
    struct paua_filter *taken = filter != NULL ? filter->taken : NULL;

    while (taken != NULL) {
        struct paua_filter *next = taken->next;

        arena_free(&taken->arena);
        mem_free(taken);
        taken = next;
    }
    if (filter != NULL) arena_free(&filter->arena);
    mem_free(filter);
}
