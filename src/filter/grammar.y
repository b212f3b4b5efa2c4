/* grammar.y - the grammar of filters (lemon makes grammar.c of it, and grammar.h).
 *
 * NOT binds tighter than AND, AND tighter than OR; comparisons bind tighter than all three, and
 * the AND of BETWEEN belongs to it, as its operands are single values. A chain of ANDs or of ORs
 * is one node. Nodes live in the filter's arena, so nothing is freed here.
 * A token is tried on the states alone before the parser gets it: lemon's parser reduces what it
 * can before it finds that a token does not fit, and would not know any more what had fitted. */
%include {
#include "filter/parse.h"

#include "base/memory.h"

/* Lemon's code converts freely, does not use all that it declares, and traces itself unless told
 * not to. */
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-variable"
#undef NDEBUG
#define NDEBUG 1
#define YYNOERRORRECOVERY 1

void *grammarAlloc(void *(*alloc)(size_t));
void grammarFree(void *parser, void (*release)(void *));
void grammar(void *parser, int code, struct token token, struct parse *parse);
void grammarInit(void *parser);
void grammarFinalize(void *parser);
int grammarFallback(int code);
}

%name grammar
%token_prefix TOKEN_
%token_type {struct token}
%extra_argument {struct parse *parse}
/* Five symbols for each parenthesis and one for each NOT, and a condition within the last. */
%stack_size 1040

/* In the order in which messages name what they had expected. */
%token NAME QUOTED ARRAY_LENGTH NUMBER STRING BYTES TIMESTAMP TRUE FALSE NAN INF PLUS MINUS NULL.
%token EQ NE LT LE GT GE NOT IN BETWEEN LIKE ESCAPE IS CONTAIN_ALL CONTAIN_ANY LP RP COMMA AND OR.

%stack_overflow { parse_overflow(parse); }

%type condition {struct node *}
%type term {struct node *}
%type factor {struct node *}
%type any {struct chain}
%type all {struct chain}
%type subject {struct subject}
%type name {struct token}
%type operator {paua_op}
%type not {bool}
%type contain {paua_op}
%type value {struct literal}
%type one {struct values}
%type two {struct values}
%type some {struct values}
%type list {struct values}
%type pattern {struct values}

filter ::= condition(C). { parse->root = C; }

condition(C) ::= any(L). { C = chain_end(parse, NODE_ANY, &L); }
any(L) ::= term(T). { L = chain_add((struct chain){NULL, NULL}, T); }
any(L) ::= any(M) OR term(T). { L = chain_add(M, T); }
term(T) ::= all(L). { T = chain_end(parse, NODE_ALL, &L); }
all(L) ::= factor(F). { L = chain_add((struct chain){NULL, NULL}, F); }
all(L) ::= all(M) AND factor(F). { L = chain_add(M, F); }

factor(F) ::= LP condition(C) RP. { F = C; }
factor(F) ::= NOT factor(G). { F = parse_not(parse, G); }
factor(F) ::= TRUE. { F = parse_constant(parse, true); }
factor(F) ::= FALSE. { F = parse_constant(parse, false); }
factor(F) ::= name(N). {
    struct literal truth = parse_word(&N, PAUA_TYPE_BOOL, true);
    struct values values = values_add(parse, (struct values){NULL, NULL, 0}, &truth);

    F = parse_compare(parse, &(struct subject){N, false}, PAUA_EQ, &values);
}
factor(F) ::= subject(S) operator(O) one(V). { F = parse_compare(parse, &S, O, &V); }
factor(F) ::= one(V) operator(O) subject(S). {
    static const paua_op mirrored[] = {[PAUA_EQ] = PAUA_EQ, [PAUA_NE] = PAUA_NE,
                                       [PAUA_LT] = PAUA_GT, [PAUA_LE] = PAUA_GE,
                                       [PAUA_GT] = PAUA_LT, [PAUA_GE] = PAUA_LE};

    F = parse_compare(parse, &S, mirrored[O], &V);
}
factor(F) ::= subject(S) not(N) IN LP some(V) RP. {
    F = parse_compare(parse, &S, N ? PAUA_NOT_IN : PAUA_IN, &V);
}
factor(F) ::= subject(S) not(N) BETWEEN two(V). {
    F = parse_compare(parse, &S, N ? PAUA_NOT_BETWEEN : PAUA_BETWEEN, &V);
}
factor(F) ::= subject(S) not(N) LIKE pattern(V). {
    F = parse_compare(parse, &S, N ? PAUA_NOT_LIKE : PAUA_LIKE, &V);
}
factor(F) ::= subject(S) IS not(N) NULL. {
    struct values none = {NULL, NULL, 0};

    F = parse_compare(parse, &S, N ? PAUA_IS_NOT_NULL : PAUA_IS_NULL, &none);
}
factor(F) ::= subject(S) not(N) contain(O) LP list(V) RP. {
    /* Each operator is followed by its negation. */
    F = parse_compare(parse, &S, (paua_op)((int)O + (N ? 1 : 0)), &V);
}

