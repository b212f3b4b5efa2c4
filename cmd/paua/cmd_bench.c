/* cmd_bench.c - paua bench. */
#include <string.h>

#include "bench.h"
#include "commands.h"
#include "field.h"

static const struct option_spec options[] = {
    {"base", 0, "FILE", "exact, vectors: the rows, fvecs, bvecs or npy"},
    {"query", 0, "FILE", "exact, vectors: the queries"},
    {"truth", 0, "FILE", "exact, vectors: numbers of the true nearest rows, ivecs"},
    {"metric", 0, "cosine|l2|ip", "exact, vectors: distance; default cosine"},
    {"precision", 0, "fp32|fp16|int8|int4|int2", "exact (fp32, fp16), vectors; default fp32"},
    {"originals", 0, "fp32|fp16|none", "vectors: how vectors are kept; default by precision"},
    {"index", 0, "vamana|flat|none", "vectors: how searches find candidates; default vamana"},
    INDEX_NUMBER_OPTIONS,
    {"k", 'k', "N", "exact, vectors: rows wanted; default 100"},
    {"ef", 0, "N", "vectors: candidates of a search; default 200, or 2 k if more"},
    {"refine", 0, NULL, "vectors: compare the best candidates with their originals"},
    {"lean", 0, NULL, "vectors: leave refine codes in their files"},
    {"map-originals", 0, NULL, "vectors: read originals of candidates from the map"},
    {"threads", 0, "N", "exact: of the batch (1); vectors: of building (all cores)"},
    {"workers", 0, "N", "vectors: threads that search at once; default 8"},
    {"seconds", 0, "S", "vectors: how long they do; default 30"},
    {"rows", 0, "N", "exact, vectors: only the first N rows of the base"},
    {"csv", 0, NULL, "vectors: print CSV; JSON follows only with --json"},
    {"ms", 0, "N", "write: length of each run; default 3000"},
    {"keep", 0, NULL, "keep the database"},
    {NULL, 0, NULL, NULL},
};

static const char text[] =
    "exact    imports a file into a fresh database, reopens it, and searches it exactly: rows, "
    "dim,\n"
    "         import_s, reopen_ms, serial_ms and serial_p95_ms (one query, one thread), batch_s "
    "(1,000\n"
    "         queries), recall (null if --rows cut the base), disk_bytes, peak_rss_kib, tier, "
    "threads,\n"
    "         version.\n"
    "vectors  inserts 1,000 rows a call, optimizes, reopens, warms up, searches with --workers "
    "threads\n"
    "         for --seconds, then query by query: insert_s, optimize_s, reopen_ms, serial_qps,\n"
    "         concurrent_qps, their percentiles, recall, bytes of codes and graphs, and the peak "
    "of\n"
    "         this process's memory. Without --truth, or if --rows cut the base, the truth is "
    "computed\n"
    "         by exact search, at the end, when the memory was read.\n"
    "write    inserts single durable rows from 1, 8 and 64 threads, and batches of 1,000.\n"
    "\n"
    "The last line of standard output is one JSON object. exact and write also say what the "
    "machine\n"
    "does bare in the same run: read_gb_per_s, copy_fsync_s, bare_commits_per_s. Progress is on "
    "stderr.\n"
    "The temporary database is made in --dir DIR if given here, else in $TMPDIR or /tmp, and "
    "removed at\n"
    "the end or on Ctrl-C.";

static const char examples[] =
    "  paua bench exact --base base.fvecs --query query.fvecs --truth truth.ivecs --threads 2\n"
    "  paua bench vectors --base base.fvecs --query query.fvecs --truth truth.ivecs --precision "
    "int4\n"
    "  paua bench vectors --base base.npy --query query.npy --rows 10000 --k 10 --ef 100 --csv\n"
    "  paua bench write --dir /data";

static int run(struct cli *cli)
{
    const char *which = cli->args.operands[0];

    if (strcmp(which, "exact") == 0) return bench_exact(cli);
    if (strcmp(which, "vectors") == 0) return bench_vectors(cli);
    if (strcmp(which, "write") == 0) return bench_write(cli);
    return usage("unknown benchmark \"%s\", use exact, vectors or write", which);
}

const struct command cmd_bench = {
    .name = "bench",
    .operands = "exact|vectors|write",
    .summary = "measure this machine, with the bare machine beside it",
    .text = text,
    .examples = examples,
    .options = options,
    .operand_min = 1,
    .operand_max = 1,
    .run = run,
};
