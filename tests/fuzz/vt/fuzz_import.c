/* fuzz_import.c - imports: the first byte is the kind (its lowest bit) and the columns less two,
 * the rest the stream. No stream is refused; the history is valid, the same when the stream comes
 * byte by byte, and its text and escape sequences can be imported again. */
#include "fuzz/history/fuzz.h"

#include "history/history.h"

static bool collect(void *arg, const void *bytes, size_t nbytes)
{
    writer_bytes(arg, bytes, nbytes);
    return true;
}

static paua_history *import(const paua_history_import_opts *opts, const uint8_t *data, size_t size,
                            size_t piece)
{
    paua_history_opts history_opts = {.size = sizeof history_opts};
    paua_history_importer *im = NULL;
    paua_history *h = NULL;

    FUZZ_REQUIRE(paua_history_open(&history_opts, &h, NULL) == PAUA_OK);
    FUZZ_REQUIRE(paua_history_importer_open(h, opts, &im, NULL) == PAUA_OK);
    for (size_t at = 0; at < size; at += piece)
        FUZZ_REQUIRE(paua_history_importer_feed(
                         im, data + at, size - at < piece ? size - at : piece, NULL) == PAUA_OK);
    FUZZ_REQUIRE(paua_history_importer_finish(im, NULL) == PAUA_OK);
    paua_history_importer_close(im);
    FUZZ_REQUIRE(history_validate(h) == NULL);
    return h;
}

static struct writer encoded(paua_history *h)
{
    struct writer w = {0};
    paua_history_view *v = NULL;

    FUZZ_REQUIRE(paua_history_view_open(h, &v, NULL) == PAUA_OK);
    FUZZ_REQUIRE(paua_history_encode(v, collect, &w, NULL) == PAUA_OK && !w.failed);
    paua_history_view_close(v);
    return w;
}

static void reimport(paua_history *h, uint32_t columns, paua_history_format format)
{
    paua_history_range range = {.size = sizeof range, .count = UINT64_MAX};
    paua_history_import_opts opts = {.size = sizeof opts, .columns = columns};
    struct writer w = {0};
    paua_history_view *v = NULL;

    if (format == PAUA_HISTORY_ANSI) opts.kind = PAUA_HISTORY_IMPORT_ANSI;
    FUZZ_REQUIRE(paua_history_view_open(h, &v, NULL) == PAUA_OK);
    FUZZ_REQUIRE(paua_history_view_export(v, &range, format, collect, &w, NULL) == PAUA_OK);
    FUZZ_REQUIRE(!w.failed);
    paua_history_view_close(v);
    paua_history_close(import(&opts, w.bytes, w.length, w.length + 1));
    writer_free(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    paua_history_import_opts opts = {.size = sizeof opts};
    paua_history *whole, *bytewise;
    struct writer a, b;
    uint8_t *copy;

    if (size == 0) return 0;
    opts.kind = data[0] & 1 ? PAUA_HISTORY_IMPORT_ANSI : PAUA_HISTORY_IMPORT_TEXT;
    opts.columns = 2 + data[0] / 2;
    copy = fuzz_copy(data + 1, size - 1);
    whole = import(&opts, copy, size - 1, size);
    bytewise = import(&opts, copy, size - 1, 1);
    a = encoded(whole);
    b = encoded(bytewise);
    FUZZ_REQUIRE(a.length == b.length && memcmp(a.bytes, b.bytes, a.length) == 0);
    reimport(whole, opts.columns, PAUA_HISTORY_TEXT);
    reimport(whole, opts.columns, PAUA_HISTORY_ANSI);
    paua_history_close(whole);
    paua_history_close(bytewise);
    writer_free(&a);
    writer_free(&b);
    free(copy);
    return 0;
}
