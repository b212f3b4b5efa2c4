/* import.c - moves the rows of a source into a collection, batch by batch.
 *
 * What       A file that can be read twice is checked whole first, so that a malformed one changes
 *            nothing. A stream cannot: it stops at its first bad row, and what was committed before
 *            is said. --keep-going leaves out bad rows instead, in one pass.
 * Resuming   An import that was killed is started again as it was. Rows whose key exists with the
 *            same content are counted as already there; a key with other content is refused, since
 *            an insert must not replace. So nothing is remembered between runs, and rows imported
 *            by other means are found as well.
 * Cost       One block of about 4 MiB, one buffer a file. Each batch is one durable write.
 * Rejected   Keeping the position in the database: wrong as soon as rows are deleted or files
 *            change; looking up only the first and last key: wrong after --keep-going. */
#include "import.h"

#include <string.h>

/* More refused rows than this are only counted. */
#define REFUSALS_SHOWN 20u

int import_refuse(struct import *import, const char *text)
{
    import->refused++;
    if (!import->keep_going)
        return fail("%s; %llu rows were imported before it, mend it or use --keep-going", text,
                    (unsigned long long)(import->imported + import->already));
    progress_end(&import->progress);
    if (import->refused <= REFUSALS_SHOWN) fail("%s; this row was left out", text);
    if (import->refused == REFUSALS_SHOWN)
        note(import->cli->quiet, "more refused rows are counted but not shown");
    return EXIT_OK;
}

/* What the library says of a row, without the row's number in its block. */
static const char *reason_of(const paua_error *err, size_t row, paua_status status)
{
    const char *colon = strstr(err->message, ": ");

    if (err->row != row) return paua_strstatus(status);
    return strncmp(err->message, "row ", 4) == 0 && colon != NULL ? colon + 2 : err->message;
}

/* Refusals by the library, row by row. err describes the first of all refused rows. */
static int take_statuses(struct import *import, const paua_error *err)
{
    char text[1024];
    bool existing = false;
    int rc = EXIT_OK;

    for (size_t i = 0; i < import->block.count; i++)
        existing |= import->statuses[i] == PAUA_EEXISTS;
    for (size_t i = 0; i < import->block.count; i++)
        import->imported += import->statuses[i] == PAUA_OK ? 1 : 0;
    for (size_t i = 0; i < import->block.count && rc == EXIT_OK; i++) {
        paua_status status = import->statuses[i];
        if (status == PAUA_OK || status == PAUA_EEXISTS) continue;
        snprintf(text, sizeof text, "%s: row %llu: %s", import->source.reader.in.name,
                 (unsigned long long)import->block.ordinals[i], reason_of(err, i, status));
        rc = import_refuse(import, text);
    }
    return rc == EXIT_OK && existing ? import_compare_existing(import) : rc;
}

int import_write_block(struct import *import)
{
    paua_rows rows = block_rows(&import->block);
    paua_error err = {.row = PAUA_NO_ROW};
    paua_collection *collection = import->session->collection;
    paua_status status;

    if (import->block.count == 0) return EXIT_OK;
    if (field_table_make(&import->source.fields, import->cli, collection) != EXIT_OK)
        return EXIT_FAILED;
    status = import->upsert ? paua_upsert(collection, &rows, NULL, import->statuses, &err)
                            : paua_insert(collection, &rows, NULL, import->statuses, &err);
    if (status == PAUA_OK) {
        import->imported += import->block.count;
        return EXIT_OK;
    }
    if (status == PAUA_EPARTIAL) return take_statuses(import, &err);
    fail_with(&err);
    note(import->cli->quiet, "%llu rows were imported before it; run the same import to resume",
         (unsigned long long)(import->imported + import->already));
    return EXIT_FAILED;
}

static uint64_t rows_left(const struct import *import)
{
    return import->limit - import->source.ordinal;
}

/* First pass: every row is read and checked, nothing is written but the fields that it brings,
 * whose types suit every row then. */
static int check_file(struct import *import, bool last)
{
    struct source *source = &import->source;
    struct source_mark mark = source_mark(source);
    enum row_result result = ROW_OK;
    struct fault fault, why;
    bool ok;

    source->fields.may_loosen = true;
    while (result == ROW_OK && rows_left(import) > 0 && !interrupted()) {
        block_reset(&import->block);
        while (result == ROW_OK && rows_left(import) > 0 && !block_full(&import->block))
            result = source_row(source, &import->block, &fault);
    }
    source->fields.may_loosen = false;
    ok = result == ROW_OK || result == ROW_END;
    if (ok && last && result == ROW_END) ok = source_lines_end(source, &fault);
    if (ok && !field_table_settle(&source->fields, &why)) {
        fault_set(&fault, "%s: %s", source->reader.in.name, why.text);
        ok = false;
    }
    if (ok) ok = source_return(source, mark, &fault);
    if (ok && interrupted()) return EXIT_OK;
    if (ok) return field_table_make(&source->fields, import->cli, import->session->collection);
    return fail("%s; nothing of this file was imported, mend it or use --keep-going", fault.text);
}

static int say_interrupted(const struct import *import)
{
    return fail("interrupted, after %llu rows were committed, run the same import to resume",
                (unsigned long long)(import->imported + import->already));
}

static void show_progress(struct import *import)
{
    const struct source *source = &import->source;
    uint64_t done = import->bytes_done + source->reader.in.offset - source->reader.start;

    progress_show(&import->progress, import->imported + import->already, done, import->bytes_total);
}

/* Reads into the block until it is full, the source ends, or a row is bad. */
static enum row_result fill_block(struct import *import, struct fault *fault)
{
    enum row_result result = ROW_OK;

    block_reset(&import->block);
    while (!block_full(&import->block) && rows_left(import) > 0 && !interrupted()) {
        result = source_row(&import->source, &import->block, fault);
        if (result == ROW_BAD && import->keep_going) {
            import_refuse(import, fault->text);
            continue;
        }
        if (result != ROW_OK) break;
    }
    return result == ROW_BAD && import->keep_going ? ROW_OK : result;
}

static int write_file(struct import *import, bool last)
{
    enum row_result result = ROW_OK;
    struct fault fault;
    int rc = EXIT_OK;

    while (result == ROW_OK && rc == EXIT_OK && rows_left(import) > 0) {
        result = fill_block(import, &fault);
        if (result == ROW_OK || result == ROW_END || import->keep_going)
            rc = import_write_block(import);
        if (rc == EXIT_OK && interrupted()) rc = say_interrupted(import);
        show_progress(import);
    }
    progress_end(&import->progress);
    if (rc != EXIT_OK) return rc;
    if (result == ROW_END && last && !source_lines_end(&import->source, &fault))
        return fail("%s; all rows were imported", fault.text);
    if (result == ROW_OK || result == ROW_END) return EXIT_OK;
    return fail("%s; %llu rows were imported before it, mend it and run the same import to resume",
                fault.text, (unsigned long long)(import->imported + import->already));
}

int import_file(struct import *import, const struct file_format *format, const char *path,
                bool last)
{
    struct source *source = &import->source;
    struct fault fault;
    int rc = EXIT_OK;

    if (!reader_start(&source->reader, format, path, source->schema, import->field, &fault))
        return fail("%s; nothing of this file was imported", fault.text);
    source->given_known = false;
    if (!import->keep_going && source_seekable(source)) rc = check_file(import, last);
    if (rc == EXIT_OK) rc = write_file(import, last);
    if (source->reader.in.seekable) import->bytes_done += source->reader.in.nbytes;
    reader_end(&source->reader);
    return rc;
}
