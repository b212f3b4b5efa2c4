/* support.c - see support.h. */
#include "support.h"

static void say(struct vt_log *log, const char *text, size_t nbytes)
{
    assert_true(log->used + nbytes < sizeof log->text);
    memcpy(log->text + log->used, text, nbytes);
    log->used += nbytes;
    log->text[log->used] = '\0';
}

static void say_format(struct vt_log *log, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say_format(struct vt_log *log, const char *format, ...)
{
    char piece[64];
    va_list args;

    va_start(args, format);
    vsnprintf(piece, sizeof piece, format, args);
    va_end(args);
    say(log, piece, strlen(piece));
}

static void on_print(void *arg, const char *text, size_t nbytes)
{
    assert_true(nbytes > 0);
    say(arg, text, nbytes);
}

static void on_execute(void *arg, uint8_t control) { say_format(arg, "<%02X>", control); }

static void say_sequence(struct vt_log *log, const struct vt_sequence *s)
{
    if (s->marker != 0) say_format(log, "%c", s->marker);
    for (uint32_t i = 0; i < s->param_count; i++) {
        if (i > 0) say_format(log, "%c", s->colons >> i & 1 ? ':' : ';');
        if (s->given >> i & 1)
            say_format(log, "%u", s->params[i]);
        else
            assert_int_equal(s->params[i], 0);
    }
    if (s->params_lost) say_format(log, "+");
    say_format(log, " ");
    say(log, (const char *)s->intermediates, s->intermediate_count);
    say_format(log, "%c", s->final);
}

static void on_esc(void *arg, const struct vt_sequence *s)
{
    assert_int_equal(s->param_count, 0);
    assert_int_equal(s->marker, 0);
    say_format(arg, "{ESC");
    say_sequence(arg, s);
    say_format(arg, "}");
}

static void on_csi(void *arg, const struct vt_sequence *s)
{
    say_format(arg, "{CSI ");
    say_sequence(arg, s);
    say_format(arg, "}");
}

static void on_string(void *arg, enum vt_string kind, const char *bytes, size_t nbytes,
                      uint64_t nbytes_all)
{
    static const char *const names[] = {"OSC", "SOS", "PM", "APC"};

    say_format(arg, "{%s ", names[kind]);
    say(arg, bytes, nbytes);
    if (nbytes_all > nbytes) say_format(arg, "+%u", (unsigned)(nbytes_all - nbytes));
    say_format(arg, "}");
}

static void on_hook(void *arg, const struct vt_sequence *s)
{
    ((struct vt_log *)arg)->payload_nbytes = 0;
    say_format(arg, "{DCS ");
    say_sequence(arg, s);
    say_format(arg, "|");
}

static void on_put(void *arg, const char *bytes, size_t nbytes)
{
    assert_true(nbytes > 0);
    ((struct vt_log *)arg)->payload_nbytes += nbytes;
    say(arg, bytes, nbytes);
}

static void on_unhook(void *arg, uint64_t nbytes_all, bool canceled)
{
    uint64_t passed = ((struct vt_log *)arg)->payload_nbytes;

    if (nbytes_all > passed) say_format(arg, "+%u", (unsigned)(nbytes_all - passed));
    say_format(arg, canceled ? "!}" : "}");
}

const struct vt_actions vt_log_actions = {.print = on_print,
                                          .execute = on_execute,
                                          .esc = on_esc,
                                          .csi = on_csi,
                                          .string = on_string,
                                          .dcs_hook = on_hook,
                                          .dcs_put = on_put,
                                          .dcs_unhook = on_unhook};

/* A copy of exactly this size, so that a read beyond it is noticed. */
static void feed(struct vt_parser *parser, const char *bytes, size_t nbytes)
{
    char *copy = malloc(nbytes == 0 ? 1 : nbytes);

    assert_non_null(copy);
    if (nbytes > 0) memcpy(copy, bytes, nbytes);
    vt_parser_feed(parser, copy, nbytes);
    free(copy);
}

const char *vt_log_pieces(struct vt_log *log, const struct vt_log_opts *opts, size_t first,
                          size_t second)
{
    char *buffer = malloc(opts->buffer_nbytes == 0 ? 1 : opts->buffer_nbytes);
    struct vt_parser_opts parser_opts = {.actions = &vt_log_actions,
                                         .arg = log,
                                         .buffer = buffer,
                                         .buffer_nbytes = opts->buffer_nbytes,
                                         .dcs_nbytes_max = opts->dcs_nbytes_max,
                                         .eight_bit = opts->eight_bit,
                                         .plain = opts->plain};
    struct vt_parser parser;

    assert_non_null(buffer);
    log->used = 0;
    log->text[0] = '\0';
    vt_parser_init(&parser, &parser_opts);
    feed(&parser, opts->bytes, first);
    feed(&parser, opts->bytes + first, second - first);
    feed(&parser, opts->bytes + second, opts->nbytes - second);
    vt_parser_finish(&parser);
    free(buffer);
    return log->text;
}
