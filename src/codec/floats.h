/* floats.h - IEEE floats as stored: their bits as little-endian numbers. Which values are allowed
 * is the decoder's business: NaN reads like any other. */
#ifndef PAUA_CODEC_FLOATS_H
#define PAUA_CODEC_FLOATS_H

#include <string.h>

#include "base/bytes.h"

static inline float reader_f32(struct reader *r)
{
    uint32_t bits = reader_u32(r);
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline double reader_f64(struct reader *r)
{
    uint64_t bits = reader_u64(r);
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline void writer_f32(struct writer *w, float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    writer_u32(w, bits);
}

static inline void writer_f64(struct writer *w, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    writer_u64(w, bits);
}

#endif
