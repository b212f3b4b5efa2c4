/* cuts.c - comparing numbers of different types without converting columns.
 *
 * A column's numbers are keys in the order of its type (column/value.h), so a comparison with any
 * number is a range of keys, once it is known which key is the last below the number and which the
 * first above it. Those are found exactly: no number is pressed into another type on the way, so
 * that 2^53 + 1 is between two doubles, 5.5 between two integers and -1 below all unsigned ones.
 * NaN      is compared as IEEE 754 totalOrder has it, above inf or below -inf by its sign.
 * Zero     is one number with two keys of floats.
 * Rounding A double becomes a float before it is compared with floats: "x = 0.1" finds what was
 *          stored as 0.1. What is beyond all finite floats stays so. */
#include "filter/cuts.h"

#include <assert.h>
#include <float.h>
#include <math.h>

struct key_range type_keys(uint32_t type)
{
    static const unsigned bits[] = {
        [PAUA_TYPE_INT8] = 8,  [PAUA_TYPE_INT16] = 16,  [PAUA_TYPE_INT32] = 32,
        [PAUA_TYPE_UINT8] = 8, [PAUA_TYPE_UINT16] = 16, [PAUA_TYPE_UINT32] = 32};

    switch (type) {
    case PAUA_TYPE_BOOL:
        return (struct key_range){0, 1};
    case PAUA_TYPE_INT8:
    case PAUA_TYPE_INT16:
    case PAUA_TYPE_INT32:
        return (struct key_range){key_of_int(-(INT64_C(1) << (bits[type] - 1))),
                                  key_of_int((INT64_C(1) << (bits[type] - 1)) - 1)};
    case PAUA_TYPE_UINT8:
    case PAUA_TYPE_UINT16:
    case PAUA_TYPE_UINT32:
        return (struct key_range){0, (UINT64_C(1) << bits[type]) - 1};
    case PAUA_TYPE_FLOAT:
        return (struct key_range){0, UINT32_MAX};
    default:
        return (struct key_range){0, UINT64_MAX};
    }
}

/* Cuts around the keys low .. high, or, without them, below or above all. */
static struct cuts cuts_around(uint32_t type, uint64_t low, uint64_t high)
{
    struct key_range all = type_keys(type);
    struct cuts cuts = {.equal = {low, high},
                        .has_below = low > all.low,
                        .has_equal = true,
                        .has_above = high < all.high};

    if (cuts.has_below) cuts.below = (struct key_range){all.low, low - 1};
    if (cuts.has_above) cuts.above = (struct key_range){high + 1, all.high};
    return cuts;
}

/* Between two neighbouring keys. */
static struct cuts cuts_between(uint32_t type, uint64_t low, uint64_t high)
{
    struct key_range all = type_keys(type);

    assert(low + 1 == high);
    return (struct cuts){
        .below = {all.low, low}, .above = {high, all.high}, .has_below = true, .has_above = true};
}

static struct cuts cuts_past(uint32_t type, bool above_all)
{
    return (struct cuts){.below = type_keys(type),
                         .above = type_keys(type),
                         .has_below = above_all,
                         .has_above = !above_all};
}

/* ---- integers ---- */

/* A whole number: i64 if negative, else u64; with a fraction above it, or none. */
static struct cuts cuts_whole(uint32_t type, bool negative, uint64_t bits, bool fraction)
{
    struct key_range all = type_keys(type);
    bool is_signed = type >= PAUA_TYPE_INT8 && type <= PAUA_TYPE_INT64;
    uint64_t key = is_signed ? key_of_int((int64_t)bits) : bits;

    if (negative && !is_signed) return cuts_past(type, false);
    if (!negative && is_signed && bits > INT64_MAX) return cuts_past(type, true);
    if (key < all.low) return cuts_past(type, false);
    if (key > all.high || (key == all.high && fraction)) return cuts_past(type, true);
    return fraction ? cuts_between(type, key, key + 1) : cuts_around(type, key, key);
}

