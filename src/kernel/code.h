/* code.h - the inner loops over quantized codes: what kernel.h is for floats.
 *
 * A code row is a sequence of lines of `lane` bytes. A line's 8 bits are cut into fields of 8, 4, 2
 * or 1 bits; a field holds `lane` dimensions, one a byte, at its shift. A code c of width w stands
 * for c - (2^w - 1) / 2. Fields belong to groups, 3 at most; a row has one factor for each group.
 *
 * Kernels know nothing of lanes: they take 64 bytes of a row at a time, and all fields among these
 * that have the same shift, width and group in one step. A query has 64 values a step, those of a
 * field where its bytes are and 0 elsewhere.
 *
 *   S_g(row)      = sum over the fields f of group g, over j < lane, of code[f][j] * value[f][j]
 *   distance(row) = base + row.aux + sum over g of row.factor[g] * (S_g * scale[g] + shift[g])
 *
 * S_g is an exact integer in every tier. A distance is computed from it in floats in this order,
 * unfused, so that it has the same bits in every tier:
 *   d = base + aux;  for g = 0, 1, 2 (unused groups too: their factor is 0):
 *   t = (float)S_g * scale[g];  t = t + shift[g];  t = factor[g] * t;  d = d + t
 *
 * Reading   Up to 64 bytes beyond the end of a row may be read (never used): codes have
 *           CODE_SLACK_NBYTES readable bytes after the last row.
 * Sizes     |S_g| stays below 2^31: lane x fields <= 65,536 + 64 dimensions.
 *
 * Kernels do not allocate, lock or report errors. */
#ifndef PAUA_KERNEL_CODE_H
#define PAUA_KERNEL_CODE_H

#include <stddef.h>
#include <stdint.h>

#define CODE_GROUPS 3u
#define CODE_FACTORS 4u      /* floats a row: a factor for each group, then aux */
#define CODE_LINE_NBYTES 64u /* the longest line; bytes of a step */
#define CODE_SLACK_NBYTES 64u
#define CODE_VECTOR_MAX 8128 /* 64 * 127: times 128, CODE_STRIDE_MAX times over, is below 2^31 */
#define CODE_STRIDE_MAX 2048u

struct code_field {
    uint32_t offset; /* of its line in the row */
    uint8_t shift, width, group;
    uint32_t segment;   /* which `lane` rotated dimensions it holds; of no concern to kernels */
    uint32_t values_at; /* where its values begin in those of a query */
};

/* The bits of `mask`, from `shift` up, of each of 64 bytes. */
struct code_step {
    uint32_t offset; /* of the first byte in the row */
    uint32_t shift;
    uint32_t mask; /* 2^width - 1, four times: of each byte of a word, after shifting */
};

struct code_layout {
    uint32_t lane;   /* bytes of a line: 1 to 64 */
    uint32_t nbytes; /* of a row; a multiple of lane */
    uint32_t field_count, step_count;
    uint32_t step_end[CODE_GROUPS];  /* the steps of group g end here, those of the next begin */
    const struct code_field *fields; /* sorted by group */
    const struct code_step *steps;
};

/* Joins layout->field_count fields to steps: sets their values_at, fills steps (room for as many as
 * there are fields), and makes both the layout's. */
void code_layout_join(struct code_layout *layout, struct code_field *fields,
                      struct code_step *steps);

struct code_plane {
    struct code_layout layout;
    const uint8_t *codes; /* n x nbytes; 64-byte aligned */
    const float *factors; /* n x CODE_FACTORS; 16-byte aligned */
};

struct code_query {
    const int8_t *values; /* step_count x 64 bytes, 64-byte aligned */
    float scale[CODE_FACTORS], shift[CODE_FACTORS];
    float base;
};

/* A float as a signed integer of the same order, in the high half of a key, biased to unsigned;
 * ids in the low half. Keys sort by distance, then by id; bit 0 of the low half is free. */
static inline uint32_t code_order(float distance)
{
    union {
        float f;
        uint32_t u;
    } bits = {.f = distance};

    return bits.u ^ ((uint32_t)((int32_t)bits.u >> 31) | 0x80000000u);
}
static inline float code_unorder(uint32_t order)
{
    union {
        uint32_t u;
        float f;
    } bits = {.u = order ^ (((order >> 31) - 1) | 0x80000000u)};

    return bits.f;
}
static inline uint64_t code_key(float distance, uint32_t id)
{
    return (uint64_t)code_order(distance) << 32 | (uint64_t)id << 1;
}
static inline uint32_t code_key_id(uint64_t key) { return (uint32_t)key >> 1; }
static inline float code_key_distance(uint64_t key) { return code_unorder((uint32_t)(key >> 32)); }

struct code_kernels {
    const char *tier; /* "portable", "avx2", "avx512vnni", "neon" */

    /* out[i] = distance of row ids[i]; ids NULL: of row first + i. */
    void (*distances)(const struct code_plane *plane, const struct code_query *query,
                      const uint32_t *ids, size_t first, size_t n, float *out);

    /* Writes code_key(distance, ids[i]) for the rows nearer than bound, in the order of ids;
     * returns how many. keys has room for n + 8 (the rest may be overwritten). */
    size_t (*keys_below)(const struct code_plane *plane, const struct code_query *query,
                         const uint32_t *ids, size_t n, float bound, uint64_t *keys);

    /* sums[i * CODE_FACTORS + g] = S_g of row i of n rows given by their addresses; S of unused
     * groups is 0. */
    void (*sums)(const struct code_layout *layout, const int8_t *values, const uint8_t *const *rows,
                 size_t n, int32_t *sums);

    /* Codes of at most 4 bits to query values: out[values_at + j] = lut[f * 16 + code] of each
     * field f, 0 elsewhere. out: step_count x 64, 64-byte aligned. */
    void (*expand)(const struct code_layout *layout, const uint8_t *row, const int8_t *lut,
                   int8_t *out);

    /* Copies the members of list (n, a multiple of 16, 4-byte aligned) whose bit in `visited` is
     * clear to out, and sets their bits; a member named twice is copied once. out has room for
     * n + 16. Returns how many. */
    size_t (*unvisited)(const uint32_t *list, size_t n, uint32_t *visited, uint32_t *out);

    /* out[i] = sum x[j] * m[i * stride + j], exactly: |x[j]| <= CODE_VECTOR_MAX, stride a multiple
     * of 64 and at most CODE_STRIDE_MAX. */
    void (*matvec_s8)(const int8_t *m, const int16_t *x, size_t rows, size_t stride, int32_t *out);
};

/* The tier of kernels_best(), or of kernels_at(index); never NULL for a tier that exists. AVX-512
 * without VNNI uses the AVX2 table. */
const struct code_kernels *code_kernels_best(void);
const struct code_kernels *code_kernels_at(size_t index);

extern const struct code_kernels code_kernels_portable;
extern const struct code_kernels code_kernels_avx2;
extern const struct code_kernels code_kernels_avx512;
extern const struct code_kernels code_kernels_neon;

#endif
