/* field_print.c - what is known of each field (see field_print.h). */
#include "field_print.h"

#include <string.h>

#include "table.h"

json_t *field_json(const paua_field_info *info)
{
    return json_made(
        json_pack("{s:o, s:s, s:I, s:I, s:I, s:I, s:{s:i, s:i, s:i, s:i, s:i}}", "field",
                  json_word(info->field.name), "type", paua_type_name(info->field.type), "distinct",
                  (json_int_t)info->distinct, "nulls", (json_int_t)info->nulls, "bytes",
                  (json_int_t)info->nbytes, "patches", (json_int_t)info->patches, "chunks",
                  "constant", (int)info->constant, "sparse", (int)info->sparse, "packed",
                  (int)info->packed, "raw", (int)info->raw, "unrepeated", (int)info->unrepeated));
}

const char *field_chunks(const paua_field_info *info, char out[FIELD_CHUNKS_NBYTES])
{
    const struct {
        const char *name;
        uint32_t count;
    } kinds[] = {{"constant", info->constant},
                 {"sparse", info->sparse},
                 {"packed", info->packed},
                 {"raw", info->raw},
                 {"unrepeated", info->unrepeated}};
    size_t used = 0;

    out[0] = 0;
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (kinds[i].count > 0)
            used += (size_t)snprintf(out + used, FIELD_CHUNKS_NBYTES - used, "%s%u %s",
                                     used > 0 ? ", " : "", kinds[i].count, kinds[i].name);
    return out;
}

static void print_line(void *arg, const paua_field_info *info)
{
    (void)arg;
    json_line(field_json(info));
}

static void add_row(void *arg, const paua_field_info *info)
{
    struct table *table = arg;
    char size[HUMAN_NBYTES], chunks[FIELD_CHUNKS_NBYTES];
    const char *type = paua_type_name(info->field.type);

    table_cell(table, info->field.name, strlen(info->field.name));
    table_cell(table, type, strlen(type));
    table_cell_format(table, "%llu", (unsigned long long)info->distinct);
    table_cell_format(table, "%llu", (unsigned long long)info->nulls);
    table_cell_format(table, "%s", human_bytes(info->nbytes, size));
    table_cell_format(table, "%llu", (unsigned long long)info->patches);
    table_cell_format(table, "%s", field_chunks(info, chunks));
}

int field_print_all(const struct cli *cli, paua_collection *collection)
{
    static const char *const heads[] = {"field",  "type",     ">distinct", ">nulls",
                                        ">bytes", ">patches", "chunks"};
    struct table table = table_begin(heads, COUNT_OF(heads));
    paua_error err;
    int rc = EXIT_OK;

    if (paua_field_list(collection, cli->json ? print_line : add_row, &table, &err) != PAUA_OK)
        rc = fail_with(&err);
    if (table.cell_count > 0) table_end(&table);
    return rc;
}
