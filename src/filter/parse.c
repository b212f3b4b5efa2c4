/* parse.c - from text to a tree: limits, the loop over tokens, and what is said when it fails.
 *
 * The filter's arena takes a copy of the text, in which names and strings are decoded, and the
 * nodes, so that memory is the text's length times a constant: the shortest piece of text that
 * makes something, ",1", makes 72 bytes. Nesting is counted as tokens come: what is refused for it
 * has not been built, and the grammar's stack has room for all that is not refused.
 * Cost: linear. */
#include "filter/parse.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "filter/grammar.h"

/* ---- what the rules call ---- */

static void *parse_alloc(struct parse *parse, size_t nbytes)
{
    void *block = parse->status == PAUA_OK ? arena_alloc(&parse->filter->arena, nbytes) : NULL;

    if (block == NULL && parse->status == PAUA_OK) parse->status = error_set_nomem(parse->err);
    return block;
}

struct values values_add(struct parse *parse, struct values values, const struct literal *literal)
{
    struct value *value = parse_alloc(parse, sizeof *value);

    if (value == NULL) return values;
    *value = (struct value){.literal = *literal};
    if (values.last == NULL)
        values.first = value;
    else
        values.last->next = value;
    values.last = value;
    values.count++;
    return values;
}

struct node *parse_constant(struct parse *parse, bool value)
{
    struct node *node = parse_alloc(parse, sizeof *node);

    if (node != NULL) *node = (struct node){.kind = value ? NODE_TRUE : NODE_FALSE};
    return node;
}

struct node *parse_compare(struct parse *parse, const struct subject *subject, paua_op op,
                           const struct values *values)
{
    struct node *node = parse_alloc(parse, sizeof *node);
    struct literal *literals = parse_alloc(parse, values->count * sizeof *literals);
    size_t count = 0;

    if (literals == NULL) return NULL;
    for (const struct value *value = values->first; value != NULL; value = value->next)
        literals[count++] = value->literal;
    assert(count == values->count);
    *node = (struct node){.kind = NODE_COMPARE,
                          .as.compare = {.name = subject->name.text,
                                         .name_nbytes = subject->name.nbytes,
                                         .place = subject->name.place,
                                         .literals = literals,
                                         .count = count,
                                         .op = op,
                                         .length = subject->length}};
    parse->status = compare_check(&node->as.compare, parse->err);
    return node;
}

struct node *parse_not(struct parse *parse, struct node *inner)
{
    struct node *node = parse_alloc(parse, sizeof *node);

    if (node == NULL) return NULL;
    *node = (struct node){.kind = NODE_NOT, .as.first = inner};
    node->nesting = node_nesting(NODE_NOT, inner);
    return node;
}

struct chain chain_add(struct chain chain, struct node *node)
{
    if (node == NULL) return chain; /* the parse has failed */
    if (chain.last == NULL)
        chain.first = node;
    else
        chain.last->next = node;
    chain.last = node;
    return chain;
}

struct node *chain_end(struct parse *parse, enum node_kind kind, const struct chain *chain)
{
    struct node *node;

    if (chain->first == chain->last) return chain->first;
    node = parse_alloc(parse, sizeof *node);
    if (node == NULL) return NULL;
    *node = (struct node){.kind = kind, .as.first = chain->first};
    for (const struct node *child = chain->first; child != NULL; child = child->next) {
        uint32_t nesting = node_nesting(kind, child);

        if (nesting > node->nesting) node->nesting = nesting;
    }
    return node;
}

/* ---- messages ---- */

static size_t append(char *list, size_t used, size_t capacity, const char *text)
{
    size_t nbytes = strlen(text);

    if (used + nbytes >= capacity) return used;
    memcpy(list + used, text, nbytes + 1);
    return used + nbytes;
}

/* "A, B or C" */
static void wanted_list(const void *parser, char *list, size_t capacity)
{
    const char *wanted[GRAMMAR_WANTED_MAX];
    size_t count = grammar_wanted(parser, wanted), used = 0;

    list[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        if (i > 0) used = append(list, used, capacity, i + 1 == count ? " or " : ", ");
        used = append(list, used, capacity, wanted[i]);
    }
}

/* What was perhaps meant by a token that does not fit. */
static const char *hint(int code, const char *list)
{
    bool value = strstr(list, "a value") != NULL, field = strstr(list, "a field") != NULL;

    if ((code == TOKEN_NAME || code == TOKEN_QUOTED) && value && !field)
        return "; strings are written '...', and fields are compared with values only";
    if ((code == TOKEN_STRING || code == TOKEN_NUMBER) && field && !value)
        return "; one side of a comparison is a field";
    return "";
}

void parse_unexpected(struct parse *parse, const void *parser, int code, const struct token *token)
{
    char list[256], excerpt[EXCERPT_NBYTES] = "end";

    if (parse->status != PAUA_OK) return;
    wanted_list(parser, list, sizeof list);
    if (code != 0) text_excerpt(token->text, token->nbytes, excerpt);
    parse->status = place_error(parse->err, token->place, "unexpected %s; expected %s%s", excerpt,
                                list, hint(code, list));
}

void parse_overflow(struct parse *parse)
{
    if (parse->status == PAUA_OK)
        parse->status = error_set(parse->err, PAUA_EINVAL, "the filter is nested too deep");
}

