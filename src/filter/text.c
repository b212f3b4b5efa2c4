/* text.c - a filter as text, from which the same filter is parsed.
 *
 * Parentheses stand only where the tree needs them; numbers are the shortest digits that give the
 * same number; names are quoted if they have to be. Text of unknown length is made in a buffer that
 * grows; recursion is as deep as the filter, which is limited. */
#include "filter/tree.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"

const char *op_name(paua_op op)
{
    static const char *const names[] = {
        [PAUA_EQ] = "=",
        [PAUA_NE] = "!=",
        [PAUA_LT] = "<",
        [PAUA_LE] = "<=",
        [PAUA_GT] = ">",
        [PAUA_GE] = ">=",
        [PAUA_LIKE] = "LIKE",
        [PAUA_NOT_LIKE] = "NOT LIKE",
        [PAUA_IN] = "IN",
        [PAUA_NOT_IN] = "NOT IN",
        [PAUA_BETWEEN] = "BETWEEN",
        [PAUA_NOT_BETWEEN] = "NOT BETWEEN",
        [PAUA_IS_NULL] = "IS NULL",
        [PAUA_IS_NOT_NULL] = "IS NOT NULL",
        [PAUA_CONTAIN_ALL] = "CONTAIN_ALL",
        [PAUA_NOT_CONTAIN_ALL] = "NOT CONTAIN_ALL",
        [PAUA_CONTAIN_ANY] = "CONTAIN_ANY",
        [PAUA_NOT_CONTAIN_ANY] = "NOT CONTAIN_ANY",
    };

    return names[op];
}

static void put(struct writer *w, const char *text) { writer_bytes(w, text, strlen(text)); }

static void put_quoted(struct writer *w, const char *text, size_t nbytes, char quote)
{
    writer_u8(w, (uint8_t)quote);
    for (size_t i = 0; i < nbytes; i++) {
        if (text[i] == quote) writer_u8(w, (uint8_t)quote);
        writer_u8(w, (uint8_t)text[i]);
    }
    writer_u8(w, (uint8_t)quote);
}

static bool is_word(const char *name, size_t nbytes)
{
    static const char *const words[] = {
        "and", "or",       "not",  "in",   "between", "like", "escape",      "is",
        "inf", "infinity", "null", "true", "false",   "nan",  "contain_all", "contain_any"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strlen(words[i]) == nbytes && strncasecmp(words[i], name, nbytes) == 0) return true;
    return false;
}

static void put_name(struct writer *w, const char *name, size_t nbytes)
{
    bool plain = nbytes > 0 && !is_word(name, nbytes);

    for (size_t i = 0; i < nbytes && plain; i++) {
        unsigned char c = (unsigned char)name[i], letter = c | 0x20;

        plain = c == '_' || c >= 0x80 || (letter >= 'a' && letter <= 'z') ||
                (i > 0 && ((c >= '0' && c <= '9') || c == '$' || c == '.'));
    }
    if (plain)
        writer_bytes(w, name, nbytes);
    else
        put_quoted(w, name, nbytes, '"');
}

static void put_double(struct writer *w, double number)
{
    char text[40];
    int digits = 15;

    if (isnan(number)) {
        put(w, signbit(number) ? "-nan" : "nan");
        return;
    }
    do
        snprintf(text, sizeof text - 2, "%.*g", digits, number);
    while (digits++ < 17 && strtod(text, NULL) != number);
    /* A point, without which digits would be a whole number. */
    if (strspn(text, "-0123456789") == strlen(text)) strcat(text, ".0");
    put(w, text);
}

static void put_literal(struct writer *w, const struct literal *literal)
{
    const paua_value *value = &literal->value;
    const paua_bytes *bytes = &value->as.bytes;
    char text[48];

    switch (value->type) {
    case PAUA_TYPE_STRING:
        put_quoted(w, bytes->data, bytes->nbytes, '\'');
        return;
    case PAUA_TYPE_BYTES:
        put(w, "X'");
        for (size_t i = 0; i < bytes->nbytes; i++) {
            snprintf(text, sizeof text, "%02x", ((const uint8_t *)bytes->data)[i]);
            put(w, text);
        }
        put(w, "'");
        return;
    case PAUA_TYPE_INT64:
        snprintf(text, sizeof text, "%lld", (long long)value->as.i64);
        break;
    case PAUA_TYPE_UINT64:
        snprintf(text, sizeof text, "%llu", (unsigned long long)value->as.u64);
        break;
    case PAUA_TYPE_DOUBLE:
        put_double(w, value->as.f64);
        return;
    case PAUA_TYPE_TIMESTAMP:
        put(w, "TIMESTAMP ");
        paua_timestamp_format(value->as.i64, text);
        put_quoted(w, text, strlen(text), '\'');
        return;
    case PAUA_TYPE_BOOL:
        strcpy(text, value->as.boolean ? "TRUE" : "FALSE");
        break;
    default:
        strcpy(text, "NULL");
        break;
    }
    put(w, text);
}

static void put_list(struct writer *w, const struct compare *compare)
{
    for (size_t i = 0; i < compare->count; i++) {
        if (i > 0) put(w, ", ");
        put_literal(w, &compare->literals[i]);
    }
}

static void put_compare(struct writer *w, const struct compare *compare)
{
    if (compare->length) put(w, "array_length(");
    put_name(w, compare->name, compare->name_nbytes);
    if (compare->length) put(w, ")");
    put(w, " ");
    put(w, op_name(compare->op));
    switch (compare->op) {
    case PAUA_IS_NULL:
    case PAUA_IS_NOT_NULL:
        break;
    case PAUA_IN:
    case PAUA_NOT_IN:
    case PAUA_CONTAIN_ALL:
    case PAUA_NOT_CONTAIN_ALL:
    case PAUA_CONTAIN_ANY:
    case PAUA_NOT_CONTAIN_ANY:
        put(w, " (");
        put_list(w, compare);
        put(w, ")");
        break;
    default:
        put(w, " ");
        put_literal(w, &compare->literals[0]);
        if (compare->count < 2) break;
        put(w,
            compare->op == PAUA_BETWEEN || compare->op == PAUA_NOT_BETWEEN ? " AND " : " ESCAPE ");
        put_literal(w, &compare->literals[1]);
        break;
    }
}

static void put_node(struct writer *w, const struct node *node)
{
    switch (node->kind) {
    case NODE_TRUE:
    case NODE_FALSE:
        put(w, node->kind == NODE_TRUE ? "TRUE" : "FALSE");
        return;
    case NODE_COMPARE:
        put_compare(w, &node->as.compare);
        return;
    default:
        if (node->kind == NODE_NOT) put(w, "NOT ");
        for (const struct node *child = node->as.first; child != NULL; child = child->next) {
            bool parens = node_in_parens(node->kind, child);

            if (child != node->as.first) put(w, node->kind == NODE_ALL ? " AND " : " OR ");
            if (parens) put(w, "(");
            put_node(w, child);
            if (parens) put(w, ")");
        }
    }
}

char *paua_filter_text(const paua_filter *filter, size_t *nbytes)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0), before;
    struct writer w = {0};
    char *text = NULL;

    if (filter == NULL || plain == (locale_t)0) return NULL;
    before = uselocale(plain); /* of this thread: a point is a point */
    put_node(&w, filter->root);
    uselocale(before);
    freelocale(plain);
    writer_u8(&w, 0);
    if (!w.failed) text = mem_plain(w.length);
    if (text != NULL) memcpy(text, w.bytes, w.length);
    if (text != NULL && nbytes != NULL) *nbytes = w.length - 1;
    writer_free(&w);
    return text;
}
