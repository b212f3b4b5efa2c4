/* bench_data.c - the files that benchmarks read: rows, queries, and the true nearest rows.
 *
 * Memory   A base is streamed through one block, which is freed before anything else is measured;
 *          queries and ids are held whole. */
#include "bench_data.h"

#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "block.h"
#include "source.h"

#define SAY_ROWS 50000u
#define TRUTH_IDS_MAX 1000000

const struct file_format *bench_format(const char *path)
{
    const struct file_format *format = format_by_suffix(path);

    if (format == NULL)
        fail("%s: its name does not end in .fvecs, .bvecs or .npy, rename it", path);
    return format;
}

int bench_dim(const char *path, uint32_t *dim)
{
    const struct file_format *format = bench_format(path);
    struct fault fault;

    if (format == NULL) return EXIT_FAILED;
    return reader_file_dim(format, path, dim, &fault) ? EXIT_OK : fail("%s", fault.text);
}

static enum row_result read_queries(struct reader_state *reader, size_t most,
                                    struct bench_queries *queries, struct fault *fault)
{
    enum row_result result = ROW_OK;
    size_t room = 0;

    while (result == ROW_OK && queries->count < most) {
        struct row row;
        if (queries->count == room) {
            room = 2 * room + 64;
            queries->vectors =
                cmd_grow(queries->vectors, room * queries->dim, sizeof *queries->vectors);
        }
        row.vectors[0] = queries->vectors + queries->count * queries->dim;
        result = reader_row(reader, &row, fault);
        if (result == ROW_OK) queries->count++;
    }
    return result;
}

int bench_queries_read(const char *path, const paua_schema *schema, size_t most,
                       struct bench_queries *queries)
{
    const struct file_format *format = bench_format(path);
    struct bench_queries draft = {.dim = schema->fields[0].dim};
    struct reader_state reader;
    struct fault fault;
    enum row_result result;

    if (format == NULL) return EXIT_FAILED;
    if (!reader_start(&reader, format, path, schema, 0, &fault)) return fail("%s", fault.text);
    result = read_queries(&reader, most, &draft, &fault);
    reader_end(&reader);
    if (result == ROW_OK || result == ROW_END) {
        if (draft.count > 0) {
            *queries = draft;
            return EXIT_OK;
        }
        fault_set(&fault, "%s: it holds no queries", path);
    }
    bench_queries_free(&draft);
    return fail("%s", fault.text);
}

void bench_queries_free(struct bench_queries *queries)
{
    free(queries->vectors);
    *queries = (struct bench_queries){0};
}

void bench_ids_begin(struct bench_ids *ids, size_t count, size_t k)
{
    *ids = (struct bench_ids){.ids = cmd_alloc(count * k, sizeof *ids->ids),
                              .counts = cmd_alloc(count, sizeof *ids->counts),
                              .count = count,
                              .k = k};
}

void bench_ids_free(struct bench_ids *ids)
{
    free(ids->ids);
    free(ids->counts);
    *ids = (struct bench_ids){0};
}

void bench_ids_take(struct bench_ids *ids, size_t first, const paua_hits *hits)
{
    for (size_t q = 0; q < paua_hits_queries(hits) && first + q < ids->count; q++) {
        size_t count = paua_hits_count(hits, q);
        uint64_t *row = ids->ids + (first + q) * ids->k;
        if (count > ids->k) count = ids->k;
        for (size_t i = 0; i < count; i++)
            row[i] = paua_hits_at(hits, q, i).key.u64;
        ids->counts[first + q] = count;
    }
}

/* One row of an ivecs file into scratch, grown as needed. */
static bool read_ids(struct instream *in, int32_t **scratch, int32_t *count, struct fault *fault)
{
    size_t got = 0, nbytes;

    if (!instream_read(in, count, sizeof *count, &got, fault)) return false;
    if (got == sizeof *count && *count > 0 && *count <= TRUTH_IDS_MAX) {
        nbytes = (size_t)*count * sizeof **scratch;
        *scratch = cmd_grow(*scratch, (size_t)*count, sizeof **scratch);
        if (!instream_read(in, *scratch, nbytes, &got, fault)) return false;
        if (got == nbytes) return true;
    }
    fault_set(fault, "%s: it is no ivecs file with a row for each query", in->name);
    return false;
}

