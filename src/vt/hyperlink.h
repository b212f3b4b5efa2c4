/* hyperlink.h - OSC 8: where hyperlinks begin and end. */
#ifndef PAUA_VT_HYPERLINK_H
#define PAUA_VT_HYPERLINK_H

#include <paua/paua_history.h>

/* Reads the string of an OSC sequence; cut: more than these nbytes came. False: it is none about
 * links. Otherwise *link is what is printed from now on is linked to, borrowed from the string;
 * with no URI, nothing is: the link has ended, or this one is over the limits of paua_history_link
 * or has control characters. */
bool hyperlink_parse(const char *osc, size_t nbytes, bool cut, paua_history_link *link);

#endif
