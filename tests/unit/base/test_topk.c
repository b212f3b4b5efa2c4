/* test_topk.c - the k first of a stream against sorting all of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/topk.h"

#define STREAM_MAX 400u

static uint64_t random_state;

static uint32_t random_below(uint32_t bound)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % bound;
}

/* The later row of the later source first, so that it cannot be mistaken for the arrival. */
static int by_row_falling(void *arg, const struct candidate *a, const struct candidate *b)
{
    size_t *calls = arg;

    (*calls)++;
    assert_true(a->distance == b->distance);
    if (a->source != b->source) return a->source > b->source ? -1 : 1;
    return a->row > b->row ? -1 : 1;
}

static int compare(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    size_t calls = 0;

    if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
    return by_row_falling(&calls, x, y);
}

static void assert_same(const struct candidate *a, const struct candidate *b)
{
    assert_true(a->distance == b->distance);
    assert_int_equal(a->source, b->source);
    assert_int_equal(a->row, b->row);
}

/* distances: how many different ones; few make many ties. */
static void check_stream(struct topk *t, size_t count, size_t k, uint32_t distances)
{
    struct candidate all[STREAM_MAX];
    size_t calls = 0;

    topk_begin(t, k, by_row_falling, &calls);
    for (size_t i = 0; i < count; i++) {
        all[i] = (struct candidate){.distance = (double)random_below(distances) - 2.0,
                                    .source = random_below(3),
                                    .row = (uint32_t)i};
        assert_true(topk_offer(t, all[i]));
        qsort(all, i + 1, sizeof all[0], compare);
        assert_true(topk_bound(t) == (i + 1 < k ? (double)INFINITY : all[k - 1].distance));
    }
    topk_sort(t);
    assert_int_equal(t->count, count < k ? count : k);
    for (size_t i = 0; i < t->count; i++)
        assert_same(&t->heap[i], &all[i]);
}

static void the_k_first_are_those_that_sorting_gives(void **state)
{
    static const size_t ks[] = {1, 2, 3, 7, 10, 99, 100, 101, 1000};
    static const uint32_t distances[] = {1, 2, 10, 1000000};
    struct topk t = {0};

    (void)state;
    random_state = 1;
    for (size_t i = 0; i < sizeof ks / sizeof ks[0]; i++)
        for (size_t j = 0; j < sizeof distances / sizeof distances[0]; j++)
            for (size_t count = 0; count <= 100; count += 20)
                check_stream(&t, count, ks[i], distances[j]);
    topk_free(&t);
    assert_null(t.heap);
}

/* Pairs of equal distances; two offers change places, or none. */
static void offers_in_falling_order_are_sorted_and_so_are_almost_falling_ones(void **state)
{
    struct topk t = {0};
    size_t calls = 0;

    (void)state;
    for (uint32_t n = 1; n <= 24; n++)
        for (uint32_t a = 0; a < n; a++)
            for (uint32_t b = a; b < n; b++) {
                topk_begin(&t, n, by_row_falling, &calls);
                for (uint32_t i = 0; i < n; i++) {
                    uint32_t row = i == a ? b : i == b ? a : i;

                    assert_true(topk_offer(
                        &t, (struct candidate){.distance = -(double)(row / 2), .row = row}));
                }
                topk_sort(&t);
                assert_int_equal(t.count, n);
                for (uint32_t i = 0; i < n; i++)
                    assert_int_equal(t.heap[i].row, n - 1 - i);
            }
    topk_free(&t);
}

static void keys_are_compared_for_equal_distances_only(void **state)
{
    struct topk t = {0};
    size_t calls = 0;

    (void)state;
    topk_begin(&t, 10, by_row_falling, &calls);
    for (uint32_t i = 0; i < 200; i++)
        assert_true(topk_offer(&t, (struct candidate){.distance = i * 7919 % 200, .row = i}));
    topk_sort(&t);
    assert_int_equal(calls, 0);
    topk_free(&t);
}

static void infinite_distances_and_both_zeros_are_ordered(void **state)
{
    static const double distances[] = {INFINITY, 0.0, -INFINITY, -0.0, INFINITY};
    static const uint32_t expected[] = {2, 3, 1, 4, 0};
    struct topk t = {0};
    size_t calls = 0;

    (void)state;
    topk_begin(&t, 5, by_row_falling, &calls);
    for (uint32_t i = 0; i < 5; i++)
        assert_true(topk_offer(&t, (struct candidate){.distance = distances[i], .row = i}));
    topk_sort(&t);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(t.heap[i].row, expected[i]);
    topk_free(&t);
}

static void a_large_k_costs_no_memory_before_candidates_come(void **state)
{
    struct topk t = {0};
    size_t calls = 0;

    (void)state;
    mem_fail_after(1);
    topk_begin(&t, SIZE_MAX, by_row_falling, &calls);
    mem_fail_after(0);
    assert_true(topk_offer(&t, (struct candidate){.distance = 1}));
    assert_true(t.capacity < 100);
    topk_free(&t);
}

static void an_offer_without_memory_fails_and_changes_nothing(void **state)
{
    struct topk t = {0};
    size_t calls = 0;

    (void)state;
    topk_begin(&t, 100, by_row_falling, &calls);
    for (uint32_t i = 0; t.count < t.capacity || i == 0; i++)
        assert_true(topk_offer(&t, (struct candidate){.distance = 1 + i, .row = i}));
    size_t kept = t.count;
    mem_fail_after(1);
    assert_false(topk_offer(&t, (struct candidate){.distance = 0}));
    mem_fail_after(0);
    assert_int_equal(t.count, kept);
    topk_sort(&t);
    for (uint32_t i = 0; i < kept; i++)
        assert_int_equal(t.heap[i].row, i);
    topk_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_k_first_are_those_that_sorting_gives),
        cmocka_unit_test(offers_in_falling_order_are_sorted_and_so_are_almost_falling_ones),
        cmocka_unit_test(keys_are_compared_for_equal_distances_only),
        cmocka_unit_test(infinite_distances_and_both_zeros_are_ordered),
        cmocka_unit_test(a_large_k_costs_no_memory_before_candidates_come),
        cmocka_unit_test(an_offer_without_memory_fails_and_changes_nothing),
    };
    return cmocka_run_group_tests_name("base/topk", tests, NULL, NULL);
}
