/* filtered.c - see filtered.h. The tail's columns are locked, shared, for as long as one filter
 * runs over them; segments need no lock. */
#include "db/filtered.h"

#include "base/error.h"
#include "base/memory.h"

paua_status filtered_bind(const struct view *view, const paua_filter *filter,
                          struct bound_filter **bound, paua_error *err)
{
    struct filter_fields fields = field_list_filter(view->fields);
    paua_error why;
    paua_status status = filter_bind(filter, &fields, view->schema->dynamic, bound, &why);

    /* A search, a query or a deletion fails by it: say what of it is wrong. */
    if (status == PAUA_EINVAL) return error_set(err, status, "filter: %s", why.message);
    return status == PAUA_OK ? status : error_set_nomem(err);
}

/* Columns of one source. */
struct source_columns {
    const struct view *view;
    uint32_t source;
    struct column_view look; /* of the column that the filter asked for last */
};

static paua_status column_of(void *arg, uint32_t field, const struct column_view **view,
                             paua_error *err)
{
    struct source_columns *s = arg;
    struct column_file *file;
    const struct column *column;

    *view = NULL;
    if (s->source < s->view->segment_count) {
        file = s->view->segments[s->source].columns;
        return file == NULL ? PAUA_OK : column_file_column(file, field, view, err);
    }
    column = tail_columns_find(&s->view->tail->columns, field);
    if (column == NULL) return PAUA_OK;
    column_look(column, &s->look);
    *view = &s->look;
    return PAUA_OK;
}

/* By an index of the field over the segment, if there is one. */
static paua_status index_match(void *arg, uint32_t field, const struct column_view *view,
                               const struct column_test *test, uint64_t *bitmap, bool *done,
                               paua_error *err)
{
    const struct source_columns *s = arg;
    const struct index_list *indexes = s->view->indexes;
    const struct artifacts *artifacts = s->view->segments[s->source].artifacts;
    paua_status status = PAUA_OK;

    for (uint32_t i = 0; i < indexes->count && status == PAUA_OK && !*done; i++) {
        const struct index_definition *d = &indexes->items[i];
        const struct value_index *values;
        struct artifact_file *file;

        if (!index_kind_is_values(d->kind) || d->field != field) continue;
        file = artifacts_find(artifacts, field, d->number);
        if (file == NULL) continue;
        status = artifact_values(file, &values, err);
        if (status == PAUA_OK) status = value_index_match(values, view, test, bitmap, done, err);
    }
    return status;
}

/* Clears the bits of dead rows, and counts what is left. */
static uint64_t live_count(const roaring_bitmap_t *deleted, uint32_t rows, uint64_t *bitmap)
{
    roaring_uint32_iterator_t it;
    uint64_t count = 0;

    if (deleted != NULL)
        for (roaring_init_iterator(deleted, &it); it.has_value && it.current_value < rows;
             roaring_advance_uint32_iterator(&it))
            bitmap[it.current_value / 64] &= ~(UINT64_C(1) << it.current_value % 64);
    for (size_t i = 0; i < ((size_t)rows + 63) / 64; i++)
        count += (uint64_t)__builtin_popcountll(bitmap[i]);
    return count;
}

paua_status filtered_rows(const struct view *view, uint32_t source,
                          const struct bound_filter *filter, uint64_t *bitmap, uint64_t *count,
                          struct filter_scratch *scratch, paua_error *err)
{
    struct source_columns columns = {.view = view, .source = source};
    struct filter_source from = {.rows = view_source_rows(view, source),
                                 .patches = view_source_patches(view, source),
                                 .column = column_of,
                                 .arg = &columns};
    bool tail = source >= view->segment_count;
    paua_status status;

    if (!tail && view->indexes != NULL) from.index = index_match;
    if (tail) tail_columns_lock(&view->tail->columns);
    status = filter_run(filter, &from, bitmap, scratch, err);
    if (tail) tail_columns_unlock(&view->tail->columns);
    if (status != PAUA_OK) return status;
    *count = live_count(view_source_deleted(view, source), from.rows, bitmap);
    return PAUA_OK;
}

/* Calls each(arg, source, bitmap, count) for every source. */
static paua_status each_source(const struct view *view, const struct bound_filter *filter,
                               paua_status (*each)(void *arg, uint32_t source,
                                                   const uint64_t *bitmap, uint64_t count),
                               void *arg, paua_error *err)
{
    struct filter_scratch scratch = {0};
    uint64_t *bitmap = NULL, count;
    size_t capacity = 0;
    paua_status status = PAUA_OK;

    for (uint32_t s = 0; s < view_sources(view) && status == PAUA_OK; s++) {
        size_t words = ((size_t)view_source_rows(view, s) + 63) / 64;

        if (mem_grow((void **)&bitmap, &capacity, words, sizeof bitmap[0]) != 0)
            status = error_set_nomem(err);
        else
            status = filtered_rows(view, s, filter, bitmap, &count, &scratch, err);
        if (status == PAUA_OK && each(arg, s, bitmap, count) != PAUA_OK)
            status = error_set_nomem(err);
    }
    filter_scratch_free(&scratch);
    mem_free(bitmap);
    return status;
}

static paua_status places_add(void *arg, uint32_t source, const uint64_t *bitmap, uint64_t count)
{
    struct place_list *list = arg;
    uint64_t left = count;

    if (mem_grow((void **)&list->items, &list->capacity, list->count + (size_t)count,
                 sizeof list->items[0]) != 0)
        return PAUA_ENOMEM;
    for (uint32_t word = 0; left > 0; word++)
        for (uint64_t bits = bitmap[word]; bits != 0; bits &= bits - 1, left--)
            list->items[list->count++] =
                (struct place){source, 64 * word + (uint32_t)__builtin_ctzll(bits)};
    return PAUA_OK;
}

static paua_status live_places(const struct view *view, struct place_list *list, paua_error *err)
{
    if (mem_grow((void **)&list->items, &list->capacity, (size_t)view->live_rows,
                 sizeof list->items[0]) != 0)
        return error_set_nomem(err);
    for (uint32_t s = 0; s < view_sources(view); s++) {
        const roaring_bitmap_t *deleted = view_source_deleted(view, s);

        for (uint32_t row = 0; row < view_source_rows(view, s); row++)
            if (deleted == NULL || !roaring_bitmap_contains(deleted, row))
                list->items[list->count++] = (struct place){s, row};
    }
    return PAUA_OK;
}

paua_status filtered_places(const struct view *view, const struct bound_filter *filter,
                            struct place_list *list, paua_error *err)
{
    if (filter == NULL) return live_places(view, list, err);
    return each_source(view, filter, places_add, list, err);
}

static paua_status count_add(void *arg, uint32_t source, const uint64_t *bitmap, uint64_t count)
{
    (void)source;
    (void)bitmap;
    *(uint64_t *)arg += count;
    return PAUA_OK;
}

paua_status filtered_count(const struct view *view, const struct bound_filter *filter,
                           uint64_t *count, paua_error *err)
{
    uint64_t sum = 0;
    paua_status status = PAUA_OK;

    if (filter == NULL)
        sum = view->live_rows;
    else
        status = each_source(view, filter, count_add, &sum, err);
    if (status == PAUA_OK) *count = sum;
    return status;
}
