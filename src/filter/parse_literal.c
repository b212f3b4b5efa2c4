/* parse_literal.c - text of names and values into what they mean.
 *
 * Quotes, names and hex digits are decoded where they lie in the filter's copy of its text, which
 * only ever makes them shorter; values borrow from there.
 * Numbers are exact as far as int64 and uint64 reach; other whole numbers, and those with a point
 * or an exponent, are the nearest double. Digits are read as in the C locale, whatever the
 * program's is. */
#include "filter/parse.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static paua_bytes unquote(const struct token *token)
{
    char *from = token->text + 1, *to = from, *end = token->text + token->nbytes - 1;
    char quote = token->text[0];

    while (from < end) {
        if (*from == quote) from++; /* two of them are one */
        *to++ = *from++;
    }
    return (paua_bytes){token->text + 1, (size_t)(to - (token->text + 1))};
}

static struct literal literal_at(const struct token *token, uint16_t type)
{
    return (struct literal){.value = {.type = type}, .place = token->place};
}

struct literal parse_string(const struct token *token)
{
    struct literal literal = literal_at(token, PAUA_TYPE_STRING);

    literal.value.as.bytes = unquote(token);
    return literal;
}

struct token parse_name(struct parse *parse, const struct token *token)
{
    paua_bytes name = unquote(token);
    struct token decoded = {token->text + 1, name.nbytes, token->place};

    if (name.nbytes == 0 && parse->status == PAUA_OK)
        parse->status = place_error(parse->err, token->place, "\"\" is no field's name");
    return decoded;
}

static unsigned hex_digit(char c) { return (unsigned)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10); }

struct literal parse_bytes(struct parse *parse, const struct token *token)
{
    struct literal literal = literal_at(token, PAUA_TYPE_BYTES);
    size_t digits = token->nbytes - 3;
    char *at = token->text + 2;

    if (digits % 2 != 0 && parse->status == PAUA_OK)
        parse->status = place_error(parse->err, token->place,
                                    "X'...' has an odd number of digits; two make a byte");
    for (size_t i = 0; i < digits / 2; i++)
        at[i] = (char)(hex_digit(at[2 * i]) << 4 | hex_digit(at[2 * i + 1]));
    literal.value.as.bytes = (paua_bytes){at, digits / 2};
    return literal;
}

struct literal parse_timestamp(struct parse *parse, const struct token *token)
{
    struct literal literal = literal_at(token, PAUA_TYPE_TIMESTAMP);
    paua_bytes text = unquote(token);
    paua_error err;

    if (parse->status == PAUA_OK &&
        paua_timestamp_parse(text.data, text.nbytes, &literal.value.as.i64, &err) != PAUA_OK)
        parse->status = place_error(parse->err, token->place, "%s", err.message);
    return literal;
}

struct literal parse_word(const struct token *token, uint16_t type, bool value)
{
    struct literal literal = literal_at(token, type);

    if (type == PAUA_TYPE_BOOL) literal.value.as.boolean = value;
    return literal;
}

struct literal parse_double(const struct token *token, double value)
{
    struct literal literal = literal_at(token, PAUA_TYPE_DOUBLE);

    literal.value.as.f64 = value;
    return literal;
}

/* The number if it is a whole one of at most 64 bits. */
static bool parse_whole(const struct token *token, uint64_t *number)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < token->nbytes; i++) {
        unsigned digit = (unsigned)(unsigned char)token->text[i] - '0';

        if (digit > 9 || __builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_add_overflow(sum, digit, &sum))
            return false;
    }
    *number = sum;
    return true;
}

struct literal parse_number(struct parse *parse, const struct token *token, bool negative)
{
    struct literal literal = literal_at(token, PAUA_TYPE_INT64);
    uint64_t whole, least = UINT64_C(1) << 63;
    locale_t plain;

    if (parse_whole(token, &whole) && (whole < least || !negative || whole == least)) {
        if (whole >= least && !negative) literal.value.type = PAUA_TYPE_UINT64;
        literal.value.as.u64 = negative ? 0 - whole : whole; /* i64 has the same bits */
        return literal;
    }
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0) {
        parse->status = error_set_nomem(parse->err);
        return literal;
    }
    literal = parse_double(token, strtod_l(token->text, NULL, plain));
    freelocale(plain);
    if (isinf(literal.value.as.f64) && parse->status == PAUA_OK) {
        char excerpt[EXCERPT_NBYTES];

        name_excerpt(token->text, token->nbytes, excerpt);
        parse->status =
            place_error(parse->err, token->place,
                        "%s is beyond the numbers; the greatest is 1.8e308, or inf", excerpt);
    }
    if (negative) literal.value.as.f64 = -literal.value.as.f64;
    return literal;
}
