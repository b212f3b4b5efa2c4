/* cmd_check.c - paua check. */
#include <string.h>

#include "cli.h"
#include "commands.h"
#include "progress.h"
#include "text.h"

static const struct option_spec options[] = {
    {"rebuild", 0, NULL, "make a lost catalogue anew from the sealed files"},
    {"progress", 0, NULL, "show progress without a terminal too"},
    {NULL, 0, NULL, NULL},
};

static const char text[] = "Reads every byte of the database and tests every checksum and "
                           "invariant. Each finding names a\n"
                           "file, what is wrong, and what to do. Exit status 1 if data is lost or "
                           "unreadable; notes, such as\n"
                           "a stray file, do not count.\n"
                           "\n"
                           "--rebuild moves the catalogue aside to catalog.sqlite.damaged and "
                           "makes it anew from the footers\n"
                           "of sealed files. Rows that were not sealed yet are lost; deleted rows "
                           "that were still stored come\n"
                           "back. Segments that cannot be opened are left out, and the next "
                           "writer removes their files: copy\n"
                           "the directory first. Nobody else may have the database open.";

struct check {
    const struct cli *cli;
    struct progress progress;
    uint64_t fatal;
    uint64_t notes;
};

static void print_text(const paua_finding *finding)
{
    const char *const parts[] = {finding->fatal ? "fatal" : "note", finding->file, finding->what,
                                 finding->advice};

    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        if (i > 0) fputs(i < 3 ? ": " : "; ", stdout);
        text_print(stdout, parts[i], strlen(parts[i]), TEXT_NO_LIMIT);
    }
    putchar('\n');
}

static void print_finding(void *arg, const paua_finding *finding)
{
    struct check *check = arg;

    if (finding->fatal)
        check->fatal++;
    else
        check->notes++;
    progress_end(&check->progress);
    if (check->cli->json)
        json_line(json_pack("{s:b, s:o, s:o, s:o}", "fatal", finding->fatal ? 1 : 0, "file",
                            json_word(finding->file), "what", json_word(finding->what), "advice",
                            json_word(finding->advice)));
    else
        print_text(finding);
}

static void print_summary(const struct check *check)
{
    if (check->cli->json)
        json_line(json_pack("{s:b, s:I, s:I}", "ok", check->fatal == 0 ? 1 : 0, "fatal",
                            (json_int_t)check->fatal, "notes", (json_int_t)check->notes));
    else if (!check->cli->quiet)
        printf("%s: %s, %llu fatal, %llu notes\n", check->cli->dir,
               check->fatal == 0 ? "sound" : "damaged", (unsigned long long)check->fatal,
               (unsigned long long)check->notes);
}

static int run(struct cli *cli)
{
    struct check check = {.cli = cli};
    paua_check_opts opts = {.size = sizeof opts,
                            .rebuild = args_has(&cli->args, "rebuild"),
                            .progress = progress_callback,
                            .progress_arg = &check.progress,
                            .finding = print_finding,
                            .finding_arg = &check};
    paua_error err;
    paua_status status;

    progress_begin(&check.progress, cli, "bytes", args_has(&cli->args, "progress"));
    status = paua_check(cli->dir, &opts, &err);
    progress_end(&check.progress);
    if (status != PAUA_OK && status != PAUA_ECORRUPT) return fail_with(&err);
    print_summary(&check);
    return status == PAUA_OK ? EXIT_OK : fail_with(&err);
}

const struct command cmd_check = {
    .name = "check",
    .operands = "",
    .summary = "read everything and test every checksum",
    .text = text,
    .examples = "  paua check\n  paua -d damaged.paua check --rebuild",
    .options = options,
    .run = run,
};
