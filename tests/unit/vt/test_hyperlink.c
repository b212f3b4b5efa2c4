/* test_hyperlink.c - strings of OSC sequences, and the links in them. */
#include "support.h"

#include "vt/hyperlink.h"

/* An exact copy, so that a read beyond it is noticed. */
static bool parse(const char *osc, size_t nbytes, char **copy, paua_history_link *link)
{
    *copy = malloc(nbytes == 0 ? 1 : nbytes);
    assert_non_null(*copy);
    memcpy(*copy, osc, nbytes);
    return hyperlink_parse(*copy, nbytes, false, link);
}

static void strings_about_links_are_read(void **state)
{
    static const struct {
        const char *osc, *id, *uri;
    } samples[] = {
        {"8;;http://a", "", "http://a"},
        {"8;id=x;http://a", "x", "http://a"},
        {"8;a=b:id=x y:c;file:///d;e;f", "x y", "file:///d;e;f"},
        {"8;id=;u", "", "u"},
        {"8;id=a:id=b;u", "a", "u"},
        {"8;id;u", "", "u"},
        {"8;xid=a;u", "", "u"},
        {"8;:::;u", "", "u"},
        {"8;;", "", ""},
        {"8;id=a;", "", ""},
        {"8;;a\x7F", "", ""},
        {"8;id=\x7F;a", "", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        paua_history_link link;
        char *copy;

        assert_true(parse(samples[i].osc, strlen(samples[i].osc), &copy, &link));
        assert_int_equal(link.uri_nbytes, strlen(samples[i].uri));
        assert_int_equal(link.id_nbytes, strlen(samples[i].id));
        if (link.uri_nbytes > 0) assert_memory_equal(link.uri, samples[i].uri, link.uri_nbytes);
        if (link.id_nbytes > 0) assert_memory_equal(link.id, samples[i].id, link.id_nbytes);
        free(copy);
    }
}

static void other_strings_are_not_about_links(void **state)
{
    static const char *const samples[] = {"",       "8",     "8;",   "8;id=a",
                                          "0;8;;a", "88;;a", "9;;a", " 8;;a"};

    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        paua_history_link link;
        char *copy;

        assert_false(parse(samples[i], strlen(samples[i]), &copy, &link));
        free(copy);
    }
}

static void a_link_over_the_limits_is_none(void **state)
{
    static char osc[2 * PAUA_HISTORY_LINK_NBYTES_MAX + 16];

    (void)state;
    for (size_t over = 0; over < 2; over++) {
        size_t n = PAUA_HISTORY_LINK_NBYTES_MAX + over;
        paua_history_link link;
        char *copy;

        memset(osc, 'a', sizeof osc);
        memcpy(osc, "8;;", 3);
        assert_true(parse(osc, 3 + n, &copy, &link));
        assert_int_equal(link.uri_nbytes, over ? 0 : n);
        free(copy);
        memset(osc, 'a', sizeof osc);
        memcpy(osc, "8;id=", 5);
        memcpy(osc + 5 + n, ";u", 2);
        assert_true(parse(osc, 5 + n + 2, &copy, &link));
        assert_int_equal(link.id_nbytes, over ? 0 : n);
        assert_int_equal(link.uri_nbytes, over ? 0 : 1);
        free(copy);
    }
}

static void a_link_that_was_cut_is_none(void **state)
{
    paua_history_link link = {"u", "", 1, 0};

    (void)state;
    assert_true(hyperlink_parse("8;;http://a", 11, true, &link));
    assert_int_equal(link.uri_nbytes, 0);
    assert_true(hyperlink_parse("8;id=", 5, true, &link));
    assert_false(hyperlink_parse("9;;http://a", 11, true, &link));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_about_links_are_read),
        cmocka_unit_test(other_strings_are_not_about_links),
        cmocka_unit_test(a_link_over_the_limits_is_none),
        cmocka_unit_test(a_link_that_was_cut_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
