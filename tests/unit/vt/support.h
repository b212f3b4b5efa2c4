/* support.h - what tests of the escape parser share: its actions as one line of text. */
#ifndef PAUA_TESTS_VT_SUPPORT_H
#define PAUA_TESTS_VT_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "vt/parser.h"

/* Text as it is; controls as <0A>; {ESC #8}, {CSI ?1;2:3 m}, {OSC text}, {DCS 1 q|payload}. A "+"
 * after parameters says that some were lost, "+N" after a payload that N bytes of it were, "!" that
 * it was canceled. Intermediates stand before the final byte. */
struct vt_log {
    char text[8192];
    size_t used;
    uint64_t payload_nbytes; /* passed on, of the device control string at hand */
};

extern const struct vt_actions vt_log_actions;

struct vt_log_opts {
    const char *bytes;
    size_t nbytes;
    size_t buffer_nbytes;
    uint64_t dcs_nbytes_max;
    bool eight_bit;
    bool plain;
};

/* The actions of bytes that come in three pieces, cut at `first` and `second`, and of the end. */
const char *vt_log_pieces(struct vt_log *log, const struct vt_log_opts *opts, size_t first,
                          size_t second);

#endif
