#include "golden/rows.h"

#include <stdio.h>

const struct golden golden_collections[] = {
    {.name = "numbers",
     .schema = {.key_kind = PAUA_KEY_U64,
                .document = PAUA_DOCUMENT_TEXT,
                .dim = 4,
                .metric = PAUA_COSINE,
                .precision = PAUA_FP32}},
    {.name = "strings",
     .schema = {.key_kind = PAUA_KEY_STRING,
                .document = PAUA_DOCUMENT_BYTES,
                .dim = 3,
                .metric = PAUA_L2,
                .precision = PAUA_FP16},
     .gaps = true},
    {.name = "vectors",
     .schema = {.key_kind = PAUA_KEY_VECTOR,
                .document = PAUA_DOCUMENT_TEXT,
                .dim = 2,
                .metric = PAUA_IP,
                .precision = PAUA_FP16}},
    {.name = "Paare",
     .schema = {.key_kind = PAUA_KEY_STRING,
                .document = PAUA_DOCUMENT_NONE,
                .dim = 5,
                .metric = PAUA_COSINE,
                .precision = PAUA_FP32,
                .dim2 = 2}},
};
const size_t golden_count = sizeof golden_collections / sizeof golden_collections[0];

bool golden_live(const struct golden *g, uint32_t row)
{
    uint32_t digit = row % 10;

    if (row == 2 || row == 45) return false;
    if (row >= 30) return true;
    return digit != 3 && !(g->gaps && (digit == 1 || digit == 6 || digit == 8));
}

uint32_t golden_version(uint32_t row) { return (row < 30 && row % 10 == 5) || row == 46; }

void golden_vector(const struct golden *g, uint32_t field, uint32_t row, uint32_t version,
                   float *vector)
{
    uint32_t dim = field == 0 ? g->schema.dim : g->schema.dim2;

    if (g->schema.key_kind == PAUA_KEY_VECTOR) version = 0; /* its key stays what it is */
    for (uint32_t i = 0; i < dim; i++)
        vector[i] = (float)((row * (i + 1) + version * 5 + field * 9) % 64) / 8.0f - 4.0f;
}

paua_bytes golden_document(const struct golden *g, uint32_t row, uint32_t version, char *room)
{
    int nbytes;

    if (g->schema.document == PAUA_DOCUMENT_NONE || row % 5 == 1) return (paua_bytes){0};
    if (row % 5 == 2) return (paua_bytes){"", 0};
    nbytes = snprintf(room, GOLDEN_DOCUMENT_MAX, "row %u, version %u: Muschel%*s", row, version,
                      (int)(row * 4), "\xC3\xA9");
    if (g->schema.document == PAUA_DOCUMENT_BYTES) room[0] = '\xFF';
    return (paua_bytes){room, (size_t)nbytes};
}

paua_keys golden_key(const struct golden *g, uint32_t row)
{
    static uint64_t number;
    static paua_bytes string;
    static char text[1025];
    static float vector[GOLDEN_DIM_MAX];

    if (g->schema.key_kind == PAUA_KEY_VECTOR) {
        golden_vector(g, 0, row, 0, vector);
        return (paua_keys){.count = 1, .vectors = vector};
    }
    if (g->schema.key_kind == PAUA_KEY_U64) {
        number = row % 2 == 0 ? row : UINT64_MAX - row;
        return (paua_keys){.count = 1, .u64 = &number};
    }
    /* one key of 1,024 bytes, the others short */
    string.nbytes =
        (size_t)snprintf(text, sizeof text, "日本/%u%*s", row, row == 7 ? 1016 : 1, "x");
    string.data = text;
    return (paua_keys){.count = 1, .strings = &string};
}

#define GRAPH                                                                                      \
    {                                                                                              \
        .kind = PAUA_INDEX_VAMANA, .degree = 6, .list = 12, .occlusion = 24, .alpha = 1.2F         \
    }

const paua_index_params golden_index = GRAPH;

const paua_vector_field golden_indexed_fields[2] = {
    {.name = "kept", .dim = GOLDEN_INDEXED_DIM, .metric = PAUA_L2, .index = GRAPH},
    {.name = "coded",
     .dim = GOLDEN_INDEXED_DIM,
     .metric = PAUA_L2,
     .precision = PAUA_INT8,
     .originals = PAUA_ORIGINALS_NONE,
     .index = GRAPH},
};

void golden_indexed_vector(uint32_t field, uint32_t row, float *vector)
{
    uint64_t random = (uint64_t)row << 8 | field;

    test_random_floats(&random, vector, GOLDEN_INDEXED_DIM);
    for (uint32_t i = 0; i < GOLDEN_INDEXED_DIM; i++)
        vector[i] *= 4;
}
