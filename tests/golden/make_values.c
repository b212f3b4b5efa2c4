/* make_values.c - writes the golden database with indexes of fields, as make.c does the one
 * without.
 *
 *   golden-make-values DIRECTORY */
#include "golden/value_rows.h"

#include <stdio.h>

static void put(paua_collection *c)
{
    static char texts[GOLDEN_VALUE_ROWS][GOLDEN_TEXT_NBYTES];
    static paua_value few[GOLDEN_VALUE_ROWS], many[GOLDEN_VALUE_ROWS], text[GOLDEN_VALUE_ROWS];
    static float vectors[GOLDEN_VALUE_ROWS];
    static uint64_t keys[GOLDEN_VALUE_ROWS];
    const paua_column columns[] = {{"few", few}, {"many", many}, {"text", text}};
    const paua_vectors all = {.data = vectors};
    paua_rows rows = test_rows(test_u64(keys, GOLDEN_VALUE_ROWS), &all, NULL);

    for (uint32_t i = 0; i < GOLDEN_VALUE_ROWS; i++) {
        keys[i] = i;
        few[i] = golden_few(i);
        many[i] = golden_many(i);
        text[i] = golden_text(i, texts[i]);
    }
    rows.columns = columns;
    rows.column_count = 3;
    assert_ok(paua_insert(c, &rows, NULL, NULL, &test_err));
}

int main(int argc, char **argv)
{
    static const paua_field columns[] = {
        {"few", PAUA_TYPE_INT8}, {"many", PAUA_TYPE_DOUBLE}, {"text", PAUA_TYPE_STRING}};
    static const paua_index_params bitmap = {.kind = PAUA_INDEX_BITMAP};
    static const paua_index_params sorted = {.kind = PAUA_INDEX_SORTED};
    const paua_open_opts opts = {.size = sizeof opts, .create = true, .no_background = true};
    const paua_vector_field vector = {
        .name = "v", .dim = 1, .metric = PAUA_L2, .index = {.kind = PAUA_INDEX_NONE}};
    const paua_schema schema = {.size = sizeof schema,
                                .document = PAUA_DOCUMENT_NONE,
                                .fields = &vector,
                                .field_count = 1,
                                .columns = columns,
                                .column_count = 3};
    paua_collection *c;
    paua_db *db;

    if (argc != 2) {
        fprintf(stderr, "usage: golden-make-values DIRECTORY\n");
        return 2;
    }
    assert_ok(paua_open(argv[1], &opts, &db, &test_err));
    assert_ok(paua_collection_create(db, "values", &schema, &c, &test_err));
    put(c);
    assert_ok(paua_optimize(c, NULL, &test_err));
    assert_ok(paua_index_create(c, "few", "by_few", &bitmap, NULL, &test_err));
    assert_ok(paua_index_create(c, "many", "by_many", &sorted, NULL, &test_err));
    assert_ok(paua_index_create(c, "text", "by_text", &bitmap, NULL, &test_err));
    paua_collection_close(c);
    paua_close(db);
    return 0;
}
