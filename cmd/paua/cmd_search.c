/* cmd_search.c - paua search: where the queries come from. Printing is in search_print.c. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "commands.h"
#include "field_table.h"
#include "keys.h"
#include "reader.h"
#include "record_print.h"
#include "search.h"
#include "vector.h"
#include "where.h"

#define QUERY_BATCH_NBYTES ((size_t)4 << 20)
#define QUERY_BATCH_MAX 1024u

static const struct option_spec options[] = {
    {"k", 'k', "N", "rows wanted; default 10"},
    {"like", 0, "KEY", "search with the vector stored under this key"},
    {"queries", 0, "FILE", "search with each row of an fvecs, bvecs, npy, jsonl or csv file"},
    {"row", 0, "N", "only row N (from 0) of --queries"},
    {"format", 0, "fvecs|bvecs|npy|jsonl|csv", "format of --queries; default by suffix"},
    {"metric", 0, "cosine|l2|ip", "distance; default the field's own"},
    {"radius", 0, "R", "only rows at distance R or less"},
    {"allowed", 0, "FILE", "only rows with these keys, one a line"},
    {"where", 'w', "FILTER", "only rows for which it is true, see paua-filter(7)"},
    {"fields", 0, "A,B", "print these fields, too"},
    {"group-by", 0, "FIELD", "at most --group-size rows of each of its values"},
    {"group-size", 0, "N", "default 1"},
    {"explain", 0, NULL, "say how the search went"},
    {"field", 0, "NAME", "vector field; default the first"},
    {"exact", 0, NULL, "compare with every row's original"},
    {"refine", 0, NULL, "int8, int4, int2: compare the best with their originals"},
    {"ef", 0, "N", "candidates of a graph search; default 200, or 2 k if more"},
    {"index", 0, "NAME", "index to use; default the field's first"},
    {"lean", 0, NULL, "leave refine codes in their files: slower, smaller"},
    {"map-originals", 0, NULL, "read originals of candidates from the map: faster, larger"},
    {"timeout", 0, "MS", "give up after MS milliseconds"},
    {"threads", 0, "N", "threads; default 1 for one query, else all cores"},
    {"no-document", 0, NULL, "leave the documents out"},
    {NULL, 0, NULL, NULL},
};

static const char text[] =
    "Finds the k nearest rows, through the field's index where rows have codes, else by comparing "
    "with\n"
    "every row; --exact always compares with every row, and so does a --metric that is not the "
    "field's\n"
    "own. The query is a JSON array, the vector of a stored row, or each row of a file. "
    "Distances:\n"
    "cosine is 1 - cosine, l2 the squared Euclidean distance, ip the negated inner product; "
    "smaller "
    "is\n"
    "nearer. They are estimates for int8, int4 and int2 unless --refine or --exact is given. More "
    "--ef\n"
    "finds more of the true nearest, and takes longer.\n"
    "\n"
    "With --where only rows for which a filter is true are found: the k nearest of them, or all if "
    "there\n"
    "are fewer. --explain says how many match, and whether codes were walked or compared one by "
    "one.\n"
    "\n"
    "With --json each query is one line: {\"query\": 0, \"hits\": [{\"key\", \"distance\", "
    "\"document\",\n"
    "\"fields\"}]}, the last only with --fields; --explain adds a line {\"plan\": {...}}.\n"
    "Documents are cut to the width of the terminal or of $COLUMNS, else after 4,000 bytes.";

static const char examples[] =
    "  paua search docs '[0.1, 0.2, 0.3]' -k 5\n"
    "  paua search docs --like 17\n"
    "  paua search docs --queries query.fvecs --row 3 --radius 0.5\n"
    "  paua search docs --like 17 -k 100 --ef 400 --refine\n"
    "  paua search docs --like 17 --where \"year > 1990\" --fields year\n"
    "  paua search docs --queries query.npy -k 100 --json > hits.jsonl";

static bool parse_radius(const struct args *args, paua_search_opts *opts)
{
    const char *radius = args_value(args, "radius");
    char *end;

    if (radius == NULL) return true;
    opts->has_radius = true;
    opts->radius = strtod(radius, &end);
    /* NaN is the one number that is not itself. */
    if (end != radius && *end == 0 && opts->radius == opts->radius) return true;
    usage("option --radius: \"%s\" is no number", radius);
    return false;
}

