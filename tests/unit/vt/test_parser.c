/* test_parser.c - streams and their actions, in every way they can be cut. */
#include "support.h"

struct sample {
    const char *bytes;
    size_t nbytes;
    const char *actions;
};
#define S(text, actions)                                                                           \
    {                                                                                              \
        text, sizeof(text) - 1, actions                                                            \
    }
#define FFFD "\xEF\xBF\xBD"

static const struct sample samples[] = {
    S("", ""),
    S("plain text ~!", "plain text ~!"),
    S("a\r\nb\tc\x07\x7F"
      "d\0e",
      "a<0D><0A>b<09>c<07>d<00>e"),
    S("0123\x7F"
      "56789\x7F"
      "bcdefg\nijklmno",
      "012356789bcdefg<0A>ijklmno"),
    S("\x7F"
      "1234567\x1F"
      "9abcdef",
      "1234567<1F>9abcdef"),
    /* escape sequences */
    S("\x1B"
      "7\x1B"
      "8",
      "{ESC 7}{ESC 8}"),
    S("\x1B(B\x1B#8\x1B)0\x1B%G", "{ESC (B}{ESC #8}{ESC )0}{ESC %G}"),
    S("\x1B c\x1B $c\x1B $(c\x1B $($cx", "{ESC  c}{ESC  $c}x"),
    S("\x1B=\x1B>\x1B:\x1B;", "{ESC =}{ESC >}{ESC :}{ESC ;}"),
    S("\x1B\x1B\x1B"
      "D",
      "{ESC D}"),
    S("\x1B(\x1B"
      "D",
      "{ESC D}"),
    S("\x1B(\nB", "<0A>{ESC (B}"),
    S("\x1B\x7F(\x7F"
      "B",
      "{ESC (B}"),
    S("\x1B(\x18"
      "B\x1B\x1A"
      "c",
      "<18>B<1A>c"),
    S("\x1B"
      "Dx\x1B\\y",
      "{ESC D}x{ESC \\}y"),
    S("\x1B"
      "\xC3\xA9"
      "D",
      "\xC3\xA9"
      "D"),
    S("\x1B("
      "\xE2\x82\xAC"
      "D",
      "\xE2\x82\xAC"
      "D"),
    /* control sequences */
    S("\x1B[m\x1B[0m\x1B[;m\x1B[1;m\x1B[;1m", "{CSI  m}{CSI 0 m}{CSI ; m}{CSI 1; m}{CSI ;1 m}"),
    S("\x1B[1;31m\x1B[38;5;196m", "{CSI 1;31 m}{CSI 38;5;196 m}"),
    S("\x1B[38:2::1:2:3;4:3m", "{CSI 38:2::1:2:3;4:3 m}"),
    S("\x1B[:m\x1B[:1m\x1B[1:m\x1B[::;:m", "{CSI : m}{CSI :1 m}{CSI 1: m}{CSI ::;: m}"),
    S("\x1B[007m", "{CSI 7 m}"),
    S("\x1B[65535;65536;99999999999999999999C", "{CSI 65535;65535;65535 C}"),
    S("\x1B[?25h\x1B[?1049;2004l", "{CSI ?25 h}{CSI ?1049;2004 l}"),
    S("\x1B[>c\x1B[=1c\x1B[<3u\x1B[?m", "{CSI > c}{CSI =1 c}{CSI <3 u}{CSI ? m}"),
    S("\x1B[!p\x1B[2 q\x1B[?1$p\x1B[1;2'z", "{CSI  !p}{CSI 2  q}{CSI ?1 $p}{CSI 1;2 'z}"),
    S("\x1B[1 $q\x1B[1 $(qx", "{CSI 1  $q}x"),
    S("\x1B[1?25hx\x1B[??1hy\x1B[1<mz", "xyz"),
    S("\x1B[1 2qx\x1B[ ?qy\x1B[ ;qz\x1B[ :qw", "xyzw"),
    S("\x1B[1\n;2\rH", "<0A><0D>{CSI 1;2 H}"),
    S("\x1B[1?\n2hx", "<0A>x"),
    S("\x1B[1\x7F"
      "2H",
      "{CSI 12 H}"),
    S("\x1B[1;\x1B[2H", "{CSI 2 H}"),
    S("\x1B[1;\x18"
      "2Hx\x1B[1\x1A"
      "H",
      "<18>2Hx<1A>H"),
    S("\x1B[1?\x18"
      "2\x1B[1?\x1B"
      "D",
      "<18>2{ESC D}"),
    S("\x1B[1;"
      "\xE6\x97\xA5"
      "H",
      "\xE6\x97\xA5"
      "H"),
    S("\x1B[?"
      "\xFF"
      "H",
      FFFD "H"),
    S("\x1B[@\x1B[~\x1B[P\x1B[X\x1B[[\x1B[]\x1B[^\x1B[_\x1B[\\",
      "{CSI  @}{CSI  ~}{CSI  P}{CSI  X}{CSI  [}{CSI  ]}{CSI  ^}{CSI  _}{CSI  \\}"),
    S("\x1B[1;2;3;4;5;6;7;8;9;10;11;12;13;14;15;16;17;18;19;20;21;22;23;24;25;26;27;28;29;30;31;"
      "32m",
      "{CSI 1;2;3;4;5;6;7;8;9;10;11;12;13;14;15;16;17;18;19;20;21;22;23;24;25;26;27;28;29;30;31;32"
      " m}"),
    S("\x1B[1;2;3;4;5;6;7;8;9;10;11;12;13;14;15;16;17;18;19;20;21;22;23;24;25;26;27;28;29;30;31;32:"
      "33;34m",
      "{CSI 1;2;3;4;5;6;7;8;9;10;11;12;13;14;15;16;17;18;19;20;21;22;23;24;25;26;27;28;29;30;31;32"
      "+ m}"),
    S("\x1B[;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;m\x1B[5m",
      "{CSI ;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;+ m}{CSI 5 m}"),
    /* strings */
    S("\x1B]0;title\x07x", "{OSC 0;title}x"),
    S("\x1B]0;title\x1B\\x", "{OSC 0;title}{ESC \\}x"),
    S("\x1B]\x07\x1B]\x1B\\", "{OSC }{OSC }{ESC \\}"),
    S("\x1B]8;;http://a/?b;c\x1B\\L\x1B]8;;\x1B\\",
      "{OSC 8;;http://a/?b;c}{ESC \\}L{OSC 8;;}{ESC \\}"),
    S("\x1B]8;;http://x\x18ok", "<18>ok"),
    S("\x1B]8;;http://x\x1Aok", "<1A>ok"),
    S("\x1B]0;a\nb\x7F"
      "c\r\x07",
      "{OSC 0;ab\x7F"
      "c}"),
    S("\x1B]0;a\x1B[1mb", "{OSC 0;a}{CSI 1 m}b"),
    S("\x1B]0;a\x1B]1;b\x07", "{OSC 0;a}{OSC 1;b}"),
    S("\x1B]0;"
      "\xE2\x9C\x9C"
      "x\x07",
      "{OSC 0;"
      "\xE2\x9C\x9C"
      "x}"),
    S("\x1B]0;a"
      "\xFF"
      "b"
      "\xE2\x9C"
      "\x07",
      "{OSC 0;a" FFFD "b" FFFD "}"),
    S("\x1B]0;unfinished", ""),
    S("\x1B_Gf=100;AAAA\x1B\\x", "{APC Gf=100;AAAA}{ESC \\}x"),
    S("\x1B^private\x1B\\\x1BXstart\x1B\\", "{PM private}{ESC \\}{SOS start}{ESC \\}"),
    S("\x1B_a\x07"
      "b\nc\x1B\\",
      "{APC abc}{ESC \\}"),
    S("\x1B_a\x18"
      "b\x1BXc\x1A"
      "d",
      "<18>b<1A>d"),
    S("\x1B_0123456789012345678901234567890123456789\x1B\\",
      "{APC 01234567890123456789012345678901+8}{ESC \\}"),
    S("\x1B]0123456789012345678901234567890"
      "\xC3\xA9"
      "1\x07",
      "{OSC 0123456789012345678901234567890+3}"),
    S("\x1B]012345678901234567890123456789"
      "\xC3\xA9"
      "\x07",
      "{OSC 012345678901234567890123456789"
      "\xC3\xA9"
      "}"),
    /* device control strings */
    S("\x1BPq#0;2;0\x1B\\x", "{DCS  q|#0;2;0}{ESC \\}x"),
    S("\x1BP1;2:3$rab\x1B\\", "{DCS 1;2:3 $r|ab}{ESC \\}"),
    S("\x1BP?1q\x1B\\\x1BP>|v\x1B\\", "{DCS ?1 q|}{ESC \\}{DCS > ||v}{ESC \\}"),
    S("\x1BP+q544e\x1B\\", "{DCS  +q|544e}{ESC \\}"),
    S("\x1BPqa\nb\x07"
      "c\x7F"
      "d\x1B\\",
      "{DCS  q|a\nb\x07"
      "cd}{ESC \\}"),
    S("\x1BPqab\x18"
      "c",
      "{DCS  q|ab!}<18>c"),
    S("\x1BPqab\x1A"
      "c",
      "{DCS  q|ab!}<1A>c"),
    S("\x1BPqab\x1B[1mc", "{DCS  q|ab}{CSI 1 m}c"),
    S("\x1BPqab", "{DCS  q|ab!}"),
    S("\x1BP1?qab\x1B\\x", "{ESC \\}x"),
    S("\x1BP1 2qab\x1B\\x", "{ESC \\}x"),
    S("\x1BP $(qab\x1B\\x", "{ESC \\}x"),
    S("\x1BP1\n2qa\x1B\\", "{DCS 12 q|a}{ESC \\}"),
    S("\x1BP"
      "\xC3\xA9"
      "qab\x1B\\x\x1BP1?\x18y",
      "{ESC \\}x<18>y"),
    S("\x1BPq"
      "\xC3\xA9"
      "\xFF"
      "\x1B\\",
      "{DCS  q|"
      "\xC3\xA9" FFFD "}{ESC \\}"),
    S("\x1BPq0123456789012345\x1B\\\x1BPq0\x1B\\",
      "{DCS  q|0123456789+6}{ESC \\}{DCS  q|0}{ESC \\}"),
    S("\x1BPq012345678"
      "\xC3\xA9"
      "1\x1B\\",
      "{DCS  q|012345678+3}{ESC \\}"),
    /* C1 controls, which are code points here */
    S("\xC2\x9B"
      "1m\xC2\x85\xC2\x84x",
      "{CSI 1 m}{ESC E}{ESC D}x"),
    S("\xC2\x9D"
      "0;t\xC2\x9Cx\xC2\x90qab\xC2\x9C",
      "{OSC 0;t}{ESC \\}x{DCS  q|ab}{ESC \\}"),
    S("\xC2\x98s\xC2\x9C\xC2\x9Ep\xC2\x9C\xC2\x9F"
      "a\xC2\x9C",
      "{SOS s}{ESC \\}{PM p}{ESC \\}{APC a}{ESC \\}"),
    S("\x1B[1\xC2\x9B"
      "2m\x1B]0;a\xC2\x85z",
      "{CSI 2 m}{OSC 0;a}{ESC E}z"),
    S("\x9B"
      "1m\x85",
      FFFD "1m" FFFD),
    /* UTF-8 */
    S("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xC2\xA0",
      "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xC2\xA0"),
    S("a\xC0\x80"
      "b\xE4\xB8\x1B[0mc\xF8"
      "d",
      "a" FFFD FFFD "b" FFFD "{CSI 0 m}c" FFFD "d"),
    S("\xE4\xB8\n\xF0\x9F\x98\x07x", FFFD "<0A>" FFFD "<07>x"),
    S("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", FFFD FFFD FFFD FFFD "A"),
    S("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41", FFFD FFFD FFFD FFFD FFFD FFFD FFFD FFFD "A"),
    S("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41", FFFD FFFD FFFD FFFD FFFD FFFD FFFD FFFD "A"),
    S("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42", FFFD FFFD FFFD FFFD FFFD "A" FFFD FFFD "B"),
    S("\xE4\xB8", FFFD),
    S("\xF0\x9F\x98", FFFD),
    S("\x1B[1\xE4", FFFD),
    S("\x1B]0;\xE4", ""),
};

