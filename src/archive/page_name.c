/* page_name.c - the block of page_name.h, strictly. */
#include "archive/page_name.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "codec/schema.h"
#include "history/frame.h"

#define MAGIC "PHNM"
#define VERSION 1u
#define NAME_AT 8u
#define HASH_AT (PAGE_NAME_NBYTES - 8u)

_Static_assert(NAME_AT + PAUA_NAME_NBYTES_MAX < HASH_AT, "a zero byte follows every name");

void page_name_encode(const char *name, uint8_t bytes[PAGE_NAME_NBYTES])
{
    assert(schema_name_valid(name));
    memset(bytes, 0, PAGE_NAME_NBYTES);
    memcpy(bytes, MAGIC, 4);
    bytes[4] = VERSION;
    bytes[5] = (uint8_t)strlen(name);
    memcpy(bytes + NAME_AT, name, strlen(name));
    bytes_put(bytes + HASH_AT, frame_hash(bytes, HASH_AT), 8);
}

paua_status page_name_decode(const uint8_t bytes[PAGE_NAME_NBYTES],
                             char name[PAUA_NAME_NBYTES_MAX + 1])
{
    const char *found = (const char *)bytes + NAME_AT;

    if (memcmp(bytes, MAGIC, 4) != 0) return PAUA_ECORRUPT;
    if (bytes_get(bytes + HASH_AT, 8) != frame_hash(bytes, HASH_AT)) return PAUA_ECORRUPT;
    if (bytes[4] > VERSION) return PAUA_EVERSION;
    if (bytes[4] < VERSION || bytes[6] != 0 || bytes[7] != 0) return PAUA_ECORRUPT;
    for (size_t at = NAME_AT + bytes[5]; at < HASH_AT; at++)
        if (bytes[at] != 0) return PAUA_ECORRUPT;
    if (strlen(found) != bytes[5] || !schema_name_valid(found)) return PAUA_ECORRUPT;
    memcpy(name, found, bytes[5] + 1u);
    return PAUA_OK;
}
