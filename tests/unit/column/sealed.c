/* sealed.c - see sealed.h. */
#include "sealed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/crc32c.h"
#include "codec/record.h"

static paua_status next_cell(void *arg, uint32_t row, struct cell *cell, paua_error *err)
{
    const struct naive *naive = arg;

    (void)err;
    assert_true(row < naive->rows);
    *cell = naive->cells[row];
    return PAUA_OK;
}

paua_status sealed_write(struct dir *dir, const struct naive *fields, uint32_t count,
                         struct file_ref *ref, paua_error *err)
{
    struct column_writer *writer;
    paua_status status = column_writer_open(dir, SEALED_NUMBER, SEALED_COLLECTION, SEALED_SEGMENT,
                                            fields[0].rows, &writer, err);

    if (status != PAUA_OK) return status;
    for (uint32_t i = 0; i < count && status == PAUA_OK; i++) {
        char name[32];

        snprintf(name, sizeof name, "field %u", i);
        status = column_writer_field(writer, sealed_id(i), fields[i].type, name, next_cell,
                                     (void *)(uintptr_t)&fields[i], err);
    }
    if (status == PAUA_OK) status = column_writer_seal(writer, ref, err);
    column_writer_close(writer);
    return status;
}

paua_status sealed_open(struct dir *dir, const struct file_ref *ref, uint32_t rows, bool mapped,
                        struct column_file **file, paua_error *err)
{
    struct data_file_opts opts = {.no_mmap = !mapped, .verify = PAUA_VERIFY_TOUCH};

    return column_file_open(dir, SEALED_COLLECTION, SEALED_SEGMENT, rows, ref, opts, file, err);
}

static uint8_t *take_section(struct data_file *data, enum section_id id, size_t *nbytes)
{
    const struct section *section = data_file_section(data, id);
    uint8_t *bytes;

    assert_non_null(section);
    *nbytes = (size_t)section->nbytes;
    bytes = malloc(*nbytes + 1);
    assert_non_null(bytes);
    if (*nbytes > 0)
        assert_int_equal(data_file_pread(data, section->offset, *nbytes, bytes, NULL), PAUA_OK);
    return bytes;
}

void sealed_take(struct dir *dir, const struct file_ref *ref, struct sealed_parts *parts)
{
    struct file_header header = {
        .kind = FILE_COLUMNS, .number = SEALED_NUMBER, .collection = SEALED_COLLECTION};
    struct data_file_opts opts = {.verify = PAUA_VERIFY_TOUCH};
    struct data_file *data;

    assert_int_equal(data_file_open_sealed(dir, &header, ref, opts, &data, NULL), PAUA_OK);
    parts->columns = take_section(data, SECTION_COLUMNS, &parts->columns_nbytes);
    parts->directory = take_section(data, SECTION_COLUMN_DIRECTORY, &parts->directory_nbytes);
    parts->rows = data_file_row_count(data);
    data_file_unref(data);
}

struct file_ref sealed_put(struct dir *dir, const struct sealed_parts *parts)
{
    struct file_header header = {
        .kind = FILE_COLUMNS, .number = SEALED_NUMBER, .collection = SEALED_COLLECTION};
    struct file_footer footer = {.row_count = parts->rows, .section_count = 2};
    struct file_writer *writer;
    struct file_ref ref;

    if (parts->directory_nbytes >= RECORD_HEADER_NBYTES)
        bytes_put(parts->directory + 8,
                  crc32c(0, parts->directory + RECORD_HEADER_NBYTES,
                         parts->directory_nbytes - RECORD_HEADER_NBYTES),
                  4);
    footer.sections[0] = (struct section){SECTION_COLUMNS, 0, parts->columns_nbytes};
    footer.sections[1] =
        (struct section){SECTION_COLUMN_DIRECTORY, parts->columns_nbytes, parts->directory_nbytes};
    assert_int_equal(file_writer_create(dir, &header, true, &writer, NULL), PAUA_OK);
    assert_int_equal(file_writer_append(writer, parts->columns, parts->columns_nbytes, NULL),
                     PAUA_OK);
    assert_int_equal(file_writer_append(writer, parts->directory, parts->directory_nbytes, NULL),
                     PAUA_OK);
    assert_int_equal(file_writer_seal(writer, &footer, &ref, NULL), PAUA_OK);
    file_writer_close(writer);
    return ref;
}

void sealed_free(struct sealed_parts *parts)
{
    free(parts->columns);
    free(parts->directory);
}
