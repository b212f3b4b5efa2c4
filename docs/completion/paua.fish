# fish completion for paua

function __paua_names
    set -l words (commandline -opc)
    set -l dir
    for i in (seq (count $words))
        switch $words[$i]
            case -d --dir
                test $i -lt (count $words); and set dir -d $words[(math $i + 1)]
            case '--dir=*'
                set dir -d (string replace -- --dir= '' $words[$i])
        end
    end
    paua $dir $argv --names 2>/dev/null
end

function __paua_collections
    __paua_names ls
end

function __paua_histories
    __paua_names history ls
end

complete -c paua -f
complete -c paua -s d -l dir -xa '(__fish_complete_directories)' -d 'the database; default $PAUA_DB, else ./paua.db'
complete -c paua -l json -d 'print JSON, one object a line'
complete -c paua -l durability -xa 'full batch off' -d 'when writes are durable; default full'
complete -c paua -l no-mmap -d 'read files with pread instead of mapping them'
complete -c paua -l verify -xa 'full header' -d 'check every page when first read, or headers only'
complete -c paua -s q -l quiet -d 'no notes and no progress'
complete -c paua -s h -l help -d 'show help and exit'

complete -c paua -n __fish_use_subcommand -a create -d 'create a collection, and the database if it is missing'
complete -c paua -n __fish_use_subcommand -a drop -d 'remove a collection with all its rows'
complete -c paua -n __fish_use_subcommand -a ls -d 'list the collections'
complete -c paua -n __fish_use_subcommand -a info -d 'show the schema and the numbers of collections'
complete -c paua -n __fish_use_subcommand -a import -d 'add rows from fvecs, bvecs, npy, JSON lines or CSV'
complete -c paua -n __fish_use_subcommand -a export -d 'write all rows as JSON lines, fvecs or npy'
complete -c paua -n __fish_use_subcommand -a get -d 'print rows by key'
complete -c paua -n __fish_use_subcommand -a put -d 'write one row, or parts of it'
complete -c paua -n __fish_use_subcommand -a rm -d 'delete rows by key, or by filter'
complete -c paua -n __fish_use_subcommand -a search -d 'find the nearest rows'
complete -c paua -n __fish_use_subcommand -a query -d 'print or count the rows that a filter finds'
complete -c paua -n __fish_use_subcommand -a field -d 'list and change the fields of a collection\'s rows'
complete -c paua -n __fish_use_subcommand -a index -d 'create, drop and list the indexes of a collection'
complete -c paua -n __fish_use_subcommand -a optimize -d 'merge segments, build indexes, give space back'
complete -c paua -n __fish_use_subcommand -a check -d 'read everything and test every checksum'
complete -c paua -n __fish_use_subcommand -a backup -d 'copy a consistent state while writes go on'
complete -c paua -n __fish_use_subcommand -a history -d 'list, show, search, export and import terminal histories'
complete -c paua -n __fish_use_subcommand -a bench -d 'measure this machine, with the bare machine beside it'
complete -c paua -n __fish_use_subcommand -a version -d 'show the version and the instructions in use'
complete -c paua -n __fish_use_subcommand -a help -d 'explain a command, with examples'

complete -c paua -n '__fish_seen_subcommand_from drop info import export get put rm search query optimize' -a '(__paua_collections)'
complete -c paua -n '__fish_seen_subcommand_from index' -a 'create drop ls (__paua_collections)'
complete -c paua -n '__fish_seen_subcommand_from field' -a 'ls add rename retype drop (__paua_collections)'
complete -c paua -n '__fish_seen_subcommand_from import backup' -F
complete -c paua -n '__fish_seen_subcommand_from help' -a 'create drop ls info import export get put rm search query field index optimize check backup history bench version help'
complete -c paua -n '__fish_seen_subcommand_from history' -a 'ls info show search export import rm trim (__paua_histories)'
complete -c paua -n '__fish_seen_subcommand_from bench' -a 'exact filter history metadata vectors write'