static paua_status lexical_error(struct parse *parse, const struct lexer *lexer, int code,
                                 struct token *token)
{
    char excerpt[EXCERPT_NBYTES];

    /* A character may be of several bytes. */
    while (code == LEX_CHARACTER && (unsigned char *)token->text + token->nbytes < lexer->end &&
           ((unsigned char)token->text[token->nbytes] & 0xC0) == 0x80)
        token->nbytes++;
    name_excerpt(token->text, token->nbytes, excerpt);
    switch (code) {
    case LEX_NUMBER:
        return place_error(parse->err, token->place, "%s is not a number", excerpt);
    case LEX_HEX:
        return place_error(parse->err, token->place,
                           "X'...' holds something else than hex digits, or has no end");
    case LEX_QUOTE:
        return place_error(parse->err, token->place, "what is quoted by %c from here has no end",
                           token->text[0]);
    case LEX_COMMENT:
        return place_error(parse->err, token->place, "the comment that begins here has no end");
    default:
        return place_error(parse->err, token->place, "unexpected %s", excerpt);
    }
}

/* ---- the loop ---- */

/* How deep parentheses and NOTs are nested at the token that comes. */
struct nesting {
    uint32_t parens, nots;
    uint32_t nots_at[FILTER_DEPTH_MAX + 1]; /* of them, outside each parenthesis */
    uint32_t lists;                         /* parentheses that are not of conditions */
    int before;                             /* code of the last token */
};

/* May a condition begin after this token? */
static bool begins_condition(int before)
{
    return before == 0 || before == TOKEN_AND || before == TOKEN_OR || before == TOKEN_NOT ||
           before == TOKEN_LP;
}

/* false: too deep. */
static bool nesting_count(struct nesting *n, int code)
{
    bool begins = begins_condition(n->before);

    n->before = code;
    if (code == TOKEN_LP && !begins) {
        n->lists++;
    } else if (code == TOKEN_RP && n->lists > 0) {
        n->lists--;
    } else if (code == TOKEN_LP) {
        if (n->parens + n->nots >= FILTER_DEPTH_MAX) return false;
        n->nots_at[n->parens++] = n->nots;
    } else if (code == TOKEN_NOT && begins) {
        if (n->parens + n->nots >= FILTER_DEPTH_MAX) return false;
        n->nots++;
    } else if (code == TOKEN_RP && n->parens > 0) {
        n->parens--; /* AND, OR or another one follows */
    } else if (code == TOKEN_AND || code == TOKEN_OR) {
        n->nots = n->parens > 0 ? n->nots_at[n->parens - 1] : 0;
    }
    return true;
}

static paua_status parse_tokens(struct parse *parse, char *text, size_t nbytes)
{
    struct nesting nesting = {0};
    void *parser = grammar_new();
    struct lexer lexer;
    struct token token;
    int code;

    if (parser == NULL) return error_set_nomem(parse->err);
    lexer_init(&lexer, text, nbytes);
    do {
        code = lexer_next(&lexer, &token);
        if (code < 0)
            parse->status = lexical_error(parse, &lexer, code, &token);
        else if (!nesting_count(&nesting, code))
            parse->status =
                place_error(parse->err, token.place,
                            "parentheses and NOTs are nested more than %u deep", FILTER_DEPTH_MAX);
        else
            grammar_feed(parser, code, &token, parse);
    } while (code > 0 && parse->status == PAUA_OK);
    grammar_free(parser);
    return parse->status;
}

/* The place of the first byte that is not UTF-8. */
static struct place place_of(const char *text, size_t nbytes)
{
    struct place place = {.line = 1, .column = 1};

    for (size_t i = 0; i < nbytes; i++) {
        if (text[i] == '\n')
            place = (struct place){.line = place.line + 1, .column = 1};
        else if (((unsigned char)text[i] & 0xC0) != 0x80)
            place.column++;
    }
    return place;
}

paua_status paua_filter_parse(const char *text, size_t nbytes, paua_filter **filter,
                              paua_error *err)
{
    struct parse parse = {.err = err};
    size_t valid;
    char *copy;

    if ((text == NULL && nbytes > 0) || filter == NULL)
        return error_set(err, PAUA_EINVAL, "no text, or nowhere to put the filter");
    if (nbytes > FILTER_NBYTES_MAX)
        return error_set(err, PAUA_EINVAL, "the filter has %zu bytes; at most %u are allowed",
                         nbytes, FILTER_NBYTES_MAX);
    valid = nbytes > 0 ? utf8_valid_prefix(text, nbytes) : 0;
    if (valid < nbytes)
        return place_error(err, place_of(text, valid), "byte %02X is not UTF-8",
                           (unsigned)(unsigned char)text[valid]);
    parse.filter = mem_zalloc(1, sizeof *parse.filter);
    if (parse.filter == NULL) return error_set_nomem(err);
    copy = arena_alloc(&parse.filter->arena, nbytes + 1);
    if (copy == NULL) {
        parse.status = error_set_nomem(err);
    } else {
        if (nbytes > 0) memcpy(copy, text, nbytes);
        copy[nbytes] = '\0';
        parse.status = parse_tokens(&parse, copy, nbytes);
    }
    if (parse.status != PAUA_OK) {
        paua_filter_free(parse.filter);
        return parse.status;
    }
    assert(parse.root != NULL);
    parse.filter->root = parse.root;
    *filter = parse.filter;
    return PAUA_OK;
}
