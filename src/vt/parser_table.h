/* parser_table.h - the table of the escape state machine (parser_table.c). */
#ifndef PAUA_VT_PARSER_TABLE_H
#define PAUA_VT_PARSER_TABLE_H

#include <stdint.h>

enum vt_state {
    VT_GROUND,
    VT_ESCAPE,
    VT_ESCAPE_INTERMEDIATE,
    VT_CSI_ENTRY,
    VT_CSI_PARAM,
    VT_CSI_INTERMEDIATE,
    VT_CSI_IGNORE,
    VT_DCS_ENTRY,
    VT_DCS_PARAM,
    VT_DCS_INTERMEDIATE,
    VT_DCS_PASSTHROUGH,
    VT_DCS_IGNORE,
    VT_OSC_STRING,
    VT_STRING, /* SOS, PM or APC */
    VT_PLAIN,
    VT_STATE_COUNT
};

/* Kinds of code points; columns of the table. */
enum vt_class {
    VT_CLASS_C0,           /* 00-1F without those below */
    VT_CLASS_BEL,          /* 07 */
    VT_CLASS_CANCEL,       /* 18, 1A: CAN, SUB */
    VT_CLASS_ESC,          /* 1B */
    VT_CLASS_INTERMEDIATE, /* 20-2F */
    VT_CLASS_DIGIT,        /* 30-39 */
    VT_CLASS_COLON,        /* 3A */
    VT_CLASS_SEMICOLON,    /* 3B */
    VT_CLASS_MARKER,       /* 3C-3F */
    VT_CLASS_FINAL,        /* 40-7E without those below */
    VT_CLASS_DCS,          /* 50: P */
    VT_CLASS_CSI,          /* 5B: [ */
    VT_CLASS_OSC,          /* 5D: ] */
    VT_CLASS_STRING,       /* 58, 5E, 5F: X, ^, _ */
    VT_CLASS_DEL,          /* 7F */
    VT_CLASS_C1,           /* 80-9F */
    VT_CLASS_TEXT,         /* A0 and above */
    VT_CLASS_COUNT
};

enum vt_action {
    VT_IGNORE,
    VT_PRINT,
    VT_EXECUTE,
    VT_COLLECT, /* an intermediate */
    VT_MARK,    /* a private marker */
    VT_PARAM,   /* a digit or separator */
    VT_DISPATCH_ESC,
    VT_DISPATCH_CSI,
    VT_HOOK,
    VT_PUT,    /* payload of a device control string */
    VT_APPEND, /* to a string */
    VT_C1,     /* the same as ESC and a letter */
    VT_ACTION_COUNT
};

struct vt_transition {
    uint8_t action;
    uint8_t next;
};

/* Entering a state and leaving it act too: see parser.c. */
extern const struct vt_transition vt_table[VT_STATE_COUNT][VT_CLASS_COUNT];

/* Class of code points below A0. */
extern const uint8_t vt_classes[0xA0];

#endif
