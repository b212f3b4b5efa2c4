// test_from_cpp.cpp - the public header compiles as C++, and the shared library links to it.
//
// Opens a database in memory, writes two rows, and finds the nearer one: each struct of options is
// initialized the C++ way, and each call resolves against the symbols that libpaua.so exports.
#include <cstdint>
#include <cstdio>
#include <cstring>

#include <paua/paua.h>

static int failures;

static void expect(bool holds, const char *what)
{
    if (holds) return;
    std::fprintf(stderr, "not so: %s\n", what);
    failures++;
}

static void nearest_row_is_found(paua_collection *collection, paua_error *err)
{
    const std::uint64_t keys[] = {7, 8};
    const float vectors[] = {1, 0, 0, 1}, query[] = {0.1f, 0.9f};
    const paua_vectors field = {vectors, 0};
    paua_rows rows = {};
    paua_search_opts opts = {};
    paua_hits *hits = nullptr;

    rows.size = sizeof rows;
    rows.keys.count = 2;
    rows.keys.u64 = keys;
    rows.vectors = &field;
    rows.vectors_count = 1;
    opts.size = sizeof opts;
    opts.k = 1;
    expect(paua_insert(collection, &rows, nullptr, nullptr, err) == PAUA_OK, "two rows go in");
    expect(paua_hits_open(&hits, err) == PAUA_OK, "hits open");
    expect(paua_search(collection, query, 1, 0, &opts, hits, err) == PAUA_OK, "a search answers");
    if (failures == 0) {
        expect(paua_hits_count(hits, 0) == 1, "one hit comes back");
        expect(paua_hits_at(hits, 0, 0).key.u64 == 8, "it is the nearer row");
    }
    paua_hits_close(hits);
}

static void count_index(void *arg, const paua_index *index)
{
    if (std::strcmp(index->name, "more") == 0 && index->params.degree == 8)
        ++*static_cast<int *>(arg);
}

static void an_index_comes_and_goes(paua_collection *collection, paua_error *err)
{
    paua_index_params params = {};
    int count = 0;

    params.kind = PAUA_INDEX_VAMANA;
    params.degree = 8;
    expect(paua_index_create(collection, nullptr, "more", &params, nullptr, err) == PAUA_OK,
           "an index is made");
    expect(paua_index_list(collection, count_index, &count, err) == PAUA_OK && count == 1,
           "it is listed with its parameters");
    expect(paua_index_drop(collection, "more", err) == PAUA_OK, "it is dropped");
}

int main()
{
    paua_error err = {};
    paua_db *db = nullptr;
    paua_collection *collection = nullptr;
    paua_open_opts open = {};
    paua_schema schema = {};
    paua_vector_field field = {};

    open.size = sizeof open;
    open.in_memory = true;
    field.name = "vector";
    field.dim = 2;
    field.metric = PAUA_L2;
    schema.size = sizeof schema;
    schema.fields = &field;
    schema.field_count = 1;
    expect(std::strcmp(paua_version(), PAUA_VERSION) == 0, "header and library are one version");
    expect(paua_open(nullptr, &open, &db, &err) == PAUA_OK, "a database opens in memory");
    if (failures == 0)
        expect(paua_collection_create(db, "rows", &schema, &collection, &err) == PAUA_OK,
               "a collection is created");
    if (failures == 0) nearest_row_is_found(collection, &err);
    if (failures == 0) an_index_comes_and_goes(collection, &err);
    if (failures != 0) std::fprintf(stderr, "%s\n", err.message);
    paua_collection_close(collection);
    paua_close(db);
    return failures != 0;
}
