/* search.c - substrings, forward and backward, in slices.
 *
 * memmem over a page's text at once, then a look at what is found: whether it lies in one line, is
 * a whole word, and begins and ends at characters. Between two calls the region at hand stays
 * pinned, and nothing else. No index: scanning a million compressed rows takes some 50 ms, and a
 * filter that skips pages would cost half of what the pages do. */
#include "history/search.h"

#include <string.h>

#include "base/error.h"
#include "history/width.h"

#define PATTERN_NBYTES_MAX 4096u

/* The last place in [0, end) where the needle lies whole; NULL if there is none. */
static const char *find_last(const char *text, size_t end, const char *needle, size_t nbytes)
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
            found = find_last(text, s->at, s->pattern.text, n);
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

paua_status paua_history_search_next(paua_history_search *s, uint64_t max_rows,
                                     paua_history_found *found, paua_history_match *match,
                                     uint64_t *damaged_rows, paua_error *err)
{
    uint64_t left = max_rows == 0 ? UINT64_MAX : max_rows;
    paua_history_found result = PAUA_HISTORY_MORE;
    bool more = true;

    while (more) {
        uint64_t rows = s->high - s->low;
        size_t begin, end, at = s->at;

        if (s->has_region && next_in_region(s, &begin, &end)) {
            if (search_locate(s, begin, end, match) != PAUA_OK) {
                s->at = at;
                return error_set_nomem(err);
            }
            result = PAUA_HISTORY_MATCH;
            break;
        }
        if (left == 0) break;
        if (search_load(s, &more) != PAUA_OK) return error_set_nomem(err);
        rows -= s->high - s->low;
        left -= rows < left ? rows : left;
    }
    if (!more) result = PAUA_HISTORY_DONE;
    *found = result;
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

static bool settle_pattern(paua_history_search *s, const paua_history_search_opts *o)
{
    if (o->ignore_case) return fold_text(&s->pattern, o->pattern, o->pattern_nbytes);
    if (!HEAP_GROW(s->heap, s->pattern.text, s->pattern.text_capacity, o->pattern_nbytes))
        return false;
    memcpy(s->pattern.text, o->pattern, o->pattern_nbytes);
    s->pattern.nbytes = o->pattern_nbytes;
    return true;
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
    *s = (paua_history_search){.heap = heap_ref(view->heap),
                               .ignore_case = o.ignore_case,
                               .whole_word = o.whole_word,
                               .backward = o.backward,
                               .rows_only = o.rows_only};
    fold_init(&s->pattern, s->heap);
    fold_init(&s->folded, s->heap);
    line_init(&s->line, s->heap);
    status = paua_history_view_clone(view, &s->view, err);
    if (status == PAUA_OK && !settle_pattern(s, &o)) status = error_set_nomem(err);
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
    fold_free(&s->pattern);
    fold_free(&s->folded);
    line_free(&s->line);
    HEAP_FREE_ARRAY(heap, s->highlights, s->highlights_capacity);
    paua_history_view_close(s->view);
    heap_free(heap, s, sizeof *s);
    heap_unref(heap);
}
