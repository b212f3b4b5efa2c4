/* cmd_export.c - paua export. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "commands.h"
#include "keys.h"
#include "progress.h"
#include "writer.h"

static const struct option_spec options[] = {
    {"format", 0, "jsonl|fvecs|npy", "format; default by the suffix of --output, else jsonl"},
    {"output", 0, "FILE|-", "where to; default standard output"},
    {"documents", 0, "FILE", "write documents, one a line, empty for none"},
    {"keys", 0, "FILE", "write keys, one a line"},
    {"field", 0, "NAME", "vector field; default the first (jsonl: all)"},
    {NULL, 0, NULL, NULL},
};

static const char text[] =
    "Exports all rows of one snapshot, oldest first, as import reads them. "
    "A file appears under its\n"
    "name only when it is whole. npy needs a file. Fields, and more than one "
    "vector a row, are written\n"
    "by jsonl alone. Documents and keys that hold a newline cannot be lines "
    "of a file: use jsonl.";

static const char examples[] =
    "  paua export docs > docs.jsonl\n"
    "  paua export docs --output docs.npy --keys docs.keys --documents docs.txt";

struct export
{
    const struct cli *cli;
    struct session session;
    const struct writer_format *format;
    struct writer_state writer;
    struct outfile rows;
    struct outfile keys;
    struct outfile documents;
    struct progress progress;
    uint64_t total;
};

static int pick_format(struct export *export)
{
    const char *name = args_value(&export->cli->args, "format");
    const char *output = args_value(&export->cli->args, "output");
    const char *dot = output == NULL ? NULL : strrchr(output, '.');

    if (name == NULL && dot != NULL && writer_by_name(dot + 1) != NULL) name = dot + 1;
    export->format = writer_by_name(name == NULL ? "jsonl" : name);
    if (export->format != NULL) return EXIT_OK;
    return usage("option --format: \"%s\" is not known, use jsonl, fvecs or npy", name);
}

static int write_line(const struct outfile *out, const void *bytes, size_t nbytes, uint64_t row)
{
    if (nbytes > 0 && memchr(bytes, '\n', nbytes) != NULL)
        return fail("row %llu holds a newline, cannot be a line of %s, use --format jsonl",
                    (unsigned long long)row, out->name);
    if (nbytes > 0) fwrite(bytes, 1, nbytes, out->stream);
    fputc('\n', out->stream);
    return EXIT_OK;
}

static int write_row(struct export *export, const paua_record *record)
{
    uint64_t row = export->writer.rows;
    int rc = EXIT_OK;

    export->format->row(&export->writer, record);
    if (export->keys.stream != NULL) {
        size_t nbytes = 0;
        char *key = key_text(export->session.schema, &record->key, &nbytes);
        rc = write_line(&export->keys, key, nbytes, row);
        free(key);
    }
    if (rc == EXIT_OK && export->documents.stream != NULL)
        rc = write_line(&export->documents, record->document.data, record->document.nbytes, row);
    export->writer.rows++;
    progress_show(&export->progress, export->writer.rows, export->writer.rows, export->total);
    return rc;
}

static int write_rows(struct export *export)
{
    paua_read_opts opts = {.size = sizeof opts};
    paua_cursor *cursor;
    const paua_record *record;
    paua_error err;
    int rc = EXIT_OK;

    opts.no_document = export->format != &writer_jsonl && export->documents.stream == NULL;
    if (paua_iterate(export->session.collection, &opts, &cursor, &err) != PAUA_OK)
        return fail_with(&err);
    export->writer.fields = paua_cursor_fields(cursor, &export->writer.field_count);
    while (rc == EXIT_OK) {
        if (paua_cursor_next(cursor, &record, &err) != PAUA_OK) rc = fail_with(&err);
        if (rc != EXIT_OK || record == NULL) break;
        rc = write_row(export, record);
        if (ferror(export->rows.stream) != 0)
            rc = fail("cannot write, to %s, see whether its disk is full", export->rows.name);
        if (interrupted()) rc = fail("interrupted, in export, run it again");
    }
    progress_end(&export->progress);
    paua_cursor_close(cursor);
    return rc;
}

static int open_files(struct export *export)
{
    const struct args *args = &export->cli->args;
    const char *output = args_value(args, "output");
    const char *keys = args_value(args, "keys");
    const char *documents = args_value(args, "documents");
    struct fault fault;
    bool ok = outfile_open(&export->rows, output == NULL ? "-" : output, &fault);

    if (ok && keys != NULL) ok = outfile_open(&export->keys, keys, &fault);
    if (ok && documents != NULL) ok = outfile_open(&export->documents, documents, &fault);
    export->writer.out = &export->rows;
    if (ok && export->format->begin != NULL) ok = export->format->begin(&export->writer, &fault);
    return ok ? EXIT_OK : fail("%s", fault.text);
}

static int commit_files(struct export *export)
{
    struct fault fault;
    bool ok = export->format->end == NULL || export->format->end(&export->writer, &fault);

    if (ok && export->keys.stream != NULL) ok = outfile_commit(&export->keys, &fault);
    if (ok && export->documents.stream != NULL) ok = outfile_commit(&export->documents, &fault);
    if (ok) ok = outfile_commit(&export->rows, &fault);
    return ok ? EXIT_OK : fail("%s", fault.text);
}

static void print_summary(const struct export *export)
{
    const char *output = args_value(&export->cli->args, "output");
    char rows[HUMAN_NBYTES];

    if (output == NULL || strcmp(output, "-") == 0) return;
    if (export->cli->json)
        json_line(json_pack("{s:s, s:o, s:s, s:I}", "collection",
                            paua_collection_name(export->session.collection), "output",
                            json_word(output), "format", export->format->name, "rows",
                            (json_int_t) export->writer.rows));
    else if (!export->cli->quiet)
        printf("%s exported to %s\n", human_rows(export->writer.rows, rows), output);
}

static int run_export(struct export *export)
{
    paua_stats stats = {.size = sizeof stats};
    int rc = pick_format(export);

    if (rc != EXIT_OK) return rc;
    if (!session_field(&export->session, args_value(&export->cli->args, "field"),
                       &export->writer.field))
        return EXIT_FAILED;
    export->writer.one_field = args_has(&export->cli->args, "field");
    export->writer.schema = export->session.schema;
    if (paua_collection_stats(export->session.collection, &stats, NULL) == PAUA_OK)
        export->total = stats.rows;
    interrupt_watch();
    progress_begin(&export->progress, export->cli, "rows", false);
    rc = open_files(export);
    if (rc == EXIT_OK) rc = write_rows(export);
    if (rc == EXIT_OK) rc = commit_files(export);
    if (rc == EXIT_OK) print_summary(export);
    outfile_abort(&export->rows);
    outfile_abort(&export->keys);
    outfile_abort(&export->documents);
    return rc;
}

static int run(struct cli *cli)
{
    struct export export = {.cli = cli};
    int rc = session_open(cli, OPEN_READ, cli->args.operands[0], &export.session);

    if (rc != EXIT_OK) return rc;
    rc = run_export(&export);
    session_close(&export.session);
    return rc;
}

const struct command cmd_export = {
    .name = "export",
    .operands = "COLLECTION",
    .summary = "write all rows as JSON lines, fvecs or npy",
    .text = text,
    .examples = examples,
    .options = options,
    .operand_min = 1,
    .operand_max = 1,
    .run = run,
};
