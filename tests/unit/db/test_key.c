/* test_key.c - a caller's keys and vectors: what is refused, and what their stored bytes are. */
#include "support/support.h"

#include <math.h>
#include <stdio.h>

#include "db/key.h"

static struct schema schema_of(paua_key_kind kind, uint32_t dim, paua_precision precision)
{
    struct schema s = {.collection = 1, .name = "c", .key_kind = kind, .field_count = 1};

    s.fields[0] = (struct schema_field){.name = "v",
                                        .dim = dim,
                                        .metric = PAUA_L2,
                                        .precision = precision,
                                        .originals = precision == PAUA_FP16 ? PAUA_ORIGINALS_FP16
                                                                            : PAUA_ORIGINALS_FP32};
    return s;
}

static void numbers_are_ordered_as_numbers(void **state)
{
    struct schema s = schema_of(PAUA_KEY_U64, 1, PAUA_FP32);
    uint64_t numbers[] = {0, 1, 255, 256, UINT64_C(1) << 40, UINT64_MAX};
    paua_keys keys = {.count = 6, .u64 = numbers};
    struct writer a = {0}, b = {0};

    (void)state;
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < 6; j++) {
            struct key x, y;
            int order;

            assert_ok(key_from_caller(&s, &keys, i, &a, &x, &test_err));
            assert_ok(key_from_caller(&s, &keys, j, &b, &y, &test_err));
            order = key_compare(&s, x, y);
            assert_true(i < j ? order < 0 : i > j ? order > 0 : order == 0);
            assert_int_equal(key_equal(x, y), i == j);
            assert_true(key_public(&s, x).u64 == numbers[i]);
        }
    writer_free(&a);
    writer_free(&b);
}

static void strings_are_ordered_by_bytes_and_shorter_first(void **state)
{
    struct schema s = schema_of(PAUA_KEY_STRING, 1, PAUA_FP32);
    paua_bytes strings[] = {{"\0", 1}, {"a", 1}, {"a\0", 2}, {"aa", 2}, {"b", 1}, {"\xC3\xA9", 2}};
    paua_keys keys = {.count = 6, .strings = strings};
    struct writer scratch = {0};

    (void)state;
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < 6; j++) {
            struct key x, y;
            int order;

            assert_ok(key_from_caller(&s, &keys, i, &scratch, &x, &test_err));
            assert_ok(key_from_caller(&s, &keys, j, &scratch, &y, &test_err));
            order = key_compare(&s, x, y);
            assert_true(i < j ? order < 0 : i > j ? order > 0 : order == 0);
        }
    writer_free(&scratch);
}

static void the_hash_is_the_one_of_format_1(void **state)
{
    (void)state; /* XXH3, 64 bits, seed 0: published values */
    assert_true(key_hash((struct key){(const uint8_t *)"", 0}) == UINT64_C(0x2D06800538D394C2));
    assert_true(key_hash((struct key){(const uint8_t *)"abc", 3}) == UINT64_C(0x78AF5F94892F3950));
}

static void a_component_that_is_not_finite_is_named(void **state)
{
    struct schema s = schema_of(PAUA_KEY_VECTOR, 9, PAUA_FP32);
    uint8_t stored[64];

    (void)state;
    for (uint32_t at = 0; at < 9; at++) {
        float v[9] = {0};
        char wanted[32];

        v[at] = at % 2 == 0 ? NAN : -INFINITY;
        assert_fails(vector_store(&s.fields[0], v, 7, stored, &test_err), PAUA_EINVAL);
        assert_int_equal(test_err.row, 7);
        snprintf(wanted, sizeof wanted, "component %u", at);
        assert_non_null(strstr(test_err.message, wanted));
        assert_non_null(strstr(test_err.message, at % 2 == 0 ? "NaN" : "infinite"));
    }
}

static void halves_round_at_their_limit_and_are_refused_beyond(void **state)
{
    struct schema s = schema_of(PAUA_KEY_VECTOR, 2, PAUA_FP16);
    float good[2] = {65519.996f, -65519.996f}, bad[2] = {1, 65520.0f}, low[2] = {-65520.0f, 0};
    uint16_t stored[2];

    (void)state;
    assert_ok(vector_store(&s.fields[0], good, 0, (uint8_t *)stored, &test_err));
    assert_int_equal(stored[0], 0x7BFF);
    assert_int_equal(stored[1], 0xFBFF);
    assert_fails(vector_store(&s.fields[0], bad, 0, (uint8_t *)stored, &test_err), PAUA_EINVAL);
    assert_non_null(strstr(test_err.message, "component 1"));
    assert_fails(vector_check(&s.fields[0], low, 0, &test_err), PAUA_EINVAL);
    assert_int_equal(stored[0], 0x7BFF); /* untouched */
}

static void a_vector_key_is_its_stored_bits(void **state)
{
    struct schema s = schema_of(PAUA_KEY_VECTOR, 2, PAUA_FP16);
    float vectors[] = {1.0f, 2.0f, 99, 1.0f + 0x1p-13f, 2.0f, 99};
    paua_keys keys = {.count = 2, .vectors = vectors, .stride = 3};
    struct writer a = {0}, b = {0};
    struct key x, y;

    (void)state;
    assert_ok(key_from_caller(&s, &keys, 0, &a, &x, &test_err));
    assert_ok(key_from_caller(&s, &keys, 1, &b, &y, &test_err));
    assert_int_equal(x.nbytes, 4);
    assert_true(key_equal(x, y)); /* the same half */
    writer_free(&a);
    writer_free(&b);
}

static void only_strings_vary_in_length(void **state)
{
    struct schema s = schema_of(PAUA_KEY_U64, 5, PAUA_FP16);

    (void)state;
    assert_int_equal(key_fixed_nbytes(&s), 8);
    s.key_kind = PAUA_KEY_VECTOR;
    assert_int_equal(key_fixed_nbytes(&s), 10);
    s.key_kind = PAUA_KEY_STRING;
    assert_int_equal(key_fixed_nbytes(&s), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_ordered_as_numbers),
        cmocka_unit_test(strings_are_ordered_by_bytes_and_shorter_first),
        cmocka_unit_test(the_hash_is_the_one_of_format_1),
        cmocka_unit_test(a_component_that_is_not_finite_is_named),
        cmocka_unit_test(halves_round_at_their_limit_and_are_refused_beyond),
        cmocka_unit_test(a_vector_key_is_its_stored_bits),
        cmocka_unit_test(only_strings_vary_in_length),
    };

    return cmocka_run_group_tests_name("db/key", tests, NULL, NULL);
}
