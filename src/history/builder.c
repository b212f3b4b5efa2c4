/* builder.c - growing arrays of rows, and the dictionaries of styles and links.
 *
 * Dictionaries are searched one by one up to eight entries, which is what most pages have, and
 * beyond that through a table of 16-bit entries at most half full. An entry whose number is beyond
 * the count cannot occur: undoing rebuilds a table that has lost entries. */
#include "history/builder.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define LINEAR_MAX 8u
#define ENTRIES_MAX 65535u
#define KEPT_NBYTES_MAX BLOCK_NBYTES_MAX

static const char *link_bytes(const struct builder *b, size_t index)
{
    return b->strings + b->links[index].at;
}

static uint64_t style_hash(const paua_history_style *style)
{
    return XXH3_64bits(style, sizeof *style);
}

static uint64_t link_hash(const char *id, uint32_t id_nbytes, const char *uri, uint32_t uri_nbytes)
{
    return XXH3_64bits(uri, uri_nbytes) ^ (id_nbytes == 0 ? 0 : XXH3_64bits(id, id_nbytes) * 3);
}

static uint64_t link_slot_hash(const struct builder *b, size_t index)
{
    const struct link_slot *l = &b->links[index];
    const char *id = link_bytes(b, index);

    return link_hash(id, l->id_nbytes, id + l->id_nbytes, l->uri_nbytes);
}

static bool link_same(const struct builder *b, size_t index, const paua_history_link *link)
{
    const struct link_slot *l = &b->links[index];
    const char *id = link_bytes(b, index);

    return l->id_nbytes == link->id_nbytes && l->uri_nbytes == link->uri_nbytes &&
           (link->id_nbytes == 0 || memcmp(id, link->id, link->id_nbytes) == 0) &&
           memcmp(id + l->id_nbytes, link->uri, link->uri_nbytes) == 0;
}

static void finder_put(struct finder *f, uint64_t hash, size_t index)
{
    size_t at = (size_t)hash & (f->capacity - 1);

    while (f->entries[at] != 0)
        at = (at + 1) & (f->capacity - 1);
    f->entries[at] = (uint16_t)(index + 1);
}

static void finder_free(struct builder *b, struct finder *f)
{
    HEAP_FREE_ARRAY(b->heap, f->entries, f->capacity);
}

/* Fills the table anew from the arrays. */
static void finder_refill(const struct builder *b, struct finder *f)
{
    bool of_styles = f == &b->style_finder;
    size_t count = of_styles ? b->style_count : b->link_count;

    if (f->capacity == 0) return;
    memset(f->entries, 0, f->capacity * sizeof f->entries[0]);
    for (size_t i = 0; i < count; i++)
        finder_put(f, of_styles ? style_hash(&b->styles[i]) : link_slot_hash(b, i), i);
}

void builder_refind(struct builder *b)
{
    finder_refill(b, &b->style_finder);
    finder_refill(b, &b->link_finder);
}

/* Makes room for one more entry. */
static bool finder_reserve(struct builder *b, struct finder *f, size_t count)
{
    size_t capacity = f->capacity;
    uint16_t *entries;

    if (count < LINEAR_MAX || 2 * (count + 1) <= capacity) return true;
    if (capacity < 4 * LINEAR_MAX) capacity = 4 * LINEAR_MAX;
    while (2 * (count + 1) > capacity)
        capacity *= 2;
    entries = heap_alloc(b->heap, capacity * sizeof *entries);
    if (entries == NULL) return false;
    finder_free(b, f);
    f->entries = entries;
    f->capacity = capacity;
    finder_refill(b, f);
    return true;
}

static bool push_style(struct builder *b, const paua_history_style *style)
{
    if (!HEAP_GROW(b->heap, b->styles, b->style_capacity, b->style_count + 1)) return false;
    b->styles[b->style_count++] = *style;
    return true;
}

int32_t builder_style(struct builder *b, const paua_history_style *style)
{
    static const paua_history_style plain;
    struct finder *f = &b->style_finder;
    uint64_t hash = 0;

    if (memcmp(style, &plain, sizeof plain) == 0) return 0;
    if (b->style_count <= LINEAR_MAX || f->capacity == 0) {
        for (size_t i = 0; i < b->style_count; i++)
            if (memcmp(&b->styles[i], style, sizeof *style) == 0) return (int32_t)i + 1;
    } else {
        hash = style_hash(style);
        for (size_t at = (size_t)hash & (f->capacity - 1); f->entries[at] != 0;
             at = (at + 1) & (f->capacity - 1))
            if (memcmp(&b->styles[f->entries[at] - 1], style, sizeof *style) == 0)
                return f->entries[at];
    }
    if (b->style_count >= ENTRIES_MAX || !finder_reserve(b, f, b->style_count)) return -1;
    if (!push_style(b, style)) return -1;
    if (f->capacity > 0) finder_put(f, style_hash(style), b->style_count - 1);
    return (int32_t)b->style_count;
}

