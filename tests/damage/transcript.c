/* transcript.c - reading all of the database of small.h into one string of bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "damage/small.h"

#define KEYS 220u
#define NAMES_MAX 8u

static void put(struct transcript *t, const void *bytes, size_t nbytes)
{
    if (t->nbytes + nbytes > t->capacity) {
        t->capacity = 2 * (t->nbytes + nbytes) + 4096;
        t->bytes = realloc(t->bytes, t->capacity);
        CHECK(t->bytes != NULL);
    }
    if (nbytes > 0) memcpy(t->bytes + t->nbytes, bytes, nbytes);
    t->nbytes += nbytes;
}

static void put_bytes(struct transcript *t, paua_bytes bytes)
{
    uint64_t length = bytes.data == NULL ? UINT64_MAX : bytes.nbytes;

    put(t, &length, sizeof length);
    put(t, bytes.data, bytes.nbytes);
}

static void put_key(struct transcript *t, const paua_schema *schema, const paua_key *key)
{
    if (schema->key_kind == PAUA_KEY_U64)
        put(t, &key->u64, sizeof key->u64);
    else
        put_bytes(t, key->bytes);
}

/* Values as they come: numbers as they are, all else as bytes. */
static void put_values(struct transcript *t, const paua_cursor *cursor, const paua_record *record)
{
    size_t count;
    const paua_field *fields = paua_cursor_fields(cursor, &count);

    for (size_t f = 0; f < count; f++) {
        const paua_value *value = &record->values[f];
        bool bytes = value->type == PAUA_TYPE_STRING || value->type == PAUA_TYPE_BYTES ||
                     (value->type & PAUA_TYPE_ARRAY) != 0;

        put(t, fields[f].name, strlen(fields[f].name) + 1);
        put(t, &value->type, sizeof value->type);
        if (bytes)
            put_bytes(t, value->as.bytes);
        else if (value->type != PAUA_TYPE_NULL)
            put(t, &value->as.u64, sizeof value->as.u64);
    }
}

/* Takes the cursor over. */
static paua_status put_cursor(struct transcript *t, const paua_schema *schema, paua_cursor *cursor,
                              paua_error *err)
{
    const paua_record *record;
    paua_status status;

    while ((status = paua_cursor_next(cursor, &record, err)) == PAUA_OK && record != NULL) {
        put(t, &record->found, 1);
        if (!record->found) continue;
        put_key(t, schema, &record->key);
        for (size_t f = 0; f < schema->field_count; f++)
            put(t, record->vectors[f], schema->fields[f].dim * sizeof(float));
        put_bytes(t, record->document);
        put_values(t, cursor, record);
    }
    paua_cursor_close(cursor);
    return status;
}

static paua_status put_fetch(struct transcript *t, paua_collection *collection, paua_error *err)
{
    static char names[KEYS][16];
    static uint64_t numbers[KEYS];
    static paua_bytes strings[KEYS];
    paua_keys keys = {.count = KEYS, .u64 = numbers, .strings = strings};
    paua_cursor *cursor;
    paua_status status;

    for (uint32_t n = 0; n < KEYS; n++) {
        numbers[n] = n;
        strings[n] =
            (paua_bytes){names[n], (size_t)snprintf(names[n], sizeof names[n], "w%03u", n)};
    }
    status = paua_fetch(collection, &keys, NULL, &cursor, err);
    if (status != PAUA_OK) return status;
    return put_cursor(t, paua_collection_schema(collection), cursor, err);
}

static void field_count(void *arg, const paua_field_info *info)
{
    (void)info;
    ++*(uint32_t *)arg;
}

/* What a filter finds, in the order of a field: of collections that have the fields of
 * test_fields.c. */
