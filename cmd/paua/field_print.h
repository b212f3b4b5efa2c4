/* field_print.h - what is known of each field, as a table or as JSON. */
#ifndef PAUA_CMD_FIELD_PRINT_H
#define PAUA_CMD_FIELD_PRINT_H

#include "cli.h"

/* One field as a JSON object. */
json_t *field_json(const paua_field_info *info);

/* How a field's chunks are kept: "3 packed, 1 constant". */
#define FIELD_CHUNKS_NBYTES 96
const char *field_chunks(const paua_field_info *info, char out[FIELD_CHUNKS_NBYTES]);

/* All fields of a collection: a table, or with --json a line each. */
int field_print_all(const struct cli *cli, paua_collection *collection);

#endif
