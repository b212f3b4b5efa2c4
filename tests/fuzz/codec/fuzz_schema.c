/* fuzz_schema.c - descriptions of collections. */
#include "fuzz.h"

#include "codec/schema.h"

#define MAGIC 0x48435350u /* "PSCH" */

static void try_bytes(const uint8_t *data, size_t size)
{
    struct schema value;
    struct writer w = {0};

    if (schema_decode(data, size, &value) != PAUA_OK) return;
    FUZZ_REQUIRE(schema_encode(&value, &w) == PAUA_OK);
    fuzz_require_same(&w, data, size);
    writer_free(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_record(data, size, MAGIC, try_bytes);
    return 0;
}
