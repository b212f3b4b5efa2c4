/* same_rows.c - see same_rows.h. */
#include "golden/same_rows.h"

static void assert_links_same(const paua_history_link *a, const paua_history_link *b)
{
    assert_int_equal(a->uri_nbytes, b->uri_nbytes);
    assert_memory_equal(a->uri, b->uri, a->uri_nbytes);
    assert_int_equal(a->id_nbytes, b->id_nbytes);
    if (a->id_nbytes > 0) assert_memory_equal(a->id, b->id, a->id_nbytes);
}

void assert_rows_same(const paua_history_row *a, const paua_history_row *b)
{
    paua_history_cell cells[2][GOLDEN_COLUMNS_MAX];
    uint32_t count = paua_history_row_cells(a, cells[0], GOLDEN_COLUMNS_MAX);

    assert_int_equal(a->id, b->id);
    assert_int_equal(a->time_ms, b->time_ms);
    assert_int_equal(a->width, b->width);
    assert_int_equal(a->end, b->end);
    assert_int_equal(a->soft, b->soft);
    assert_int_equal(a->text_nbytes, b->text_nbytes);
    assert_memory_equal(a->text, b->text, a->text_nbytes);
    assert_int_equal(count, paua_history_row_cells(b, cells[1], GOLDEN_COLUMNS_MAX));
    for (uint32_t i = 0; i < count; i++) {
        paua_history_style x = a->styles[cells[0][i].style], y = b->styles[cells[1][i].style];

        assert_int_equal(x.link == 0, y.link == 0);
        if (x.link != 0) assert_links_same(&a->links[x.link - 1], &b->links[y.link - 1]);
        x.link = y.link = 0;
        assert_memory_equal(&x, &y, sizeof x);
        cells[0][i].style = cells[1][i].style = 0;
        assert_memory_equal(&cells[0][i], &cells[1][i], sizeof cells[0][i]);
    }
}
