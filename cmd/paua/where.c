/* where.c - filters given on the command line (see where.h). */
#include "where.h"

#include <string.h>

int where_parse(const char *text, paua_filter **filter)
{
    paua_error err;

    *filter = NULL;
    if (text == NULL || paua_filter_parse(text, strlen(text), filter, &err) == PAUA_OK)
        return EXIT_OK;
    fail("filter: %s", err.message);
    return EXIT_USAGE;
}
