/* parse.h - what the grammar's rules call to build a filter's tree. */
#ifndef PAUA_FILTER_PARSE_H
#define PAUA_FILTER_PARSE_H

#include "filter/lexer.h"

/* A parse under way. After the first failure the rest of the actions do nothing. */
struct parse {
    struct paua_filter *filter;
    struct node *root; /* once the text is over */
    paua_status status;
    paua_error *err;
};

/* What comparisons are about. */
struct subject {
    struct token name;
    bool length;
};

/* Conditions that AND or OR combine, as they come. */
struct chain {
    struct node *first, *last;
};

struct value {
    struct literal literal;
    struct value *next;
};

struct values {
    struct value *first, *last;
    size_t count;
};

/* Text of a literal. Strings, names and hex digits are decoded where they lie. */
struct literal parse_string(const struct token *token);
struct literal parse_bytes(struct parse *parse, const struct token *token);
struct literal parse_timestamp(struct parse *parse, const struct token *token);
struct literal parse_number(struct parse *parse, const struct token *token, bool negative);
struct literal parse_double(const struct token *token, double value);
struct literal parse_word(const struct token *token, uint16_t type, bool value);
struct token parse_name(struct parse *parse, const struct token *token);

struct values values_add(struct parse *parse, struct values values, const struct literal *literal);
struct node *parse_constant(struct parse *parse, bool value);
struct node *parse_compare(struct parse *parse, const struct subject *subject, paua_op op,
                           const struct values *values);
struct node *parse_not(struct parse *parse, struct node *inner);
struct chain chain_add(struct chain chain, struct node *node);
struct node *chain_end(struct parse *parse, enum node_kind kind, const struct chain *chain);

/* ---- grammar.y ---- */

/* The parser that lemon makes; NULL when out of memory. code 0: the text is over. */
void *grammar_new(void);
void grammar_free(void *parser); /* NULL does nothing */
void grammar_feed(void *parser, int code, const struct token *token, struct parse *parse);

/* Called by it: the token does not fit here. */
void parse_unexpected(struct parse *parse, const void *parser, int code, const struct token *token);
void parse_overflow(struct parse *parse);

/* What the next token may be: the i-th description, NULL past the end. Several tokens that are one
 * thing to a person, as numbers and strings are values, are one. */
#define GRAMMAR_WANTED_MAX 24u
size_t grammar_wanted(const void *parser, const char *wanted[GRAMMAR_WANTED_MAX]);

#endif