not(N) ::= . { N = false; }
not(N) ::= NOT. { N = true; }
contain(O) ::= CONTAIN_ALL. { O = PAUA_CONTAIN_ALL; }
contain(O) ::= CONTAIN_ANY. { O = PAUA_CONTAIN_ANY; }
operator(O) ::= EQ. { O = PAUA_EQ; }
operator(O) ::= NE. { O = PAUA_NE; }
operator(O) ::= LT. { O = PAUA_LT; }
operator(O) ::= LE. { O = PAUA_LE; }
operator(O) ::= GT. { O = PAUA_GT; }
operator(O) ::= GE. { O = PAUA_GE; }

subject(S) ::= name(N). { S = (struct subject){N, false}; }
subject(S) ::= ARRAY_LENGTH LP name(N) RP. { S = (struct subject){N, true}; }
name(N) ::= NAME(T). { N = T; }
name(N) ::= QUOTED(T). { N = parse_name(parse, &T); }

one(L) ::= value(V). { L = values_add(parse, (struct values){NULL, NULL, 0}, &V); }
two(L) ::= one(M) AND value(V). { L = values_add(parse, M, &V); }
some(L) ::= one(M). { L = M; }
some(L) ::= some(M) COMMA value(V). { L = values_add(parse, M, &V); }
list(L) ::= . { L = (struct values){NULL, NULL, 0}; }
list(L) ::= some(M). { L = M; }
pattern(L) ::= one(M). { L = M; }
pattern(L) ::= one(M) ESCAPE value(V). { L = values_add(parse, M, &V); }

value(V) ::= STRING(T). { V = parse_string(&T); }
value(V) ::= BYTES(T). { V = parse_bytes(parse, &T); }
value(V) ::= TIMESTAMP STRING(T). { V = parse_timestamp(parse, &T); }
value(V) ::= NULL(T). { V = parse_word(&T, PAUA_TYPE_NULL, false); }
value(V) ::= TRUE(T). { V = parse_word(&T, PAUA_TYPE_BOOL, true); }
value(V) ::= FALSE(T). { V = parse_word(&T, PAUA_TYPE_BOOL, false); }
value(V) ::= NUMBER(T). { V = parse_number(parse, &T, false); }
value(V) ::= PLUS NUMBER(T). { V = parse_number(parse, &T, false); }
value(V) ::= MINUS(S) NUMBER(T). { V = parse_number(parse, &T, true); V.place = S.place; }
value(V) ::= NAN(T). { V = parse_double(&T, (double)__builtin_nanf("")); }
value(V) ::= PLUS NAN(T). { V = parse_double(&T, (double)__builtin_nanf("")); }
value(V) ::= MINUS(S) NAN. { V = parse_double(&S, -(double)__builtin_nanf("")); }
value(V) ::= INF(T). { V = parse_double(&T, (double)__builtin_inff()); }
value(V) ::= PLUS INF(T). { V = parse_double(&T, (double)__builtin_inff()); }
value(V) ::= MINUS(S) INF. { V = parse_double(&S, -(double)__builtin_inff()); }

