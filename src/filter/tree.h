/* tree.h - a filter as it is held: a tree of conditions, and where in the text they stood. */
#ifndef PAUA_FILTER_TREE_H
#define PAUA_FILTER_TREE_H

#include <paua/paua.h>

#include "base/arena.h"
#include "filter/filter.h"

/* Where something stands in a filter's text, from 1, in characters. line 0: not from text. */
struct place {
    uint32_t line;
    uint32_t column;
};

/* A value of one of the types NULL, BOOL, INT64, UINT64 (above INT64_MAX only), DOUBLE, TIMESTAMP,
 * STRING and BYTES. */
struct literal {
    paua_value value;
    struct place place;
};

enum node_kind { NODE_TRUE, NODE_FALSE, NODE_COMPARE, NODE_NOT, NODE_ALL, NODE_ANY };

/* A condition on one field, or on the length of its array. */
struct compare {
    const char *name;
    size_t name_nbytes;
    struct place place; /* of the name */
    const struct literal *literals;
    size_t count;
    paua_op op;
    bool length;
};

struct node {
    enum node_kind kind;
    uint32_t nesting;  /* of NOT and parentheses, as text; at most FILTER_DEPTH_MAX */
    struct node *next; /* of the same parent */
    union {
        struct compare compare;
        struct node *first; /* NOT: the only one; ALL and ANY: two or more */
    } as;
};

struct paua_filter {
    struct node *root;
    struct arena arena;        /* the nodes that this filter made */
    struct paua_filter *taken; /* filters whose nodes it uses too */
    struct paua_filter *next;  /* in such a list */
    bool listed;               /* while filters are combined */
};

/* Does a node stand in parentheses, as text, in one of this kind? */
bool node_in_parens(enum node_kind parent, const struct node *child);
/* The nesting of a node with this child. NULL: of one that could not be made. */
uint32_t node_nesting(enum node_kind parent, const struct node *child);

/* Does a comparison have the values that its operator takes? PAUA_EINVAL. Types that depend on the
 * field are binding's business. */
paua_status compare_check(const struct compare *compare, paua_error *err);

/* PAUA_EINVAL with "line L, column C: " before the message, if the place is one. */
paua_status place_error(paua_error *err, struct place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "NOT BETWEEN" ...; static. */
const char *op_name(paua_op op);

/* A literal as text, cut to what fits a message. */
#define EXCERPT_NBYTES 64u
void literal_excerpt(const struct literal *literal, char excerpt[EXCERPT_NBYTES]);
/* Text between double quotes, unless it begins with a quote, cut likewise. */
void text_excerpt(const char *text, size_t nbytes, char excerpt[EXCERPT_NBYTES]);
void name_excerpt(const char *text, size_t nbytes, char excerpt[EXCERPT_NBYTES]);

#endif
