/* lexer.re - cuts a filter's text into tokens (re2c makes lexer.c of it).
 *
 * The text is valid UTF-8 and ends with a NUL that is not part of it, which is re2c's sentinel: a
 * NUL before the end is a character that begins no token. TIMESTAMP, ARRAY_LENGTH and X are words
 * of the language only before what makes them one, so that fields may have these names.
 * Cost: linear, but for what a comment or string without an end makes it read twice. */
#include "filter/lexer.h"

#include "filter/grammar.h"

/* Takes the place past everything up to `to`. */
static void count(struct lexer *lexer, const unsigned char *to)
{
    for (; lexer->counted < to; lexer->counted++) {
        if (*lexer->counted == '\n') {
            lexer->place.line++;
            lexer->place.column = 1;
        } else if ((*lexer->counted & 0xC0) != 0x80) {
            lexer->place.column++;
        }
    }
}

void lexer_init(struct lexer *lexer, char *text, size_t nbytes)
{
    unsigned char *bytes = (unsigned char *)text;

    *lexer = (struct lexer){
        .at = bytes, .end = bytes + nbytes, .counted = bytes, .place = {.line = 1, .column = 1}};
}

static int scan(struct lexer *lexer, unsigned char **start)
{
    for (;;) {
        *start = lexer->at;
        /*!re2c
            re2c:define:YYCTYPE = "unsigned char";
            re2c:define:YYCURSOR = "lexer->at";
            re2c:define:YYLIMIT = "lexer->end";
            re2c:define:YYMARKER = "lexer->mark";
            re2c:define:YYCTXMARKER = "lexer->context";
            re2c:yyfill:enable = 0;
            re2c:eof = 0;
            re2c:flags:case-ranges = 0;

            space    = [ \t\r\n\f\v];
            first    = [A-Za-z_] | [\x80-\xff];
            more     = first | [0-9$.];
            digits   = [0-9]+;
            exponent = [eE] [+-]? digits;
            number   = digits | (digits "." [0-9]* | "." digits) exponent? | digits exponent;
            string   = ['] ([^'] | [']['])* ['];
            gap      = (space | "--" [^\n]* "\n" | "/" "*" ([^*] | ("*"+ [^*/]))* "*"+ "/")*;

            $                       { return 0; }
            space+                  { continue; }
            "--" [^\n]*             { continue; }
            "/" "*" ([^*] | ("*"+ [^*/]))* "*"+ "/" { continue; }
            "/" "*"                 { return LEX_COMMENT; }

            'and'                   { return TOKEN_AND; }
            'or'                    { return TOKEN_OR; }
            'not'                   { return TOKEN_NOT; }
            'in'                    { return TOKEN_IN; }
            'between'               { return TOKEN_BETWEEN; }
            'like'                  { return TOKEN_LIKE; }
            'escape'                { return TOKEN_ESCAPE; }
            'is'                    { return TOKEN_IS; }
            'null'                  { return TOKEN_NULL; }
            'true'                  { return TOKEN_TRUE; }
            'false'                 { return TOKEN_FALSE; }
            'nan'                   { return TOKEN_NAN; }
            'inf' | 'infinity'      { return TOKEN_INF; }
            'contain_all'           { return TOKEN_CONTAIN_ALL; }
            'contain_any'           { return TOKEN_CONTAIN_ANY; }
            'timestamp' / gap [']   { return TOKEN_TIMESTAMP; }
            'array_length' / gap "(" { return TOKEN_ARRAY_LENGTH; }

            "("                     { return TOKEN_LP; }
            ")"                     { return TOKEN_RP; }
            ","                     { return TOKEN_COMMA; }
            "=" | "=="              { return TOKEN_EQ; }
            "!=" | "<>"             { return TOKEN_NE; }
            "<"                     { return TOKEN_LT; }
            "<="                    { return TOKEN_LE; }
            ">"                     { return TOKEN_GT; }
            ">="                    { return TOKEN_GE; }
            "+"                     { return TOKEN_PLUS; }
            "-"                     { return TOKEN_MINUS; }

            number                  { return TOKEN_NUMBER; }
            number first more*      { return LEX_NUMBER; }
            string                  { return TOKEN_STRING; }
            [']                     { return LEX_QUOTE; }
            'x' ['] [0-9A-Fa-f]* ['] { return TOKEN_BYTES; }
            'x' [']                 { return LEX_HEX; }
            ["] ([^"] | ["]["])* ["] { return TOKEN_QUOTED; }
            ["]                     { return LEX_QUOTE; }
            first more*             { return TOKEN_NAME; }
            *                       { return LEX_CHARACTER; }
        */
    }
}

int lexer_next(struct lexer *lexer, struct token *token)
{
    unsigned char *start;
    int code = scan(lexer, &start);

    token->text = (char *)start;
    token->nbytes = (size_t)(lexer->at - start);
    count(lexer, start);
    token->place = lexer->place;
    count(lexer, lexer->at);
    return code;
}
