/* import.c - rows out of a stream: the escape parser's actions, as far as lines of text need them.
 *
 * What      Printable text, CR, LF, BS, tabs, EL, SGR and OSC 8 on one row at a time; rows only
 *           ever move up. Cursor movements, screens and modes do nothing: this imports logs and the
 *           output of programs that write lines, not of those that draw.
 * LF        also returns to the first column, since what is kept in files has no terminal driver
 *           behind it that would add a CR. VT, FF, IND and NEL do the same; RIS resets the style.
 * Failure   is remembered: actions cannot stop the parser, so they do nothing from then on. */
#include <string.h>

#include "base/error.h"
#include "history/history.h"
#include "history/import_row.h"
#include "vt/hyperlink.h"
#include "vt/parser.h"
#include "vt/sgr.h"

#define COLUMNS_DEFAULT 80u
/* An OSC 8 with an id and a URI of full length, and room for other parameters. */
#define STRING_NBYTES (2 * PAUA_HISTORY_LINK_NBYTES_MAX + 256)

struct paua_history_importer {
    struct heap *heap;
    paua_history_import_fn append;
    void *append_arg;
    int64_t time_ms;
    bool ansi;
    paua_error failure; /* status PAUA_OK: none */
    struct vt_parser parser;
    struct import_row row;
    char string[STRING_NBYTES];
};

static bool failed(const paua_history_importer *im) { return im->failure.status != PAUA_OK; }

/* Remembers running out of memory, unless an append has failed already. */
static void check(paua_history_importer *im, bool done)
{
    if (!done && !failed(im)) error_set_nomem(&im->failure);
}

static bool emit(void *arg, const paua_history_new_row *row)
{
    paua_history_importer *im = arg;
    paua_history_new_row timed = *row;
    paua_error err = {0};
    paua_status status;

    timed.time_ms = im->time_ms;
    status = im->append(im->append_arg, &timed, &err);
    if (status == PAUA_OK) return true;
    im->failure = err;
    im->failure.status = status;
    return false;
}

static paua_status append_to_history(void *arg, const paua_history_new_row *row, paua_error *err)
{
    return paua_history_append(arg, row, 1, NULL, err);
}

/* ---- actions ---- */

static void on_print(void *arg, const char *text, size_t nbytes)
{
    paua_history_importer *im = arg;

    if (!failed(im)) check(im, import_row_print(&im->row, text, nbytes));
}

static void new_line(paua_history_importer *im)
{
    if (!failed(im)) check(im, import_row_end(&im->row, false));
}

/* In text a tab is spaces, which wrap like others. */
static void tab(paua_history_importer *im)
{
    static const char spaces[] = "        ";

    if (im->ansi)
        import_row_tab(&im->row);
    else
        on_print(im, spaces, 8 - im->row.cursor % im->row.columns % 8);
}

static void on_execute(void *arg, uint8_t control)
{
    paua_history_importer *im = arg;

    if (control == '\n' || (im->ansi && (control == '\v' || control == '\f')))
        new_line(im);
    else if (control == '\t')
        tab(im);
    else if (control == '\r' && im->ansi)
        import_row_return(&im->row);
    else if (control == '\b' && im->ansi)
        import_row_backspace(&im->row);
}

static void on_esc(void *arg, const struct vt_sequence *s)
{
    static const paua_history_style plain;
    static const paua_history_link none;
    paua_history_importer *im = arg;

    if (s->intermediate_count > 0) return;
    if (s->final == 'D' || s->final == 'E') new_line(im);
    if (s->final == 'c' && !failed(im)) {
        import_row_set_style(&im->row, &plain);
        check(im, import_row_set_link(&im->row, &none));
    }
}

static void on_csi(void *arg, const struct vt_sequence *s)
{
    paua_history_importer *im = arg;

    if (s->intermediate_count > 0 || s->marker != 0) return;
    if (s->final == 'm') {
        paua_history_style style = im->row.style;

        sgr_apply(s, &style);
        import_row_set_style(&im->row, &style);
    } else if (s->final == 'K') {
        import_row_erase(&im->row, s->param_count > 0 ? s->params[0] : 0);
    }
}

static void on_string(void *arg, enum vt_string kind, const char *bytes, size_t nbytes,
                      uint64_t nbytes_all)
{
    paua_history_importer *im = arg;
    paua_history_link link;

    if (kind == VT_OSC && !failed(im) && hyperlink_parse(bytes, nbytes, nbytes < nbytes_all, &link))
        check(im, import_row_set_link(&im->row, &link));
}

