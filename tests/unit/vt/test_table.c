/* test_table.c - every state and every byte against the table as it was drawn: Williams' diagram,
 * with the differences that parser_table.c names. */
#include "support.h"

#include "vt/parser_table.h"

/* One line a state: bytes that lead to it, then what each kind of byte does there: an action and
 * the letter of the next state.
 *
 * Actions   . nothing, p print, x execute, c collect, m marker, n parameter, e s h dispatch of ESC,
 *           CSI, and DCS, u put, a append, 1 as ESC and a letter */
static const struct row {
    uint8_t state;
    char letter;
    const char *prefix;
    const char *cells;
} rows[] = {
    /*                          C0 BEL CAN ESC sp  0   :   ;   ?   A   P   [   ]   X  DEL C1 text */
    {VT_GROUND, 'G', "", "xG xG xG .E pG pG pG pG pG pG pG pG pG pG .G 1G pG"},
    {VT_ESCAPE, 'E', "\x1B", "xE xE xG .E cF eG eG eG eG eG .D .C .O .S .E 1E pG"},
    {VT_ESCAPE_INTERMEDIATE, 'F', "\x1B(", "xF xF xG .E cF eG eG eG eG eG eG eG eG eG .F 1F pG"},
    {VT_CSI_ENTRY, 'C', "\x1B[", "xC xC xG .E cI nP nP nP mP sG sG sG sG sG .C 1C pG"},
    {VT_CSI_PARAM, 'P', "\x1B[1", "xP xP xG .E cI nP nP nP .X sG sG sG sG sG .P 1P pG"},
    {VT_CSI_INTERMEDIATE, 'I', "\x1B[ ", "xI xI xG .E cI .X .X .X .X sG sG sG sG sG .I 1I pG"},
    {VT_CSI_IGNORE, 'X', "\x1B[1?", "xX xX xG .E .X .X .X .X .X .G .G .G .G .G .X 1X pG"},
    {VT_DCS_ENTRY, 'D', "\x1BP", ".D .D xG .E ci nd nd nd md hT hT hT hT hT .D 1D .N"},
    {VT_DCS_PARAM, 'd', "\x1BP1", ".d .d xG .E ci nd nd nd .N hT hT hT hT hT .d 1d .N"},
    {VT_DCS_INTERMEDIATE, 'i', "\x1BP ", ".i .i xG .E ci .N .N .N .N hT hT hT hT hT .i 1i .N"},
    {VT_DCS_PASSTHROUGH, 'T', "\x1BPq", "uT uT xG .E uT uT uT uT uT uT uT uT uT uT .T 1T uT"},
    {VT_DCS_IGNORE, 'N', "\x1BP1?", ".N .N xG .E .N .N .N .N .N .N .N .N .N .N .N 1N .N"},
    {VT_OSC_STRING, 'O', "\x1B]", ".O .G xG .E aO aO aO aO aO aO aO aO aO aO aO 1O aO"},
    {VT_STRING, 'S', "\x1BX", ".S .S xG .E aS aS aS aS aS aS aS aS aS aS aS 1S aS"},
    {VT_PLAIN, 'L', "", "xL xL xL xL pL pL pL pL pL pL pL pL pL pL .L .L pL"},
};

/* Column of a byte, by ECMA-48's tables and not by the parser's. */
static size_t column(uint8_t byte)
{
    if (byte >= 0xA0) return 16;
    if (byte >= 0x80) return 15;
    if (byte == 0x7F) return 14;
    if (byte >= 0x40) {
        static const char openers[] = "P[]X^_";
        static const uint8_t columns[] = {10, 11, 12, 13, 13, 13};
        const char *found = strchr(openers, byte);

        return found == NULL ? 9 : columns[found - openers];
    }
    if (byte >= 0x30) return byte < 0x3A ? 5 : byte == 0x3A ? 6 : byte == 0x3B ? 7 : 8;
    if (byte >= 0x20) return 4;
    return byte == 0x1B ? 3 : byte == 0x18 || byte == 0x1A ? 2 : byte == 7;
}

