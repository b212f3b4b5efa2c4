/* width.h - where clusters begin and how wide they are: rule version 1, pinned (width.c). */
#ifndef PAUA_HISTORY_WIDTH_H
#define PAUA_HISTORY_WIDTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <paua/paua_history.h>

#define WIDTH_RULE_VERSION 1u

extern const uint8_t width_block_of[0x1100];
extern const uint8_t width_blocks[][64];

/* 0, 1 or 2 columns; point is below U+110000. */
static inline uint32_t width_of(uint32_t point)
{
    uint32_t in_block = point & 0xFF;

    return width_blocks[width_block_of[point >> 8]][in_block >> 2] >> 2 * (in_block & 3) & 3;
}

/* The code point at `at`, where valid UTF-8 begins; stores its length. */
static inline uint32_t width_decode(const char *at, uint32_t *nbytes)
{
    const uint8_t *b = (const uint8_t *)at;

    if (b[0] < 0x80) {
        *nbytes = 1;
        return b[0];
    }
    if (b[0] < 0xE0) {
        *nbytes = 2;
        return (uint32_t)(b[0] & 0x1F) << 6 | (b[1] & 0x3F);
    }
    if (b[0] < 0xF0) {
        *nbytes = 3;
        return (uint32_t)(b[0] & 0x0F) << 12 | (uint32_t)(b[1] & 0x3F) << 6 | (b[2] & 0x3F);
    }
    *nbytes = 4;
    return (uint32_t)(b[0] & 0x07) << 18 | (uint32_t)(b[1] & 0x3F) << 12 |
           (uint32_t)(b[2] & 0x3F) << 6 | (b[3] & 0x3F);
}

/* A cluster as it grows, one code point after the other. */
struct growing_cluster {
    uint32_t first;
    uint32_t last;
    uint32_t points;
    uint32_t nbytes;
    uint32_t width; /* 1 or 2 columns */
};

#define WIDTH_JOINER 0x200Du
#define WIDTH_EMOJI_PRESENTATION 0xFE0Fu

static inline bool width_is_regional(uint32_t point)
{
    return point >= 0x1F1E6 && point <= 0x1F1FF;
}
static inline bool width_is_skin_tone(uint32_t point)
{
    return point >= 0x1F3FB && point <= 0x1F3FF;
}

static inline struct growing_cluster width_begin(uint32_t point, uint32_t nbytes)
{
    return (struct growing_cluster){.first = point,
                                    .last = point,
                                    .points = 1,
                                    .nbytes = nbytes,
                                    .width = width_of(point) == 2 ? 2 : 1};
}

/* Whether a code point of nbytes joins the cluster. If so, it has joined it. */
static inline bool width_join(struct growing_cluster *c, uint32_t point, uint32_t nbytes)
{
    bool pair = c->points == 1 && width_is_regional(c->first) && width_is_regional(point);

    if (point < 0x80) return false;
    if (width_of(point) != 0 && c->last != WIDTH_JOINER &&
        !(width_is_skin_tone(point) && c->width == 2) && !pair)
        return false;
    if (c->nbytes + nbytes > PAUA_HISTORY_CLUSTER_NBYTES_MAX) return false;
    if (point == WIDTH_EMOJI_PRESENTATION ||
        (width_is_regional(c->first) && width_is_regional(point)))
        c->width = 2;
    c->last = point;
    c->points++;
    c->nbytes += nbytes;
    return true;
}

/* The cluster that begins at `at`, in valid UTF-8 of `left` bytes (at least 1): its columns, 1 or
 * 2; stores its length, at most PAUA_HISTORY_CLUSTER_NBYTES_MAX. */
uint32_t width_cluster(const char *at, uint32_t left, uint32_t *nbytes);

/* A cell's text must not have these: C0 and C1 controls, DEL. */
static inline bool width_is_control(uint32_t point)
{
    return point < 0x20 || (point >= 0x7F && point < 0xA0);
}

/* Bytes from `at` on that are ASCII and a cluster each, `stop` at most: where the text, which ends
 * at `end`, goes on with what is not ASCII, that might join the last. */
size_t width_plain(const char *text, size_t at, size_t stop, size_t end);

/* Whether bytes are valid UTF-8 without control characters. */
bool width_text_valid(const char *text, size_t nbytes);

/* Whether all bytes are below 0x80. */
bool width_is_ascii(const char *text, size_t nbytes);

#endif
