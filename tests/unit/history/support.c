/* support.c - see support.h. */
#include "support.h"

#include <stdio.h>

paua_error test_err;

/* Each block is preceded by its size, so that a wrong one is noticed. */
static void *heap_resize(void *arg, void *block, size_t old_nbytes, size_t nbytes)
{
    struct test_heap *heap = arg;
    size_t *raw = block == NULL ? NULL : (size_t *)block - 2, *grown;

    assert_true(nbytes > 0);
    if (raw != NULL) assert_int_equal(raw[0], old_nbytes);
    if (heap->until_failure == 1) return NULL;
    if (heap->until_failure > 1) heap->until_failure--;
    grown = realloc(raw, nbytes + 2 * sizeof *grown);
    assert_non_null(grown);
    grown[0] = nbytes;
    heap->live += nbytes - (raw == NULL ? 0 : old_nbytes);
    if (heap->live > heap->peak) heap->peak = heap->live;
    heap->blocks += raw == NULL;
    return grown + 2;
}

static void heap_release(void *arg, void *block, size_t nbytes)
{
    struct test_heap *heap = arg;
    size_t *raw = (size_t *)block - 2;

    assert_int_equal(raw[0], nbytes);
    heap->live -= nbytes;
    heap->blocks--;
    free(raw);
}

paua_history_allocator test_allocator(struct test_heap *heap)
{
    return (paua_history_allocator){heap_resize, heap_release, heap};
}

paua_history *test_history(const struct test_opts *opts)
{
    paua_history_opts o = {.size = sizeof o};
    paua_history *h = NULL;

    if (opts != NULL) {
        o.scratch = opts->scratch;
        o.limits = opts->limits;
        o.page_rows = opts->page_rows;
        if (opts->heap != NULL) o.allocator = test_allocator(opts->heap);
    }
    assert_ok(paua_history_open(&o, &h, &test_err));
    return h;
}

void test_validate(paua_history *h)
{
    const char *what = history_validate(h);

    if (what != NULL) fail_msg("history_validate: %s", what);
}

paua_history_stats test_stats(const paua_history *h)
{
    paua_history_stats stats = {.size = sizeof stats};

    paua_history_get_stats(h, &stats);
    return stats;
}

static void append(paua_history *h, uint32_t width, const char *text, bool soft)
{
    paua_history_new_row row = {.size = sizeof row,
                                .width = width,
                                .text = text,
                                .text_nbytes = strlen(text),
                                .soft = soft};

    assert_ok(paua_history_append(h, &row, 1, NULL, &test_err));
}

void test_append(paua_history *h, uint32_t width, const char *text)
{
    append(h, width, text, false);
}

void test_append_soft(paua_history *h, uint32_t width, const char *text)
{
    append(h, width, text, true);
}

void test_append_numbered(paua_history *h, uint64_t first, uint64_t count)
{
    for (uint64_t i = first; i < first + count; i++) {
        char text[40];

        snprintf(text, sizeof text, "row %llu", (unsigned long long)i);
        test_append(h, 80, text);
    }
}

void test_idle_twice(paua_history *h)
{
    for (int i = 0; i < 2; i++)
        assert_ok(paua_history_idle(h, SIZE_MAX, NULL, &test_err));
}

paua_history_view *test_view(paua_history *h)
{
    paua_history_view *v = NULL;

    assert_ok(paua_history_view_open(h, &v, &test_err));
    return v;
}

void assert_row(paua_history_view *v, uint64_t index, const char *text)
{
    paua_history_row row;

    assert_ok(paua_history_view_row(v, index, &row, &test_err));
    if (row.text_nbytes != strlen(text) || memcmp(row.text, text, row.text_nbytes) != 0)
        fail_msg("row %llu is \"%.*s\", not \"%s\"", (unsigned long long)index,
                 (int)row.text_nbytes, row.text, text);
}

void assert_numbered(paua_history_view *v, uint64_t first, uint64_t count)
{
    assert_int_equal(paua_history_view_rows(v), count);
    for (uint64_t i = 0; i < count; i++) {
        char text[40];

        snprintf(text, sizeof text, "row %llu", (unsigned long long)(first + i));
        assert_row(v, i, text);
    }
}

bool test_write(void *arg, const void *bytes, size_t nbytes)
{
    struct test_buffer *buffer = arg;

    if (buffer->until_stop == 1) return false;
    if (buffer->until_stop > 1) buffer->until_stop--;
    buffer->bytes = realloc(buffer->bytes, buffer->nbytes + nbytes + 1);
    assert_non_null(buffer->bytes);
    memcpy(buffer->bytes + buffer->nbytes, bytes, nbytes);
    buffer->nbytes += nbytes;
    buffer->bytes[buffer->nbytes] = '\0';
    return true;
}

void test_buffer_free(struct test_buffer *buffer)
{
    free(buffer->bytes);
    *buffer = (struct test_buffer){0};
}

struct test_buffer test_encode(paua_history *h)
{
    struct test_buffer buffer = {0};
    paua_history_view *v = test_view(h);

    assert_ok(paua_history_encode(v, test_write, &buffer, &test_err));
    paua_history_view_close(v);
    return buffer;
}

paua_history *test_decode(const struct test_buffer *buffer)
{
    paua_history *h = NULL;

    assert_ok(paua_history_decode(buffer->bytes, buffer->nbytes, NULL, &h, NULL, &test_err));
    test_validate(h);
    return h;
}

uint64_t test_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

uint32_t test_random_below(uint64_t *state, uint32_t n)
{
    return (uint32_t)((test_random(state) >> 32) * n >> 32);
}
