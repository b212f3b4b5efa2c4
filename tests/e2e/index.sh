#!/usr/bin/env bash
# index.sh - codes and graphs from outside: made, listed, searched, dropped, and damaged.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh" "$@"

rows=3000
"$gen" fvecs $rows 24 1 >base.fvecs
"$gen" fvecs 20 24 2 >query.fvecs
seq 0 $((rows - 1)) >keys

# hits FILE: "query key distance" of the last --json search, a hit a line.
hits() { awk -F'[:,{}]+' '{ for (i = 4; i < NF; i++) if ($i == "\"key\"")
    print $3, $(i + 1), $(i + 3) }' out >"$1"; }
# found A B: how many hits of A are in B.
found() { awk 'NR == FNR { seen[$1 " " $2] = 1; next } ($1 " " $2) in seen' "$2" "$1" | wc -l; }

# Every precision: more is found with more bytes, and nothing is lost.
want 0 "$paua" create truth --dim 24 --index none
want 0 "$paua" import truth base.fvecs -q
want 0 "$paua" optimize truth -q
want 0 "$paua" index ls truth
out ''
want 0 "$paua" search truth --queries query.fvecs -k 10 --json --no-document
hits truth.hits
[[ $(wc -l <truth.hits) == 200 ]] || die 'truth'
want 0 "$paua" search truth --queries query.fvecs -k $rows --json --no-document
hits all.hits
for precision in fp32 fp16 int8 int4 int2; do
    want 0 "$paua" create $precision --dim 24 --precision $precision --degree 24 --list 60
    want 0 "$paua" import $precision base.fvecs -q
    want 0 "$paua" search $precision --queries query.fvecs -k 10 --json --no-document
    hits before.hits
    (($(found truth.hits before.hits) >= 190)) || die "$precision before codes"
    want 0 "$paua" optimize $precision --threads 2 --progress
    for stage in encoding linking; do
        grep -q "$stage" err || die "no stage $stage: $(cat err)"
    done
    want 0 "$paua" index ls $precision --json
    has '^{"index":"vector","field":"vector","kind":"vamana","degree":24,"list":60,"occlusion":750,'
    has '"alpha":1.2,"rows":3000,"rows_due":0,"walk_bytes":[1-9]'
    has '"graph_bytes":[1-9][0-9]*,"values_bytes":0,"bytes_per_row":[1-9]'
    [[ $(wc -l <out) == 1 ]] || die 'one index'
    want 0 "$paua" search $precision --queries query.fvecs -k 10 --exact --json --no-document
    hits exact.hits
    (($(found truth.hits exact.hits) >= 190)) || die "$precision --exact"
    want 0 "$paua" search $precision --queries query.fvecs -k 10 --json --no-document
    cp out plain
    hits plain.hits
    [[ $(wc -l <plain.hits) == 200 ]] || die "$precision: fewer than k"
    (($(found truth.hits plain.hits) >= 140)) || die "$precision: $(found truth.hits plain.hits)"
    for flag in --lean --map-originals --no-mmap --verify=header --verify=full --threads=2; do
        want 0 "$paua" search $precision --queries query.fvecs -k 10 --json --no-document $flag
        same plain out
    done
    # Refined distances are those of the originals; a wider search finds no less.
    want 0 "$paua" search $precision --queries query.fvecs -k 10 --ef 1000 --refine --json \
        --no-document
    hits refined.hits
    (($(found truth.hits refined.hits) >= 190)) || die "$precision: wide and refined"
    awk 'NR == FNR { all[$1 " " $2] = $3; next }
        { d = all[$1 " " $2] - $3; if (d > 2e-3 || d < -2e-3) exit 1 }' all.hits refined.hits ||
        die "$precision: refined distances"
    want 0 "$paua" search $precision --queries query.fvecs --row 3 -k 5000 --json --no-document
    hit_keys | tr ' ' '\n' | sort -n | cmp - keys || die "$precision: not every row"
done
want 0 "$paua" check -q

# What is written is found at once, and what is deleted never again.
want 0 "$paua" put int8 9000 --vector "[$(seq -s, 1 24)]"
want 0 "$paua" search int8 "[$(seq -s, 1 24)]" -k 1 --json --no-document
[[ $(hit_keys) == 9000 ]] || die 'a new row'
want 0 "$paua" rm int8 9000 17
want 0 "$paua" search int8 --queries base.fvecs --row 17 -k 50 --json --no-document
! grep -q '"key":17[,}]' out || die 'a deleted row is found'
want 0 "$paua" search int8 --queries base.fvecs --row 18 -k 3 --allowed <(seq 100 120) --json \
    --no-document
[[ $(hit_keys | wc -w) == 3 ]] || die 'allowed keys'

# Several indexes on a field.
want 0 "$paua" index create int4 scan --kind flat --json
has '^{"index":"scan","field":"vector","kind":"flat","rows":3000,"rows_due":0,'
want 0 "$paua" index create int4 dense --degree 32 --list 80 --alpha 1.3 --threads 2 --progress
has '^dense: 3000 rows, [0-9.]* KiB, '
grep -q linking err || die 'no progress'
want 0 "$paua" index ls int4
has '^index  *field  *kind  *rows  *due  *walk  *refine  *factors  *graph  *values  *bytes/row'
has '^dense  *vector  *vamana  *3000  *0 .*degree 32, list 80, occlusion 750, alpha 1.3$'
[[ $(wc -l <out) == 4 ]] || die 'three indexes'
for index in vector scan dense; do
    want 0 "$paua" search int4 --queries query.fvecs -k 10 --index $index --json --no-document
    hits index.hits
    (($(found truth.hits index.hits) >= 140)) || die "$index"