static void on_dcs(void *arg, const struct vt_sequence *s)
{
    (void)arg;
    (void)s;
}

static void on_dcs_put(void *arg, const char *bytes, size_t nbytes)
{
    (void)arg;
    (void)bytes;
    (void)nbytes;
}

static void on_dcs_end(void *arg, uint64_t nbytes_all, bool canceled)
{
    (void)arg;
    (void)nbytes_all;
    (void)canceled;
}

static const struct vt_actions actions = {.print = on_print,
                                          .execute = on_execute,
                                          .esc = on_esc,
                                          .csi = on_csi,
                                          .string = on_string,
                                          .dcs_hook = on_dcs,
                                          .dcs_put = on_dcs_put,
                                          .dcs_unhook = on_dcs_end};

/* ---- the importer ---- */

static paua_status opts_valid(const paua_history *h, const paua_history_import_opts *opts,
                              paua_error *err)
{
    if (opts->kind != PAUA_HISTORY_IMPORT_TEXT && opts->kind != PAUA_HISTORY_IMPORT_ANSI)
        return error_set(err, PAUA_EINVAL, "no such kind of text to import");
    if (opts->columns < 2 || opts->columns > PAUA_HISTORY_IMPORT_COLUMNS_MAX)
        return error_set(err, PAUA_EINVAL, "an import wraps at 2 to %u columns",
                         PAUA_HISTORY_IMPORT_COLUMNS_MAX);
    if (opts->time_ms < 0) return error_set(err, PAUA_EINVAL, "a time is not negative");
    if (h == NULL && opts->append == NULL)
        return error_set(err, PAUA_EINVAL, "an import without a history or a function");
    return PAUA_OK;
}

static void begin(paua_history_importer *im)
{
    struct vt_parser_opts parser = {.actions = &actions,
                                    .arg = im,
                                    .buffer = im->string,
                                    .buffer_nbytes = sizeof im->string,
                                    .plain = !im->ansi};

    vt_parser_init(&im->parser, &parser);
}

paua_status paua_history_importer_open(paua_history *history, const paua_history_import_opts *opts,
                                       paua_history_importer **importer, paua_error *err)
{
    static const paua_history_allocator plain;
    paua_history_import_opts o = {0};
    paua_history_importer *im;
    struct heap *heap;
    paua_status status;

    if (opts != NULL) memcpy(&o, opts, opts->size < sizeof o ? opts->size : sizeof o);
    if (o.columns == 0) o.columns = COLUMNS_DEFAULT;
    status = opts_valid(history, &o, err);
    if (status != PAUA_OK) return status;
    heap = history != NULL ? heap_ref(history->heap) : heap_make(&plain, NULL);
    if (heap == NULL) return error_set_nomem(err);
    im = heap_alloc(heap, sizeof *im);
    if (im == NULL) {
        heap_unref(heap);
        return error_set_nomem(err);
    }
    im->heap = heap;
    im->append = o.append != NULL ? o.append : append_to_history;
    im->append_arg = o.append != NULL ? o.append_arg : history;
    im->time_ms = o.time_ms;
    im->ansi = o.kind == PAUA_HISTORY_IMPORT_ANSI;
    im->failure = (paua_error){0};
    begin(im);
    if (!import_row_init(&im->row, heap, o.columns)) {
        paua_history_importer_close(im);
        return error_set_nomem(err);
    }
    im->row.emit = emit;
    im->row.arg = im;
    *importer = im;
    return PAUA_OK;
}

static paua_status report(const paua_history_importer *im, paua_error *err)
{
    if (failed(im) && err != NULL) *err = im->failure;
    return im->failure.status;
}

paua_status paua_history_importer_feed(paua_history_importer *im, const void *bytes, size_t nbytes,
                                       paua_error *err)
{
    if (!failed(im)) vt_parser_feed(&im->parser, bytes, nbytes);
    return report(im, err);
}

paua_status paua_history_importer_finish(paua_history_importer *im, paua_error *err)
{
    static const paua_history_style plain;
    static const paua_history_link none;

    if (failed(im)) return report(im, err);
    vt_parser_finish(&im->parser);
    if (im->row.used > 0) new_line(im);
    if (failed(im)) return report(im, err);
    import_row_return(&im->row);
    import_row_set_style(&im->row, &plain);
    check(im, import_row_set_link(&im->row, &none));
    return report(im, err);
}

void paua_history_importer_close(paua_history_importer *im)
{
    struct heap *heap;

    if (im == NULL) return;
    heap = im->heap;
    import_row_free(&im->row);
    heap_free(heap, im, sizeof *im);
    heap_unref(heap);
}