complete -c paua -n 'not __fish_seen_subcommand_from index; and __fish_seen_subcommand_from create' -l dim -x -d 'components of the vectors, 1 to 65535'
complete -c paua -n 'not __fish_seen_subcommand_from index; and __fish_seen_subcommand_from create' -l metric -xa 'cosine l2 ip' -d 'distance of searches; default cosine'
complete -c paua -n 'not __fish_seen_subcommand_from index; and __fish_seen_subcommand_from create' -l precision -xa 'fp32 fp16 int8 int4 int2' -d 'how near searches come; default fp32'
complete -c paua -n 'not __fish_seen_subcommand_from index; and __fish_seen_subcommand_from create' -l originals -xa 'fp32 fp16 none' -d 'how vectors are kept; default fp32, or fp16 for fp16'
complete -c paua -n 'not __fish_seen_subcommand_from index; and __fish_seen_subcommand_from create' -l index -xa 'vamana flat none' -d 'how searches find candidates; default vamana'
complete -c paua -n 'not __fish_seen_subcommand_from index; and __fish_seen_subcommand_from create' -l degree -x -d 'vamana: neighbours of a row, 4 to 512; default 64'
complete -c paua -n 'not __fish_seen_subcommand_from index; and __fish_seen_subcommand_from create' -l list -x -d 'vamana: candidates of building, 4 to 4096; default 100'
complete -c paua -n 'not __fish_seen_subcommand_from index; and __fish_seen_subcommand_from create' -l occlusion -x -d 'vamana: candidates of pruning, to 65536; default 750'
complete -c paua -n 'not __fish_seen_subcommand_from index; and __fish_seen_subcommand_from create' -l alpha -x -d 'vamana: slack of pruning, 1 to 2; default 1.2'
complete -c paua -n 'not __fish_seen_subcommand_from index; and __fish_seen_subcommand_from create' -l field -x -d 'a named vector field; repeat for several'
complete -c paua -n 'not __fish_seen_subcommand_from index; and __fish_seen_subcommand_from create' -l column -x -d 'a field of the rows, e.g. year:int16; repeat for several'
complete -c paua -n 'not __fish_seen_subcommand_from index; and __fish_seen_subcommand_from create' -l dynamic -d 'fields appear with the first row that has them'
complete -c paua -n 'not __fish_seen_subcommand_from index; and __fish_seen_subcommand_from create' -l key -xa 'u64 string vector' -d 'kind of the keys; default u64'
complete -c paua -n 'not __fish_seen_subcommand_from index; and __fish_seen_subcommand_from create' -l document -xa 'text bytes none' -d 'what documents hold; default text'

complete -c paua -n 'not __fish_seen_subcommand_from index; and __fish_seen_subcommand_from ls' -l names -d 'names only, one a line'

complete -c paua -n '__fish_seen_subcommand_from import' -l format -xa 'fvecs bvecs npy jsonl csv' -d 'format of the files; default by suffix'
complete -c paua -n '__fish_seen_subcommand_from import' -l documents -rF -d 'documents; line i belongs to row i, an empty line is none'
complete -c paua -n '__fish_seen_subcommand_from import' -l keys -rF -d 'keys; line i belongs to row i'
complete -c paua -n '__fish_seen_subcommand_from import' -l first-key -x -d 'without keys, u64 keys count up from N; default 0'
complete -c paua -n '__fish_seen_subcommand_from import' -l field -x -d 'vector field of fvecs, bvecs, npy; default the first'
complete -c paua -n '__fish_seen_subcommand_from import' -l batch -x -d 'rows a commit; default about 4 MiB of vectors'
complete -c paua -n '__fish_seen_subcommand_from import' -l limit -x -d 'stop after N rows'
complete -c paua -n '__fish_seen_subcommand_from import' -l upsert -d 'replace rows whose key exists, or parts of them'
complete -c paua -n '__fish_seen_subcommand_from import' -l add-fields -d 'jsonl, csv: add the fields that the collection does not have'
complete -c paua -n '__fish_seen_subcommand_from import' -l keep-going -d 'leave out malformed rows instead of stopping'
complete -c paua -n '__fish_seen_subcommand_from import' -l progress -d 'show progress without a terminal too'

complete -c paua -n '__fish_seen_subcommand_from export' -l format -xa 'jsonl fvecs npy' -d 'format; default by the suffix of --output, else jsonl'
complete -c paua -n '__fish_seen_subcommand_from export' -l output -rF -d 'where to; default standard output'
complete -c paua -n '__fish_seen_subcommand_from export' -l documents -rF -d 'write documents, one a line, empty for none'
complete -c paua -n '__fish_seen_subcommand_from export' -l keys -rF -d 'write keys, one a line'
complete -c paua -n '__fish_seen_subcommand_from export' -l field -x -d 'vector field; default the first (jsonl: all)'

complete -c paua -n '__fish_seen_subcommand_from get' -l no-vector -d 'leave the vectors out'
complete -c paua -n '__fish_seen_subcommand_from get' -l fields -x -d 'only these fields'

