#!/usr/bin/env bash
# usage.sh - wrong command lines end with status 2, one line, and a suggestion.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh" "$@"

want 2 "$paua"
err 'paua: no command given, see paua help'
want 2 "$paua" serach
err 'paua: unknown command "serach", did you mean "search"?'
want 2 "$paua" frobnicate
err 'paua: unknown command "frobnicate", see paua help'
want 2 "$paua" create x --dmi 4
err 'paua: unknown option --dmi, did you mean --dim?'
want 2 "$paua" create x --dim
says 'option --dim needs a value'
want 2 "$paua" create x --dim=0
says 'option --dim: "0" is not a whole number from 1 to 65535'
want 2 "$paua" create x --dim 65536
want 2 "$paua" create x --dim 4 --metric cosin
err 'paua: option --metric: "cosin" is not known, did you mean "cosine"?'
want 2 "$paua" create x
says 'give either --dim N or --field'
want 2 "$paua" create x --field a:4:l2:fp16:x
says 'is not NAME:DIM'
for field in a 4 a:x :a:4:l2: a:0 a:65536 a:4:fp16 a:4:l2:int4:int8 a:4:l2:int4:fp16:hnsw; do
    want 2 "$paua" create x --field "$field"
    says 'is not NAME:DIM'
done
want 2 "$paua" create x --dim 4 --precision int3
err 'paua: option --precision: "int3" is not known, did you mean "int8"?'
want 2 "$paua" create x --dim 4 --originals int8
says 'option --originals: "int8" is not known'
want 2 "$paua" create x --dim 4 --index default
says 'option --index: "default" is not known, give vamana|flat|none'
want 2 "$paua" create x --dim 4 --degree 3
says 'option --degree: "3" is not a whole number from 4 to 512'
want 2 "$paua" create x --dim 4 --list 4097
want 2 "$paua" create x --dim 4 --occlusion 65537
for alpha in 0.9 2.1 nan x ''; do
    want 2 "$paua" create x --dim 4 --alpha "$alpha"
    says 'is not a number from 1 to 2'
done
want 2 "$paua" create x --dim 4 --index flat --degree 32
says 'option --degree: only vamana indexes have it'
want 2 "$paua" create x --field a:4:l2:int8:fp32:flat --alpha 1.5
says 'option --alpha: only vamana indexes have it'
want 2 "$paua" create
says 'too few arguments'
want 2 "$paua" create a b --dim 4
says 'unexpected argument "b"'
want 2 "$paua" create x --json=1 --dim 4
says 'takes no value'
want 2 "$paua" -x ls
want 2 "$paua" --durability none ls
[[ ! -e $PAUA_DB ]] || die 'a wrong command line made a database'

want 0 "$paua" --help
has '^  search '
want 0 "$paua" help
for command in create drop ls info import export get put rm search index optimize check backup \
    bench version help; do
    want 0 "$paua" help $command
    has "^paua $command - "
    has '^Examples:'
    cp out help.out
    want 0 "$paua" $command --help
    same out help.out
done
want 2 "$paua" help serach
want 0 "$paua" version
has '^paua [0-9]'
want 0 "$paua" version --json
has '"tier":"'

want 0 "$paua" --dir="$work/other" create c --dim=2
want 0 "$paua" ls -d "$work/other" --names
out c
want 0 "$paua" put -d "$work/other" c 1 --vector '[1,2]'
want 0 "$paua" -q -d"$work/other" search c '[1,2]' -k1 --json --no-document
out '{"query":0,"hits":[{"key":1,"distance":0.0}]}'
want 2 "$paua" search c
says 'give one of'
want 2 "$paua" search c '[1,2]' --like 1
want 2 "$paua" search c '[1,2]' --radius x
want 2 "$paua" search c '[1,2]' --row 3
want 2 "$paua" search c '[1,2]' --ef 0
want 2 "$paua" search c '[1,2]' --exact=1
want 2 "$paua" ls --verify touch
says 'option --verify: "touch" is not known'
want 2 "$paua" index
says 'too few arguments, usage: paua index create|drop|ls COLLECTION'
want 2 "$paua" index make c x
says 'unknown action "make", use create, drop or ls'
want 2 "$paua" index create c
says 'index create: too few arguments, usage: paua index create COLLECTION INDEX'
want 2 "$paua" index drop c
want 2 "$paua" index ls c x
says 'index ls: too many arguments'
want 2 "$paua" index ls c --kind flat
says 'option --kind: "index ls" does not take it'
want 2 "$paua" index create c x --kind none
want 2 "$paua" index create c x --kind flat --degree 32
says 'only vamana indexes have it'
want 2 "$paua" rm c
want 2 "$paua" rm c 1 --keys f
want 2 "$paua" put c 1
want 2 "$paua" import c data
want 2 "$paua" bench nothing
says 'use exact, filter, history, metadata, vectors or write'
want 2 "$paua" bench vectors --base x
want 2 "$paua" bench exact --base x --query x --precision int8
says 'give one of them'
want 1 "$paua" -d /dev/null/x ls
says '/dev/null/x'
want 1 "$paua" -d "$work" ls
if [[ -e /dev/full ]]; then
    want 1 bash -c "'$paua' help >/dev/full"
    says 'standard output'
fi
done_with