static bool take_ids(const int32_t *scratch, size_t count, uint64_t rows, const char *path,
                     uint64_t *ids, struct fault *fault)
{
    for (size_t i = 0; i < count; i++) {
        ids[i] = (uint64_t)scratch[i];
        if (ids[i] < rows) continue;
        fault_set(fault, "%s: it names row %d, of a base with %llu rows, give this base's truth",
                  path, scratch[i], (unsigned long long)rows);
        return false;
    }
    return true;
}

int bench_truth_read(const char *path, uint64_t rows, struct bench_ids *truth)
{
    struct instream in;
    struct fault fault;
    int32_t *scratch = NULL;
    int32_t count = 0;
    bool ok = instream_open(&in, path, &fault);

    if (!ok) return fail("%s", fault.text);
    for (size_t q = 0; ok && q < truth->count; q++) {
        ok = read_ids(&in, &scratch, &count, &fault);
        if (!ok) break;
        truth->counts[q] = (size_t)count < truth->k ? (size_t)count : truth->k;
        ok = take_ids(scratch, truth->counts[q], rows, path, truth->ids + q * truth->k, &fault);
    }
    instream_close(&in);
    free(scratch);
    return ok ? EXIT_OK : fail("%s", fault.text);
}

static bool holds(const uint64_t *ids, size_t count, uint64_t id)
{
    for (size_t i = 0; i < count; i++) {
        if (ids[i] == id) return true;
    }
    return false;
}

double bench_recall(const struct bench_ids *truth, const struct bench_ids *found)
{
    uint64_t hits = 0, wanted = 0;

    for (size_t q = 0; q < truth->count; q++) {
        const uint64_t *ids = truth->ids + q * truth->k;
        for (size_t i = 0; i < truth->counts[q]; i++)
            hits += holds(found->ids + q * found->k, found->counts[q], ids[i]) ? 1 : 0;
        wanted += truth->counts[q];
    }
    return wanted == 0 ? 1 : (double)hits / (double)wanted;
}

static int insert_block(struct bench_load *load, paua_collection *collection,
                        struct row_block *block)
{
    paua_rows rows = block_rows(block);
    paua_error err;

    if (block->count == 0) return EXIT_OK;
    if (paua_insert(collection, &rows, NULL, NULL, &err) != PAUA_OK) return fail_with(&err);
    load->rows += block->count;
    if (load->rows / SAY_ROWS != (load->rows - block->count) / SAY_ROWS)
        bench_say(load->cli, "  %llu rows", (unsigned long long)load->rows);
    return EXIT_OK;
}

static int load_rows(struct bench_load *load, paua_collection *collection, struct source *source,
                     struct row_block *block)
{
    enum row_result result = ROW_OK;
    struct fault fault;
    int rc = EXIT_OK;

    while (rc == EXIT_OK && result == ROW_OK && source->ordinal < load->rows_most) {
        block_reset(block);
        while (result == ROW_OK && !block_full(block) && source->ordinal < load->rows_most)
            result = source_row(source, block, &fault);
        rc = insert_block(load, collection, block);
        if (rc == EXIT_OK && interrupted())
            rc = fail("interrupted, after %llu rows were inserted", (unsigned long long)load->rows);
    }
    if (rc != EXIT_OK) return rc;
    if (result == ROW_BAD || result == ROW_BROKEN) return fail("%s", fault.text);
    if (result == ROW_OK) {
        /* Is there one more? Whatever it is, it was not asked for. */
        block_reset(block);
        load->cut = source_row(source, block, &fault) != ROW_END;
    }
    return EXIT_OK;
}

int bench_load(struct bench_load *load, paua_collection *collection)
{
    const paua_schema *schema = paua_collection_schema(collection);
    const struct file_format *format = bench_format(load->path);
    struct source source = {.schema = schema};
    size_t batch = block_default_rows(schema);
    struct row_block block;
    struct fault fault;
    int rc;

    if (format == NULL) return EXIT_FAILED;
    if (!reader_start(&source.reader, format, load->path, schema, 0, &fault))
        return fail("%s", fault.text);
    block_begin(&block, schema, batch < load->batch_most ? batch : load->batch_most);
    load->rows = 0;
    load->cut = false;
    rc = load_rows(load, collection, &source, &block);
    block_free(&block);
    reader_end(&source.reader);
    return rc;
}
