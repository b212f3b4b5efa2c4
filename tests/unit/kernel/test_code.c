/* test_code.c - the kernels over codes of every tier this CPU runs, against what code.h says,
 * written out naively here. Every lane, every way to cut a byte into fields, one to three groups,
 * every number of rows up to 37; whatever a kernel reads or writes ends where it may end: at a page
 * that cannot be touched, 64 bytes behind the codes and right behind everything else. */
#include "check.h"
#include "guarded.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/code.h"
#include "kernel/kernel.h"

#define LINES_MAX 4u
#define FIELDS_MAX (LINES_MAX * 8u)
#define ROWS 40u
#define N_MAX 37u
#define IDS_MAX 4096u /* of the bitmap */

/* Widths from the lowest bit up; 0 ends. Bits that are left are no field's. */
static const uint8_t cuts[][9] = {
    {8},          {4, 4},          {4, 2, 2},
    {2, 4, 2},    {2, 2, 4},       {2, 2, 2, 2},
    {1, 1, 2, 4}, {4, 1, 1, 1, 1}, {2, 1, 4, 1},
    {1, 4, 2, 1}, {1, 1, 1, 1, 4}, {1, 1, 1, 1, 1, 1, 1, 1},
    {4},          {2, 2},          {1},
};
static const uint32_t lanes[] = {1, 5, 8, 10, 16, 25, 32, 48, 63, 64};

enum fill { RANDOM, HIGHEST, LOWEST, MIXED, FILLS };

/* Ends of the memory that kernels see. */
static char *codes_end, *factors_end, *values_end, *ids_end, *out_end, *pointers_end;

static struct code_field fields[FIELDS_MAX];
static struct code_step steps[FIELDS_MAX];
static struct code_plane plane;
static struct code_query query;

static uint32_t random_below(uint32_t *seed, uint32_t n)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)(*seed ^ *seed >> 15) * n) >> 32);
}

static int by_group(const void *a, const void *b)
{
    const struct code_field *x = a, *y = b;

    return x->group != y->group ? x->group - y->group : x->shift - y->shift;
}

/* `lines` lines, the first cut as `cut` says, others by chance; groups by chance. */
static struct code_layout make_layout(uint32_t lane, uint32_t lines, size_t cut, uint32_t groups,
                                      bool narrow, uint32_t *seed)
{
    const uint32_t n_cuts = sizeof cuts / sizeof cuts[0];
    struct code_layout layout;
    uint32_t count = 0;

    for (uint32_t line = 0; line < lines; line++) {
        const uint8_t *widths =
            cuts[line == 0 ? cut : narrow + random_below(seed, n_cuts - narrow)];
        for (uint32_t w = 0, shift = 0; widths[w] != 0; shift += widths[w++])
            fields[count++] = (struct code_field){.offset = line * lane,
                                                  .shift = (uint8_t)shift,
                                                  .width = widths[w],
                                                  .group = (uint8_t)random_below(seed, groups)};
    }
    qsort(fields, count, sizeof fields[0], by_group);
    layout = (struct code_layout){.lane = lane, .nbytes = lines * lane, .field_count = count};
    code_layout_join(&layout, fields, steps);
    return layout;
}

/* Five lines of 10 bytes in two halves: one step each, and one more for what ends after 64. */
static void fields_of_one_kind_are_one_step(void **state)
{
    uint32_t seed = 0;
    struct code_layout layout = make_layout(10, 4, 1, 1, false, &seed);

    (void)state;
    for (uint32_t f = 0; f < 16; f++)
        fields[f] =
            (struct code_field){.offset = f / 2 * 10, .shift = (uint8_t)(f % 2 * 4), .width = 4};
    layout.field_count = 10;
    code_layout_join(&layout, fields, steps);
    assert_int_equal(layout.step_count, 2);
    assert_int_equal(layout.step_end[0], 2);
    assert_int_equal(layout.step_end[2], 2);
    assert_int_equal(steps[0].shift, 0); /* before what is shifted */
    assert_int_equal(steps[1].shift, 4);
    assert_int_equal(steps[1].mask, 0x0f0f0f0f);
    assert_int_equal(fields[3].values_at, 64 + 10);
    layout.field_count = 16;
    code_layout_join(&layout, fields, steps);
    assert_int_equal(layout.step_count, 4);
    assert_int_equal(steps[1].offset, 60);
    assert_int_equal(fields[14].values_at, 64 + 10);
}

