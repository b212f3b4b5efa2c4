/* like.c - LIKE: % is any run of characters, _ one character, and a backslash (or what ESCAPE
 * says) makes the character after it stand for itself.
 *
 * Matching goes through pattern and text once, and back to the last % only: what an earlier % took
 * never has to be taken back, as the piece between two of them was found as early as it could be.
 * Cost: O(text x longest piece between two %) at worst, linear in practice; no recursion. */
#include "filter/like.h"

#include <string.h>

#include "base/utf8.h"

bool like_escape_valid(const paua_bytes *escape)
{
    return escape->nbytes == 0 || utf8_character(escape->data, escape->nbytes) == escape->nbytes;
}

static bool begins_with(const uint8_t *at, const uint8_t *end, const paua_bytes *piece)
{
    return piece->nbytes > 0 && (size_t)(end - at) >= piece->nbytes &&
           memcmp(at, piece->data, piece->nbytes) == 0;
}

static const paua_bytes backslash = {"\\", 1};

/* One step of a pattern: an escape is taken off, and the character's bytes, or the wildcard, are
 * put at `to`. Returns how many, 0 if nothing follows the escape. */
static size_t step(const uint8_t **at, const uint8_t *end, const paua_bytes *escape, uint8_t *to)
{
    size_t nbytes;

    if (begins_with(*at, end, escape)) {
        *at += escape->nbytes;
        if (*at == end) return 0;
    } else if (**at == '%' || **at == '_') {
        *to = (uint8_t)(**at == '%' ? LIKE_ANY : LIKE_ONE);
        ++*at;
        return 1;
    }
    nbytes = utf8_character(*at, (size_t)(end - *at));
    memcpy(to, *at, nbytes);
    *at += nbytes;
    return nbytes;
}

bool like_valid(const paua_bytes *pattern, const paua_bytes *escape)
{
    const uint8_t *at = pattern->data, *end = at + pattern->nbytes;
    uint8_t bytes[4];

    while (at < end)
        if (step(&at, end, escape != NULL ? escape : &backslash, bytes) == 0) return false;
    return true;
}

bool like_compile(const paua_bytes *pattern, const paua_bytes *escape, struct arena *arena,
                  paua_bytes *compiled)
{
    const uint8_t *at = pattern->data, *end = at + pattern->nbytes;
    uint8_t *bytes = arena_alloc(arena, pattern->nbytes);
    size_t used = 0;

    if (bytes == NULL) return false;
    while (at < end)
        used += step(&at, end, escape != NULL ? escape : &backslash, bytes + used);
    *compiled = (paua_bytes){bytes, used};
    return true;
}

/* Bytes of the character that begins here. */
static size_t character_nbytes(uint8_t first)
{
    return first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

bool like_matches(const paua_bytes *compiled, const uint8_t *data, size_t nbytes)
{
    const uint8_t *pattern = compiled->data, *any = NULL;
    const uint8_t *end = pattern + compiled->nbytes;
    size_t at = 0, any_at = 0;

    while (at < nbytes) {
        if (pattern < end && *pattern == LIKE_ANY) {
            any = ++pattern;
            any_at = at;
            if (any == end) return true;
        } else if (pattern < end && *pattern == LIKE_ONE) {
            at += character_nbytes(data[at]);
            pattern++;
        } else if (pattern < end && *pattern == data[at]) {
            at++;
            pattern++;
        } else if (any != NULL) {
            any_at += character_nbytes(data[any_at]);
            at = any_at;
            pattern = any;
        } else {
            return false;
        }
    }
    while (pattern < end && *pattern == LIKE_ANY)
        pattern++;
    return pattern == end;
}
