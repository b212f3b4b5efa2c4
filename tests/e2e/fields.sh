#!/usr/bin/env bash
# fields.sh - fields and filters from outside: declared, imported, queried, changed, and refused.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh" "$@"

# keys of the last query --json, separated by spaces
keys() { sed 's/^{"key":\([^,}]*\).*/\1/' "$work/out" | tr '\n' ' ' | sed 's/ $//'; }
# finds FILTER KEYS: what a query finds, and that a count agrees
finds()
{
    want 0 "$paua" query films "$1" --json
    [[ $(keys) == "$2" ]] || die "$1 finds $(keys), wanted $2"
    want 0 "$paua" query films "$1" --count
    out "$(wc -w <<<"$2")"
}

cat >films.jsonl <<'END'
{"key": 1, "vector": [0.9, 0.1, 0], "document": "Alien", "year": 1979, "lang": "en", "rating": 8.5}
{"key": 2, "vector": [0.1, 0.9, 0.2], "document": "Amelie", "year": 2001, "lang": "fr"}
{"key": 3, "vector": [0.8, 0.2, 0.1], "document": "Solaris", "year": 1972, "lang": "ru"}
{"key": 4, "vector": [0.7, 0.1, 0.4], "document": "Moon", "year": 2009, "lang": "en"}
{"key": 5, "vector": [0.2, 0.8, 0.1], "document": "Metropolis", "fields": {"year": 1927}}
END
cat >more.jsonl <<'END'
{"key": 1, "tags": ["horror", "space"]}
{"key": 2, "rating": 8.3, "tags": ["comedy"]}
{"key": 3, "rating": 7.9, "tags": ["space"], "seen": "2020-05-01T22:15:00+02:00"}
{"key": 4, "rating": "NaN"}
{"key": 5, "lang": "de"}
END

# Declared, imported, shown.
want 0 "$paua" create films --dim 3 --column year:int16 --column lang:string \
    --column rating:float --column 'tags:array of string' --column seen:timestamp
want 0 "$paua" import films films.jsonl --json
has '"imported":5,"already_there":0,"refused":0,"fields_added":{},'
want 0 "$paua" import films films.jsonl --json
has '"imported":0,"already_there":5,"refused":0,'
want 0 "$paua" import films more.jsonl --upsert -q # fields alone
want 0 "$paua" field ls films
has '^tags    array of string  *3  *2  *0 B  *3'
want 0 "$paua" optimize films -q
want 0 "$paua" field ls films
has '^field   type  *distinct  nulls  '
has '^year    int16  *5  *0 '
has '^tags    array of string  *3  *2 '
want 0 "$paua" field ls films --json
has '^{"field":"year","type":"int16","distinct":5,"nulls":0,"bytes":[0-9]*,"patches":0,"chunks":{'
[[ $(wc -l <out) == 5 ]] || die 'five fields'
want 0 "$paua" info films
has '^  field  *seen, timestamp, 1 distinct, 4 null, '
want 0 "$paua" info films --json
has '"dynamic":false,"columns":\[{"field":"year",'
want 0 "$paua" get films 3
has '^field     year = 1972$'
has '^field     rating = 7.9$'
has '^field     tags = \["space"\]$'
has '^field     seen = 2020-05-01T20:15:00Z$'
want 0 "$paua" get films 3 --json --no-vector --fields rating,year
out '{"key":3,"document":"Solaris","fields":{"rating":7.9,"year":1972}}'

