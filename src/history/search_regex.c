/* search_regex.c - the next match of a regular expression in the region at hand.
 *
 * Lines are matched one by one, each a subject of its own, so that ^ and $ are a line's ends (a
 * row's, if only rows count) and nothing matches across. What every match contains is looked for
 * first, over the whole region at once: lines without it are passed over. Backward, the matches of
 * a line are those that a search forward finds, told from its end; a line of more than SEARCH_SPANS
 * is gone through again for those before. Slices count lines, not pages, since a line can cost
 * milliseconds. */
#include "history/search.h"

/* Moves s->at to the next line that can hold a match; false: there is none. */
static bool skip_forward(paua_history_search *s)
{
    const char *found;
    size_t begin;

    if (s->at >= s->text_nbytes) return false;
    if (s->literal_nbytes == 0) return true;
    found = memmem(s->text + s->at, s->text_nbytes - s->at, s->literal, s->literal_nbytes);
    if (found == NULL) return false;
    begin = search_line_at(s, (size_t)(found - s->text)).begin;
    if (begin > s->at) s->at = begin;
    return true;
}

static paua_status forward(paua_history_search *s, uint64_t *lines, enum search_hit *hit,
                           struct search_span *span)
{
    while (skip_forward(s)) {
        struct search_span line = search_line_at(s, s->at);
        size_t begin, end;
        bool found = false;
        paua_status status;

        *hit = SEARCH_PAUSE;
        if (*lines == 0) return PAUA_OK;
        --*lines;
        status = regex_find(s->regex, s->text + line.begin, line.end - line.begin,
                            s->at - line.begin, &found, &begin, &end);
        if (status == PAUA_ENOMEM) return status;
        s->at = found ? line.begin + end : line.end;
        if (status != PAUA_OK) return status;
        if (found) {
            *span = (struct search_span){line.begin + begin, line.begin + end};
            *hit = SEARCH_FOUND;
            return PAUA_OK;
        }
    }
    *hit = SEARCH_NONE;
    return PAUA_OK;
}

static bool skip_backward(paua_history_search *s)
{
    const char *found;
    size_t end;

    if (s->at == 0) return false;
    if (s->literal_nbytes == 0) return true;
    found = search_find_last(s->text, s->at, s->literal, s->literal_nbytes);
    if (found == NULL) return false;
    end = search_line_at(s, (size_t)(found - s->text)).end;
    if (end < s->at) s->at = end;
    return true;
}

/* The last matches of a line that end by s->at. */
static paua_status collect(paua_history_search *s, struct search_span line)
{
    size_t from = 0, count = 0;
    bool found = true;

    while (found && line.begin + from < s->at) {
        size_t begin, end;
        paua_status status = regex_find(s->regex, s->text + line.begin, line.end - line.begin, from,
                                        &found, &begin, &end);

        if (status != PAUA_OK) return status;
        if (!found || line.begin + end > s->at) break;
        if (count == SEARCH_SPANS) {
            memmove(s->spans, s->spans + 1, (SEARCH_SPANS - 1) * sizeof s->spans[0]);
            count--;
        }
        s->spans[count++] = (struct search_span){line.begin + begin, line.begin + end};
        from = end;
    }
    s->span_count = count;
    return PAUA_OK;
}

static paua_status backward(paua_history_search *s, uint64_t *lines, enum search_hit *hit,
                            struct search_span *span)
{
    while (s->span_count == 0 && skip_backward(s)) {
        struct search_span line = search_line_at(s, s->at - 1);
        paua_status status;

        *hit = SEARCH_PAUSE;
        if (*lines == 0) return PAUA_OK;
        --*lines;
        status = collect(s, line);
        if (status == PAUA_ENOMEM) return status;
        if (s->span_count == 0) s->at = line.begin;
        if (status != PAUA_OK) return status;
    }
    *hit = SEARCH_NONE;
    if (s->span_count == 0) return PAUA_OK;
    *span = s->spans[--s->span_count];
    s->at = span->begin;
    *hit = SEARCH_FOUND;
    return PAUA_OK;
}

paua_status search_regex(paua_history_search *s, uint64_t *lines, enum search_hit *hit,
                         struct search_span *span)
{
    return s->backward ? backward(s, lines, hit, span) : forward(s, lines, hit, span);
}
