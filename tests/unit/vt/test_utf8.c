/* test_utf8.c - ill-formed UTF-8 against an independent reading of the standard: Unicode 15, table
 * 3-7 and "U+FFFD Substitution of Maximal Subparts". */
#include "support.h"

/* Table 3-7: ranges of the bytes of well-formed sequences. */
static const struct {
    uint8_t nbytes;
    uint8_t low[4], high[4];
} forms[] = {
    {1, {0x00}, {0x7F}},
    {2, {0xC2, 0x80}, {0xDF, 0xBF}},
    {3, {0xE0, 0xA0, 0x80}, {0xE0, 0xBF, 0xBF}},
    {3, {0xE1, 0x80, 0x80}, {0xEC, 0xBF, 0xBF}},
    {3, {0xED, 0x80, 0x80}, {0xED, 0x9F, 0xBF}},
    {3, {0xEE, 0x80, 0x80}, {0xEF, 0xBF, 0xBF}},
    {4, {0xF0, 0x90, 0x80, 0x80}, {0xF0, 0xBF, 0xBF, 0xBF}},
    {4, {0xF1, 0x80, 0x80, 0x80}, {0xF3, 0xBF, 0xBF, 0xBF}},
    {4, {0xF4, 0x80, 0x80, 0x80}, {0xF4, 0x8F, 0xBF, 0xBF}},
};

/* Bytes from `at` on that begin some well-formed sequence; *whole: that are one. At least 1. */
static size_t subpart(const uint8_t *at, size_t left, bool *whole)
{
    size_t longest = 0;

    *whole = false;
    for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++) {
        size_t n = 0;

        while (n < left && n < forms[f].nbytes && at[n] >= forms[f].low[n] &&
               at[n] <= forms[f].high[n])
            n++;
        if (n > longest) longest = n;
        if (n == forms[f].nbytes) *whole = true;
    }
    return longest == 0 ? 1 : longest;
}

/* What a plain stream of these bytes prints and executes. */
static void expected(const uint8_t *bytes, size_t nbytes, char *out)
{
    for (size_t at = 0; at < nbytes;) {
        bool whole, c1;
        size_t n = subpart(bytes + at, nbytes - at, &whole);

        c1 = whole && n == 2 && bytes[at] == 0xC2 && bytes[at + 1] < 0xA0;
        if (!whole)
            out += sprintf(out, "\xEF\xBF\xBD");
        else if (bytes[at] < 0x20)
            out += sprintf(out, "<%02X>", bytes[at]);
        else if (bytes[at] != 0x7F && !c1)
            out += sprintf(out, "%.*s", (int)n, (const char *)bytes + at);
        at += n;
    }
    *out = '\0';
}

static void check(const uint8_t *bytes, size_t nbytes)
{
    static struct vt_log log;
    struct vt_log_opts opts = {.bytes = (const char *)bytes, .nbytes = nbytes, .plain = true};
    char wanted[64];

    expected(bytes, nbytes, wanted);
    assert_string_equal(vt_log_pieces(&log, &opts, 0, nbytes), wanted);
    assert_string_equal(vt_log_pieces(&log, &opts, 1, nbytes), wanted);
}

static void every_two_bytes_print_by_the_standard(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 0x10000; i++) {
        uint8_t bytes[] = {(uint8_t)(i >> 8), (uint8_t)i};

        check(bytes, 2);
    }
}

/* One byte of each kind that table 3-7 tells apart. */
static void every_kind_of_four_bytes_prints_by_the_standard(void **state)
{
    static const uint8_t kinds[] = {0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC2,
                                    0xDF, 0xE0, 0xE1, 0xED, 0xEF, 0xF0, 0xF1, 0xF4, 0xF5, 0xFF};
    enum { KINDS = sizeof kinds };

    (void)state;
    for (unsigned i = 0; i < KINDS * KINDS * KINDS * KINDS; i++) {
        uint8_t bytes[] = {kinds[i % KINDS], kinds[i / KINDS % KINDS],
                           kinds[i / KINDS / KINDS % KINDS], kinds[i / KINDS / KINDS / KINDS]};

        if (bytes[0] < 0xC2) continue; /* three bytes, and one alone, are tried otherwise */
        check(bytes, 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_two_bytes_print_by_the_standard),
        cmocka_unit_test(every_kind_of_four_bytes_prints_by_the_standard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