# Queries: filters, order, pages, counts.
finds 'year < 1980' '1 3 5'
finds "lang = 'en'" '1 4'
finds "lang <> 'en' AND year BETWEEN 1970 AND 2005" '2 3'
finds "lang IN ('de', 'ru') OR tags CONTAIN_ANY ('comedy')" '2 3 5'
finds "tags CONTAIN_ALL ('space', 'horror')" '1'
finds 'array_length(tags) = 1' '2 3'
finds 'tags IS NULL' '4 5'
finds "lang LIKE '_r'" '2'
finds "seen >= '2020-05-01'" '3'
finds 'NOT (rating < 8)' '1 2 4'
finds 'rating > 8.4' '1 4'
finds 'rating IS NOT NULL' '1 2 3 4'
finds 'year > 9999' ''
want 0 "$paua" query films --order-by year --json
[[ $(keys) == '5 3 1 2 4' ]] || die "by year: $(keys)"
want 0 "$paua" query films --order-by year --desc --json -n 2 --offset 1
[[ $(keys) == '2 1' ]] || die "a page: $(keys)"
want 0 "$paua" query films --order-by rating --json # NaN is above all numbers, null last
[[ $(keys) == '3 2 1 4 5' ]] || die "by rating: $(keys)"
want 0 "$paua" query films 'rating > 8.4' --fields lang,rating --no-document
out $'key  lang  rating\n1    en    8.5\n4    en    NaN'
want 0 "$paua" query films 'year < 1975' --json --vectors
has '^{"key":3,"vector":\[0.8,0.2,0.1\],"document":"Solaris","fields":{"year":1972,'
want 0 "$paua" query films --count --json
out '{"count":5}'

# Searches under a filter never come back short.
want 0 "$paua" search films '[1, 0, 0]' --where "lang = 'en'" --fields year,lang --no-document
has '^   1  1  .*  1979  en$'
has '^   2  4  .*  2009  en$'
[[ $(wc -l <out) == 3 ]] || die 'two of ten wanted'
want 0 "$paua" search films '[0, 1, 0]' -w 'year < 1980' --json --no-document
[[ $(hit_keys) == '5 3 1' ]] || die "filtered: $(hit_keys)"
want 0 "$paua" search films '[1, 0, 0]' --where "lang = 'en'" --explain
has '^plan: .*(2 of 5 rows match)'
want 0 "$paua" search films '[1, 0, 0]' --where "lang = 'en'" --explain --json --fields lang
has '"fields":{"lang":"en"}}'
has '^{"plan":{"rows":5,"matched":2,'
want 0 "$paua" search films '[1, 0, 0]' --group-by lang --fields lang --json --no-document
[[ $(hit_keys) == '1 3 5 2' ]] || die "grouped: $(hit_keys)"
want 0 "$paua" search films '[1, 0, 0]' --group-by lang --group-size 2 -k 2 --json --no-document
[[ $(hit_keys) == '1 3' ]] || die "grouped: $(hit_keys)"

# Export and import into a like collection, and into one that learns the fields: equal rows.
want 0 "$paua" export films
cp out films.exported.jsonl
want 0 "$paua" create same --dim 3 --column year:int16 --column lang:string \
    --column rating:float --column 'tags:array of string' --column seen:timestamp
want 0 "$paua" import same films.exported.jsonl
want 0 "$paua" export same
same films.exported.jsonl out
want 0 "$paua" create open --dim 3 --dynamic
want 0 "$paua" import open films.exported.jsonl
grep -q '^paua: field year added, int64$' err || die "$(cat err)"
grep -q '^paua: field rating added, double$' err || die "$(cat err)"
grep -q '^paua: field lang added, mixed$' err || die "$(cat err)"
want 0 "$paua" export open
same films.exported.jsonl out
want 0 "$paua" import open films.exported.jsonl --json
has '"already_there":5'
sed 's/1979/1980/' films.exported.jsonl >other.jsonl
want 1 "$paua" import open other.jsonl -q
says 'row 0: its key exists with another vector, document or field (--upsert replaces)'
want 0 "$paua" import open other.jsonl --upsert -q
want 0 "$paua" query open 'year = 1980' --count
out 1