%code {
static const char a_field[] = "a field", a_value[] = "a value", a_comparison[] = "a comparison";

static const char *description(int code)
{
    static const char *const descriptions[] = {
        [TOKEN_NAME] = a_field, [TOKEN_QUOTED] = a_field, [TOKEN_ARRAY_LENGTH] = a_field,
        [TOKEN_NUMBER] = a_value, [TOKEN_STRING] = a_value, [TOKEN_BYTES] = a_value,
        [TOKEN_TIMESTAMP] = a_value, [TOKEN_TRUE] = a_value, [TOKEN_FALSE] = a_value,
        [TOKEN_NAN] = a_value, [TOKEN_INF] = a_value, [TOKEN_PLUS] = a_value,
        [TOKEN_MINUS] = a_value, [TOKEN_NULL] = "NULL", [TOKEN_EQ] = a_comparison,
        [TOKEN_NE] = a_comparison, [TOKEN_LT] = a_comparison, [TOKEN_LE] = a_comparison,
        [TOKEN_GT] = a_comparison, [TOKEN_GE] = a_comparison, [TOKEN_NOT] = "NOT",
        [TOKEN_IN] = "IN", [TOKEN_BETWEEN] = "BETWEEN", [TOKEN_LIKE] = "LIKE",
        [TOKEN_ESCAPE] = "ESCAPE", [TOKEN_IS] = "IS", [TOKEN_CONTAIN_ALL] = "CONTAIN_ALL",
        [TOKEN_CONTAIN_ANY] = "CONTAIN_ANY", [TOKEN_LP] = "\"(\"", [TOKEN_RP] = "\")\"",
        [TOKEN_COMMA] = "\",\"", [TOKEN_AND] = "AND", [TOKEN_OR] = "OR", [0] = "the end"};

    return descriptions[code];
}

/* Would the parser shift this token, after the reductions that it asks for? Pops states off the
 * parser's stack in thought, and pushes onto one of its own, which never holds more than one state
 * and one of an empty rule. */
static bool accepts(const yyParser *parser, YYCODETYPE code)
{
    const yyStackEntry *top = parser->yytos;
    YYACTIONTYPE pushed[4], state = top->stateno;
    size_t count = 0;

    for (;;) {
        YYACTIONTYPE action = yy_find_shift_action(code, state);
        size_t popped;

        if (action < YY_MIN_REDUCE) return action != YY_ERROR_ACTION && action != YY_NO_ACTION;
        popped = (size_t)-yyRuleInfoNRhs[action - YY_MIN_REDUCE];
        for (; popped > 0 && count > 0; popped--)
            count--;
        top -= popped;
        state = yy_find_reduce_action(count > 0 ? pushed[count - 1] : top->stateno,
                                      yyRuleInfoLhs[action - YY_MIN_REDUCE]);
        pushed[count++] = state;
    }
}

static void wanted_add(const char *wanted[GRAMMAR_WANTED_MAX], size_t *count, int code)
{
    const char *what = description(code);

    for (size_t i = 0; i < *count; i++)
        if (wanted[i] == what || (code == TOKEN_NULL && wanted[i] == description(TOKEN_NUMBER)))
            return;
    if (*count < GRAMMAR_WANTED_MAX) wanted[(*count)++] = what;
}

size_t grammar_wanted(const void *parser, const char *wanted[GRAMMAR_WANTED_MAX])
{
    size_t count = 0;

    for (int i = 1; i <= YYNTOKEN; i++) {
        int code = i % YYNTOKEN; /* the end comes last */

        if (accepts(parser, (YYCODETYPE)code)) wanted_add(wanted, &count, code);
    }
    return count;
}

void *grammar_new(void) { return grammarAlloc(mem_alloc); }

void grammar_free(void *parser)
{
    if (parser != NULL) grammarFree(parser, mem_free);
}

void grammar_feed(void *parser, int code, const struct token *token, struct parse *parse)
{
    if (accepts(parser, (YYCODETYPE)code))
        grammar(parser, code, *token, parse);
    else
        parse_unexpected(parse, parser, code, token);
}
}