static uint8_t some_byte(enum fill fill, uint32_t *seed)
{
    if (fill == RANDOM) return (uint8_t)random_below(seed, 256);
    return fill == MIXED && random_below(seed, 2) == 0 ? 0 : 0xff;
}

static int8_t some_value(enum fill fill, uint32_t *seed)
{
    if (fill == RANDOM) return (int8_t)((int)random_below(seed, 255) - 127);
    if (fill == MIXED) return random_below(seed, 2) == 0 ? 127 : -127;
    return fill == HIGHEST ? 127 : -128;
}

static int8_t *make_values(const struct code_layout *layout, enum fill fill, uint32_t *seed)
{
    int8_t *values = (int8_t *)values_end - layout->step_count * (size_t)CODE_LINE_NBYTES;

    memset(values, 0, layout->step_count * (size_t)CODE_LINE_NBYTES);
    for (size_t f = 0; f < layout->field_count; f++)
        for (size_t j = 0; j < layout->lane; j++)
            values[layout->fields[f].values_at + j] = some_value(fill, seed);
    return values;
}

static void make_case(struct code_layout layout, enum fill fill, uint32_t seed)
{
    size_t nbytes = (size_t)ROWS * layout.nbytes;
    uint8_t *codes = (uint8_t *)codes_end - CODE_SLACK_NBYTES - nbytes;
    float *factors = (float *)(void *)factors_end - ROWS * CODE_FACTORS;

    memset(codes + nbytes, 0xff, CODE_SLACK_NBYTES);
    for (size_t i = 0; i < nbytes; i++)
        codes[i] = some_byte(fill, &seed);
    for (size_t i = 0; i < ROWS * CODE_FACTORS; i++)
        factors[i] = next_float(&seed) * 3.0f;
    plane = (struct code_plane){layout, codes, factors};
    query =
        (struct code_query){.values = make_values(&layout, fill, &seed), .base = next_float(&seed)};
    for (size_t g = 0; g < CODE_FACTORS; g++) {
        query.scale[g] = next_float(&seed) * 1e-3f;
        query.shift[g] = next_float(&seed);
    }
}

static void naive_sums(const uint8_t *row, int32_t sums[CODE_FACTORS])
{
    const struct code_layout *layout = &plane.layout;

    memset(sums, 0, CODE_FACTORS * sizeof sums[0]);
    for (size_t f = 0; f < layout->field_count; f++)
        for (size_t j = 0; j < layout->lane; j++) {
            int line = row[layout->fields[f].offset + j];
            int code = line >> layout->fields[f].shift & ((1 << layout->fields[f].width) - 1);
            sums[layout->fields[f].group] += code * query.values[layout->fields[f].values_at + j];
        }
}

static const uint8_t *row_of(size_t id) { return plane.codes + id * plane.layout.nbytes; }

static float naive_distance(size_t id)
{
    const float *factor = plane.factors + id * CODE_FACTORS;
    int32_t sums[CODE_FACTORS];
    volatile float d = query.base + factor[3], t; /* volatile: one rounding a step, no fusing */

    naive_sums(row_of(id), sums);
    for (size_t g = 0; g < CODE_GROUPS; g++) {
        t = (float)sums[g] * query.scale[g];
        t = t + query.shift[g];
        t = factor[g] * t;
        d = d + t;
    }
    return d;
}

static void require_distances(const struct code_kernels *k, size_t n, const float *wanted)
{
    uint32_t *ids = (uint32_t *)(void *)ids_end - n;
    float *out = (float *)(void *)out_end - n;

    for (size_t i = 0; i < n; i++)
        ids[i] = (uint32_t)(ROWS - 1 - i * 7 % ROWS);
    k->distances(&plane, &query, ids, 0, n, out);
    for (size_t i = 0; i < n; i++)
        require(memcmp(out + i, wanted + ids[i], sizeof *out) == 0, k, n);
    memset(out, 0, n * sizeof *out);
    k->distances(&plane, &query, NULL, ROWS - n, n, out);
    require(n == 0 || memcmp(out, wanted + ROWS - n, n * sizeof *out) == 0, k, n);
}

