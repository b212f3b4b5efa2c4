/* value_cost.c - whether an index of a field's values is worth it.
 *
 * The numbers are nanoseconds, measured with AVX-512 at 65,000 and 1,000,000 rows (of which raw
 * keys are scanned in 6 and 320 us, 16-bit codes in 1.5 and 55 us; a search among 1,000,000 entries
 * takes 3 us). They need only be right to a factor of two: where both ways cost the same, either
 * will do. Portable kernels scan several times slower, which only makes an index come late. */
#include "index/value_cost.h"

#include <math.h>

#include "column/matching.h"

#define CHUNK_NS 20.0
#define SPARSE_NS 11.0       /* an entry of a sparse chunk */
#define SCAN_ROW_NS 0.01     /* of a scan for a range: a row, */
#define SCAN_BYTE_NS 0.025   /* and a byte of its code or key */
#define TABLE_NARROW_NS 0.12 /* a code of up to 8 bits looked up in a table, */
#define TABLE_WIDE_NS 0.9    /* or of more */
#define KEY_NS 15.0          /* a key compared with many ranges */
#define HASH_NS 0.2          /* a hash compared */
#define STRING_NS 30.0       /* a string compared, once */
#define SCANS_MAX 4u         /* ranges or values that are scanned for one by one */
#define ENTRIES_NEAR 32768u  /* that stay in the processor's cache */
#define PROBE_NEAR_NS 40.0   /* one step of a search among few entries, */
#define PROBE_FAR_NS 120.0   /* or among many */
#define PROBES_MORE 3.0      /* to find where a short span ends */
#define WORD_NS 0.18         /* of the bitmap, cleared */
#define ROW_NS 1.5           /* whose bit is set */
#define ENTRY_NS 2.0         /* of BITMAP, besides */
#define SET_NS 60.0          /* of BITMAP, besides */
#define MEMBER_NS 30.0       /* of such a set, since its runs are unpredictable */

static double scan_ns(uint32_t width) { return SCAN_ROW_NS + SCAN_BYTE_NS * width / 8; }

static double table_ns(uint32_t width) { return width <= 8 ? TABLE_NARROW_NS : TABLE_WIDE_NS; }

/* Ranges that meet the zone of a chunk. */
static size_t ranges_met(const struct column_test *test, const struct column_chunk *chunk)
{
    size_t first = range_at(test, chunk->least), end = range_at(test, chunk->most);

    if (chunk->least > chunk->most) return 0;
    if (end < test->range_count && test->ranges[end].low <= chunk->most) end++;
    return end - first;
}

/* A row of packed or raw numbers. */
static double number_ns(const struct column_test *test, const struct column_chunk *chunk)
{
    uint32_t width = chunk->kind == CHUNK_RAW ? 64 : chunk->width;
    size_t ranges = ranges_met(test, chunk);

    if (ranges <= SCANS_MAX) return (double)ranges * scan_ns(width);
    return width <= 16 ? table_ns(width) : KEY_NS;
}

/* A row of packed codes of byte strings. */
static double code_ns(const struct column_test *test, const struct column_chunk *chunk)
{
    bool gaps = test->kind == TEST_SET && test->set_count > 1;

    return gaps ? table_ns(chunk->width) : scan_ns(chunk->width);
}

static bool is_equality(const struct column_test *test)
{
    return test->kind == TEST_BYTES && test->low.data != NULL && test->high.data != NULL &&
           bytes_compare(test->low.data, test->low.nbytes, test->high.data, test->high.nbytes) == 0;
}

/* A row of strings without a dictionary. */
static double string_ns(const struct column_test *test)
{
    double members = (double)test->set_count;

    if (test->kind == TEST_BYTES) return is_equality(test) ? HASH_NS : STRING_NS;
    return test->set_count <= SCANS_MAX ? members * HASH_NS : STRING_NS * (1 + log2(members));
}

static double row_ns(const struct column_view *view, const struct column_test *test,
                     const struct column_chunk *chunk)
{
    switch (chunk->kind) {
    case CHUNK_PACKED:
        return type_is_number(view->type) ? number_ns(test, chunk) : code_ns(test, chunk);
    case CHUNK_RAW:
        return number_ns(test, chunk);
    case CHUNK_UNREPEATED:
        return string_ns(test);
    default:
        return 0;
    }
}

/* Which codes pass: a search in the dictionary for each member. */
static double members_cost(const struct column_view *view, const struct column_test *test)
{
    if (test->kind != TEST_SET || view->dictionary.count == 0) return 0;
    return STRING_NS * 2 * (double)test->set_count * log2(view->dictionary.count + 1.0);
}

double value_scan_cost(const struct column_view *view, const struct column_test *test)
{
    double cost;

    if (view == NULL) return 0;
    cost = members_cost(view, test);
    for (uint32_t i = 0; i < view->chunk_count; i++) {
        const struct column_chunk *chunk = &view->chunks[i];

        cost += CHUNK_NS + row_ns(view, test, chunk) * chunk->rows;
        if (chunk->kind == CHUNK_SPARSE) cost += SPARSE_NS * chunk->entries;
    }
    return cost;
}

double value_search_cost(const struct value_index *index, size_t spans)
{
    double probe = index->entries <= ENTRIES_NEAR ? PROBE_NEAR_NS : PROBE_FAR_NS;

    return WORD_NS * index->rows / 64 +
           (double)spans * (log2(index->entries + 1.0) + PROBES_MORE) * probe;
}

double value_rows_cost(const struct value_index *index, uint32_t entries, uint64_t rows)
{
    uint64_t more = rows - entries, sets = more < entries ? more : entries;

    if (index->kind == PAUA_INDEX_SORTED) return ROW_NS * (double)rows;
    return ENTRY_NS * entries + SET_NS * (double)sets + MEMBER_NS * (double)(more + sets);
}
