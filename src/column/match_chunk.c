/* match_chunk.c - which rows of one chunk pass, by its kind.
 *
 * The zone is asked first. A few ranges of keys are scanned one by one; many of them over short
 * codes become a table of codes, and over long ones each row searches them. Unrepeated byte strings
 * are compared where their hash is that of a value looked for. */
#include <assert.h>
#include <string.h>

#include "column/matching.h"

#define CHUNK_WORDS (COLUMN_CHUNK_ROWS / 64)
#define SCANS_MAX 4u /* ranges, or hashes, that are scanned for one by one */
#define TABLE_WIDTH_MAX 16u

static void fill(uint64_t *words, uint32_t n, bool pass)
{
    memset(words, pass ? 0xFF : 0, (n + 63) / 64 * sizeof words[0]);
    if (pass && n % 64 != 0) words[n / 64] &= (UINT64_C(1) << n % 64) - 1;
}

static void invert(uint64_t *words, uint32_t n)
{
    for (uint32_t i = 0; i < (n + 63) / 64; i++)
        words[i] = ~words[i];
    if (n % 64 != 0) words[n / 64] &= (UINT64_C(1) << n % 64) - 1;
}

static void set_bit(uint64_t *words, uint32_t at, bool pass)
{
    uint64_t bit = UINT64_C(1) << at % 64;

    words[at / 64] = pass ? words[at / 64] | bit : words[at / 64] & ~bit;
}

static bool code_passes(const struct passing *p, uint64_t code)
{
    if (code < p->low || code > p->high) return false;
    return p->table == NULL || packed_bit(p->table, (uint32_t)code);
}

/* A key, or the code of a byte string; matching_codes() has been called. */
static bool key_passes(const struct matching *m, uint64_t key)
{
    struct cell cell = {.present = true, .key = key};

    if (m->test->kind == TEST_NULL || m->test->kind == TEST_NOT_NULL)
        return m->test->kind == TEST_NOT_NULL;
    return type_is_number(m->view->type) ? test_passes(m->test, &cell)
                                         : code_passes(&m->passing, key);
}

static void match_sparse(struct matching *m, const struct column_chunk *chunk, uint32_t n,
                         uint64_t *words)
{
    fill(words, n, m->test->kind == TEST_NULL);
    for (uint32_t i = 0; i < chunk->entries && sparse_place(chunk, i) < n; i++)
        set_bit(words, sparse_place(chunk, i), key_passes(m, sparse_key(chunk, i)));
}

/* Codes low to high, added to what passed before if `more`. */
static void scan_codes(struct matching *m, const struct column_chunk *chunk, uint32_t n,
                       uint64_t low, uint64_t high, bool more, uint64_t *words)
{
    uint64_t others[CHUNK_WORDS];
    uint64_t *to = more ? others : words;

    m->kernels->range(chunk->codes, chunk->width, n, (uint32_t)low, (uint32_t)high, to);
    for (uint32_t i = 0; more && i < (n + 63) / 64; i++)
        words[i] |= others[i];
}

/* The part of range i that has codes in this chunk. */
static bool code_range(const struct matching *m, const struct column_chunk *chunk, size_t i,
                       uint64_t *low, uint64_t *high)
{
    const struct key_range *range = &m->test->ranges[i];

    if (range->high < chunk->least || range->low > chunk->most) return false;
    *low = (range->low > chunk->least ? range->low : chunk->least) - chunk->base + 1;
    *high = (range->high < chunk->most ? range->high : chunk->most) - chunk->base + 1;
    return true;
}

static void packed_by_table(struct matching *m, const struct column_chunk *chunk, uint32_t n,
                            size_t first, size_t end, uint64_t *words)
{
    uint8_t table[(1u << TABLE_WIDTH_MAX) / 8];
    uint64_t low, high;

    memset(table, 0, codes_nbytes(UINT32_C(1) << chunk->width, 1));
    for (size_t i = first; i < end; i++) {
        if (!code_range(m, chunk, i, &low, &high)) continue;
        for (uint64_t code = low; code <= high; code++)
            packed_set(table, 1, code, 1);
    }
    m->kernels->table(chunk->codes, chunk->width, n, table, UINT32_C(1) << chunk->width, words);
}

