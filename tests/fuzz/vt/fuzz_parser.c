/* fuzz_parser.c - escape streams: the first byte says Latin-1 (1) and plain (2), the rest is the
 * stream. It must do the same in one piece and byte by byte, within all bounds, and print nothing
 * but UTF-8 without controls. */
#include "fuzz/history/fuzz.h"

#include "base/bytes.h"
#include "base/utf8.h"
#include "vt/parser.h"

#define BUFFER_NBYTES 64u
#define DCS_NBYTES_MAX 48u

/* Actions as bytes: a letter and what belongs to it; text runs on while nothing else comes. */
struct trace {
    struct writer out;
    bool in_text;
    bool hooked;
    uint64_t dcs_nbytes;
};

static void begin(struct trace *t, char action)
{
    t->in_text = action == 'p';
    writer_u8(&t->out, (uint8_t)action);
}

static void on_print(void *arg, const char *text, size_t nbytes)
{
    struct trace *t = arg;

    FUZZ_REQUIRE(nbytes > 0 && !t->hooked && utf8_valid_prefix(text, nbytes) == nbytes);
    for (size_t i = 0; i < nbytes; i++) {
        FUZZ_REQUIRE((uint8_t)text[i] >= 0x20 && text[i] != 0x7F);
        FUZZ_REQUIRE((uint8_t)text[i] != 0xC2 || (uint8_t)text[i + 1] >= 0xA0);
    }
    if (!t->in_text) begin(t, 'p');
    writer_bytes(&t->out, text, nbytes);
}

static void on_execute(void *arg, uint8_t control)
{
    FUZZ_REQUIRE(control < 0x20);
    begin(arg, 'x');
    writer_u8(&((struct trace *)arg)->out, control);
}

static void sequence(struct trace *t, char action, const struct vt_sequence *s)
{
    uint64_t in_use = (UINT64_C(1) << s->param_count) - 1;

    FUZZ_REQUIRE(s->param_count <= VT_PARAMS_MAX && ((s->colons | s->given) & ~in_use) == 0);
    FUZZ_REQUIRE(s->intermediate_count <= VT_INTERMEDIATES_MAX && (s->colons & 1) == 0);
    FUZZ_REQUIRE(s->final >= 0x30 && s->final < 0x7F);
    FUZZ_REQUIRE(s->marker == 0 || (s->marker >= 0x3C && s->marker < 0x40));
    begin(t, action);
    writer_u8(&t->out, s->final);
    writer_u8(&t->out, s->marker);
    writer_bytes(&t->out, s->intermediates, s->intermediate_count);
    writer_u8(&t->out, s->params_lost);
    writer_u32(&t->out, s->colons);
    writer_u32(&t->out, s->given);
    for (uint32_t i = 0; i < s->param_count; i++)
        writer_u16(&t->out, s->params[i]);
}

static void on_esc(void *arg, const struct vt_sequence *s) { sequence(arg, 'e', s); }
static void on_csi(void *arg, const struct vt_sequence *s) { sequence(arg, 'c', s); }

static void on_string(void *arg, enum vt_string kind, const char *bytes, size_t nbytes,
                      uint64_t nbytes_all)
{
    struct trace *t = arg;

    FUZZ_REQUIRE(nbytes <= BUFFER_NBYTES && nbytes <= nbytes_all);
    FUZZ_REQUIRE(utf8_valid_prefix(bytes, nbytes) == nbytes);
    begin(t, 's');
    writer_u8(&t->out, (uint8_t)kind);
    writer_u64(&t->out, nbytes_all);
    writer_bytes(&t->out, bytes, nbytes);
}

static void on_hook(void *arg, const struct vt_sequence *s)
{
    struct trace *t = arg;

    FUZZ_REQUIRE(!t->hooked);
    t->hooked = true;
    t->dcs_nbytes = 0;
    sequence(t, 'h', s);
}

static void on_put(void *arg, const char *bytes, size_t nbytes)
{
    struct trace *t = arg;

    FUZZ_REQUIRE(t->hooked && nbytes > 0 && utf8_valid_prefix(bytes, nbytes) == nbytes);
    t->dcs_nbytes += nbytes;
    FUZZ_REQUIRE(t->dcs_nbytes <= DCS_NBYTES_MAX);
    writer_bytes(&t->out, bytes, nbytes);
}

static void on_unhook(void *arg, uint64_t nbytes_all, bool canceled)
{
    struct trace *t = arg;

    FUZZ_REQUIRE(t->hooked && t->dcs_nbytes <= nbytes_all);
    t->hooked = false;
    begin(t, canceled ? '!' : '.');
    writer_u64(&t->out, nbytes_all);
}

static const struct vt_actions actions = {.print = on_print,
                                          .execute = on_execute,
                                          .esc = on_esc,
                                          .csi = on_csi,
                                          .string = on_string,
                                          .dcs_hook = on_hook,
                                          .dcs_put = on_put,
                                          .dcs_unhook = on_unhook};

static void run(struct trace *t, uint8_t flags, const uint8_t *data, size_t size, size_t piece)
{
    char buffer[BUFFER_NBYTES];
    struct vt_parser_opts opts = {.actions = &actions,
                                  .arg = t,
                                  .buffer = buffer,
                                  .buffer_nbytes = sizeof buffer,
                                  .dcs_nbytes_max = DCS_NBYTES_MAX,
                                  .eight_bit = (flags & 1) != 0,
                                  .plain = (flags & 2) != 0};
    struct vt_parser parser;

    vt_parser_init(&parser, &opts);
    for (size_t at = 0; at < size; at += piece)
        vt_parser_feed(&parser, data + at, size - at < piece ? size - at : piece);
    vt_parser_finish(&parser);
    FUZZ_REQUIRE(!t->hooked && !t->out.failed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace whole = {0}, bytewise = {0};
    uint8_t *copy;

    if (size == 0) return 0;
    copy = fuzz_copy(data + 1, size - 1);
    run(&whole, data[0], copy, size - 1, size);
    run(&bytewise, data[0], copy, size - 1, 1);
    FUZZ_REQUIRE(whole.out.length == bytewise.out.length);
    FUZZ_REQUIRE(whole.out.length == 0 ||
                 memcmp(whole.out.bytes, bytewise.out.bytes, whole.out.length) == 0);
    writer_free(&whole.out);
    writer_free(&bytewise.out);
    free(copy);
    return 0;
}
