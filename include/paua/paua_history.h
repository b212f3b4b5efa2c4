/* paua_history.h - terminal history: rows in, compact in memory, rows, text and matches out.
 *
 * A library of its own (libpaua-history) for terminal emulators and multiplexers. It does no input
 * or output, reads no clock and starts no thread: the owner appends rows and calls
 * paua_history_idle when there is nothing better to do.
 *
 * Rows      A row is UTF-8 text cut into grapheme clusters, each one or two columns wide, with a
 *           style for every cluster. Cells are a view that is computed on request.
 * Storage   New rows gather in a tail. A page of at most PAUA_HISTORY_PAGE_ROWS_MAX rows or 64 KiB
 *           is sealed and never changes. Pages that nobody reads are compressed by idle visits.
 * Status    Calls that can fail return paua_status: 0, or negative and then nothing changed and no
 *           out-parameter was written; the last parameter, if not NULL, tells a person why.
 * Threads   A paua_history belongs to one thread at a time, with its importers, and so does each
 *           view, reflow and search. Different views may be used in different threads, also while
 *           the owner appends to the history, calls idle, or closes it.
 * Lifetime  Views outlive the history, and eviction does not touch them. The allocator's functions
 *           must stay callable until the last history, view, reflow, search and importer is closed.
 * Rows out  A paua_history_row borrows: its pointers are valid until the next call on the view (or
 *           reflow) it came from, or until the callback that received it returns. */
#ifndef PAUA_PAUA_HISTORY_H
#define PAUA_PAUA_HISTORY_H

#include <paua/paua.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PAUA_HISTORY_COLUMNS_MAX 65535u
#define PAUA_HISTORY_CLUSTER_NBYTES_MAX 128u
#define PAUA_HISTORY_LINK_NBYTES_MAX 4096u /* of a link's URI, and of its id */
#define PAUA_HISTORY_PAGE_ROWS_MAX 256u
#define PAUA_HISTORY_ROW_NBYTES_MAX 1048576u /* of a row as stored: text, runs, styles, links */

typedef struct paua_history paua_history;
typedef struct paua_history_scratch paua_history_scratch;
typedef struct paua_history_view paua_history_view;
typedef struct paua_history_reflow paua_history_reflow;
typedef struct paua_history_search paua_history_search;

/* ---------------------------------------------------------------------------------------------
 * Styles and cells */

/* A colour is 0 (the terminal's default), PAUA_HISTORY_INDEXED(0..255) or PAUA_HISTORY_RGB(). */
#define PAUA_HISTORY_INDEXED(index) (UINT32_C(0x01000000) | (uint32_t)(index))
#define PAUA_HISTORY_RGB(r, g, b)                                                                  \
    (UINT32_C(0x02000000) | (uint32_t)(r) << 16 | (uint32_t)(g) << 8 | (uint32_t)(b))

/* Bits of `attributes`; the underline's kind is a number in bits 12 to 14. */
#define PAUA_HISTORY_BOLD 0x0001u
#define PAUA_HISTORY_FAINT 0x0002u
#define PAUA_HISTORY_ITALIC 0x0004u
#define PAUA_HISTORY_BLINK 0x0008u
#define PAUA_HISTORY_RAPID_BLINK 0x0010u
#define PAUA_HISTORY_INVERSE 0x0020u
#define PAUA_HISTORY_INVISIBLE 0x0040u
#define PAUA_HISTORY_STRIKE 0x0080u
#define PAUA_HISTORY_OVERLINE 0x0100u
#define PAUA_HISTORY_UNDERLINE_SINGLE 0x1000u
#define PAUA_HISTORY_UNDERLINE_DOUBLE 0x2000u
#define PAUA_HISTORY_UNDERLINE_CURLY 0x3000u
#define PAUA_HISTORY_UNDERLINE_DOTTED 0x4000u
#define PAUA_HISTORY_UNDERLINE_DASHED 0x5000u
#define PAUA_HISTORY_UNDERLINE_MASK 0x7000u

