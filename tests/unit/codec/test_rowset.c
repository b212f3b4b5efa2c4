/* test_rowset.c - sets come back whole, and each set has one encoding only.
 *
 * Records that are refused are written here byte by byte; the model of what is right is an array of
 * flags. Offset 12 in a record is the form (0 runs, 1 bitset), the rest follows. */
#include "damage.h"

#include "base/memory.h"
#include "codec/record.h"
#include "codec/rowset.h"

#define LIMIT 5000u
#define MARKED_MAX (UINT64_C(1) << 19)
#define MAGIC 0x574F5250u

/* Marking takes and refuses what decoding does, gives the same rows, and no bit past the limit. */
static void assert_marks(const void *bytes, size_t length, uint64_t limit, paua_status status,
                         const roaring_bitmap_t *set)
{
    static uint64_t words[MARKED_MAX / 64 + 1];
    uint64_t members = 0, marked = 0;

    if (limit > MARKED_MAX) limit = MARKED_MAX;
    if (status == PAUA_OK && !roaring_bitmap_is_empty(set) && roaring_bitmap_maximum(set) >= limit)
        return; /* too large a bitmap */
    memset(words, 0, (limit / 64 + 1) * sizeof words[0]);
    assert_int_equal(rowset_mark(bytes, length, limit, words, &members), status);
    for (uint64_t row = limit; row < (limit / 64 + 1) * 64; row++)
        assert_int_equal(words[row / 64] >> row % 64 & 1, 0);
    if (status != PAUA_OK) return;
    assert_true(members == roaring_bitmap_get_cardinality(set));
    for (uint64_t word = 0; word <= limit / 64; word++) {
        marked += (uint64_t)__builtin_popcountll(words[word]);
        for (uint64_t left = words[word]; left != 0; left &= left - 1)
            assert_true(roaring_bitmap_contains(
                set, (uint32_t)(word * 64 + (uint64_t)__builtin_ctzll(left))));
    }
    assert_true(marked == members);
}

static paua_status decode(const void *bytes, size_t length, void *out)
{
    roaring_bitmap_t *set = NULL;
    paua_status status = rowset_decode(bytes, length, LIMIT, &set);

    assert_marks(bytes, length, LIMIT, status, set);
    if (status == PAUA_OK) memcpy(out, &set, sizeof set);
    return status;
}

static paua_status encode(const void *set, struct writer *w) { return rowset_encode(set, w); }

static const struct decoder DECODER = {decode, sizeof(roaring_bitmap_t *), mend_record};

/* Members 3, 10 to 20 and 4000; runs are shorter. */
static roaring_bitmap_t *sample_runs(void)
{
    roaring_bitmap_t *set = roaring_bitmap_create();

    roaring_bitmap_add(set, 3);
    roaring_bitmap_add_range_closed(set, 10, 20);
    roaring_bitmap_add(set, 4000);
    return set;
}

/* Every third row from 100 to 199; a bitset is shorter. */
static roaring_bitmap_t *sample_bits(void) { return roaring_bitmap_from_range(100, 200, 3); }

static void assert_round_trip(const roaring_bitmap_t *set, uint64_t limit)
{
    struct writer w = {0}, again = {0};
    roaring_bitmap_t *back = NULL;

    assert_int_equal(rowset_encode(set, &w), PAUA_OK);
    assert_int_equal(rowset_decode(w.bytes, w.length, limit, &back), PAUA_OK);
    assert_true(roaring_bitmap_equals(back, set));
    assert_marks(w.bytes, w.length, limit, PAUA_OK, set);
    assert_int_equal(rowset_encode(back, &again), PAUA_OK);
    assert_int_equal(again.length, w.length);
    assert_memory_equal(again.bytes, w.bytes, w.length);
    writer_free(&w);
    writer_free(&again);
    roaring_bitmap_free(back);
}

static void assert_golden_set(roaring_bitmap_t *set, const char *hex)
{
    struct writer w = {0};

    assert_int_equal(rowset_encode(set, &w), PAUA_OK);
    assert_golden(w.bytes, w.length, hex);
    writer_free(&w);
    roaring_bitmap_free(set);
}