static int take_options(struct search *search)
{
    const struct args *args = &search->cli->args;
    paua_search_opts *opts = &search->opts;
    uint32_t metric = 0;

    *opts = (paua_search_opts){.size = sizeof *opts, .k = 10, .cancel = &interrupt_cancel};
    if (!args_u32(args, "k", 1, INT32_MAX, &opts->k)) return EXIT_USAGE;
    if (!args_u32(args, "timeout", 1, UINT32_MAX, &opts->timeout_ms)) return EXIT_USAGE;
    if (!args_u32(args, "threads", 1, 1024, &opts->threads)) return EXIT_USAGE;
    if (!args_u32(args, "ef", 1, INT32_MAX, &opts->ef)) return EXIT_USAGE;
    if (args_has(args, "metric")) {
        if (!args_choice(args, "metric", metric_names + 1, &metric)) return EXIT_USAGE;
        opts->metric = (paua_metric)(metric + 1);
    }
    if (!args_u32(args, "group-size", 1, INT32_MAX, &opts->group_size)) return EXIT_USAGE;
    opts->group_by = args_value(args, "group-by");
    if (args_has(args, "group-size") && opts->group_by == NULL)
        return usage("option --group-size: it needs --group-by FIELD");
    opts->field = args_value(args, "field");
    opts->index = args_value(args, "index");
    opts->exact = args_has(args, "exact");
    if (opts->exact && opts->index != NULL)
        return usage("options --exact and --index contradict each other: --exact uses no index");
    opts->refine = args_has(args, "refine");
    search->documents = !args_has(args, "no-document");
    return parse_radius(args, opts) ? EXIT_OK : EXIT_USAGE;
}

static int take_allowed(struct search *search, struct key_list *list, paua_keys *keys)
{
    const char *path = args_value(&search->cli->args, "allowed");
    struct fault fault;

    if (path == NULL) return EXIT_OK;
    if (!key_list_add_file(list, path, &fault)) return fail("%s", fault.text);
    *keys = key_list_view(list, 0, list->count);
    search->opts.allowed = keys;
    return EXIT_OK;
}

static int search_batch(struct search *search, const float *queries, size_t count, uint64_t first)
{
    paua_error err;

    if (paua_search(search->session.collection, queries, count, 0, &search->opts, search->hits,
                    &err) != PAUA_OK)
        return fail_with(&err);
    return search_print(search, first);
}

static int search_text(struct search *search, const char *vector_text, uint32_t dim)
{
    float *vector = cmd_alloc(dim, sizeof *vector);
    struct fault fault;
    int rc;

    if (vector_from_text(vector_text, strlen(vector_text), dim, vector, &fault))
        rc = search_batch(search, vector, 1, 0);
    else
        rc = fail("%s, in the query", fault.text);
    free(vector);
    return rc;
}

static int search_like(struct search *search, const char *key)
{
    paua_read_opts opts = {.size = sizeof opts, .no_document = true};
    const paua_record *record = NULL;
    paua_cursor *cursor = NULL;
    struct key_list list;
    struct fault fault;
    paua_keys keys;
    paua_error err;
    int rc = EXIT_OK;

    key_list_begin(&list, search->session.schema);
    if (!key_list_add(&list, key, strlen(key), &fault)) {
        rc = usage("option --like: %s", fault.text);
    } else {
        keys = key_list_view(&list, 0, list.count);
        if (paua_fetch(search->session.collection, &keys, &opts, &cursor, &err) != PAUA_OK ||
            paua_cursor_next(cursor, &record, &err) != PAUA_OK)
            rc = fail_with(&err);
        else if (record == NULL || !record->found)
            rc = fail("key %s not found, in collection \"%s\", check the key", key,
                      paua_collection_name(search->session.collection));
        else
            rc = search_batch(search, record->vectors[search->field], 1, 0);
    }
    paua_cursor_close(cursor);
    key_list_free(&list);
    return rc;
}

/* Reads up to `room` queries. Only rows from `first` on are kept. */
static enum row_result read_queries(struct reader_state *reader, float **vectors, size_t field,
                                    uint64_t first, size_t room, size_t *count, struct fault *fault)
{
    uint32_t dim = reader_dim(reader);
    enum row_result result = ROW_OK;

    *count = 0;
    while (*count < room && result == ROW_OK) {
        struct row row;
        uint64_t number = reader->next_row;
        for (size_t f = 0; f < reader->schema->field_count; f++)
            row.vectors[f] = vectors[f];
        row.vectors[field] = vectors[field] + *count * dim;
        result = reader_row(reader, &row, fault);
        if (result == ROW_OK && (row.given & 1u << field) == 0) {
            fault_set(fault, "%s: row %llu gives no vector of this field", reader->in.name,
                      (unsigned long long)number);
            return ROW_BAD;
        }
        if (result == ROW_OK && number >= first) ++*count;
    }
    return result;
}

static int search_reader(struct search *search, struct reader_state *reader, float **vectors,
                         size_t room)
{
    enum row_result result = ROW_OK;
    struct fault fault;
    uint64_t row = UINT64_MAX;
    uint64_t next = 0;
    size_t count;
    int rc = EXIT_OK;

    if (!args_u64(&search->cli->args, "row", 0, UINT64_MAX - 1, &row)) return EXIT_USAGE;
    if (row != UINT64_MAX) {
        next = row;
        room = 1;
    }
    while (result == ROW_OK && rc == EXIT_OK) {
        result = read_queries(reader, vectors, search->field, next, room, &count, &fault);
        if (result == ROW_BAD || result == ROW_BROKEN) return fail("%s", fault.text);
        if (count > 0) rc = search_batch(search, vectors[search->field], count, next);
        next += count;
        if (row == UINT64_MAX) continue;
        if (count == 0)
            return fail("row %llu not found, in %s, which has %llu rows", (unsigned long long)row,
                        reader->in.name, (unsigned long long)reader->next_row);
        break;
    }
    return rc;
}

