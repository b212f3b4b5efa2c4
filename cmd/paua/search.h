/* search.h - what paua search's two files share. */
#ifndef PAUA_CMD_SEARCH_H
#define PAUA_CMD_SEARCH_H

#include "cli.h"

struct search {
    const struct cli *cli;
    struct session session;
    paua_search_opts opts;
    paua_hits *hits;
    size_t field;
    bool documents;
    const char *const *fields; /* whose values are printed */
    size_t field_count;
    bool separate; /* a table was printed before */
};

/* Documents are left out where the collection has none. */
void search_print_begin(struct search *search);

/* Prints the hits of a batch whose first query has this number. */
int search_print(struct search *search, uint64_t first);

#endif