static const struct sample eight_bit[] = {
    S("caf\xE9 \xA0\xFF", "caf\xC3\xA9 \xC2\xA0\xC3\xBF"),
    S("\x9B"
      "1m\x85\x84x",
      "{CSI 1 m}{ESC E}{ESC D}x"),
    S("\x9D"
      "0;\xE9\x9Cx\x90qab\x9C",
      "{OSC 0;\xC3\xA9}{ESC \\}x{DCS  q|ab}{ESC \\}"),
    S("\x98s\x9C\x9Ep\x9C\x9F"
      "a\x9C\x80\x99",
      "{SOS s}{ESC \\}{PM p}{ESC \\}{APC a}{ESC \\}{ESC @}{ESC Y}"),
    S("\x1B[\xC2m", "\xC3\x82m"),
};

static const struct sample plain[] = {
    S("a\x1B[1mb\x18\n\xC2\x9B"
      "c\x7F\xE4"
      "d",
      "a<1B>[1mb<18><0A>c" FFFD "d"),
    S("\x1B]0;t\x07", "<1B>]0;t<07>"),
};

static void check(const struct vt_log_opts *opts, const char *actions)
{
    static struct vt_log log;

    for (size_t first = 0; first <= opts->nbytes; first++) {
        for (size_t second = first; second <= opts->nbytes; second++)
            assert_string_equal(vt_log_pieces(&log, opts, first, second), actions);
    }
}

