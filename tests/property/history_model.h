/* history_model.h - a history as an array of rows of cells, and rows made at random. */
#ifndef PAUA_TESTS_HISTORY_MODEL_H
#define PAUA_TESTS_HISTORY_MODEL_H

#include "unit/history/support.h"

#define MODEL_COLUMNS_MAX 48u
#define MODEL_LINKS 3u

/* One column; the right half of a wide cell has width 0 and no text. */
struct model_cell {
    char text[32];
    uint8_t nbytes; /* 0: beyond the text */
    uint8_t width;
    paua_history_style style; /* link: index + 1 into model_links */
};

struct model_row {
    uint64_t id;
    int64_t time_ms;
    uint32_t width;
    uint32_t columns; /* that are stored */
    uint32_t end;
    bool soft;
    struct model_cell cells[MODEL_COLUMNS_MAX];
};

struct model {
    struct model_row *rows; /* all that were ever appended */
    size_t count;
    size_t capacity;
    size_t first; /* those before are evicted */
    uint64_t seed;
    bool wild; /* rows whose clusters break the rule, gaps in ids, times, many styles */
};

extern const paua_history_link model_links[MODEL_LINKS];

void model_init(struct model *m, uint64_t seed, bool wild);
void model_free(struct model *m);

/* Appends a random row to both. */
void model_append(struct model *m, paua_history *h);

/* The view's row is the model's. */
void model_compare(const struct model_row *expected, const paua_history_row *row);

/* Every row of a view, by random access or in one walk, is the model's from `first` on. */
void model_compare_view(const struct model *m, size_t first, size_t count, paua_history_view *v,
                        bool walk);

/* Bytes of the model's row, as stored; returns their number. to has 32 bytes a column. */
size_t model_text(const struct model_row *row, char *to);

/* Rows from `row` on that make up its logical line, up to `end`. */
size_t model_line(const struct model *m, size_t row, size_t end);

#endif
