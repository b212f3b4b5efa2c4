#include "golden/rows.h"

#include <stdio.h>

const struct golden golden_collections[] = {
    {"numbers", {PAUA_KEY_U64, PAUA_DOCUMENT_TEXT, 4, PAUA_COSINE, PAUA_FP32, 0}, false},
    {"strings", {PAUA_KEY_STRING, PAUA_DOCUMENT_BYTES, 3, PAUA_L2, PAUA_FP16, 0}, true},
    {"vectors", {PAUA_KEY_VECTOR, PAUA_DOCUMENT_TEXT, 2, PAUA_IP, PAUA_FP16, 0}, false},
    {"Paare", {PAUA_KEY_STRING, PAUA_DOCUMENT_NONE, 5, PAUA_COSINE, PAUA_FP32, 2}, false},
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
