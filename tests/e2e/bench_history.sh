#!/usr/bin/env bash
# bench_history.sh - terminal histories are measured, and their figures hold together.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh" "$@"

# figure NAME: a number of the JSON line
figure() { grep -o "\"$1\":[-0-9.e+]*" out | cut -d: -f2; }
# holds CONDITION: of awk
holds() { awk "BEGIN { exit !($1) }" || die "$1"; }

for fixture in plain-ascii repeated-indexed-style repeated-rgb-style high-cardinality-rgb \
    wide-unicode styled-blanks; do
    want 0 "$paua" bench history --fixture $fixture --rows 600 --cols 40 --chunk-rows 64 --json
    [[ $(wc -l <out) == 1 ]] || die 'one line'
    has "\"fixture\":\"$fixture\",\"rows\":600,\"cols\":40,\"chunk_rows\":64,"
    for name in build_ms hot_bytes cold_bytes compressed_bytes cold_pages hot_bytes_per_row \
        cold_bytes_per_row search_cold_rows_per_s search_hot_rows_per_s allocated_bytes \
        scratch_bytes; do
        holds "$(figure $name) > 0"
    done
    holds "$(figure hot_bytes) > $(figure cold_bytes)"
    holds "$(figure cold_bytes) > $(figure compressed_bytes)"
    holds "$(figure allocated_bytes) >= $(figure hot_bytes)"
done
# 600 rows in pages of 64: 9 pages, of which the newest stays hot
want 0 "$paua" bench history --rows 600 --cols 40 --chunk-rows 64 --json
has '"cold_pages":8,'
want 0 "$paua" bench history --small --json
holds "$(figure small_bytes) > 0 && $(figure small_bytes) <= 1024"
for size in 16x80 256x120; do
    want 0 "$paua" bench history --restore $size --json
    has "\"restore\":\"$size\","
    holds "$(figure restore_us) > 0 && $(figure restore_allocated_bytes) > 0"
    holds "$(figure scratch_bytes) > 0"
done

for ((i = 0; i < 400; i++)); do
    printf '\033[1;3%dmline %d\033[0m of a stream\r\n' $((i % 8)) $i
done >stream
want 0 "$paua" bench history --stream stream --cols 10 --json
has '"stream":"stream","rows":800,"cols":10,'
want 0 "$paua" bench history --stream stream
[[ $(wc -l <out) == 6 ]] || die 'a table'
want 0 "$paua" bench history --stream /dev/null --json
has '"rows":0,'

want 1 "$paua" bench history --stream missing
says 'missing'
want 2 "$paua" bench history --fixture none
want 2 "$paua" bench history --restore 1x1
want 2 "$paua" bench history --chunk-rows 257
want 2 "$paua" bench history --cols 1
done_with
