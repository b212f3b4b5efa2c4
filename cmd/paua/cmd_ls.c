/* cmd_ls.c - paua ls. */
#include <string.h>

#include "cli.h"
#include "commands.h"
#include "table.h"

static const struct option_spec options[] = {
    {"names", 0, NULL, "names only, one a line"},
    {NULL, 0, NULL, NULL},
};

static void add_row(struct table *table, const char *name, const paua_schema *schema,
                    const paua_stats *stats)
{
    char size[HUMAN_NBYTES];
    const paua_vector_field *field = &schema->fields[0];

    table_cell(table, name, strlen(name));
    table_cell_format(table, "%llu", (unsigned long long)stats->rows);
    table_cell(table, key_names[schema->key_kind], strlen(key_names[schema->key_kind]));
    if (schema->field_count == 1)
        table_cell_format(table, "%u %s %s", field->dim, metric_names[field->metric],
                          precision_names[field->precision]);
    else
        table_cell_format(table, "%zu fields", schema->field_count);
    table_cell(table, document_names[schema->document], strlen(document_names[schema->document]));
    human_bytes(stats_disk_nbytes(stats), size);
    table_cell(table, size, strlen(size));
}

static void print_line(const char *name, const paua_schema *schema, const paua_stats *stats)
{
    json_line(json_pack("{s:o, s:I, s:s, s:i, s:I}", "collection", json_word(name), "rows",
                        (json_int_t)stats->rows, "key", key_names[schema->key_kind], "fields",
                        (int)schema->field_count, "bytes", (json_int_t)stats_disk_nbytes(stats)));
}

static int list_one(const struct cli *cli, paua_db *db, const char *name, struct table *table)
{
    paua_stats stats = {.size = sizeof stats};
    paua_collection *collection;
    paua_error err;
    int rc = EXIT_OK;

    if (args_has(&cli->args, "names") && !cli->json) {
        printf("%s\n", name);
        return EXIT_OK;
    }
    if (paua_collection_open(db, name, &collection, &err) != PAUA_OK) {
        /* Dropped since the list was made. */
        return err.status == PAUA_ENOTFOUND ? EXIT_OK : fail_with(&err);
    }
    if (paua_collection_stats(collection, &stats, &err) != PAUA_OK)
        rc = fail_with(&err);
    else if (cli->json)
        print_line(name, paua_collection_schema(collection), &stats);
    else
        add_row(table, name, paua_collection_schema(collection), &stats);
    paua_collection_close(collection);
    return rc;
}

static int run(struct cli *cli)
{
    static const char *const heads[] = {"name", ">rows", "key", "vector", "document", ">size"};
    struct table table = table_begin(heads, COUNT_OF(heads));
    struct name_list list;
    paua_db *db;
    int rc = cli_open(cli, OPEN_READ, &db);
    int result;

    if (rc != EXIT_OK) return rc;
    rc = name_list_read(db, &list);
    /* A damaged collection does not hide the others. */
    for (size_t i = 0; i < list.count; i++) {
        result = list_one(cli, db, list.names[i], &table);
        if (result != EXIT_OK) rc = result;
    }
    if (table.cell_count > 0) table_end(&table);
    name_list_free(&list);
    paua_close(db);
    return rc;
}

const struct command cmd_ls = {
    .name = "ls",
    .operands = "",
    .summary = "list the collections",
    .text = "Lists the collections of the database: rows, kind of keys, dimension, metric and\n"
            "precision of the vectors, documents, and bytes on disk.",
    .examples = "  paua ls\n  paua ls --json | jq .rows",
    .options = options,
    .run = run,
};
