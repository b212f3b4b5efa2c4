/* sgr.h - select graphic rendition: what CSI ... m does to a style. */
#ifndef PAUA_VT_SGR_H
#define PAUA_VT_SGR_H

#include <paua/paua_history.h>

#include "vt/parser.h"

/* Applies CSI ... m, which has neither marker nor intermediates, to a style. Colours come in both
 * forms: 38;2;R;G;B and 38;5;N, and with colons 38:2::R:G:B, 38:2:R:G:B and 38:5:N. What is unknown
 * or out of range changes nothing. The link stays as it is. */
void sgr_apply(const struct vt_sequence *sequence, paua_history_style *style);

#endif
