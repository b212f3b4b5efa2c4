/* test_arena.c - blocks that never move, and memory that a reset keeps for the next use. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"

#define BLOCKS 5000u

static void blocks_are_aligned_distinct_and_never_move(void **state)
{
    struct arena arena = {0};
    static uint8_t *blocks[BLOCKS];

    (void)state;
    for (uint32_t i = 0; i < BLOCKS; i++) {
        blocks[i] = arena_alloc(&arena, 1 + i % 97);
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % 8, 0);
        memset(blocks[i], (int)(i % 251), 1 + i % 97);
    }
    for (uint32_t i = 0; i < BLOCKS; i++)
        for (uint32_t j = 0; j < 1 + i % 97; j++)
            assert_int_equal(blocks[i][j], i % 251);
    arena_free(&arena);
    assert_int_equal(arena.nbytes, 0);
}

static void a_copy_equals_its_source(void **state)
{
    struct arena arena = {0};
    char *copy = arena_copy(&arena, "abalone", 8);

    (void)state;
    assert_string_equal(copy, "abalone");
    assert_non_null(arena_copy(&arena, NULL, 0));
    arena_free(&arena);
}

static void a_large_request_gets_all_it_asked_for(void **state)
{
    struct arena arena = {0};
    uint8_t *small = arena_alloc(&arena, 3), *large = arena_alloc(&arena, 3u << 20);

    (void)state;
    assert_non_null(small);
    assert_non_null(large);
    memset(large, 0x5A, 3u << 20);
    assert_true(arena.nbytes >= 3u << 20);
    arena_free(&arena);
}

static void a_size_that_wraps_around_is_refused(void **state)
{
    struct arena arena = {0};

    (void)state;
    assert_null(arena_alloc(&arena, SIZE_MAX));
    assert_null(arena_alloc(&arena, SIZE_MAX - 3));
    assert_int_equal(arena.nbytes, 0);
    arena_free(&arena);
}

static void a_reset_keeps_the_newest_block_only(void **state)
{
    struct arena arena = {0};
    size_t held;

    (void)state;
    arena_reset(&arena); /* of an empty one: nothing */
    for (uint32_t i = 0; i < 100; i++)
        assert_non_null(arena_alloc(&arena, 1000));
    held = arena.nbytes;
    arena_reset(&arena);
    assert_true(arena.nbytes > 0 && arena.nbytes < held);
    held = arena.nbytes;
    for (uint32_t i = 0; i < 10; i++)
        assert_non_null(arena_alloc(&arena, 1000));
    assert_int_equal(arena.nbytes, held);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_aligned_distinct_and_never_move),
        cmocka_unit_test(a_copy_equals_its_source),
        cmocka_unit_test(a_large_request_gets_all_it_asked_for),
        cmocka_unit_test(a_size_that_wraps_around_is_refused),
        cmocka_unit_test(a_reset_keeps_the_newest_block_only),
    };

    return cmocka_run_group_tests_name("base/arena", tests, NULL, NULL);
}
