#!/usr/bin/env bash
# resume.sh - an import that is killed continues; what was committed stays.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh" "$@"

rows=20000
"$gen" fvecs $rows 32 1 >base.fvecs
seq -f 'document %.0f' $rows >base.txt
want 0 "$paua" create whole --dim 32
want 0 "$paua" import whole base.fvecs --documents base.txt -q
"$paua" export whole >whole.jsonl || die export

# killed SIGNAL DELAY: imports in small batches and kills in the middle.
killed()
{
    "$paua" import part base.fvecs --documents base.txt --batch 20 -q 2>killed.err &
    local pid=$!
    sleep "$2"
    kill "-$1" $pid 2>/dev/null
    wait $pid 2>/dev/null
}

want 0 "$paua" create part --dim 32
before=0
for delay in 0.02 0.1 0.2 0.05; do
    killed KILL $delay
    want 0 "$paua" export part
    now=$(wc -l <out)
    ((now >= before && now % 20 == 0)) || die "$now rows after $before"
    head -n "$now" whole.jsonl | cmp - out || die 'rows after a kill are not the first ones'
    before=$now
done
killed INT 0.1
[[ ! -s killed.err ]] ||
    grep -q '^paua: interrupted, after [0-9]* rows were committed' killed.err ||
    die "$(cat killed.err)"
want 0 "$paua" import part base.fvecs --documents base.txt --json
has '"refused":0'
imported=$(grep -o '"imported":[0-9]*' out | cut -d: -f2)
already=$(grep -o '"already_there":[0-9]*' out | cut -d: -f2)
((imported + already == rows)) || die "$imported and $already"
((already >= before)) || die "$already rows were there, $before were seen"
"$paua" export part | cmp - whole.jsonl || die 'the resumed import is another one'
want 0 "$paua" import part base.fvecs --documents base.txt --json
has "\"imported\":0,\"already_there\":$rows"
want 0 "$paua" check -q

# A gap that deletions made is filled.
want 0 "$paua" rm part 0 1 2 777 19999
want 0 "$paua" import part base.fvecs --documents base.txt --json
has '"imported":5,"already_there":19995,"refused":0'
[[ $(rows part) == "$rows" ]] || die 'all rows'

# Overwriting and deleting, then compacting: every live row finds itself.
"$gen" fvecs 100 32 9 >new.fvecs
want 0 "$paua" import part new.fvecs --first-key 100 --upsert
seq 0 99 >old
want 0 "$paua" rm part --keys old
want 0 "$paua" optimize part -q
want 0 "$paua" optimize part -q
want 0 "$paua" search part --queries new.fvecs -k 1 --exact --json --no-document
[[ $(hit_keys) == "$(seq -s ' ' 100 199)" ]] || die 'rows do not find themselves'
[[ $(rows part) == $((rows - 100)) ]] || die 'rows after compaction'
want 0 "$paua" check -q

# Deleting most of it gives the space back.
size() { du -s --block-size=1 "$PAUA_DB" | cut -f1; }
want 0 "$paua" drop whole
before=$(size)
seq 2000 19999 >most
want 0 "$paua" rm part --keys most
want 0 "$paua" optimize part -q
after=$(size)
((after * 100 <= before * 30)) || die "$after of $before bytes are left"
[[ $(rows part) == 1900 ]] || die 'rows after deleting most'
want 0 "$paua" check -q
done_with
