/* fuzz_values.c - files of indexes of values, over three columns of 60 rows.
 *
 * An input is one byte (bits 0 and 1: the column; 2: the kind; 3: checksums of sets are mended), a
 * u16 number of entries, and the arrays one after the other: rows, for BITMAP totals, ends and
 * sets, each as far as there are bytes. The target puts a record and good checksums around them.
 * What opens must be harmless; what validation takes must find what a scan finds. */
#include "../codec/fuzz.h"

#include "codec/value_index_record.h"
#include "column/column.h"
#include "index/value_index.h"

#define ROWS 60u
#define COLUMNS 3u
#define SET_MAGIC 0x574F5250u /* "PROW" */

static const struct file_header header = {.kind = FILE_VALUES, .number = 1, .collection = 1};

/* Numbers in packed codes, raw numbers, and strings; with NULLs, and values that repeat. */
static void put_row(struct column *const columns[COLUMNS], uint32_t row)
{
    static const char text[] = "aabbababbbaaa";
    struct cell small = {.present = true, .key = key_of_int(row * 7 % 13)};
    struct cell large = {.present = true, .key = row % 9 * UINT64_C(0x1234567812345678)};
    struct cell string = {
        .present = true, .data = (const uint8_t *)text + row % 5, .nbytes = row % 8};

    FUZZ_REQUIRE(column_put(columns[0], row, &small) == PAUA_OK);
    if (row % 10 != 3) FUZZ_REQUIRE(column_put(columns[1], row, &large) == PAUA_OK);
    if (row % 6 != 1) FUZZ_REQUIRE(column_put(columns[2], row, &string) == PAUA_OK);
}

static const struct column_view *column_at(uint32_t i)
{
    static struct column *columns[COLUMNS];
    static struct column_view views[COLUMNS];

    if (columns[0] != NULL) return &views[i];
    columns[0] = column_new(PAUA_TYPE_INT8);
    columns[1] = column_new(PAUA_TYPE_UINT64);
    columns[2] = column_new(PAUA_TYPE_BYTES);
    for (uint32_t row = 0; row < ROWS; row++)
        put_row(columns, row);
    for (uint32_t j = 0; j < COLUMNS; j++)
        column_look(columns[j], &views[j]);
    return &views[i];
}

/* What a file is made of. */
struct parts {
    struct value_index_record record;
    struct reader rows, totals, ends;
    uint8_t *sets; /* malloc */
    size_t sets_nbytes;
};

static struct reader take(struct reader *r, size_t nbytes)
{
    size_t n = nbytes < reader_left(r) ? nbytes : reader_left(r);

    return reader_over(reader_bytes(r, n), n);
}

static void mend_sets(struct parts *parts)
{
    struct reader ends = parts->ends;
    uint64_t begin = 0;

    while (reader_left(&ends) >= 8) {
        uint64_t end = reader_u64(&ends);

        if (end > parts->sets_nbytes) return;
        if (end >= begin + RECORD_HEADER_NBYTES) {
            uint8_t *set = parts->sets + begin;

            bytes_put(set, SET_MAGIC, 4);
            bytes_put(set + 4, 1, 4);
            bytes_put(
                set + 8,
                crc32c(0, set + RECORD_HEADER_NBYTES, (size_t)(end - begin) - RECORD_HEADER_NBYTES),
                4);
        }
        begin = end > begin ? end : begin;
    }
}

static void take_parts(struct parts *parts, uint32_t flags, struct reader *r)
{
    uint32_t entries = reader_u16(r) % (ROWS + 1);

    *parts =
        (struct parts){.record = {.kind = PAUA_INDEX_SORTED, .rows = ROWS, .entries = entries}};
    parts->rows = take(r, 4 * (size_t)entries);
    parts->sets = fuzz_copy(r->at, 0);
    if ((flags & 4) == 0) return;
    parts->record.kind = PAUA_INDEX_BITMAP;
    parts->totals = take(r, 4 * (size_t)entries);
    parts->ends = take(r, 8 * (size_t)entries);
    free(parts->sets);
    parts->sets_nbytes = reader_left(r);
    parts->sets = fuzz_copy(r->at, parts->sets_nbytes);
    parts->record.sets_nbytes = parts->sets_nbytes;
    if ((flags & 8) != 0) mend_sets(parts);
}

static void put(struct file_writer *writer, struct file_footer *footer, enum section_id id,
                const void *bytes, size_t nbytes)
{
    FUZZ_REQUIRE(file_writer_align(writer, 64, NULL) == PAUA_OK);
    footer->sections[footer->section_count++] =
        (struct section){(uint16_t)id, file_writer_data_nbytes(writer), nbytes};
    if (nbytes > 0) FUZZ_REQUIRE(file_writer_append(writer, bytes, nbytes, NULL) == PAUA_OK);
}

