/* parser_table.c - the table of the escape state machine: state and kind of code point to action
 * and next state.
 *
 * Source    Paul Flo Williams, "A parser for DEC's ANSI-compatible video terminals"
 *           (vt100.net/emu/dec_ansi_parser), with these differences: a colon separates
 *           sub-parameters instead of spoiling the sequence (ISO 8613-6); SOS, PM and APC keep
 *           their text; BEL ends an OSC string; DEL is never printed.
 * Text      A code point from A0 on has no place in a sequence. In ESC and CSI sequences it drops
 *           what was begun and is printed, so that a damaged sequence loses itself only; at the
 *           head of a device control string it spoils the string, which ends as usual.
 * C1        One entry a state: the parser leaves the state as ESC would, and goes on with the
 *           letter that stands for the control in a 7-bit stream. */
#include "vt/parser_table.h"

/* clang-format off */
#define TO(action, next)                                                                           \
    {                                                                                              \
        VT_##action, VT_##next                                                                     \
    }

#define LETTERS(...)                                                                               \
    [VT_CLASS_FINAL] = __VA_ARGS__, [VT_CLASS_DCS] = __VA_ARGS__, [VT_CLASS_CSI] = __VA_ARGS__,    \
    [VT_CLASS_OSC] = __VA_ARGS__, [VT_CLASS_STRING] = __VA_ARGS__
#define NUMBERS(...)                                                                               \
    [VT_CLASS_DIGIT] = __VA_ARGS__, [VT_CLASS_COLON] = __VA_ARGS__,                                \
    [VT_CLASS_SEMICOLON] = __VA_ARGS__
#define GRAPHIC(...)                                                                               \
    [VT_CLASS_INTERMEDIATE] = __VA_ARGS__, NUMBERS(__VA_ARGS__), [VT_CLASS_MARKER] = __VA_ARGS__,  \
    LETTERS(__VA_ARGS__)
#define C0(...) [VT_CLASS_C0] = __VA_ARGS__, [VT_CLASS_BEL] = __VA_ARGS__

/* What acts in all states but VT_PLAIN. */
#define ANYWHERE(state)                                                                            \
    [VT_CLASS_CANCEL] = TO(EXECUTE, GROUND), [VT_CLASS_ESC] = TO(IGNORE, ESCAPE),                  \
    [VT_CLASS_C1] = TO(C1, state)
/* What is the same in all states of ESC and CSI sequences. */
#define SEQUENCE(state)                                                                            \
    ANYWHERE(state), C0(TO(EXECUTE, state)), [VT_CLASS_DEL] = TO(IGNORE, state),                   \
    [VT_CLASS_TEXT] = TO(PRINT, GROUND)
/* What is the same in all states of a device control string's head. */
#define DCS_HEAD(state)                                                                            \
    ANYWHERE(state), C0(TO(IGNORE, state)), [VT_CLASS_DEL] = TO(IGNORE, state),                    \
    [VT_CLASS_TEXT] = TO(IGNORE, DCS_IGNORE)

