/* Values in another type: text and numbers. */
#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "db/value_convert.h"

/* Text as a double: true, and its bits, or false if it is refused. */
static bool read_double(const char *string, double *number)
{
    struct writer text = {0}, stored = {0};
    struct cell cell = {.present = true, .data = (const uint8_t *)string, .nbytes = strlen(string)};
    bool read =
        value_convert(PAUA_TYPE_STRING, PAUA_TYPE_DOUBLE, &text, &stored, &cell, NULL) == PAUA_OK;

    if (read) *number = double_of_key(cell.key);
    writer_free(&text);
    writer_free(&stored);
    return read;
}

static void text_of_any_finite_double_reads_as_that_double(void **state)
{
    static const double numbers[] = {0,           -1.5,   DBL_MAX, DBL_MIN,
                                     DBL_MIN / 2, 5e-324, -5e-324, 3e-320};
    char text[64];
    double got;

    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        snprintf(text, sizeof text, "%.17g", numbers[i]);
        assert_true(read_double(text, &got));
        assert_memory_equal(&got, &numbers[i], sizeof got);
    }
}

static void text_out_of_the_range_of_doubles_is_refused(void **state)
{
    static const char *texts[] = {"1e309", "-1e309", "1e-400", "", " 1", "1 ", "1e", "0x"};
    double got;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_false(read_double(texts[i], &got));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_of_any_finite_double_reads_as_that_double),
        cmocka_unit_test(text_out_of_the_range_of_doubles_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