static void each_row(struct matching *m, const struct column_chunk *chunk, uint32_t n,
                     uint64_t *words)
{
    uint64_t key;

    fill(words, n, false);
    for (uint32_t at = 0; at < n; at++)
        if (chunk_key(chunk, at, &key) && key_passes(m, key)) set_bit(words, at, true);
}

/* Ranges first .. end - 1 are those that meet the zone; false: all rows have the same answer. */
static bool ranges_in_zone(const struct matching *m, const struct column_chunk *chunk, uint32_t n,
                           size_t *first, size_t *end, uint64_t *words)
{
    const struct column_test *test = m->test;
    bool none;

    *first = range_at(test, chunk->least);
    *end = range_at(test, chunk->most);
    if (*end < test->range_count && test->ranges[*end].low <= chunk->most) (*end)++;
    none = *first >= *end || chunk->least > chunk->most;
    if (none ||
        (chunk->nulls == 0 && *end - *first == 1 && test->ranges[*first].low <= chunk->least &&
         test->ranges[*first].high >= chunk->most)) {
        fill(words, n, !none);
        return false;
    }
    return true;
}

static void match_packed_keys(struct matching *m, const struct column_chunk *chunk, uint32_t n,
                              uint64_t *words)
{
    size_t first, end;
    uint64_t low, high;

    if (!ranges_in_zone(m, chunk, n, &first, &end, words)) return;
    if (end - first > SCANS_MAX && chunk->width <= TABLE_WIDTH_MAX) {
        packed_by_table(m, chunk, n, first, end, words);
        return;
    }
    if (end - first > SCANS_MAX) {
        each_row(m, chunk, n, words);
        return;
    }
    for (size_t i = first; i < end; i++)
        if (code_range(m, chunk, i, &low, &high))
            scan_codes(m, chunk, n, low, high, i > first, words);
}

static void match_packed_codes(struct matching *m, const struct column_chunk *chunk, uint32_t n,
                               uint64_t *words)
{
    const struct passing *p = &m->passing;
    uint64_t low = p->low > chunk->least ? p->low : chunk->least;
    uint64_t high = p->high < chunk->most ? p->high : chunk->most;

    if (low > high)
        fill(words, n, false);
    else if (p->table == NULL && chunk->nulls == 0 && low == chunk->least && high == chunk->most)
        fill(words, n, true);
    else if (p->table == NULL)
        scan_codes(m, chunk, n, low, high, false, words);
    else
        m->kernels->table(chunk->codes, chunk->width, n, p->table, p->table_bits, words);
}

static void match_packed(struct matching *m, const struct column_chunk *chunk, uint32_t n,
                         uint64_t *words)
{
    bool present = m->test->kind == TEST_NOT_NULL;

    if (!present && m->test->kind != TEST_NULL) {
        if (type_is_number(m->view->type))
            match_packed_keys(m, chunk, n, words);
        else
            match_packed_codes(m, chunk, n, words);
    } else if (chunk->nulls == 0) {
        fill(words, n, present);
    } else {
        scan_codes(m, chunk, n, 0, 0, false, words);
        if (present) invert(words, n);
    }
}

static void load_presence(const struct column_chunk *chunk, uint32_t n, uint64_t *words)
{
    fill(words, n, true);
    if (chunk->places == NULL) return;
    memcpy(words, chunk->places, (n + 7) / 8);
    if (n % 64 != 0) words[n / 64] &= (UINT64_C(1) << n % 64) - 1;
}

static void match_raw(struct matching *m, const struct column_chunk *chunk, uint32_t n,
                      uint64_t *words)
{
    uint64_t present[CHUNK_WORDS], others[CHUNK_WORDS];
    const struct column_test *test = m->test;
    size_t first, end;

    if (test->kind == TEST_NULL || test->kind == TEST_NOT_NULL) {
        load_presence(chunk, n, words);
        if (test->kind == TEST_NULL) invert(words, n);
        return;
    }
    if (!ranges_in_zone(m, chunk, n, &first, &end, words)) return;
    if (end - first > SCANS_MAX) {
        each_row(m, chunk, n, words);
        return;
    }
    load_presence(chunk, n, present);
    fill(words, n, false);
    for (size_t i = first; i < end; i++) {
        m->kernels->keys(chunk->codes, n, test->ranges[i].low, test->ranges[i].high, others);
        for (uint32_t w = 0; w < (n + 63) / 64; w++)
            words[w] |= others[w] & present[w];
    }
}