static void require_keys(const struct code_kernels *k, size_t n, float bound, const float *wanted)
{
    uint32_t *ids = (uint32_t *)(void *)ids_end - n;
    uint64_t *keys = (uint64_t *)(void *)out_end - (n + 8);
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        ids[i] = (uint32_t)(ROWS - 1 - i * 11 % ROWS);
    size_t got = k->keys_below(&plane, &query, ids, n, bound, keys);
    for (size_t i = 0; i < n; i++)
        if (wanted[ids[i]] < bound) {
            require(count < got && keys[count] == code_key(wanted[ids[i]], ids[i]), k, n);
            count++;
        }
    require(got == count, k, n);
}

static void require_sums(const struct code_kernels *k, size_t n)
{
    const uint8_t **rows = (const uint8_t **)(void *)pointers_end - n;
    int32_t *out = (int32_t *)(void *)out_end - n * CODE_FACTORS, wanted[CODE_FACTORS];

    for (size_t i = 0; i < n; i++)
        rows[i] = row_of(ROWS - 1 - i * 7 % ROWS);
    memset(out, 0x55, n * CODE_FACTORS * sizeof *out);
    k->sums(&plane.layout, query.values, rows, n, out);
    for (size_t i = 0; i < n; i++) {
        naive_sums(rows[i], wanted);
        require(memcmp(out + i * CODE_FACTORS, wanted, sizeof wanted) == 0, k, n);
    }
}

static void check_distances(void)
{
    float wanted[ROWS];

    for (size_t i = 0; i < ROWS; i++)
        wanted[i] = naive_distance(i);
    for (size_t tier = 0; code_kernels_at(tier) != NULL; tier++)
        for (size_t n = 0; n <= N_MAX; n++)
            require_distances(code_kernels_at(tier), n, wanted);
}

static void check_keys(void)
{
    float wanted[ROWS];

    for (size_t i = 0; i < ROWS; i++)
        wanted[i] = naive_distance(i);
    for (size_t tier = 0; code_kernels_at(tier) != NULL; tier++)
        for (size_t n = 0; n <= N_MAX; n++) {
            require_keys(code_kernels_at(tier), n, wanted[n], wanted); /* itself not below */
            require_keys(code_kernels_at(tier), n, 0.0f, wanted);
            require_keys(code_kernels_at(tier), n, INFINITY, wanted);
            require_keys(code_kernels_at(tier), n, -INFINITY, wanted);
        }
}

static void check_sums(void)
{
    for (size_t tier = 0; code_kernels_at(tier) != NULL; tier++)
        for (size_t n = 0; n <= N_MAX; n += n < 9 ? 1 : 14)
            require_sums(code_kernels_at(tier), n);
}

/* `check` on every lane, cut and number of groups; the rest of a case by chance. */
static void on_every_layout(void (*check)(void))
{
    uint32_t seed = 1;

    for (size_t l = 0; l < sizeof lanes / sizeof lanes[0]; l++)
        for (size_t cut = 0; cut < sizeof cuts / sizeof cuts[0]; cut++)
            for (uint32_t groups = 1; groups <= CODE_GROUPS; groups++) {
                uint32_t lines = 1 + random_below(&seed, LINES_MAX);
                struct code_layout layout = make_layout(lanes[l], lines, cut, groups, false, &seed);
                make_case(layout, (enum fill)((cut + groups) % FILLS), seed);
                check();
            }
}

static void distances_have_the_same_bits_in_every_tier(void **state)
{
    (void)state;
    on_every_layout(check_distances);
}

static void keys_are_those_of_the_rows_below_the_bound_in_order(void **state)
{
    (void)state;
    on_every_layout(check_keys);
}

static void sums_are_exact(void **state)
{
    (void)state;
    on_every_layout(check_sums);
}

