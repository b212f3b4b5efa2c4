/* import_row.c - text into the cells of one row.
 *
 * Cells     Overwriting, which is what carriage returns are for, needs cells; a row of plain text
 *           costs 16 bytes stored a character more than it would without.
 * Clusters  by the rule of width.c, one code point at a time, so that it does not matter where text
 *           is cut. One that becomes 2 wide in the last column moves to the next row.
 * Bounds    A row of the widest terminal (PAUA_HISTORY_IMPORT_COLUMNS_MAX) with the longest
 *           clusters, a style a cell, and links up to IMPORT_STRINGS_NBYTES_MAX, is under the limit
 *           of rows, so that no input is ever refused for its content. Links beyond are left out.
 * Styles    are added as they come; when they are twice as many as cells, those in use are kept. */
#include "history/import_row.h"

#include <string.h>

#include "base/utf8.h"

#define SLOT_NBYTES PAUA_HISTORY_CLUSTER_NBYTES_MAX
#define STYLES_SEARCHED 8u

static const paua_history_cell blank = {.width = 1};

bool import_row_init(struct import_row *row, struct heap *heap, uint32_t columns)
{
    assert(columns >= 2 && columns <= PAUA_HISTORY_IMPORT_COLUMNS_MAX);
    *row = (struct import_row){.heap = heap,
                               .columns = columns,
                               .style_index = 0,
                               .link_index = IMPORT_NONE,
                               .last_at = IMPORT_NONE};
    if (!HEAP_GROW(heap, row->styles, row->style_capacity, 1)) return false;
    row->styles[0] = (paua_history_style){0};
    row->style_count = 1;
    return true;
}

void import_row_free(struct import_row *row)
{
    struct heap *heap = row->heap;

    HEAP_FREE_ARRAY(heap, row->cells, row->cell_capacity);
    heap_free(heap, row->text, (size_t)row->columns * SLOT_NBYTES);
    HEAP_FREE_ARRAY(heap, row->styles, row->style_capacity);
    HEAP_FREE_ARRAY(heap, row->link_slots, row->link_capacity);
    HEAP_FREE_ARRAY(heap, row->strings, row->strings_capacity);
    HEAP_FREE_ARRAY(heap, row->links, row->links_capacity);
    HEAP_FREE_ARRAY(heap, row->link, row->link_nbytes_capacity);
}

/* ---- styles and links ---- */

static void forget_style(struct import_row *row) { row->style_index = IMPORT_NONE; }

void import_row_set_style(struct import_row *row, const paua_history_style *style)
{
    row->style = *style;
    row->style.link = 0;
    forget_style(row);
}

bool import_row_set_link(struct import_row *row, const paua_history_link *link)
{
    size_t nbytes = (size_t)link->id_nbytes + link->uri_nbytes;

    if (nbytes > 0) {
        if (!HEAP_GROW(row->heap, row->link, row->link_nbytes_capacity, nbytes)) return false;
        if (link->id_nbytes > 0) memcpy(row->link, link->id, link->id_nbytes);
        memcpy(row->link + link->id_nbytes, link->uri, link->uri_nbytes);
    }
    row->link_id_nbytes = link->id_nbytes;
    row->link_uri_nbytes = link->uri_nbytes;
    row->link_index = IMPORT_NONE;
    forget_style(row);
    return true;
}

/* Number of the current link among the row's; 0: it has no room there. */
static bool find_link(struct import_row *row)
{
    size_t nbytes = (size_t)row->link_id_nbytes + row->link_uri_nbytes;

    row->link_index = 0;
    if (row->link_count == IMPORT_LINKS_MAX ||
        nbytes > IMPORT_STRINGS_NBYTES_MAX - row->strings_nbytes)
        return true;
    if (!HEAP_GROW(row->heap, row->link_slots, row->link_capacity, row->link_count + 1) ||
        !HEAP_GROW(row->heap, row->strings, row->strings_capacity, row->strings_nbytes + nbytes))
        return false;
    memcpy(row->strings + row->strings_nbytes, row->link, nbytes);
    row->link_slots[row->link_count++] = (struct link_slot){.at = (uint32_t)row->strings_nbytes,
                                                            .id_nbytes = row->link_id_nbytes,
                                                            .uri_nbytes = row->link_uri_nbytes};
    row->strings_nbytes += nbytes;
    row->link_index = (uint32_t)row->link_count;
    return true;
}

