#!/usr/bin/env bash
# many.sh - many processes on one database, read-only media, and damage.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh" "$@"

"$gen" fvecs 2000 16 1 >a.fvecs

# Ten processes write ten collections while others read and back up.
for i in $(seq 10); do want 0 "$paua" create c$i --dim 16 --metric l2; done
pids=()
for i in $(seq 10); do
    "$paua" import c$i a.fvecs --batch 50 -q 2>import$i.err &
    pids+=($!)
done
for i in 1 2 3; do
    want 0 "$paua" export c$i
    (($(wc -l <out) % 50 == 0)) || die 'a reader saw half a batch'
    want 0 "$paua" backup "$work/copy$i"
    want 0 "$paua" -d "$work/copy$i" check -q
done
for i in $(seq 10); do wait "${pids[i - 1]}" || die "import $i: $(cat import$i.err)"; done
for i in $(seq 10); do
    "$paua" export c$i --format fvecs | cmp - a.fvecs || die "rows of c$i"
done
want 0 "$paua" check -q

# A second writer of the same collection fails at once and is told who writes.
mkfifo pipe
"$paua" import c1 pipe --format fvecs --first-key 100000 --batch 1 -q 2>pipe.err &
writer=$!
exec 9>pipe
head -c 68 a.fvecs >&9
for ((i = 0; i < 100; i++)); do
    "$paua" put c1 5 --document x 2>/dev/null || break
    sleep 0.05
done
want 1 "$paua" put c1 5 --document x
says "$writer"
want 0 "$paua" put c2 5 --document x
want 0 "$paua" search c1 --like 5 -k 1
exec 9>&-
wait $writer || die "$(cat pipe.err)"
want 0 "$paua" put c1 5 --document x

# A reader needs no right to write.
want 0 "$paua" -d "$work/copy1" ls --json
cp out before
if [[ $(id -u) != 0 ]]; then
    chmod -R a-w "$work/copy1"
    want 0 "$paua" -d "$work/copy1" ls --json
    same before out
    want 1 "$paua" -d "$work/copy1" put c1 5 --document x
    chmod -R u+w "$work/copy1"
fi

# One flipped bit in any file of vectors is noticed, and named by check.
want 0 "$paua" optimize -q
want 0 "$paua" backup "$work/damaged"
export PAUA_DB=$work/damaged
want 0 "$paua" search c3 --queries a.fvecs --row 7 -k 1 --json --no-document
file=$(find damaged -name '*.f32' -size +100k | sort | head -n 1)
byte=$(od -An -j 5000 -N 1 -t u1 "$file")
printf "\\x$(printf %x $((byte ^ 16)))" | dd of="$file" bs=1 seek=5000 conv=notrunc 2>/dev/null
want 1 "$paua" check
has "^fatal: ${file##*/}: "
want 1 "$paua" check --json
has '"ok":false'
broken=0
for i in $(seq 10); do
    "$paua" search c$i --queries a.fvecs --row 7 -k 1 --exact >out 2>err || broken=$((broken + 1))
    [[ ! -s err ]] || says "${file##*/}"
done
((broken == 1)) || die "$broken collections are broken by one bit"
truncate -s 1000 "$file"
want 1 "$paua" check
: >"$file"
want 1 "$paua" check
rm "$file"
want 1 "$paua" check
want 1 "$paua" check -q
printf 'not a database' >damaged/catalog.sqlite
want 1 "$paua" ls
done_with