complete -c paua -n '__fish_seen_subcommand_from put' -l vector -x -d 'a JSON array; repeat with FIELD= for several fields'
complete -c paua -n '__fish_seen_subcommand_from put' -l document -rF -d 'the document, or the file that holds it'
complete -c paua -n '__fish_seen_subcommand_from put' -l set -x -d 'the value of a field; null removes it; repeat for several'

complete -c paua -n '__fish_seen_subcommand_from rm' -l keys -rF -d 'delete the keys in this file, one a line (- is standard input)'
complete -c paua -n '__fish_seen_subcommand_from rm' -l where -s w -x -d 'delete the rows for which it is true, see paua-filter(7)'

complete -c paua -n '__fish_seen_subcommand_from search' -s k -x -d 'rows wanted; default 10'
complete -c paua -n '__fish_seen_subcommand_from search' -l like -x -d 'search with the vector stored under this key'
complete -c paua -n '__fish_seen_subcommand_from search' -l queries -rF -d 'search with each row of an fvecs, bvecs, npy, jsonl or csv file'
complete -c paua -n '__fish_seen_subcommand_from search' -l row -x -d 'only row N (from 0) of --queries'
complete -c paua -n '__fish_seen_subcommand_from search' -l format -xa 'fvecs bvecs npy jsonl csv' -d 'format of --queries; default by suffix'
complete -c paua -n '__fish_seen_subcommand_from search' -l metric -xa 'cosine l2 ip' -d 'distance; default the field\'s own'
complete -c paua -n '__fish_seen_subcommand_from search' -l radius -x -d 'only rows at distance R or less'
complete -c paua -n '__fish_seen_subcommand_from search' -l allowed -rF -d 'only rows with these keys, one a line'
complete -c paua -n '__fish_seen_subcommand_from search' -l where -s w -x -d 'only rows for which it is true, see paua-filter(7)'
complete -c paua -n '__fish_seen_subcommand_from search' -l fields -x -d 'print these fields, too'
complete -c paua -n '__fish_seen_subcommand_from search' -l group-by -x -d 'at most --group-size rows of each of its values'
complete -c paua -n '__fish_seen_subcommand_from search' -l group-size -x -d 'default 1'
complete -c paua -n '__fish_seen_subcommand_from search' -l explain -d 'say how the search went'
complete -c paua -n '__fish_seen_subcommand_from search' -l field -x -d 'vector field; default the first'
complete -c paua -n '__fish_seen_subcommand_from search' -l exact -d 'compare with every row\'s original'
complete -c paua -n '__fish_seen_subcommand_from search' -l refine -d 'int8, int4, int2: compare the best with their originals'
complete -c paua -n '__fish_seen_subcommand_from search' -l ef -x -d 'candidates of a graph search; default 200, or 2 k if more'
complete -c paua -n '__fish_seen_subcommand_from search' -l index -x -d 'index to use; default the field\'s first'
complete -c paua -n '__fish_seen_subcommand_from search' -l lean -d 'leave refine codes in their files: slower, smaller'
complete -c paua -n '__fish_seen_subcommand_from search' -l map-originals -d 'read originals of candidates from the map: faster, larger'
complete -c paua -n '__fish_seen_subcommand_from search' -l timeout -x -d 'give up after MS milliseconds'
complete -c paua -n '__fish_seen_subcommand_from search' -l threads -x -d 'threads; default 1 for one query, else all cores'
complete -c paua -n '__fish_seen_subcommand_from search' -l no-document -d 'leave the documents out'

complete -c paua -n '__fish_seen_subcommand_from query' -l order-by -x -d 'order of the rows; default oldest first; null comes last'
complete -c paua -n '__fish_seen_subcommand_from query' -l desc -d 'the other way round'
complete -c paua -n '__fish_seen_subcommand_from query' -l limit -s n -x -d 'at most N rows; default all'
complete -c paua -n '__fish_seen_subcommand_from query' -l offset -x -d 'leave out the first N'
complete -c paua -n '__fish_seen_subcommand_from query' -l fields -x -d 'only these fields; default all'
complete -c paua -n '__fish_seen_subcommand_from query' -l count -s c -d 'print only how many rows there are'
complete -c paua -n '__fish_seen_subcommand_from query' -l vectors -d 'with --json: the vectors, too'
complete -c paua -n '__fish_seen_subcommand_from query' -l no-document -d 'leave the documents out'

