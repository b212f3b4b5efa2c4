/* test_sgr.c - SGR sequences and the styles they make. */
#include "support.h"

#include "vt/sgr.h"

static paua_history_style style;

static void on_csi(void *arg, const struct vt_sequence *s)
{
    (void)arg;
    if (s->final == 'm') sgr_apply(s, &style);
}

static void on_text(void *arg, const char *text, size_t nbytes)
{
    (void)arg;
    fail_msg("printed %.*s", (int)nbytes, text);
}

/* Applies CSI params m to the style. */
static void apply(const char *params)
{
    struct vt_actions actions = vt_log_actions;
    struct vt_parser_opts opts = {.actions = &actions};
    struct vt_parser parser;

    actions.csi = on_csi;
    actions.print = on_text;
    vt_parser_init(&parser, &opts);
    vt_parser_feed(&parser, "\x1B[", 2);
    vt_parser_feed(&parser, params, strlen(params));
    vt_parser_feed(&parser, "m", 1);
}

static void assert_style(const char *params, const paua_history_style *expected)
{
    if (memcmp(&style, expected, sizeof style) != 0)
        fail_msg("%s: foreground %x, background %x, underline %x, attributes %x, link %u", params,
                 style.foreground, style.background, style.underline_colour, style.attributes,
                 style.link);
}

#define RGB PAUA_HISTORY_RGB
#define INDEX PAUA_HISTORY_INDEXED

static const struct {
    const char *params;
    paua_history_style style; /* from the default */
} samples[] = {
    {"", {0}},
    {"0", {0}},
    {"1", {.attributes = PAUA_HISTORY_BOLD}},
    {"2", {.attributes = PAUA_HISTORY_FAINT}},
    {"3", {.attributes = PAUA_HISTORY_ITALIC}},
    {"4", {.attributes = PAUA_HISTORY_UNDERLINE_SINGLE}},
    {"5", {.attributes = PAUA_HISTORY_BLINK}},
    {"6", {.attributes = PAUA_HISTORY_RAPID_BLINK}},
    {"7", {.attributes = PAUA_HISTORY_INVERSE}},
    {"8", {.attributes = PAUA_HISTORY_INVISIBLE}},
    {"9", {.attributes = PAUA_HISTORY_STRIKE}},
    {"21", {.attributes = PAUA_HISTORY_UNDERLINE_DOUBLE}},
    {"53", {.attributes = PAUA_HISTORY_OVERLINE}},
    {"4:0", {0}},
    {"4:1", {.attributes = PAUA_HISTORY_UNDERLINE_SINGLE}},
    {"4:2", {.attributes = PAUA_HISTORY_UNDERLINE_DOUBLE}},
    {"4:3", {.attributes = PAUA_HISTORY_UNDERLINE_CURLY}},
    {"4:4", {.attributes = PAUA_HISTORY_UNDERLINE_DOTTED}},
    {"4:5", {.attributes = PAUA_HISTORY_UNDERLINE_DASHED}},
    {"4:6", {0}},
    {"4:65535", {0}},
    {"4:1:1", {0}},
    {"21;4:3", {.attributes = PAUA_HISTORY_UNDERLINE_CURLY}},
    {"1:1", {0}},
    {"30;40", {INDEX(0), INDEX(0), 0, 0, 0}},
    {"37;47", {INDEX(7), INDEX(7), 0, 0, 0}},
    {"90;100", {INDEX(8), INDEX(8), 0, 0, 0}},
    {"97;107", {INDEX(15), INDEX(15), 0, 0, 0}},
    {"98;99;108;109;29;10;19;20;26;50;51;52;54;56;57;60;65;73;110;65535", {0}},
    {"38;5;196;48;5;17;58;5;255", {INDEX(196), INDEX(17), INDEX(255), 0, 0}},
    {"38;2;1;2;3;48;2;4;5;6;58;2;255;0;255", {RGB(1, 2, 3), RGB(4, 5, 6), RGB(255, 0, 255), 0, 0}},
    {"38:5:196;48:5:0;58:5:255", {INDEX(196), INDEX(0), INDEX(255), 0, 0}},
    {"38:2:59:66:97;48:2:36:40:59;58:2:224:175:104;4:3",
     {RGB(59, 66, 97), RGB(36, 40, 59), RGB(224, 175, 104), PAUA_HISTORY_UNDERLINE_CURLY, 0}},
    {"38:2::1:2:3;48:2:0:4:5:6", {RGB(1, 2, 3), RGB(4, 5, 6), 0, 0, 0}},
    {"38:2::1:2:3::1", {RGB(1, 2, 3), 0, 0, 0, 0}},
    {"38;2;;;", {RGB(0, 0, 0), 0, 0, 0, 0}},
    {"38;5;;1", {INDEX(0), 0, 0, PAUA_HISTORY_BOLD, 0}},
    {"38;5;256;1", {.attributes = PAUA_HISTORY_BOLD}},
    {"38;2;1;256;3;1", {.attributes = PAUA_HISTORY_BOLD}},
    {"38:5:256;1", {.attributes = PAUA_HISTORY_BOLD}},
    {"38:2:256:2:3;1", {.attributes = PAUA_HISTORY_BOLD}},
    {"38;7;1", {.attributes = PAUA_HISTORY_BOLD}},
    {"38:7:1;1", {.attributes = PAUA_HISTORY_BOLD}},
    {"38", {0}},
    {"38;5", {0}},
    {"38;2;1;2", {0}},
    {"38:", {0}},
    {"38:5", {0}},
    {"38:2:1:2", {0}},
    {"38;5;4:3", {.attributes = PAUA_HISTORY_UNDERLINE_CURLY}},
    {"38;4:3", {.attributes = PAUA_HISTORY_UNDERLINE_CURLY}},
    {"1;;3", {.attributes = PAUA_HISTORY_ITALIC}},
    {"1;31;", {0}},
};

