/* fuzz_head.c - states of collections. */
#include "fuzz.h"

#include "codec/head.h"

#define MAGIC 0x44454850u /* "PHED" */

static void try_bytes(const uint8_t *data, size_t size)
{
    struct head value;
    struct writer w = {0};

    if (head_decode(data, size, &value) != PAUA_OK) return;
    FUZZ_REQUIRE(head_encode(&value, &w) == PAUA_OK);
    fuzz_require_same(&w, data, size);
    writer_free(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_record(data, size, MAGIC, try_bytes);
    return 0;
}
