/* field.h - vector fields and their indexes, as the command line writes them. */
#ifndef PAUA_CMD_FIELD_H
#define PAUA_CMD_FIELD_H

#include <stdbool.h>

#include <paua/paua.h>

#include "args.h"

/* What every command that defines an index takes, for its table of options. */
#define INDEX_NUMBER_OPTIONS                                                                       \
    {"degree", 0, "N", "vamana: neighbours of a row, 4 to 512; default 64"},                       \
        {"list", 0, "N", "vamana: candidates of building, 4 to 4096; default 100"},                \
        {"occlusion", 0, "N", "vamana: candidates of pruning, to 65536; default 750"},             \
    {                                                                                              \
        "alpha", 0, "A", "vamana: slack of pruning, 1 to 2; default 1.2"                           \
    }

/* A person's form of a field: NAME:DIM[:METRIC[:PRECISION[:ORIGINALS[:INDEX]]]]. */
#define FIELD_FORM "NAME:DIM[:METRIC[:PRECISION[:ORIGINALS[:INDEX]]]]"

/* Takes --metric, --precision, --originals, --index and the numbers of an index; what is not given
 * stays. Prints and returns false if one is wrong. */
bool field_take_options(const struct args *args, paua_vector_field *field);

/* Takes only --degree, --list, --occlusion and --alpha. */
bool index_take_numbers(const struct args *args, paua_index_params *params);

/* Reads a FIELD_FORM, in which the name may hold colons; what it leaves out stays. Cuts the text,
 * which the field's name points into. False: the text is no such form, and all is as it was. */
bool field_parse(char *text, paua_vector_field *field);

/* Clears the numbers of fields whose index has none. False, with the message printed, if numbers
 * were given and no field has a use for them. */
bool field_settle_numbers(const struct args *args, paua_vector_field *fields, size_t count);

#endif
