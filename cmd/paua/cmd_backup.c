/* cmd_backup.c - paua backup. */
#include "cli.h"
#include "commands.h"
#include "progress.h"

static const struct option_spec options[] = {
    {"link", 0, NULL, "hard links for sealed files (same file system) instead of copies"},
    {"progress", 0, NULL, "show progress without a terminal too"},
    {NULL, 0, NULL, NULL},
};

static const char text[] =
    "Copies one consistent state of the database into a new directory, while reads and writes go "
    "on.\n"
    "The copy is a database of its own. Nothing of it remains if the backup fails.";

static int run(struct cli *cli)
{
    struct progress progress;
    paua_backup_opts opts = {.size = sizeof opts,
                             .link = args_has(&cli->args, "link"),
                             .progress = progress_callback,
                             .progress_arg = &progress,
                             .cancel = &interrupt_cancel};
    const char *destination = cli->args.operands[0];
    paua_db *db;
    paua_error err;
    int rc = cli_open(cli, OPEN_READ, &db);

    if (rc != EXIT_OK) return rc;
    interrupt_watch();
    progress_begin(&progress, cli, "bytes", args_has(&cli->args, "progress"));
    if (paua_backup(db, destination, &opts, &err) != PAUA_OK) rc = fail_with(&err);
    progress_end(&progress);
    if (rc == EXIT_OK && cli->json) json_line(json_pack("{s:o}", "backup", json_word(destination)));
    paua_close(db);
    return rc;
}

const struct command cmd_backup = {
    .name = "backup",
    .operands = "DIRECTORY",
    .summary = "copy a consistent state while writes go on",
    .text = text,
    .examples = "  paua backup /backup/my.paua\n  paua backup snapshots/monday --link",
    .options = options,
    .operand_min = 1,
    .operand_max = 1,
    .run = run,
};
