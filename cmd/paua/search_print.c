/* search_print.c - hits as a table or as JSON lines. */
#include <stdlib.h>
#include <string.h>

#include "base64.h"
#include "keys.h"
#include "search.h"
#include "table.h"
#include "value.h"

void search_print_begin(struct search *search)
{
    if (search->session.schema->document == PAUA_DOCUMENT_NONE) search->documents = false;
}

static int hit_document(struct search *search, size_t query, size_t i, paua_bytes *document)
{
    paua_error err;

    *document = (paua_bytes){0};
    if (!search->documents) return EXIT_OK;
    if (paua_hits_document(search->hits, query, i, document, &err) == PAUA_OK) return EXIT_OK;
    return fail_with(&err);
}

static json_t *document_json(const paua_schema *schema, const paua_bytes *document)
{
    json_t *value;
    char *encoded;

    if (document->data == NULL) return json_null();
    if (schema->document != PAUA_DOCUMENT_BYTES) return json_text(document->data, document->nbytes);
    encoded = cmd_alloc(BASE64_NBYTES(document->nbytes), 1);
    base64_encode(document->data, document->nbytes, encoded);
    value = json_made(json_stringn(encoded, BASE64_NBYTES(document->nbytes)));
    free(encoded);
    return value;
}

static int add_fields(struct search *search, size_t query, size_t i, json_t *object)
{
    json_t *fields = json_made(json_object());
    paua_error err;

    json_object_set_new(object, "fields", fields);
    for (size_t f = 0; f < search->field_count; f++) {
        paua_value value;

        if (paua_hits_value(search->hits, query, i, search->fields[f], &value, &err) != PAUA_OK)
            return fail_with(&err);
        json_object_set_new(fields, search->fields[f], value_json(&value));
    }
    return EXIT_OK;
}

static int print_json(struct search *search, size_t query, uint64_t number)
{
    const paua_schema *schema = search->session.schema;
    json_t *hits = json_made(json_array());
    int rc = EXIT_OK;

    for (size_t i = 0; i < paua_hits_count(search->hits, query) && rc == EXIT_OK; i++) {
        paua_hit hit = paua_hits_at(search->hits, query, i);
        json_t *object = json_made(
            json_pack("{s:o, s:f}", "key", key_json(schema, &hit.key), "distance", hit.distance));
        paua_bytes document;
        rc = hit_document(search, query, i, &document);
        if (rc == EXIT_OK && search->documents)
            json_object_set_new(object, "document", document_json(schema, &document));
        if (rc == EXIT_OK && search->field_count > 0) rc = add_fields(search, query, i, object);
        json_array_append_new(hits, object);
    }
    if (rc == EXIT_OK)
        json_line(json_pack("{s:I, s:o}", "query", (json_int_t)number, "hits", hits));
    else
        json_decref(hits);
    return rc;
}

static size_t fields_shown(const struct search *search)
{
    return search->field_count < TABLE_COLUMNS_MAX - 4 ? search->field_count
                                                       : TABLE_COLUMNS_MAX - 4;
}

static int table_fields(struct search *search, size_t query, size_t i, struct table *table)
{
    paua_error err;

    for (size_t f = 0; f < fields_shown(search); f++) {
        paua_value value;
        size_t nbytes = 0;
        char *text = NULL;

        if (paua_hits_value(search->hits, query, i, search->fields[f], &value, &err) != PAUA_OK)
            return fail_with(&err);
        if (value.type != PAUA_TYPE_NULL) text = value_text(&value, &nbytes);
        table_cell(table, text, nbytes);
        free(text);
    }
    return EXIT_OK;
}

static int print_table(struct search *search, size_t query, uint64_t number, bool titled)
{
    const char *heads[TABLE_COLUMNS_MAX] = {">rank", "key", ">distance"};
    size_t columns = 3;
    struct table table;
    int rc = EXIT_OK;

    for (size_t f = 0; f < fields_shown(search); f++)
        heads[columns++] = search->fields[f];
    if (search->documents) heads[columns++] = "document";
    table = table_begin(heads, columns);

    for (size_t i = 0; i < paua_hits_count(search->hits, query) && rc == EXIT_OK; i++) {
        paua_hit hit = paua_hits_at(search->hits, query, i);
        size_t nbytes = 0;
        char *key = key_text(search->session.schema, &hit.key, &nbytes);
        paua_bytes document;
        table_cell_format(&table, "%zu", i + 1);
        table_cell(&table, key, nbytes);
        table_cell_format(&table, "%.6g", hit.distance);
        free(key);
        rc = table_fields(search, query, i, &table);
        if (rc == EXIT_OK) rc = hit_document(search, query, i, &document);
        if (rc == EXIT_OK && search->documents) table_cell(&table, document.data, document.nbytes);
    }
    if (search->separate) putchar('\n');
    if (titled) printf("query %llu\n", (unsigned long long)number);
    table_end(&table);
    search->separate = true;
    return rc;
}

/* Which plan ran, and why. */
static int print_plan(struct search *search)
{
    paua_plan plan = {.size = sizeof plan};
    paua_error err;

    if (paua_hits_plan(search->hits, &plan, &err) != PAUA_OK) return fail_with(&err);
    if (search->cli->json) {
        json_line(json_pack("{s:{s:I, s:I, s:i, s:i, s:i, s:i, s:i, s:i, s:f, s:s}}", "plan",
                            "rows", (json_int_t)plan.rows, "matched", (json_int_t)plan.matched,
                            "segments", (int)plan.segments, "walked", (int)plan.walked, "scanned",
                            (int)plan.scanned, "compared", (int)plan.compared, "walked_short",
                            (int)plan.walked_short, "indexed", (int)plan.indexed, "filter_us",
                            plan.filter_us, "reason", plan.reason));
        return EXIT_OK;
    }
    printf("plan: %s\n      %u segment%s: %u walked, %u scanned, %u compared; filter %.0f us",
           plan.reason, plan.segments, plan.segments == 1 ? "" : "s", plan.walked, plan.scanned,
           plan.compared, plan.filter_us);
    if (plan.indexed > 0)
        printf(", %u condition%s by an index", plan.indexed, plan.indexed == 1 ? "" : "s");
    putchar('\n');
    return EXIT_OK;
}

int search_print(struct search *search, uint64_t first)
{
    size_t count = paua_hits_queries(search->hits);
    bool titled = args_has(&search->cli->args, "queries");
    int rc = EXIT_OK;

    for (size_t q = 0; q < count && rc == EXIT_OK; q++)
        rc = search->cli->json ? print_json(search, q, first + q)
                               : print_table(search, q, first + q, titled);
    if (rc == EXIT_OK && args_has(&search->cli->args, "explain")) rc = print_plan(search);
    return rc;
}
