/* Timestamps as text: strict RFC 3339, the whole range of 64 bits of nanoseconds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <paua/paua.h>

#define SECOND INT64_C(1000000000)

static const struct {
    const char *text;
    int64_t timestamp;
    const char *canonical; /* NULL: the text itself */
} good[] = {
    {"1970-01-01T00:00:00Z", 0, NULL},
    {"1970-01-01", 0, "1970-01-01T00:00:00Z"},
    {"1970-01-01T00:00:00", 0, "1970-01-01T00:00:00Z"},
    {"1970-01-01 00:00:01", SECOND, "1970-01-01T00:00:01Z"},
    {"1970-01-01t00:00:01z", SECOND, "1970-01-01T00:00:01Z"},
    {"1969-12-31T23:59:59.999999999Z", -1, NULL},
    {"1970-01-01T00:00:00.5Z", SECOND / 2, NULL},
    {"1970-01-01T00:00:00.500000Z", SECOND / 2, "1970-01-01T00:00:00.5Z"},
    {"1970-01-01T00:00:00.000000001Z", 1, NULL},
    {"1970-01-01T01:00:00+01:00", 0, "1970-01-01T00:00:00Z"},
    {"1969-12-31T18:30:00-05:30", 0, "1970-01-01T00:00:00Z"},
    {"1970-01-01T00:00:00-00:00", 0, "1970-01-01T00:00:00Z"},
    {"2000-02-29T00:00:00Z", INT64_C(951782400) * SECOND, NULL},
    {"2024-02-29T12:00:00Z", INT64_C(1709208000) * SECOND, NULL},
    {"1900-02-28T23:59:59Z", INT64_C(-2203891201) * SECOND, NULL},
    {"2026-11-30T21:40:00.5Z", INT64_C(1796074800) * SECOND + SECOND / 2, NULL},
    {"1677-09-21T00:12:43.145224192Z", INT64_MIN, NULL},
    {"2262-04-11T23:47:16.854775807Z", INT64_MAX, NULL},
};

static const char *const bad[] = {
    "",
    "1970",
    "1970-01",
    "1970-1-01",
    "1970-00-01",
    "1970-13-01",
    "1970-01-00",
    "1970-01-32",
    "1970-04-31",
    "1900-02-29",
    "2023-02-29",
    "2100-02-29",
    "1970-01-01T",
    "1970-01-01T00",
    "1970-01-01T00:00",
    "1970-01-01T24:00:00Z",
    "1970-01-01T00:60:00Z",
    "2016-12-31T23:59:60Z",
    "1970-01-01T00:00:00.Z",
    "1970-01-01T00:00:00.0000000001Z",
    "1970-01-01T00:00:00+1:00",
    "1970-01-01T00:00:00+0100",
    "1970-01-01T00:00:00+24:00",
    "1970-01-01T00:00:00+00:60",
    "1970-01-01T00:00:00ZZ",
    "1970-01-01X00:00:00Z",
    " 1970-01-01",
    "1970-01-01 ",
    "+1970-01-01",
    "1970-01-01T00:00:0\x30Z ",
    "1677-09-21T00:12:43.145224191Z",
    "2262-04-11T23:47:16.854775808Z",
    "0000-01-01",
    "9999-12-31",
    "2262-04-11T23:47:16.9Z",
};

static void texts_parse_and_print_canonically(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        int64_t timestamp;
        char text[36];

        if (paua_timestamp_parse(good[i].text, strlen(good[i].text), &timestamp, NULL) != PAUA_OK ||
            timestamp != good[i].timestamp)
            fail_msg("%s", good[i].text);
        paua_timestamp_format(timestamp, text);
        assert_string_equal(text, good[i].canonical != NULL ? good[i].canonical : good[i].text);
    }
}

static void texts_that_are_none_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t timestamp = 42;
        paua_error err = {0};

        if (paua_timestamp_parse(bad[i], strlen(bad[i]), &timestamp, &err) != PAUA_EINVAL)
            fail_msg("\"%s\" is taken", bad[i]);
        assert_true(timestamp == 42 && err.message[0] != '\0');
    }
    assert_int_equal(paua_timestamp_parse("1970-01-01\0", 11, &(int64_t){0}, NULL), PAUA_EINVAL);
    assert_int_equal(paua_timestamp_parse(NULL, 0, &(int64_t){0}, NULL), PAUA_EINVAL);
}

/* Every prefix and every changed byte is refused or gives a time that prints and parses again. */
static void damaged_texts_never_read_beyond(void **state)
{
    static const char text[] = "2026-11-30T21:40:00.123456789+01:30";
    size_t length = sizeof text - 1;

    (void)state;
    for (size_t at = 0; at < length; at++) {
        for (unsigned byte = 0; byte < 256; byte++) {
            char *copy = malloc(length);
            int64_t timestamp, again;
            char printed[36];

            assert_non_null(copy);
            memcpy(copy, text, length);
            copy[at] = (char)byte;
            for (size_t n = at + 1; n <= length; n += length - at - 1 > 0 ? length - at - 1 : 1) {
                if (paua_timestamp_parse(copy, n, &timestamp, NULL) != PAUA_OK) continue;
                paua_timestamp_format(timestamp, printed);
                assert_int_equal(paua_timestamp_parse(printed, strlen(printed), &again, NULL),
                                 PAUA_OK);
                assert_true(again == timestamp);
            }
            free(copy);
        }
    }
}

/* Against the C library's calendar, over the whole range. */
static void days_are_those_of_the_calendar(void **state)
{
    (void)state;
    for (int64_t seconds = INT64_C(-9223372000); seconds < INT64_C(9223372000);
         seconds += INT64_C(1234567)) {
        time_t when = (time_t)seconds;
        struct tm tm;
        char wanted[40], text[36];
        int64_t timestamp;

        assert_non_null(gmtime_r(&when, &tm));
        strftime(wanted, sizeof wanted, "%Y-%m-%dT%H:%M:%SZ", &tm);
        paua_timestamp_format(seconds * SECOND, text);
        assert_string_equal(text, wanted);
        assert_int_equal(paua_timestamp_parse(text, strlen(text), &timestamp, NULL), PAUA_OK);
        assert_true(timestamp == seconds * SECOND);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_parse_and_print_canonically),
        cmocka_unit_test(texts_that_are_none_are_refused),
        cmocka_unit_test(damaged_texts_never_read_beyond),
        cmocka_unit_test(days_are_those_of_the_calendar),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
