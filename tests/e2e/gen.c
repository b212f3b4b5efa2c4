/* gen.c - makes small files of vectors for the end-to-end tests.
 *
 *   gen FORMAT ROWS DIM SEED > FILE    FORMAT: fvecs, bvecs, f2, f4, f8 (npy), f4be, f4fortran
 *   gen truth ROWS QUERIES DIM K       ivecs: the nearest rows (seed 1) to queries (seed 2), cosine
 *
 * Component i of row r is a whole number from 0 to 127 that all formats hold exactly. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t component(uint64_t row, uint64_t i, uint64_t seed)
{
    uint64_t x = (seed << 48) ^ (row << 20) ^ i;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)(x >> 57);
}

static void put(const void *bytes, size_t nbytes)
{
    if (fwrite(bytes, 1, nbytes, stdout) != nbytes) exit(1);
}

static uint16_t half_of(uint32_t value)
{
    uint32_t exponent = 31u - (uint32_t)__builtin_clz(value | 1);

    if (value == 0) return 0;
    return (uint16_t)((exponent + 15) << 10 | ((value << (10 - exponent)) & 0x3ff));
}

static void put_component(const char *format, uint32_t value)
{
    float f4 = (float)value;
    double f8 = value;
    uint16_t f2 = half_of(value);
    uint8_t u1 = (uint8_t)value;
    uint32_t bits;

    if (strcmp(format, "f2") == 0)
        put(&f2, sizeof f2);
    else if (strcmp(format, "f8") == 0)
        put(&f8, sizeof f8);
    else if (strcmp(format, "bvecs") == 0)
        put(&u1, sizeof u1);
    else if (strcmp(format, "f4be") == 0) {
        memcpy(&bits, &f4, sizeof bits);
        bits = __builtin_bswap32(bits);
        put(&bits, sizeof bits);
    } else
        put(&f4, sizeof f4);
}

static void put_npy_header(const char *format, unsigned long rows, unsigned long dim)
{
    char header[128];
    int length = snprintf(header, sizeof header,
                          "{'descr': '%c%.2s', 'fortran_order': %s, 'shape': (%lu, %lu), }",
                          strcmp(format, "f4be") == 0 ? '>' : '<', format,
                          strcmp(format, "f4fortran") == 0 ? "True" : "False", rows, dim);

    put("\x93NUMPY\x01\x00\x76\x00", 10);
    printf("%-117s\n", header);
    if (length < 0) exit(1);
}

static double distance(uint64_t row, uint64_t query, uint64_t dim)
{
    double dot = 0, a = 0, b = 0;

    for (uint64_t i = 0; i < dim; i++) {
        double x = component(row, i, 1), y = component(query, i, 2);
        dot += x * y;
        a += x * x;
        b += y * y;
    }
    return 1 - dot / sqrt(a * b);
}

static void put_truth(uint32_t rows, uint32_t queries, uint32_t dim, uint32_t k)
{
    double *distances = calloc(rows, sizeof *distances);

    if (distances == NULL) exit(1);
    for (uint32_t q = 0; q < queries; q++) {
        for (uint32_t r = 0; r < rows; r++)
            distances[r] = distance(r, q, dim);
        put(&k, sizeof k);
        for (uint32_t j = 0; j < k; j++) {
            uint32_t best = 0;
            for (uint32_t r = 1; r < rows; r++) {
                if (distances[r] < distances[best]) best = r;
            }
            put(&best, sizeof best);
            distances[best] = INFINITY;
        }
    }
    free(distances);
}

int main(int argc, char **argv)
{
    unsigned long rows, dim, seed;

    if (argc == 6 && strcmp(argv[1], "truth") == 0) {
        put_truth((uint32_t)atoi(argv[2]), (uint32_t)atoi(argv[3]), (uint32_t)atoi(argv[4]),
                  (uint32_t)atoi(argv[5]));
        return 0;
    }
    if (argc != 5) return 2;
    rows = strtoul(argv[2], NULL, 10);
    dim = strtoul(argv[3], NULL, 10);
    seed = strtoul(argv[4], NULL, 10);
    if (strstr(argv[1], "vecs") == NULL) put_npy_header(argv[1], rows, dim);
    for (unsigned long r = 0; r < rows; r++) {
        uint32_t count = (uint32_t)dim;
        if (strstr(argv[1], "vecs") != NULL) put(&count, sizeof count);
        for (unsigned long i = 0; i < dim; i++)
            put_component(argv[1], component(r, i, seed));
    }
    return 0;
}
