/* fuzz_patches.c - patches as the catalogue stores them. A field's number gives its type. */
#include "../codec/fuzz.h"

#include "column/patches.h"

#define MAGIC 0x54415050u /* "PPAT" */
#define ROWS 1000u

static uint32_t type_of(void *arg, uint32_t field)
{
    uint32_t type = PAUA_TYPE_BOOL + field % (PAUA_TYPE_MIXED - PAUA_TYPE_BOOL + 1);

    (void)arg;
    return field % 3 == 0 && type != PAUA_TYPE_MIXED ? type | PAUA_TYPE_ARRAY : type;
}

/* Reads all there is. */
static void walk(const struct patches *patches)
{
    for (uint32_t i = 0; patches_field(patches, i) != UINT32_MAX; i++) {
        uint32_t field = patches_field(patches, i), type = type_of(NULL, field);

        for (uint32_t j = 0; j < patches_field_count(patches, field); j++) {
            struct cell cell;
            paua_value value;

            patches_cell(patches, field, j, &cell);
            FUZZ_REQUIRE(patches_row(patches, field, j) < ROWS);
            value = value_of_cell(type, &cell);
            for (uint32_t k = 0; value.stored && k < value.count; k += 1 + value.count / 8)
                paua_value_item(&value, k);
        }
    }
}

static void try_bytes(const uint8_t *data, size_t size)
{
    struct patches *patches;
    struct writer w = {0};

    if (patches_decode(data, size, ROWS, type_of, NULL, &patches) != PAUA_OK) return;
    walk(patches);
    FUZZ_REQUIRE(patches_encode(patches, type_of, NULL, &w) == PAUA_OK);
    fuzz_require_same(&w, data, size);
    writer_free(&w);
    patches_unref(patches);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_record(data, size, MAGIC, try_bytes);
    return 0;
}