complete -c paua -n '__fish_seen_subcommand_from index' -l field -x -d 'create: vector field; default the first'
complete -c paua -n '__fish_seen_subcommand_from index' -l kind -xa 'vamana flat bitmap sorted' -d 'create: of vectors a graph, or comparing every code; of another field the rows of each value, or all rows by value'
complete -c paua -n '__fish_seen_subcommand_from index' -l degree -x -d 'vamana: neighbours of a row, 4 to 512; default 64'
complete -c paua -n '__fish_seen_subcommand_from index' -l list -x -d 'vamana: candidates of building, 4 to 4096; default 100'
complete -c paua -n '__fish_seen_subcommand_from index' -l occlusion -x -d 'vamana: candidates of pruning, to 65536; default 750'
complete -c paua -n '__fish_seen_subcommand_from index' -l alpha -x -d 'vamana: slack of pruning, 1 to 2; default 1.2'
complete -c paua -n '__fish_seen_subcommand_from index' -l threads -x -d 'create: at most N threads build; default all cores'
complete -c paua -n '__fish_seen_subcommand_from index' -l progress -d 'create: show progress without a terminal too'

complete -c paua -n '__fish_seen_subcommand_from history' -l names -d 'ls: names only, one a line'
complete -c paua -n '__fish_seen_subcommand_from history' -l plain -d 'show: text only, also on a terminal'
complete -c paua -n '__fish_seen_subcommand_from history' -l ansi -d 'show: with colours, also into a pipe'
complete -c paua -n '__fish_seen_subcommand_from history' -l tail -x -d 'show, export: the last N rows only'
complete -c paua -n '__fish_seen_subcommand_from history' -l from -x -d 'show, export: begin at this row'
complete -c paua -n '__fish_seen_subcommand_from history' -l lines -x -d 'show, export: at most N rows'
complete -c paua -n '__fish_seen_subcommand_from history' -l ignore-case -s i -d 'search: upper and lower case are the same'
complete -c paua -n '__fish_seen_subcommand_from history' -l word -s w -d 'search: whole words only'
complete -c paua -n '__fish_seen_subcommand_from history' -l regex -s E -d 'search: the pattern is a Perl-compatible regular expression'
complete -c paua -n '__fish_seen_subcommand_from history' -l fixed -s F -d 'search: the pattern is text (the default)'
complete -c paua -n '__fish_seen_subcommand_from history' -l context -s C -x -d 'search: N lines before and after each match too'
complete -c paua -n '__fish_seen_subcommand_from history' -l max -s m -x -d 'search: at most N lines of each history'
complete -c paua -n '__fish_seen_subcommand_from history' -l count -s c -d 'search: only how many lines match'
complete -c paua -n '__fish_seen_subcommand_from history' -l format -xa 'text ansi html jsonl' -d 'export: text, ansi, html or jsonl; import: ansi or text'
complete -c paua -n '__fish_seen_subcommand_from history' -l output -s o -rF -d 'export: to a file; default standard output'
complete -c paua -n '__fish_seen_subcommand_from history' -l columns -x -d 'import: rows wrap at N columns; default 80'
complete -c paua -n '__fish_seen_subcommand_from history' -l rows -x -d 'trim: keep the last N rows; import: limit of a new history'
complete -c paua -n '__fish_seen_subcommand_from history' -l bytes -x -d 'trim: keep files of N bytes (k, M, G); import: limit of a new history'
complete -c paua -n '__fish_seen_subcommand_from history' -l age -x -d 'trim: keep what is younger (s, m, h, d); import: limit of a new history'
complete -c paua -n '__fish_seen_subcommand_from history' -l keep -d 'trim: from now on too: these are the history\'s limits'

complete -c paua -n '__fish_seen_subcommand_from optimize' -l threads -x -d 'at most N threads build; default all cores'
complete -c paua -n '__fish_seen_subcommand_from optimize' -l progress -d 'show progress without a terminal too'

complete -c paua -n '__fish_seen_subcommand_from check' -l rebuild -d 'make a lost catalogue anew from the sealed files'
complete -c paua -n '__fish_seen_subcommand_from check' -l progress -d 'show progress without a terminal too'

complete -c paua -n '__fish_seen_subcommand_from backup' -l link -d 'hard links for sealed files (same file system) instead of copies'
complete -c paua -n '__fish_seen_subcommand_from backup' -l progress -d 'show progress without a terminal too'