/* How cells look. All zero is the default style. */
typedef struct paua_history_style {
    uint32_t foreground;
    uint32_t background;
    uint32_t underline_colour;
    uint16_t attributes;
    uint16_t link; /* 0: none; n: links[n - 1] of the row */
} paua_history_style;

/* A hyperlink (OSC 8). Two links are the same when id and URI are. UTF-8, no control characters;
 * the id may be empty, the URI not. */
typedef struct paua_history_link {
    const char *uri;
    const char *id;
    uint32_t uri_nbytes;
    uint32_t id_nbytes;
} paua_history_link;

/* One column of a row. A cell of width 2 is followed by one of width 0, its right half, whose other
 * fields are ignored on the way in and are 0, with the style, on the way out. */
typedef struct paua_history_cell {
    uint32_t codepoint;  /* the first of its cluster; 0 or a space is a blank */
    uint32_t text_at;    /* where the whole cluster begins in the row's text */
    uint16_t style;      /* index into the row's styles */
    uint8_t text_nbytes; /* of the whole cluster; 0: the code point is all there is */
    uint8_t width;       /* 1 or 2; 0 after a 2 */
} paua_history_cell;

/* Bytes of text that follow one another in one style. */
typedef struct paua_history_run {
    uint16_t nbytes;
    uint16_t style; /* index into the row's styles */
} paua_history_run;

/* ---------------------------------------------------------------------------------------------
 * Scratch, options, life */

/* Compression contexts and buffers that any number of histories share (1 to 2 MB once pages get
 * compressed, 0.3 MB when they are only read). Any thread; one at a time is let in.
 * Its memory comes from malloc(). Close it when you like: histories keep what they use.
 * Errors: PAUA_ENOMEM. */
PAUA_API paua_status paua_history_scratch_open(paua_history_scratch **scratch, paua_error *err);
PAUA_API void paua_history_scratch_close(paua_history_scratch *scratch);
PAUA_API size_t paua_history_scratch_nbytes(paua_history_scratch *scratch); /* held now */

/* Where histories get their memory. Both functions or neither; called from any thread that uses a
 * history or a view.
 *
 *   resize   makes a block (block NULL, old_nbytes 0) or changes its size, as realloc does; NULL
 *            when there is no memory, the block then being as it was. nbytes is never 0
 *   release  frees a block of nbytes */
typedef struct paua_history_allocator {
    void *(*resize)(void *arg, void *block, size_t old_nbytes, size_t nbytes);
    void (*release)(void *arg, void *block, size_t nbytes);
    void *arg;
} paua_history_allocator;

/* Zero means no limit. The oldest rows give way: row by row under max_rows and max_age_ms; under
 * max_nbytes until the bytes held (paua_history_stats.nbytes) fit, which for sealed rows means a
 * page at a time. */
typedef struct paua_history_limits {
    uint64_t max_rows;
    uint64_t max_nbytes;
    uint64_t max_age_ms; /* against the newest row's time, and the time given to expire */
} paua_history_limits;

typedef struct paua_history_opts {
    size_t size;
    paua_history_limits limits;
    paua_history_allocator allocator; /* default: malloc */
    paua_history_scratch *scratch;    /* shared; default: one of its own, made when first needed */
    uint64_t first_id;                /* of the first row that brings no id; default 1 */
    uint32_t page_rows;               /* 1 to 256; default 256 */
} paua_history_opts;

/* Opens an empty history: under 1 KB until rows come.
 * Errors: PAUA_EINVAL (page_rows over 256, half an allocator), PAUA_ENOMEM. */
PAUA_API paua_status paua_history_open(const paua_history_opts *opts, paua_history **history,
                                       paua_error *err);

/* Views stay valid. NULL does nothing. */
PAUA_API void paua_history_close(paua_history *history);

/* Replaces the limits; evicts at once what they no longer allow. Cost: of the rows evicted. */
PAUA_API void paua_history_set_limits(paua_history *history, const paua_history_limits *limits);

