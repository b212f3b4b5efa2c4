/* bench_history_fill.c - memory and rows of paua bench history: an allocator that counts, and the
 * six fixtures of vev-vt's benchmarks, cell for cell.
 *
 * plain-ascii             'a' + (column + row) % 26, default style
 * repeated-indexed-style  the same, bold and underlined, colour 196 on 17
 * repeated-rgb-style      the same, (224, 108, 117) on (40, 44, 52)
 * high-cardinality-rgb    the same, each cell of a colour of its own: row * columns + column
 * wide-unicode            U+754C in every two columns
 * styled-blanks           spaces on the background 232 + row % 16 */
#include "bench_history.h"

#include <stdlib.h>

enum fixture { PLAIN, INDEXED, RGB, HIGH, WIDE, BLANKS };

const char *const fixture_names[] = {"plain-ascii",
                                     "repeated-indexed-style",
                                     "repeated-rgb-style",
                                     "high-cardinality-rgb",
                                     "wide-unicode",
                                     "styled-blanks",
                                     NULL};

static void *meter_resize(void *arg, void *block, size_t old_nbytes, size_t nbytes)
{
    struct history_meter *meter = arg;
    void *resized = realloc(block, nbytes);

    if (resized == NULL) return NULL;
    meter->live += nbytes - old_nbytes;
    meter->allocated += nbytes;
    return resized;
}

static void meter_release(void *arg, void *block, size_t nbytes)
{
    struct history_meter *meter = arg;

    meter->live -= nbytes;
    free(block);
}

paua_history_allocator history_meter_allocator(struct history_meter *meter)
{
    return (paua_history_allocator){meter_resize, meter_release, meter};
}

void history_fill_begin(struct history_fill *fill, uint32_t fixture, uint32_t cols)
{
    *fill = (struct history_fill){.fixture = fixture, .cols = cols};
    fill->cells = cmd_alloc((size_t)FILL_ROWS * cols, sizeof *fill->cells);
    fill->styles = cmd_alloc((size_t)FILL_ROWS * cols, sizeof *fill->styles);
}

void history_fill_end(struct history_fill *fill)
{
    free(fill->cells);
    free(fill->styles);
}

static paua_history_style style_of(uint32_t fixture, uint64_t row, uint64_t cell)
{
    switch ((enum fixture)fixture) {
    case INDEXED:
        return (paua_history_style){.foreground = PAUA_HISTORY_INDEXED(196),
                                    .background = PAUA_HISTORY_INDEXED(17),
                                    .attributes =
                                        PAUA_HISTORY_BOLD | PAUA_HISTORY_UNDERLINE_SINGLE};
    case RGB:
        return (paua_history_style){.foreground = PAUA_HISTORY_RGB(224, 108, 117),
                                    .background = PAUA_HISTORY_RGB(40, 44, 52)};
    case HIGH:
        return (paua_history_style){.foreground = UINT32_C(0x02000000) | (cell & 0xFFFFFF)};
    case BLANKS:
        return (paua_history_style){.background = PAUA_HISTORY_INDEXED(232 + row % 16)};
    default:
        return (paua_history_style){0};
    }
}

static void fill_cells(const struct history_fill *fill, uint64_t row, paua_history_cell *cells)
{
    bool own_styles = fill->fixture == HIGH;

    for (uint32_t x = 0; x < fill->cols; x++) {
        cells[x] = (paua_history_cell){.codepoint = 'a' + (uint32_t)((x + row) % 26),
                                       .style = own_styles ? (uint16_t)x : 0,
                                       .width = 1};
        if (fill->fixture == BLANKS) cells[x].codepoint = ' ';
        if (fill->fixture != WIDE || (x % 2 == 0 && x + 1 == fill->cols)) continue;
        cells[x] = x % 2 == 0 ? (paua_history_cell){.codepoint = 0x754C, .width = 2}
                              : (paua_history_cell){0};
    }
}

void history_fill_rows(struct history_fill *fill, uint64_t first)
{
    size_t style_count = fill->fixture == HIGH ? fill->cols : 1;

    for (uint32_t i = 0; i < FILL_ROWS; i++) {
        paua_history_cell *cells = fill->cells + (size_t)i * fill->cols;
        paua_history_style *styles = fill->styles + i * style_count;

        fill_cells(fill, first + i, cells);
        for (size_t s = 0; s < style_count; s++)
            styles[s] = style_of(fill->fixture, first + i, (first + i) * fill->cols + s);
        fill->rows[i] = (paua_history_new_row){.size = sizeof fill->rows[i],
                                               .width = fill->cols,
                                               .end = fill->cols,
                                               .cell_count = fill->cols,
                                               .cells = cells,
                                               .styles = styles,
                                               .style_count = style_count};
    }
}
