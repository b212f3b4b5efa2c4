/* history_model.c - see history_model.h. */
#include "history_model.h"

#include <stdio.h>

const paua_history_link model_links[MODEL_LINKS] = {
    {"https://example.com", "", 19, 0},
    {"https://example.com", "a", 19, 1},
    {"file:///tmp/\xC3\xA9", "second", 14, 6},
};

/* Clusters as the library's rule has them, then some that it would cut or size otherwise. */
static const struct {
    const char *text;
    uint8_t width;
} CLUSTERS[] = {
    {"a", 1},
    {"b", 1},
    {" ", 1},
    {" ", 1},
    {"Z", 1},
    {"\xC3\xA9", 1},
    {"\xE7\x95\x8C", 2},
    {"e\xCC\x81", 1},
    {"\xF0\x9F\xA7\x91\xE2\x80\x8D\xF0\x9F\x8C\xBE", 2},
    {"\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA", 2},
    {"\xE2\x9D\xA4\xEF\xB8\x8F", 2},
    {"\xF0\x9F\x91\x8D\xF0\x9F\x8F\xBD", 2},
    {"a", 2},
    {"\xE7\x95\x8C", 1},
    {"\xCC\x81", 1},
    {"\xF0\x9F\x91\x8D", 1},
    {"ab", 1},
    {"\xE2\x80\x8D", 1},
};
#define TAME_CLUSTERS 12u
#define CLUSTER_COUNT (sizeof CLUSTERS / sizeof CLUSTERS[0])

void model_init(struct model *m, uint64_t seed, bool wild)
{
    *m = (struct model){.seed = seed, .wild = wild};
}

void model_free(struct model *m) { free(m->rows); }

static paua_history_style random_style(struct model *m)
{
    static const paua_history_style STYLES[] = {
        {0},
        {.foreground = PAUA_HISTORY_INDEXED(1)},
        {.foreground = PAUA_HISTORY_RGB(1, 2, 3), .attributes = PAUA_HISTORY_BOLD},
        {.background = PAUA_HISTORY_INDEXED(255),
         .underline_colour = PAUA_HISTORY_RGB(255, 255, 255),
         .attributes = PAUA_HISTORY_UNDERLINE_CURLY | PAUA_HISTORY_ITALIC},
        {.link = 1},
        {.link = 2, .foreground = PAUA_HISTORY_INDEXED(0)},
        {.link = 3},
    };

    if (m->wild && test_random_below(&m->seed, 20) == 0)
        return (paua_history_style){.background =
                                        PAUA_HISTORY_RGB(test_random_below(&m->seed, 256), 0, 7)};
    return STYLES[test_random_below(&m->seed, sizeof STYLES / sizeof STYLES[0])];
}

static bool is_plain_blank(const struct model_cell *cell)
{
    static const paua_history_style plain;

    return cell->width == 1 && (cell->nbytes == 0 || (cell->nbytes == 1 && cell->text[0] == ' ')) &&
           memcmp(&cell->style, &plain, sizeof plain) == 0;
}

/* Random cells from column 0 on; returns the number of columns. */
static uint32_t random_cells(struct model *m, struct model_row *row)
{
    uint32_t columns = test_random_below(&m->seed, row->width + 1), used = 0;
    bool plain = test_random_below(&m->seed, 3) == 0;
    paua_history_style style = {0};

    while (used < columns) {
        uint32_t which = test_random_below(&m->seed, m->wild ? CLUSTER_COUNT : TAME_CLUSTERS);
        struct model_cell *cell = &row->cells[used];

        if (plain) which = test_random_below(&m->seed, 5);
        if (CLUSTERS[which].width > columns - used) continue;
        if (!plain && test_random_below(&m->seed, 4) == 0) style = random_style(m);
        *cell = (struct model_cell){.width = CLUSTERS[which].width, .style = style};
        cell->nbytes = (uint8_t)strlen(CLUSTERS[which].text);
        memcpy(cell->text, CLUSTERS[which].text, cell->nbytes);
        if (cell->width == 2) cell[1] = (struct model_cell){.style = style};
        used += cell->width;
    }
    return used;
}

