/* recorded.c - see recorded.h. */
#include "recorded.h"

#include <dirent.h>
#include <stdio.h>

paua_db_history *recorded_open(paua_db *db, const char *name, paua_db_history_opts opts)
{
    paua_db_history *h;

    opts.size = sizeof opts;
    opts.create = !opts.read_only;
    assert_ok(paua_db_history_open(db, name, &opts, &h, &test_err));
    return h;
}

static void text_of(uint64_t number, char text[64])
{
    snprintf(text, 64, "row %llu of the history, ends in %llx", (unsigned long long)number,
             (unsigned long long)(number * 2654435761u));
}

paua_status recorded_try(paua_db_history *h, uint64_t first, uint64_t count, paua_error *err)
{
    static const paua_history_style styles[] = {{0}, {.foreground = PAUA_HISTORY_INDEXED(3)}};
    static const paua_history_run run = {.nbytes = 3, .style = 1};
    paua_status status = PAUA_OK;

    for (uint64_t i = first; i < first + count && status == PAUA_OK; i++) {
        char text[64];
        paua_history_new_row row = {.size = sizeof row,
                                    .time_ms = (int64_t)(1000 + i),
                                    .width = 80,
                                    .text = text,
                                    .styles = styles,
                                    .style_count = 2,
                                    .runs = &run,
                                    .run_count = i % 7 == 0};

        text_of(i, text);
        row.text_nbytes = strlen(text);
        status = paua_db_history_append(h, &row, 1, NULL, err);
    }
    return status;
}

void recorded_append(paua_db_history *h, uint64_t first, uint64_t count)
{
    assert_ok(recorded_try(h, first, count, &test_err));
}

void assert_recorded_view(paua_history_view *view, uint64_t first, uint64_t count)
{
    assert_int_equal(paua_history_view_rows(view), count);
    for (uint64_t i = 0; i < count; i++) {
        paua_history_row row;
        char text[64];

        text_of(first + i, text);
        assert_ok(paua_history_view_row(view, i, &row, &test_err));
        assert_int_equal(row.text_nbytes, strlen(text));
        assert_memory_equal(row.text, text, row.text_nbytes);
        assert_int_equal(row.time_ms, 1000 + first + i);
        assert_int_equal(row.id, first + i + 1);
        assert_int_equal(row.styles[paua_history_row_style(&row, 0)].foreground,
                         (first + i) % 7 == 0 ? PAUA_HISTORY_INDEXED(3) : 0);
    }
}

void assert_recorded(paua_db_history *h, uint64_t first, uint64_t count)
{
    paua_history_view *view;

    assert_ok(paua_db_history_view_open(h, &view, &test_err));
    assert_recorded_view(view, first, count);
    paua_history_view_close(view);
}

paua_db_history_info recorded_info(paua_db_history *h)
{
    paua_db_history_info info = {.size = sizeof info};

    assert_ok(paua_db_history_get_info(h, &info, &test_err));
    return info;
}

size_t recorded_files(const char *path, const char *suffix)
{
    DIR *dir = opendir(path);
    struct dirent *entry;
    size_t count = 0;

    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL) {
        size_t length = strlen(entry->d_name);

        if (length >= strlen(suffix) &&
            strcmp(entry->d_name + length - strlen(suffix), suffix) == 0)
            count++;
    }
    closedir(dir);
    return count;
}
