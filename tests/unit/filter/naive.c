/* naive.c - see naive.h. Numbers are compared as long double, which holds every integer of 64 bits
 * and every double as it is. */
#include "naive.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ARRAY(type) ((uint32_t)PAUA_TYPE_ARRAY | (uint32_t)(type))

const struct test_field FIELDS[FIELD_COUNT] = {
    {"b", PAUA_TYPE_BOOL},
    {"i8", PAUA_TYPE_INT8},
    {"i16", PAUA_TYPE_INT16},
    {"i32", PAUA_TYPE_INT32},
    {"i64", PAUA_TYPE_INT64},
    {"u8", PAUA_TYPE_UINT8},
    {"u16", PAUA_TYPE_UINT16},
    {"u32", PAUA_TYPE_UINT32},
    {"u64", PAUA_TYPE_UINT64},
    {"f", PAUA_TYPE_FLOAT},
    {"d", PAUA_TYPE_DOUBLE},
    {"t", PAUA_TYPE_TIMESTAMP},
    {"s", PAUA_TYPE_STRING},
    {"y", PAUA_TYPE_BYTES},
    {"m", PAUA_TYPE_MIXED},
    {"ab", ARRAY(PAUA_TYPE_BOOL)},
    {"ai", ARRAY(PAUA_TYPE_INT16)},
    {"af", ARRAY(PAUA_TYPE_FLOAT)},
    {"at", ARRAY(PAUA_TYPE_TIMESTAMP)},
    {"as", ARRAY(PAUA_TYPE_STRING)},
    {"au", ARRAY(PAUA_TYPE_UINT64)},
};

static bool find(const void *arg, const char *name, size_t nbytes, struct filter_field *field)
{
    (void)arg;
    for (uint32_t i = 0; i < FIELD_COUNT; i++)
        if (strlen(FIELDS[i].name) == nbytes && memcmp(FIELDS[i].name, name, nbytes) == 0) {
            *field = (struct filter_field){i, FIELDS[i].type};
            return true;
        }
    return false;
}

static const char *name_at(const void *arg, uint32_t i)
{
    (void)arg;
    return i < FIELD_COUNT ? FIELDS[i].name : NULL;
}

const struct filter_fields TEST_FIELDS = {find, name_at, NULL};

/* ---- three values ---- */

static enum tri tri_of(bool truth) { return truth ? TRI_TRUE : TRI_FALSE; }

static enum tri tri_not(enum tri a)
{
    return a == TRI_UNKNOWN ? TRI_UNKNOWN : tri_of(a == TRI_FALSE);
}

static enum tri tri_and(enum tri a, enum tri b)
{
    if (a == TRI_FALSE || b == TRI_FALSE) return TRI_FALSE;
    return a == TRI_TRUE && b == TRI_TRUE ? TRI_TRUE : TRI_UNKNOWN;
}

static enum tri tri_or(enum tri a, enum tri b) { return tri_not(tri_and(tri_not(a), tri_not(b))); }

/* ---- comparing ---- */

static long double number_of(const paua_value *value)
{
    switch (value->type) {
    case PAUA_TYPE_BOOL:
        return value->as.boolean;
    case PAUA_TYPE_UINT8:
    case PAUA_TYPE_UINT16:
    case PAUA_TYPE_UINT32:
    case PAUA_TYPE_UINT64:
        return (long double)value->as.u64;
    case PAUA_TYPE_FLOAT:
    case PAUA_TYPE_DOUBLE:
        return (long double)value->as.f64;
    default:
        return (long double)value->as.i64;
    }
}

static bool is_bytes(uint16_t type) { return type == PAUA_TYPE_STRING || type == PAUA_TYPE_BYTES; }

