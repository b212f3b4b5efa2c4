/* test_memory.c - allocations that fail on demand, and blocks that grow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include <cmocka.h>

#include "base/large.h"
#include "base/memory.h"

static bool allocation_works(void)
{
    void *block = mem_alloc(1);
    bool worked = block != NULL;

    mem_free(block);
    return worked;
}

static void the_nth_allocation_and_all_after_it_fail(void **state)
{
    (void)state;
    for (uint64_t n = 1; n <= 5; n++) {
        mem_fail_after(n);
        for (uint64_t i = 1; i <= 10; i++)
            assert_int_equal(allocation_works(), i < n);
        mem_fail_after(0);
        assert_true(allocation_works());
    }
}

static void every_way_to_allocate_can_fail(void **state)
{
    void *block = mem_alloc(4), *growing = NULL;
    size_t capacity = 0;

    (void)state;
    mem_fail_after(1);
    assert_null(mem_alloc(1));
    assert_null(mem_zalloc(1, 1));
    assert_null(mem_realloc(block, 8));
    assert_null(mem_aligned(64, 64));
    assert_null(mem_strdup("x"));
    assert_null(mem_dup("x", 1));
    assert_int_equal(mem_grow(&growing, &capacity, 1, 1), -1);
    mem_fail_after(0);
    assert_null(growing);
    assert_int_equal(capacity, 0);
    mem_free(block);
}

/* Sizes on both sides of where blocks become mappings. */
static void blocks_keep_their_bytes_at_every_size(void **state)
{
    static const size_t sizes[] = {1, 4096, LARGE_NBYTES - 1, LARGE_NBYTES, 3 * LARGE_NBYTES + 5};
    const size_t count = sizeof sizes / sizeof sizes[0];

    (void)state;
    for (size_t from = 0; from < count; from++)
        for (size_t to = 0; to < count; to++) {
            size_t kept = sizes[from] < sizes[to] ? sizes[from] : sizes[to];
            unsigned char *block = mem_alloc(sizes[from]);

            assert_non_null(block);
            memset(block, 0x5A, sizes[from]);
            block = mem_realloc(block, sizes[to]);
            assert_non_null(block);
            for (size_t i = 0; i < kept; i += kept / 16 + 1)
                assert_int_equal(block[i], 0x5A);
            memset(block, 1, sizes[to]);
            mem_free(block);
        }
}

static void large_blocks_are_zeroed_aligned_and_resized(void **state)
{
    unsigned char *zeroed = mem_zalloc(2, LARGE_NBYTES), *aligned = mem_aligned(64, LARGE_NBYTES);

    (void)state;
    for (size_t i = 0; i < 2 * LARGE_NBYTES; i += 4096)
        assert_int_equal(zeroed[i], 0);
    assert_int_equal((uintptr_t)aligned % 64, 0);
    memset(aligned, 7, LARGE_NBYTES);
    aligned = mem_trim(aligned, 64, 100);
    assert_int_equal((uintptr_t)aligned % 64, 0);
    assert_int_equal(aligned[99], 7);
    mem_free(aligned);
    mem_free(zeroed);
}

static void more_large_blocks_than_the_table_holds_are_there_all_the_same(void **state)
{
    void *blocks[300];

    (void)state;
    for (size_t i = 0; i < 300; i++) {
        blocks[i] = mem_alloc(LARGE_NBYTES);
        assert_non_null(blocks[i]);
    }
    for (size_t i = 0; i < 300; i++)
        mem_free(blocks[i]);
}

static void a_failed_realloc_leaves_the_block(void **state)
{
    char *block = mem_strdup("kept");

    (void)state;
    mem_fail_after(1);
    assert_null(mem_realloc(block, 1000));
    mem_fail_after(0);
    assert_string_equal(block, "kept");
    block = mem_realloc(block, 1000);
    assert_string_equal(block, "kept");
    mem_free(block);
}

static void allocating_nothing_gives_a_block(void **state)
{
    void *blocks[] = {mem_alloc(0),         mem_zalloc(0, 8),   mem_zalloc(8, 0),
                      mem_realloc(NULL, 0), mem_aligned(64, 0), mem_dup(NULL, 0)};

    (void)state;
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        assert_non_null(blocks[i]);
        mem_free(blocks[i]);
    }
    mem_free(NULL);
}

