#!/usr/bin/env bash
# docs.sh - manual pages and completions name every command and option that the program has.
#
# Usage: TEST PAUA GEN DOCS
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh" "$@"
docs=$(realpath "$3")

# options COMMAND: its own options, one a line, without dashes
options()
{
    "$paua" help "$1" | sed -n '/^Options:/,/^$/p' |
        grep -o '^  *\(-[a-zA-Z], \)\?-\{1,2\}[a-z-]*' |
        sed 's/.*[ ,]-\{1,2\}//'
}

commands=$("$paua" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
[[ $(wc -w <<<"$commands") == 20 ]] || die "commands: $commands"
for command in $commands; do
    page=$docs/man/paua-$command.1
    [[ -f $page ]] || die "no page $page"
    grep -q "^\.It Xr paua-$command 1" "$docs/man/paua.1" || die "$command is not in paua.1"
    grep -q "'$command:" "$docs/completion/_paua" || die "$command is not in _paua"
    grep -q -- "-a $command -d" "$docs/completion/paua.fish" || die "$command is not in paua.fish"
    for option in $(options "$command"); do
        ((${#option} == 1)) && dash='' || dash=-
        grep -q "^\.It Fl \([a-zA-Z] , Fl \)\?$dash$option\b" "$page" ||
            die "--$option is not in $page"
        grep -q -- "-$dash*${option}[=[]" "$docs/completion/_paua" ||
            die "--$option is not in _paua"
        grep -q -- "from $command' -[sl] $option\b" "$docs/completion/paua.fish" ||
            die "$command --$option is not in paua.fish"
        sed -n "/^    $command) options=/,/;;/p" "$docs/completion/paua.bash" |
            grep -q -- "-$option\b" || die "$command --$option is not in paua.bash"
        checks=$((checks + 1))
    done
    # And no page has more than the program.
    listed=$(grep -c '^\.It Fl ' "$page")
    [[ $listed == $(options "$command" | wc -l) ]] || die "$page lists $listed options"
done
if command -v mandoc >/dev/null; then
    for page in "$docs"/man/*.[137]; do
        want 0 mandoc -T lint -W warning "$page"
        out ''
    done
fi
want 0 bash -n "$docs/completion/paua.bash"

# The shell's own completion, run for real.
want 0 "$paua" create docs --dim 2
complete_line()
{
    PATH=$work/bin:$PATH bash -c '. "$1"; shift; COMP_WORDS=("$@" ""); COMP_CWORD=$#; _paua
        printf "%s\n" "${COMPREPLY[@]}"' bash "$docs/completion/paua.bash" "$@"
}
mkdir bin && ln -s "$paua" bin/paua
want 0 complete_line paua search
out docs
want 0 complete_line paua search docs --metric
out $'cosine\nl2\nip'
want 0 complete_line paua search docs --precision
out ''
want 0 complete_line paua create docs --precision
out $'fp32\nfp16\nint8\nint4\nint2'
want 0 complete_line paua index
out $'create\ndrop\nls'
want 0 complete_line paua index ls
out docs
want 0 complete_line paua field
out $'ls\nadd\nrename\nretype\ndrop'
want 0 complete_line paua field add
out docs
want 0 complete_line paua field add docs year
has '^timestamp$'
want 0 complete_line paua field drop docs
out ''
want 0 complete_line paua
has '^optimize$'
done_with
