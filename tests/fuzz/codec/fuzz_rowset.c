/* fuzz_rowset.c - sets of rows, below a limit as of a large segment and below a small one. */
#include "fuzz.h"

#include "codec/rowset.h"

#define MAGIC 0x574F5250u /* "PROW" */

static void try_limit(const uint8_t *data, size_t size, uint64_t limit)
{
    roaring_bitmap_t *value;
    struct writer w = {0};

    if (rowset_decode(data, size, limit, &value) != PAUA_OK) return;
    FUZZ_REQUIRE(roaring_bitmap_is_empty(value) || roaring_bitmap_maximum(value) < limit);
    FUZZ_REQUIRE(rowset_encode(value, &w) == PAUA_OK);
    fuzz_require_same(&w, data, size);
    writer_free(&w);
    roaring_bitmap_free(value);
}

static void try_bytes(const uint8_t *data, size_t size)
{
    try_limit(data, size, UINT64_C(1) << 20);
    try_limit(data, size, 1000);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_record(data, size, MAGIC, try_bytes);
    return 0;
}