/* Evicts rows older than max_age_ms before now_ms. Rows without a time have no age. */
PAUA_API paua_status paua_history_expire(paua_history *history, int64_t now_ms, paua_error *err);

/* Evicts every row; ids go on where they were. */
PAUA_API void paua_history_clear(paua_history *history);

/* ---------------------------------------------------------------------------------------------
 * Rows in */

/* A row to append: as cells, or (cells NULL) as text with runs. Everything is borrowed for the
 * length of the call.
 *
 *   cells       cell_count of them, at most width. Clusters of several code points are in text.
 *   text, runs  clusters and widths follow the library's rule (paua_history_row_cluster). Runs give
 *               styles from the start on, what they do not reach has the default style; a run that
 *               ends inside a cluster ends after it.
 *   end         columns that hold content; blanks before it are kept as spaces. 0: up to the last
 *               cell that is not a default blank, and in a soft row all that was given.
 *   styles      what cells and runs refer to; with style_count 0 there is index 0, the default. */
typedef struct paua_history_new_row {
    size_t size;
    uint64_t id;     /* above that of the last row, below UINT64_MAX; 0: the next one */
    int64_t time_ms; /* > 0, any epoch; 0: as the row before. Times never run back: an earlier one
                         is taken as that of the row before */
    uint32_t width;  /* columns of the terminal, 1 to PAUA_HISTORY_COLUMNS_MAX */
    uint32_t end;    /* 0 to width */
    bool soft;       /* goes on in the next row: it was wrapped, not ended */
    uint32_t cell_count;
    const paua_history_cell *cells;
    const char *text;
    size_t text_nbytes;
    const paua_history_run *runs;
    size_t run_count;
    const paua_history_style *styles;
    size_t style_count;
    const paua_history_link *links;
    size_t link_count;
} paua_history_new_row;

/* Appends rows, one after the other.
 *
 *   rows       count of them; rows[0].size is the size of each
 *   appended   if not NULL, receives how many went in, on failure too: the row after them was
 *              refused without a trace, and err->row is its index
 *
 * Errors: PAUA_EINVAL (width, end or a cell's width out of range; a lone right half; a control
 * character or invalid UTF-8; a cluster, link or row over its limit; a style or link that is not
 * there; an id out of order), PAUA_ENOSPACE (the row alone is over max_nbytes), PAUA_ENOMEM.
 * Cost: about 1.5 ns a cell of plain text; a page's worth of copying each 256 rows. */
PAUA_API paua_status paua_history_append(paua_history *history, const paua_history_new_row *rows,
                                         size_t count, size_t *appended, paua_error *err);

/* ---------------------------------------------------------------------------------------------
 * Going cold */

/* Visits at most max_pages sealed pages that are not compressed, in turn. A page that was not read
 * since the visit before is compressed, or, if it has been once already, its restored copy is
 * dropped. The newest page is left alone. The second call in a row without an append between gives
 * back the tail's spare memory.
 *
 *   left   if not NULL, receives how many pages could still be worked on by further calls
 *
 * Errors: PAUA_ENOMEM. Cost: a visit 50 ns, a page compressed 0.1 to 0.4 ms. */
PAUA_API paua_status paua_history_idle(paua_history *history, size_t max_pages, size_t *left,
                                       paua_error *err);

/* Makes all pages cold at once, the newest and a tail of 64 rows or more with them, and gives back
 * the tail's spare memory: for a pane that gets hidden. Errors: PAUA_ENOMEM (what was done before
 * stays done). */
PAUA_API paua_status paua_history_go_cold(paua_history *history, paua_error *err);

typedef struct paua_history_stats {
    size_t size;
    uint64_t rows;
    uint64_t first_id;    /* 0 when there are no rows */
    uint64_t next_id;     /* of the next row that brings none */
    uint64_t nbytes;      /* memory that the history holds: everything but the scratch */
    uint64_t live_nbytes; /* the same with views, and with evicted pages that views hold */
    uint64_t tail_nbytes;
    uint64_t compressed_nbytes;
    uint64_t pages;
    uint64_t cold_pages;           /* compressed and not restored */
    uint64_t incompressible_pages; /* tried, and kept as they are */
    uint64_t restores;             /* pages decompressed so far, by all views */
} paua_history_stats;

