/* merge_plan.c - what is worth merging, and into which pieces.
 *
 * Segments form levels of eight: 16,384 rows, 131,072, a million. The background policy merges a
 * run of eight neighbours of one level or below; paua_optimize merges all it may. A segment stays
 * below 2^22 rows, so that offsets of 1,024-byte keys fit 32 bits; larger collections are several
 * segments. Copying is bounded: only parts with too many dead rows are rewritten, and small ones
 * that lie side by side. */
#include "base/error.h"
#include "base/memory.h"
#include "db/merge.h"

#define SEGMENT_ROWS_MAX ((UINT32_C(1) << 22) - 1)
#define LEVEL_ROWS 16384u
#define LEVEL_WIDTH 8u
#define INDEXED_SHARE 4u /* rows that come after an indexed segment join it at this part of it */
#define SMALL_PART_NBYTES (UINT64_C(8) << 20)

static uint32_t level_of(uint32_t rows)
{
    uint32_t level = 0;

    for (uint64_t most = 2 * LEVEL_ROWS; most <= rows; most *= LEVEL_WIDTH)
        level++;
    return level;
}

static uint32_t part_dead(const struct view_segment *slot, uint32_t part)
{
    uint64_t first = slot->segment->first_positions[part];

    if (slot->deleted == NULL) return 0;
    return (uint32_t)roaring_bitmap_range_cardinality(
        slot->deleted->set, first, first + slot->segment->parts[part]->part.row_count);
}

static bool part_wasteful(const struct view_segment *slot, uint32_t part, enum merge_policy policy)
{
    uint64_t rows = slot->segment->parts[part]->part.row_count;

    return (uint64_t)part_dead(slot, part) * (policy == MERGE_ALL ? 4 : 2) > rows;
}

static bool part_small(const struct view *view, uint32_t segment, uint32_t part)
{
    const struct part_data *data = view->segments[segment].segment->parts[part];
    uint64_t nbytes = 0;

    for (uint32_t f = 0; f < view->schema->field_count; f++)
        nbytes += (uint64_t)data->part.row_count * schema_row_nbytes(&view->schema->fields[f]);
    return nbytes < SMALL_PART_NBYTES;
}

static bool segment_wasteful(const struct view_segment *slot, enum merge_policy policy)
{
    for (uint32_t p = 0; p < slot->segment->manifest.part_count; p++)
        if (part_wasteful(slot, p, policy)) return true;
    return false;
}

static uint32_t live_rows(const struct view_segment *slot)
{
    return slot->segment->rows - (slot->deleted == NULL ? 0 : slot->deleted->count);
}

static uint64_t rows_after(const struct view *view, uint32_t first, uint32_t count)
{
    uint64_t rows = 0;

    for (uint32_t i = first + 1; i < first + count; i++)
        rows += view->segments[i].segment->rows;
    return rows;
}

/* As many segments from `first` on as fit one. Dead rows that are kept count too. */
static uint32_t run_all(const struct view *view, uint32_t first)
{
    uint64_t rows = 0;
    uint32_t count = 0;

    while (first + count < view->segment_count) {
        rows += view->segments[first + count].segment->rows;
        if (rows > SEGMENT_ROWS_MAX && count > 0) break;
        count++;
    }
    /* What is indexed is not built anew for a few rows more. */
    if (count > 1 && view->segments[first].artifacts != NULL &&
        rows_after(view, first, count) < view->segments[first].segment->rows / INDEXED_SHARE)
        return 1;
    return count;
}

static void plan_all(const struct view *view, uint32_t from, uint32_t *first, uint32_t *count)
{
    for (uint32_t i = from, n; i < view->segment_count; i += n) {
        n = run_all(view, i);
        if (n > 1 || segment_wasteful(&view->segments[i], MERGE_ALL)) {
            *first = i;
            *count = n;
            return;
        }
    }
}

static void plan_background(const struct view *view, uint32_t from, uint32_t *first,
                            uint32_t *count)
{
    for (uint32_t i = from; i < view->segment_count; i++) {
        uint32_t level = level_of(live_rows(&view->segments[i])), n = 1;
        uint64_t rows = view->segments[i].segment->rows;

        while (i + n < view->segment_count && n < LEVEL_WIDTH &&
               view->segments[i + n].artifacts == NULL &&
               level_of(live_rows(&view->segments[i + n])) <= level)
            rows += view->segments[i + n++].segment->rows;
        if (n < LEVEL_WIDTH || rows > SEGMENT_ROWS_MAX) n = 1;
        if (view->segments[i].artifacts != NULL) n = 1;
        if (n > 1 || segment_wasteful(&view->segments[i], MERGE_BACKGROUND)) {
            *first = i;
            *count = n;
            return;
        }
    }
}