/* 65,600 products, all of them the largest there are. */
static void sums_of_the_longest_rows_do_not_overflow(void **state)
{
    enum { FIELDS = 1025, LONG_ROWS = 5 };
    static struct code_field longest[FIELDS];
    static struct code_step long_steps[FIELDS];
    static uint8_t codes[LONG_ROWS * FIELDS * 64 + CODE_SLACK_NBYTES];
    static int8_t values[FIELDS * 64] __attribute__((aligned(64)));
    static const int8_t extremes[] = {127, -128};
    struct code_layout layout = {.lane = 64, .nbytes = FIELDS * 64, .field_count = FIELDS};
    const uint8_t *rows[LONG_ROWS];

    (void)state;
    for (size_t f = 0; f < FIELDS; f++)
        longest[f] = (struct code_field){.offset = (uint32_t)f * 64, .width = 8, .group = 2};
    code_layout_join(&layout, longest, long_steps);
    for (size_t i = 0; i < LONG_ROWS; i++)
        rows[i] = codes + i * layout.nbytes;
    memset(codes, 255, sizeof codes);
    for (size_t e = 0; e < 2; e++) {
        memset(values, extremes[e], sizeof values);
        for (size_t tier = 0; code_kernels_at(tier) != NULL; tier++) {
            int32_t out[LONG_ROWS * CODE_FACTORS];
            code_kernels_at(tier)->sums(&layout, values, rows, LONG_ROWS, out);
            for (size_t i = 0; i < LONG_ROWS * CODE_FACTORS; i++)
                require(out[i] == (i % CODE_FACTORS == 2 ? 255 * extremes[e] * FIELDS * 64 : 0),
                        code_kernels_at(tier), i);
        }
    }
}

static void require_expanded(const struct code_kernels *k, const uint8_t *row, const int8_t *lut)
{
    const struct code_layout *layout = &plane.layout;
    const size_t nbytes = layout->step_count * (size_t)CODE_LINE_NBYTES;
    int8_t *out = (int8_t *)out_end - nbytes, wanted[FIELDS_MAX * CODE_LINE_NBYTES] = {0};

    memset(out, 0x55, nbytes);
    k->expand(layout, row, lut, out);
    for (size_t f = 0; f < layout->field_count; f++)
        for (size_t j = 0; j < layout->lane; j++) {
            const struct code_field *field = &layout->fields[f];
            int code = row[field->offset + j] >> field->shift & ((1 << field->width) - 1);
            wanted[field->values_at + j] = lut[f * 16 + (size_t)code];
        }
    require(memcmp(out, wanted, nbytes) == 0, k, nbytes);
}

static void expanded_codes_are_the_table_s_values_and_zero_elsewhere(void **state)
{
    uint32_t seed = 5;

    (void)state;
    for (size_t l = 0; l < sizeof lanes / sizeof lanes[0]; l++)
        for (size_t cut = 1; cut < sizeof cuts / sizeof cuts[0]; cut++) {
            uint32_t lines = 1 + random_below(&seed, LINES_MAX);
            make_case(make_layout(lanes[l], lines, cut, CODE_GROUPS, true, &seed), RANDOM, seed);
            int8_t *lut = (int8_t *)values_end - plane.layout.field_count * 16u;
            for (size_t i = 0; i < plane.layout.field_count * 16u; i++)
                lut[i] = (int8_t)((int)random_below(&seed, 256) - 128);
            for (size_t tier = 0; code_kernels_at(tier) != NULL; tier++)
                for (size_t id = ROWS - 3; id < ROWS; id++)
                    require_expanded(code_kernels_at(tier), row_of(id), lut);
        }
}

/* n ids, some visited, many of them named twice. */
static void make_list(uint32_t *list, size_t n, uint32_t *seed)
{
    for (size_t i = 0; i < n; i++)
        list[i] = random_below(seed, 4) == 0 ? IDS_MAX - 1 - random_below(seed, 70)
                                             : random_below(seed, IDS_MAX);
}

static void require_unvisited(const struct code_kernels *k, size_t n, uint32_t seed)
{
    uint32_t *visited = (uint32_t *)(void *)codes_end - IDS_MAX / 32, after[IDS_MAX / 32];
    uint32_t *list = (uint32_t *)(void *)ids_end - n, *out = (uint32_t *)(void *)out_end - (n + 16);
    size_t count = 0;

    for (size_t i = 0; i < IDS_MAX / 32; i++)
        visited[i] = random_below(&seed, UINT32_MAX) & random_below(&seed, UINT32_MAX);
    make_list(list, n, &seed);
    memcpy(after, visited, sizeof after);
    size_t got = k->unvisited(list, n, visited, out);
    for (size_t i = 0; i < n; i++) {
        if (after[list[i] / 32] >> list[i] % 32 & 1u) continue;
        after[list[i] / 32] |= 1u << list[i] % 32;
        require(count < got && out[count] == list[i], k, n);
        count++;
    }
    require(got == count, k, n);
    require(memcmp(after, visited, sizeof after) == 0, k, n);
}

