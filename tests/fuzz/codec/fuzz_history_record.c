/* fuzz_history_record.c - records of durable histories: their state, groups of pages, tails. */
#include "fuzz.h"

#include "codec/history_record.h"

#define HISTORY_MAGIC 0x53494850u /* "PHIS" */
#define GROUP_MAGIC 0x52474850u   /* "PHGR" */
#define TAIL_MAGIC 0x52544850u    /* "PHTR" */

static void try_history(const uint8_t *data, size_t size)
{
    struct history_record value;
    struct writer w = {0};

    if (history_record_decode(data, size, &value) != PAUA_OK) return;
    FUZZ_REQUIRE(history_record_encode(&value, &w) == PAUA_OK);
    fuzz_require_same(&w, data, size);
    writer_free(&w);
}

static void try_group(const uint8_t *data, size_t size)
{
    struct history_group value;
    struct writer w = {0};

    if (history_group_decode(data, size, &value) != PAUA_OK) return;
    FUZZ_REQUIRE(history_group_encode(&value, &w) == PAUA_OK);
    fuzz_require_same(&w, data, size);
    writer_free(&w);
}

static void try_tail(const uint8_t *data, size_t size)
{
    struct history_tail value;
    struct writer w = {0};

    if (history_tail_decode(data, size, &value) != PAUA_OK) return;
    FUZZ_REQUIRE(history_tail_encode(&value, &w) == PAUA_OK);
    fuzz_require_same(&w, data, size);
    writer_free(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_record(data, size, HISTORY_MAGIC, try_history);
    fuzz_record(data, size, GROUP_MAGIC, try_group);
    fuzz_record(data, size, TAIL_MAGIC, try_tail);
    return 0;
}