/* Fills what fits in stats->size, which the caller sets. */
PAUA_API void paua_history_get_stats(const paua_history *history, paua_history_stats *stats);

/* ---------------------------------------------------------------------------------------------
 * Views: rows out */

/* A row borrowed from a view. */
typedef struct paua_history_row {
    uint64_t id;
    int64_t time_ms;       /* 0: none */
    uint64_t damaged_rows; /* 0; otherwise this row and those after it, so many in all, are lost */
    uint32_t width;        /* of the terminal that wrote it */
    uint32_t columns;      /* that the text covers */
    uint32_t end;          /* columns of content; at most columns */
    bool soft;
    uint32_t text_nbytes;
    const char *text;             /* not NUL-terminated */
    const paua_history_run *runs; /* what they do not reach has style 0 */
    uint32_t run_count;
    uint32_t style_count;
    const paua_history_style *styles; /* [0] is the default */
    const paua_history_link *links;
    uint32_t link_count;
    uint32_t shape_count;
    const struct paua_history_shape
        *shapes; /* private: clusters that the rule would cut otherwise */
    uint32_t shapes_at;
} paua_history_row;

/* The history as it is now; never changes. Cost: one allocation, and the first view after an append
 * copies the tail. Errors: PAUA_ENOMEM. */
PAUA_API paua_status paua_history_view_open(paua_history *history, paua_history_view **view,
                                            paua_error *err);
/* Another view of the same rows, for another thread or to hold a row. Any thread, while nobody
 * closes `view`. */
PAUA_API paua_status paua_history_view_clone(const paua_history_view *view,
                                             paua_history_view **clone, paua_error *err);
PAUA_API void paua_history_view_close(paua_history_view *view);

PAUA_API uint64_t paua_history_view_rows(const paua_history_view *view);

/* Row `index` (0 is the oldest). A compressed page is restored, and kept until idle visits drop it.
 * Errors: PAUA_EINVAL (no such row), PAUA_ECORRUPT (its page is damaged), PAUA_ENOMEM. */
PAUA_API paua_status paua_history_view_row(paua_history_view *view, uint64_t index,
                                           paua_history_row *row, paua_error *err);

/* Return false to stop. */
typedef bool (*paua_history_row_fn)(void *arg, uint64_t index, const paua_history_row *row);

/* Rows first .. first + count - 1; what is beyond the last row is left out.
 *
 *   lines   whole logical lines: soft-wrapped rows joined into one. A line that began before
 *           `first` begins there, one that goes on beyond the range is cut, one of more than 1 MiB
 *           comes in pieces; what was cut is soft
 *   holes   damaged rows are passed on as one row with damaged_rows set; otherwise they end the
 *           walk with PAUA_ECORRUPT */
typedef struct paua_history_range {
    size_t size;
    uint64_t first;
    uint64_t count;
    bool lines;
    bool holes;
} paua_history_range;

/* Calls each for the rows of a range, oldest first. index is that of the (first) row. Compressed
 * pages are restored one at a time and not kept. The callback may use other views, not this one.
 * Errors: PAUA_ECORRUPT, PAUA_ENOMEM; PAUA_OK when the callback stopped it. */
PAUA_API paua_status paua_history_view_each(paua_history_view *view,
                                            const paua_history_range *range,
                                            paua_history_row_fn each, void *arg, paua_error *err);

/* The row with this id. Errors: PAUA_ENOTFOUND; PAUA_ECORRUPT, PAUA_ENOMEM (ids with gaps only). */
PAUA_API paua_status paua_history_view_find_id(paua_history_view *view, uint64_t id,
                                               uint64_t *index, paua_error *err);

