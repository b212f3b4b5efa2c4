#!/usr/bin/env bash
# wrong.sh - wrong files and rows: exact statuses, row and byte named, nothing imported.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh" "$@"

"$gen" fvecs 10 4 1 >good.fvecs
want 0 "$paua" create c --dim 4

# nothing FILE MESSAGE: the file is refused as a whole.
nothing()
{
    want 1 "$paua" import c "$@" -q
    [[ $(rows c) == 0 ]] || die "rows of $1 were imported"
}

head -c 195 good.fvecs >short.fvecs
nothing short.fvecs
nothing='nothing of this file was imported, mend it or use --keep-going'
where='short.fvecs: row 9 at byte 180'
err "paua: $where: the file ends after 195 bytes, expected 5 more; $nothing"
head -c 182 good.fvecs >short.fvecs
nothing short.fvecs
says 'row 9 at byte 180: the file ends after 182 bytes, expected 2 more'
{ head -c 60 good.fvecs; "$gen" fvecs 1 5 1; tail -c 60 good.fvecs; } >mixed.fvecs
nothing mixed.fvecs
says 'mixed.fvecs: row 3 at byte 60: the dimension is 5, expected 4'
{ head -c 60 good.fvecs; printf '\377\377\377\377'; tail -c 60 good.fvecs; } >minus.fvecs
nothing minus.fvecs
says 'row 3 at byte 60: the dimension is -1, expected 4'
{ head -c 68 good.fvecs; printf '\000\000\300\177'; tail -c +73 good.fvecs; } >nan.fvecs
nothing nan.fvecs
says 'nan.fvecs: row 3 at byte 60: component 1 is NaN, expected a finite number'
{ head -c 68 good.fvecs; printf '\000\000\200\377'; tail -c +73 good.fvecs; } >inf.fvecs
nothing inf.fvecs
says 'row 3 at byte 60: component 1 is infinite'
nothing missing.fvecs
says 'cannot open missing.fvecs, No such file'
nothing /tmp --format fvecs
says 'directory'
: >empty.fvecs
want 0 "$paua" import c empty.fvecs --json
has '"imported":0'

# npy
"$gen" f4 10 4 1 >good.npy
"$gen" f4be 10 4 1 >big.npy
nothing big.npy
says 'big.npy: components are big-endian (>f4), expected <f2, <f4 or <f8'
"$gen" f4fortran 10 4 1 >fortran.npy
nothing fortran.npy
says 'Fortran order, expected C order'
"$gen" f4 10 5 1 >five.npy
nothing five.npy
says 'the array has 2 axes and 5 columns, expected the shape (rows, 4)'
sed "s/(10, 4)/(40,)  /" good.npy >flat.npy
nothing flat.npy
says 'the array has 1 axes'
sed "s/<f4/<i4/" good.npy >ints.npy
nothing ints.npy
says 'components are <i4'
head -c 280 good.npy >short.npy
nothing short.npy
says 'the shape promises 10 rows of 16 bytes, but 152 bytes follow the header'
{ cat good.npy; printf x; } >long.npy
nothing long.npy
says '161 bytes follow'
cp good.fvecs fvecs.npy
nothing fvecs.npy
says 'no npy file'
printf '\223NUMPY\011\000' >version.npy
nothing version.npy
says 'npy version 9.0 at byte 6'
printf '\223NUMPY\002\000\377\377\377\377' >header.npy
nothing header.npy
says 'the header at byte 8 has 4294967295 bytes, expected at most 65536'
: >empty.npy
nothing empty.npy
says 'the file ends after 0 bytes'

# JSON lines
line() { printf '%s\n' '{"key":1,"vector":[1,2,3,4]}' "$1" >bad.jsonl; nothing bad.jsonl; }
line '{"key":2,"vector":[1,2,3]}'
says 'bad.jsonl: row 1 at byte 29: field "vector": the vector has 3 components, expected 4'
line '{"key":2,"vector":[1,2,"x",4]}'
says 'component 2 of the vector is no number'
line '{"key":2,"vector":[1,2,3,1e39]}'
says 'component 3 is infinite'
line '{"key":2,"vector":[1,2,3,4],'
says 'row 1 at byte 29: no JSON'
line '[1,2]'
says 'the line is no object'
line '{"key":-2,"vector":[1,2,3,4]}'
says '"key" is not a whole number'
line '{"key":"x","vector":[1,2,3,4]}'
says 'the key "x" is no whole number'
line '{"key":2}'
says 'the row has no vector'
line '{"key":2,"vector":[1,2,3,4],"text":"x"}'
says 'there is no field "text" ("paua field add" adds one, import --add-fields all)'
line '{"key":2,"key":3,"vector":[1,2,3,4]}'
says 'duplicate'
line '{"key":2,"vector":[1,2,3,4],"document":7}'
says '"document" is no string'

# Files of lines
seq 9 >nine
nothing good.fvecs --keys nine
says 'nine: it has 9 lines, expected one a row'
seq 11 >eleven
nothing good.fvecs --documents eleven
says 'eleven: line 11 at byte 21: the vectors end after 10 rows'
printf '1\n2\nthree\n' >words
nothing good.fvecs --keys words
says 'row 2 at byte 40: the key "three" is no whole number'
printf 'ok\n\303\050\n' >latin
nothing good.fvecs --documents latin
says 'row 1 at byte 20: the document is no UTF-8 at its byte 0'

# --keep-going leaves out bad rows only.
want 1 "$paua" import c mixed.fvecs --keep-going --json
has '"imported":6,"already_there":0,"refused":1'
says 'mixed.fvecs: row 3 at byte 60: the dimension is 5, expected 4; this row was left out'
[[ $(rows c) == 6 ]] || die 'six rows'
printf '%s\n' '{"key":91,"vector":[1,2,3,4]}' 'x' '{"key":92,"vector":[1,2,3,4]}' >some.jsonl
want 1 "$paua" import c some.jsonl --keep-going --json
has '"imported":2,"already_there":0,"refused":1'
want 0 "$paua" get c 91 92 --json

# A stream stops at its first bad row and says what is in.
want 0 "$paua" create s --dim 4
want 1 bash -c "cat nan.fvecs | '$paua' import s --format fvecs --batch 2 -q"
says 'standard input: row 3 at byte 60: component 1 is NaN.*; 2 rows were imported before it'
[[ $(rows s) == 2 ]] || die 'two rows'

# A key with other content is refused; with --upsert it is replaced.
want 0 "$paua" create u --dim 4
want 0 "$paua" import u good.fvecs
"$gen" fvecs 10 4 2 >other.fvecs
want 1 "$paua" import u other.fvecs -q
says 'other.fvecs: row 0: its key exists with another vector, document or field (--upsert replaces)'
"$paua" export u --format fvecs | cmp - good.fvecs || die 'rows were changed'
want 0 "$paua" import u other.fvecs --upsert
"$paua" get u 3 --json >three
grep -q '"key":3' three || die 'row 3'
[[ $(rows u) == 10 ]] || die 'ten rows'

# A vector of fp16 beyond its range.
want 0 "$paua" create h --dim 1 --precision fp16
want 1 "$paua" put h 1 --vector '[70000]'
printf '{"key":1,"vector":[70000]}\n' >wide.jsonl
want 1 "$paua" import h wide.jsonl -q
says 'component 0 is 70000, fp16 holds at most 65504'
done_with
