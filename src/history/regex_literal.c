/* regex_literal.c - text that every match of a regular expression contains.
 *
 * It lets a search skip lines and pages without running the expression. Only what is certain
 * counts: characters that stand at the top level of a pattern without alternatives. Groups, classes
 * and escapes end a run; a pattern with anything that could change what characters mean (inline
 * options, verbs, \Q, \x...) has no run at all. */
#include "history/regex.h"

struct scan {
    const char *pattern;
    size_t nbytes;
    size_t at;
    char run[REGEX_LITERAL_NBYTES_MAX];
    size_t run_nbytes;
    size_t last_nbytes; /* of the character that ends the run; 0: it must not be taken back */
    char *best;
    size_t best_nbytes;
};

static void end_run(struct scan *s)
{
    if (s->run_nbytes > s->best_nbytes) {
        memcpy(s->best, s->run, s->run_nbytes);
        s->best_nbytes = s->run_nbytes;
    }
    s->run_nbytes = 0;
}

static void add(struct scan *s, size_t nbytes)
{
    if (s->run_nbytes + nbytes > sizeof s->run) end_run(s);
    memcpy(s->run + s->run_nbytes, s->pattern + s->at, nbytes);
    s->run_nbytes += nbytes;
    s->last_nbytes = nbytes;
    s->at += nbytes;
}

static size_t character_nbytes(const struct scan *s)
{
    size_t n = 1;

    while (s->at + n < s->nbytes && ((unsigned char)s->pattern[s->at + n] & 0xC0) == 0x80)
        n++;
    return n;
}

/* Behind a class; false if it does not end. */
static bool skip_class(struct scan *s)
{
    s->at++;
    if (s->at < s->nbytes && s->pattern[s->at] == '^') s->at++;
    if (s->at < s->nbytes && s->pattern[s->at] == ']') s->at++;
    for (; s->at < s->nbytes; s->at++) {
        char c = s->pattern[s->at];

        if (c == '[') return false; /* perhaps [:alpha:] */
        if (c == '\\') s->at++;
        if (c == ']') {
            s->at++;
            return true;
        }
    }
    return false;
}

/* Behind a group; false if it is of a kind that may matter outside, or does not end. */
static bool skip_group(struct scan *s)
{
    size_t depth = 0;

    while (s->at < s->nbytes) {
        char c = s->pattern[s->at];

        if (c == '(') {
            if (s->at + 1 < s->nbytes && s->pattern[s->at + 1] == '*') return false;
            if (s->at + 1 < s->nbytes && s->pattern[s->at + 1] == '?' &&
                (s->at + 2 == s->nbytes || s->pattern[s->at + 2] != ':'))
                return false;
            depth++;
        }
        if (c == '[') {
            if (!skip_class(s)) return false;
            continue;
        }
        s->at += c == '\\' ? 2 : 1;
        if (c == ')' && --depth == 0) return true;
    }
    return false;
}

/* An escape at the top level: \. is a character, \d \s \w \b and their opposites are none. */
static bool take_escape(struct scan *s)
{
    char c = s->at + 1 < s->nbytes ? s->pattern[s->at + 1] : '\0';

    if (strchr("dDsSwWbB", c) != NULL && c != '\0') {
        end_run(s);
        s->at += 2;
        return true;
    }
    if (strchr(".\\/-+*?()[]{}|^$\"'#=:,<>!@%&~`;_ ", c) == NULL || c == '\0') return false;
    s->at++;
    add(s, 1);
    return true;
}

/* A quantifier: what may be missing leaves the run. False for a brace that may be none. */
static bool take_quantifier(struct scan *s)
{
    char c = s->pattern[s->at];

    if (c != '+') s->run_nbytes -= s->last_nbytes < s->run_nbytes ? s->last_nbytes : s->run_nbytes;
    end_run(s);
    s->last_nbytes = 0;
    s->at++;
    if (c != '{') return true;
    while (s->at < s->nbytes && strchr("0123456789,", s->pattern[s->at]) != NULL)
        s->at++;
    return s->at < s->nbytes && s->pattern[s->at++] == '}';
}

static bool step(struct scan *s)
{
    char c = s->pattern[s->at];

    if (strchr("*+?{", c) != NULL) return take_quantifier(s);
    if (c == '\\') return take_escape(s);
    if (c == '|' || c == ')') return false;
    if (strchr("([.^$", c) == NULL) {
        add(s, character_nbytes(s));
        return true;
    }
    end_run(s);
    s->last_nbytes = 0;
    if (c == '(') return skip_group(s);
    if (c == '[') return skip_class(s);
    s->at++;
    return true;
}

size_t regex_literal(const char *pattern, size_t nbytes, char *literal)
{
    struct scan s = {.pattern = pattern, .nbytes = nbytes, .best = literal};

    if (memmem(pattern, nbytes, "\\Q", 2) != NULL) return 0;
    while (s.at < nbytes)
        if (pattern[s.at] == '\0' || !step(&s)) return 0;
    end_run(&s);
    return s.best_nbytes;
}
