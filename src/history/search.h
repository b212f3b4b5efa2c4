/* search.h - what the parts of a search share: search.c drives, search_region.c reads text,
 * search_regex.c runs expressions, search_match.c says where a match is. */
#ifndef PAUA_HISTORY_SEARCH_H
#define PAUA_HISTORY_SEARCH_H

#include "history/fold.h"
#include "history/line.h"
#include "history/regex.h"

#define SEARCH_SPANS 64u

/* A match in the region's text. */
struct search_span {
    size_t begin;
    size_t end;
};

enum search_hit {
    SEARCH_NONE,  /* no further match in the region */
    SEARCH_FOUND, /* one */
    SEARCH_PAUSE  /* not known yet: so many lines were looked at as were allowed */
};

struct paua_history_search {
    struct heap *heap;
    paua_history_view *view;
    struct fold pattern;                    /* as it is, or folded */
    struct fold folded;                     /* text of the region, when case is ignored */
    struct regex *regex;                    /* NULL: substrings */
    char literal[REGEX_LITERAL_NBYTES_MAX]; /* what all its matches contain, if ... */
    size_t literal_nbytes;                  /* ... this is not 0 */
    struct filter_needle needle;
    struct sought sought; /* pattern or literal: what all matches contain; nbytes 0: unknown */
    bool ignore_case, whole_word, backward, rows_only;

    uint64_t low, high; /* rows still to be read: [low, high) */
    uint64_t damaged_rows;
    uint64_t skipped; /* rows that filters let the last search_load pass over */

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
    struct search_span spans[SEARCH_SPANS]; /* backward: matches of a line still to be told, */
    size_t span_count;                      /* the last one first */

    paua_history_highlight *highlights;
    size_t highlights_capacity;
};

/* Reads the next region in the search's direction. Stores false in *more when no rows are left. A
 * damaged page is passed over, in a call of its own. PAUA_ENOMEM. */
paua_status search_load(paua_history_search *s, bool *more);

/* Fills a match of bytes [begin, end) of the region. PAUA_ENOMEM. */
paua_status search_locate(paua_history_search *s, size_t begin, size_t end,
                          paua_history_match *match);

/* The last place in [0, end) where the needle lies whole; NULL if there is none. */
const char *search_find_last(const char *text, size_t end, const char *needle, size_t nbytes);

/* The next match of the regular expression in the region, looking at no more than *lines lines,
 * which it counts down. PAUA_ETIMEOUT (the search is behind the line then), PAUA_ENOMEM. */
paua_status search_regex(paua_history_search *s, uint64_t *lines, enum search_hit *hit,
                         struct search_span *span);

/* The bytes of the line (or row) that byte `at` of the region is in. */
struct search_span search_line_at(const paua_history_search *s, size_t at);

/* The row of the view that byte `at` of the region is in; of the line that it joins, the first. */
uint64_t search_row_at(const paua_history_search *s, size_t at);

/* Whether bytes [begin, end) of the region are in one line (or row, if only rows count), and a
 * whole word if one is wanted. */
bool search_acceptable(const paua_history_search *s, size_t begin, size_t end);

#endif
