/* cmd_info.c - paua info. */
#include <string.h>

#include "cli.h"
#include "commands.h"
#include "field_print.h"
#include "index_print.h"
#include "text.h"

static const char text[] =
    "Shows the schema, the indexes and the numbers of a collection, or of all. Rows that an index "
    "does\n"
    "not cover yet are compared with their originals. Bytes on disk are by part; mapped bytes are\n"
    "address space, resident or not; heap bytes are this process's own memory.";

static json_t *fields_json(const paua_schema *schema)
{
    json_t *fields = json_made(json_array());

    for (size_t f = 0; f < schema->field_count; f++) {
        const paua_vector_field *field = &schema->fields[f];
        json_array_append_new(fields, json_pack("{s:o, s:i, s:s, s:s, s:s}", "name",
                                                json_word(field->name), "dim", (int)field->dim,
                                                "metric", metric_names[field->metric], "precision",
                                                precision_names[field->precision], "originals",
                                                originals_names[field->originals]));
    }
    return fields;
}

static void append_index(void *arg, const paua_index *index)
{
    json_array_append_new(arg, index_json(index));
}

static void print_json(const char *name, const paua_schema *schema, const paua_stats *stats,
                       json_t *indexes, json_t *columns)
{
    json_t *object = json_made(json_pack(
        "{s:o, s:s, s:s, s:o, s:O, s:b, s:O}", "collection", json_word(name), "key",
        key_names[schema->key_kind], "document", document_names[schema->document], "fields",
        fields_json(schema), "indexes", indexes, "dynamic", schema->dynamic, "columns", columns));
    const struct {
        const char *name;
        uint64_t value;
    } numbers[] = {
        {"rows", stats->rows},
        {"deleted", stats->deleted},
        {"tail_rows", stats->tail_rows},
        {"segments", stats->segments},
        {"vector_bytes", stats->vector_nbytes},
        {"document_bytes", stats->document_nbytes},
        {"key_bytes", stats->key_nbytes},
        {"code_bytes", stats->code_nbytes},
        {"graph_bytes", stats->graph_nbytes},
        {"column_bytes", stats->column_nbytes},
        {"patches", stats->patches},
        {"catalog_bytes", stats->catalog_nbytes},
        {"mapped_bytes", stats->mapped_nbytes},
        {"heap_bytes", stats->heap_nbytes},
    };

    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        json_object_set_new(object, numbers[i].name, json_integer((json_int_t)numbers[i].value));
    json_line(object);
}

static void print_nbytes(const char *label, uint64_t nbytes)
{
    char size[HUMAN_NBYTES];

    printf("  %-13s %s\n", label, human_bytes(nbytes, size));
}

