/* fuzz_rowset.c - sets of rows, below a limit as of a large segment and below a small one. */
#include "fuzz.h"

#include "codec/rowset.h"

#define MAGIC 0x574F5250u /* "PROW" */

#define LARGE (UINT64_C(1) << 20)

/* Marking takes and refuses the same, and sets as many bits. */
static void try_marking(const uint8_t *data, size_t size, uint64_t limit, bool valid,
                        uint64_t cardinality)
{
    static uint64_t words[LARGE / 64];
    uint64_t members = 0, marked = 0;

    memset(words, 0, sizeof words);
    FUZZ_REQUIRE((rowset_mark(data, size, limit, words, &members) == PAUA_OK) == valid);
    for (uint64_t word = 0; valid && word < LARGE / 64; word++)
        marked += (uint64_t)__builtin_popcountll(words[word]);
    FUZZ_REQUIRE(marked == cardinality && members == cardinality);
}

static void try_limit(const uint8_t *data, size_t size, uint64_t limit)
{
    roaring_bitmap_t *value;
    struct writer w = {0};

    if (rowset_decode(data, size, limit, &value) != PAUA_OK) {
        try_marking(data, size, limit, false, 0);
        return;
    }
    try_marking(data, size, limit, true, roaring_bitmap_get_cardinality(value));
    FUZZ_REQUIRE(roaring_bitmap_is_empty(value) || roaring_bitmap_maximum(value) < limit);
    FUZZ_REQUIRE(rowset_encode(value, &w) == PAUA_OK);
    fuzz_require_same(&w, data, size);
    writer_free(&w);
    roaring_bitmap_free(value);
}

static void try_bytes(const uint8_t *data, size_t size)
{
    try_limit(data, size, LARGE);
    try_limit(data, size, 1000);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_record(data, size, MAGIC, try_bytes);
    return 0;
}
