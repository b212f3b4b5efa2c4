#!/usr/bin/env bash
# keys.sh - any UTF-8 key from 1 to 1,024 bytes, and documents of any size.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh" "$@"

long() { head -c "$1" /dev/zero | tr '\0' k; }

want 0 "$paua" create w --dim 1 --key string
for key in 'a/b:c d' 日本語 '👩‍👩‍👧' '-' "$(long 1023)" "$(long 1024)"; do
    want 0 "$paua" put w --vector '[1]' --document "$key" -- "$key"
    want 0 "$paua" get w --no-vector --json -- "$key"
    [[ $(cat out) == "{\"key\":\"$key\",\"document\":\"$key\"}" ]] || die "$key: $(cat out)"
done
want 2 "$paua" put w "$(long 1025)" --vector '[1]'
says 'the key has 1025 bytes, expected 1 to 1024'
want 2 "$paua" put w '' --vector '[1]'
says 'the key has 0 bytes'
want 2 "$paua" put w $'ab\xff' --vector '[1]'
says 'the key is no UTF-8 at its byte 2'
want 2 "$paua" get w $'\xc0\x80'
printf '{"key":"a\\u0000b","vector":[1]}\n' >nul.jsonl
want 0 "$paua" import w nul.jsonl
"$paua" export w | grep -q '"key":"a\\u0000b"' || die 'a NUL in a key is lost'
[[ $(rows w) == 7 ]] || die 'seven rows'

want 0 "$paua" create n --dim 1
for key in 0 9223372036854775807 9223372036854775808 18446744073709551615; do
    want 0 "$paua" put n $key --vector '[1]'
    want 0 "$paua" get n $key
    has "^key       $key$"
done
for key in 18446744073709551616 1x ' 1' 1.0 ''; do
    want 2 "$paua" put n --vector '[1]' -- "$key"
done

# Documents: empty, and around the sizes where storage changes its mind.
for size in 0 1 65535 65536 4194303 4194304 67108864; do
    long $size >doc
    want 0 "$paua" put n 5 --vector '[1]' --document @doc
    want 0 "$paua" export n --format fvecs --output x.fvecs --documents x.txt --keys x.keys
    awk '{print NR, $0}' x.keys | grep -q ' 5$' || die 'key 5'
    sed -n "$(grep -nx 5 x.keys | cut -d: -f1)p" x.txt | tr -d '\n' | cmp - doc ||
        die "document of $size bytes"
done
long 67108865 >doc
want 1 "$paua" put n 5 --vector '[1]' --document @doc
want 1 "$paua" put n 6 --vector '[1]' --document $'\xff'
want 0 "$paua" get n 5 --no-vector --json
[[ $(wc -c <out) == $((67108864 + 24)) ]] || die "$(wc -c <out) bytes"

want 1 "$paua" create '' --dim 1
want 1 "$paua" create $'a\nb' --dim 1
[[ $(wc -l <err) == 1 ]] || die 'a newline in a name breaks the line'
want 0 "$paua" create "$(long 255)" --dim 1
want 1 "$paua" create "$(long 256)" --dim 1
want 0 "$paua" check -q
done_with