/* What is kept of `given` columns: see paua_history_new_row.end. */
static void settle_extent(struct model_row *row, uint32_t given, uint32_t end)
{
    uint32_t kept = given;

    for (uint32_t i = given; i < MODEL_COLUMNS_MAX; i++)
        row->cells[i] = (struct model_cell){.width = 1};
    while (kept > 0 && is_plain_blank(&row->cells[kept - 1]))
        kept--;
    if (end == 0) end = row->soft ? given : kept;
    row->end = end;
    row->columns = end > kept ? end : kept;
    for (uint32_t i = 0; i < MODEL_COLUMNS_MAX; i++) {
        if (i < row->columns && is_plain_blank(&row->cells[i]))
            row->cells[i] = (struct model_cell){.text = " ", .nbytes = 1, .width = 1};
        if (i >= row->columns) row->cells[i] = (struct model_cell){.width = 1};
    }
}

static void append_cells(const struct model_row *row, uint32_t given, paua_history_new_row *out,
                         paua_history_cell *cells, paua_history_style *styles, char *text)
{
    uint32_t used = 0;

    for (uint32_t i = 0; i < given; i++) {
        const struct model_cell *from = &row->cells[i];

        cells[i] = (paua_history_cell){.style = (uint16_t)i, .width = from->width};
        styles[i] = from->style;
        if (from->nbytes == 1 && from->text[0] != ' ') cells[i].codepoint = (uint8_t)from->text[0];
        if (from->nbytes == 1 || from->nbytes == 0) continue;
        memcpy(text + used, from->text, from->nbytes);
        cells[i].text_at = used;
        cells[i].text_nbytes = from->nbytes;
        used += from->nbytes;
    }
    out->cells = cells;
    out->cell_count = given;
    out->text = text;
    out->text_nbytes = used;
    out->styles = styles;
    out->style_count = given;
}

static void append_text(const struct model_row *row, uint32_t given, paua_history_new_row *out,
                        paua_history_run *runs, paua_history_style *styles, char *text)
{
    uint32_t used = 0, count = 0;

    for (uint32_t i = 0; i < given; i++) {
        const struct model_cell *from = &row->cells[i];
        uint32_t nbytes = from->nbytes == 0 ? 1 : from->nbytes;

        if (from->width == 0) continue;
        memcpy(text + used, from->nbytes == 0 ? " " : from->text, nbytes);
        runs[count] = (paua_history_run){.nbytes = (uint16_t)nbytes, .style = (uint16_t)count};
        styles[count++] = from->style;
        used += nbytes;
    }
    out->text = text;
    out->text_nbytes = used;
    out->runs = runs;
    out->run_count = count;
    out->styles = styles;
    out->style_count = count;
}

void model_append(struct model *m, paua_history *h)
{
    static paua_history_cell cells[MODEL_COLUMNS_MAX];
    static paua_history_run runs[MODEL_COLUMNS_MAX];
    static paua_history_style styles[MODEL_COLUMNS_MAX];
    static char text[MODEL_COLUMNS_MAX * 32];
    paua_history_new_row out = {.size = sizeof out, .links = model_links};
    struct model_row row = {0};
    const struct model_row *last = m->count == 0 ? NULL : &m->rows[m->count - 1];
    uint32_t given, end = 0;

    row.width = test_random_below(&m->seed, 4) != 0
                    ? 40
                    : 1 + test_random_below(&m->seed, MODEL_COLUMNS_MAX);
    row.soft = test_random_below(&m->seed, 4) == 0;
    given = random_cells(m, &row);
    if (test_random_below(&m->seed, 5) == 0) end = test_random_below(&m->seed, row.width + 1);
    row.id = last == NULL ? 1 : last->id + 1;
    if (m->wild && test_random_below(&m->seed, 100) == 0)
        out.id = row.id += test_random_below(&m->seed, 50);
    row.time_ms = last == NULL ? 0 : last->time_ms;
    if (m->wild && m->count > 500 && test_random_below(&m->seed, 3) == 0) {
        out.time_ms = 1000 + (int64_t)m->count * 10 - test_random_below(&m->seed, 20);
        if (out.time_ms > row.time_ms) row.time_ms = out.time_ms;
    }
    out.width = row.width;
    out.end = end;
    out.soft = row.soft;
    out.link_count = MODEL_LINKS;
    if (m->wild || test_random_below(&m->seed, 2) == 0)
        append_cells(&row, given, &out, cells, styles, text);
    else
        append_text(&row, given, &out, runs, styles, text);
    assert_ok(paua_history_append(h, &out, 1, NULL, &test_err));

    settle_extent(&row, given, end);
    if (m->count == m->capacity) {
        m->capacity = 2 * m->capacity + 64;
        m->rows = realloc(m->rows, m->capacity * sizeof *m->rows);
        assert_non_null(m->rows);
    }
    m->rows[m->count++] = row;
}

