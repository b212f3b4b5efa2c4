# lib.sh - what the end-to-end tests share. Usage of each: TEST PAUA GEN
# shellcheck shell=bash
#
# Each test works in a fresh directory, PAUA_DB naming a database in it. `want` runs a command and
# compares its exit status, and where given its whole output; the first difference ends the test.
set -uo pipefail

paua=$(realpath "$1")
# shellcheck disable=SC2034 # the tests use it
gen=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export PAUA_DB=$work/db LC_ALL=C.UTF-8
unset COLUMNS
checks=0

die()
{
    echo "FAILED at line ${BASH_LINENO[1]}: $*" >&2
    exit 1
}

# want STATUS COMMAND...: the command's output is in $work/out, its errors in $work/err.
want()
{
    local expected=$1 status=0
    shift
    "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
    ((status == expected)) ||
        die "$*: status $status, wanted $expected; $(tail -n 3 "$work/err")"
    # A program killed by a sanitizer or a signal is no ordinary failure.
    ! grep -q 'Sanitizer\|runtime error' "$work/err" || die "$*: $(head -n 20 "$work/err")"
    checks=$((checks + 1))
}

# out TEXT, err TEXT: the whole output of the last command.
out() { [[ $(cat "$work/out") == "$1" ]] || die "output: $(head -c 2000 "$work/out"), wanted: $1"; }
err() { [[ $(cat "$work/err") == "$1" ]] || die "errors: $(head -c 2000 "$work/err"), wanted: $1"; }

# says PATTERN: one line on stderr that begins with paua: and matches.
says()
{
    [[ $(wc -l <"$work/err") == 1 ]] || die "errors are not one line: $(cat "$work/err")"
    grep -q '^paua: ' "$work/err" || die "no paua: before $(cat "$work/err")"
    grep -q -- "$1" "$work/err" || die "errors: $(cat "$work/err"), wanted: $1"
}

has() { grep -q -- "$1" "$work/out" || die "output: $(head -c 2000 "$work/out"), wanted: $1"; }
same() { cmp "$1" "$2" >&2 || die "$1 and $2 differ"; }

# rows COLLECTION: how many rows an export has.
rows() { "$paua" export "$1" | wc -l; }

# keys of the last --json search, separated by spaces
hit_keys() { grep -o '"key":[^,}]*' "$work/out" | cut -d: -f2 | tr '\n' ' ' | sed 's/ $//'; }

done_with()
{
    echo "$checks commands as expected"
    ((checks > 0))
}
