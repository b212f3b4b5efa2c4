/* graph_check.c - whether arrays from anywhere are a graph, and what share of it can be reached.
 *
 * Neighbours named twice are found by an array of marks, 4 bytes a row, which then serves as the
 * queue of the traversal. */
#include "index/graph_walk.h"

#include "base/error.h"
#include "base/memory.h"

struct check {
    const struct graph *graph;
    uint32_t *marks;  /* row + 1 of the last list that named a row; then the queue */
    uint64_t *copies; /* bitmaps */
    uint64_t *seen;
    struct graph_report report;
};

static inline bool bit(const uint64_t *bits, uint32_t at) { return (bits[at / 64] >> at % 64 & 1); }
static inline void set_bit(uint64_t *bits, uint32_t at) { bits[at / 64] |= (uint64_t)1 << at % 64; }

static paua_status check_shape(const struct graph *g, paua_error *err)
{
    if (g->degree < 4 || g->degree > GRAPH_DEGREE_MAX)
        return error_set(err, PAUA_ECORRUPT, "graph: degree %u", g->degree);
    if (g->stride != walk_lines(g->degree))
        return error_set(err, PAUA_ECORRUPT, "graph: stride %u of degree %u", g->stride, g->degree);
    if (g->rows == 0 ? g->entry != 0 : g->entry >= g->rows)
        return error_set(err, PAUA_ECORRUPT, "graph: entry %u of %u rows", g->entry, g->rows);
    if (g->copy_count > 0 && g->copy_count >= g->rows)
        return error_set(err, PAUA_ECORRUPT, "graph: %u copies of %u rows", g->copy_count, g->rows);
    return PAUA_OK;
}

static paua_status check_copies(struct check *c, paua_error *err)
{
    const struct graph *g = c->graph;

    for (uint32_t i = 0; i < g->copy_count; i++) {
        struct graph_copy copy = g->copies[i];

        if (copy.row >= g->rows || copy.of >= copy.row)
            return error_set(err, PAUA_ECORRUPT, "graph: row %u as a copy of %u", copy.row,
                             copy.of);
        if (i > 0 && (copy.of < g->copies[i - 1].of ||
                      (copy.of == g->copies[i - 1].of && copy.row <= g->copies[i - 1].row)))
            return error_set(err, PAUA_ECORRUPT, "graph: copies out of order at %u", i);
        if (bit(c->copies, copy.row))
            return error_set(err, PAUA_ECORRUPT, "graph: row %u is a copy twice", copy.row);
        set_bit(c->copies, copy.row);
    }
    for (uint32_t i = 0; i < g->copy_count; i++)
        if (bit(c->copies, g->copies[i].of))
            return error_set(err, PAUA_ECORRUPT, "graph: row %u is a copy of a copy",
                             g->copies[i].row);
    if (g->rows > 0 && bit(c->copies, g->entry))
        return error_set(err, PAUA_ECORRUPT, "graph: entry %u is a copy", g->entry);
    return PAUA_OK;
}

static paua_status check_list(struct check *c, uint32_t row, paua_error *err)
{
    const struct graph *g = c->graph;
    const uint32_t *list = g->neighbours + (size_t)row * g->stride;
    uint32_t count = 0;

    while (count < g->stride && list[count] != row) {
        uint32_t id = list[count++];

        if (id >= g->rows || bit(c->copies, id))
            return error_set(err, PAUA_ECORRUPT, "graph: row %u has neighbour %u", row, id);
        if (c->marks[id] == row + 1)
            return error_set(err, PAUA_ECORRUPT, "graph: row %u has neighbour %u twice", row, id);
        c->marks[id] = row + 1;
    }
    for (uint32_t i = count; i < g->stride; i++)
        if (list[i] != row)
            return error_set(err, PAUA_ECORRUPT, "graph: list of row %u is broken at %u", row, i);
    if (count > g->degree || (count > 0 && bit(c->copies, row)))
        return error_set(err, PAUA_ECORRUPT, "graph: row %u has %u neighbours", row, count);
    c->report.edges += count;
    if (count > c->report.most) c->report.most = count;
    return PAUA_OK;
}

static void count_unreachable(struct check *c)
{
    const struct graph *g = c->graph;
    uint32_t count = 0;

    if (g->rows == 0) return;
    set_bit(c->seen, g->entry);
    c->marks[count++] = g->entry;
    for (uint32_t at = 0; at < count; at++) {
        const uint32_t *list = g->neighbours + (size_t)c->marks[at] * g->stride;

        for (uint32_t i = 0; i < g->stride; i++)
            if (!bit(c->seen, list[i])) {
                set_bit(c->seen, list[i]);
                c->marks[count++] = list[i];
            }
    }
    c->report.unreachable = g->rows - g->copy_count - count;
}

paua_status graph_check(const struct graph *graph, struct graph_report *report, paua_error *err)
{
    struct check c = {.graph = graph};
    paua_status status = check_shape(graph, err);

    if (status != PAUA_OK) return status;
    c.marks = mem_zalloc(graph->rows, sizeof *c.marks);
    c.copies = mem_zalloc(graph->rows / 64 + 1, sizeof *c.copies);
    c.seen = mem_zalloc(graph->rows / 64 + 1, sizeof *c.seen);
    if (c.marks == NULL || c.copies == NULL || c.seen == NULL) {
        status = error_set_nomem(err);
        goto done;
    }
    status = check_copies(&c, err);
    for (uint32_t row = 0; status == PAUA_OK && row < graph->rows; row++)
        status = check_list(&c, row, err);
    if (status != PAUA_OK) goto done;
    count_unreachable(&c);
    *report = c.report;
done:
    mem_free(c.seen);
    mem_free(c.copies);
    mem_free(c.marks);
    return status;
}
