/* cmd_bench.c - paua bench. */
#include <string.h>

#include "bench.h"
#include "commands.h"

static const struct option_spec options[] = {
    {"base", 0, "FILE", "exact: the rows, fvecs"},
    {"query", 0, "FILE", "exact: the queries, fvecs"},
    {"truth", 0, "FILE", "exact: row numbers of the true nearest rows, ivecs"},
    {"metric", 0, "cosine|l2|ip", "exact: distance; default cosine"},
    {"precision", 0, "fp32|fp16", "exact: stored precision; default fp32"},
    {"k", 'k', "N", "exact: rows wanted; default 100"},
    {"threads", 0, "N", "exact: threads of the batch; default 1"},
    {"rows", 0, "N", "exact: only the first N rows of the base (recall is then null)"},
    {"ms", 0, "N", "write: length of each run; default 3000"},
    {"keep", 0, NULL, "keep the database"},
    {NULL, 0, NULL, NULL},
};

static const char text[] =
    "exact  imports a file into a fresh database, reopens it, and searches it exactly: rows, dim,\n"
    "       import_s, reopen_ms, serial_ms and serial_p95_ms (one query, one thread), batch_s "
    "(1,000\n"
    "       queries), recall, disk_bytes, peak_rss_kib, tier, threads, version.\n"
    "write  inserts single durable rows from 1, 8 and 64 threads, and batches of 1,000.\n"
    "\n"
    "The last line of standard output is one JSON object. It also says what the machine does bare\n"
    "in the same run: read_gb_per_s, copy_fsync_s, bare_commits_per_s. Progress is on stderr. The\n"
    "temporary database is made in --dir DIR if given here, else in $TMPDIR or /tmp.";

static const char examples[] =
    "  paua bench exact --base base.fvecs --query query.fvecs --truth truth.ivecs --threads 2\n"
    "  paua bench write --dir /data";

static int run(struct cli *cli)
{
    const char *which = cli->args.operands[0];

    if (strcmp(which, "exact") == 0) return bench_exact(cli);
    if (strcmp(which, "write") == 0) return bench_write(cli);
    return usage("unknown benchmark \"%s\", use exact or write", which);
}

const struct command cmd_bench = {
    .name = "bench",
    .operands = "exact|write",
    .summary = "measure this machine, with the bare machine beside it",
    .text = text,
    .examples = examples,
    .options = options,
    .operand_min = 1,
    .operand_max = 1,
    .run = run,
};