static bool push_link(struct builder *b, const paua_history_link *link)
{
    size_t nbytes = (size_t)link->id_nbytes + link->uri_nbytes;
    char *to;

    if (!HEAP_GROW(b->heap, b->strings, b->strings_capacity, b->strings_nbytes + nbytes) ||
        !HEAP_GROW(b->heap, b->links, b->link_capacity, b->link_count + 1))
        return false;
    to = b->strings + b->strings_nbytes;
    if (link->id_nbytes > 0) memcpy(to, link->id, link->id_nbytes);
    memcpy(to + link->id_nbytes, link->uri, link->uri_nbytes);
    b->links[b->link_count++] = (struct link_slot){.at = (uint32_t)b->strings_nbytes,
                                                   .id_nbytes = link->id_nbytes,
                                                   .uri_nbytes = link->uri_nbytes};
    b->strings_nbytes += nbytes;
    return true;
}

int32_t builder_link(struct builder *b, const paua_history_link *link)
{
    struct finder *f = &b->link_finder;
    uint64_t hash = link_hash(link->id, link->id_nbytes, link->uri, link->uri_nbytes);

    if (b->link_count <= LINEAR_MAX || f->capacity == 0) {
        for (size_t i = 0; i < b->link_count; i++)
            if (link_same(b, i, link)) return (int32_t)i + 1;
    } else {
        for (size_t at = (size_t)hash & (f->capacity - 1); f->entries[at] != 0;
             at = (at + 1) & (f->capacity - 1))
            if (link_same(b, f->entries[at] - 1u, link)) return f->entries[at];
    }
    if (b->link_count >= ENTRIES_MAX || !finder_reserve(b, f, b->link_count)) return -1;
    if (!push_link(b, link)) return -1;
    if (f->capacity > 0) finder_put(f, hash, b->link_count - 1);
    return (int32_t)b->link_count;
}

bool builder_push_run(struct builder *b, size_t run_begin, size_t nbytes, uint32_t style)
{
    paua_history_run *last = b->run_count > run_begin ? &b->runs[b->run_count - 1] : NULL;

    if (last != NULL && last->style == style) {
        size_t taken = UINT16_MAX - (size_t)last->nbytes;

        if (taken > nbytes) taken = nbytes;
        last->nbytes = (uint16_t)(last->nbytes + taken);
        nbytes -= taken;
    }
    while (nbytes > 0) {
        size_t taken = nbytes > UINT16_MAX ? UINT16_MAX : nbytes;

        if (!HEAP_GROW(b->heap, b->runs, b->run_capacity, b->run_count + 1)) return false;
        b->runs[b->run_count++] =
            (paua_history_run){.nbytes = (uint16_t)taken, .style = (uint16_t)style};
        nbytes -= taken;
    }
    return true;
}

void builder_drop_default_runs(struct builder *b, size_t run_begin)
{
    while (b->run_count > run_begin && b->runs[b->run_count - 1].style == 0)
        b->run_count--;
}

bool builder_push_shape(struct builder *b, size_t at, uint32_t nbytes, uint32_t width)
{
    if (!HEAP_GROW(b->heap, b->shapes, b->shape_capacity, b->shape_count + 1)) return false;
    b->shapes[b->shape_count++] =
        (shape){.at = (uint32_t)at, .nbytes = (uint8_t)nbytes, .width = (uint8_t)width};
    return true;
}

bool builder_push_slot(struct builder *b, const struct slot *slot)
{
    if (!HEAP_GROW(b->heap, b->slots, b->slot_capacity, b->slot_count + 1)) return false;
    b->slots[b->slot_count++] = *slot;
    return true;
}

bool builder_accepts(const struct builder *b, uint64_t id, int64_t time_ms)
{
    if (b->slot_count == 0) return true;
    assert(id > b->first_id);
    if (id - b->first_id > UINT32_MAX) return false;
    if ((time_ms == 0) != (b->first_time == 0)) return false;
    return time_ms - b->first_time <= (int64_t)UINT32_MAX;
}

void builder_init(struct builder *b, struct heap *heap) { *b = (struct builder){.heap = heap}; }

