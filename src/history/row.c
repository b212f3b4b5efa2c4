/* row.c - what a row holds: cells, clusters, styles. Pure functions on a borrowed row. */
#include <assert.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "history/block.h"
#include "history/width.h"

/* Index of the first shape at or after byte `at` of the row's text. */
static uint32_t shape_from(const paua_history_row *row, uint32_t at)
{
    uint32_t low = 0, high = row->shape_count;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (row->shapes[middle].at - row->shapes_at < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t paua_history_row_cluster(const paua_history_row *row, uint32_t at, uint32_t *nbytes)
{
    assert(at < row->text_nbytes);
    if (row->shape_count > 0) {
        uint32_t i = shape_from(row, at);

        if (i < row->shape_count && row->shapes[i].at - row->shapes_at == at) {
            *nbytes = row->shapes[i].nbytes;
            return row->shapes[i].width;
        }
    }
    return width_cluster(row->text + at, row->text_nbytes - at, nbytes);
}

uint32_t paua_history_row_style(const paua_history_row *row, uint32_t at)
{
    uint32_t end = 0;

    for (uint32_t i = 0; i < row->run_count; i++) {
        end += row->runs[i].nbytes;
        if (at < end) return row->runs[i].style;
    }
    return 0;
}

#ifdef __SSE2__
/* Four cells a step, which are three whole vectors:
 *
 *   point 0 shared point | 0 shared point 0 | shared point 0 shared
 *
 * shared is what all cells have: style, length, width. Twice as fast as the loop below: a page's
 * cells go through the second level cache, and a store of eight bytes is as dear there as one of
 * sixteen. Returns the number of cells filled, count rounded down to a multiple of four. */
static uint32_t fill_fours(const char *text, uint32_t count, int32_t shared,
                           paua_history_cell *cells)
{
    const __m128i zero = _mm_setzero_si128();
    const __m128i keep[3] = {_mm_setr_epi32(-1, 0, 0, -1), _mm_setr_epi32(0, 0, -1, 0),
                             _mm_setr_epi32(0, -1, 0, 0)};
    const __m128i put[3] = {_mm_setr_epi32(0, 0, shared, 0), _mm_setr_epi32(0, shared, 0, 0),
                            _mm_setr_epi32(shared, 0, 0, shared)};
    uint32_t i = 0;

    for (; count - i >= 4; i += 4) {
        __m128i *to = (__m128i *)(void *)&cells[i];
        __m128i points;
        int32_t four;

        memcpy(&four, text + i, sizeof four);
        points = _mm_unpacklo_epi8(_mm_cvtsi32_si128(four), zero);
        points = _mm_unpacklo_epi16(points, zero);
        _mm_storeu_si128(
            to, _mm_or_si128(put[0], _mm_and_si128(keep[0], _mm_shuffle_epi32(points, 0x50))));
        _mm_storeu_si128(to + 1, _mm_or_si128(put[1], _mm_and_si128(keep[1], points)));
        _mm_storeu_si128(
            to + 2, _mm_or_si128(put[2], _mm_and_si128(keep[2], _mm_shuffle_epi32(points, 0xFF))));
    }
    return i;
}
#endif

/* Cells of ASCII text in one style; one by one in two stores a cell: a little-endian word for code
 * point and text_at, and what all cells share. */
static void fill_ascii(const char *text, uint32_t count, uint16_t style, paua_history_cell *cells)
{
    const paua_history_cell pattern = {.style = style, .width = 1};
    const size_t shared_at = offsetof(paua_history_cell, style);
    uint32_t shared, i = 0;

    memcpy(&shared, (const char *)&pattern + shared_at, sizeof shared);
#ifdef __SSE2__
    i = fill_fours(text, count, (int32_t)shared, cells);
#endif
    for (; i < count; i++) {
        uint64_t head = (uint8_t)text[i];

        memcpy(&cells[i], &head, sizeof head);
        memcpy((char *)&cells[i] + shared_at, &shared, sizeof shared);
    }
}

_Static_assert(sizeof(paua_history_cell) == 12, "cells are three words");

static uint32_t fill_plain_row(const paua_history_row *row, paua_history_cell *cells,
                               uint32_t capacity)
{
    uint32_t count = row->columns < capacity ? row->columns : capacity, at = 0;

    for (uint32_t i = 0; i < row->run_count && at < count; i++) {
        uint32_t n = row->runs[i].nbytes < count - at ? row->runs[i].nbytes : count - at;

        fill_ascii(row->text + at, n, row->runs[i].style, cells + at);
        at += n;
    }
    fill_ascii(row->text + at, count - at, 0, cells + at);
    return count;
}

static uint32_t fill_clusters(const paua_history_row *row, paua_history_cell *cells,
                              uint32_t capacity)
{
    uint32_t count = 0, run = 0, run_end = row->run_count > 0 ? row->runs[0].nbytes : UINT32_MAX;

    for (uint32_t at = 0, nbytes; at < row->text_nbytes && count < capacity; at += nbytes) {
        uint32_t end, width, first_nbytes, point;
        uint16_t style;

        while (run_end <= at) {
            run++;
            run_end = run < row->run_count ? run_end + row->runs[run].nbytes : UINT32_MAX;
        }
        style = run < row->run_count ? row->runs[run].style : 0;
        end = run_end < row->text_nbytes ? run_end : row->text_nbytes;
        if (end - at > capacity - count) end = at + capacity - count;
        nbytes = 0;
        if (row->shape_count == 0)
            nbytes = (uint32_t)width_plain(row->text, at, end, row->text_nbytes);
        if (nbytes > 0) {
            fill_ascii(row->text + at, nbytes, style, cells + count);
            count += nbytes;
            continue;
        }
        width = paua_history_row_cluster(row, at, &nbytes);
        point = width_decode(row->text + at, &first_nbytes);
        cells[count] =
            (paua_history_cell){.codepoint = point, .style = style, .width = (uint8_t)width};
        if (first_nbytes != nbytes) {
            cells[count].text_at = at;
            cells[count].text_nbytes = (uint8_t)nbytes;
        }
        if (++count < capacity && width == 2) cells[count++] = (paua_history_cell){.style = style};
    }
    return count;
}

uint32_t paua_history_row_cells(const paua_history_row *row, paua_history_cell *cells,
                                uint32_t capacity)
{
    uint32_t columns = row->width > row->columns ? row->width : row->columns;
    uint32_t count = columns < capacity ? columns : capacity, filled;

    /* A cluster has no more columns than bytes, and as many only if it is ASCII, or shaped. */
    if (row->columns == row->text_nbytes && row->shape_count == 0)
        filled = fill_plain_row(row, cells, count);
    else
        filled = fill_clusters(row, cells, count);
    for (; filled < count; filled++)
        cells[filled] = (paua_history_cell){.width = 1};
    return count;
}
