# bash completion for paua
# shellcheck shell=bash disable=SC2207

# _paua_names COMMAND...: what that command of the database at hand lists
_paua_names()
{
    local i dir=()
    for ((i = 1; i < ${#words[@]} - 1; i++)); do
        case ${words[i]} in
        -d | --dir) dir=(-d "${words[i + 1]}") ;;
        --dir=*) dir=(-d "${words[i]#--dir=}") ;;
        esac
    done
    paua "${dir[@]}" "$@" --names 2>/dev/null
}
_paua_collections() { _paua_names ls; }
_paua_histories() { _paua_names history ls; }

_paua()
{
    local cur prev words cword i command='' options=''
    _init_completion -n = 2>/dev/null || {
        cur=${COMP_WORDS[COMP_CWORD]}
        prev=${COMP_WORDS[COMP_CWORD - 1]}
        words=("${COMP_WORDS[@]}")
        cword=$COMP_CWORD
    }
    for ((i = 1; i < cword; i++)); do
        case ${words[i]} in
        -d | --dir | --durability | --verify) ((i++)) ;;
        -*) ;;
        *) command=${words[i]}; break ;;
        esac
    done
    case $command:$prev in
    create:--metric) COMPREPLY=($(compgen -W 'cosine l2 ip' -- "$cur")); return ;;
    create:--precision) COMPREPLY=($(compgen -W 'fp32 fp16 int8 int4 int2' -- "$cur")); return ;;
    create:--originals) COMPREPLY=($(compgen -W 'fp32 fp16 none' -- "$cur")); return ;;
    create:--index) COMPREPLY=($(compgen -W 'vamana flat none' -- "$cur")); return ;;
    create:--key) COMPREPLY=($(compgen -W 'u64 string vector' -- "$cur")); return ;;
    create:--document) COMPREPLY=($(compgen -W 'text bytes none' -- "$cur")); return ;;
    import:--format) COMPREPLY=($(compgen -W 'fvecs bvecs npy jsonl csv' -- "$cur")); return ;;
    import:--documents) COMPREPLY=($(compgen -f -- "$cur")); return ;;
    import:--keys) COMPREPLY=($(compgen -f -- "$cur")); return ;;
    export:--format) COMPREPLY=($(compgen -W 'jsonl fvecs npy' -- "$cur")); return ;;
    export:--output) COMPREPLY=($(compgen -f -- "$cur")); return ;;
    export:--documents) COMPREPLY=($(compgen -f -- "$cur")); return ;;
    export:--keys) COMPREPLY=($(compgen -f -- "$cur")); return ;;
    put:--document) COMPREPLY=($(compgen -f -- "$cur")); return ;;
    rm:--keys) COMPREPLY=($(compgen -f -- "$cur")); return ;;
    search:--queries) COMPREPLY=($(compgen -f -- "$cur")); return ;;
    search:--format) COMPREPLY=($(compgen -W 'fvecs bvecs npy jsonl csv' -- "$cur")); return ;;
    search:--metric) COMPREPLY=($(compgen -W 'cosine l2 ip' -- "$cur")); return ;;
    search:--allowed) COMPREPLY=($(compgen -f -- "$cur")); return ;;
    history:--format) COMPREPLY=($(compgen -W 'text ansi html jsonl' -- "$cur")); return ;;
    history:--output) COMPREPLY=($(compgen -f -- "$cur")); return ;;
    index:--kind) COMPREPLY=($(compgen -W 'vamana flat bitmap sorted' -- "$cur")); return ;;
    bench:--base) COMPREPLY=($(compgen -f -- "$cur")); return ;;
    bench:--query) COMPREPLY=($(compgen -f -- "$cur")); return ;;
    bench:--truth) COMPREPLY=($(compgen -f -- "$cur")); return ;;
    bench:--metric) COMPREPLY=($(compgen -W 'cosine l2 ip' -- "$cur")); return ;;
    bench:--precision) COMPREPLY=($(compgen -W 'fp32 fp16 int8 int4 int2' -- "$cur")); return ;;
    bench:--originals) COMPREPLY=($(compgen -W 'fp32 fp16 none' -- "$cur")); return ;;
    bench:--index) COMPREPLY=($(compgen -W 'vamana flat none' -- "$cur")); return ;;
    bench:--stream) COMPREPLY=($(compgen -f -- "$cur")); return ;;
    bench:--restore) COMPREPLY=($(compgen -W '16x80 256x120' -- "$cur")); return ;;
    bench:--fixture) COMPREPLY=($(compgen -W 'plain-ascii repeated-indexed-style
        repeated-rgb-style high-cardinality-rgb wide-unicode styled-blanks' -- "$cur")); return ;;
    bench:--shape) COMPREPLY=($(compgen -W 'repeated distinct names sparse updates' -- "$cur"))
        return ;;
    *:-d | *:--dir) COMPREPLY=($(compgen -d -- "$cur")); return ;;
    *:--durability) COMPREPLY=($(compgen -W 'full batch off' -- "$cur")); return ;;
    *:--verify) COMPREPLY=($(compgen -W 'full header' -- "$cur")); return ;;
    esac
    case $command in
    '') options='create drop ls info import export get put rm search query field index optimize check backup history bench version help' ;;
    create) options='--dim --metric --precision --originals --index --degree --list
        --occlusion --alpha --field --column --dynamic --key --document' ;;
    ls) options='--names' ;;
    import) options='--format --documents --keys --first-key --field --batch --limit --upsert
        --add-fields --keep-going --progress' ;;
    export) options='--format --output --documents --keys --field' ;;
    get) options='--no-vector --fields' ;;
    put) options='--vector --document --set' ;;
    rm) options='--keys --where -w' ;;
    search) options='-k --like --queries --row --format --metric --radius --allowed --where -w
        --fields --group-by --group-size --explain --field --exact --refine --ef --index --lean
        --map-originals --timeout --threads --no-document' ;;
    query) options='--order-by --desc --limit -n --offset --fields --count -c --vectors
        --no-document' ;;
    index) options='--field --kind --degree --list --occlusion --alpha --threads --progress' ;;
    optimize) options='--threads --progress' ;;
    check) options='--rebuild --progress' ;;
    backup) options='--link --progress' ;;
    history) options='--names --plain --ansi --tail --from --lines --ignore-case --word --regex --fixed
        --context --max --count --format --output --columns --rows --bytes --age --keep -i
        -w -E -F -C -m -c -o' ;;
    bench) options='--base --query --truth --metric --precision --originals --index --degree
        --list --occlusion --alpha -k --ef --refine --lean --map-originals --threads --workers
        --seconds --rows --csv --ms --fixture --cols --chunk-rows --stream --small --restore
        --keys --values --shape --indexed --keep' ;;
    esac
    if [[ $cur == -* ]]; then
        options+=' --dir --json --durability --no-mmap --verify --quiet --help'
    elif [[ -n $command ]]; then
        options=''
        case $command in
        drop | info | import | export | get | put | rm | search | query | optimize)
            if [[ ${words[cword - 1]} == "$command" ]]; then
                local IFS=$'\n'
                COMPREPLY=($(compgen -W "$(_paua_collections)" -- "$cur"))
                return
            fi
            ;;
        help) options='create drop ls info import export get put rm search query field index optimize check backup history bench version help' ;;
        index)
            if [[ ${words[cword - 2]} == index ]]; then
                local IFS=$'\n'
                COMPREPLY=($(compgen -W "$(_paua_collections)" -- "$cur"))
                return
            fi
            [[ ${words[cword - 1]} != index ]] || options='create drop ls'
            ;;
        field)
            if [[ ${words[cword - 2]} == field ]]; then
                local IFS=$'\n'
                COMPREPLY=($(compgen -W "$(_paua_collections)" -- "$cur"))
                return
            fi
            [[ ${words[cword - 1]} != field ]] || options='ls add rename retype drop'
            ((cword >= 5)) && [[ ${words[cword - 4]} == field ]] &&
                [[ ${words[cword - 3]} == add || ${words[cword - 3]} == retype ]] &&
                options='bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float double
                    string bytes timestamp'
            ;;
        history)
            if [[ ${words[cword - 2]} == history && ${words[cword - 1]} != ls ]]; then
                local IFS=$'\n'
                COMPREPLY=($(compgen -W "$(_paua_histories)" -- "$cur"))
                return
            fi
            [[ ${words[cword - 1]} != history ]] ||
                options='ls info show search export import rm trim'
            ;;
        bench) options='exact filter history metadata vectors write' ;;
        esac
    fi
    COMPREPLY=($(compgen -W "$options" -- "$cur"))
    [[ $command == import || $command == backup ]] && ((${#COMPREPLY[@]} == 0)) &&
        COMPREPLY=($(compgen -f -- "$cur"))
    return 0
}

complete -o filenames -F _paua paua
