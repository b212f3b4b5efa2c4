/* fielded.c - see fielded.h. */
#include "unit/db/fielded.h"

#include "db/db.h"

paua_collection *fielded_create(paua_db *db, const char *name, bool dynamic)
{
    static const paua_field columns[] = {{"n", PAUA_TYPE_INT64},
                                         {"real", PAUA_TYPE_DOUBLE},
                                         {"text", PAUA_TYPE_STRING},
                                         {"raw", PAUA_TYPE_BYTES}};
    const paua_vector_field vector = {
        .name = "v", .dim = 2, .metric = PAUA_L2, .index = {.kind = PAUA_INDEX_NONE}};
    const paua_schema schema = {.size = sizeof schema,
                                .fields = &vector,
                                .field_count = 1,
                                .columns = columns,
                                .column_count = sizeof columns / sizeof columns[0],
                                .dynamic = dynamic};
    paua_collection *c;

    assert_ok(paua_collection_create(db, name, &schema, &c, &test_err));
    return c;
}

paua_value value_text(const char *text)
{
    paua_value value = {.type = PAUA_TYPE_STRING};

    value.as.bytes = test_string(text);
    return value;
}

paua_value value_bytes(const void *bytes, size_t nbytes)
{
    return (paua_value){.type = PAUA_TYPE_BYTES, .as.bytes = {bytes, nbytes}};
}

paua_status fielded_write(paua_collection *c, enum fielded_op op, const uint64_t *keys, size_t n,
                          const paua_column *columns, size_t column_count,
                          const paua_write_opts *opts, paua_status *row_status, paua_error *err)
{
    float(*vectors)[2] = malloc((n + 1) * sizeof vectors[0]);
    paua_vectors given = {.data = vectors[0]};
    paua_rows rows = test_rows(test_u64(keys, n), op == FIELDED_INSERT ? &given : NULL, NULL);
    paua_status status;

    assert_non_null(vectors);
    for (size_t i = 0; i < n; i++) {
        vectors[i][0] = (float)keys[i];
        vectors[i][1] = 1;
    }
    rows.columns = columns;
    rows.column_count = column_count;
    if (op == FIELDED_INSERT)
        status = paua_insert(c, &rows, opts, row_status, err);
    else if (op == FIELDED_UPSERT)
        status = paua_upsert(c, &rows, opts, row_status, err);
    else
        status = paua_update(c, &rows, opts, row_status, err);
    free(vectors);
    return status;
}

void fielded_insert(paua_collection *c, uint64_t key, const char *field, paua_value value)
{
    const paua_column column = {field, &value};

    assert_ok(fielded_write(c, FIELDED_INSERT, &key, 1, &column, 1, NULL, NULL, &test_err));
}

void fielded_update(paua_collection *c, uint64_t key, const char *field, paua_value value)
{
    const paua_column column = {field, &value};

    assert_ok(fielded_write(c, FIELDED_UPDATE, &key, 1, &column, 1, NULL, NULL, &test_err));
}

void fielded_fill(paua_collection *c, uint64_t first, size_t n)
{
    uint64_t *keys = malloc((n + 1) * sizeof keys[0]);
    paua_value *values = malloc((n + 1) * sizeof values[0]);
    const paua_column column = {"n", values};

    assert_true(keys != NULL && values != NULL);
    for (size_t i = 0; i < n; i++) {
        keys[i] = first + i;
        values[i] = value_i64((int64_t)keys[i]);
    }
    assert_ok(fielded_write(c, FIELDED_INSERT, keys, n, &column, 1, NULL, NULL, &test_err));
    free(keys);
    free(values);
}

static bool same(const paua_value *a, const paua_value *b)
{
    if (a->type != b->type) return false;
    if (a->type == PAUA_TYPE_NULL) return true;
    if (a->type == PAUA_TYPE_INT64) return a->as.i64 == b->as.i64;
    if (a->type == PAUA_TYPE_DOUBLE) return memcmp(&a->as.f64, &b->as.f64, sizeof a->as.f64) == 0;
    return a->as.bytes.nbytes == b->as.bytes.nbytes && a->as.bytes.data != NULL &&
           (b->as.bytes.nbytes == 0 ||
            memcmp(a->as.bytes.data, b->as.bytes.data, b->as.bytes.nbytes) == 0);
}

bool fielded_is(paua_collection *c, uint64_t key, const char *field, paua_value value)
{
    const paua_keys keys = test_u64(&key, 1);
    const paua_read_opts opts = {
        .size = sizeof opts, .no_vectors = true, .fields = &field, .field_count = 1};
    const paua_record *record;
    paua_cursor *cursor;
    bool is;

    assert_ok(paua_fetch(c, &keys, &opts, &cursor, &test_err));
    assert_ok(paua_cursor_next(cursor, &record, &test_err));
    is = record->found && same(&record->values[0], &value);
    paua_cursor_close(cursor);
    return is;
}

paua_filter *fielded_filter(const char *text)
{
    paua_filter *filter;

    assert_ok(paua_filter_parse(text, strlen(text), &filter, &test_err));
    return filter;
}

uint64_t fielded_count(paua_collection *c, const char *text)
{
    paua_filter *filter = fielded_filter(text);
    uint64_t count;

    assert_ok(paua_count(c, filter, &count, &test_err));
    paua_filter_free(filter);
    return count;
}

void fielded_seal(paua_collection *c)
{
    pthread_mutex_lock(&c->write_mutex);
    assert_ok(seal_tail(c, &test_err));
    pthread_mutex_unlock(&c->write_mutex);
}

paua_stats fielded_stats(paua_collection *c)
{
    paua_stats stats = {.size = sizeof stats};

    assert_ok(paua_collection_stats(c, &stats, &test_err));
    return stats;
}
