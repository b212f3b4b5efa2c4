/* search.c - substrings and regular expressions, forward and backward, in slices.
 *
 * memmem over a page's text at once, then a look at what is found: whether it lies in one line, is
 * a whole word, and begins and ends at characters. Between two calls the region at hand stays
 * pinned, and nothing else. A compressed page without the text that every match contains is passed
 * over before rows are made of it, where it can be told (payload_scan.c). Groups of pages that
 * cannot have that are passed over by their filters, which only long histories have: scanning a
 * quarter of a million compressed rows takes some 20 ms. */
#include "history/search.h"

#include <string.h>

#include "base/error.h"
#include "history/width.h"

#define PATTERN_NBYTES_MAX 4096u

const char *search_find_last(const char *text, size_t end, const char *needle, size_t nbytes)
{
    while (end >= nbytes) {
        const char *at = memrchr(text, needle[0], end - nbytes + 1);

        if (at == NULL) return NULL;
        if (memcmp(at, needle, nbytes) == 0) return at;
        end = (size_t)(at - text) + nbytes - 1;
    }
    return NULL;
}

/* The next match in the region. *begin and *end are bytes of its text. */
static bool next_in_region(paua_history_search *s, size_t *begin, size_t *end)
{
    const char *text = s->ignore_case ? s->folded.text : s->text;
    size_t nbytes = s->ignore_case ? s->folded.nbytes : s->text_nbytes, n = s->pattern.nbytes;

    for (;;) {
        const char *found = NULL;
        size_t at, from, to;

        if (s->backward)
            found = search_find_last(text, s->at, s->pattern.text, n);
        else if (nbytes > s->at)
            found = memmem(text + s->at, nbytes - s->at, s->pattern.text, n);
        if (found == NULL) return false;
        at = (size_t)(found - text);
        from = at;
        to = at + n;
        if ((!s->ignore_case || fold_source(&s->folded, at, at + n, &from, &to)) &&
            search_acceptable(s, from, to)) {
            s->at = s->backward ? at : at + n;
            *begin = from;
            *end = to;
            return true;
        }
        s->at = s->backward ? at + n - 1 : at + 1;
    }
}

static paua_status next_hit(paua_history_search *s, uint64_t *left, enum search_hit *hit,
                            struct search_span *span)
{
    if (s->regex != NULL) return search_regex(s, left, hit, span);
    *hit = next_in_region(s, &span->begin, &span->end) ? SEARCH_FOUND : SEARCH_NONE;
    return PAUA_OK;
}

/* Says which line it was: the search is behind it, whichever way it goes. */
static paua_status too_many_steps(const paua_history_search *s, paua_error *err)
{
    uint64_t row = search_row_at(s, s->backward ? s->at : s->at - 1);

    return error_set_row(err, PAUA_ETIMEOUT, row,
                         "row %llu: the pattern takes too many steps there",
                         (unsigned long long)row);
}

/* The region at hand. left counts rows: a substring has paid for all when they were read. */
static paua_status search_here(paua_history_search *s, uint64_t *left, paua_history_match *match,
                               enum search_hit *hit, paua_error *err)
{
    size_t at = s->at, spans = s->span_count;
    struct search_span span;
    paua_status status = next_hit(s, left, hit, &span);

    if (status == PAUA_OK && *hit == SEARCH_FOUND) {
        status = search_locate(s, span.begin, span.end, match);
        if (status != PAUA_OK) {
            s->at = at;
            s->span_count = spans;
        }
    }
    if (status == PAUA_ETIMEOUT) return too_many_steps(s, err);
    return status == PAUA_OK ? PAUA_OK : error_set_nomem(err);
}

paua_status paua_history_search_next(paua_history_search *s, uint64_t max_rows,
                                     paua_history_found *found, paua_history_match *match,
                                     uint64_t *damaged_rows, paua_error *err)
{
    uint64_t left = max_rows == 0 ? UINT64_MAX : max_rows;
    enum search_hit hit = SEARCH_NONE;
    bool more = true;

    while (more) {
        uint64_t rows = s->high - s->low;

        if (s->has_region) {
            paua_status status = search_here(s, &left, match, &hit, err);

            if (status != PAUA_OK) return status;
        }
        if (hit != SEARCH_NONE || left == 0) break;
        if (search_load(s, &more) != PAUA_OK) return error_set_nomem(err);
        rows -= s->high - s->low + s->skipped;
        if (s->regex == NULL || !s->has_region) left -= rows < left ? rows : left;
    }
    *found = !more                 ? PAUA_HISTORY_DONE
             : hit == SEARCH_FOUND ? PAUA_HISTORY_MATCH
                                   : PAUA_HISTORY_MORE;
    if (damaged_rows != NULL) *damaged_rows = s->damaged_rows;
    return PAUA_OK;
}