const struct vt_transition vt_table[VT_STATE_COUNT][VT_CLASS_COUNT] = {
    [VT_GROUND] = {
        ANYWHERE(GROUND),
        C0(TO(EXECUTE, GROUND)),
        GRAPHIC(TO(PRINT, GROUND)),
        [VT_CLASS_DEL] = TO(IGNORE, GROUND),
        [VT_CLASS_TEXT] = TO(PRINT, GROUND),
    },
    [VT_ESCAPE] = {
        SEQUENCE(ESCAPE),
        [VT_CLASS_INTERMEDIATE] = TO(COLLECT, ESCAPE_INTERMEDIATE),
        NUMBERS(TO(DISPATCH_ESC, GROUND)),
        [VT_CLASS_MARKER] = TO(DISPATCH_ESC, GROUND),
        [VT_CLASS_FINAL] = TO(DISPATCH_ESC, GROUND),
        [VT_CLASS_DCS] = TO(IGNORE, DCS_ENTRY),
        [VT_CLASS_CSI] = TO(IGNORE, CSI_ENTRY),
        [VT_CLASS_OSC] = TO(IGNORE, OSC_STRING),
        [VT_CLASS_STRING] = TO(IGNORE, STRING),
    },
    [VT_ESCAPE_INTERMEDIATE] = {
        SEQUENCE(ESCAPE_INTERMEDIATE),
        [VT_CLASS_INTERMEDIATE] = TO(COLLECT, ESCAPE_INTERMEDIATE),
        NUMBERS(TO(DISPATCH_ESC, GROUND)),
        [VT_CLASS_MARKER] = TO(DISPATCH_ESC, GROUND),
        LETTERS(TO(DISPATCH_ESC, GROUND)),
    },
    [VT_CSI_ENTRY] = {
        SEQUENCE(CSI_ENTRY),
        [VT_CLASS_INTERMEDIATE] = TO(COLLECT, CSI_INTERMEDIATE),
        NUMBERS(TO(PARAM, CSI_PARAM)),
        [VT_CLASS_MARKER] = TO(MARK, CSI_PARAM),
        LETTERS(TO(DISPATCH_CSI, GROUND)),
    },
    [VT_CSI_PARAM] = {
        SEQUENCE(CSI_PARAM),
        [VT_CLASS_INTERMEDIATE] = TO(COLLECT, CSI_INTERMEDIATE),
        NUMBERS(TO(PARAM, CSI_PARAM)),
        [VT_CLASS_MARKER] = TO(IGNORE, CSI_IGNORE),
        LETTERS(TO(DISPATCH_CSI, GROUND)),
    },
    [VT_CSI_INTERMEDIATE] = {
        SEQUENCE(CSI_INTERMEDIATE),
        [VT_CLASS_INTERMEDIATE] = TO(COLLECT, CSI_INTERMEDIATE),
        NUMBERS(TO(IGNORE, CSI_IGNORE)),
        [VT_CLASS_MARKER] = TO(IGNORE, CSI_IGNORE),
        LETTERS(TO(DISPATCH_CSI, GROUND)),
    },
    [VT_CSI_IGNORE] = {
        SEQUENCE(CSI_IGNORE),
        [VT_CLASS_INTERMEDIATE] = TO(IGNORE, CSI_IGNORE),
        NUMBERS(TO(IGNORE, CSI_IGNORE)),
        [VT_CLASS_MARKER] = TO(IGNORE, CSI_IGNORE),
        LETTERS(TO(IGNORE, GROUND)),
    },
    [VT_DCS_ENTRY] = {
        DCS_HEAD(DCS_ENTRY),
        [VT_CLASS_INTERMEDIATE] = TO(COLLECT, DCS_INTERMEDIATE),
        NUMBERS(TO(PARAM, DCS_PARAM)),
        [VT_CLASS_MARKER] = TO(MARK, DCS_PARAM),
        LETTERS(TO(HOOK, DCS_PASSTHROUGH)),
    },
    [VT_DCS_PARAM] = {
        DCS_HEAD(DCS_PARAM),
        [VT_CLASS_INTERMEDIATE] = TO(COLLECT, DCS_INTERMEDIATE),
        NUMBERS(TO(PARAM, DCS_PARAM)),
        [VT_CLASS_MARKER] = TO(IGNORE, DCS_IGNORE),
        LETTERS(TO(HOOK, DCS_PASSTHROUGH)),
    },
    [VT_DCS_INTERMEDIATE] = {
        DCS_HEAD(DCS_INTERMEDIATE),
        [VT_CLASS_INTERMEDIATE] = TO(COLLECT, DCS_INTERMEDIATE),
        NUMBERS(TO(IGNORE, DCS_IGNORE)),
        [VT_CLASS_MARKER] = TO(IGNORE, DCS_IGNORE),
        LETTERS(TO(HOOK, DCS_PASSTHROUGH)),
    },
    [VT_DCS_PASSTHROUGH] = {
        ANYWHERE(DCS_PASSTHROUGH),
        C0(TO(PUT, DCS_PASSTHROUGH)),
        GRAPHIC(TO(PUT, DCS_PASSTHROUGH)),
        [VT_CLASS_DEL] = TO(IGNORE, DCS_PASSTHROUGH),
        [VT_CLASS_TEXT] = TO(PUT, DCS_PASSTHROUGH),
    },
    [VT_DCS_IGNORE] = {
        DCS_HEAD(DCS_IGNORE),
        GRAPHIC(TO(IGNORE, DCS_IGNORE)),
    },
    [VT_OSC_STRING] = {
        ANYWHERE(OSC_STRING),
        [VT_CLASS_C0] = TO(IGNORE, OSC_STRING),
        [VT_CLASS_BEL] = TO(IGNORE, GROUND),
        GRAPHIC(TO(APPEND, OSC_STRING)),
        [VT_CLASS_DEL] = TO(APPEND, OSC_STRING),
        [VT_CLASS_TEXT] = TO(APPEND, OSC_STRING),
    },
    [VT_STRING] = {
        ANYWHERE(STRING),
        C0(TO(IGNORE, STRING)),
        GRAPHIC(TO(APPEND, STRING)),
        [VT_CLASS_DEL] = TO(APPEND, STRING),
        [VT_CLASS_TEXT] = TO(APPEND, STRING),
    },
    [VT_PLAIN] = {
        C0(TO(EXECUTE, PLAIN)),
        [VT_CLASS_CANCEL] = TO(EXECUTE, PLAIN),
        [VT_CLASS_ESC] = TO(EXECUTE, PLAIN),
        GRAPHIC(TO(PRINT, PLAIN)),
        [VT_CLASS_DEL] = TO(IGNORE, PLAIN),
        [VT_CLASS_C1] = TO(IGNORE, PLAIN),
        [VT_CLASS_TEXT] = TO(PRINT, PLAIN),
    },
};

