/* message.c - what errors say: the place, and excerpts of names and values. */
#include "filter/tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "column/value.h"

paua_status place_error(paua_error *err, struct place place, const char *format, ...)
{
    char message[sizeof err->message];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (place.line == 0) return error_set(err, PAUA_EINVAL, "%s", message);
    return error_set(err, PAUA_EINVAL, "line %u, column %u: %s", place.line, place.column, message);
}

/* Appends text to an excerpt that keeps room for `tail` and an ellipsis; false: it was cut. */
static bool append(char excerpt[EXCERPT_NBYTES], const char *text, size_t nbytes, size_t tail)
{
    size_t used = strlen(excerpt), room = EXCERPT_NBYTES - 1 - tail - used, taken = nbytes;

    if (nbytes > room) {
        taken = room - 3;
        while (taken > 0 && ((unsigned char)text[taken] & 0xC0) == 0x80)
            taken--;
    }
    memcpy(excerpt + used, text, taken);
    memcpy(excerpt + used + taken, "...", taken < nbytes ? 4 : 0);
    if (taken == nbytes) excerpt[used + taken] = '\0';
    /* A NUL would end the excerpt. */
    for (size_t i = used; i < used + taken; i++)
        if (excerpt[i] == '\0') excerpt[i] = '?';
    return taken == nbytes;
}

void name_excerpt(const char *text, size_t nbytes, char excerpt[EXCERPT_NBYTES])
{
    strcpy(excerpt, "\"");
    append(excerpt, text, nbytes, 1);
    strcat(excerpt, "\"");
}

void text_excerpt(const char *text, size_t nbytes, char excerpt[EXCERPT_NBYTES])
{
    excerpt[0] = '\0';
    if (nbytes > 0 && (text[0] == '"' || text[0] == '\''))
        append(excerpt, text, nbytes, 0);
    else
        name_excerpt(text, nbytes, excerpt);
}

static void bytes_excerpt(const uint8_t *bytes, size_t nbytes, char excerpt[EXCERPT_NBYTES])
{
    bool cut = nbytes > 24;

    strcpy(excerpt, "X'");
    for (size_t i = 0; i < (cut ? 24 : nbytes); i++)
        snprintf(excerpt + strlen(excerpt), 3, "%02x", bytes[i]);
    strcat(excerpt, cut ? "...'" : "'");
}

void literal_excerpt(const struct literal *literal, char excerpt[EXCERPT_NBYTES])
{
    const paua_value *value = &literal->value;
    char text[36];

    switch (value->type) {
    case PAUA_TYPE_STRING:
        strcpy(excerpt, "'");
        append(excerpt, value->as.bytes.data, value->as.bytes.nbytes, 1);
        strcat(excerpt, "'");
        break;
    case PAUA_TYPE_BYTES:
        bytes_excerpt(value->as.bytes.data, value->as.bytes.nbytes, excerpt);
        break;
    case PAUA_TYPE_BOOL:
        strcpy(excerpt, value->as.boolean ? "TRUE" : "FALSE");
        break;
    case PAUA_TYPE_INT64:
        snprintf(excerpt, EXCERPT_NBYTES, "%lld", (long long)value->as.i64);
        break;
    case PAUA_TYPE_UINT64:
        snprintf(excerpt, EXCERPT_NBYTES, "%llu", (unsigned long long)value->as.u64);
        break;
    case PAUA_TYPE_DOUBLE:
        snprintf(excerpt, EXCERPT_NBYTES, "%.15g", value->as.f64);
        break;
    case PAUA_TYPE_TIMESTAMP:
        paua_timestamp_format(value->as.i64, text);
        snprintf(excerpt, EXCERPT_NBYTES, "TIMESTAMP '%s'", text);
        break;
    default:
        strcpy(excerpt, "NULL");
        break;
    }
}