done
want 1 "$paua" search int4 --queries query.fvecs --index nope
says nope
want 2 "$paua" search int4 --queries query.fvecs --exact --index dense
says '--exact and --index contradict each other'
want 1 "$paua" index create int4 scan
says scan
want 1 "$paua" index create int4 other --field nope
says nope
want 1 "$paua" index create int4 ''
want 1 "$paua" index drop int4 nope
says nope
want 1 "$paua" index ls nope
says nope
want 0 "$paua" info int4 --json
has '"precision":"int4","originals":"fp32"'
has '"indexes":\[{"index":"vector",.*{"index":"scan",.*{"index":"dense",'
has '"code_bytes":[1-9]'
has '"graph_bytes":[1-9][0-9]*,"column_bytes"'
want 0 "$paua" info int4
has 'vector, 24 components, cosine, int4, originals fp32$'
has 'index  *dense of vector, vamana, covers 3000 rows, and 0 once optimized$'
want 0 "$paua" index drop int4 scan --json
out '{"index":"scan","dropped":true}'
want 1 "$paua" search int4 --queries query.fvecs --index scan
want 0 "$paua" index drop int4 vector
want 0 "$paua" search int4 --queries query.fvecs -k 10 --json --no-document
hits index.hits
(($(found truth.hits index.hits) >= 140)) || die 'the index that is left'
want 0 "$paua" index drop int4 dense
want 0 "$paua" index ls int4
out ''
want 0 "$paua" search int4 --queries query.fvecs -k 10 --json --no-document
hits index.hits
(($(found truth.hits index.hits) >= 190)) || die 'no index is exact'
want 0 "$paua" check -q

# Fields of their own kinds; no originals.
want 1 "$paua" create no --dim 24 --originals none
says 'originals are needed by fp32'
want 1 "$paua" create no --dim 24 --precision int8 --originals none --index none
says 'originals are needed'
want 0 "$paua" create mixed --field a:b:24:l2:int8:fp16:flat --field c:2 --index none
want 0 "$paua" info mixed
has 'vector field  *a:b, 24 components, l2, int8, originals fp16$'
has 'vector field  *c, 2 components, cosine, fp32, originals fp32$'
has 'index  *a:b of a:b, flat, covers 0 rows'
want 0 "$paua" create bare --dim 24 --precision int8 --originals none
want 0 "$paua" import bare base.fvecs -q
want 0 "$paua" optimize bare -q
want 0 "$paua" get bare 5 --json
has '"key":5,"vector":\['
want 0 "$paua" search bare --queries query.fvecs -k 10 --exact --json --no-document
hits index.hits
(($(found truth.hits index.hits) >= 160)) || die 'exact over decoded vectors'
want 0 "$paua" import bare base.fvecs --json
has '"imported":0,"already_there":3000,"refused":0'
"$gen" fvecs $rows 24 7 >other.fvecs
want 1 "$paua" import bare other.fvecs -q
says 'its key exists with another vector'

# An interrupted build leaves the rows as they were and goes on later.
"$gen" fvecs 20000 24 3 >big.fvecs
want 0 "$paua" create big --dim 24 --precision int4
want 0 "$paua" import big big.fvecs -q
"$paua" optimize big -q 2>big.err &
pid=$!
sleep 0.3
kill -INT $pid 2>/dev/null
wait $pid || [[ $(grep -c '^paua: ' big.err) == 1 ]] || die "$(cat big.err)"
want 0 "$paua" check -q
want 0 "$paua" search big --queries big.fvecs --row 19999 -k 1 --json --no-document
[[ $(hit_keys) == 19999 ]] || die 'a row after an interrupted build'
want 0 "$paua" optimize big -q
want 0 "$paua" index ls big --json
has '"rows":20000,"rows_due":0'
want 0 "$paua" backup "$work/copy"
want 0 "$paua" -d "$work/copy" check -q
want 0 "$paua" search int8 --queries query.fvecs -k 10 --json --no-document
cp out plain
want 0 "$paua" -d "$work/copy" search int8 --queries query.fvecs -k 10 --json --no-document
same plain out

# A flipped bit in codes or a graph is found by check, and by whoever uses them.
export PAUA_DB=$work/copy
for suffix in codes graph; do
    file=$(find copy -name "*.$suffix" -size +20k | sort | head -n 1)
    [[ -n $file ]] || die "no file of $suffix"
    cp "$file" kept
    byte=$(od -An -j 9000 -N 1 -t u1 kept)
    printf "\\x$(printf %x $((byte ^ 16)))" | dd of="$file" bs=1 seek=9000 conv=notrunc 2>/dev/null
    want 1 "$paua" check
    has "^fatal: ${file##*/}: "
    truncate -s 1000 "$file"
    want 1 "$paua" check
    cp kept "$file"
    want 0 "$paua" check -q
done
done_with