static void zeroed_blocks_are_zero_and_refuse_to_overflow(void **state)
{
    static const uint8_t zeros[24] = {0};
    uint8_t *block = mem_zalloc(3, 8);

    (void)state;
    assert_memory_equal(block, zeros, sizeof zeros);
    mem_free(block);
    assert_null(mem_zalloc(SIZE_MAX / 2, 3));
}

static void aligned_blocks_are_aligned(void **state)
{
    (void)state;
    for (size_t alignment = sizeof(void *); alignment <= 4096; alignment *= 2) {
        void *block = mem_aligned(alignment, 10);

        assert_non_null(block);
        assert_int_equal((uintptr_t)block % alignment, 0);
        mem_free(block);
    }
}

static void copies_equal_their_originals(void **state)
{
    char *text = mem_strdup("kea"), *bytes = mem_dup("a\0b", 3);

    (void)state;
    assert_string_equal(text, "kea");
    assert_memory_equal(bytes, "a\0b", 3);
    mem_free(text);
    mem_free(bytes);
}

static void growing_doubles_and_keeps_what_was_there(void **state)
{
    uint32_t *numbers = NULL;
    size_t capacity = 0, growths = 0;

    (void)state;
    for (uint32_t i = 0; i < 10000; i++) {
        size_t before = capacity;
        void *block = numbers;

        assert_int_equal(mem_grow(&block, &capacity, i + 1, sizeof *numbers), 0);
        numbers = block;
        assert_true(capacity >= i + 1);
        growths += capacity != before;
        numbers[i] = i;
    }
    for (uint32_t i = 0; i < 10000; i++)
        assert_int_equal(numbers[i], i);
    assert_true(growths <= 12);
    mem_free(numbers);
}

static void growing_beyond_the_address_space_changes_nothing(void **state)
{
    void *block = NULL;
    size_t capacity = 0;

    (void)state;
    assert_int_equal(mem_grow(&block, &capacity, 4, 8), 0);
    void *before = block;
    size_t capacity_before = capacity;
    assert_int_equal(mem_grow(&block, &capacity, SIZE_MAX / 4, 8), -1);
    assert_int_equal(mem_grow(&block, &capacity, SIZE_MAX, 1), -1);
    assert_ptr_equal(block, before);
    assert_int_equal(capacity, capacity_before);
    mem_free(block);
}

#define THREADS 4
#define EACH 1000

static void *allocate_many(void *arg)
{
    uint64_t *worked = arg;

    for (int i = 0; i < EACH; i++)
        *worked += allocation_works();
    return NULL;
}

static void threads_together_get_exactly_the_allocations_before_the_nth(void **state)
{
    pthread_t threads[THREADS];
    uint64_t worked[THREADS] = {0}, total = 0;

    (void)state;
    mem_fail_after(2501);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, allocate_many, &worked[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        total += worked[i];
    }
    mem_fail_after(0);
    assert_int_equal(total, 2500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nth_allocation_and_all_after_it_fail),
        cmocka_unit_test(every_way_to_allocate_can_fail),
        cmocka_unit_test(a_failed_realloc_leaves_the_block),
        cmocka_unit_test(blocks_keep_their_bytes_at_every_size),
        cmocka_unit_test(large_blocks_are_zeroed_aligned_and_resized),
        cmocka_unit_test(more_large_blocks_than_the_table_holds_are_there_all_the_same),
        cmocka_unit_test(allocating_nothing_gives_a_block),
        cmocka_unit_test(zeroed_blocks_are_zero_and_refuse_to_overflow),
        cmocka_unit_test(aligned_blocks_are_aligned),
        cmocka_unit_test(copies_equal_their_originals),
        cmocka_unit_test(growing_doubles_and_keeps_what_was_there),
        cmocka_unit_test(growing_beyond_the_address_space_changes_nothing),
        cmocka_unit_test(threads_together_get_exactly_the_allocations_before_the_nth),
    };
    return cmocka_run_group_tests_name("base/memory", tests, NULL, NULL);
}
