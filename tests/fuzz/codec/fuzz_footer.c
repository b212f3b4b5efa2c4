/* fuzz_footer.c - footers of data files. */
#include "fuzz.h"

#include "codec/filehead.h"

#define MAGIC 0x52544650u /* "PFTR" */

static void try_bytes(const uint8_t *data, size_t size)
{
    struct file_footer value;
    struct writer w = {0};

    if (file_footer_decode(data, size, &value) != PAUA_OK) return;
    FUZZ_REQUIRE(file_footer_encode(&value, &w) == PAUA_OK);
    fuzz_require_same(&w, data, size);
    writer_free(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_record(data, size, MAGIC, try_bytes);
    return 0;
}