void builder_free(struct builder *b)
{
    HEAP_FREE_ARRAY(b->heap, b->text, b->text_capacity);
    HEAP_FREE_ARRAY(b->heap, b->slots, b->slot_capacity);
    HEAP_FREE_ARRAY(b->heap, b->runs, b->run_capacity);
    HEAP_FREE_ARRAY(b->heap, b->styles, b->style_capacity);
    HEAP_FREE_ARRAY(b->heap, b->links, b->link_capacity);
    HEAP_FREE_ARRAY(b->heap, b->strings, b->strings_capacity);
    HEAP_FREE_ARRAY(b->heap, b->shapes, b->shape_capacity);
    finder_free(b, &b->style_finder);
    finder_free(b, &b->link_finder);
    builder_init(b, b->heap);
}

#define DROP_IF_LARGE(b, array, capacity)                                                          \
    do {                                                                                           \
        if ((b)->capacity * sizeof *(b)->array > KEPT_NBYTES_MAX)                                  \
            HEAP_FREE_ARRAY((b)->heap, (b)->array, (b)->capacity);                                 \
    } while (0)

void builder_reset(struct builder *b)
{
    b->text_nbytes = b->slot_count = b->run_count = b->style_count = 0;
    b->link_count = b->strings_nbytes = b->shape_count = 0;
    b->dead_rows = 0;
    DROP_IF_LARGE(b, text, text_capacity);
    DROP_IF_LARGE(b, slots, slot_capacity);
    DROP_IF_LARGE(b, runs, run_capacity);
    DROP_IF_LARGE(b, styles, style_capacity);
    DROP_IF_LARGE(b, links, link_capacity);
    DROP_IF_LARGE(b, strings, strings_capacity);
    DROP_IF_LARGE(b, shapes, shape_capacity);
    finder_free(b, &b->style_finder);
    finder_free(b, &b->link_finder);
}

size_t builder_held(const struct builder *b)
{
    return b->text_capacity + b->slot_capacity * sizeof b->slots[0] +
           b->run_capacity * sizeof b->runs[0] + b->style_capacity * sizeof b->styles[0] +
           b->link_capacity * sizeof b->links[0] + b->strings_capacity +
           b->shape_capacity * sizeof b->shapes[0] +
           (b->style_finder.capacity + b->link_finder.capacity) * sizeof(uint16_t);
}

struct builder_mark builder_mark(const struct builder *b)
{
    return (struct builder_mark){b->text_nbytes, b->slot_count,     b->run_count,  b->style_count,
                                 b->link_count,  b->strings_nbytes, b->shape_count};
}

void builder_undo(struct builder *b, const struct builder_mark *mark)
{
    bool styles_lost = b->style_count != mark->style_count;
    bool links_lost = b->link_count != mark->link_count;

    b->text_nbytes = mark->text_nbytes;
    b->slot_count = mark->slot_count;
    b->run_count = mark->run_count;
    b->style_count = mark->style_count;
    b->link_count = mark->link_count;
    b->strings_nbytes = mark->strings_nbytes;
    b->shape_count = mark->shape_count;
    if (styles_lost) finder_refill(b, &b->style_finder);
    if (links_lost) finder_refill(b, &b->link_finder);
}

/* A block's worth of memory, shrunk where the allocator obliges. */
#define TRIM(b, array, capacity, count)                                                            \
    do {                                                                                           \
        if ((count) == 0) {                                                                        \
            HEAP_FREE_ARRAY((b)->heap, (b)->array, (b)->capacity);                                 \
        } else if ((count) < (b)->capacity) {                                                      \
            void *shorter_ =                                                                       \
                heap_shrink((b)->heap, (b)->array, (b)->capacity * sizeof *(b)->array,             \
                            (count) * sizeof *(b)->array);                                         \
            if (shorter_ != NULL) {                                                                \
                (b)->array = shorter_;                                                             \
                (b)->capacity = (count);                                                           \
            }                                                                                      \
        }                                                                                          \
    } while (0)

void builder_trim(struct builder *b)
{
    TRIM(b, text, text_capacity, b->text_nbytes);
    TRIM(b, slots, slot_capacity, b->slot_count);
    TRIM(b, runs, run_capacity, b->run_count);
    TRIM(b, styles, style_capacity, b->style_count);
    TRIM(b, links, link_capacity, b->link_count);
    TRIM(b, strings, strings_capacity, b->strings_nbytes);
    TRIM(b, shapes, shape_capacity, b->shape_count);
    finder_free(b, &b->style_finder);
    finder_free(b, &b->link_finder);
}
