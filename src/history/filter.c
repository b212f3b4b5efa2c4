/* filter.c - a bit for every three bytes that follow one another in the folded text of some pages.
 *
 * One hash, 1 KiB for 1,024 to 2,048 rows: half a byte to one a row. On listings, compiler output
 * and text of many scripts it lets a search for a word that a group does not have skip two thirds
 * to three quarters of the groups, on prose and logs less (they share most of their trigrams); a
 * second kilobyte would skip a tenth more (docs/decisions/008-history-layout.md). Text is folded,
 * so that one filter serves searches with and without letter case: what contains a pattern
 * contains, folded, the folded pattern.
 *
 * Trigrams across the ends of rows and pages are in as well, since lines go on there. A group with
 * a damaged page gets a filter that skips nothing: the search has to come by and count it. Made by
 * idle visits once the history is long, which restores each page once more; so short histories pay
 * nothing, and appending never does. */
#include "history/filter.h"

#include "history/fold.h"

#define HASH_BITS 13u

_Static_assert(FILTER_NBYTES * 8 == 1u << HASH_BITS, "a hash is the number of a bit");

static uint32_t bit_of(const char *bytes)
{
    const uint8_t *b = (const uint8_t *)bytes;
    uint32_t trigram = b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16;

    return trigram * UINT32_C(0x9E3779B1) >> (32 - HASH_BITS);
}

static void filter_unref(struct heap *heap, struct filter *filter)
{
    if (atomic_fetch_sub_explicit(&filter->refs, 1, memory_order_acq_rel) > 1) return;
    heap_free(heap, filter, sizeof *filter);
}

static size_t array_nbytes(const struct filters *filters)
{
    return sizeof *filters + filters->capacity * sizeof filters->items[0];
}

size_t filters_held(const struct filters *filters)
{
    return filters == NULL ? 0 : array_nbytes(filters) + filters->count * sizeof(struct filter);
}

void filters_unref(struct filters *filters)
{
    struct heap *heap;

    if (filters == NULL || atomic_fetch_sub_explicit(&filters->refs, 1, memory_order_acq_rel) > 1)
        return;
    heap = filters->heap;
    for (size_t i = 0; i < filters->count; i++)
        filter_unref(heap, filters->items[i]);
    heap_free(heap, filters, array_nbytes(filters));
    heap_unref(heap);
}

/* ---- making ---- */

/* Sets the bits of a page's text; carry are the last bytes before it, at most 2. */
static bool add_text(struct filter *filter, struct fold *fold, const struct block *b, char *carry,
                     size_t *carried)
{
    char seam[4];
    size_t taken;

    if (!fold_text(fold, b->text, b->text_nbytes)) return false;
    taken = fold->nbytes < 2 ? fold->nbytes : 2;
    memcpy(seam, carry, *carried);
    memcpy(seam + *carried, fold->text, taken);
    for (size_t i = 0; i + 2 < *carried + taken; i++)
        filter->bits[bit_of(seam + i) / 8] |= (uint8_t)(1u << bit_of(seam + i) % 8);
    for (size_t i = 0; i + 2 < fold->nbytes; i++) {
        uint32_t bit = bit_of(fold->text + i);

        filter->bits[bit / 8] |= (uint8_t)(1u << bit % 8);
    }
    if (taken == 2) { /* the next page follows these */
        memcpy(carry, fold->text + fold->nbytes - 2, 2);
        *carried = 2;
    } else if (taken == 1) {
        if (*carried == 2) carry[0] = carry[1];
        if (*carried < 2) ++*carried;
        carry[*carried - 1] = fold->text[0];
    }
    return true;
}

static paua_status fill(struct filter *filter, struct heap *heap, struct page *const *pages,
                        size_t count)
{
    struct fold fold;
    char carry[2] = {0};
    size_t carried = 0;
    paua_status status = PAUA_OK;

    fold_init(&fold, heap);
    memset(filter->bits, 0, sizeof filter->bits);
    for (size_t i = 0; i < count && status == PAUA_OK; i++) {
        struct block *block = NULL;

        status = page_pin(pages[i], false, &block);
        if (status == PAUA_OK && !add_text(filter, &fold, block, carry, &carried))
            status = PAUA_ENOMEM;
        block_unref(block);
    }
    fold_free(&fold);
    if (status == PAUA_ENOMEM) return status;
    if (status != PAUA_OK) memset(filter->bits, 0xFF, sizeof filter->bits);
    return PAUA_OK;
}

