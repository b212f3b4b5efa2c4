/* line.h - a logical line: soft-wrapped rows joined into one row. */
#ifndef PAUA_HISTORY_LINE_H
#define PAUA_HISTORY_LINE_H

#include "history/view.h"

#define LINE_NBYTES_MAX PAUA_HISTORY_ROW_NBYTES_MAX

struct line {
    struct builder joined; /* text, runs, dictionaries and shapes; no slots */
    paua_history_style *styles;
    paua_history_link *links;
    size_t styles_capacity;
    size_t links_capacity;
    uint64_t first; /* rows of the view that it is made of */
    uint64_t count;
    size_t last_row_at;     /* where the text of the row joined last begins, */
    size_t last_row_shapes; /* and how many shapes come before it */
    bool is_joined;         /* the row is in the arrays above; otherwise in the view's pin */
    paua_history_row row;
};

void line_init(struct line *line, struct heap *heap);
void line_free(struct line *line);

/* The line that begins at row `first`, as far as row `end` (exclusive) at most, and as far as it
 * has LINE_NBYTES_MAX bytes. A hole is a line of its own (row.damaged_rows). line->row is valid
 * until the view is moved or the line is used again. PAUA_ENOMEM. */
paua_status line_read(struct line *line, paua_history_view *v, uint64_t first, uint64_t end);

/* The first row of the line that row `index` is in, not before `low`. PAUA_ENOMEM. */
paua_status line_begin(paua_history_view *v, uint64_t index, uint64_t low, bool keep,
                       uint64_t *first);

#endif
