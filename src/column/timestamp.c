/* timestamp.c - timestamps as RFC 3339 text.
 *
 *   YYYY-MM-DD [ (T | t | space) hh:mm:ss [ . up to 9 digits ] [ Z | z | (+ | -) hh:mm ] ]
 *
 * Days are those of the proleptic Gregorian calendar, counted in eras of 400 years that begin on
 * the first of March, so that a leap day is a year's last. 64 bits of nanoseconds reach from
 * 1677-09-21T00:12:43.145224192Z to 2262-04-11T23:47:16.854775807Z; what is outside is refused, and
 * so are leap seconds, which no count of seconds since 1970 can tell from the next second. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "column/value.h"

#define SECOND_NS INT64_C(1000000000)
#define DAY_S 86400
#define ERA_DAYS 146097    /* 400 years */
#define ERA_TO_1970 719468 /* days from 0000-03-01 to 1970-01-01 */

struct civil {
    int64_t year;
    unsigned month, day, hour, minute, second;
    uint32_t ns;
    int64_t offset_s;
};

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

static int64_t days_of(const struct civil *c)
{
    int64_t year = c->year - (c->month <= 2);
    int64_t era = floor_div(year, 400);
    int64_t in_era = year - era * 400;
    int64_t in_year = (153 * (int64_t)((c->month + 9) % 12) + 2) / 5 + c->day - 1;

    return era * ERA_DAYS + in_era * 365 + in_era / 4 - in_era / 100 + in_year - ERA_TO_1970;
}

static void date_of(int64_t days, struct civil *c)
{
    int64_t since = days + ERA_TO_1970;
    int64_t era = floor_div(since, ERA_DAYS);
    int64_t day = since - era * ERA_DAYS;
    int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    int64_t in_year = day - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * in_year + 2) / 153;

    c->day = (unsigned)(in_year - (153 * month + 2) / 5 + 1);
    c->month = (unsigned)(month < 10 ? month + 3 : month - 9);
    c->year = era * 400 + year + (c->month <= 2);
}

void paua_timestamp_format(int64_t timestamp, char text[36])
{
    int64_t seconds = floor_div(timestamp, SECOND_NS);
    unsigned ns = (unsigned)(timestamp - seconds * SECOND_NS), digits = 9;
    int64_t days = floor_div(seconds, DAY_S);
    unsigned in_day = (unsigned)(seconds - days * DAY_S);
    struct civil c;
    int length;

    date_of(days, &c);
    length = snprintf(text, 36, "%04d-%02u-%02uT%02u:%02u:%02u", (int)c.year, c.month, c.day,
                      in_day / 3600, in_day / 60 % 60, in_day % 60);
    for (; ns > 0 && ns % 10 == 0; digits--)
        ns /= 10;
    if (ns > 0) length += snprintf(text + length, 36 - (size_t)length, ".%0*u", (int)digits, ns);
    snprintf(text + length, 36 - (size_t)length, "Z");
}

struct cursor {
    const char *at, *end;
};

/* Exactly `count` digits. */
static bool take_number(struct cursor *c, unsigned count, unsigned *number)
{
    unsigned value = 0;

    if ((size_t)(c->end - c->at) < count) return false;
    for (; count > 0; count--, c->at++) {
        if (*c->at < '0' || *c->at > '9') return false;
        value = value * 10 + (unsigned)(*c->at - '0');
    }
    *number = value;
    return true;
}

static bool take_char(struct cursor *c, const char *any_of)
{
    if (c->at == c->end || *c->at == '\0' || strchr(any_of, *c->at) == NULL) return false;
    c->at++;
    return true;
}

static bool take_date(struct cursor *c, struct civil *out)
{
    static const uint8_t month_days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    unsigned year, days;

    if (!take_number(c, 4, &year) || !take_char(c, "-") || !take_number(c, 2, &out->month) ||
        !take_char(c, "-") || !take_number(c, 2, &out->day))
        return false;
    out->year = year;
    if (out->month < 1 || out->month > 12) return false;
    days = month_days[out->month - 1];
    if (out->month == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)) days++;
    return out->day >= 1 && out->day <= days;
}

static bool take_fraction(struct cursor *c, struct civil *out)
{
    uint32_t unit = SECOND_NS / 10;
    unsigned digit;

    if (!take_number(c, 1, &digit)) return false;
    do {
        if (unit == 0) return false;
        out->ns += digit * unit;
        unit /= 10;
    } while (take_number(c, 1, &digit));
    return true;
}

static bool take_offset(struct cursor *c, struct civil *out)
{
    bool west;
    unsigned hours, minutes;

    if (take_char(c, "Zz")) return true;
    west = c->at < c->end && *c->at == '-';
    if (!take_char(c, "+-") || !take_number(c, 2, &hours) || !take_char(c, ":") ||
        !take_number(c, 2, &minutes) || hours > 23 || minutes > 59)
        return false;
    out->offset_s = (int64_t)(hours * 3600 + minutes * 60);
    if (west) out->offset_s = -out->offset_s;
    return true;
}

static bool take_time(struct cursor *c, struct civil *out)
{
    if (!take_char(c, "Tt ") || !take_number(c, 2, &out->hour) || !take_char(c, ":") ||
        !take_number(c, 2, &out->minute) || !take_char(c, ":") || !take_number(c, 2, &out->second))
        return false;
    if (out->hour > 23 || out->minute > 59 || out->second > 59) return false;
    if (take_char(c, ".") && !take_fraction(c, out)) return false;
    return c->at == c->end || take_offset(c, out);
}

/* False: outside 64 bits. */
static bool count_ns(const struct civil *c, int64_t *timestamp)
{
    int64_t seconds = days_of(c) * DAY_S + c->hour * 3600 + c->minute * 60 + c->second;
    int64_t ns = c->ns, whole, sum;

    seconds -= c->offset_s;
    if (seconds < 0) { /* the other way round the first second of the range would not fit */
        seconds++;
        ns -= SECOND_NS;
    }
    if (__builtin_mul_overflow(seconds, SECOND_NS, &whole)) return false;
    if (__builtin_add_overflow(whole, ns, &sum)) return false;
    *timestamp = sum;
    return true;
}

paua_status paua_timestamp_parse(const char *text, size_t nbytes, int64_t *timestamp,
                                 paua_error *err)
{
    struct civil civil = {0};
    struct cursor c;
    int shown = nbytes < 60 ? (int)nbytes : 60;

    if (text == NULL || timestamp == NULL) return error_set(err, PAUA_EINVAL, "no text given");
    c = (struct cursor){.at = text, .end = text + nbytes};
    if (!take_date(&c, &civil) || (c.at < c.end && !take_time(&c, &civil)) || c.at != c.end)
        return error_set(err, PAUA_EINVAL,
                         "'%.*s' is no timestamp; write it as 2026-11-30T21:40:00.5Z (RFC 3339)",
                         shown, text);
    if (!count_ns(&civil, timestamp))
        return error_set(err, PAUA_EINVAL,
                         "'%.*s' is out of range; timestamps go from the year 1677 to 2262", shown,
                         text);
    return PAUA_OK;
}
