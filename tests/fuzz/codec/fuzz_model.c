/* fuzz_model.c - models of codes. */
#include "fuzz.h"

#include "codec/model_record.h"

#define MAGIC 0x4C444D50u /* "PMDL" */

static void try_bytes(const uint8_t *data, size_t size)
{
    struct model_record value;
    struct writer w = {0};

    if (model_record_decode(data, size, &value) != PAUA_OK) return;
    FUZZ_REQUIRE(model_record_encode(&value, &w) == PAUA_OK);
    fuzz_require_same(&w, data, size);
    model_record_free(&value);
    writer_free(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_record(data, size, MAGIC, try_bytes);
    return 0;
}
