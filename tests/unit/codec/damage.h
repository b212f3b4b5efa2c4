/* damage.h - what the tests of all decoders share: stored bytes damaged in every way, and each time
 * a refusal and an untouched output.
 *
 * Bytes are handed over in blocks of exactly their length: a sanitizer sees a read beyond. */
#ifndef PAUA_TESTS_DAMAGE_H
#define PAUA_TESTS_DAMAGE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <paua/paua.h>

#include "base/bytes.h"

struct decoder {
    paua_status (*decode)(const void *bytes, size_t length, void *out);
    size_t out_nbytes;
    void (*mend)(uint8_t *bytes, size_t length); /* makes the checksum right again */
};

/* One changed number; the checksum is mended afterwards, so that a range check must refuse. */
struct forgery {
    size_t at;
    size_t width;
    uint64_t value;
    paua_status status; /* PAUA_OK: PAUA_ECORRUPT is meant */
};

/* mend for records in the envelope of codec/record.h; does nothing below its length. */
void mend_record(uint8_t *bytes, size_t length);

/* status PAUA_OK: any failure will do. */
void assert_refused(const struct decoder *d, const uint8_t *bytes, size_t length,
                    paua_status status);

void assert_every_flipped_bit_is_refused(const struct decoder *d, const uint8_t *bytes,
                                         size_t length);

/* Cut short and lengthened by zeros, as it is and, where asked, with the checksum mended. */
void assert_every_other_length_is_refused(const struct decoder *d, const uint8_t *bytes,
                                          size_t length, bool mended);

void assert_forgeries_are_refused(const struct decoder *d, const uint8_t *bytes, size_t length,
                                  const struct forgery *forgeries, size_t count);

/* The bytes are those of the committed text (hexadecimal, spaces between for reading). */
void assert_golden(const uint8_t *bytes, size_t length, const char *hex);

/* encode() gives PAUA_ENOMEM for each allocation that fails in turn, and then PAUA_OK. */
void assert_encode_needs_memory(paua_status (*encode)(const void *value, struct writer *w),
                                const void *value);

#endif