/* The first row whose time is not before time_ms; rows without a time come before all others.
 * Errors: PAUA_ENOTFOUND (all are older), PAUA_ECORRUPT, PAUA_ENOMEM. */
PAUA_API paua_status paua_history_view_find_time(paua_history_view *view, int64_t time_ms,
                                                 uint64_t *index, paua_error *err);

/* The logical line that a row belongs to: its first row and number of rows.
 * Errors: PAUA_EINVAL, PAUA_ECORRUPT, PAUA_ENOMEM. */
PAUA_API paua_status paua_history_view_line(paua_history_view *view, uint64_t index,
                                            uint64_t *first, uint64_t *count, paua_error *err);

/* ---- what a row holds; pure functions, any thread ---- */

/* Expands a row to cells: min(capacity, max(width, columns)) of them, which is returned. Cells past
 * the text are blanks with code point 0 and style 0. */
PAUA_API uint32_t paua_history_row_cells(const paua_history_row *row, paua_history_cell *cells,
                                         uint32_t capacity);

/* The cluster that begins at byte `at` of the row's text (a cluster's beginning, below
 * text_nbytes): gives its columns, 1 or 2, and stores its length. The rule of version 1: a code
 * point is a cluster of its width in Unicode 14 (East Asian wide and full-width: 2); code points of
 * width 0 join the one before, and so do those that are not ASCII after a zero-width joiner, and
 * skin tones after a wide one; a pair of regional indicators, and what is followed by U+FE0F, is 2
 * wide. Rows that came as cells keep the clusters and widths of their cells. */
PAUA_API uint32_t paua_history_row_cluster(const paua_history_row *row, uint32_t at,
                                           uint32_t *nbytes);

/* The style of the byte `at` of the row's text: an index into styles. */
PAUA_API uint32_t paua_history_row_style(const paua_history_row *row, uint32_t at);

/* ---- export ---- */

typedef enum paua_history_format {
    PAUA_HISTORY_TEXT = 0, /* UTF-8, soft-wrapped rows joined, trailing blanks dropped */
    PAUA_HISTORY_ANSI,     /* the same with SGR and OSC 8 */
    PAUA_HISTORY_HTML,     /* a fragment for inside <pre>: spans with inline styles, links that have
                              a harmless scheme (http, https, ftp, mailto) */
    PAUA_HISTORY_JSON      /* a JSON object and LF for each row: row (its id), time_ms, width, soft,
                              text, and styles, an array of objects: begin and end (bytes of text),
                              foreground, background, underline_colour (an index or "#rrggbb"),
                              bold ... overline (true), underline ("single", "double", "curly",
                              "dotted", "dashed"), link. What is false, 0 or the default is left
                              out. A hole has row and damaged_rows */
} paua_history_format;

/* Return false to stop, which the export reports as PAUA_ECANCELED. */
typedef bool (*paua_history_write_fn)(void *arg, const void *bytes, size_t nbytes);

/* Writes the rows of a range in pieces of some KiB. range->lines is taken as true but for JSON; a
 * hole is written as a line that says so. Errors: PAUA_EINVAL, PAUA_ECANCELED, PAUA_ENOMEM. */
PAUA_API paua_status paua_history_view_export(paua_history_view *view,
                                              const paua_history_range *range,
                                              paua_history_format format,
                                              paua_history_write_fn write, void *arg,
                                              paua_error *err);

/* ---------------------------------------------------------------------------------------------
 * Import: rows out of a stream of text */

#define PAUA_HISTORY_IMPORT_COLUMNS_MAX 4096u

typedef enum paua_history_import_kind {
    PAUA_HISTORY_IMPORT_TEXT = 0, /* lines that end in LF, tabs filled with spaces; other control
                                     characters are left out */
    PAUA_HISTORY_IMPORT_ANSI      /* as a terminal shows it whose rows only move up: SGR, OSC 8, CR,
                                     BS, tabs, EL; all other sequences do nothing */
} paua_history_import_kind;

