#!/usr/bin/env bash
# bench.sh - the benchmarks run, and their last line holds what is promised.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh" "$@"

"$gen" fvecs 2000 24 1 >base.fvecs
"$gen" fvecs 30 24 2 >query.fvecs
"$gen" truth 2000 30 24 10 >truth.ivecs
want 0 "$paua" bench exact --base base.fvecs --query query.fvecs --truth truth.ivecs \
    --metric cosine --precision fp32 --k 10 --threads 2 --json --dir "$work"
[[ $(wc -l <out) == 1 ]] || die 'one line'
for name in rows dim import_s reopen_ms serial_ms serial_p95_ms batch_s recall disk_bytes \
    peak_rss_kib tier threads version read_gb_per_s copy_fsync_s; do
    has "\"$name\":"
done
has '"rows":2000,"dim":24,'
has '"recall":1.0,'
want 0 "$paua" bench exact --base base.fvecs --query query.fvecs --rows 100 --precision fp16 \
    --no-mmap -q --dir "$work"
has '"rows":100,.*"recall":null'
err ''
want 0 "$paua" bench write --json --ms 100 --dir "$work"
for name in rows_per_s_durable_1 rows_per_s_durable_8 rows_per_s_durable_64 commit_p50_ms \
    commit_p99_ms rows_per_s_batch bare_commits_per_s; do
    has "\"$name\":[0-9]"
done
[[ -z $(find . -name 'paua-bench-*') ]] || die 'a benchmark leaves its directory'
want 2 "$paua" bench exact --base base.fvecs
want 1 "$paua" bench exact --base truth.ivecs --query query.fvecs -q --dir "$work"
[[ -z $(find . -name 'paua-bench-*') ]] || die 'a failed benchmark leaves its directory'
done_with
