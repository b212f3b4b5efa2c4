/* fuzz_reader.c - an importer's reader over any bytes; FUZZ_FORMAT names which.
 *
 * Whatever the bytes are: the reader ends, gives no more rows than the bytes can hold, and every
 * row it gives is one that the library would store. A second pass gives the same rows. */
#include "source.h"
#include "util.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const paua_vector_field fields[] = {
    {.name = "a", .dim = 3, .metric = PAUA_L2, .precision = PAUA_FP32},
    {.name = "b", .dim = 1, .metric = PAUA_L2, .precision = PAUA_FP16}};
static const paua_schema schema = {.size = sizeof schema,
                                   .key_kind = PAUA_KEY_STRING,
                                   .document = PAUA_DOCUMENT_BYTES,
                                   .fields = fields,
                                   .field_count = 2};

static void check_row(const struct row *row)
{
    REQUIRE(row->given != 0 || row->key != NULL || FUZZ_FORMAT.name[0] == 'j' ||
            FUZZ_FORMAT.name[0] == 'c');
    for (size_t f = 0; f < 2; f++) {
        if ((row->given & 1u << f) == 0) continue;
        for (uint32_t i = 0; i < fields[f].dim; i++)
            REQUIRE(isfinite(row->vectors[f][i]));
    }
    if ((row->given & 2u) != 0) REQUIRE(fabsf(row->vectors[1][0]) < 65520);
}

/* A sum over all rows, to compare two passes. */
static double read_rows(struct reader_state *reader, size_t size)
{
    float a[3] = {0}, b[1] = {0};
    struct row row = {.vectors = {a, b}};
    struct fault fault;
    double sum = 0;
    size_t rows = 0;

    for (;;) {
        enum row_result result = reader_row(reader, &row, &fault);
        if (result == ROW_END || result == ROW_BROKEN) break;
        REQUIRE(++rows <= size);
        if (result == ROW_BAD) continue;
        check_row(&row);
        sum = sum / 2 + (double)a[0] + (double)b[0] + (double)row.document.nbytes;
    }
    return sum;
}

/* The same bytes as an import takes them, with keys, documents and fields. */
static void fill_block(struct reader_state *reader)
{
    struct source source = {.schema = &schema, .reader = *reader, .fields = {.may_grow = true}};
    struct row_block block;
    struct fault fault;
    enum row_result result = ROW_OK;

    block_begin(&block, &schema, 4);
    while (result == ROW_OK || result == ROW_BAD) {
        if (block_full(&block)) block_reset(&block);
        result = source_row(&source, &block, &fault);
    }
    REQUIRE(block_rows(&block).keys.count == block.count);
    block_free(&block);
    field_table_free(&source.fields);
    *reader = source.reader;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    char path[64];
    struct reader_state reader;
    struct fault fault;

    REQUIRE(fd >= 0);
    REQUIRE(write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (reader_start(&reader, &FUZZ_FORMAT, path, &schema, 0, &fault)) {
        double sum = read_rows(&reader, size);
        REQUIRE(reader_again(&reader, &fault));
        REQUIRE(read_rows(&reader, size) == sum);
        REQUIRE(reader_again(&reader, &fault));
        fill_block(&reader);
        reader_end(&reader);
    }
    close(fd);
    return 0;
}