static void the_bytes_are_the_committed_ones(void **state)
{
    (void)state;
    assert_golden_set(roaring_bitmap_create(), "50524f57 0100 0000 51537d52 00");
    assert_golden_set(sample_runs(), "50524f57 0100 0000 d4948d6c 00 03 00 06 0a 8b1f 00");
    assert_golden_set(sample_bits(),
                      "50524f57 0100 0000 4bb4ad40 01 64000000 49922449922449922449922409");
}

static uint32_t random_below(uint32_t bound)
{
    static uint64_t random = 1;

    random = random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random >> 33) % bound;
}

/* Sets of all densities and run lengths, over the borders of roaring's containers. */
static void random_sets_come_back(void **state)
{
    (void)state;
    for (int i = 0; i < 300; i++) {
        uint32_t span = 1 + random_below(i % 3 == 0 ? 200 : 200000);
        uint32_t base = random_below(100000), run_max = 1 + random_below(i % 2 == 0 ? 3 : 3000);
        uint32_t gap_max = 1 + random_below(i % 5 == 0 ? 3 : 3000);
        roaring_bitmap_t *set = roaring_bitmap_create();

        for (uint32_t at = random_below(gap_max); at < span;) {
            uint32_t length = 1 + random_below(run_max);

            roaring_bitmap_add_range_closed(set, base + at, base + at + length - 1);
            at += length + random_below(gap_max);
        }
        if (i % 4 == 0) roaring_bitmap_run_optimize(set);
        assert_round_trip(set, UINT64_MAX);
        roaring_bitmap_free(set);
    }
}

/* Every other row, a gap (or a run) that ends anywhere in a word, and again every other row. */
static void gaps_and_runs_about_a_word_long_come_back_from_a_bitset(void **state)
{
    (void)state;
    for (uint32_t at = 200; at < 208; at++)
        for (uint32_t length = 50; length < 140; length++)
            for (int members = 0; members < 2; members++) {
                roaring_bitmap_t *set = roaring_bitmap_from_range(0, at + 1, 2);
                struct writer w = {0};

                for (uint32_t row = 0; row < 200; row += 2)
                    roaring_bitmap_add(set, at + length + row);
                if (members) roaring_bitmap_add_range_closed(set, at, at + length);
                assert_int_equal(rowset_encode(set, &w), PAUA_OK);
                assert_int_equal(w.bytes[RECORD_HEADER_NBYTES], 1);
                assert_round_trip(set, 1000);
                writer_free(&w);
                roaring_bitmap_free(set);
            }
}

/* All subsets of twelve rows: each comes back, and no two share their bytes. */
static void every_small_set_comes_back(void **state)
{
    (void)state;
    for (uint32_t members = 0; members < 1u << 12; members++) {
        roaring_bitmap_t *set = roaring_bitmap_create();

        for (uint32_t row = 0; row < 12; row++)
            if (members >> row & 1) roaring_bitmap_add(set, row);
        assert_round_trip(set, 12);
        roaring_bitmap_free(set);
    }
}

static void the_last_rows_of_all_come_back(void **state)
{
    roaring_bitmap_t *set = roaring_bitmap_create();

    (void)state;
    roaring_bitmap_add(set, UINT32_MAX);
    assert_round_trip(set, UINT64_C(1) << 32);
    roaring_bitmap_add(set, 0);
    roaring_bitmap_add_range_closed(set, UINT32_MAX - 70000, UINT32_MAX);
    assert_round_trip(set, UINT64_MAX);
    roaring_bitmap_free(set);

    set = roaring_bitmap_create();
    for (uint32_t i = 0; i < 2000; i++)
        roaring_bitmap_add(set, UINT32_MAX - 2 * i);
    assert_round_trip(set, UINT64_C(1) << 32);
    roaring_bitmap_free(set);
}

/* The shortest record of a whole segment: it must not cost more than the segment's own rows. */
static void a_set_of_all_rows_comes_back(void **state)
{
    roaring_bitmap_t *set = roaring_bitmap_from_range(0, 10000000, 1);

    (void)state;
    assert_round_trip(set, 10000000);
    roaring_bitmap_free(set);
}

