/* fields_scenario.c - see fields_scenario.h. */
#include "crash/fields_scenario.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void place_close(struct place_open *p)
{
    paua_collection_close(p->c);
    paua_close(p->db);
    p->c = NULL;
    p->db = NULL;
}

paua_status place_begin(struct place_open *p, bool create, paua_error *err)
{
    paua_open_opts opts = {.size = sizeof opts,
                           .create = create,
                           .durability = p->durability,
                           .no_background = true,
                           .batch_ms = 3600000};
    paua_status status = paua_open(p->path, &opts, &p->db, err);

    if (status == PAUA_OK) status = paua_collection_open(p->db, "c", &p->c, err);
    return status == PAUA_ENOTFOUND && p->db != NULL ? PAUA_OK : status;
}

/* ---- the calls ---- */

paua_status place_create(struct place_open *p, paua_error *err)
{
    static const paua_field columns[] = {{"n", PAUA_TYPE_INT64}, {"text", PAUA_TYPE_STRING}};
    static const paua_vector_field vector = {
        .name = "v", .dim = 2, .metric = PAUA_L2, .index = {.kind = PAUA_INDEX_NONE}};
    static const paua_schema schema = {.size = sizeof schema,
                                       .fields = &vector,
                                       .field_count = 1,
                                       .columns = columns,
                                       .column_count = 2,
                                       .dynamic = true};

    return paua_collection_create(p->db, "c", &schema, &p->c, err);
}

#define CALL_ROWS_MAX 1024u

paua_status rows_write(struct place_open *p, bool insert, uint64_t first, uint64_t last,
                       const char *number, int by, const char *text, paua_error *err)
{
    static float vectors[CALL_ROWS_MAX][2];
    static char digits[CALL_ROWS_MAX][16];
    static paua_value numbers[CALL_ROWS_MAX], texts[CALL_ROWS_MAX];
    uint64_t keys[CALL_ROWS_MAX];
    paua_vectors given = {.data = vectors[0]};
    paua_column columns[2];
    paua_rows rows = {.size = sizeof rows, .vectors = &given, .columns = columns};

    for (uint64_t key = first; key <= last; key++) {
        size_t i = rows.keys.count++;

        keys[i] = key;
        vectors[i][0] = (float)key;
        vectors[i][1] = 1;
        numbers[i] = (paua_value){.type = PAUA_TYPE_INT64, .as.i64 = (int64_t)key * by};
        snprintf(digits[i], sizeof digits[i], "%llu", (unsigned long long)(key * 7 + (uint64_t)by));
        texts[i] = (paua_value){.type = PAUA_TYPE_STRING};
        texts[i].as.bytes = (paua_bytes){digits[i], strlen(digits[i])};
        if (key % 5 == 0) texts[i].type = PAUA_TYPE_NULL;
    }
    rows.keys.u64 = keys;
    rows.vectors_count = insert ? 1 : 0;
    if (number != NULL) columns[rows.column_count++] = (paua_column){number, numbers};
    if (text != NULL) columns[rows.column_count++] = (paua_column){text, texts};
    return insert ? paua_insert(p->c, &rows, NULL, NULL, err)
                  : paua_update(p->c, &rows, NULL, NULL, err);
}

static paua_status delete_by(struct place_open *p, const char *text, paua_error *err)
{
    paua_filter *filter;
    paua_status status = paua_filter_parse(text, strlen(text), &filter, err);

    if (status != PAUA_OK) return status;
    status = paua_delete_where(p->c, filter, NULL, err);
    paua_filter_free(filter);
    return status;
}

const struct move steps[STEP_COUNT] = {
    {.call = OPEN},
    {.call = CREATE},
    {INSERT, 1, 40, "n", "text", 1},
    {INSERT, 1000, 2015, "n", "text", 1}, /* as many as indexes need */
    {.call = INDEX, .name = "n", .other = "by_n", .by = PAUA_INDEX_SORTED},
    {UPDATE, 5, 15, "n", NULL, 3},
    {INSERT, 41, 45, "extra", "text", 2},
    {UPDATE, 2, 3, "fresh", "text", 4},
    {.call = OPTIMIZE},
    {.call = INDEX, .name = "text", .other = "by_text", .by = PAUA_INDEX_BITMAP},
    {UPDATE, 3, 9, "n", NULL, 5},
    {.call = INDEX, .name = "extra", .other = "by_extra", .by = PAUA_INDEX_BITMAP},
    {UPDATE, 41, 44, "more", NULL, 1},
    {.call = DELETE_WHERE, .name = "n BETWEEN 20 AND 24 OR extra = 82"},
    {ADD, 0, 0, "later", NULL, PAUA_TYPE_INT16},
    {INSERT, 50, 59, "later", "text", 1},
    {.call = RENAME, .name = "n", .other = "number"},
    {UPDATE, 50, 54, "number", "text", 9},
    {RETYPE, 0, 0, "text", NULL, PAUA_TYPE_INT32},
    {UPDATE, 30, 35, "number", NULL, 6},
    {.call = OPTIMIZE},
    {UPDATE, 30, 32, "number", NULL, 8},
    {.call = DROP, .name = "extra"},
    {.call = OPTIMIZE},
    {.call = FLUSH},
    {INSERT, 60, 62, "extra", NULL, 1},
    {.call = CLOSE},
    {.call = OPEN},
    {UPDATE, 60, 62, "number", NULL, 7},
    {.call = UNINDEX, .name = "by_text"},
    {RETYPE, 0, 0, "number", NULL, PAUA_TYPE_STRING},
    {.call = DROP, .name = "fresh"},
    {.call = DELETE_WHERE, .name = "text IS NULL OR text IS NOT NULL"},
    {.call = OPTIMIZE},
    {INSERT, 1, 2, "later", NULL, 1},
    {.call = CLOSE},
};

