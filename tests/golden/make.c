/* make.c - writes the golden database of the format that this library has. Run by hand, once for a
 * format version; what it wrote is committed and never made again.
 *
 *   golden-make DIRECTORY */
#include "golden/rows.h"

#include <stdio.h>

#include "db/db.h"

static void put(paua_collection *c, const struct golden *g, uint32_t row, uint32_t version)
{
    float vectors[2][GOLDEN_DIM_MAX];
    char room[GOLDEN_DOCUMENT_MAX];
    paua_bytes document = golden_document(g, row, version, room);
    paua_vectors v[2] = {{vectors[0], 0}, {vectors[1], 0}};
    paua_rows rows = test_rows(golden_key(g, row), v, document.data == NULL ? NULL : &document);

    rows.vectors_count = g->schema.dim2 == 0 ? 1 : 2;
    for (uint32_t f = 0; f < rows.vectors_count; f++)
        golden_vector(g, f, row, version, vectors[f]);
    assert_ok(paua_upsert(c, &rows, NULL, NULL, &test_err));
}

static void drop(paua_collection *c, const struct golden *g, uint32_t row)
{
    paua_keys keys = golden_key(g, row);

    assert_ok(paua_delete(c, &keys, NULL, NULL, &test_err));
}

static void fill(paua_collection *c, const struct golden *g)
{
    for (uint32_t row = 0; row < 30; row++)
        put(c, g, row, 0);
    assert_ok(paua_optimize(c, NULL, &test_err));
    for (uint32_t row = 0; row < 30; row++) {
        if (row != 2 && !golden_live(g, row)) drop(c, g, row);
        if (golden_version(row) == 1) put(c, g, row, 1);
    }
    if (g->gaps) assert_ok(paua_optimize(c, NULL, &test_err));
    for (uint32_t row = 30; row < 40; row++)
        put(c, g, row, 0);
    pthread_mutex_lock(&c->write_mutex);
    assert_ok(seal_tail(c, &test_err));
    pthread_mutex_unlock(&c->write_mutex);
    for (uint32_t row = 40; row < GOLDEN_ROWS; row++)
        put(c, g, row, 0);
    drop(c, g, 45);
    put(c, g, 46, 1);
    drop(c, g, 2);
}

static void put_indexed(paua_collection *c, uint32_t first, uint32_t count)
{
    static uint64_t keys[GOLDEN_INDEXED_ROWS];
    static float vectors[2][GOLDEN_INDEXED_ROWS][GOLDEN_INDEXED_DIM];
    paua_vectors v[2] = {{vectors[0][0], 0}, {vectors[1][0], 0}};
    paua_rows rows = test_rows(test_u64(keys, count), v, NULL);

    rows.vectors_count = 2;
    for (uint32_t i = 0; i < count; i++) {
        keys[i] = first + i;
        for (uint32_t f = 0; f < 2; f++)
            golden_indexed_vector(f, first + i, vectors[f][i]);
    }
    assert_ok(paua_insert(c, &rows, NULL, NULL, &test_err));
}

static void make_indexed(paua_db *db)
{
    paua_schema schema = {.size = sizeof schema,
                          .document = PAUA_DOCUMENT_NONE,
                          .fields = golden_indexed_fields,
                          .field_count = 2};
    uint32_t sealed = GOLDEN_INDEXED_ROWS - GOLDEN_INDEXED_TAIL;
    const paua_index_params flat = {.kind = PAUA_INDEX_FLAT};
    paua_collection *c = NULL;

    assert_ok(paua_collection_create(db, "indexed", &schema, &c, &test_err));
    put_indexed(c, 0, sealed);
    assert_ok(paua_optimize(c, NULL, &test_err));
    assert_ok(paua_index_create(c, "kept", "more", &flat, NULL, &test_err));
    put_indexed(c, sealed, GOLDEN_INDEXED_TAIL);
    for (uint32_t row = 0; row < GOLDEN_INDEXED_ROWS; row += GOLDEN_INDEXED_DEAD)
        test_delete_u64(c, row);
    paua_collection_close(c);
}

int main(int argc, char **argv)
{
    paua_open_opts opts = {.size = sizeof opts, .create = true, .no_background = true};
    paua_db *db;

    if (argc != 2) {
        fprintf(stderr, "usage: golden-make DIRECTORY\n");
        return 2;
    }
    assert_ok(paua_open(argv[1], &opts, &db, &test_err));
    for (size_t i = 0; i < golden_count; i++) {
        paua_collection *c =
            test_create(db, golden_collections[i].name, &golden_collections[i].schema);

        fill(c, &golden_collections[i]);
        paua_collection_close(c);
    }
    make_indexed(db);
    paua_collection_close(test_create(db, "empty", &(struct test_schema){.dim = 7}));
    paua_close(db);
    return 0;
}