static void members_at_the_limit_are_refused(void **state)
{
    roaring_bitmap_t *sets[] = {sample_runs(), sample_bits()};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        uint32_t last = roaring_bitmap_maximum(sets[i]);
        struct writer w = {0};
        roaring_bitmap_t *back = NULL;

        assert_int_equal(rowset_encode(sets[i], &w), PAUA_OK);
        for (uint32_t limit = 0; limit <= last; limit++)
            assert_int_equal(rowset_decode(w.bytes, w.length, limit, &back), PAUA_ECORRUPT);
        assert_null(back);
        for (uint32_t limit = 0; limit <= last; limit++)
            assert_marks(w.bytes, w.length, limit, PAUA_ECORRUPT, NULL);
        assert_int_equal(rowset_decode(w.bytes, w.length, last + 1, &back), PAUA_OK);
        roaring_bitmap_free(back);
        roaring_bitmap_free(sets[i]);
        writer_free(&w);
    }
}

static void every_flipped_bit_and_every_other_length_is_refused(void **state)
{
    roaring_bitmap_t *sets[] = {roaring_bitmap_create(), sample_runs(), sample_bits()};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct writer w = {0};

        assert_int_equal(rowset_encode(sets[i], &w), PAUA_OK);
        assert_every_flipped_bit_is_refused(&DECODER, w.bytes, w.length);
        assert_every_other_length_is_refused(&DECODER, w.bytes, w.length, false);
        roaring_bitmap_free(sets[i]);
        writer_free(&w);
    }
}

struct stored {
    size_t length;
    uint8_t bytes[24];
    bool valid;
};

static const struct stored STORED[] = {
    {0, {0}, false}, /* not even a form */
    {1, {0}, true},  /* the empty set */
    {1, {1}, false}, /* a bitset of no bits */
    {1, {2}, false}, /* unknown forms */
    {3, {2, 0, 0}, false},
    {3, {0, 0, 0}, true}, /* row 0 */
    {2, {0, 0}, false},   /* a gap without a length */
    {4, {0, 0, 0, 1}, false},
    {5, {0, 0, 0, 1, 0}, true},  /* rows 0 and 2 */
    {5, {0, 0, 0, 0, 0}, false}, /* runs that touch */
    {5, {0, 5, 0, 0, 3}, false},
    {4, {0, 0x80, 0x00, 0}, false}, /* numbers in a longer form */
    {4, {0, 0, 0x80, 0x00}, false},
    {4, {0, 0x87, 0x27, 0}, true},  /* row 4999 */
    {4, {0, 0x88, 0x27, 0}, false}, /* row 5000 */
    {4, {0, 0, 0x87, 0x27}, true},  /* rows 0 to 4999 */
    {4, {0, 0, 0x88, 0x27}, false},
    {4, {0, 1, 0x87, 0x27}, false},
    {6, {0, 0x86, 0x27, 0, 1, 0}, false},
    /* lengths and gaps whose sums wrap round in 64 bits */
    {12, {0, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1}, false},
    {12, {0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1, 1}, false},
    {14, {0, 1, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1, 1}, false},
    {14, {0, 1, 0, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1}, false},
    /* bitsets: from row 8, every other row of 16 or of 8 */
    {7, {1, 8, 0, 0, 0, 0x55, 0x55}, true},
    {6, {1, 8, 0, 0, 0, 0x55}, true},
    {6, {1, 8, 0, 0, 0, 0x15}, true},
    {6, {1, 8, 0, 0, 0, 0x05}, false}, /* runs would be shorter */
    {7, {1, 8, 0, 0, 0, 0xFF, 0xFF}, false},
    {7, {1, 8, 0, 0, 0, 0x54, 0x55}, false},    /* first bit clear */
    {8, {1, 8, 0, 0, 0, 0x55, 0x55, 0}, false}, /* last byte clear */
    {5, {1, 8, 0, 0, 0}, false},
    {4, {1, 8, 0, 0}, false},
    {7, {1, 0x79, 0x13, 0, 0, 0x55, 0x55}, true},  /* rows 4985 to 4999 */
    {7, {1, 0x7A, 0x13, 0, 0, 0x55, 0x55}, false}, /* up to row 5000 */
    {7, {1, 0x88, 0x13, 0, 0, 0x55, 0x55}, false},
    {7, {1, 0xFF, 0xFF, 0xFF, 0xFF, 0x55, 0x55}, false},
    /* a run of more than a word, and as many others as make either form shorter by a byte */
    {16, {1, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xBF, 0xAA, 0x02}, false},
    {16, {1, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xBF, 0xAA, 0x0A}, true},
    /* the same members, which a bitset would hold in fewer bytes */
    {9, {0, 8, 0, 1, 0, 1, 0, 1, 0}, false},
    {7, {0, 8, 0, 1, 0, 1, 0}, false},
    {5, {0, 8, 0, 1, 0}, true},
};