/* The rows of the times that are asked for. */
static paua_status settle_times(paua_history_search *s, const paua_history_search_opts *o,
                                paua_error *err)
{
    uint64_t index;
    paua_status status;

    s->high = s->view->row_count;
    if (o->since_ms > 0) {
        status = paua_history_view_find_time(s->view, o->since_ms, &index, err);
        if (status == PAUA_OK) s->low = index;
        if (status == PAUA_ENOTFOUND) s->low = s->high;
        if (status != PAUA_OK && status != PAUA_ENOTFOUND) return status;
    }
    if (o->until_ms > 0 && o->until_ms < INT64_MAX) {
        status = paua_history_view_find_time(s->view, o->until_ms + 1, &index, err);
        if (status == PAUA_OK) s->high = index;
        if (status != PAUA_OK && status != PAUA_ENOTFOUND) return status;
    }
    if (o->from_given && o->backward && o->from < s->high) s->high = o->from + 1;
    if (o->from_given && !o->backward && o->from > s->low) s->low = o->from;
    if (s->low > s->high) s->low = s->high;
    return PAUA_OK;
}

static paua_status settle_regex(paua_history_search *s, const paua_history_search_opts *o,
                                paua_error *err)
{
    const struct regex_opts opts = {.ignore_case = o->ignore_case, .whole_word = o->whole_word};
    size_t nbytes = regex_literal(o->pattern, o->pattern_nbytes, s->literal);

    if (!o->ignore_case) s->literal_nbytes = nbytes;
    s->sought = (struct sought){.text = s->literal, .nbytes = s->literal_nbytes};
    if (filter_needle(s->heap, s->literal, nbytes, &s->needle) != PAUA_OK)
        return error_set_nomem(err);
    return regex_make(s->heap, o->pattern, o->pattern_nbytes, &opts, &s->regex, err);
}

static paua_status settle_pattern(paua_history_search *s, const paua_history_search_opts *o,
                                  paua_error *err)
{
    if (o->regex) return settle_regex(s, o, err);
    s->ignore_case = o->ignore_case;
    s->whole_word = o->whole_word;
    if (filter_needle(s->heap, o->pattern, o->pattern_nbytes, &s->needle) != PAUA_OK)
        return error_set_nomem(err);
    if (o->ignore_case) {
        if (!fold_text(&s->pattern, o->pattern, o->pattern_nbytes)) return error_set_nomem(err);
        if (width_is_ascii(s->pattern.text, s->pattern.nbytes))
            s->sought = (struct sought){s->pattern.text, s->pattern.nbytes, true};
        return PAUA_OK;
    }
    if (!HEAP_GROW(s->heap, s->pattern.text, s->pattern.text_capacity, o->pattern_nbytes))
        return error_set_nomem(err);
    memcpy(s->pattern.text, o->pattern, o->pattern_nbytes);
    s->pattern.nbytes = o->pattern_nbytes;
    s->sought = (struct sought){.text = s->pattern.text, .nbytes = s->pattern.nbytes};
    return PAUA_OK;
}

paua_status paua_history_search_open(const paua_history_view *view,
                                     const paua_history_search_opts *opts,
                                     paua_history_search **search, paua_error *err)
{
    paua_history_search_opts o = {0};
    paua_history_search *s;
    paua_status status;

    memcpy(&o, opts, opts->size < sizeof o ? opts->size : sizeof o);
    if (o.pattern == NULL || o.pattern_nbytes == 0 || o.pattern_nbytes > PATTERN_NBYTES_MAX)
        return error_set(err, PAUA_EINVAL, "a pattern has 1 to 4096 bytes");
    if (!width_text_valid(o.pattern, o.pattern_nbytes))
        return error_set(err, PAUA_EINVAL, "the pattern is not UTF-8, or has a control character");
    s = heap_alloc(view->heap, sizeof *s);
    if (s == NULL) return error_set_nomem(err);
    *s = (paua_history_search){
        .heap = heap_ref(view->heap), .backward = o.backward, .rows_only = o.rows_only};
    fold_init(&s->pattern, s->heap);
    fold_init(&s->folded, s->heap);
    line_init(&s->line, s->heap);
    status = paua_history_view_clone(view, &s->view, err);
    if (status == PAUA_OK) status = settle_pattern(s, &o, err);
    if (status == PAUA_OK) status = settle_times(s, &o, err);
    if (status != PAUA_OK) {
        paua_history_search_close(s);
        return status;
    }
    view_unpin(s->view);
    *search = s;
    return PAUA_OK;
}

void paua_history_search_close(paua_history_search *s)
{
    struct heap *heap;

    if (s == NULL) return;
    heap = s->heap;
    regex_free(s->regex);
    fold_free(&s->pattern);
    fold_free(&s->folded);
    line_free(&s->line);
    HEAP_FREE_ARRAY(heap, s->highlights, s->highlights_capacity);
    paua_history_view_close(s->view);
    heap_free(heap, s, sizeof *s);
    heap_unref(heap);
}