static int search_file(struct search *search, const char *path)
{
    const char *name = args_value(&search->cli->args, "format");
    const struct file_format *format = name != NULL ? format_by_name(name) : format_by_suffix(path);
    const paua_schema *schema = search->session.schema;
    float *vectors[PAUA_VECTOR_FIELDS_MAX] = {NULL};
    size_t room = QUERY_BATCH_NBYTES / (schema->fields[search->field].dim * sizeof(float));
    struct reader_state reader;
    struct fault fault;
    int rc;

    if (format == NULL)
        return usage("cannot tell the format of %s, give --format fvecs|bvecs|npy|jsonl|csv", path);
    if (room > QUERY_BATCH_MAX) room = QUERY_BATCH_MAX;
    if (room < 1) room = 1;
    if (!reader_start(&reader, format, path, schema, search->field, &fault))
        return fail("%s", fault.text);
    for (size_t f = 0; f < schema->field_count; f++)
        vectors[f] =
            cmd_alloc(f == search->field ? room : 1, schema->fields[f].dim * sizeof(float));
    rc = search_reader(search, &reader, vectors, room);
    for (size_t f = 0; f < schema->field_count; f++)
        free(vectors[f]);
    reader_end(&reader);
    return rc;
}

/* Before anything is printed: whether there are fields to print. */
static int check_fields(const struct search *search)
{
    struct field_table table = {0};
    int rc =
        search->field_count == 0 ? EXIT_OK : field_table_load(&table, search->session.collection);

    for (size_t i = 0; i < search->field_count && rc == EXIT_OK; i++)
        if (field_table_find(&table, search->fields[i]) == NULL)
            rc = fail("collection \"%s\" has no field \"%s\"",
                      paua_collection_name(search->session.collection), search->fields[i]);
    field_table_free(&table);
    return rc;
}

static int search_session(struct search *search)
{
    const struct args *args = &search->cli->args;
    struct key_list allowed;
    paua_keys keys;
    paua_error err;
    int rc;

    if (!session_field(&search->session, search->opts.field, &search->field)) return EXIT_FAILED;
    if (check_fields(search) != EXIT_OK) return EXIT_FAILED;
    if (paua_hits_open(&search->hits, &err) != PAUA_OK) return fail_with(&err);
    key_list_begin(&allowed, search->session.schema);
    search_print_begin(search);
    rc = take_allowed(search, &allowed, &keys);
    if (rc == EXIT_OK && args->operand_count > 1)
        rc = search_text(search, args->operands[1],
                         search->session.schema->fields[search->field].dim);
    else if (rc == EXIT_OK && args_has(args, "like"))
        rc = search_like(search, args_value(args, "like"));
    else if (rc == EXIT_OK)
        rc = search_file(search, args_value(args, "queries"));
    key_list_free(&allowed);
    paua_hits_close(search->hits);
    return rc;
}

static int run(struct cli *cli)
{
    struct search search = {.cli = cli};
    const struct args *args = &cli->args;
    int sources = (args->operand_count > 1 ? 1 : 0) + (args_has(args, "like") ? 1 : 0) +
                  (args_has(args, "queries") ? 1 : 0);
    struct field_names names;
    paua_filter *filter;
    int rc = take_options(&search);

    if (rc != EXIT_OK) return rc;
    if (sources != 1) return usage("search: give one of '[vector]', --like KEY, --queries FILE");
    if (args_has(args, "row") && !args_has(args, "queries"))
        return usage("option --row: it needs --queries FILE");
    rc = where_parse(args_value(args, "where"), &filter);
    if (rc != EXIT_OK) return rc;
    search.opts.filter = filter;
    field_names_take(args, &names);
    search.fields = names.names;
    search.field_count = names.count;
    cli->open.lean = args_has(args, "lean");
    cli->open.map_originals = args_has(args, "map-originals");
    rc = session_open(cli, OPEN_READ, args->operands[0], &search.session);
    if (rc == EXIT_OK) {
        interrupt_watch();
        rc = search_session(&search);
        session_close(&search.session);
    }
    paua_filter_free(filter);
    field_names_free(&names);
    return rc;
}

const struct command cmd_search = {
    .name = "search",
    .operands = "COLLECTION ['[VECTOR]']",
    .summary = "find the nearest rows",
    .text = text,
    .examples = examples,
    .options = options,
    .operand_min = 1,
    .operand_max = 2,
    .run = run,
};
