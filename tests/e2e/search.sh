#!/usr/bin/env bash
# search.sh - exact answers at the edges: zero, huge and no vectors, any k, every dimension.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh" "$@"

# Zero vectors under cosine: 1 from everything but another zero vector; never first, never NaN.
want 0 "$paua" create z --dim 4
printf '%s\n' '{"key":0,"vector":[0,0,0,0]}' '{"key":1,"vector":[1,0,0,0]}' \
    '{"key":2,"vector":[1e-30,0,0,0]}' '{"key":3,"vector":[3e38,3e38,3e38,3e38]}' \
    '{"key":4,"vector":[0,1,0,0]}' >z.jsonl
want 0 "$paua" import z z.jsonl
want 0 "$paua" search z '[1,0,0,0]' --json --no-document
[[ $(hit_keys) == '1 2 3 0 4' ]] || die "$(cat out)"
has '{"key":0,"distance":1.0}'
has '{"key":3,"distance":0.5}'
want 0 "$paua" search z '[0,0,0,0]' --json --no-document
has '"hits":\[{"key":0,"distance":0.0},{"key":1,"distance":1.0}'
want 0 "$paua" search z '[3e38,3e38,3e38,3e38]' -k 1 --json --no-document
has '"key":3,"distance":'
want 0 "$paua" search z '[3e38,0,0,0]' --metric l2 --json --no-document
! grep -q 'inf\|nan' out || die "$(cat out)"
want 1 "$paua" search z '[1e39,0,0,0]'
want 1 "$paua" search z '[1,0,0]'
says 'the vector has 3 components, expected 4'
want 1 "$paua" search z '[NaN,0,0,0]'
want 1 "$paua" search z '{}'

# k beyond what exists, or no k at all.
for rows in 0 1 7; do
    want 0 "$paua" create n$rows --dim 2 --metric l2
    for ((i = 0; i < rows; i++)); do echo "{\"key\":$i,\"vector\":[$i,0]}"; done >n.jsonl
    want 0 "$paua" import n$rows n.jsonl
    for k in 1 7 100 4097 2147483647; do
        want 0 "$paua" search n$rows '[0,0]' -k $k --json --no-document
        expected=$((k < rows ? k : rows))
        [[ $(grep -o '"key"' out | wc -l) == "$expected" ]] || die "k=$k of $rows: $(cat out)"
    done
    want 0 "$paua" export n$rows
done
for k in 0 -1 2147483648 x; do
    want 2 "$paua" search n7 '[0,0]' -k "$k"
    says 'option -k:'
done

# Ties by key; radius; allowed; the three metrics.
want 0 "$paua" search n7 '[3.5,0]' -k 4 --json --no-document
[[ $(hit_keys) == '3 4 2 5' ]] || die "$(cat out)"
want 0 "$paua" search n7 '[0,0]' --radius 4 --json --no-document
[[ $(hit_keys) == '0 1 2' ]] || die "$(cat out)"
printf '5\n6\n99\n2\n' >allowed
want 0 "$paua" search n7 '[0,0]' -k 2 --allowed allowed --json --no-document
[[ $(hit_keys) == '2 5' ]] || die "$(cat out)"
: >none
want 0 "$paua" search n7 '[0,0]' --allowed none --json
out '{"query":0,"hits":[]}'
want 0 "$paua" search n7 '[1,0]' -k 1 --metric ip --json --no-document
out '{"query":0,"hits":[{"key":6,"distance":-6.0}]}'
want 1 "$paua" search n7 --like 7
says 'key 7 not found'
want 1 "$paua" search n7 '[0,0]' --field other
says 'no vector field "other"'

# Queries from files, one by one and all together, give the same answers.
"$gen" fvecs 200 9 1 >base.fvecs
"$gen" fvecs 20 9 2 >query.fvecs
"$gen" f2 20 9 2 >query.npy
want 0 "$paua" create q --dim 9
want 0 "$paua" import q base.fvecs
want 0 "$paua" search q --queries query.fvecs -k 5 --json --threads 2
[[ $(wc -l <out) == 20 ]] || die '20 lines'
cp out all
for i in 0 7 19; do
    want 0 "$paua" search q --queries query.npy --row $i -k 5 --json
    sed -n "$((i + 1))p" all | cmp - out || die "query $i"
done
want 1 "$paua" search q --queries query.npy --row 20
says 'row 20 not found, in query.npy, which has 20 rows'
want 0 "$paua" search q --queries query.fvecs -k 2
has '^query 19$'
for flag in --no-mmap --verify=header; do
    want 0 "$paua" search q --queries query.fvecs -k 5 --json $flag
    same all out
done
"$gen" truth 200 20 9 5 >truth.ivecs
od -An -v -t d4 -w24 truth.ivecs | awk '{print $2, $3, $4, $5, $6}' >truth
sed 's/.*"hits"//; s/[^0-9.:]*"key":\([0-9]*\)[^}]*/\1 /g; s/[^0-9 ]//g; s/ *$//' all >found
same truth found

# Every shape of a row.
for dim in 1 2 3 63 64 65 768 20000 65535; do
    "$gen" fvecs 3 $dim 5 >dim.fvecs
    want 0 "$paua" create d$dim --dim $dim --metric l2
    want 0 "$paua" search d$dim --queries dim.fvecs --row 0 --json
    want 0 "$paua" import d$dim dim.fvecs
    want 0 "$paua" search d$dim --like 2 -k 1 --json --no-document
    has '"key":2,"distance":0.0'
    want 0 "$paua" export d$dim --output dim.out --format fvecs
    same dim.fvecs dim.out
done
want 2 "$paua" create toobig --dim 65536

# A thousand equal vectors: ties by key, none lost.
for i in $(seq 0 999); do echo "{\"key\":$((999 - i)),\"vector\":[1,1]}"; done >equal.jsonl
want 0 "$paua" create e --dim 2
want 0 "$paua" import e equal.jsonl
want 0 "$paua" search e '[1,1]' -k 5000 --json --no-document
[[ $(hit_keys) == "$(seq -s ' ' 0 999)" ]] || die 'ties are not by key'
done_with