static struct file_ref write_file(struct dir *dir, const struct parts *parts)
{
    struct file_footer footer = {.row_count = ROWS};
    struct writer record = {0};
    struct file_writer *writer;
    struct file_ref ref;

    FUZZ_REQUIRE(value_index_record_encode(&parts->record, &record) == PAUA_OK);
    FUZZ_REQUIRE(file_writer_create(dir, &header, true, &writer, NULL) == PAUA_OK);
    put(writer, &footer, SECTION_VALUE_INDEX, record.bytes, record.length);
    put(writer, &footer, SECTION_VALUE_ROWS, parts->rows.at, reader_left(&parts->rows));
    if (parts->record.kind == PAUA_INDEX_BITMAP) {
        put(writer, &footer, SECTION_VALUE_TOTALS, parts->totals.at, reader_left(&parts->totals));
        put(writer, &footer, SECTION_VALUE_ENDS, parts->ends.at, reader_left(&parts->ends));
        put(writer, &footer, SECTION_VALUE_SETS, parts->sets, parts->sets_nbytes);
    }
    FUZZ_REQUIRE(file_writer_seal(writer, &footer, &ref, NULL) == PAUA_OK);
    file_writer_close(writer);
    writer_free(&record);
    return ref;
}

static void find(const struct value_index *index, const struct column_view *view,
                 const struct column_test *test, bool valid)
{
    struct match_scratch scratch = {0};
    uint64_t found = 0, scanned = 0;
    bool done = false;
    paua_status status = value_index_find(index, view, test, &found, &done, NULL);

    FUZZ_REQUIRE(status == PAUA_OK || (status == PAUA_ECORRUPT && !valid));
    FUZZ_REQUIRE(found >> ROWS == 0 && done == (status == PAUA_OK));
    FUZZ_REQUIRE(column_match(view, NULL, 0, test, ROWS, &scanned, &scratch) == PAUA_OK);
    FUZZ_REQUIRE(!valid || found == scanned);
    match_scratch_free(&scratch);
}

static void find_numbers(const struct value_index *index, const struct column_view *view,
                         bool valid)
{
    struct key_range ranges[] = {{0, key_of_int(-1)},
                                 {key_of_int(0), key_of_int(2)},
                                 {key_of_int(5), key_of_int(5)},
                                 {key_of_int(12), UINT64_MAX}};

    for (size_t first = 0; first < 4; first++)
        for (size_t count = 1; count <= 4 - first; count++)
            find(index, view,
                 &(struct column_test){
                     .kind = TEST_KEYS, .ranges = ranges + first, .range_count = count},
                 valid);
}

static paua_bytes text_of(const char *text) { return (paua_bytes){text, strlen(text)}; }

static void find_strings(const struct value_index *index, const struct column_view *view,
                         bool valid)
{
    paua_bytes set[] = {text_of(""), text_of("a"), text_of("abab"), text_of("b"), text_of("bbab")};

    find(index, view, &(struct column_test){.kind = TEST_SET, .set = set, .set_count = 5}, valid);
    find(index, view, &(struct column_test){.kind = TEST_BYTES}, valid);
    for (int open = 0; open < 4; open++)
        for (size_t i = 0; i < 5; i++) {
            struct column_test test = {.kind = TEST_BYTES,
                                       .low = set[i],
                                       .high = set[4 - i / 2],
                                       .low_open = open % 2 != 0,
                                       .high_open = open / 2 != 0};

            find(index, view, &test, valid);
            test.high = (paua_bytes){0};
            find(index, view, &test, valid);
        }
}

static void use(struct data_file *file, const struct column_view *view)
{
    struct value_index *index;
    const char *wrong;

    if (value_index_open(file, ROWS, &index, NULL) != PAUA_OK) return;
    FUZZ_REQUIRE(value_index_validate(index, view, &wrong) == PAUA_OK);
    if (type_is_number(view->type))
        find_numbers(index, view, wrong == NULL);
    else
        find_strings(index, view, wrong == NULL);
    value_index_unref(index);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct reader r = reader_over(data, size);
    uint32_t flags = reader_u8(&r);
    struct data_file_opts opts = {.no_mmap = true, .verify = PAUA_VERIFY_HEADER};
    struct data_file *file;
    struct file_ref ref;
    struct parts parts;
    struct dir *dir;

    take_parts(&parts, flags, &r);
    FUZZ_REQUIRE(dir_open_memory(&dir, NULL) == PAUA_OK);
    ref = write_file(dir, &parts);
    FUZZ_REQUIRE(data_file_open_sealed(dir, &header, &ref, opts, &file, NULL) == PAUA_OK);
    use(file, column_at(flags % 4 % COLUMNS));
    data_file_unref(file);
    dir_close(dir);
    free(parts.sets);
    return 0;
}
