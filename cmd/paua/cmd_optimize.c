/* cmd_optimize.c - paua optimize. */
#include <string.h>

#include "cli.h"
#include "commands.h"
#include "progress.h"

static const struct option_spec options[] = {
    {"threads", 0, "N", "at most N threads build; default all cores"},
    {"progress", 0, NULL, "show progress without a terminal too"},
    {NULL, 0, NULL, NULL},
};

static const char text[] =
    "Merges segments, rewrites files of which over a quarter is deleted, gives their space back, "
    "and\n"
    "makes the codes and graphs that segments lack. Reads and writes may go on meanwhile. Ctrl-C "
    "stops\n"
    "it, and what is finished stays. Without COLLECTION all collections are optimized.";

static uint64_t stored_nbytes(paua_collection *collection)
{
    paua_stats stats = {.size = sizeof stats};

    if (paua_collection_stats(collection, &stats, NULL) != PAUA_OK) return 0;
    return stats_disk_nbytes(&stats);
}

static void print_result(const struct cli *cli, const char *name, uint64_t before, uint64_t after,
                         double seconds)
{
    char left[HUMAN_NBYTES], right[HUMAN_NBYTES];

    if (cli->json)
        json_line(json_pack("{s:o, s:I, s:I, s:f}", "collection", json_word(name), "bytes_before",
                            (json_int_t)before, "bytes_after", (json_int_t)after, "seconds",
                            seconds));
    else if (!cli->quiet)
        printf("%s: %s before, %s after, %.2f s\n", name, human_bytes(before, left),
               human_bytes(after, right), seconds);
}

static int optimize(const struct cli *cli, paua_db *db, const char *name, uint32_t threads)
{
    struct progress progress;
    paua_optimize_opts opts = {.size = sizeof opts,
                               .threads = threads,
                               .progress = progress_callback,
                               .progress_arg = &progress,
                               .cancel = &interrupt_cancel};
    paua_collection *collection;
    paua_error err;
    double start = now_s();
    uint64_t before;
    int rc = EXIT_OK;

    if (paua_collection_open(db, name, &collection, &err) != PAUA_OK) return fail_with(&err);
    before = stored_nbytes(collection);
    progress_begin(&progress, cli, "steps", args_has(&cli->args, "progress"));
    if (paua_optimize(collection, &opts, &err) != PAUA_OK) rc = fail_with(&err);
    progress_end(&progress);
    if (rc == EXIT_OK) print_result(cli, name, before, stored_nbytes(collection), now_s() - start);
    paua_collection_close(collection);
    return rc;
}

static int optimize_all(const struct cli *cli, paua_db *db, uint32_t threads)
{
    struct name_list list;
    int rc = name_list_read(db, &list);

    for (size_t i = 0; i < list.count && rc == EXIT_OK; i++)
        rc = optimize(cli, db, list.names[i], threads);
    name_list_free(&list);
    return rc;
}

static int run(struct cli *cli)
{
    uint32_t threads = 0;
    paua_db *db;
    int rc;

    if (!args_u32(&cli->args, "threads", 1, 1024, &threads)) return EXIT_USAGE;
    rc = cli_open(cli, OPEN_WRITE, &db);
    if (rc != EXIT_OK) return rc;
    interrupt_watch();
    rc = cli->args.operand_count == 0 ? optimize_all(cli, db, threads)
                                      : optimize(cli, db, cli->args.operands[0], threads);
    paua_close(db);
    return rc;
}

const struct command cmd_optimize = {
    .name = "optimize",
    .operands = "[COLLECTION]",
    .summary = "merge segments, build indexes, give space back",
    .text = text,
    .examples = "  paua optimize docs --threads 2",
    .options = options,
    .operand_max = 1,
    .run = run,
};