/* The array for its owner alone, from item `first` on, with room for one more. */
static bool own(struct heap *heap, struct filters **filters, size_t first)
{
    struct filters *old = *filters, *made;
    size_t count = old == NULL ? 0 : old->count - first;
    size_t capacity = count + 1 + count / 2;

    made = heap_alloc(heap, sizeof *made + capacity * sizeof made->items[0]);
    if (made == NULL) return false;
    *made = (struct filters){.heap = heap_ref(heap), .count = count, .capacity = capacity};
    atomic_init(&made->refs, 1);
    for (size_t i = 0; i < count; i++) {
        made->items[i] = old->items[first + i];
        atomic_fetch_add_explicit(&made->items[i]->refs, 1, memory_order_relaxed);
    }
    filters_unref(old);
    *filters = made;
    return true;
}

static bool is_shared(const struct filters *filters)
{
    return atomic_load_explicit(&filters->refs, memory_order_acquire) > 1;
}

/* Adds a filter, whose reference is taken over on success. */
static bool push(struct heap *heap, struct filters **filters, struct filter *filter)
{
    if ((*filters == NULL || (*filters)->count == (*filters)->capacity || is_shared(*filters)) &&
        !own(heap, filters, 0))
        return false;
    (*filters)->items[(*filters)->count++] = filter;
    return true;
}

paua_status filters_add_stored(struct heap *heap, struct filters **filters, uint64_t first_ordinal,
                               uint64_t end_ordinal, const void *bits)
{
    struct filter *filter = heap_alloc(heap, sizeof *filter);

    if (filter == NULL) return PAUA_ENOMEM;
    atomic_init(&filter->refs, 1);
    filter->first_ordinal = first_ordinal;
    filter->end_ordinal = end_ordinal;
    memcpy(filter->bits, bits, sizeof filter->bits);
    if (push(heap, filters, filter)) return PAUA_OK;
    filter_unref(heap, filter);
    return PAUA_ENOMEM;
}

paua_status filters_add(struct heap *heap, struct filters **filters, struct page *const *pages,
                        size_t count)
{
    struct filter *filter = heap_alloc(heap, sizeof *filter);
    paua_status status;

    if (filter == NULL) return PAUA_ENOMEM;
    atomic_init(&filter->refs, 1);
    filter->first_ordinal = pages[0]->ordinal;
    filter->end_ordinal = pages[count - 1]->ordinal + pages[count - 1]->row_count;
    status = fill(filter, heap, pages, count);
    if (status == PAUA_OK && !push(heap, filters, filter)) status = PAUA_ENOMEM;
    if (status != PAUA_OK) filter_unref(heap, filter);
    return status;
}

void filters_drop(struct filters **filters, uint64_t first_ordinal)
{
    struct filters *f = *filters;
    size_t gone = 0;

    if (f == NULL) return;
    while (gone < f->count && f->items[gone]->end_ordinal <= first_ordinal)
        gone++;
    if (gone == 0) return;
    if (gone == f->count) {
        filters_unref(f);
        *filters = NULL;
    } else if (is_shared(f)) {
        own(f->heap, filters, gone);
    } else {
        for (size_t i = 0; i < gone; i++)
            filter_unref(f->heap, f->items[i]);
        f->count -= gone;
        memmove(f->items, f->items + gone, f->count * sizeof f->items[0]);
    }
}

/* ---- asking ---- */

const struct filter *filters_find(const struct filters *filters, uint64_t ordinal)
{
    size_t low = 0, high = filters == NULL ? 0 : filters->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (filters->items[middle]->end_ordinal <= ordinal)
            low = middle + 1;
        else
            high = middle;
    }
    if (filters == NULL || low == filters->count) return NULL;
    return filters->items[low]->first_ordinal <= ordinal ? filters->items[low] : NULL;
}

paua_status filter_needle(struct heap *heap, const char *bytes, size_t nbytes,
                          struct filter_needle *needle)
{
    struct fold fold;
    bool folded;

    needle->count = 0;
    fold_init(&fold, heap);
    folded = fold_text(&fold, bytes, nbytes);
    for (size_t i = 0; folded && i + 2 < fold.nbytes && needle->count < FILTER_TRIGRAMS_MAX; i++)
        needle->bits[needle->count++] = (uint16_t)bit_of(fold.text + i);
    fold_free(&fold);
    return folded ? PAUA_OK : PAUA_ENOMEM;
}

bool filter_may_contain(const struct filter *filter, const struct filter_needle *needle)
{
    for (uint32_t i = 0; i < needle->count; i++)
        if ((filter->bits[needle->bits[i] / 8] >> needle->bits[i] % 8 & 1) == 0) return false;
    return true;
}
