/* cmd_history_import.c - paua history import: lines of a file become rows. */
#include <inttypes.h>
#include <string.h>

#include "history_cli.h"
#include "instream.h"

#define CHUNK_NBYTES 65536u

static const char *const format_names[] = {"text", "ansi", NULL};

struct import {
    paua_db_history *history;
    uint64_t rows;
};

static paua_status append(void *arg, const paua_history_new_row *row, paua_error *err)
{
    struct import *import = arg;
    paua_status status = paua_db_history_append(import->history, row, 1, NULL, err);

    if (status == PAUA_OK) import->rows++;
    return status;
}

/* All of a stream through an importer. */
static int feed(paua_history_importer *importer, struct instream *in)
{
    static char chunk[CHUNK_NBYTES];
    struct fault fault;
    paua_error err;
    size_t got = 0;

    do {
        if (!instream_read(in, chunk, sizeof chunk, &got, &fault)) return fail("%s", fault.text);
        if (paua_history_importer_feed(importer, chunk, got, &err) != PAUA_OK)
            return fail_with(&err);
    } while (got == sizeof chunk && !interrupted());
    return paua_history_importer_finish(importer, &err) == PAUA_OK ? EXIT_OK : fail_with(&err);
}

static int import_stream(const struct cli *cli, struct history_session *session,
                         paua_history_import_opts *opts, struct instream *in)
{
    struct import import = {.history = session->history};
    paua_history_importer *importer;
    paua_error err;
    int rc;

    opts->append = append;
    opts->append_arg = &import;
    if (paua_history_importer_open(NULL, opts, &importer, &err) != PAUA_OK) return fail_with(&err);
    rc = feed(importer, in);
    paua_history_importer_close(importer);
    if (paua_db_history_flush(session->history, &err) != PAUA_OK) rc = fail_with(&err);
    if (cli->json)
        json_line(json_pack("{s:o, s:o}", "history", json_word(cli->args.operands[1]), "rows",
                            json_u64(import.rows)));
    else
        note(cli->quiet, "%s: %" PRIu64 " rows came in", cli->args.operands[1], import.rows);
    return rc;
}

int history_run_import(struct cli *cli)
{
    const char *path = cli->args.operand_count > 2 ? cli->args.operands[2] : "-";
    paua_history_import_opts opts = {.size = sizeof opts, .time_ms = history_now_ms()};
    paua_history_limits limits = {0};
    struct history_session session;
    struct instream in;
    struct fault fault;
    uint32_t kind = PAUA_HISTORY_IMPORT_ANSI;
    int rc;

    if (!args_choice(&cli->args, "format", format_names, &kind) ||
        !args_u32(&cli->args, "columns", 2, PAUA_HISTORY_IMPORT_COLUMNS_MAX, &opts.columns) ||
        !history_take_limits(&cli->args, &limits))
        return EXIT_USAGE;
    opts.kind = (paua_history_import_kind)kind;
    if (!instream_open(&in, path, &fault)) return fail("%s", fault.text);
    rc = history_session_write(cli, cli->args.operands[1], true, &limits, &session);
    if (rc == EXIT_OK) {
        interrupt_watch();
        rc = import_stream(cli, &session, &opts, &in);
        history_session_close(&session);
    }
    instream_close(&in);
    return rc;
}
