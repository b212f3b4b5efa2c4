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
    {"rows", 0, "N", "exact, vectors: first N rows of the base; history, metadata: how many"},
    {"csv", 0, NULL, "vectors: print CSV; JSON follows only with --json"},
    {"ms", 0, "N", "write: length of each run; default 3000"},
    {"fixture", 0, "NAME", "history: what rows hold; default plain-ascii"},
    {"cols", 0, "N", "history: columns of the terminal; default 120"},
    {"chunk-rows", 0, "N", "history: rows of a page, at most 256, the default"},
    {"stream", 0, "FILE", "history: rows of a recorded stream instead of a fixture"},
    {"small", 0, NULL, "history: only the memory of one of four rows"},
    {"restore", 0, "16x80|256x120", "history: only how long a cold page takes"},
    {"keys", 0, "N", "metadata: keys; default 4"},
    {"values", 0, "N", "metadata: values of a key; default 8"},
    {"shape", 0, "NAME", "metadata: what values hold; default repeated"},
    {"indexed", 0, NULL, "filter: the field of ranges has a sorted index"},
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
    "filter   gives the rows of --base an integer, a string and a range that 0.1 to 100 % of them "
    "pass,\n"
    "         and searches under each: an array of selectivity, kind, plan, serial_qps,\n"
    "         unfiltered_qps (the same searches without it, by turns), recall of the exact "
    "answer,\n"
    "         returned_min, matched, filter_us; kind none is without a filter.\n"
    "history  builds a terminal history in memory, of a fixture or a recorded stream, and searches "
    "it\n"
    "         hot and cold: rows, build_ms, allocated_bytes, hot_bytes, cold_bytes, "
    "compressed_bytes,\n"
    "         cold_pages, search_hot_rows_per_s, search_cold_rows_per_s, scratch_bytes; or, if "
    "asked,\n"
    "         small_bytes; or restore_us, restore_allocated_bytes. Fixtures: plain-ascii,\n"
    "         repeated-indexed-style, repeated-rgb-style, high-cardinality-rgb, wide-unicode,\n"
    "         styled-blanks.\n"
    "metadata puts rows of string keys and values into columns, and into two plain stores (a hash "
    "map of\n"
    "         strings a row: owned_; with keys kept once: keyed_), asserts that all three agree, "
    "and\n"
    "         times them: rows, live_bytes, build_ms, filter_us (equality into a bitmap), "
    "and4_us,\n"
    "         materialize_ms (results that outlive a write), materialize_copy_ms, and their twins. "
    "Of\n"
    "         100000 rows. Shapes: repeated, distinct, names, sparse, updates (update_ms,\n"
    "         early_live_bytes, live_bytes: of a tenth updated, again and again),\n"
    "         collection (the same rows end to end, in a database: insert_ms, optimize_ms, "
    "live_bytes,\n"
    "         disk_bytes, filter_us, reopen_ms).\n"
    "\n"
    "The last line of standard output is one JSON object (filter: an array). exact and write also "
    "say what the "
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
    "  paua bench filter --base base.fvecs --query query.fvecs --json\n"
    "  paua bench write --dir /data\n"
    "  paua bench history --fixture wide-unicode --json\n"
    "  paua bench history --stream typescript --cols 80\n"
    "  paua bench metadata --rows 100000 --keys 4 --values 8 --json";

static int run(struct cli *cli)
{
    const char *which = cli->args.operands[0];

    if (strcmp(which, "exact") == 0) return bench_exact(cli);
    if (strcmp(which, "filter") == 0) return bench_filter(cli);
    if (strcmp(which, "history") == 0) return bench_history(cli);
    if (strcmp(which, "metadata") == 0) return bench_metadata(cli);
    if (strcmp(which, "vectors") == 0) return bench_vectors(cli);
    if (strcmp(which, "write") == 0) return bench_write(cli);
    return usage("unknown benchmark \"%s\", use exact, filter, history, metadata, vectors or write",
                 which);
}

const struct command cmd_bench = {
    .name = "bench",
    .operands = "exact|filter|history|metadata|vectors|write",
    .summary = "measure this machine, with the bare machine beside it",
    .text = text,
    .examples = examples,
    .options = options,
    .operand_min = 1,
    .operand_max = 1,
    .run = run,
};
