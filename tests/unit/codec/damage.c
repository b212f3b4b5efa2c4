/* damage.c - see damage.h. */
#include "damage.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/crc32c.h"
#include "base/memory.h"
#include "codec/record.h"

#define LENGTHENED_MAX 40u

void mend_record(uint8_t *bytes, size_t length)
{
    if (length >= RECORD_HEADER_NBYTES)
        bytes_put(bytes + 8, crc32c(0, bytes + RECORD_HEADER_NBYTES, length - RECORD_HEADER_NBYTES),
                  4);
}

void assert_refused(const struct decoder *d, const uint8_t *bytes, size_t length,
                    paua_status status)
{
    uint8_t *exact = malloc(length + (length == 0)), *out = malloc(d->out_nbytes);
    paua_status got;

    assert_non_null(exact);
    assert_non_null(out);
    memcpy(exact, bytes, length);
    memset(out, 0xA5, d->out_nbytes);
    got = d->decode(exact, length, out);
    for (size_t i = 0; i < d->out_nbytes; i++)
        assert_int_equal(out[i], 0xA5);
    assert_int_not_equal(got, PAUA_OK);
    if (status != PAUA_OK) assert_int_equal(got, status);
    free(exact);
    free(out);
}

void assert_every_flipped_bit_is_refused(const struct decoder *d, const uint8_t *bytes,
                                         size_t length)
{
    uint8_t *damaged = malloc(length);

    assert_non_null(damaged);
    memcpy(damaged, bytes, length);
    for (size_t bit = 0; bit < 8 * length; bit++) {
        damaged[bit / 8] = (uint8_t)(damaged[bit / 8] ^ 1u << bit % 8);
        assert_refused(d, damaged, length, PAUA_OK);
        damaged[bit / 8] = (uint8_t)(damaged[bit / 8] ^ 1u << bit % 8);
    }
    free(damaged);
}

void assert_every_other_length_is_refused(const struct decoder *d, const uint8_t *bytes,
                                          size_t length, bool mended)
{
    uint8_t *damaged = malloc(length + LENGTHENED_MAX);

    assert_non_null(damaged);
    for (size_t cut = 0; cut <= length + LENGTHENED_MAX; cut++) {
        if (cut == length) continue;
        memset(damaged, 0, length + LENGTHENED_MAX);
        memcpy(damaged, bytes, length);
        assert_refused(d, damaged, cut, PAUA_ECORRUPT);
        if (!mended) continue;
        d->mend(damaged, cut);
        assert_refused(d, damaged, cut, PAUA_ECORRUPT);
    }
    free(damaged);
}

void assert_forgeries_are_refused(const struct decoder *d, const uint8_t *bytes, size_t length,
                                  const struct forgery *forgeries, size_t count)
{
    uint8_t *forged = malloc(length);

    assert_non_null(forged);
    for (size_t i = 0; i < count; i++) {
        const struct forgery *f = &forgeries[i];

        assert_true(f->at + f->width <= length);
        memcpy(forged, bytes, length);
        assert_int_not_equal(bytes_get(forged + f->at, f->width), f->value);
        bytes_put(forged + f->at, f->value, f->width);
        d->mend(forged, length);
        assert_refused(d, forged, length, f->status == PAUA_OK ? PAUA_ECORRUPT : f->status);
    }
    free(forged);
}

void assert_golden(const uint8_t *bytes, size_t length, const char *hex)
{
    char *text = malloc(2 * length + 1), *expected = malloc(strlen(hex) + 1);
    size_t kept = 0;

    assert_non_null(text);
    assert_non_null(expected);
    for (; *hex != '\0'; hex++)
        if (*hex != ' ') expected[kept++] = *hex;
    expected[kept] = '\0';
    for (size_t i = 0; i < length; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    text[2 * length] = '\0';
    assert_string_equal(text, expected);
    free(text);
    free(expected);
}

void assert_encode_needs_memory(paua_status (*encode)(const void *value, struct writer *w),
                                const void *value)
{
    paua_status status = PAUA_ENOMEM;

    for (uint64_t n = 1; status != PAUA_OK; n++) {
        struct writer w = {0};

        mem_fail_after(n);
        status = encode(value, &w);
        mem_fail_after(0);
        assert_true(status == PAUA_OK ? n > 1 : status == PAUA_ENOMEM);
        writer_free(&w);
    }
}
