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

# metadata: it asserts by itself that the three stores agree.
want 0 "$paua" bench metadata --rows 2000 --keys 3 --values 5 --json
[[ $(wc -l <out) == 1 ]] || die 'one line'
for store in '' owned_ keyed_; do
    for name in live_bytes build_ms filter_us and4_us materialize_ms materialize_copy_ms; do
        has "\"$store$name\":[0-9]"
    done
done
has '"rows":2000,"keys":3,"values":5'
for shape in distinct names sparse updates; do
    want 0 "$paua" bench metadata --rows 1000 --keys 5 --shape "$shape"
    has "\"shape\":\"$shape\""
done
want 2 "$paua" bench metadata --shape nothing
want 2 "$paua" bench metadata --rows none

# vectors: the whole life of codes and a graph. figure NAME: a number of the last JSON line.
figure() { tail -n 1 out | grep -o "\"$1\":[-0-9.e+]*" | cut -d: -f2; }
# holds CONDITION: of awk
holds() { awk "BEGIN { exit !($1) }" || die "$1"; }

want 0 "$paua" bench vectors --base base.fvecs --query query.fvecs --truth truth.ivecs \
    --metric cosine --precision int8 --index vamana --degree 16 --list 40 --ef 100 --alpha 1.2 \
    --occlusion 200 --k 10 --threads 2 --workers 3 --seconds 0.2 --json --dir "$work"
[[ $(wc -l <out) == 1 ]] || die 'one line'
for name in rows dim precision originals index insert_s optimize_s reopen_ms serial_qps \
    serial_p50_ms serial_p95_ms serial_p99_ms concurrent_qps concurrent_p50_ms concurrent_p95_ms \
    concurrent_p99_ms recall walk_bytes refine_bytes factor_bytes graph_bytes disk_bytes \
    peak_rss_kib rss_anon_kib rss_file_kib rss_shmem_kib rss_after_insert_kib \
    rss_after_optimize_kib rss_after_search_kib tier threads workers k ef degree list alpha \
    occlusion metric version cpu; do
    has "\"$name\":"
done
has '"rows":2000,"dim":24,"metric":"cosine","precision":"int8","originals":"fp32","index":"vamana"'
has '"degree":16,"list":40,"occlusion":200,"alpha":1.2,"k":10,"ef":100,"refine":false'
has '"truth":"file"'
holds "$(figure recall) > 0.8"
holds "$(figure serial_p50_ms) <= $(figure serial_p95_ms)"
holds "$(figure serial_p95_ms) <= $(figure serial_p99_ms)"
holds "$(figure serial_qps) > 0 && $(figure concurrent_qps) > 0"
holds "$(figure serial_queries) == 1000"
holds "$(figure graph_bytes) > 0 && $(figure walk_bytes) > 0"
holds "$(figure peak_rss_kib) >= $(figure rss_after_optimize_kib)"
holds "$(figure rss_after_optimize_kib) >= $(figure rss_after_insert_kib)"

# Only a part of the base, or no truth: it is computed, and said so. No index: all are found.
"$gen" f4 2000 24 1 >base.npy
want 0 "$paua" bench vectors --base base.npy --query query.fvecs --truth truth.ivecs \
    --rows 1500 --index none --k 10 --workers 2 --seconds 0.1 --no-mmap --dir "$work"
[[ $(wc -l <out) -gt 5 ]] || die 'a table and a line'
grep -q 'finding the true nearest rows' err || die "$(cat err)"
tail -n 1 out >last
grep -q '"rows":1500,.*"index":"none".*"recall":1.0,"truth":"computed"' last || die 'none'
want 0 "$paua" bench vectors --base base.fvecs --query query.fvecs --truth truth.ivecs \
    --rows 2000 --precision int4 --originals none --index flat --lean --map-originals --k 10 \
    --workers 1 --seconds 0.1 --json -q --dir "$work"
err ''
has '"originals":"none","index":"flat".*"lean":true.*"truth":"file"'
want 0 "$paua" bench vectors --base base.fvecs --query query.fvecs --refine --precision int2 \
    --k 10 --workers 1 --seconds 0.1 --csv --metric l2 --dir "$work"
[[ $(wc -l <out) == 2 ]] || die 'a head and a row'
[[ $(head -n 1 out | tr , '\n' | sort -u | wc -l) == $(tail -n 1 out | tr , '\n' | wc -l) ]] ||
    die "columns: $(cat out)"
has '^machine,backend,backend_version,case,index_type,quantize_type,use_refiner,'

# A truth of another base, wrong files, and Ctrl-C.
want 1 "$paua" bench vectors --base query.fvecs --query query.fvecs --truth truth.ivecs \
    --workers 1 --seconds 0.1 -q --dir "$work"
says "of a base with 30 rows, give this base's truth"
want 1 "$paua" bench vectors --base base.fvecs --query query.fvecs --truth missing.ivecs \
    --dir "$work"
says 'missing.ivecs'
grep -q inserting err && die 'a truth that is missing is told before anything is built'
want 1 "$paua" bench vectors --base truth.ivecs --query query.fvecs -q --dir "$work"
says 'truth.ivecs: its name does not end in'
want 1 "$paua" bench vectors --base missing.fvecs --query query.fvecs -q --dir "$work"
says 'missing.fvecs'
"$paua" bench vectors --base base.fvecs --query query.fvecs --workers 2 --seconds 60 -q \
    --dir "$work" >out 2>err &
pid=$!
sleep 1
kill -INT $pid
wait $pid && die 'an interrupted benchmark ends well'
[[ ! -s out ]] || die "an interrupted benchmark prints $(cat out)"
says paua
[[ -z $(find . -name 'paua-bench-*') ]] || die 'an interrupted benchmark leaves its directory'

want 2 "$paua" bench exact --base base.fvecs
cp truth.ivecs truth.fvecs
want 1 "$paua" bench exact --base truth.fvecs --query query.fvecs -q --dir "$work"
[[ -z $(find . -name 'paua-bench-*') ]] || die 'a failed benchmark leaves its directory'
done_with
