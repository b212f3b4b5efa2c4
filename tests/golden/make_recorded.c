/* make_recorded.c - writes the golden database with histories, as make.c does the one without.
 *
 *   golden-make-recorded FOLDER DIRECTORY
 *
 * FOLDER is tests/golden, whose history-v1 has the rows. */
#include "golden/recorded_rows.h"
#include "golden/same_rows.h"

#include <stdio.h>

static paua_db_history *create(paua_db *db, const char *name, uint32_t page_rows)
{
    const paua_db_history_opts opts = {.size = sizeof opts, .create = true, .page_rows = page_rows};
    paua_db_history *h;

    assert_ok(paua_db_history_open(db, name, &opts, &h, &test_err));
    return h;
}

/* As cells: clusters keep their widths, whatever the rule says of them. */
static bool record(void *arg, uint64_t index, const paua_history_row *row)
{
    paua_history_cell cells[GOLDEN_COLUMNS_MAX];
    const paua_history_new_row new_row = {.size = sizeof new_row,
                                          .id = row->id,
                                          .time_ms = row->time_ms,
                                          .width = row->width,
                                          .end = row->end,
                                          .soft = row->soft,
                                          .cells = cells,
                                          .cell_count = row->columns,
                                          .text = row->text,
                                          .text_nbytes = row->text_nbytes,
                                          .styles = row->styles,
                                          .style_count = row->style_count,
                                          .links = row->links,
                                          .link_count = row->link_count};

    (void)index;
    paua_history_row_cells(row, cells, GOLDEN_COLUMNS_MAX);
    assert_ok(paua_db_history_append(arg, &new_row, 1, NULL, &test_err));
    return true;
}

static void record_every(paua_db *db, const char *folder)
{
    const paua_history_range all = {.size = sizeof all, .count = UINT64_MAX};
    paua_history *rows = golden_rows(folder);
    paua_db_history *h = create(db, GOLDEN_EVERY, GOLDEN_EVERY_PAGE_ROWS);
    paua_history_view *view;

    assert_ok(paua_history_view_open(rows, &view, &test_err));
    assert_ok(paua_history_view_each(view, &all, record, h, &test_err));
    paua_history_view_close(view);
    paua_history_close(rows);
    paua_db_history_close(h);
}

static void record_trimmed(paua_db *db)
{
    const paua_history_limits limits = {.max_rows = GOLDEN_TRIMMED_ROWS};
    paua_db_history *h = create(db, GOLDEN_TRIMMED, GOLDEN_TRIMMED_PAGE_ROWS);

    for (uint64_t number = 1; number <= GOLDEN_TRIMMED_LAST; number++) {
        char text[32];
        paua_history_new_row row = golden_line(number, text);

        assert_ok(paua_db_history_append(h, &row, 1, NULL, &test_err));
        if (number % 30 == 0) assert_ok(paua_db_history_flush(h, &test_err));
    }
    assert_ok(paua_db_history_set_limits(h, &limits, 0, &test_err));
    paua_db_history_close(h);
}

int main(int argc, char **argv)
{
    const paua_open_opts opts = {.size = sizeof opts, .create = true, .no_background = true};
    paua_db *db;

    if (argc != 3) {
        fprintf(stderr, "usage: golden-make-recorded FOLDER DIRECTORY\n");
        return 2;
    }
    assert_ok(paua_open(argv[2], &opts, &db, &test_err));
    record_every(db, argv[1]);
    record_trimmed(db);
    paua_close(db);
    return 0;
}
