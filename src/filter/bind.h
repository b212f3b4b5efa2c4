/* bind.h - filters bound to fields: the plan that runs, and the parts of binding. */
#ifndef PAUA_FILTER_BIND_H
#define PAUA_FILTER_BIND_H

#include "filter/cuts.h"
#include "filter/tree.h"

enum step_kind { STEP_NONE, STEP_EVERY, STEP_TEST, STEP_ALL, STEP_ANY };

/* A node in negation normal form. */
struct step {
    enum step_kind kind;
    uint32_t field;     /* TEST */
    uint32_t cost;      /* about that of a row, in no unit; saturating */
    uint32_t temporary; /* bitmaps needed besides the result's */
    struct step *next;  /* of the same parent, cheap ones first */
    union {
        struct column_test test;
        struct step *first;
    } as;
};

struct bound_filter {
    struct step *root;
    struct arena arena; /* the steps and all that they point to */
    uint32_t *fields;   /* rising */
    uint32_t field_count;
};

/* One comparison being bound. */
struct binding {
    struct arena *arena;
    const struct compare *compare;
    struct filter_field field;
    bool negated;
    paua_error *err;
};

/* The operator as it is under an odd number of NOTs, or not. */
paua_op binding_op(const struct binding *binding);

/* What tests cost. */
enum { COST_NULL = 1, COST_KEYS = 2, COST_SET = 3, COST_BYTES = 4, COST_CALL = 12 };

/* Steps, NULL when out of memory: none or every row (not NULL), and a test of the field. */
struct step *step_constant(const struct binding *binding, bool every);
struct step *step_not_null(const struct binding *binding);
struct step *step_test(const struct binding *binding, const struct column_test *test,
                       uint32_t cost);
struct step *step_any(const struct binding *binding, struct step *a, struct step *b);

/* Merges tests of the same field among the children of an ALL or ANY; *count becomes how many are
 * left, in another order. A child of ALL that can no longer pass becomes STEP_NONE. false: out of
 * memory. */
bool steps_merge(struct arena *arena, enum step_kind kind, struct step **steps, size_t *count);

/* PAUA_EINVAL: this literal cannot be compared with this field, or the operator is not for it. */
paua_status binding_mismatch(const struct binding *binding, const struct literal *literal);
paua_status binding_operator_mismatch(const struct binding *binding);

/* Binds a comparison by the field's type; out-parameter untouched on failure. PAUA_EINVAL,
 * PAUA_ENOMEM. */
paua_status bind_number(const struct binding *binding, struct step **step);
paua_status bind_bytes(const struct binding *binding, struct step **step);
paua_status bind_array(const struct binding *binding, struct step **step);

/* The ranges of keys of `type` for which a comparison with numbers holds; what the literals are is
 * checked. *ranges is in the arena, rising, disjoint, not adjacent. */
paua_status bind_ranges(const struct binding *binding, uint32_t type,
                        const struct key_range **ranges, size_t *count);

/* A literal, which is not NULL, among the keys of `type`. PAUA_EINVAL. */
paua_status binding_cut(const struct binding *binding, uint32_t type, const struct literal *literal,
                        struct cuts *cuts);

/* Puts byte strings in order and leaves repeated ones out; the number that is left. */
size_t bytes_sort(paua_bytes *items, size_t count);

/* Puts ranges in order and joins those that meet; the number that is left. */
size_t ranges_join(struct key_range *ranges, size_t count);

/* Replaces ranges, rising and disjoint, by what `all` has besides; their number. There is room for
 * one more. */
size_t ranges_complement(struct key_range *ranges, size_t count, struct key_range all);

/* Does a key lie in one of them? */
bool ranges_hold(const struct key_range *ranges, size_t count, uint64_t key);

#endif