static void unvisited_members_are_copied_once_and_marked(void **state)
{
    (void)state;
    for (size_t tier = 0; code_kernels_at(tier) != NULL; tier++)
        for (size_t n = 0; n <= 192; n += 16)
            for (uint32_t seed = 0; seed < 20; seed++)
                require_unvisited(code_kernels_at(tier), n, seed);
}

static void keys_sort_as_distances_and_then_ids_do(void **state)
{
    static const float ascending[] = {-INFINITY, -FLT_MAX, -2.5f,   -2.0f, -FLT_MIN,
                                      -0.0f,     0.0f,     FLT_MIN, 1.0f,  1.0000001f,
                                      3e7f,      FLT_MAX,  INFINITY};
    const uint32_t highest = INT32_MAX;

    (void)state;
    for (size_t i = 0; i < sizeof ascending / sizeof ascending[0]; i++) {
        float d = ascending[i], back = code_unorder(code_order(d));
        uint64_t key = code_key(d, highest);
        float of_key = code_key_distance(key);
        require(memcmp(&back, &d, sizeof d) == 0, &code_kernels_portable, i);
        require(memcmp(&of_key, &d, sizeof d) == 0, &code_kernels_portable, i);
        require(code_key_id(key) == highest && (key & 1) == 0, &code_kernels_portable, i);
        require(code_key_id(key | 1) == highest, &code_kernels_portable, i);
        require(code_key(d, highest - 1) < key, &code_kernels_portable, i);
        require(i == 0 || code_key(ascending[i - 1], highest) < code_key(d, 0),
                &code_kernels_portable, i);
    }
}

/* Whether a process with PAUA_TIER=name gets the code table that goes with kernels_at(index). */
static bool follows(const char *name, size_t index)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        bool set = setenv("PAUA_TIER", name, 1) == 0;
        _exit(set && code_kernels_best() == code_kernels_at(index) ? 0 : 1);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static void code_kernels_follow_the_tier_that_runs(void **state)
{
    size_t n = 0;

    (void)state;
    for (; kernels_at(n) != NULL; n++) {
        const char *tier = kernels_at(n)->tier;
        const struct code_kernels *k = code_kernels_at(n);
        require(k != NULL, kernels_at(n), n);
        require(follows(tier, n), k, n);
        require(strncmp(k->tier, tier, strlen(tier)) == 0 ||
                    (strcmp(tier, "avx512") == 0 && k == code_kernels_at(n + 1)),
                k, n);
    }
    require(code_kernels_at(n - 1) == &code_kernels_portable, &code_kernels_portable, n);
    require(code_kernels_at(n) == NULL && code_kernels_at(SIZE_MAX) == NULL, &code_kernels_portable,
            n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_of_one_kind_are_one_step),
        cmocka_unit_test(distances_have_the_same_bits_in_every_tier),
        cmocka_unit_test(keys_are_those_of_the_rows_below_the_bound_in_order),
        cmocka_unit_test(sums_are_exact),
        cmocka_unit_test(sums_of_the_longest_rows_do_not_overflow),
        cmocka_unit_test(expanded_codes_are_the_table_s_values_and_zero_elsewhere),
        cmocka_unit_test(unvisited_members_are_copied_once_and_marked),
        cmocka_unit_test(keys_sort_as_distances_and_then_ids_do),
        cmocka_unit_test(code_kernels_follow_the_tier_that_runs),
    };

    codes_end = guarded_end(ROWS * LINES_MAX * CODE_LINE_NBYTES + CODE_SLACK_NBYTES);
    factors_end = guarded_end(ROWS * CODE_FACTORS * sizeof(float));
    values_end = guarded_end(FIELDS_MAX * CODE_LINE_NBYTES);
    ids_end = guarded_end(192 * sizeof(uint32_t));
    out_end = guarded_end(FIELDS_MAX * CODE_LINE_NBYTES);
    pointers_end = guarded_end(N_MAX * sizeof(uint8_t *));
    return cmocka_run_group_tests_name("kernel/code", tests, NULL, NULL);
}