/* Drops styles that no cell refers to any more. */
static bool compact_styles(struct import_row *row)
{
    size_t nbytes = row->style_count * sizeof(uint16_t), kept = 0;
    uint16_t *numbers = heap_alloc(row->heap, nbytes); /* 1: in use; then the new numbers */

    if (numbers == NULL) return false;
    memset(numbers, 0, nbytes);
    numbers[0] = 1;
    for (uint32_t i = 0; i < row->used; i++)
        numbers[row->cells[i].style] = 1;
    for (size_t i = 0; i < row->style_count; i++) {
        if (numbers[i] == 0) continue;
        row->styles[kept] = row->styles[i];
        numbers[i] = (uint16_t)kept++;
    }
    for (uint32_t i = 0; i < row->used; i++)
        row->cells[i].style = numbers[row->cells[i].style];
    row->style_count = kept;
    heap_free(row->heap, numbers, nbytes);
    return true;
}

/* Finds or adds the current style; style_index is then known. */
static bool find_style(struct import_row *row)
{
    paua_history_style style = row->style;
    size_t first;

    if (row->link_uri_nbytes > 0) {
        if (row->link_index == IMPORT_NONE && !find_link(row)) return false;
        style.link = (uint16_t)row->link_index;
    }
    row->style_index = 0;
    if (memcmp(&style, &row->styles[0], sizeof style) == 0) return true;
    first = row->style_count > STYLES_SEARCHED ? row->style_count - STYLES_SEARCHED : 1;
    for (size_t i = row->style_count; i-- > first;) {
        if (memcmp(&row->styles[i], &style, sizeof style) != 0) continue;
        row->style_index = (uint32_t)i;
        return true;
    }
    forget_style(row); /* until it is there */
    if (row->style_count > 2 * (size_t)row->columns + STYLES_SEARCHED && !compact_styles(row))
        return false;
    if (!HEAP_GROW(row->heap, row->styles, row->style_capacity, row->style_count + 1)) return false;
    row->style_index = (uint32_t)row->style_count;
    row->styles[row->style_count++] = style;
    return true;
}

/* ---- cells ---- */

/* Makes cells [cursor, cursor + count) ready to be written over: there is room, what lies between
 * them and the row's text is blank, and no half of a wide cluster remains. */
static bool open_cells(struct import_row *row, uint32_t count)
{
    uint32_t begin = row->cursor, end = begin + count;

    assert(end <= row->columns);
    if (row->style_index == IMPORT_NONE && !find_style(row)) return false;
    if (!HEAP_GROW(row->heap, row->cells, row->cell_capacity, end)) return false;
    for (; row->used < begin; row->used++)
        row->cells[row->used] = blank;
    if (begin < row->used && row->cells[begin].width == 0) row->cells[begin - 1] = blank;
    if (end < row->used && row->cells[end].width == 0) row->cells[end] = blank;
    if (row->used < end) row->used = end;
    return true;
}

static bool print_ascii(struct import_row *row, const char *text, size_t nbytes)
{
    while (nbytes > 0) {
        uint32_t room, count;
        paua_history_cell *cells;

        if (row->cursor == row->columns && !import_row_end(row, true)) return false;
        room = row->columns - row->cursor;
        count = nbytes < room ? (uint32_t)nbytes : room;
        if (!open_cells(row, count)) return false;
        cells = row->cells + row->cursor;
        for (uint32_t i = 0; i < count; i++)
            cells[i] = (paua_history_cell){
                .codepoint = (uint8_t)text[i], .style = (uint16_t)row->style_index, .width = 1};
        row->cursor += count;
        row->last_at = row->cursor - 1;
        row->last = width_begin((uint8_t)text[count - 1], 1);
        text += count;
        nbytes -= count;
    }
    return true;
}