static void check_all(const struct sample *list, size_t count, bool latin, bool no_sequences)
{
    for (size_t i = 0; i < count; i++) {
        struct vt_log_opts opts = {.bytes = list[i].bytes,
                                   .nbytes = list[i].nbytes,
                                   .buffer_nbytes = 32,
                                   .dcs_nbytes_max = 10,
                                   .eight_bit = latin,
                                   .plain = no_sequences};

        check(&opts, list[i].actions);
    }
}

static void streams_mean_the_same_however_they_are_cut(void **state)
{
    (void)state;
    check_all(samples, sizeof samples / sizeof samples[0], false, false);
}

static void eight_bit_streams_have_c1_controls_as_bytes(void **state)
{
    (void)state;
    check_all(eight_bit, sizeof eight_bit / sizeof eight_bit[0], true, false);
}

static void plain_streams_have_no_sequences(void **state)
{
    (void)state;
    check_all(plain, sizeof plain / sizeof plain[0], false, true);
}

/* Two streams in a row are what they are alone: no state outlives a finished stream. */
static void nothing_outlives_the_end_of_a_stream(void **state)
{
    static struct vt_log log;
    char buffer[32];
    struct vt_parser_opts opts = {.actions = &vt_log_actions,
                                  .arg = &log,
                                  .buffer = buffer,
                                  .buffer_nbytes = sizeof buffer,
                                  .dcs_nbytes_max = 10};
    struct vt_parser parser;

    (void)state;
    vt_parser_init(&parser, &opts);
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        log.used = 0;
        log.text[0] = '\0';
        vt_parser_feed(&parser, samples[i].bytes, samples[i].nbytes);
        vt_parser_finish(&parser);
        assert_string_equal(log.text, samples[i].actions);
    }
}

static void a_parser_without_a_buffer_reports_lengths_alone(void **state)
{
    static struct vt_log log;
    struct vt_log_opts opts = {.bytes = "\x1B]0;t\x07\x1BPqabc\x1B\\", .nbytes = 14};

    (void)state;
    assert_string_equal(vt_log_pieces(&log, &opts, 0, 14), "{OSC +3}{DCS  q|+3}{ESC \\}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_mean_the_same_however_they_are_cut),
        cmocka_unit_test(eight_bit_streams_have_c1_controls_as_bytes),
        cmocka_unit_test(plain_streams_have_no_sequences),
        cmocka_unit_test(nothing_outlives_the_end_of_a_stream),
        cmocka_unit_test(a_parser_without_a_buffer_reports_lengths_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
