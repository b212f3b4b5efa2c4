#!/usr/bin/env bash
# formats.sh - every format in, the same bytes out again.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh" "$@"

"$gen" fvecs 300 17 1 >a.fvecs
"$gen" bvecs 300 17 1 >a.bvecs
for type in f2 f4 f8; do "$gen" $type 300 17 1 >$type.npy; done
for i in $(seq 300); do echo "document $i"; done >a.txt
sed -i '7s/.*//; 9s/.*/日本語 👩‍👩‍👧/' a.txt

want 0 "$paua" create plain --dim 17 --metric l2
want 0 "$paua" import plain a.fvecs --documents a.txt --batch 64 --json
has '"imported":300,"already_there":0,"refused":0'
want 0 "$paua" export plain --output out.fvecs --documents out.txt --keys out.keys
out '300 rows exported to out.fvecs'
same a.fvecs out.fvecs
same a.txt out.txt
seq 0 299 | cmp - out.keys || die 'keys do not count up'
want 0 "$paua" export plain --output out.jsonl --json
has '"format":"jsonl","rows":300'
want 0 "$paua" export plain --format npy --output out.npy

# Every other way in gives the same rows.
for file in a.bvecs f2.npy f4.npy f8.npy out.npy out.jsonl; do
    want 0 "$paua" create same --dim 17 --metric l2
    if [[ $file == out.jsonl ]]; then
        want 0 "$paua" import same "$file"
    else
        want 0 "$paua" import same "$file" --documents a.txt
    fi
    "$paua" export same >same.jsonl || die "export after $file"
    same out.jsonl same.jsonl
    want 0 "$paua" drop same
done

# Standard input, several files, a limit, another first key.
want 0 "$paua" create more --dim 17 --precision fp16
want 0 bash -c "cat a.fvecs | '$paua' import more --format fvecs"
want 0 "$paua" import more f4.npy a.bvecs --first-key 1000 --limit 450 --json
has '"imported":450'
[[ $(rows more) == 750 ]] || die '750 rows'
want 0 "$paua" export more --format fvecs --output more.fvecs
head -c "$(stat -c %s a.fvecs)" more.fvecs | cmp - a.fvecs || die 'fp16 keeps small numbers'

# String keys from a file; unicode, spaces, slashes.
printf 'a/b:c d\n日本語\n👍🏽\n' >three.keys
head -c $((3 * 72)) a.fvecs >three.fvecs
want 0 "$paua" create words --dim 17 --key string
want 0 "$paua" import words three.fvecs --keys three.keys
want 0 "$paua" export words --output words.jsonl --keys words.keys
same three.keys words.keys
want 0 "$paua" get words '日本語' --no-vector --json
out '{"key":"日本語"}'
want 0 "$paua" search words --like '👍🏽' -k 1 --json
has '"key":"👍🏽","distance":0.0'

# The vector as key: the same vector is the same row.
want 0 "$paua" create bits --dim 17 --key vector
want 0 "$paua" import bits three.fvecs --json
has '"imported":3'
want 0 "$paua" import bits three.fvecs --json
has '"imported":0,"already_there":3'
want 0 "$paua" export bits --output bits.jsonl
want 0 "$paua" create bits2 --dim 17 --key vector
want 0 "$paua" import bits2 bits.jsonl
"$paua" export bits2 | cmp - bits.jsonl || die 'vector keys survive'
want 0 "$paua" create pair --dim 2 --key vector
want 0 "$paua" put pair --vector '[0.1, 2]' --document x
want 0 "$paua" get pair '[0.1, 2]' --json
out '{"vector":[0.1,2],"document":"x"}'
want 0 "$paua" rm pair '[0.1, 2]'

# Several fields.
want 0 "$paua" create multi --field a:2:l2 --field b:1:ip:fp16
printf '%s\n' '{"key":5,"vectors":{"a":[1,2],"b":[3]},"document":"five"}' \
    '{"key":6,"vectors":{"a":[4,5],"b":[6]}}' >multi.jsonl
want 0 "$paua" import multi multi.jsonl
"$paua" export multi | cmp - multi.jsonl || die 'several fields survive'
want 0 "$paua" export multi --field b
out $'{"key":5,"vector":[3],"document":"five"}\n{"key":6,"vector":[6]}'
want 0 "$paua" search multi '[2]' --field b --json --no-document
out '{"query":0,"hits":[{"key":6,"distance":-12.0},{"key":5,"distance":-6.0}]}'
"$gen" fvecs 1 1 3 >b.fvecs
want 2 "$paua" import multi b.fvecs --field b --first-key 5
want 0 "$paua" import multi b.fvecs --field b --first-key 5 --upsert
want 0 "$paua" put multi 6 --vector 'b=[9]'
want 0 "$paua" get multi 6 --json
out '{"key":6,"vectors":{"a":[4,5],"b":[9]}}'

# Bytes as documents, keys beyond 2^63.
want 0 "$paua" create raw --dim 1 --document bytes
printf '\000\377\n' >raw.bin
want 0 "$paua" put raw 18446744073709551615 --vector '[1]' --document @raw.bin
want 0 "$paua" export raw --output raw.jsonl
[[ $(cat raw.jsonl) == '{"key":"18446744073709551615","vector":[1],"document":"AP8K"}' ]] ||
    die "$(cat raw.jsonl)"
want 0 "$paua" drop raw
want 0 "$paua" create raw --dim 1 --document bytes
want 0 "$paua" import raw raw.jsonl
"$paua" export raw | cmp - raw.jsonl || die 'bytes survive'
want 1 "$paua" export raw --output x.fvecs --documents x.txt
says 'holds a newline'
[[ ! -e x.fvecs && ! -e x.txt ]] || die 'a failed export leaves nothing'
[[ -z $(find . -name '*.part') ]] || die 'a failed export leaves parts'
want 1 bash -c "'$paua' export raw --format npy | cat; exit \${PIPESTATUS[0]}"
says 'use --output FILE'

want 0 "$paua" check -q
done_with
