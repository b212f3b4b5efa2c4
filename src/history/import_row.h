/* import_row.h - the row that an importer is writing: cells of one terminal line with a cursor.
 *
 * Functions return false when memory is out, or when a row that had to be emitted was refused. */
#ifndef PAUA_HISTORY_IMPORT_ROW_H
#define PAUA_HISTORY_IMPORT_ROW_H

#include "history/builder.h"
#include "history/width.h"

#define IMPORT_LINKS_MAX 4096u
#define IMPORT_STRINGS_NBYTES_MAX 262144u
#define IMPORT_NONE UINT32_MAX

/* Takes a finished row; false: it was refused. */
typedef bool (*import_emit_fn)(void *arg, const paua_history_new_row *row);

struct import_row {
    struct heap *heap;
    import_emit_fn emit;
    void *arg;
    uint32_t columns; /* of the terminal; at least 2 */
    uint32_t cursor;  /* column of the next character; columns: it begins a new row */
    uint32_t used;    /* cells that were written, or passed over */
    paua_history_cell *cells;
    size_t cell_capacity;
    char *text; /* a slot a cell, for clusters of several code points; NULL until there is one */
    paua_history_style *styles; /* what cells refer to; [0] is the default */
    size_t style_count, style_capacity;
    struct link_slot *link_slots; /* of strings */
    char *strings;
    size_t link_count, link_capacity, strings_nbytes, strings_capacity;
    paua_history_link *links; /* the same with pointers, made when the row is finished */
    size_t links_capacity;

    paua_history_style style; /* of what is printed from now on, without its link */
    char *link;               /* id and URI of what is printed from now on; kept over rows */
    size_t link_nbytes_capacity;
    uint32_t link_id_nbytes;
    uint32_t link_uri_nbytes; /* 0: none */
    uint32_t style_index;     /* of style and link in styles; IMPORT_NONE: to be found */
    uint32_t link_index;      /* of the link in link_slots, from 1; 0: left out; IMPORT_NONE */

    struct growing_cluster last; /* what was printed last, */
    uint32_t last_at;            /* and its cell; IMPORT_NONE: the cursor has moved since */
};

bool import_row_init(struct import_row *row, struct heap *heap, uint32_t columns);
void import_row_free(struct import_row *row);

/* Printable text, valid UTF-8; wraps. */
bool import_row_print(struct import_row *row, const char *text, size_t nbytes);

/* Ends the row: hands it on, and begins an empty one. soft: it goes on in the next. */
bool import_row_end(struct import_row *row, bool soft);

void import_row_return(struct import_row *row);    /* to column 0 */
void import_row_backspace(struct import_row *row); /* one column back */
void import_row_tab(struct import_row *row); /* to the next multiple of 8, or the last column */
/* What CSI K does: 0 from the cursor on, 1 up to it, 2 all. */
void import_row_erase(struct import_row *row, uint32_t mode);

void import_row_set_style(struct import_row *row, const paua_history_style *style);
/* uri_nbytes 0: no link. The link is copied. */
bool import_row_set_link(struct import_row *row, const paua_history_link *link);

#endif
