/* fuzz_manifest.c - descriptions of segments. */
#include "fuzz.h"

#include "codec/manifest.h"

#define MAGIC 0x47455350u /* "PSEG" */

static void try_bytes(const uint8_t *data, size_t size)
{
    struct manifest value;
    struct writer w = {0};

    if (manifest_decode(data, size, &value) != PAUA_OK) return;
    FUZZ_REQUIRE(manifest_encode(&value, &w) == PAUA_OK);
    fuzz_require_same(&w, data, size);
    writer_free(&w);
    manifest_free(&value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_record(data, size, MAGIC, try_bytes);
    return 0;
}
