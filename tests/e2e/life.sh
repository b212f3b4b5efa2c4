#!/usr/bin/env bash
# life.sh - the whole life of a small database.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh" "$@"

want 1 "$paua" ls
says 'db'
want 0 "$paua" create docs --dim 3
err ''
want 0 "$paua" ls --names
out docs
want 1 "$paua" create docs --dim 3
says exists
want 0 "$paua" search docs '[1, 0, 0]' --json
out '{"query":0,"hits":[]}'

want 0 "$paua" put docs 1 --vector '[1, 0, 0]' --document 'one'
want 0 "$paua" put docs 2 --vector '[0, 1, 0]' --document $'two\tand \x1b[31mred'
printf 'from a file\n' >file
want 0 "$paua" put docs 3 --vector '[0, 0, 1]' --document @file
want 0 "$paua" get docs 1 --json
out '{"key":1,"vector":[1,0,0],"document":"one"}'
want 0 "$paua" get docs 3 1 --no-vector --json
out '{"key":3,"document":"from a file\n"}
{"key":1,"document":"one"}'
want 0 "$paua" get docs 2
out $'key       2\nvector    [0, 1, 0]\ndocument  two\\tand \\x1b[31mred'

want 0 "$paua" search docs '[1, 0.5, 0]' -k 2
table=$'rank  key  distance  document\n   1  1    0.105573  one\n   2  2    0.552786  two\\tand '
out "$table"'\x1b[31mred'
COLUMNS=36 want 0 "$paua" search docs '[1, 0.5, 0]' -k 2
out "$table..."
want 0 "$paua" search docs --like 2 -k 1 --json --no-document
out '{"query":0,"hits":[{"key":2,"distance":0.0}]}'

want 0 "$paua" put docs 1 --vector '[0, 0.5, 0.5]'
want 0 "$paua" get docs 1 --json
out '{"key":1,"vector":[0,0.5,0.5],"document":"one"}'
want 0 "$paua" put docs 1 --document 'uno'
want 0 "$paua" get docs 1 --json
out '{"key":1,"vector":[0,0.5,0.5],"document":"uno"}'

want 1 "$paua" rm docs 2 7
says '1 of 2 keys not found'
want 1 "$paua" get docs 2
err 'paua: key 2 not found, in collection "docs", check the key'
want 0 "$paua" rm docs 3 --json
out '{"deleted":1,"missing":0}'
[[ $(rows docs) == 1 ]] || die 'one row is left'

want 0 "$paua" info docs --json
has '"rows":1,'
want 0 "$paua" info
has 'vector, 3 components, cosine, fp32'
want 0 "$paua" optimize docs --json
has '"bytes_after"'
want 0 "$paua" check --json
has '"ok":true'
want 0 "$paua" backup "$work/copy" --json
want 1 "$paua" backup "$work/copy"
says 'copy'
want 0 "$paua" -d "$work/copy" get docs 1 --json
out '{"key":1,"vector":[0,0.5,0.5],"document":"uno"}'
want 0 "$paua" -d "$work/copy" check -q
out ''
want 0 "$paua" drop docs
want 1 "$paua" info docs
says docs
want 0 "$paua" ls
out ''
want 0 "$paua" -d "$work/copy" ls --names
out docs
done_with