static struct cuts cuts_integer(uint32_t type, const paua_value *value)
{
    double number, whole;

    if (value->type == PAUA_TYPE_UINT64) return cuts_whole(type, false, value->as.u64, false);
    if (value->type == PAUA_TYPE_INT64)
        return cuts_whole(type, value->as.i64 < 0, (uint64_t)value->as.i64, false);
    number = value->as.f64;
    if (isnan(number)) return cuts_past(type, !signbit(number));
    if (number < -0x1p63) return cuts_past(type, false);
    if (number >= 0x1p64) return cuts_past(type, true);
    whole = floor(number);
    return cuts_whole(type, whole < 0, whole < 0 ? (uint64_t)(int64_t)whole : (uint64_t)whole,
                      number > whole);
}

/* ---- floats ---- */

static uint64_t key_of(uint32_t type, double number)
{
    return type == PAUA_TYPE_FLOAT ? key_of_float((float)number) : key_of_double(number);
}

/* Around a number that the type has. */
static struct cuts cuts_exact(uint32_t type, double number)
{
    struct cuts cuts;

    if (number == 0) return cuts_around(type, key_of(type, -0.0), key_of(type, 0.0));
    cuts = cuts_around(type, key_of(type, number), key_of(type, number));
    cuts.nan = isnan(number);
    return cuts;
}

/* -1, 0 or 1: how a number of the type compares with an integer. */
static int compare_whole(double number, bool negative, uint64_t bits)
{
    if (negative) {
        int64_t value = (int64_t)bits;

        return number >= 0 ? 1 : (int64_t)number < value ? -1 : (int64_t)number > value;
    }
    if (number >= 0x1p64) return 1;
    return (uint64_t)number < bits ? -1 : (uint64_t)number > bits;
}

static struct cuts cuts_whole_in_floats(uint32_t type, bool negative, uint64_t bits)
{
    double number;
    uint64_t key;
    int order;

    if (type == PAUA_TYPE_FLOAT)
        number = (double)(negative ? (float)(int64_t)bits : (float)bits);
    else
        number = negative ? (double)(int64_t)bits : (double)bits;
    order = compare_whole(number, negative, bits);
    key = key_of(type, number);
    if (order == 0) return cuts_exact(type, number);
    return order < 0 ? cuts_between(type, key, key + 1) : cuts_between(type, key - 1, key);
}

static struct cuts cuts_float(uint32_t type, const paua_value *value)
{
    double number = value->as.f64;

    if (value->type == PAUA_TYPE_UINT64) return cuts_whole_in_floats(type, false, value->as.u64);
    if (value->type == PAUA_TYPE_INT64)
        return cuts_whole_in_floats(type, value->as.i64 < 0, (uint64_t)value->as.i64);
    if (type == PAUA_TYPE_FLOAT && isfinite(number) && isinf((float)number)) {
        uint64_t infinity = key_of(type, (double)(float)number);

        return number > 0 ? cuts_between(type, infinity - 1, infinity)
                          : cuts_between(type, infinity, infinity + 1);
    }
    return cuts_exact(type, type == PAUA_TYPE_FLOAT ? (double)(float)number : number);
}

struct cuts cuts_of(uint32_t type, const paua_value *value)
{
    uint64_t key;

    switch (type) {
    case PAUA_TYPE_BOOL:
        assert(value->type == PAUA_TYPE_BOOL);
        return cuts_around(type, value->as.boolean, value->as.boolean);
    case PAUA_TYPE_TIMESTAMP:
        assert(value->type == PAUA_TYPE_TIMESTAMP);
        key = key_of_int(value->as.i64);
        return cuts_around(type, key, key);
    case PAUA_TYPE_FLOAT:
    case PAUA_TYPE_DOUBLE:
        return cuts_float(type, value);
    default:
        return cuts_integer(type, value);
    }
}