/* Takes a row, as paua_history_append does; borrowed for the call. What fails ends the import. */
typedef paua_status (*paua_history_import_fn)(void *arg, const paua_history_new_row *row,
                                              paua_error *err);

typedef struct paua_history_import_opts {
    size_t size;
    paua_history_import_kind kind;
    uint32_t columns; /* at which rows wrap, softly: 2 to PAUA_HISTORY_IMPORT_COLUMNS_MAX;
                         default 80 */
    int64_t time_ms;  /* of every row; 0: as the row before */
    paua_history_import_fn append; /* default: to the history */
    void *append_arg;
} paua_history_import_opts;

typedef struct paua_history_importer paua_history_importer;

/* Begins an import.
 *
 *   history  where rows go, and whose allocator is used; must stay open; may be used in between.
 *            NULL: rows go to opts->append, memory comes from malloc()
 *
 * Errors: PAUA_EINVAL (kind or columns out of range, neither history nor append), PAUA_ENOMEM. */
PAUA_API paua_status paua_history_importer_open(paua_history *history,
                                                const paua_history_import_opts *opts,
                                                paua_history_importer **importer, paua_error *err);

/* The next bytes, any number: the rows are the same however a stream is cut. No bytes are invalid:
 * what is not UTF-8 becomes U+FFFD, one for each maximal subpart.
 * Errors: PAUA_ENOMEM, and those of append. The importer can then only be closed, and says the same
 * again; rows appended before stay. Cost: about 4 ns a byte of plain text. */
PAUA_API paua_status paua_history_importer_feed(paua_history_importer *importer, const void *bytes,
                                                size_t nbytes, paua_error *err);

/* The stream is over: appends the last row if no LF has ended it. A new stream can follow.
 * Errors: as for feed. */
PAUA_API paua_status paua_history_importer_finish(paua_history_importer *importer, paua_error *err);

/* Forgets a row that was begun. NULL does nothing. */
PAUA_API void paua_history_importer_close(paua_history_importer *importer);

/* ---------------------------------------------------------------------------------------------
 * Reflow: the same lines at another width */

/* Lays out rows first .. first + count - 1 (whole logical lines) anew; no page is rewritten.
 *
 *   width   2 to PAUA_HISTORY_COLUMNS_MAX; a wide cluster that does not fit goes to the next row
 *
 * Cost: reads every row of the range once. For a window ask for the last rows only.
 * Errors: PAUA_EINVAL, PAUA_ECORRUPT, PAUA_ENOMEM. */
PAUA_API paua_status paua_history_reflow_open(const paua_history_view *view, uint32_t width,
                                              uint64_t first, uint64_t count,
                                              paua_history_reflow **reflow, paua_error *err);
PAUA_API void paua_history_reflow_close(paua_history_reflow *reflow);
PAUA_API uint64_t paua_history_reflow_rows(const paua_history_reflow *reflow);

/* Row `index` of the new layout; *origin, if not NULL, is the view's row that its line began with.
 * Walking up or down costs little; a jump lays out at most one page.
 * Errors: PAUA_EINVAL (no such row), PAUA_ECORRUPT, PAUA_ENOMEM. */
PAUA_API paua_status paua_history_reflow_row(paua_history_reflow *reflow, uint64_t index,
                                             paua_history_row *row, uint64_t *origin,
                                             paua_error *err);

/* The first row of the new layout that holds a part of the view's row `index`: keeps what is on the
 * screen where it is. Errors: as above; PAUA_EINVAL outside the range. */
PAUA_API paua_status paua_history_reflow_find(paua_history_reflow *reflow, uint64_t index,
                                              uint64_t *reflowed, paua_error *err);

/* ---------------------------------------------------------------------------------------------
 * Search */

