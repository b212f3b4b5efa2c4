/* hyperlink.c - OSC 8 ; parameters ; URI. Parameters are KEY=VALUE, between colons; only id is
 * known. The URI is all the rest, semicolons included.
 *
 * Source    Egmont Koblinger, "Hyperlinks (a.k.a. HTML-like anchors) in terminal emulators". */
#include "vt/hyperlink.h"

#include <string.h>

#define PREFIX "8;"
#define PREFIX_NBYTES (sizeof PREFIX - 1)

/* The parser lets no C0 and C1 controls into a string, but DEL. */
static bool fits(const char *text, size_t nbytes)
{
    return nbytes <= PAUA_HISTORY_LINK_NBYTES_MAX && memchr(text, 0x7F, nbytes) == NULL;
}

/* The value of id among parameters that end at `end`; none: of no length. */
static const char *id_value(const char *params, const char *end, size_t *nbytes)
{
    while (params < end) {
        const char *colon = memchr(params, ':', (size_t)(end - params));
        const char *stop = colon == NULL ? end : colon;

        if (stop - params >= 3 && memcmp(params, "id=", 3) == 0) {
            *nbytes = (size_t)(stop - params - 3);
            return params + 3;
        }
        params = colon == NULL ? end : colon + 1;
    }
    *nbytes = 0;
    return end;
}

bool hyperlink_parse(const char *osc, size_t nbytes, bool cut, paua_history_link *link)
{
    const char *end = osc + nbytes, *params, *id, *uri;
    size_t id_nbytes;

    if (nbytes < PREFIX_NBYTES || memcmp(osc, PREFIX, PREFIX_NBYTES) != 0) return false;
    if (cut) {
        *link = (paua_history_link){0};
        return true;
    }
    params = osc + PREFIX_NBYTES;
    uri = memchr(params, ';', (size_t)(end - params));
    if (uri == NULL) return false;
    id = id_value(params, uri, &id_nbytes);
    uri++;
    *link = (paua_history_link){0};
    if (uri == end || !fits(uri, (size_t)(end - uri)) || !fits(id, id_nbytes)) return true;
    *link = (paua_history_link){.uri = uri,
                                .id = id,
                                .uri_nbytes = (uint32_t)(end - uri),
                                .id_nbytes = (uint32_t)id_nbytes};
    return true;
}
