#!/usr/bin/env bash
# field_index.sh - indexes of fields from outside: made, listed, used, dropped, refused and damaged.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh" "$@"

# finds FILTER COUNT
finds()
{
    want 0 "$paua" query docs "$1" --count
    out "$2"
}

all_found()
{
    finds 'year = 1979' 30
    finds 'year BETWEEN 1970 AND 1974' 150
    finds 'year < 1960 OR year IN (1999, 3000)' 330
    finds "lang = 'fr'" 1000
    finds "lang <> 'fr' AND year > 2040" 180
}

for ((i = 0; i < 3000; i++)); do
    case $((i % 3)) in 0) lang=en ;; 1) lang=fr ;; 2) lang=de ;; esac
    echo "{\"key\": $i, \"vector\": [$i, 1], \"year\": $((1950 + i % 100)), \"lang\": \"$lang\"}"
done >docs.jsonl
want 0 "$paua" create docs --dim 2 --index none --column year:int16 --column lang:string \
    --column 'tags:array of string'
want 0 "$paua" import docs docs.jsonl -q
want 0 "$paua" optimize docs -q
all_found

# Made and listed.
want 0 "$paua" index create docs by_year --field year --kind sorted
has '^by_year: 3000 rows, .*, [0-9.]* s$'
want 0 "$paua" index create docs by_lang --field lang --kind bitmap --json
has '^{"index":"by_lang","field":"lang","kind":"bitmap","rows":3000,"rows_due":0,"walk_bytes":0,'
has '"graph_bytes":0,"values_bytes":[1-9][0-9]*,"bytes_per_row":[0-9.]*,"seconds":'
want 0 "$paua" index create docs by_default --field year -q
out ''
want 0 "$paua" index ls docs
has '^index  *field  *kind  *rows  *due .*values'
has '^by_year  *year  *sorted  *3000  *0  *0 B  *0 B  *0 B  *0 B  *[0-9.]* KiB'
has '^by_lang  *lang  *bitmap  *3000  *0 '
has '^by_default  *year  *sorted '
[[ $(wc -l <out) == 4 ]] || die 'three indexes'
want 0 "$paua" index ls docs --json
[[ $(grep -c '"graph_bytes":0,"values_bytes":[1-9]' out) == 3 ]] || die 'three lines of JSON'
! grep -q degree out || die 'numbers of a graph'
want 0 "$paua" info docs --json
has '"indexes":\[{"index":"by_year","field":"year","kind":"sorted",'
want 0 "$paua" info docs
has 'index  *by_lang of lang, bitmap, covers 3000 rows, and 0 once optimized$'
all_found
want 0 "$paua" check -q

# Used by searches as a filter, not as something to walk.
want 0 "$paua" search docs '[0, 1]' -k 3 --where 'year = 1979' --metric l2 --json --no-document
[[ $(hit_keys) == '29 129 229' ]] || die "$(hit_keys)"
want 1 "$paua" search docs '[0, 1]' --index by_year
says by_year

# Refused.
want 1 "$paua" index create docs by_year --field lang
says by_year
want 1 "$paua" index create docs x --field nope --kind sorted
says nope
want 1 "$paua" index create docs x --field tags --kind bitmap
says 'arrays have no index'
want 1 "$paua" index create docs x --field year --kind vamana
says 'bitmap or sorted'
want 1 "$paua" index create docs x --field year --kind flat
says 'bitmap or sorted'
want 1 "$paua" index create docs x --field vector --kind bitmap
says 'vamana or flat'
want 1 "$paua" index create docs x --kind sorted
says 'vamana or flat'
want 2 "$paua" index create docs x --field year --kind hash
want 2 "$paua" index create docs x --field year --kind sorted --degree 32
want 0 "$paua" index ls docs
[[ $(wc -l <out) == 4 ]] || die 'a refused index is there'

# Kept through changes of rows and fields.
want 0 "$paua" put docs 0 --set year=1979
finds 'year = 1979' 31
want 0 "$paua" optimize docs -q
finds 'year = 1979' 31
want 0 "$paua" put docs 0 --set year=1950
want 0 "$paua" optimize docs -q
want 0 "$paua" field rename docs year published
want 0 "$paua" index ls docs --json
has '^{"index":"by_year","field":"published","kind":"sorted","rows":3000,"rows_due":0,'
want 0 "$paua" field retype docs published string
finds "published = '1979'" 30
want 0 "$paua" field retype docs published int32
want 0 "$paua" field rename docs published year
want 0 "$paua" optimize docs -q
want 0 "$paua" index ls docs --json
[[ $(grep -c '"rows":3000,"rows_due":0,' out) == 3 ]] || die 'not built anew'
all_found

# Copied, damaged, and dropped.
want 0 "$paua" backup "$work/copy"
want 0 "$paua" -d "$work/copy" check -q
PAUA_DB=$work/copy all_found
file=$(find copy -name '*.values' | sort | head -n 1)
truncate -s 100 "$file"
want 1 "$paua" -d "$work/copy" check
has "^fatal: ${file##*/}: "
want 0 "$paua" index drop docs by_default --json
out '{"index":"by_default","dropped":true}'
want 1 "$paua" index drop docs by_default
says by_default
want 0 "$paua" field drop docs lang
want 0 "$paua" index ls docs
[[ $(wc -l <out) == 2 ]] || die 'the index of a field that is gone'
want 0 "$paua" index drop docs by_year
[[ -z $(find db -name '*.values') ]] || die 'files are left'
finds 'year BETWEEN 1970 AND 1974' 150
want 0 "$paua" check -q
done_with
