/* parser.h - the escape state machine of DEC terminals: bytes in, actions out.
 *
 * Feed it any stream in any pieces; it calls back with text to print, controls to execute, and
 * whole escape sequences. It knows how sequences are built, not what they mean (parser.c says how).
 *
 * Bounds    Everything is bounded, and nothing is allocated: struct vt_parser is the caller's, and
 *           so is the buffer for strings.
 * Pieces    However a stream is cut, the actions are the same, but that text and the payload of a
 *           device control string come in pieces cut elsewhere, never inside a code point.
 * Text      is always valid UTF-8, whatever came in.
 * Threads   A parser belongs to one thread at a time. */
#ifndef PAUA_VT_PARSER_H
#define PAUA_VT_PARSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VT_PARAMS_MAX 32u
#define VT_PARAM_VALUE_MAX 65535u
#define VT_INTERMEDIATES_MAX 2u

/* A sequence as it came. Of ESC and CSI sequences and of what opens a device control string. */
struct vt_sequence {
    uint8_t final;                               /* the byte that ended it */
    uint8_t marker;                              /* '<', '=', '>' or '?' before the parameters; 0 */
    uint8_t intermediate_count;                  /* of bytes 0x20 to 0x2F before the final one */
    uint8_t intermediates[VT_INTERMEDIATES_MAX]; /* a sequence with more is not reported */
    uint8_t param_count;                         /* at most VT_PARAMS_MAX; those beyond are lost */
    bool params_lost;
    uint32_t colons;                /* bit i: a colon, not a semicolon, stands before params[i] */
    uint32_t given;                 /* bit i: params[i] has digits; otherwise it is 0 */
    uint16_t params[VT_PARAMS_MAX]; /* saturating */
};

enum vt_string { VT_OSC, VT_SOS, VT_PM, VT_APC };

/* What the parser calls; all are set. An 8-bit control (C1) is reported as ESC and its letter,
 * which mean the same: NEL is esc with the final byte 'E'. */
struct vt_actions {
    /* Printable text: no C0 or C1 controls, no DEL. Borrowed. */
    void (*print)(void *arg, const char *text, size_t nbytes);
    /* A C0 control, in the middle of a sequence too: it acts at once. */
    void (*execute)(void *arg, uint8_t control);
    void (*esc)(void *arg, const struct vt_sequence *sequence);
    void (*csi)(void *arg, const struct vt_sequence *sequence);
    /* A whole string, once it has ended; what CAN or SUB ended is not reported. nbytes_all is above
     * nbytes when the buffer could not take all of it. UTF-8; no C0 controls; borrowed. */
    void (*string)(void *arg, enum vt_string kind, const char *bytes, size_t nbytes,
                   uint64_t nbytes_all);
    /* A device control string begins; its payload follows, up to dcs_nbytes_max; then it ends.
     * UTF-8, C0 controls as they come. */
    void (*dcs_hook)(void *arg, const struct vt_sequence *sequence);
    void (*dcs_put)(void *arg, const char *bytes, size_t nbytes);
    /* nbytes_all: of the payload, what was not passed on included. canceled: by CAN or SUB. */
    void (*dcs_unhook)(void *arg, uint64_t nbytes_all, bool canceled);
};

struct vt_parser_opts {
    const struct vt_actions *actions; /* kept */
    void *arg;
    char *buffer; /* for strings; kept; buffer_nbytes may be 0 */
    size_t buffer_nbytes;
    uint64_t dcs_nbytes_max;
    bool eight_bit; /* bytes are Latin-1 with C1 controls, not UTF-8 */
    bool plain;     /* no sequences: ESC is executed like other C0 controls, C1 are passed over */
};

struct vt_parser {
    struct vt_parser_opts opts;
    struct vt_sequence sequence;
    bool sequence_refused; /* too many intermediates */
    bool string_cut;       /* the rest of the string at hand is left out */
    uint8_t state;
    uint8_t string_kind;
    uint8_t utf8_needed; /* continuation bytes still to come of the character begun; 0: none */
    uint8_t utf8_low;    /* range of the next one */
    uint8_t utf8_high;
    uint32_t utf8_point; /* as far as it has come */
    size_t buffer_used;
    uint64_t string_nbytes; /* of the string or payload so far */
};

void vt_parser_init(struct vt_parser *parser, const struct vt_parser_opts *opts);
void vt_parser_feed(struct vt_parser *parser, const void *bytes, size_t nbytes);

/* The stream is over: a character that was cut short is reported as U+FFFD, a sequence or string
 * begun is forgotten (an open device control string is unhooked as canceled). The parser can be fed
 * again, from its first state. */
void vt_parser_finish(struct vt_parser *parser);

#endif