paua_status move_make(const struct move *s, struct place_open *p, paua_error *err)
{
    const paua_field added = {s->name, (uint32_t)s->by};
    const paua_index_params params = {.kind = (paua_index_kind)s->by};

    switch (s->call) {
    case OPEN:
        return place_begin(p, true, err);
    case CREATE:
        return place_create(p, err);
    case INSERT:
    case UPDATE:
        return rows_write(p, s->call == INSERT, s->first, s->last, s->name, s->by, s->other, err);
    case DELETE_WHERE:
        return delete_by(p, s->name, err);
    case OPTIMIZE:
        return paua_optimize(p->c, NULL, err);
    case ADD:
        return paua_field_add(p->c, &added, err);
    case RENAME:
        return paua_field_rename(p->c, s->name, s->other, err);
    case RETYPE:
        return paua_field_retype(p->c, s->name, (uint32_t)s->by, err);
    case INDEX:
        return paua_index_create(p->c, s->name, s->other, &params, NULL, err);
    case UNINDEX:
        return paua_index_drop(p->c, s->name, err);
    case DROP:
        return paua_field_drop(p->c, s->name, err);
    case FLUSH:
        return paua_flush(p->db, err);
    default:
        place_close(p);
        return PAUA_OK;
    }
}

/* ---- what a database reads like ---- */

static void say(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct text *t, const char *format, ...)
{
    va_list list;
    int n;

    va_start(list, format);
    n = vsnprintf(t->bytes + t->nbytes, sizeof t->bytes - t->nbytes, format, list);
    va_end(list);
    if (n < 0 || (size_t)n >= sizeof t->bytes - t->nbytes) abort();
    t->nbytes += (size_t)n;
}

static void say_field(void *arg, const paua_field_info *info)
{
    say(arg, "%s %s\n", info->field.name, paua_type_name(info->field.type));
}

static void say_index(void *arg, const paua_index *index)
{
    say(arg, "%s of %s, %d\n", index->name, index->field, (int)index->params.kind);
}

static void say_value(struct text *t, const paua_value *value)
{
    if (value->type == PAUA_TYPE_NULL)
        say(t, " -");
    else if (value->type == PAUA_TYPE_STRING)
        say(t, " '%.*s'", (int)value->as.bytes.nbytes, (const char *)value->as.bytes.data);
    else
        say(t, " %lld", (long long)value->as.i64);
}

static paua_status say_rows(struct text *t, paua_collection *c, paua_error *err)
{
    const paua_read_opts opts = {.size = sizeof opts, .no_document = true};
    const paua_record *record;
    paua_cursor *cursor;
    size_t count;
    paua_status status = paua_iterate(c, &opts, &cursor, err);

    if (status != PAUA_OK) return status;
    paua_cursor_fields(cursor, &count);
    while ((status = paua_cursor_next(cursor, &record, err)) == PAUA_OK && record != NULL) {
        say(t, "%llu (%g %g)", (unsigned long long)record->key.u64, (double)record->vectors[0][0],
            (double)record->vectors[0][1]);
        for (size_t f = 0; f < count; f++)
            say_value(t, &record->values[f]);
        say(t, "\n");
    }
    paua_cursor_close(cursor);
    return status;
}

/* How many rows a filter finds; one that does not fit the fields there are finds none. */
static paua_status say_count(struct text *t, paua_collection *c, const char *filter_text,
                             paua_error *err)
{
    paua_filter *filter;
    uint64_t count = 0;
    paua_status status = paua_filter_parse(filter_text, strlen(filter_text), &filter, err);

    if (status != PAUA_OK) return status;
    status = paua_count(c, filter, &count, err);
    paua_filter_free(filter);
    if (status != PAUA_OK && status != PAUA_EINVAL) return status;
    say(t, "%s: %llu\n", filter_text, (unsigned long long)count);
    return PAUA_OK;
}

paua_status read_all(const struct place_open *p, struct text *t, paua_error *err)
{
    static const char *const filters[] = {
        "n > 20",     "number > 20",       "text IS NULL",           "text LIKE '%4'",
        "text > 200", "extra IS NOT NULL", "later BETWEEN 51 AND 55"};
    paua_status status;

    t->nbytes = 0;
    t->bytes[0] = '\0';
    if (p->c == NULL) return PAUA_OK;
    status = paua_field_list(p->c, say_field, t, err);
    if (status == PAUA_OK) status = paua_index_list(p->c, say_index, t, err);
    if (status == PAUA_OK) status = say_rows(t, p->c, err);
    for (size_t i = 0; i < sizeof filters / sizeof filters[0] && status == PAUA_OK; i++)
        status = say_count(t, p->c, filters[i], err);
    return status;
}