static paua_status put_filtered(struct transcript *t, paua_collection *collection, paua_error *err)
{
    static const char text[] = "n > 40 AND word LIKE 'w%' OR raw IS NULL OR tags CONTAIN_ANY (3)";
    paua_query_opts opts = {.size = sizeof opts, .order_by = "word"};
    paua_filter *filter;
    paua_cursor *cursor;
    uint32_t fields = 0;
    paua_status status = paua_field_list(collection, field_count, &fields, err);

    if (status != PAUA_OK || fields == 0) return status;
    status = paua_filter_parse(text, sizeof text - 1, &filter, err);
    if (status != PAUA_OK) return status;
    opts.filter = filter;
    status = paua_query(collection, &opts, &cursor, err);
    paua_filter_free(filter);
    if (status != PAUA_OK) return status;
    return put_cursor(t, paua_collection_schema(collection), cursor, err);
}

static paua_status put_search(struct transcript *t, paua_collection *collection, const char *field,
                              paua_error *err)
{
    static const float query[8] = {1, -2, 3, 5, -8, 13, 21, -34};
    paua_search_opts opts = {.size = sizeof opts, .k = 1000, .field = field};
    const paua_schema *schema = paua_collection_schema(collection);
    paua_hits *hits;
    paua_status status = paua_hits_open(&hits, err);

    if (status != PAUA_OK) return status;
    status = paua_search(collection, query, 1, 0, &opts, hits, err);
    for (size_t i = 0; status == PAUA_OK && i < paua_hits_count(hits, 0); i++) {
        paua_hit hit = paua_hits_at(hits, 0, i);
        paua_bytes document;

        put_key(t, schema, &hit.key);
        put(t, &hit.distance, sizeof hit.distance);
        if (i % 16 != 0) continue;
        status = paua_hits_document(hits, 0, i, &document, err);
        if (status == PAUA_OK) put_bytes(t, document);
    }
    paua_hits_close(hits);
    return status;
}

paua_status transcript_collection(struct transcript *t, paua_db *db, const char *name,
                                  enum transcript_of what, paua_error *err)
{
    const paua_schema *schema;
    paua_collection *collection;
    paua_cursor *cursor;
    paua_status status = paua_collection_open(db, name, &collection, err);

    if (status != PAUA_OK) return status;
    schema = paua_collection_schema(collection);
    put(t, name, strlen(name) + 1);
    for (size_t f = 0; f < schema->field_count; f++) {
        put(t, schema->fields[f].name, strlen(schema->fields[f].name) + 1);
        put(t, &schema->fields[f].metric, sizeof schema->fields[f].metric);
    }
    if (what == ROWS_IN_ORDER) {
        status = paua_iterate(collection, NULL, &cursor, err);
        if (status == PAUA_OK) status = put_cursor(t, schema, cursor, err);
    }
    if (status == PAUA_OK) status = put_fetch(t, collection, err);
    if (status == PAUA_OK && what == ROWS_IN_ORDER) status = put_filtered(t, collection, err);
    for (size_t f = 0; f < schema->field_count && status == PAUA_OK; f++)
        status = put_search(t, collection, schema->fields[f].name, err);
    paua_collection_close(collection);
    return status;
}

struct names {
    char names[NAMES_MAX][256];
    size_t count;
};

static void name_keep(void *arg, const char *name)
{
    struct names *n = arg;

    CHECK(n->count < NAMES_MAX);
    snprintf(n->names[n->count++], sizeof n->names[0], "%s", name);
}

paua_status transcript_read(struct transcript *t, const char *path, paua_open_opts opts,
                            enum transcript_of what, paua_error *err)
{
    struct names n = {.count = 0};
    paua_db *db;
    paua_status status;

    opts.size = sizeof opts;
    t->nbytes = 0;
    status = paua_open(path, &opts, &db, err);
    if (status != PAUA_OK) return status;
    status = paua_collection_list(db, name_keep, &n, err);
    for (size_t i = 0; i < n.count && status == PAUA_OK; i++)
        status = transcript_collection(t, db, n.names[i], what, err);
    paua_close(db);
    return status;
}

bool transcript_equal(const struct transcript *a, const struct transcript *b)
{
    return a->nbytes == b->nbytes && memcmp(a->bytes, b->bytes, a->nbytes) == 0;
}

void transcript_free(struct transcript *t)
{
    free(t->bytes);
    *t = (struct transcript){0};
}
