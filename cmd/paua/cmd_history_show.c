/* cmd_history_show.c - paua history show and export: rows of a range, to a terminal through a
 * pager, or to a file. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "history_cli.h"
#include "outfile.h"

/* In the order of paua_history_format. */
static const char *const format_names[] = {"text", "ansi", "html", "jsonl", NULL};

/* The index of the row with a number, or of the first one if it has gone already. */
static bool find_row(const struct history_session *session, uint64_t number, uint64_t *index)
{
    paua_history_row first;
    paua_error err;

    if (paua_history_view_rows(session->view) == 0) return true;
    if (paua_history_view_row(session->view, 0, &first, &err) == PAUA_OK && number <= first.id) {
        *index = 0;
        return true;
    }
    if (paua_history_view_find_id(session->view, number, index, &err) == PAUA_OK) return true;
    fail("option --from: there is no row %llu, see paua history info", (unsigned long long)number);
    return false;
}

/* EXIT_OK with the rows that --tail, --from and --lines ask for. */
static int take_range(const struct cli *cli, const struct history_session *session,
                      paua_history_range *range)
{
    uint64_t rows = paua_history_view_rows(session->view);
    uint64_t tail = UINT64_MAX, from = 0, lines = UINT64_MAX, first = 0;

    if (!args_u64(&cli->args, "tail", 1, UINT64_MAX, &tail) ||
        !args_u64(&cli->args, "from", 1, UINT64_MAX, &from) ||
        !args_u64(&cli->args, "lines", 1, UINT64_MAX, &lines))
        return EXIT_USAGE;
    if (from > 0 && args_has(&cli->args, "tail"))
        return usage("options --tail and --from: give one of them");
    if (from > 0 && !find_row(session, from, &first)) return EXIT_FAILED;
    if (tail < rows) first = rows - tail;
    *range =
        (paua_history_range){.size = sizeof *range, .first = first, .count = lines, .holes = true};
    return EXIT_OK;
}

struct sink {
    FILE *out;
    uint64_t damaged_rows;
};

static bool write_bytes(void *arg, const void *bytes, size_t nbytes)
{
    const struct sink *sink = arg;

    return !interrupted() && fwrite(bytes, 1, nbytes, sink->out) == nbytes;
}

static bool count_damage(void *arg, uint64_t index, const paua_history_row *row)
{
    (void)index;
    ((struct sink *)arg)->damaged_rows += row->damaged_rows;
    return true;
}

/* A canceled export is what an interrupt, or a pager that was left, makes of it. */
static int write_rows(struct history_session *session, const paua_history_range *range,
                      paua_history_format format, FILE *out)
{
    struct sink sink = {.out = out};
    paua_error err;
    paua_status status;

    status = paua_history_view_export(session->view, range, format, write_bytes, &sink, &err);
    if (status == PAUA_OK)
        status = paua_history_view_each(session->view, range, count_damage, &sink, &err);
    if (status != PAUA_OK && status != PAUA_ECANCELED) return fail_with(&err);
    if (sink.damaged_rows == 0) return EXIT_OK;
    return fail("%llu rows are damaged, the others were written, run paua check",
                (unsigned long long)sink.damaged_rows);
}

/* The pager's input, or NULL: there is none to be had. */
static FILE *pager_open(void)
{
    const char *pager = getenv("PAGER");

    if (pager == NULL) pager = "less -R";
    if (pager[0] == 0 || strcmp(pager, "cat") == 0) return NULL;
    signal(SIGPIPE, SIG_IGN); /* the pager may be left before the end */
    setenv("LESS", "FRX", 0);
    return popen(pager, "w");
}

int history_run_show(struct cli *cli)
{
    bool terminal = isatty(STDOUT_FILENO) != 0;
    struct history_session session;
    paua_history_range range;
    paua_history_format format = PAUA_HISTORY_TEXT;
    FILE *pager = NULL;
    int rc;

    if (args_has(&cli->args, "plain") && args_has(&cli->args, "ansi"))
        return usage("options --plain and --ansi: give one of them");
    rc = history_session_read(cli, cli->args.operands[1], &session);
    if (rc != EXIT_OK) return rc;
    if (cli->json)
        format = PAUA_HISTORY_JSON;
    else if (args_has(&cli->args, "ansi") || (terminal && !args_has(&cli->args, "plain")))
        format = PAUA_HISTORY_ANSI;
    rc = take_range(cli, &session, &range);
    if (rc == EXIT_OK && terminal && !cli->json) pager = pager_open();
    if (rc == EXIT_OK) rc = write_rows(&session, &range, format, pager != NULL ? pager : stdout);
    if (pager != NULL) pclose(pager);
    history_session_close(&session);
    return rc;
}

int history_run_export(struct cli *cli)
{
    const char *path = args_value(&cli->args, "output");
    struct history_session session;
    paua_history_range range;
    struct outfile out;
    struct fault fault;
    uint32_t format = cli->json ? PAUA_HISTORY_JSON : PAUA_HISTORY_TEXT;
    int rc;

    if (!args_choice(&cli->args, "format", format_names, &format)) return EXIT_USAGE;
    rc = history_session_read(cli, cli->args.operands[1], &session);
    if (rc != EXIT_OK) return rc;
    rc = take_range(cli, &session, &range);
    if (rc == EXIT_OK && !outfile_open(&out, path != NULL ? path : "-", &fault))
        rc = fail("%s", fault.text);
    else if (rc == EXIT_OK) {
        interrupt_watch();
        rc = write_rows(&session, &range, (paua_history_format)format, out.stream);
        if (interrupted()) {
            outfile_abort(&out);
            rc = EXIT_FAILED;
        } else if (!outfile_commit(&out, &fault)) {
            rc = fail("%s", fault.text);
        }
    }
    history_session_close(&session);
    return rc;
}
