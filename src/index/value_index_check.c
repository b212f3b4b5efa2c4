/* value_index_check.c - whether an index has every row that has a value, once and in its place.
 *
 * Entries rise by value and then by row (BITMAP: by value alone, and all rows of a set have it), so
 * that no row can be there twice; that none is missing is a matter of counting. */
#include "index/value_index.h"

#include "codec/rowset.h"
#include "index/value_order.h"

struct checking {
    const struct value_index *index;
    const struct column_view *view;
    uint64_t rows;     /* seen */
    struct cell value; /* of the entry that is looked at */
    const char *wrong;
};

static uint64_t rows_with_values(const struct column_view *view)
{
    uint64_t present = 0;

    for (uint32_t i = 0; i < view->chunk_count; i++)
        present += view->chunks[i].rows - view->chunks[i].nulls;
    return present;
}

/* A row of the entry's set; for roaring_iterate(). */
static bool see_member(uint32_t row, void *arg)
{
    struct checking *c = arg;
    struct cell cell;

    column_cell(c->view, row, &cell);
    if (!cell.present || value_cells_compare(c->view, &cell, &c->value) != 0) {
        c->wrong = "has a row in the set of a value that is not its own";
        return false;
    }
    c->rows++;
    return true;
}

static paua_status check_set(struct checking *c, uint32_t entry)
{
    const struct value_index *index = c->index;
    uint64_t begin = entry > 0 ? index->ends[entry - 1] : 0;
    uint32_t rows = index->totals[entry] - (entry > 0 ? index->totals[entry - 1] : 0);
    roaring_bitmap_t *set;
    paua_status status;

    if (rows == 1) {
        c->rows++;
        return PAUA_OK;
    }
    status =
        rowset_decode(index->sets + begin, (size_t)(index->ends[entry] - begin), index->rows, &set);
    if (status == PAUA_ENOMEM) return status;
    if (status != PAUA_OK) {
        c->wrong = "has a set of rows that is damaged";
        return PAUA_OK;
    }
    if (roaring_bitmap_get_cardinality(set) != rows)
        c->wrong = "has a set of more or fewer rows than it says";
    else if (roaring_bitmap_minimum(set) != index->places[entry])
        c->wrong = "has a set that does not begin with its first row";
    else
        roaring_iterate(set, see_member, c);
    roaring_bitmap_free(set);
    return PAUA_OK;
}

/* Is the entry after the one before it? */
static bool in_order(const struct checking *c, uint32_t entry, const struct cell *last)
{
    const uint32_t *places = c->index->places;
    int order = entry == 0 ? -1 : value_cells_compare(c->view, last, &c->value);

    return order < 0 ||
           (order == 0 && c->index->kind == PAUA_INDEX_SORTED && places[entry - 1] < places[entry]);
}

static paua_status check_entries(struct checking *c)
{
    const struct value_index *index = c->index;
    paua_status status = PAUA_OK;

    for (uint32_t entry = 0; status == PAUA_OK && entry < index->entries; entry++) {
        struct cell last = c->value;

        column_cell(c->view, index->places[entry], &c->value);
        if (!c->value.present)
            c->wrong = "has a row that has no value";
        else if (!in_order(c, entry, &last))
            c->wrong = "has rows that are not in the order of their values";
        else if (index->kind == PAUA_INDEX_BITMAP)
            status = check_set(c, entry);
        else
            c->rows++;
        if (c->wrong != NULL) return status;
    }
    return status;
}

paua_status value_index_validate(const struct value_index *index, const struct column_view *view,
                                 const char **what)
{
    struct checking c = {.index = index, .view = view};
    paua_status status;

    if (view == NULL) {
        *what = index->entries > 0 ? "has rows of a column that there is not" : NULL;
        return PAUA_OK;
    }
    status = check_entries(&c);
    if (status == PAUA_OK && c.wrong == NULL && c.rows != rows_with_values(view))
        c.wrong = "lacks rows that have a value";
    if (status == PAUA_OK) *what = c.wrong;
    return status;
}
