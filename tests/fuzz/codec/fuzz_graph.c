/* fuzz_graph.c - descriptions of graphs. */
#include "fuzz.h"

#include "codec/graph_record.h"

#define MAGIC 0x46524750u /* "PGRF" */

static void try_bytes(const uint8_t *data, size_t size)
{
    struct graph_record value;
    struct writer w = {0};

    if (graph_record_decode(data, size, &value) != PAUA_OK) return;
    FUZZ_REQUIRE(graph_record_encode(&value, &w) == PAUA_OK);
    fuzz_require_same(&w, data, size);
    writer_free(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_record(data, size, MAGIC, try_bytes);
    return 0;
}