static void exactly_the_canonical_records_are_accepted(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof STORED / sizeof STORED[0]; i++) {
        struct writer w = {0}, again = {0};
        roaring_bitmap_t *set;

        record_begin(&w, MAGIC, 1);
        writer_bytes(&w, STORED[i].bytes, STORED[i].length);
        assert_int_equal(record_end(&w), PAUA_OK);
        if (!STORED[i].valid) {
            assert_refused(&DECODER, w.bytes, w.length, PAUA_ECORRUPT);
        } else {
            if (decode(w.bytes, w.length, &set) != PAUA_OK) fail_msg("record %zu is refused", i);
            assert_int_equal(rowset_encode(set, &again), PAUA_OK);
            assert_int_equal(again.length, w.length);
            assert_memory_equal(again.bytes, w.bytes, w.length);
            roaring_bitmap_free(set);
        }
        writer_free(&w);
        writer_free(&again);
    }
}

/* All records of up to three bytes after a form, so that no two of them give one set. */
static void every_short_record_is_refused_or_canonical(void **state)
{
    (void)state;
    for (uint32_t value = 0; value < 1u << 20; value++) {
        uint8_t bytes[] = {0, (uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16 & 7)};
        struct writer w = {0}, again = {0};
        roaring_bitmap_t *set;

        if (value % 7 != 0) continue; /* a seventh of them */
        record_begin(&w, MAGIC, 1);
        writer_bytes(&w, bytes, 1 + value % 4);
        assert_int_equal(record_end(&w), PAUA_OK);
        if (decode(w.bytes, w.length, &set) == PAUA_OK) {
            assert_int_equal(rowset_encode(set, &again), PAUA_OK);
            assert_int_equal(again.length, w.length);
            assert_memory_equal(again.bytes, w.bytes, w.length);
            roaring_bitmap_free(set);
        }
        writer_free(&w);
        writer_free(&again);
    }
}

static void a_newer_version_is_named(void **state)
{
    static const struct forgery newer = {4, 2, 2, PAUA_EVERSION};
    roaring_bitmap_t *set = sample_runs();
    struct writer w = {0};

    (void)state;
    assert_int_equal(rowset_encode(set, &w), PAUA_OK);
    assert_forgeries_are_refused(&DECODER, w.bytes, w.length, &newer, 1);
    roaring_bitmap_free(set);
    writer_free(&w);
}

static void encoding_without_memory_fails(void **state)
{
    roaring_bitmap_t *sets[] = {sample_runs(), sample_bits(), roaring_bitmap_from_range(0, 900, 3)};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        assert_encode_needs_memory(encode, sets[i]);
        roaring_bitmap_free(sets[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bytes_are_the_committed_ones),
        cmocka_unit_test(random_sets_come_back),
        cmocka_unit_test(gaps_and_runs_about_a_word_long_come_back_from_a_bitset),
        cmocka_unit_test(every_small_set_comes_back),
        cmocka_unit_test(the_last_rows_of_all_come_back),
        cmocka_unit_test(a_set_of_all_rows_comes_back),
        cmocka_unit_test(members_at_the_limit_are_refused),
        cmocka_unit_test(every_flipped_bit_and_every_other_length_is_refused),
        cmocka_unit_test(exactly_the_canonical_records_are_accepted),
        cmocka_unit_test(every_short_record_is_refused_or_canonical),
        cmocka_unit_test(a_newer_version_is_named),
        cmocka_unit_test(encoding_without_memory_fails),
    };
    return cmocka_run_group_tests_name("codec/rowset", tests, NULL, NULL);
}