complete -c paua -n '__fish_seen_subcommand_from bench' -l base -rF -d 'exact, vectors: the rows, fvecs, bvecs or npy'
complete -c paua -n '__fish_seen_subcommand_from bench' -l query -rF -d 'exact, vectors: the queries'
complete -c paua -n '__fish_seen_subcommand_from bench' -l truth -rF -d 'exact, vectors: numbers of the true nearest rows, ivecs'
complete -c paua -n '__fish_seen_subcommand_from bench' -l metric -xa 'cosine l2 ip' -d 'exact, vectors: distance; default cosine'
complete -c paua -n '__fish_seen_subcommand_from bench' -l precision -xa 'fp32 fp16 int8 int4 int2' -d 'exact (fp32, fp16), vectors; default fp32'
complete -c paua -n '__fish_seen_subcommand_from bench' -l originals -xa 'fp32 fp16 none' -d 'vectors: how vectors are kept; default by precision'
complete -c paua -n '__fish_seen_subcommand_from bench' -l index -xa 'vamana flat none' -d 'vectors: how searches find candidates; default vamana'
complete -c paua -n '__fish_seen_subcommand_from bench' -l degree -x -d 'vamana: neighbours of a row, 4 to 512; default 64'
complete -c paua -n '__fish_seen_subcommand_from bench' -l list -x -d 'vamana: candidates of building, 4 to 4096; default 100'
complete -c paua -n '__fish_seen_subcommand_from bench' -l occlusion -x -d 'vamana: candidates of pruning, to 65536; default 750'
complete -c paua -n '__fish_seen_subcommand_from bench' -l alpha -x -d 'vamana: slack of pruning, 1 to 2; default 1.2'
complete -c paua -n '__fish_seen_subcommand_from bench' -s k -x -d 'exact, vectors: rows wanted; default 100'
complete -c paua -n '__fish_seen_subcommand_from bench' -l ef -x -d 'vectors: candidates of a search; default 200, or 2 k if more'
complete -c paua -n '__fish_seen_subcommand_from bench' -l refine -d 'vectors: compare the best candidates with their originals'
complete -c paua -n '__fish_seen_subcommand_from bench' -l lean -d 'vectors: leave refine codes in their files'
complete -c paua -n '__fish_seen_subcommand_from bench' -l map-originals -d 'vectors: read originals of candidates from the map'
complete -c paua -n '__fish_seen_subcommand_from bench' -l threads -x -d 'exact: of the batch (1); vectors: of building (all cores)'
complete -c paua -n '__fish_seen_subcommand_from bench' -l workers -x -d 'vectors: threads that search at once; default 8'
complete -c paua -n '__fish_seen_subcommand_from bench' -l seconds -x -d 'vectors: how long they do; default 30'
complete -c paua -n '__fish_seen_subcommand_from bench' -l rows -x -d 'exact, vectors: first N rows of the base; history, metadata: how many'
complete -c paua -n '__fish_seen_subcommand_from bench' -l csv -d 'vectors: print CSV; JSON follows only with --json'
complete -c paua -n '__fish_seen_subcommand_from bench' -l ms -x -d 'write: length of each run; default 3000'
complete -c paua -n '__fish_seen_subcommand_from bench' -l fixture -xa 'plain-ascii repeated-indexed-style repeated-rgb-style high-cardinality-rgb wide-unicode styled-blanks' -d 'history: what rows hold; default plain-ascii'
complete -c paua -n '__fish_seen_subcommand_from bench' -l cols -x -d 'history: columns of the terminal; default 120'
complete -c paua -n '__fish_seen_subcommand_from bench' -l chunk-rows -x -d 'history: rows of a page, at most 256, the default'
complete -c paua -n '__fish_seen_subcommand_from bench' -l stream -rF -d 'history: rows of a recorded stream instead of a fixture'
complete -c paua -n '__fish_seen_subcommand_from bench' -l small -d 'history: only the memory of one of four rows'
complete -c paua -n '__fish_seen_subcommand_from bench' -l restore -xa '16x80 256x120' -d 'history: only how long a cold page takes'
complete -c paua -n '__fish_seen_subcommand_from bench' -l keys -x -d 'metadata: keys; default 4'
complete -c paua -n '__fish_seen_subcommand_from bench' -l values -x -d 'metadata: values of a key; default 8'
complete -c paua -n '__fish_seen_subcommand_from bench' -l shape -xa 'repeated distinct names sparse updates' -d 'metadata: what values hold; default repeated'
complete -c paua -n '__fish_seen_subcommand_from bench' -l indexed -d 'filter: the field of ranges has a sorted index'
complete -c paua -n '__fish_seen_subcommand_from bench' -l keep -d 'keep the database'