static void compare_style(const struct model_cell *expected, const paua_history_row *row,
                          uint32_t index)
{
    const paua_history_style *style = &row->styles[index];
    paua_history_style same = expected->style;

    assert_true(index < row->style_count);
    assert_int_equal(style->link == 0, expected->style.link == 0);
    if (style->link != 0) {
        const paua_history_link *link = &row->links[style->link - 1];
        const paua_history_link *wanted = &model_links[expected->style.link - 1];

        assert_true(style->link <= row->link_count);
        assert_int_equal(link->uri_nbytes, wanted->uri_nbytes);
        assert_memory_equal(link->uri, wanted->uri, wanted->uri_nbytes);
        assert_int_equal(link->id_nbytes, wanted->id_nbytes);
        assert_memory_equal(link->id, wanted->id, wanted->id_nbytes);
    }
    same.link = style->link;
    assert_memory_equal(style, &same, sizeof same);
}

void model_compare(const struct model_row *expected, const paua_history_row *row)
{
    static paua_history_cell cells[MODEL_COLUMNS_MAX];
    uint32_t count = paua_history_row_cells(row, cells, MODEL_COLUMNS_MAX);

    assert_true(row->id == expected->id);
    assert_true(row->time_ms == expected->time_ms);
    assert_int_equal(row->damaged_rows, 0);
    assert_int_equal(row->width, expected->width);
    assert_int_equal(row->columns, expected->columns);
    assert_int_equal(row->end, expected->end);
    assert_int_equal(row->soft, expected->soft);
    assert_int_equal(count, row->width);
    for (uint32_t i = 0; i < count; i++) {
        const struct model_cell *cell = &expected->cells[i];
        char text[4];
        uint32_t nbytes = cells[i].text_nbytes;
        const char *bytes = row->text + cells[i].text_at;

        assert_int_equal(cells[i].width, cell->width);
        compare_style(cell, row, cells[i].style);
        if (nbytes == 0 && cells[i].codepoint != 0) {
            nbytes = (uint32_t)snprintf(text, sizeof text, "%c", (int)cells[i].codepoint);
            bytes = text;
            if (cells[i].codepoint >= 0x80) continue; /* compared through model_text */
        }
        assert_int_equal(nbytes, cell->nbytes);
        assert_memory_equal(bytes, cell->text, nbytes);
    }
    {
        static char text[MODEL_COLUMNS_MAX * 32];

        assert_int_equal(row->text_nbytes, model_text(expected, text));
        assert_memory_equal(row->text, text, row->text_nbytes);
    }
}

struct walk {
    const struct model *m;
    size_t first;
    uint64_t next;
};

static bool compare_next(void *arg, uint64_t index, const paua_history_row *row)
{
    struct walk *walk = arg;

    assert_true(index == walk->next);
    model_compare(&walk->m->rows[walk->first + walk->next++], row);
    return true;
}

void model_compare_view(const struct model *m, size_t first, size_t count, paua_history_view *v,
                        bool walk)
{
    struct walk w = {.m = m, .first = first};
    paua_history_range range = {.size = sizeof range, .count = UINT64_MAX};

    assert_int_equal(paua_history_view_rows(v), count);
    if (walk) {
        assert_ok(paua_history_view_each(v, &range, compare_next, &w, &test_err));
        assert_int_equal(w.next, count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        paua_history_row row;

        assert_ok(paua_history_view_row(v, i, &row, &test_err));
        model_compare(&m->rows[first + i], &row);
    }
}

size_t model_text(const struct model_row *row, char *to)
{
    size_t used = 0;

    for (uint32_t i = 0; i < row->columns; i++) {
        memcpy(to + used, row->cells[i].text, row->cells[i].nbytes);
        used += row->cells[i].nbytes;
    }
    return used;
}

size_t model_line(const struct model *m, size_t row, size_t end)
{
    size_t count = 1;

    while (row + count < end && m->rows[row + count - 1].soft)
        count++;
    return count;
}
