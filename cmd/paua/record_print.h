/* record_print.h - one row for a person, and which fields of it. */
#ifndef PAUA_CMD_RECORD_PRINT_H
#define PAUA_CMD_RECORD_PRINT_H

#include "cli.h"
#include "writer.h"

/* Prints a row's key, vectors (unless writer->no_vector), document and fields. */
void record_print(const struct writer_state *writer, const paua_record *record);

/* The names that --fields gives, separated by commas. */
struct field_names {
    char *text;
    const char **names; /* NULL: all fields */
    size_t count;
};
void field_names_take(const struct args *args, struct field_names *names);
void field_names_free(struct field_names *names);

#endif