# One row changes; bytes and strings side by side.
want 0 "$paua" put films 5 --set rating=8.25 --set 'tags=["silent", "city"]' --set seen=2021-01-01
want 0 "$paua" get films 5 --json --no-vector
has '^{"key":5,"document":"Metropolis","fields":{"year":1927,"lang":"de","rating":8.25,'
has ',"tags":\["silent","city"\],"seen":"2021-01-01T00:00:00Z"}}$'
want 0 "$paua" put films 5 --set tags=null --json
out '{"written":true}'
finds 'tags IS NULL' '4 5'
want 0 "$paua" put open 6 --vector '[1,1,1]' --set "new=text" --set 'count=7'
printf '%s\n' '{"key":7,"vector":[1,1,1],"new":{"base64":"AP8="}}' >bytes.jsonl
want 0 "$paua" import open bytes.jsonl -q
want 0 "$paua" query open 'new IS NOT NULL' --fields new,count --json --no-document
out $'{"key":6,"fields":{"new":"text","count":7}}\n{"key":7,"fields":{"new":{"base64":"AP8="}}}'
want 0 "$paua" query open "new = x'00ff'" --count
out 1

# CSV: types of whole columns, quotes, a byte order mark, CRLF, empty cells.
printf '\xef\xbb\xbfkey,vector,document,zip,n,mixed,size,note\r\n' >rows.csv
printf '1,"[1,0]","two\nlines",00501,1,1,5" disk,"a ""b"", c"\r\n' >>rows.csv
printf '2,"[0,1]",,10001,2.5,x,,\r\n\r\n3,"[1,1]","",10002,3,true,"",last\r\n' >>rows.csv
want 0 "$paua" create csv --dim 2
want 1 "$paua" import csv rows.csv -q
says 'row 0 at byte 46: there is no field "zip" ("paua field add" adds one, import --add-fields'
want 0 "$paua" import csv rows.csv --add-fields
grep -q '^paua: field n added, double$' err || die "$(cat err)"
grep -q '^paua: field mixed added, string$' err || die "$(cat err)"
has '^3 rows imported'
want 0 "$paua" query csv --json
has '^{"key":1,"document":"two\\nlines","fields":{"zip":"00501","n":1.0,"mixed":"1",'
has ',"size":"5\\" disk","note":"a \\"b\\", c"}}$'
want 0 "$paua" query csv 'n > 1' --json
out '{"key":2,"fields":{"zip":"10001","n":2.5,"mixed":"x"}}
{"key":3,"document":"","fields":{"zip":"10002","n":3.0,"mixed":"true","size":"","note":"last"}}'
want 0 "$paua" import csv rows.csv --json
has '"already_there":3,"refused":0'

# Nothing of a file with a bad row is imported; a message names file, row, byte, field and why.
bad()
{
    printf '%s\n' '{"key":80,"vector":[1,2,3]}' "$1" >bad.jsonl
    want 1 "$paua" import films bad.jsonl -q
    says "bad.jsonl: row 1 at byte 28: $2.*; nothing of this file was imported"
    want 0 "$paua" query films --count
    out 5
}
bad '{"key":81,"vector":[1,2,3],"nope":1}' 'there is no field "nope"'
bad '{"key":81,"vector":[1,2,3],"year":32768}' 'field "year": 32768 is no int16'
bad '{"key":81,"vector":[1,2,3],"year":1999.5}' 'field "year": 1999.5 is no int16'
bad '{"key":81,"vector":[1,2,3],"year":"1999"}' 'field "year": expected int16, not a string'
bad '{"key":81,"vector":[1,2,3],"rating":1e300}' 'field "rating": 1e+300 is no float'
bad '{"key":81,"vector":[1,2,3],"lang":7}' 'field "lang": expected string, not a value of type'
bad '{"key":81,"vector":[1,2,3],"lang":["en"]}' 'field "lang": expected string, not an array'
bad '{"key":81,"vector":[1,2,3],"tags":["a",7]}' 'field "tags": element 1: expected string'
bad '{"key":81,"vector":[1,2,3],"seen":"soon"}' "field \"seen\": 'soon' is no timestamp"
bad '{"key":81,"vector":[1,2,3],"fields":7}' '"fields" is no object'
bad $'{"key":81,"vector":[1,2,3],"lang":"\xff"}' 'no JSON, unable to decode byte 0xff'
printf 'key,vector,lang\n81,"[1,2,3]",\xff\n' >bad.csv
want 1 "$paua" import films bad.csv -q
says 'bad.csv: row 0 at byte 16: field "lang": the string is no UTF-8 at its byte 0'
printf 'key,vector,year\n81,"[1,2,3]",1999\n82,"[1,2,3]",MCM\n' >bad.csv
want 1 "$paua" import films bad.csv -q
says 'bad.csv: row 1 at byte 34: field "year": "MCM" is no int16; nothing'
want 1 "$paua" import films bad.csv --keep-going -q
want 0 "$paua" get films 81 --no-vector
want 1 "$paua" get films 82
want 0 "$paua" rm films 81
printf '{"key":1,"vector":[1,1],"e":[]}\n' >empty.jsonl
want 1 "$paua" import csv empty.jsonl --add-fields -q
says 'empty.jsonl: field "e": its arrays are all empty and have no type, declare it first'