/* A cluster of row->last's width, and so far only its first code point, at the cursor. */
static bool place(struct import_row *row)
{
    uint32_t width = row->last.width;
    paua_history_cell *cell;

    if (row->cursor + width > row->columns) {
        struct growing_cluster cluster = row->last; /* ending a row forgets it */

        if (!import_row_end(row, true)) return false;
        row->last = cluster;
    }
    if (!open_cells(row, width)) return false;
    cell = row->cells + row->cursor;
    cell[0] = (paua_history_cell){
        .codepoint = row->last.first, .style = (uint16_t)row->style_index, .width = (uint8_t)width};
    if (width == 2) cell[1] = (paua_history_cell){.style = (uint16_t)row->style_index};
    row->last_at = row->cursor;
    row->cursor += width;
    return true;
}

/* The cluster printed last has become 2 wide: it takes the next cell too, or moves to a new row. */
static bool widen(struct import_row *row, const char *cluster, uint32_t nbytes)
{
    if (row->last_at + 1 < row->columns) {
        paua_history_cell *cell;

        row->cursor = row->last_at;
        if (!open_cells(row, 2)) return false;
        cell = row->cells + row->last_at;
        cell[0].width = 2;
        cell[1] = (paua_history_cell){.style = cell[0].style};
        row->cursor += 2;
        return true;
    }
    row->used = row->cursor = row->last_at;
    if (!place(row)) return false;
    memcpy(row->text, cluster, nbytes);
    row->cells[0].text_at = 0;
    row->cells[0].text_nbytes = (uint8_t)nbytes;
    return true;
}

/* A code point has joined the cluster printed last, whose cell has it no longer. */
static bool extend(struct import_row *row, const char *point, uint32_t nbytes)
{
    paua_history_cell *cell = &row->cells[row->last_at];
    char *slot;

    if (row->text == NULL) {
        row->text = heap_alloc(row->heap, (size_t)row->columns * SLOT_NBYTES);
        if (row->text == NULL) return false;
    }
    slot = row->text + (size_t)row->last_at * SLOT_NBYTES;
    if (cell->text_nbytes == 0) {
        cell->text_at = row->last_at * SLOT_NBYTES;
        cell->text_nbytes =
            (uint8_t)utf8_encode(cell->codepoint == 0 ? ' ' : cell->codepoint, slot);
    }
    memcpy(slot + cell->text_nbytes, point, nbytes);
    cell->text_nbytes = (uint8_t)(cell->text_nbytes + nbytes);
    assert(cell->text_nbytes == row->last.nbytes);
    return cell->width == row->last.width || widen(row, slot, cell->text_nbytes);
}

/* For a code point that takes no column: the cluster before the cursor, wherever it came from. */
static bool reopen_last(struct import_row *row)
{
    uint32_t at = row->cursor - 1, nbytes, first, first_nbytes;
    const paua_history_cell *cell;
    char one[4];
    const char *text = one;

    if (row->cursor == 0) return true;
    if (at >= row->used && !open_cells(row, 0)) return false; /* blanks that were passed over */
    if (row->cells[at].width == 0) at--;
    cell = &row->cells[at];
    nbytes = cell->text_nbytes;
    if (nbytes > 0)
        text = row->text + cell->text_at;
    else
        nbytes = utf8_encode(cell->codepoint == 0 ? ' ' : cell->codepoint, one);
    row->last_at = at;
    first = width_decode(text, &first_nbytes);
    row->last = width_begin(first, first_nbytes);
    while (row->last.nbytes < nbytes) {
        uint32_t step, point = width_decode(text + row->last.nbytes, &step);
        bool joined = width_join(&row->last, point, step);

        assert(joined);
        (void)joined;
    }
    return true;
}

