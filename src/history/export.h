/* export.h - the buffer that exports are written through, and the formats that fill it. */
#ifndef PAUA_HISTORY_EXPORT_H
#define PAUA_HISTORY_EXPORT_H

#include <stdbool.h>
#include <stddef.h>

#include <paua/paua_history.h>

#define EXPORT_BUFFER_NBYTES 8192u

/* Handed on when full. */
struct output {
    paua_history_write_fn write;
    void *arg;
    paua_history_format format;
    bool stopped;
    bool open_line; /* the last line goes on, in its next piece */
    size_t used;
    char buffer[EXPORT_BUFFER_NBYTES];
};

void export_put(struct output *o, const char *bytes, size_t nbytes);

/* At most 511 bytes. */
void export_format(struct output *o, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes a row as a JSON object, without an end of line (export_json.c). */
void export_json(struct output *o, const paua_history_row *row);

#endif
