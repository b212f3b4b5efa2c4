/* search.h - what the parts of a search share: search.c drives, search_region.c reads text,
 * search_match.c says where a match is. */
#ifndef PAUA_HISTORY_SEARCH_H
#define PAUA_HISTORY_SEARCH_H

#include "history/fold.h"
#include "history/line.h"

struct paua_history_search {
    struct heap *heap;
    paua_history_view *view;
    struct fold pattern; /* as it is, or folded */
    struct fold folded;  /* text of the region, when case is ignored */
    bool ignore_case, whole_word, backward, rows_only;

    uint64_t low, high; /* rows still to be read: [low, high) */
    uint64_t damaged_rows;

    /* The region at hand: text of rows [region_first, region_end), whole lines, or joined as one.
     * */
    bool has_region;
    bool region_joined; /* of several pages: line's row; otherwise the view's pin */
    uint64_t region_first, region_end;
    const char *text;
    size_t text_nbytes;
    size_t at; /* in what is searched (folded or not): forward, the next match begins at or after;
                  backward, it ends at or before */
    struct line line;

    paua_history_highlight *highlights;
    size_t highlights_capacity;
};

/* Reads the next region in the search's direction. Stores false in *more when no rows are left. A
 * damaged page is passed over, in a call of its own. PAUA_ENOMEM. */
paua_status search_load(paua_history_search *s, bool *more);

/* Fills a match of bytes [begin, end) of the region. PAUA_ENOMEM. */
paua_status search_locate(paua_history_search *s, size_t begin, size_t end,
                          paua_history_match *match);

/* Whether bytes [begin, end) of the region are in one line (or row, if only rows count), and a
 * whole word if one is wanted. */
bool search_acceptable(const paua_history_search *s, size_t begin, size_t end);

#endif
