/* lexer.h - the text of a filter, cut into tokens. */
#ifndef PAUA_FILTER_LEXER_H
#define PAUA_FILTER_LEXER_H

#include "filter/tree.h"

struct token {
    char *text; /* in the lexer's text */
    size_t nbytes;
    struct place place;
};

struct lexer {
    unsigned char *at;
    unsigned char *end;  /* *end is 0 */
    unsigned char *mark; /* re2c's */
    unsigned char *context;
    unsigned char *counted; /* how far place has come */
    struct place place;
};

/* What is no token. The grammar's codes are positive, and 0 is the end. */
enum { LEX_CHARACTER = -1, LEX_NUMBER = -2, LEX_HEX = -3, LEX_QUOTE = -4, LEX_COMMENT = -5 };

void lexer_init(struct lexer *lexer, char *text, size_t nbytes);

/* The code of the next token: one of filter/grammar.h, 0, or one of the above. The lexer never
 * looks at a token's bytes again: they may be changed. */
int lexer_next(struct lexer *lexer, struct token *token);

#endif
