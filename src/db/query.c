/* query.c - rows by filter alone: in order and by pages, or counted.
 *
 * Order is a stable sort over the values of the rows found; rows stay where they are, and are read
 * by the cursor one at a time. Cost: the filter, and n log n comparisons of what it finds. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "db/cursor.h"
#include "db/filtered.h"

struct sortable {
    struct cell cell;
    struct place place;
};

struct order {
    bool number;
    bool descending;
};

static int by_place(struct place a, struct place b)
{
    if (a.source != b.source) return a.source < b.source ? -1 : 1;
    return a.row < b.row ? -1 : a.row > b.row;
}

/* NULL comes last either way. */
static int by_value(const void *a, const void *b, void *arg)
{
    const struct sortable *x = a, *y = b;
    const struct order *order = arg;
    int compared = 0;

    if (x->cell.present != y->cell.present) return x->cell.present ? -1 : 1;
    if (x->cell.present && order->number)
        compared = x->cell.key < y->cell.key ? -1 : x->cell.key > y->cell.key;
    else if (x->cell.present)
        compared = bytes_compare(x->cell.data, x->cell.nbytes, y->cell.data, y->cell.nbytes);
    if (compared != 0) return order->descending ? -compared : compared;
    return by_place(x->place, y->place);
}

static paua_status order_find(const struct view *view, const char *name, const struct field **field,
                              paua_error *err)
{
    *field = field_list_name(view->fields, name, strlen(name));
    if (*field == NULL)
        return error_set(err, PAUA_ENOTFOUND, "collection \"%s\" has no field \"%s\" to order by",
                         view->schema->name, name);
    if (type_is_array((*field)->type))
        return error_set(err, PAUA_EINVAL, "field \"%s\" holds arrays, which have no order", name);
    return PAUA_OK;
}

static paua_status places_sort(const struct view *view, const paua_query_opts *opts,
                               struct place_list *list, paua_error *err)
{
    const struct field *field;
    struct sortable *rows;
    paua_status status = order_find(view, opts->order_by, &field, err);

    if (status != PAUA_OK) return status;
    rows = mem_alloc((list->count + 1) * sizeof rows[0]);
    if (rows == NULL) return error_set_nomem(err);
    for (size_t i = 0; i < list->count && status == PAUA_OK; i++) {
        rows[i].place = list->items[i];
        status = view_cell(view, field->id, list->items[i], &rows[i].cell, err);
    }
    if (status == PAUA_OK && list->count > 0) {
        struct order order = {type_is_number(field->type), opts->descending};

        qsort_r(rows, list->count, sizeof rows[0], by_value, &order);
        for (size_t i = 0; i < list->count; i++)
            list->items[i] = rows[i].place;
    }
    mem_free(rows);
    return status;
}

static paua_status query_run(const struct view *view, const paua_query_opts *opts,
                             struct place_list *list, paua_error *err)
{
    struct bound_filter *filter = NULL;
    paua_status status = PAUA_OK;

    if (opts->filter != NULL) status = filtered_bind(view, opts->filter, &filter, err);
    if (status == PAUA_OK) status = filtered_places(view, filter, list, err);
    if (status == PAUA_OK && opts->order_by != NULL) status = places_sort(view, opts, list, err);
    bound_filter_free(filter);
    return status;
}

paua_status paua_query(paua_collection *collection, const paua_query_opts *opts,
                       paua_cursor **cursor, paua_error *err)
{
    static const paua_query_opts defaults = {.size = sizeof defaults};
    struct place_list list = {0};
    paua_read_opts read;
    paua_cursor *k;
    size_t first;
    paua_status status;

    if (opts == NULL) opts = &defaults;
    if (opts->size < sizeof *opts)
        return error_set(err, PAUA_EINVAL, "paua_query_opts.size is not set");
    read = opts->read;
    read.size = sizeof read;
    status = cursor_new(collection, &read, &k, err);
    if (status != PAUA_OK) return status;
    status = query_run(cursor_view(k), opts, &list, err);
    if (status == PAUA_OK && list.items == NULL) {
        list.items = mem_alloc(sizeof list.items[0]); /* none, but a list all the same */
        if (list.items == NULL) status = error_set_nomem(err);
    }
    if (status != PAUA_OK) {
        mem_free(list.items);
        paua_cursor_close(k);
        return status;
    }
    first = opts->offset < list.count ? (size_t)opts->offset : list.count;
    if (opts->limit > 0 && opts->limit < list.count - first)
        list.count = first + (size_t)opts->limit;
    cursor_set_places(k, list.items, first, list.count);
    *cursor = k;
    return PAUA_OK;
}

paua_status paua_count(paua_collection *collection, const paua_filter *filter, uint64_t *count,
                       paua_error *err)
{
    struct bound_filter *bound = NULL;
    struct view *view;
    paua_status status = collection == NULL || count == NULL
                             ? error_set(err, PAUA_EINVAL, "the collection or the count is NULL")
                             : db_check(collection->db, err);

    if (status == PAUA_OK) status = collection_view(collection, &view, err);
    if (status != PAUA_OK) return status;
    if (filter != NULL) status = filtered_bind(view, filter, &bound, err);
    if (status == PAUA_OK) status = filtered_count(view, bound, count, err);
    bound_filter_free(bound);
    view_unref(view);
    return status;
}