static bool print_point(struct import_row *row, const char *text, uint32_t point, uint32_t nbytes)
{
    if (row->last_at == IMPORT_NONE && width_of(point) == 0 && !reopen_last(row)) return false;
    if (row->last_at != IMPORT_NONE && width_join(&row->last, point, nbytes))
        return extend(row, text, nbytes);
    row->last = width_begin(point, nbytes);
    return place(row);
}

bool import_row_print(struct import_row *row, const char *text, size_t nbytes)
{
    const char *end = text + nbytes;

    while (text < end) {
        const char *begin = text;
        uint32_t step, point;

        while (text < end && (uint8_t)*text < 0x80)
            text++;
        if (text > begin) {
            if (!print_ascii(row, begin, (size_t)(text - begin))) return false;
            continue;
        }
        point = width_decode(text, &step);
        if (!print_point(row, text, point, step)) return false;
        text += step;
    }
    return true;
}

/* ---- the row ---- */

static bool make_links(struct import_row *row)
{
    if (row->link_count == 0) return true;
    if (!HEAP_GROW(row->heap, row->links, row->links_capacity, row->link_count)) return false;
    for (size_t i = 0; i < row->link_count; i++) {
        const struct link_slot *slot = &row->link_slots[i];
        const char *id = row->strings + slot->at;

        row->links[i] = (paua_history_link){.uri = id + slot->id_nbytes,
                                            .id = id,
                                            .uri_nbytes = slot->uri_nbytes,
                                            .id_nbytes = slot->id_nbytes};
    }
    return true;
}

bool import_row_end(struct import_row *row, bool soft)
{
    paua_history_new_row finished = {.size = sizeof finished,
                                     .width = row->columns,
                                     .soft = soft,
                                     .cell_count = row->used,
                                     .cells = row->cells,
                                     .text = row->text,
                                     .styles = row->styles,
                                     .style_count = row->style_count,
                                     .link_count = row->link_count};

    if (!make_links(row)) return false;
    finished.links = row->links;
    if (row->text != NULL) finished.text_nbytes = (size_t)row->columns * SLOT_NBYTES;
    if (!row->emit(row->arg, &finished)) return false;
    row->cursor = row->used = 0;
    row->style_count = 1;
    row->link_count = row->strings_nbytes = 0;
    row->link_index = IMPORT_NONE;
    row->last_at = IMPORT_NONE;
    forget_style(row);
    return true;
}

void import_row_return(struct import_row *row)
{
    row->cursor = 0;
    row->last_at = IMPORT_NONE;
}

void import_row_backspace(struct import_row *row)
{
    if (row->cursor == row->columns) row->cursor--;
    if (row->cursor > 0) row->cursor--;
    row->last_at = IMPORT_NONE;
}

void import_row_tab(struct import_row *row)
{
    if (row->cursor == row->columns) return;
    row->cursor = (row->cursor / 8 + 1) * 8;
    if (row->cursor >= row->columns) row->cursor = row->columns - 1;
    row->last_at = IMPORT_NONE;
}

void import_row_erase(struct import_row *row, uint32_t mode)
{
    uint32_t end = row->cursor < row->columns ? row->cursor + 1 : row->columns;

    if (mode == 2) row->used = 0;
    if (mode == 0 && row->cursor < row->used) {
        if (row->cells[row->cursor].width == 0) row->cells[row->cursor - 1] = blank;
        row->used = row->cursor;
    }
    if (mode == 1) {
        if (end < row->used && row->cells[end].width == 0) row->cells[end] = blank;
        for (uint32_t i = 0; i < end && i < row->used; i++)
            row->cells[i] = blank;
    }
    row->last_at = IMPORT_NONE;
}