static const struct row *row_of(char letter)
{
    for (size_t i = 0; i < VT_STATE_COUNT; i++)
        if (rows[i].letter == letter) return &rows[i];
    fail_msg("no state %c", letter);
    return NULL;
}

static void the_table_is_the_diagram(void **state)
{
    static const char letters[] = ".pxcmneshua1";

    (void)state;
    assert_int_equal(sizeof rows / sizeof rows[0], VT_STATE_COUNT);
    assert_int_equal(sizeof letters - 1, VT_ACTION_COUNT);
    for (size_t r = 0; r < VT_STATE_COUNT; r++) {
        assert_int_equal(strlen(rows[r].cells), VT_CLASS_COUNT * 3 - 1);
        for (size_t class = 0; class < VT_CLASS_COUNT; class ++) {
            const struct vt_transition *to = &vt_table[rows[r].state][class];
            const char *expected = rows[r].cells + 3 * class;

            assert_int_equal(letters[to->action], expected[0]);
            assert_int_equal(to->next, row_of(expected[1])->state);
        }
    }
}

static void every_byte_has_its_class(void **state)
{
    (void)state;
    for (unsigned byte = 0; byte < 0xA0; byte++)
        assert_int_equal(vt_classes[byte], column((uint8_t)byte));
}

/* State after a byte in a state. An 8-bit control goes on with its letter in the escape state. */
static uint8_t expected_state(const struct row *row, uint8_t byte)
{
    const char *cell = row->cells + 3 * column(byte);

    if (cell[0] == '1') return expected_state(row_of('E'), byte - 0x40);
    return row_of(cell[1])->state;
}

/* What was logged after the prefix must be what the action says. */
static void check_action(const struct row *row, uint8_t byte, const char *before,
                         const struct vt_log *log)
{
    const char *news = log->text + strlen(before);
    char action = row->cells[3 * column(byte)];
    char executed[8];

    snprintf(executed, sizeof executed, "<%02X>", byte);
    assert_memory_equal(log->text, before, strlen(before));
    if (strchr("cmna", action) != NULL) assert_string_equal(news, "");
    if (action == 'x') assert_non_null(strstr(news, executed));
    if (action == 'p' && byte < 0x80) assert_true(news[0] == (char)byte && news[1] == '\0');
    if (action == 'p' || action == 'u')
        assert_int_equal(log->used - strlen(before), byte < 0x80 ? 1 : 2);
    if (action == 'e') assert_memory_equal(news, "{ESC ", 5);
    if (action == 's') assert_memory_equal(news, "{CSI ", 5);
    if (action == 'h') assert_memory_equal(news, "{DCS ", 5);
}

static void every_byte_in_every_state_does_what_the_table_says(void **state)
{
    (void)state;
    for (size_t r = 0; r < VT_STATE_COUNT; r++) {
        for (unsigned b = 0; b < 256; b++) {
            static struct vt_log log;
            char buffer[8], before[64];
            uint8_t byte = (uint8_t)b;
            struct vt_parser parser;
            struct vt_parser_opts opts = {.actions = &vt_log_actions,
                                          .arg = &log,
                                          .buffer = buffer,
                                          .buffer_nbytes = sizeof buffer,
                                          .dcs_nbytes_max = 8,
                                          .eight_bit = true,
                                          .plain = rows[r].state == VT_PLAIN};

            log.used = 0;
            log.text[0] = '\0';
            vt_parser_init(&parser, &opts);
            vt_parser_feed(&parser, rows[r].prefix, strlen(rows[r].prefix));
            assert_int_equal(parser.state, rows[r].state);
            strcpy(before, log.text);
            vt_parser_feed(&parser, &byte, 1);
            if (parser.state != expected_state(&rows[r], byte))
                fail_msg("state %c, byte %02X: state %u", rows[r].letter, b, parser.state);
            check_action(&rows[r], byte, before, &log);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_the_diagram),
        cmocka_unit_test(every_byte_has_its_class),
        cmocka_unit_test(every_byte_in_every_state_does_what_the_table_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