# Filters and fields that are wrong: 2 for what cannot be parsed, 1 for what the fields refuse.
want 2 "$paua" query films 'year <'
says 'filter: line 1, column 7: unexpected end; expected a value'
want 2 "$paua" search films '[1,0,0]' --where "lang = 'en"
says 'filter: line 1, column 8: what is quoted by '
want 2 "$paua" rm films --where ')'
says 'filter: line 1, column 1: '
want 1 "$paua" query films $'year = 1979\n  AND nope = 2'
says 'filter: line 2, column 7: there is no field "nope"'
want 1 "$paua" rm films --where "nope = 'x'"
says 'filter: line 1, column 1: there is no field "nope"'
want 1 "$paua" search films '[1,0,0]' --where "year = 'x'"
says "filter: line 1, column 8: field \"year\" is of type int16; 'x' is a string"
want 1 "$paua" query films --order-by tags
says 'field "tags" holds arrays, which have no order'
want 1 "$paua" query films --order-by nope
says 'no field "nope"'
want 1 "$paua" query films --fields year,nope
says 'no field "nope"'
want 1 "$paua" get films 1 --fields nope
says 'no field "nope"'
want 1 "$paua" search films '[1,0,0]' --fields nope
says 'no field "nope"'
out ''
want 1 "$paua" search films '[1,0,0]' --group-by nope
says 'no field "nope" to group by'
want 2 "$paua" search films '[1,0,0]' --group-size 2
says 'it needs --group-by FIELD'
want 2 "$paua" query films --limit 0
want 1 "$paua" put films 1 --set nope=1
says 'option --set: there is no field "nope"'
want 1 "$paua" put films 1 --set year=soon
says 'option --set: field "year": "soon" is no int16'
want 1 "$paua" put films 1 --set year=99999
says 'field "year": 99999 cannot be a value of type int16'
want 2 "$paua" put films 1 --set year
says '"year" is not FIELD=VALUE'
want 2 "$paua" create no --dim 3 --column year:int15
says '"year:int15" is not NAME:TYPE'
want 1 "$paua" create no --dim 3 --column a:bool --column a:bool
says 'there is a field "a" already'

# Fields come, go and change while rows stay.
want 0 "$paua" field add films stars uint8
want 0 "$paua" put films 1 --set stars=5
want 0 "$paua" field rename films stars score --json
out '{"field":"stars","action":"rename"}'
want 0 "$paua" field retype films score string
finds "score = '5'" '1'
want 0 "$paua" field retype films rating string
finds "rating IN ('8.5', 'NaN')" '1 4'
want 1 "$paua" field retype films rating int8
says 'is no int8; change it first'
want 0 "$paua" field retype films rating double
finds 'rating = 8.5' '1'
want 0 "$paua" field drop films score
want 1 "$paua" query films "score = '5'"
want 1 "$paua" field add films year int8
says 'there is a field "year" already'
want 1 "$paua" field rename films nope other
says 'has no field "nope"'
want 1 "$paua" field drop films score
want 2 "$paua" field add films x int7
says 'unknown type "int7"'
want 2 "$paua" field zap films
says 'use ls, add, rename, retype or drop'
want 2 "$paua" field add films
says 'too few arguments, usage: paua field add COLLECTION FIELD TYPE'