/* One letter a class; openers of strings, and the few that occur once, by name. */
#define Z VT_CLASS_C0
#define B VT_CLASS_BEL
#define X VT_CLASS_CANCEL
#define E VT_CLASS_ESC
#define I VT_CLASS_INTERMEDIATE
#define D VT_CLASS_DIGIT
#define M VT_CLASS_MARKER
#define F VT_CLASS_FINAL
#define P VT_CLASS_DCS
#define S VT_CLASS_STRING
#define H VT_CLASS_C1

const uint8_t vt_classes[0xA0] = {
    Z, Z, Z, Z, Z, Z, Z, B, Z, Z, Z, Z, Z, Z, Z, Z,                           /* 00 */
    Z, Z, Z, Z, Z, Z, Z, Z, X, Z, X, E, Z, Z, Z, Z,                           /* 10 */
    I, I, I, I, I, I, I, I, I, I, I, I, I, I, I, I,                           /* 20 */
    D, D, D, D, D, D, D, D, D, D, VT_CLASS_COLON, VT_CLASS_SEMICOLON, M, M, M, M, /* 30 */
    F, F, F, F, F, F, F, F, F, F, F, F, F, F, F, F,                           /* 40 */
    P, F, F, F, F, F, F, F, S, F, F, VT_CLASS_CSI, F, VT_CLASS_OSC, S, S,     /* 50 */
    F, F, F, F, F, F, F, F, F, F, F, F, F, F, F, F,                           /* 60 */
    F, F, F, F, F, F, F, F, F, F, F, F, F, F, F, VT_CLASS_DEL,                /* 70 */
    H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H,                           /* 80 */
    H, H, H, H, H, H, H, H, H, H, H, H, H, H, H, H,                           /* 90 */
};
/* clang-format on */
