/* where.h - filters given on the command line. */
#ifndef PAUA_CMD_WHERE_H
#define PAUA_CMD_WHERE_H

#include "cli.h"

/* Parses a filter; NULL gives NULL. EXIT_OK, or the error was printed. */
int where_parse(const char *text, paua_filter **filter);

#endif
