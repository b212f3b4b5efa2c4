/* bench_truth.c - paua bench vectors: which rows are truly nearest.
 *
 * From the file if one is given and the whole base was inserted. Else rows go, in fp32 and without
 * an index, into a second database beside the first, and every query is compared with all of them:
 * what the database under test keeps of its vectors does not matter. */
#include "bench_vectors.h"

#include <stdlib.h>

#define BATCH_QUERIES 100u

static int search_all(struct vectors *vectors, paua_collection *collection)
{
    const struct bench_queries *queries = &vectors->queries;
    paua_search_opts opts = {.size = sizeof opts,
                             .k = vectors->search.k,
                             .threads = vectors->threads,
                             .cancel = &interrupt_cancel,
                             .exact = true};
    paua_hits *hits;
    paua_error err;
    int rc = EXIT_OK;

    if (paua_hits_open(&hits, &err) != PAUA_OK) return fail_with(&err);
    for (size_t at = 0; at < queries->count && rc == EXIT_OK; at += BATCH_QUERIES) {
        size_t left = queries->count - at;
        if (paua_search(collection, queries->vectors + at * queries->dim,
                        left < BATCH_QUERIES ? left : BATCH_QUERIES, 0, &opts, hits,
                        &err) != PAUA_OK)
            rc = fail_with(&err);
        else
            bench_ids_take(&vectors->true_ids, at, hits);
    }
    paua_hits_close(hits);
    return rc;
}

static int compute(struct vectors *vectors, paua_db *db)
{
    paua_vector_field field = {.name = "vector",
                               .dim = vectors->field.dim,
                               .metric = vectors->field.metric,
                               .index = {.kind = PAUA_INDEX_NONE}};
    paua_schema schema = {
        .size = sizeof schema, .document = PAUA_DOCUMENT_NONE, .fields = &field, .field_count = 1};
    struct bench_load load = vectors->load;
    paua_collection *collection;
    paua_error err;
    int rc;

    if (paua_collection_create(db, "truth", &schema, &collection, &err) != PAUA_OK)
        return fail_with(&err);
    rc = bench_load(&load, collection);
    if (rc == EXIT_OK) rc = search_all(vectors, collection);
    paua_collection_close(collection);
    return rc;
}

int vectors_truth_check(const struct vectors *vectors, uint64_t rows)
{
    struct bench_ids ids;
    int rc;

    if (vectors->truth == NULL) return EXIT_OK;
    bench_ids_begin(&ids, vectors->queries.count, vectors->search.k);
    rc = bench_truth_read(vectors->truth, rows, &ids);
    bench_ids_free(&ids);
    return rc;
}

int vectors_truth(struct vectors *vectors)
{
    paua_open_opts opts = {
        .size = sizeof opts, .create = true, .durability = PAUA_OFF, .no_background = true};
    char *path;
    paua_db *db;
    paua_error err;
    int rc;

    if (vectors->truth != NULL && !vectors->load.cut)
        return bench_truth_read(vectors->truth, vectors->load.rows, &vectors->true_ids);
    bench_say(vectors->cli, "%s: finding the true nearest rows by exact search",
              vectors->truth == NULL ? "no --truth is given" : "--truth is that of more rows");
    vectors->truth_computed = true;
    path = cmd_format("%s/truth.paua", vectors->dir.path);
    if (paua_open(path, &opts, &db, &err) == PAUA_OK) {
        rc = compute(vectors, db);
        paua_close(db);
        bench_tree_remove(path);
    } else {
        rc = fail_with(&err);
    }
    free(path);
    return rc;
}
