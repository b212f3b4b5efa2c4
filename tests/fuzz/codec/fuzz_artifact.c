/* fuzz_artifact.c - which file holds the codes or the graph of a segment. */
#include "fuzz.h"

#include "codec/index_record.h"

#define MAGIC 0x54524150u /* "PART" */

static void try_bytes(const uint8_t *data, size_t size)
{
    struct artifact value;
    struct writer w = {0};

    if (artifact_decode(data, size, &value) != PAUA_OK) return;
    FUZZ_REQUIRE(artifact_encode(&value, &w) == PAUA_OK);
    fuzz_require_same(&w, data, size);
    writer_free(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_record(data, size, MAGIC, try_bytes);
    return 0;
}