static void every_form_gives_its_style(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        style = (paua_history_style){0};
        apply(samples[i].params);
        assert_style(samples[i].params, &samples[i].style);
    }
}

static const paua_history_style full = {INDEX(1), RGB(1, 2, 3), INDEX(3),
                                        0x01FF | PAUA_HISTORY_UNDERLINE_CURLY, 7};

static const struct {
    const char *params;
    uint16_t cleared;
} endings[] = {
    {"22", PAUA_HISTORY_BOLD | PAUA_HISTORY_FAINT},
    {"23", PAUA_HISTORY_ITALIC},
    {"24", PAUA_HISTORY_UNDERLINE_MASK},
    {"4:0", PAUA_HISTORY_UNDERLINE_MASK},
    {"25", PAUA_HISTORY_BLINK | PAUA_HISTORY_RAPID_BLINK},
    {"27", PAUA_HISTORY_INVERSE},
    {"28", PAUA_HISTORY_INVISIBLE},
    {"29", PAUA_HISTORY_STRIKE},
    {"55", PAUA_HISTORY_OVERLINE},
    {"20", 0},
    {"26", 0},
};

static void every_attribute_ends_alone(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        paua_history_style expected = full;

        style = full;
        apply(endings[i].params);
        expected.attributes = (uint16_t)(expected.attributes & ~endings[i].cleared);
        assert_style(endings[i].params, &expected);
    }
}

static void every_colour_ends_alone(void **state)
{
    paua_history_style expected = full;

    (void)state;
    style = full;
    apply("39");
    expected.foreground = 0;
    assert_style("39", &expected);
    apply("49");
    expected.background = 0;
    assert_style("49", &expected);
    apply("59");
    expected.underline_colour = 0;
    assert_style("59", &expected);
}

static void a_reset_ends_all_but_the_link(void **state)
{
    static const char *const resets[] = {"", "0", "1;0", ";"};
    const paua_history_style expected = {.link = 7};

    (void)state;
    for (size_t i = 0; i < sizeof resets / sizeof resets[0]; i++) {
        style = full;
        apply(resets[i]);
        assert_style(resets[i], &expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_gives_its_style),
        cmocka_unit_test(every_attribute_ends_alone),
        cmocka_unit_test(every_colour_ends_alone),
        cmocka_unit_test(a_reset_ends_all_but_the_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
