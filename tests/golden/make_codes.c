/* make_codes.c - writes the golden database with codes, as make.c does the one without.
 *
 *   golden-make-codes DIRECTORY */
#include "golden/code_rows.h"

#include <stdio.h>

static void put(paua_collection *c)
{
    static float unit[GOLDEN_CODE_ROWS][GOLDEN_UNIT_DIM];
    static float plain[GOLDEN_CODE_ROWS][GOLDEN_PLAIN_DIM];
    static uint64_t keys[GOLDEN_CODE_ROWS];
    const paua_vectors vectors[] = {{.data = unit[0]}, {.data = plain[0]}};
    paua_rows rows = test_rows(test_u64(keys, GOLDEN_CODE_ROWS), vectors, NULL);

    for (uint32_t i = 0; i < GOLDEN_CODE_ROWS; i++) {
        keys[i] = i;
        golden_code_vector(0, i, unit[i]);
        golden_code_vector(1, i, plain[i]);
    }
    rows.vectors_count = 2;
    assert_ok(paua_insert(c, &rows, NULL, NULL, &test_err));
}

int main(int argc, char **argv)
{
    const paua_open_opts opts = {.size = sizeof opts, .create = true, .no_background = true};
    const paua_schema schema = {.size = sizeof schema,
                                .document = PAUA_DOCUMENT_NONE,
                                .fields = golden_code_fields,
                                .field_count = 2};
    paua_collection *c;
    paua_db *db;

    if (argc != 2) {
        fprintf(stderr, "usage: golden-make-codes DIRECTORY\n");
        return 2;
    }
    assert_ok(paua_open(argv[1], &opts, &db, &test_err));
    assert_ok(paua_collection_create(db, "codes", &schema, &c, &test_err));
    put(c);
    assert_ok(paua_optimize(c, NULL, &test_err));
    paua_collection_close(c);
    paua_close(db);
    return 0;
}
