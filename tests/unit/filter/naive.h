/* naive.h - filters evaluated as SQL says, one row at a time, without anything clever; and fields,
 * rows and filters made at random for it. */
#ifndef PAUA_TESTS_FILTER_NAIVE_H
#define PAUA_TESTS_FILTER_NAIVE_H

#include "filter/tree.h"

enum tri { TRI_FALSE, TRI_TRUE, TRI_UNKNOWN };

/* Fields of every type, and arrays: the field with id i is FIELDS[i]. */
struct test_field {
    const char *name;
    uint32_t type;
};
#define FIELD_COUNT 21u
extern const struct test_field FIELDS[FIELD_COUNT];
extern const struct filter_fields TEST_FIELDS;

enum tri naive_node(const struct node *node, const paua_value row[FIELD_COUNT]);

struct random {
    uint64_t state; /* not 0 */
};
/* From 0 to below n. */
uint32_t random_below(struct random *random, uint32_t n);

/* A value, or NULL, that a field may have; arrays are made in the arena. */
paua_value random_value(struct random *random, uint32_t type, struct arena *arena);
/* A condition on one field that its type has; on any, of a few levels. */
paua_filter *random_compare(struct random *random, uint32_t field);
paua_filter *random_filter(struct random *random, uint32_t levels);

#endif