/* A literal as it is compared with values of a type. */
static paua_value as_compared(uint32_t type, const paua_value *literal)
{
    paua_value value = *literal;

    if (type == PAUA_TYPE_TIMESTAMP && value.type == PAUA_TYPE_STRING) {
        assert_int_equal(paua_timestamp_parse(literal->as.bytes.data, literal->as.bytes.nbytes,
                                              &value.as.i64, NULL),
                         PAUA_OK);
        value.type = PAUA_TYPE_TIMESTAMP;
    }
    if (type == PAUA_TYPE_FLOAT && value.type == PAUA_TYPE_DOUBLE &&
        isinf((float)value.as.f64) == isinf(value.as.f64))
        value.as.f64 = (double)(float)value.as.f64;
    return value;
}

static int rank_of(long double number) { return !isnan(number) ? 0 : signbit(number) ? -1 : 1; }

static int sign_of(int number) { return (number > 0) - (number < 0); }

static int order(const paua_value *a, const paua_value *b)
{
    long double x, y;

    if (is_bytes(a->type)) {
        size_t shorter =
            a->as.bytes.nbytes < b->as.bytes.nbytes ? a->as.bytes.nbytes : b->as.bytes.nbytes;
        int first = memcmp(a->as.bytes.data, b->as.bytes.data, shorter);

        return first != 0 ? sign_of(first)
                          : (a->as.bytes.nbytes > b->as.bytes.nbytes) -
                                (a->as.bytes.nbytes < b->as.bytes.nbytes);
    }
    x = number_of(a);
    y = number_of(b);
    if (rank_of(x) != 0 || rank_of(y) != 0) return sign_of(rank_of(x) - rank_of(y));
    return (x > y) - (x < y);
}

static enum tri compare_one(const paua_value *value, paua_op op, const paua_value *literal)
{
    paua_value other = as_compared(value->type, literal);
    bool nan;
    int o;

    if (value->type == PAUA_TYPE_NULL || literal->type == PAUA_TYPE_NULL) return TRI_UNKNOWN;
    if (is_bytes(value->type) && value->type != other.type) {
        if (op == PAUA_EQ || op == PAUA_NE) return tri_of(op == PAUA_NE);
        return TRI_UNKNOWN;
    }
    o = order(value, &other);
    nan = !is_bytes(value->type) && (isnan(number_of(value)) || isnan(number_of(&other)));
    switch (op) {
    case PAUA_EQ:
        return tri_of(o == 0 && !nan);
    case PAUA_NE:
        return tri_of(o != 0 || nan);
    case PAUA_LT:
        return tri_of(o < 0);
    case PAUA_LE:
        return tri_of(o <= 0);
    case PAUA_GT:
        return tri_of(o > 0);
    default:
        return tri_of(o >= 0);
    }
}

static enum tri in_list(const paua_value *value, const struct compare *compare)
{
    enum tri found = TRI_FALSE;

    for (size_t i = 0; i < compare->count; i++)
        found = tri_or(found, compare_one(value, PAUA_EQ, &compare->literals[i].value));
    return found;
}

/* ---- LIKE, as one defines it ---- */

