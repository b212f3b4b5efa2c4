/* make_fields.c - writes the golden database with fields, as make.c does the one without.
 *
 *   golden-make-fields DIRECTORY */
#include "golden/field_rows.h"

#include <stdio.h>

#include "db/db.h"

#define CALL_ROWS_MAX 40u

static void put(paua_collection *c, uint32_t first, uint32_t count)
{
    static struct golden_room rooms[GOLDEN_FIELDS][CALL_ROWS_MAX];
    static paua_value values[GOLDEN_FIELDS + 1][CALL_ROWS_MAX];
    static float vectors[CALL_ROWS_MAX][2];
    static uint64_t keys[CALL_ROWS_MAX];
    const paua_vectors all = {.data = vectors[0]};
    paua_column columns[GOLDEN_FIELDS + 1];
    paua_rows rows = test_rows(test_u64(keys, count), &all, NULL);

    for (uint32_t i = 0; i < count; i++) {
        keys[i] = first + i;
        vectors[i][0] = (float)(first + i);
        for (uint32_t f = 0; f < GOLDEN_FIELDS; f++)
            values[f][i] = golden_value(f, first + i, false, &rooms[f][i]);
        values[GOLDEN_FIELDS][i] = (paua_value){.type = PAUA_TYPE_BOOL, .as.boolean = true};
    }
    for (uint32_t f = 0; f < GOLDEN_FIELDS; f++)
        columns[f] = (paua_column){golden_fields[f].name, values[f]};
    columns[GOLDEN_FIELDS] = (paua_column){"gone", values[GOLDEN_FIELDS]};
    if (first == 0) columns[1].name = "at first";
    rows.columns = columns;
    rows.column_count = first >= 50 ? GOLDEN_FIELDS : GOLDEN_FIELDS + 1;
    assert_ok(paua_insert(c, &rows, NULL, NULL, &test_err));
}

static void patch(paua_collection *c, uint32_t row)
{
    struct golden_room rooms[2];
    const paua_value values[] = {golden_value(0, row, true, &rooms[0]),
                                 golden_value(1, row, true, &rooms[1])};
    const paua_column columns[] = {{"n", &values[0]}, {"text", &values[1]}};
    const uint64_t key = row;
    paua_rows rows = test_rows(test_u64(&key, 1), NULL, NULL);

    rows.columns = columns;
    rows.column_count = 2;
    assert_ok(paua_update(c, &rows, NULL, NULL, &test_err));
}

/* "text" is "at first", and "extra" comes with the first row that has it. */
static paua_collection *create(paua_db *db)
{
    static paua_field columns[GOLDEN_FIELDS - 1];
    const paua_vector_field vector = {
        .name = "v", .dim = 2, .metric = PAUA_L2, .index = {.kind = PAUA_INDEX_NONE}};
    const paua_schema schema = {.size = sizeof schema,
                                .document = PAUA_DOCUMENT_NONE,
                                .fields = &vector,
                                .field_count = 1,
                                .columns = columns,
                                .column_count = GOLDEN_FIELDS - 1,
                                .dynamic = true};
    paua_collection *c;

    memcpy(columns, golden_fields, sizeof columns);
    columns[1].name = "at first";
    assert_ok(paua_collection_create(db, "fields", &schema, &c, &test_err));
    return c;
}

int main(int argc, char **argv)
{
    paua_open_opts opts = {.size = sizeof opts, .create = true, .no_background = true};
    paua_collection *c;
    paua_db *db;

    if (argc != 2) {
        fprintf(stderr, "usage: golden-make-fields DIRECTORY\n");
        return 2;
    }
    assert_ok(paua_open(argv[1], &opts, &db, &test_err));
    c = create(db);
    put(c, 0, 40);
    assert_ok(paua_optimize(c, NULL, &test_err));
    assert_ok(paua_field_rename(c, "at first", "text", &test_err));
    for (uint32_t row = 5; row <= 9; row++)
        patch(c, row);
    put(c, 40, 10);
    pthread_mutex_lock(&c->write_mutex);
    assert_ok(seal_tail(c, &test_err));
    pthread_mutex_unlock(&c->write_mutex);
    assert_ok(paua_field_drop(c, "gone", &test_err));
    put(c, 50, 10);
    patch(c, 12);
    patch(c, 51);
    paua_collection_close(c);
    paua_close(db);
    return 0;
}