static const char *word_of(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

static unsigned long long number_of(const json_t *object, const char *name)
{
    return (unsigned long long)json_integer_value(json_object_get(object, name));
}

static void print_index(const json_t *index)
{
    const char *name = word_of(index, "index"), *field = word_of(index, "field");

    printf("  %-13s ", "index");
    text_print(stdout, name, strlen(name), TEXT_NO_LIMIT);
    printf(" of ");
    text_print(stdout, field, strlen(field), TEXT_NO_LIMIT);
    printf(", %s, covers %llu rows, and %llu once optimized\n", word_of(index, "kind"),
           number_of(index, "rows"), number_of(index, "rows_due"));
}

static void append_field(void *arg, const paua_field_info *info)
{
    json_array_append_new(arg, field_json(info));
}

static void print_field(void *arg, const paua_field_info *info)
{
    char size[HUMAN_NBYTES], chunks[FIELD_CHUNKS_NBYTES];

    (void)arg;
    field_chunks(info, chunks);
    printf("  %-13s ", "field");
    text_print(stdout, info->field.name, strlen(info->field.name), TEXT_NO_LIMIT);
    printf(", %s, %llu distinct, %llu null, %s%s%s\n", paua_type_name(info->field.type),
           (unsigned long long)info->distinct, (unsigned long long)info->nulls,
           human_bytes(info->nbytes, size), chunks[0] == 0 ? "" : ", ", chunks);
}

static int print_text(paua_collection *collection, const paua_stats *stats, const json_t *indexes)
{
    const paua_schema *schema = paua_collection_schema(collection);
    const char *name = paua_collection_name(collection);
    char rows[HUMAN_NBYTES];
    paua_error err;
    size_t i;
    const json_t *index;

    text_print(stdout, name, strlen(name), TEXT_NO_LIMIT);
    printf("\n  %-13s %s\n  %-13s %s\n", "keys", key_names[schema->key_kind], "documents",
           document_names[schema->document]);
    for (size_t f = 0; f < schema->field_count; f++) {
        const paua_vector_field *field = &schema->fields[f];
        printf("  %-13s ", "vector field");
        text_print(stdout, field->name, strlen(field->name), TEXT_NO_LIMIT);
        printf(", %u components, %s, %s, originals %s\n", field->dim, metric_names[field->metric],
               precision_names[field->precision], originals_names[field->originals]);
    }
    json_array_foreach(indexes, i, index) print_index(index);
    if (paua_field_list(collection, print_field, NULL, &err) != PAUA_OK) return fail_with(&err);
    if (schema->dynamic) printf("  %-13s yes: fields appear with rows that have them\n", "dynamic");
    printf("  %-13s %llu\n  %-13s %llu\n", "rows", (unsigned long long)stats->rows, "deleted",
           (unsigned long long)stats->deleted);
    printf("  %-13s %llu, and %s after them\n", "segments", (unsigned long long)stats->segments,
           human_rows(stats->tail_rows, rows));
    print_nbytes("vectors", stats->vector_nbytes);
    print_nbytes("document data", stats->document_nbytes);
    print_nbytes("key data", stats->key_nbytes);
    print_nbytes("codes", stats->code_nbytes);
    print_nbytes("graphs", stats->graph_nbytes);
    print_nbytes("columns", stats->column_nbytes);
    print_nbytes("catalogue", stats->catalog_nbytes);
    print_nbytes("mapped", stats->mapped_nbytes);
    print_nbytes("heap", stats->heap_nbytes);
    return EXIT_OK;
}

static int show(const struct cli *cli, paua_db *db, const char *name)
{
    paua_stats stats = {.size = sizeof stats};
    json_t *indexes = json_made(json_array()), *columns = json_made(json_array());
    paua_collection *collection = NULL;
    paua_error err;
    int rc = EXIT_OK;

    if (paua_collection_open(db, name, &collection, &err) != PAUA_OK ||
        paua_collection_stats(collection, &stats, &err) != PAUA_OK ||
        paua_index_list(collection, append_index, indexes, &err) != PAUA_OK ||
        paua_field_list(collection, append_field, columns, &err) != PAUA_OK)
        rc = fail_with(&err);
    else if (cli->json)
        print_json(name, paua_collection_schema(collection), &stats, indexes, columns);
    else
        rc = print_text(collection, &stats, indexes);
    paua_collection_close(collection);
    json_decref(indexes);
    json_decref(columns);
    return rc;
}

static int show_all(const struct cli *cli, paua_db *db)
{
    struct name_list list;
    int rc = name_list_read(db, &list);

    for (size_t i = 0; i < list.count; i++) {
        int result = show(cli, db, list.names[i]);
        if (result != EXIT_OK) rc = result;
    }
    name_list_free(&list);
    return rc;
}

static int run(struct cli *cli)
{
    paua_db *db;
    int rc = cli_open(cli, OPEN_READ, &db);

    if (rc != EXIT_OK) return rc;
    rc = cli->args.operand_count == 0 ? show_all(cli, db) : show(cli, db, cli->args.operands[0]);
    paua_close(db);
    return rc;
}

const struct command cmd_info = {
    .name = "info",
    .operands = "[COLLECTION]",
    .summary = "show the schema and the numbers of collections",
    .text = text,
    .examples = "  paua info docs\n  paua info --json",
    .operand_max = 1,
    .run = run,
};
