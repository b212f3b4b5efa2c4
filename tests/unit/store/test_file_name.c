/* test_file_name.c - names of data files, written and parsed. */
#include "store/file_writer.h"
#include "unit/store/temp.h"

static void a_name_parses_back_to_what_it_was_made_from(void **state)
{
    static const uint64_t numbers[] = {
        0, 1, 17, 99999, 999999, 1000000, 12345678, UINT64_C(1) << 40, UINT64_MAX};
    static const enum file_kind kinds[] = {FILE_VECTORS_F32, FILE_VECTORS_F16, FILE_HEAP,
                                           FILE_KEYS,        FILE_CODES,       FILE_GRAPH,
                                           FILE_COLUMNS};
    enum { KINDS = sizeof kinds / sizeof kinds[0] };

    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        for (size_t k = 0; k < 2 * KINDS; k++) {
            char name[FILE_NAME_NBYTES];
            uint64_t number;
            enum file_kind kind;
            bool temporary;

            file_name(name, numbers[i], kinds[k % KINDS]);
            if (k >= KINDS) strcat(name, ".tmp");
            assert_true(file_name_parse(name, &number, &kind, &temporary));
            assert_int_equal(number, numbers[i]);
            assert_int_equal(kind, kinds[k % KINDS]);
            assert_int_equal(temporary, k >= KINDS);
        }
}

static void names_are_padded_to_six_digits(void **state)
{
    char name[FILE_NAME_NBYTES];

    (void)state;
    file_name(name, 17, FILE_VECTORS_F32);
    assert_string_equal(name, "000017.f32");
    file_name(name, 1234567, FILE_HEAP);
    assert_string_equal(name, "1234567.heap");
    file_name(name, 3, FILE_CODES);
    assert_string_equal(name, "000003.codes");
}

static void names_that_are_nearly_ours_are_not_ours(void **state)
{
    static const char *const names[] = {
        "",
        ".",
        "17.f32",
        "0000017.f32",
        "000017.f33",
        "000017.f3",
        "000017.f322",
        "000017.f32.tm",
        "000017.f32.tmpp",
        "000017.f32.tmp.tmp",
        "000017",
        "000017.",
        "000017.tmp",
        "-00017.f32",
        "+00017.f32",
        " 000017.f32",
        "00001x.f32",
        "000017.F32",
        "000017f32",
        "18446744073709551616.f32",
        "99999999999999999999999999.f32",
        "catalog.sqlite",
        "locks",
    };

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        uint64_t number = 5;
        enum file_kind kind = FILE_KEYS;
        bool temporary = true;

        if (file_name_parse(names[i], &number, &kind, &temporary))
            fail_msg("'%s' parses", names[i]);
        assert_int_equal(number, 5);
        assert_int_equal(kind, FILE_KEYS);
        assert_true(temporary);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_parses_back_to_what_it_was_made_from),
        cmocka_unit_test(names_are_padded_to_six_digits),
        cmocka_unit_test(names_that_are_nearly_ours_are_not_ours),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
