#!/usr/bin/env bash
# history.sh - terminal histories: in, shown, searched, out again, trimmed, removed.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh" "$@"

esc=$'\x1b'
want 1 "$paua" history ls
printf 'plain one\n%s[1;31mred two%s[m and three\nthe end\n' "$esc" "$esc" >in
want 0 "$paua" history import shell in --json
out '{"history":"shell","rows":3}'
want 0 "$paua" history ls --names
out shell
want 0 "$paua" history show shell
out $'plain one\nred two and three\nthe end'
want 0 "$paua" history show shell --ansi
has "$esc\[.*31"
want 0 "$paua" history show shell --tail 1
out 'the end'
want 0 "$paua" history show shell --from 2 --lines 1
out 'red two and three'
want 1 "$paua" history show shell --from 9
says 'no row 9'
want 0 "$paua" history export shell --format jsonl --lines 2
has '"row":2,.*"text":"red two and three","styles":\[{"begin":0,"end":7,"foreground":1'
want 0 "$paua" history export shell --format html
has '<span'
want 0 "$paua" history export shell -o file
same file <(printf 'plain one\nred two and three\nthe end\n')
want 0 "$paua" history export shell --format ansi -o ansi
want 0 "$paua" history import again ansi
want 0 "$paua" history export again --format ansi -o ansi2
same ansi ansi2

# Search, as grep has it.
want 0 "$paua" history search THREE -i
out $'shell/2:red two and three\nagain/2:red two and three'
want 1 "$paua" history search THREE shell
out ''
want 0 "$paua" history search 'e$' -E shell
out $'shell/1:plain one\nshell/2:red two and three'
want 0 "$paua" history search e -c shell
out 'shell:3'
want 0 "$paua" history search e -m 1 shell
out 'shell/1:plain one'
want 1 "$paua" history search he -w shell
want 0 "$paua" history search three -C 1 shell
out $'shell/1-plain one\nshell/2:red two and three\nshell/3-the end'
want 0 "$paua" history search e --json -m 1 shell
has '"row":1,.*"text":"plain one","matches":\[\[8,9\]\]'
want 1 "$paua" history search '(' -E shell
says 'paua:'
want 1 "$paua" history search e nowhere
says 'no history "nowhere"'

# Long ones: wrapped lines are one line, and files of pages come and go.
seq -f 'line %g of many, going on for so long that a row of eighty columns cannot hold it whole' \
    3000 >many
want 0 "$paua" history import long many
want 0 "$paua" history export long
same out many
want 0 "$paua" history search 'line 1234 of' long
out "long/2467:$(sed -n 1234p many)"
want 0 "$paua" history info long --json
has '"rows":6000,.*"pages":23,"files":1'
want 0 "$paua" check
want 0 "$paua" history trim long --rows 100
want 0 "$paua" history show long
out "$(tail -n 50 many)"
want 2 "$paua" history trim long
want 2 "$paua" history trim long --rows x
want 0 "$paua" history trim long --rows 2k --bytes 1G --keep
want 0 "$paua" history info long
has '^most rows  *2000$'
want 0 "$paua" history rm long again
grep -q 'removed long: 100 rows' err || die "$(cat err)"
want 0 "$paua" history ls --names
out shell
[[ ! -e db/000018.pages ]] || die "$(ls db)"
want 1 "$paua" history rm long
want 2 "$paua" history show
want 2 "$paua" history dance
want 2 "$paua" history show shell --format html

# Where neither -d nor PAUA_DB says where.
unset PAUA_DB
XDG_DATA_HOME=$work/data/deep want 0 "$paua" history import mine in
[[ $(stat -c %a data/deep/paua) == 700 ]] || die "mode $(stat -c %a data/deep/paua)"
XDG_DATA_HOME=$work/data/deep want 0 "$paua" history ls --names
out mine
done_with
