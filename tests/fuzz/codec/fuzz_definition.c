/* fuzz_definition.c - definitions of indexes. */
#include "fuzz.h"

#include "codec/index_record.h"

#define MAGIC 0x58444950u /* "PIDX" */

static void try_bytes(const uint8_t *data, size_t size)
{
    struct index_definition value;
    struct writer w = {0};

    if (index_definition_decode(data, size, &value) != PAUA_OK) return;
    FUZZ_REQUIRE(index_definition_encode(&value, &w) == PAUA_OK);
    fuzz_require_same(&w, data, size);
    writer_free(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_record(data, size, MAGIC, try_bytes);
    return 0;
}