# Deleted by filter; what is left survives optimize, check and a copy.
want 0 "$paua" rm films --where 'year < 1950'
out '1 row deleted'
want 0 "$paua" rm films --where 'year < 1950' --json
out '{"deleted":0}'
want 0 "$paua" rm films --where "lang = 'ru' OR lang = 'fr'"
out '2 rows deleted'
want 2 "$paua" rm films 1 --where 'year < 1950'
says 'rm: give one of keys, --keys FILE, --where FILTER'
want 0 "$paua" query films --json
cp out before
want 0 "$paua" optimize films -q
want 0 "$paua" query films --json
same before out
want 0 "$paua" check -q
want 0 "$paua" backup "$work/copy"
want 0 "$paua" -d "$work/copy" query films --json
same before out

# Where the vector is the key.
want 0 "$paua" create spots --key vector --dim 2 --column a:int8
printf 'vector,a,document\n"[1,2]",5,x\n"[2,1]",,y\n' >spots.csv
want 0 "$paua" import spots spots.csv -q
want 0 "$paua" put spots --vector '[2,1]' --set a=7
want 0 "$paua" query spots 'a > 5'
out $'key    a  document\n[2,1]  7  y'
want 0 "$paua" query spots 'a > 5' --json
out '{"vector":[2,1],"document":"y","fields":{"a":7}}'
want 0 "$paua" rm spots --where 'a = 5'
out '1 row deleted'

# A stream is read once: types are those of its first batch.
stream() { printf '%s\n' "$1" "$2" | "$paua" import open --format jsonl; }
want 1 stream '{"key":20,"vector":[1,1,1],"z":1}' '{"key":21,"vector":[1,1,1],"z":"a"}'
says 'row 1 at byte 34: field "z": string, where rows before it have int64; 0 rows were imported'
want 0 stream '{"key":20,"vector":[1,1,1],"z":1}' '{"key":21,"vector":[1,1,1],"z":"NaN"}'
grep -q '^paua: field z added, double$' err || die "$(cat err)"
want 0 "$paua" query open --order-by z --fields z --json --no-document -n 2
out $'{"key":20,"fields":{"z":1.0}}\n{"key":21,"fields":{"z":"NaN"}}'

# Importing again: the same is already there, the nearest other value is not the same.
echo '{"key":1,"vector":[1,2],"n":9007199254740993,"d":1.00000000001,"f":[0.1]}' >near.jsonl
want 0 "$paua" create near --dim 2 --column n:int64 --column d:double --column 'f:array of float'
want 0 "$paua" import near near.jsonl -q
want 0 "$paua" import near near.jsonl --json
has '"imported":0,"already_there":1,"refused":0'
for change in s/740993/740992/ s/1.00000000001/1/ 's/\[0.1\]/[0.1,0.1]/' 's/\[0[.]1/[0.2/'; do
    sed "$change" near.jsonl >other.jsonl
    want 1 "$paua" import near other.jsonl -q
    says 'its key exists with another vector, document or field'
done

# Long and odd values.
{
    printf '{"key":1,"vector":[1,2],"s":"%*s","e":"","u":"\\u0000\\ud83d\\ude00"}\n' 100000 x
    printf '{"key":2,"vector":[1,2],"s":"same","a b":1,"NOT":true}\n'
} >odd.jsonl
want 0 "$paua" create odd --dim 2 --dynamic
want 0 "$paua" import odd odd.jsonl -q
want 0 "$paua" optimize odd -q
want 0 "$paua" export odd
cp out odd.exported.jsonl
want 0 "$paua" create odd2 --dim 2 --dynamic
want 0 "$paua" import odd2 odd.exported.jsonl -q
want 0 "$paua" export odd2
same odd.exported.jsonl out
want 0 "$paua" query odd '"a b" = 1 AND "NOT"' --json --fields s
out '{"key":2,"fields":{"s":"same"}}'
done_with