typedef struct paua_history_search_opts {
    size_t size;
    const char *pattern; /* UTF-8, 1 to 4,096 bytes; copied */
    size_t pattern_nbytes;
    bool ignore_case; /* full case folding: also finds STRASSE as "straße"; regex: simple folding */
    bool whole_word;  /* no letter, digit or underscore on either side */
    bool backward;    /* newest first */
    bool rows_only;   /* a match lies in one row; otherwise it may run over soft wraps */
    bool from_given;  /* begin at row `from`; otherwise at the oldest, or the newest if backward */
    uint64_t from;
    int64_t since_ms; /* rows of this time or later; 0: all */
    int64_t until_ms; /* rows of this time or earlier; 0: all */
    bool regex; /* a Perl-compatible regular expression (PCRE2, with Unicode properties); ^ and
                         $ are the ends of a line, or of a row with rows_only; matches are never
                         empty */
} paua_history_search_opts;

/* A piece of a match: columns [begin, end) of a row. */
typedef struct paua_history_highlight {
    uint64_t row;
    uint32_t begin;
    uint32_t end;
} paua_history_highlight;

typedef struct paua_history_match {
    uint64_t row;     /* where it begins */
    uint32_t text_at; /* the byte of that row's text */
    uint32_t nbytes;  /* of text; pieces of following rows included */
    uint32_t highlight_count;
    const paua_history_highlight *highlights; /* one a row; until the next call on the search */
} paua_history_match;

typedef enum paua_history_found {
    PAUA_HISTORY_DONE = 0, /* no further match */
    PAUA_HISTORY_MATCH,    /* *match is filled; call again for the next */
    PAUA_HISTORY_MORE      /* the slice is used up; call again to go on */
} paua_history_found;

/* Prepares a search; nothing is read yet but what a time range needs. The view may be closed.
 * Matches do not overlap. Errors: PAUA_EINVAL (pattern empty, too long, invalid UTF-8, with a
 * control character, or no regular expression: the message says at which byte, and why),
 * PAUA_ENOTSUP (regex, of a library built without), PAUA_ECORRUPT (a page at the end of the time
 * range is damaged), PAUA_ENOMEM. */
PAUA_API paua_status paua_history_search_open(const paua_history_view *view,
                                              const paua_history_search_opts *opts,
                                              paua_history_search **search, paua_error *err);

/* Goes on until the next match, the end, or about max_rows rows (0: no bound). Holds one restored
 * page at a time. A damaged page is skipped and counted in *damaged_rows, if that is not NULL.
 * Errors: PAUA_ETIMEOUT (a regular expression takes too many steps on one line, whose row is in
 * err->row; that line is passed over), PAUA_ENOMEM. The search can then be continued. */
PAUA_API paua_status paua_history_search_next(paua_history_search *search, uint64_t max_rows,
                                              paua_history_found *found, paua_history_match *match,
                                              uint64_t *damaged_rows, paua_error *err);
PAUA_API void paua_history_search_close(paua_history_search *search);

/* ---------------------------------------------------------------------------------------------
 * Stored form (docs/FORMAT-HISTORY.md) */

/* Writes a view as bytes, page by page; compressed pages are copied as they are.
 * Errors: PAUA_ECANCELED (write said so), PAUA_ECORRUPT (a damaged page), PAUA_ENOMEM. */
PAUA_API paua_status paua_history_encode(const paua_history_view *view, paua_history_write_fn write,
                                         void *arg, paua_error *err);

typedef struct paua_history_decode_opts {
    size_t size;
    paua_history_opts history; /* of the history that is made; its limits apply once it is there */
    bool salvage; /* pages whose content is damaged become holes; otherwise they are an error */
} paua_history_decode_opts;

/* Makes a history of encoded bytes, which are borrowed for the call. Every page is checked through.
 *
 *   damaged_rows   if not NULL, receives the number of rows in holes
 *
 * Errors: PAUA_ECORRUPT, PAUA_EVERSION (newer format), PAUA_EINVAL, PAUA_ENOMEM. */
PAUA_API paua_status paua_history_decode(const void *bytes, size_t nbytes,
                                         const paua_history_decode_opts *opts,
                                         paua_history **history, uint64_t *damaged_rows,
                                         paua_error *err);

#ifdef __cplusplus
}
#endif

#endif
