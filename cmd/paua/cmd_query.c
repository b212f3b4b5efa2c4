/* cmd_query.c - paua query: rows by their fields alone. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "commands.h"
#include "keys.h"
#include "record_print.h"
#include "table.h"
#include "value.h"
#include "where.h"

#define FIELDS_SHOWN (TABLE_COLUMNS_MAX - 2u) /* beside the key and the document */

static const struct option_spec options[] = {
    {"order-by", 0, "FIELD", "order of the rows; default oldest first; null comes last"},
    {"desc", 0, NULL, "the other way round"},
    {"limit", 'n', "N", "at most N rows; default all"},
    {"offset", 0, "N", "leave out the first N"},
    {"fields", 0, "A,B", "only these fields; default all"},
    {"count", 'c', NULL, "print only how many rows there are"},
    {"vectors", 0, NULL, "with --json: the vectors, too"},
    {"no-document", 0, NULL, "leave the documents out"},
    {NULL, 0, NULL, NULL},
};

static const char text[] =
    "Prints the rows for which a filter is true, or all rows. Filters are SQL's conditions over "
    "the\n"
    "fields, see paua-filter(7). With --json each row is a line that import can read: whole with\n"
    "--vectors, or with --upsert for its document and fields.";

static const char examples[] =
    "  paua query docs \"year >= 1990 AND lang = 'en'\" --order-by year --desc --limit 20\n"
    "  paua query docs 'tags CONTAIN_ANY (\"a\", \"b\")' --count\n"
    "  paua query docs --fields title,year --json";

struct query {
    const struct cli *cli;
    struct session session;
    paua_query_opts opts;
    struct field_names names;
    paua_filter *filter;
};

static void print_row(struct table *table, const struct query *query, const paua_record *record,
                      size_t shown)
{
    size_t nbytes = 0;
    char *key = key_text(query->session.schema, &record->key, &nbytes);

    table_cell(table, key, nbytes);
    free(key);
    for (size_t f = 0; f < shown; f++) {
        char *value = record->values[f].type == PAUA_TYPE_NULL
                          ? NULL
                          : value_text(&record->values[f], &nbytes);

        table_cell(table, value, value == NULL ? 0 : nbytes);
        free(value);
    }
    if (!query->opts.read.no_document)
        table_cell(table, record->document.data, record->document.nbytes);
}

static int print_table(const struct query *query, paua_cursor *cursor)
{
    const char *heads[TABLE_COLUMNS_MAX] = {"key"};
    size_t count, shown, columns = 1;
    const paua_field *fields = paua_cursor_fields(cursor, &count);
    const paua_record *record;
    struct table table;
    paua_error err;

    shown = count < FIELDS_SHOWN ? count : FIELDS_SHOWN;
    for (size_t f = 0; f < shown; f++)
        heads[columns++] = fields[f].name;
    if (!query->opts.read.no_document) heads[columns++] = "document";
    table = table_begin(heads, columns);
    for (;;) {
        if (paua_cursor_next(cursor, &record, &err) != PAUA_OK) return fail_with(&err);
        if (record == NULL) break;
        print_row(&table, query, record, shown);
    }
    if (shown < count)
        note(query->cli->quiet,
             "%zu more fields are not shown; choose with --fields, or use --json", count - shown);
    table_end(&table);
    return EXIT_OK;
}

static int print_lines(const struct query *query, paua_cursor *cursor)
{
    struct outfile out = {.stream = stdout, .name = "standard output"};
    struct writer_state writer = {
        .out = &out, .schema = query->session.schema, .no_vector = query->opts.read.no_vectors};
    const paua_record *record;
    paua_error err;

    writer.fields = paua_cursor_fields(cursor, &writer.field_count);
    for (;;) {
        if (paua_cursor_next(cursor, &record, &err) != PAUA_OK) return fail_with(&err);
        if (record == NULL || interrupted()) return EXIT_OK;
        writer_jsonl.row(&writer, record);
    }
}

static int count_rows(const struct query *query)
{
    uint64_t count;
    paua_error err;

    if (paua_count(query->session.collection, query->filter, &count, &err) != PAUA_OK)
        return fail_with(&err);
    if (query->cli->json)
        json_line(json_pack("{s:I}", "count", (json_int_t)count));
    else
        printf("%llu\n", (unsigned long long)count);
    return EXIT_OK;
}

static int print_rows(const struct query *query)
{
    paua_cursor *cursor;
    paua_error err;
    int rc;

    if (paua_query(query->session.collection, &query->opts, &cursor, &err) != PAUA_OK)
        return fail_with(&err);
    rc = query->cli->json ? print_lines(query, cursor) : print_table(query, cursor);
    paua_cursor_close(cursor);
    return rc;
}

static int take_options(struct query *query)
{
    const struct args *args = &query->cli->args;
    paua_query_opts *opts = &query->opts;

    *opts = (paua_query_opts){.size = sizeof *opts, .cancel = &interrupt_cancel};
    if (!args_u64(args, "limit", 1, UINT64_MAX, &opts->limit) ||
        !args_u64(args, "offset", 0, UINT64_MAX, &opts->offset))
        return EXIT_USAGE;
    opts->order_by = args_value(args, "order-by");
    opts->descending = args_has(args, "desc");
    field_names_take(args, &query->names);
    opts->read.fields = query->names.names;
    opts->read.field_count = query->names.count;
    return where_parse(args->operand_count > 1 ? args->operands[1] : NULL, &query->filter);
}

/* A vector that is the key is part of every line. */
static bool with_vectors(const struct query *query)
{
    return query->cli->json && (args_has(&query->cli->args, "vectors") ||
                                query->session.schema->key_kind == PAUA_KEY_VECTOR);
}

static int run(struct cli *cli)
{
    struct query query = {.cli = cli};
    int rc = take_options(&query);

    if (rc == EXIT_OK) rc = session_open(cli, OPEN_READ, cli->args.operands[0], &query.session);
    if (rc == EXIT_OK) {
        interrupt_watch();
        query.opts.filter = query.filter;
        query.opts.read.no_vectors = !with_vectors(&query);
        query.opts.read.no_document = args_has(&cli->args, "no-document") ||
                                      query.session.schema->document == PAUA_DOCUMENT_NONE;
        rc = args_has(&cli->args, "count") ? count_rows(&query) : print_rows(&query);
        session_close(&query.session);
    }
    paua_filter_free(query.filter);
    field_names_free(&query.names);
    return rc;
}

const struct command cmd_query = {
    .name = "query",
    .operands = "COLLECTION [FILTER]",
    .summary = "print or count the rows that a filter finds",
    .text = text,
    .examples = examples,
    .options = options,
    .operand_min = 1,
    .operand_max = 2,
    .run = run,
};