void merge_plan(const struct view *view, enum merge_policy policy, uint32_t from, uint32_t *first,
                uint32_t *count)
{
    *first = *count = 0;
    if (policy == MERGE_ALL)
        plan_all(view, from, first, count);
    else
        plan_background(view, from, first, count);
}

/* The old positions of a part's live rows. */
static paua_status positions_list(const struct merge *m, struct piece *piece, paua_error *err)
{
    const struct view_segment *slot = &m->view->segments[piece->segment];
    uint32_t rows = slot->segment->parts[piece->part]->part.row_count, n = 0;

    piece->positions = mem_alloc((piece->count + 1) * sizeof piece->positions[0]);
    if (piece->positions == NULL) return error_set_nomem(err);
    for (uint32_t row = 0; row < rows; row++) {
        uint32_t position = piece->first_old + row;

        if (slot->deleted == NULL || !roaring_bitmap_contains(slot->deleted->set, position))
            piece->positions[n++] = position;
    }
    assert(n == piece->count);
    return PAUA_OK;
}

/* Rows without originals are written as their codes say, since codes do not outlive a segment. */
static bool part_lacks_vectors(const struct view_segment *slot, uint32_t part)
{
    const struct schema *schema = slot->segment->schema;

    for (uint32_t f = 0; f < schema->field_count; f++)
        if (schema->fields[f].originals == PAUA_ORIGINALS_NONE &&
            !part_has_vectors(slot->segment->parts[part], f))
            return true;
    return false;
}

static void pieces_list(struct merge *m, enum merge_policy policy)
{
    for (uint32_t s = m->first; s < m->first + m->count; s++) {
        const struct view_segment *slot = &m->view->segments[s];

        for (uint32_t p = 0; p < slot->segment->manifest.part_count; p++)
            m->pieces[m->piece_count++] = (struct piece){
                .segment = s,
                .part = p,
                .first_old = slot->segment->first_positions[p],
                .count = slot->segment->parts[p]->part.row_count,
                .rewrite = part_wasteful(slot, p, policy) || part_lacks_vectors(slot, p)};
    }
    for (size_t i = 0; i + 1 < m->piece_count; i++)
        if (part_small(m->view, m->pieces[i].segment, m->pieces[i].part) &&
            part_small(m->view, m->pieces[i + 1].segment, m->pieces[i + 1].part))
            m->pieces[i].rewrite = m->pieces[i + 1].rewrite = true;
}

paua_status merge_cut(struct merge *m, enum merge_policy policy, paua_error *err)
{
    size_t parts = 0;
    paua_status status = PAUA_OK;

    for (uint32_t s = m->first; s < m->first + m->count; s++)
        parts += m->view->segments[s].segment->manifest.part_count;
    m->pieces = mem_zalloc(parts, sizeof m->pieces[0]);
    if (m->pieces == NULL) return error_set_nomem(err);
    pieces_list(m, policy);
    for (size_t i = 0; i < m->piece_count && status == PAUA_OK; i++) {
        struct piece *piece = &m->pieces[i];

        piece->first_new = m->rows;
        if (piece->rewrite) {
            piece->count -= part_dead(&m->view->segments[piece->segment], piece->part);
            status = positions_list(m, piece, err);
            m->total += piece->count;
        }
        m->rows += piece->count;
    }
    return status;
}

void merge_free(struct merge *m)
{
    for (size_t i = 0; i < m->piece_count; i++)
        mem_free(m->pieces[i].positions);
    mem_free(m->pieces);
    manifest_free(&m->manifest);
    writer_free(&m->record);
    view_unref(m->view);
}

const struct piece *merge_origin(const struct merge *m, uint32_t row, uint32_t *position)
{
    size_t low = 0, high = m->piece_count - 1;
    const struct piece *piece;

    while (low < high) {
        size_t middle = low + (high - low + 1) / 2;

        if (m->pieces[middle].first_new <= row)
            low = middle;
        else
            high = middle - 1;
    }
    piece = &m->pieces[low];
    *position = piece->positions != NULL ? piece->positions[row - piece->first_new]
                                         : piece->first_old + (row - piece->first_new);
    return piece;
}