/* Rows whose hash is that of `value`: those that are it are added. */
static void add_equal(struct matching *m, const struct column_chunk *chunk, uint32_t n,
                      const paua_bytes *value, uint64_t *words)
{
    uint64_t same[CHUNK_WORDS];

    m->kernels->equal32(chunk->hashes, n, value_hash(value->data, value->nbytes), same);
    for (uint32_t w = 0; w < (n + 63) / 64; w++) {
        for (uint64_t left = same[w]; left != 0; left &= left - 1) {
            uint32_t at = w * 64 + (uint32_t)__builtin_ctzll(left);
            const uint8_t *data;
            size_t nbytes;

            chunk_bytes(m->view, chunk, at, &data, &nbytes);
            if (bytes_compare(data, nbytes, value->data, value->nbytes) == 0)
                set_bit(words, at, true);
        }
    }
}

/* The values that a test looks for, if they are few: their number, else 0. */
static size_t wanted_values(const struct column_test *test, const paua_bytes **values)
{
    const paua_bytes *low = &test->low, *high = &test->high;

    if (test->kind == TEST_SET && !test->negated && test->set_count <= SCANS_MAX) {
        *values = test->set;
        return test->set_count;
    }
    if (test->kind != TEST_BYTES || low->data == NULL || high->data == NULL || test->low_open ||
        test->high_open || bytes_compare(low->data, low->nbytes, high->data, high->nbytes) != 0)
        return 0;
    *values = low;
    return 1;
}

static void match_unrepeated(struct matching *m, const struct column_chunk *chunk, uint32_t n,
                             uint64_t *words)
{
    const paua_bytes *values;
    size_t wanted = wanted_values(m->test, &values);

    if (m->test->kind == TEST_NULL || m->test->kind == TEST_NOT_NULL) {
        m->kernels->equal32(chunk->hashes, n, 0, words);
        if (m->test->kind == TEST_NOT_NULL) invert(words, n);
        return;
    }
    fill(words, n, false);
    for (size_t i = 0; i < wanted; i++)
        add_equal(m, chunk, n, &values[i], words);
    for (uint32_t at = 0; wanted == 0 && at < n; at++) {
        const uint8_t *data;
        size_t nbytes;

        if (packed_load32(chunk->hashes + 4 * (size_t)at) == 0) continue;
        chunk_bytes(m->view, chunk, at, &data, &nbytes);
        if (bytes_pass(m->test, data, nbytes)) set_bit(words, at, true);
    }
}

paua_status matching_chunk(struct matching *m, const struct column_chunk *chunk, uint32_t n,
                           uint64_t *words)
{
    bool by_code = !type_is_number(m->view->type) && chunk->kind != CHUNK_UNREPEATED &&
                   m->test->kind != TEST_NULL && m->test->kind != TEST_NOT_NULL;
    paua_status status = by_code ? matching_codes(m) : PAUA_OK;
    bool none = chunk->least > chunk->most;

    assert(n > 0 && n <= chunk->rows);
    if (status != PAUA_OK) return status;
    switch (chunk->kind) {
    case CHUNK_CONSTANT:
        fill(words, n, none ? m->test->kind == TEST_NULL : key_passes(m, chunk->least));
        break;
    case CHUNK_SPARSE:
        match_sparse(m, chunk, n, words);
        break;
    case CHUNK_PACKED:
        match_packed(m, chunk, n, words);
        break;
    case CHUNK_RAW:
        match_raw(m, chunk, n, words);
        break;
    case CHUNK_UNREPEATED:
        match_unrepeated(m, chunk, n, words);
        break;
    }
    return PAUA_OK;
}
