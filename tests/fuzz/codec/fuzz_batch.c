/* fuzz_batch.c - committed writes; an accepted one is read through to its end. */
#include "fuzz.h"

#include "base/utf8.h"
#include "codec/batch.h"

#define MAGIC 0x54414250u /* "PBAT" */

static void read_through(const struct batch *batch)
{
    uint64_t documents = 0;
    size_t at = 0;

    for (uint32_t row = 0; batch->key_kind != PAUA_KEY_VECTOR && row < batch->row_count; row++) {
        paua_key key = batch_next_key(batch, &at);

        if (batch->key_kind != PAUA_KEY_STRING) continue;
        FUZZ_REQUIRE(key.bytes.nbytes >= 1 && key.bytes.nbytes <= PAUA_KEY_NBYTES_MAX);
        FUZZ_REQUIRE(utf8_valid_prefix(key.bytes.data, key.bytes.nbytes) == key.bytes.nbytes);
    }
    FUZZ_REQUIRE(at == batch->keys_nbytes);
    for (uint32_t row = 0; batch->has_documents && row < batch->row_count; row++) {
        uint32_t nbytes = batch_document_length(batch, row);

        if (nbytes != BATCH_NO_DOCUMENT) documents += nbytes;
    }
    FUZZ_REQUIRE(documents == batch->heap.nbytes);
    for (uint32_t i = 1; i < batch->delete_count; i++)
        FUZZ_REQUIRE(batch_delete(batch, i) > batch_delete(batch, i - 1));
}

static void try_bytes(const uint8_t *data, size_t size)
{
    struct batch value;
    struct writer w = {0};

    if (batch_decode(data, size, &value) != PAUA_OK) return;
    read_through(&value);
    FUZZ_REQUIRE(batch_encode(&value, &w) == PAUA_OK);
    fuzz_require_same(&w, data, size);
    writer_free(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_record(data, size, MAGIC, try_bytes);
    return 0;
}