static size_t character(const char *text)
{
    unsigned char first = (unsigned char)*text;

    return first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

static bool like(const char *p, const char *p_end, const char *escape, const char *t,
                 const char *t_end)
{
    bool escaped = p < p_end && *escape != '\0' && strncmp(p, escape, strlen(escape)) == 0;

    if (p == p_end) return t == t_end;
    if (!escaped && *p == '%')
        return like(p + 1, p_end, escape, t, t_end) ||
               (t < t_end && like(p, p_end, escape, t + character(t), t_end));
    if (t == t_end) return false;
    if (!escaped && *p == '_') return like(p + 1, p_end, escape, t + character(t), t_end);
    if (escaped) p += strlen(escape);
    return character(p) == character(t) && memcmp(p, t, character(p)) == 0 &&
           like(p + character(p), p_end, escape, t + character(t), t_end);
}

static enum tri like_value(const paua_value *value, const struct compare *compare)
{
    const paua_bytes *pattern = &compare->literals[0].value.as.bytes, *text = &value->as.bytes;
    char escape[8] = "\\";

    if (value->type != PAUA_TYPE_STRING || compare->literals[0].value.type == PAUA_TYPE_NULL)
        return TRI_UNKNOWN;
    if (compare->count == 2) {
        const paua_bytes *given = &compare->literals[1].value.as.bytes;

        memset(escape, 0, sizeof escape);
        memcpy(escape, given->data, given->nbytes);
    }
    return tri_of(like(pattern->data, (const char *)pattern->data + pattern->nbytes, escape,
                       text->data, (const char *)text->data + text->nbytes));
}

/* ---- arrays ---- */

static enum tri contains(const paua_value *array, const paua_value *literal)
{
    enum tri found = TRI_FALSE;

    if (literal->type == PAUA_TYPE_NULL) return TRI_UNKNOWN;
    for (uint32_t i = 0; i < array->count; i++)
        found = tri_or(found, compare_one(&array->as.items[i], PAUA_EQ, literal));
    return found;
}

static enum tri contain(const paua_value *array, const struct compare *compare, bool all)
{
    enum tri sum = tri_of(all);

    if (array->type == PAUA_TYPE_NULL) return TRI_UNKNOWN;
    for (size_t i = 0; i < compare->count; i++) {
        enum tri one = contains(array, &compare->literals[i].value);

        sum = all ? tri_and(sum, one) : tri_or(sum, one);
    }
    return sum;
}

/* ---- nodes ---- */

static enum tri between(const paua_value *value, const struct compare *compare)
{
    return tri_and(compare_one(value, PAUA_GE, &compare->literals[0].value),
                   compare_one(value, PAUA_LE, &compare->literals[1].value));
}

static enum tri naive_compare(const struct compare *compare, const paua_value *row)
{
    struct filter_field field = {0, 0};
    paua_value value;

    assert_true(find(NULL, compare->name, compare->name_nbytes, &field));
    value = row[field.id];
    if (compare->length && value.type != PAUA_TYPE_NULL)
        value = (paua_value){.type = PAUA_TYPE_UINT32, .as.u64 = value.count};
    switch (compare->op) {
    case PAUA_IS_NULL:
        return tri_of(value.type == PAUA_TYPE_NULL);
    case PAUA_IS_NOT_NULL:
        return tri_of(value.type != PAUA_TYPE_NULL);
    case PAUA_LIKE:
        return like_value(&value, compare);
    case PAUA_NOT_LIKE:
        return tri_not(like_value(&value, compare));
    case PAUA_IN:
        return in_list(&value, compare);
    case PAUA_NOT_IN:
        return tri_not(in_list(&value, compare));
    case PAUA_BETWEEN:
        return between(&value, compare);
    case PAUA_NOT_BETWEEN:
        return tri_not(between(&value, compare));
    case PAUA_CONTAIN_ALL:
    case PAUA_CONTAIN_ANY:
        return contain(&value, compare, compare->op == PAUA_CONTAIN_ALL);
    case PAUA_NOT_CONTAIN_ALL:
    case PAUA_NOT_CONTAIN_ANY:
        return tri_not(contain(&value, compare, compare->op == PAUA_NOT_CONTAIN_ALL));
    default:
        return compare_one(&value, compare->op, &compare->literals[0].value);
    }
}

enum tri naive_node(const struct node *node, const paua_value row[FIELD_COUNT])
{
    enum tri sum = tri_of(node->kind == NODE_ALL);

    switch (node->kind) {
    case NODE_TRUE:
    case NODE_FALSE:
        return tri_of(node->kind == NODE_TRUE);
    case NODE_COMPARE:
        return naive_compare(&node->as.compare, row);
    case NODE_NOT:
        return tri_not(naive_node(node->as.first, row));
    default:
        for (const struct node *child = node->as.first; child != NULL; child = child->next) {
            enum tri one = naive_node(child, row);

            sum = node->kind == NODE_ALL ? tri_and(sum, one) : tri_or(sum, one);
        }
        return sum;
    }
}
