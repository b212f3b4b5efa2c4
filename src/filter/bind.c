/* bind.c - a filter's tree, bound to fields, becomes a plan of tests in negation normal form.
 *
 * NOT       goes down to the comparisons, where it turns one operator into another: De Morgan's
 *           laws hold in SQL's three-valued logic, and a comparison and its opposite are both not
 *           true where one of their sides is NULL. So only "true" has to be kept of each node.
 * Folding   What can be told without looking at rows (NULL literals, numbers that a type does not
 *           have, fields that do not exist) leaves ALL and ANY, or decides them.
 * Merging   Tests of one field that stand beside each other become one (merge.c).
 * Order     Children of ALL and ANY run cheap ones first, as either may end early.
 * Cost      O(n log n) in the text; recursion is as deep as the filter, which is limited.
 * Rejected  A bitmap of the unknown rows beside that of the true ones: twice the memory and work
 *           for what pushing NOT down gives for nothing. */
#include "filter/bind.h"

#include <assert.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "filter/near.h"

struct bind {
    struct bound_filter *bound;
    const struct filter_fields *fields;
    bool unknown_is_null;
    paua_error *err;
};

/* ---- steps ---- */

static struct step *step_new(struct arena *arena, enum step_kind kind)
{
    struct step *step = arena_alloc(arena, sizeof *step);

    if (step != NULL) *step = (struct step){.kind = kind};
    return step;
}

struct step *step_constant(const struct binding *binding, bool every)
{
    return step_new(binding->arena, every ? STEP_EVERY : STEP_NONE);
}

struct step *step_test(const struct binding *binding, const struct column_test *test, uint32_t cost)
{
    struct step *step = step_new(binding->arena, STEP_TEST);

    if (step == NULL) return NULL;
    step->field = binding->field.id;
    step->cost = cost;
    step->as.test = *test;
    return step;
}

struct step *step_not_null(const struct binding *binding)
{
    return step_test(binding, &(struct column_test){.kind = TEST_NOT_NULL}, COST_NULL);
}

/* Children of a step that combines, in an array. */
struct children {
    struct step **items;
    size_t count;
    size_t capacity;
};

static int by_cost(const void *a, const void *b)
{
    const struct step *x = *(struct step *const *)a, *y = *(struct step *const *)b;

    return (x->cost > y->cost) - (x->cost < y->cost);
}

/* ALL or ANY of children, none of which is a constant; NULL when out of memory. */
static struct step *step_combine(struct arena *arena, enum step_kind kind,
                                 struct children *children)
{
    struct step *step;
    uint32_t first;

    if (!steps_merge(arena, kind, children->items, &children->count)) return NULL;
    for (size_t i = 0; i < children->count; i++)
        if (children->items[i]->kind == STEP_NONE) return children->items[i];
    if (children->count == 0) return step_new(arena, kind == STEP_ALL ? STEP_EVERY : STEP_NONE);
    if (children->count == 1) return children->items[0];
    step = step_new(arena, kind);
    if (step == NULL) return NULL;
    qsort(children->items, children->count, sizeof children->items[0], by_cost);
    first = children->items[0]->temporary;
    for (size_t i = children->count; i > 0; i--) {
        struct step *child = children->items[i - 1];

        child->next = step->as.first;
        step->as.first = child;
        if (__builtin_add_overflow(step->cost, child->cost, &step->cost)) step->cost = UINT32_MAX;
        if (i > 1 && child->temporary + 1 > step->temporary) step->temporary = child->temporary + 1;
    }
    if (first > step->temporary) step->temporary = first;
    return step;
}

struct step *step_any(const struct binding *binding, struct step *a, struct step *b)
{
    struct step *items[] = {a, b};

    if (a->kind == STEP_NONE) return b;
    if (b->kind == STEP_NONE) return a;
    return step_combine(binding->arena, STEP_ANY, &(struct children){items, 2, 2});
}

/* ---- comparisons ---- */

paua_op binding_op(const struct binding *binding)
{
    static const paua_op opposite[] = {
        [PAUA_EQ] = PAUA_NE,
        [PAUA_NE] = PAUA_EQ,
        [PAUA_LT] = PAUA_GE,
        [PAUA_LE] = PAUA_GT,
        [PAUA_GT] = PAUA_LE,
        [PAUA_GE] = PAUA_LT,
        [PAUA_LIKE] = PAUA_NOT_LIKE,
        [PAUA_NOT_LIKE] = PAUA_LIKE,
        [PAUA_IN] = PAUA_NOT_IN,
        [PAUA_NOT_IN] = PAUA_IN,
        [PAUA_BETWEEN] = PAUA_NOT_BETWEEN,
        [PAUA_NOT_BETWEEN] = PAUA_BETWEEN,
        [PAUA_IS_NULL] = PAUA_IS_NOT_NULL,
        [PAUA_IS_NOT_NULL] = PAUA_IS_NULL,
        [PAUA_CONTAIN_ALL] = PAUA_NOT_CONTAIN_ALL,
        [PAUA_NOT_CONTAIN_ALL] = PAUA_CONTAIN_ALL,
        [PAUA_CONTAIN_ANY] = PAUA_NOT_CONTAIN_ANY,
        [PAUA_NOT_CONTAIN_ANY] = PAUA_CONTAIN_ANY,
    };
    paua_op op = binding->compare->op;

    return binding->negated ? opposite[op] : op;
}

static const char *type_phrase(uint16_t type)
{
    switch (type) {
    case PAUA_TYPE_BOOL:
        return "a boolean";
    case PAUA_TYPE_STRING:
        return "a string";
    case PAUA_TYPE_BYTES:
        return "bytes";
    case PAUA_TYPE_TIMESTAMP:
        return "a timestamp";
    default:
        return "a number";
    }
}

paua_status binding_mismatch(const struct binding *binding, const struct literal *literal)
{
    char name[EXCERPT_NBYTES], value[EXCERPT_NBYTES];

    name_excerpt(binding->compare->name, binding->compare->name_nbytes, name);
    literal_excerpt(literal, value);
    return place_error(binding->err, literal->place, "field %s is of type %s; %s is %s", name,
                       type_name(binding->field.type), value, type_phrase(literal->value.type));
}

paua_status binding_operator_mismatch(const struct binding *binding)
{
    char name[EXCERPT_NBYTES];

    name_excerpt(binding->compare->name, binding->compare->name_nbytes, name);
    return place_error(binding->err, binding->compare->place,
                       "field %s is of type %s, which has no %s%s", name,
                       type_name(binding->field.type), op_name(binding->compare->op),
                       type_is_array(binding->field.type)
                           ? "; arrays have CONTAIN_ALL, CONTAIN_ANY, IS NULL and array_length()"
                           : "");
}

static paua_status unknown_field(const struct bind *bind, const struct compare *compare)
{
    char name[EXCERPT_NBYTES], near[NEAR_NBYTES];

    name_excerpt(compare->name, compare->name_nbytes, name);
    near_names(bind->fields, compare->name, compare->name_nbytes, near);
    return place_error(bind->err, compare->place, "there is no field %s%s", name, near);
}

/* A comparison with a field that no row has. */
static struct step *absent_step(const struct binding *binding)
{
    return step_constant(binding, binding_op(binding) == PAUA_IS_NULL);
}

static paua_status bind_compare(struct bind *bind, const struct compare *compare, bool negated,
                                struct step **step)
{
    struct binding binding = {
        .arena = &bind->bound->arena, .compare = compare, .negated = negated, .err = bind->err};
    bool null = compare->op == PAUA_IS_NULL || compare->op == PAUA_IS_NOT_NULL;
    struct column_test test = {.kind = TEST_NULL};
    uint32_t type;

    if (!bind->fields->find(bind->fields->arg, compare->name, compare->name_nbytes,
                            &binding.field)) {
        if (!bind->unknown_is_null) return unknown_field(bind, compare);
        *step = absent_step(&binding);
        return *step != NULL ? PAUA_OK : error_set_nomem(bind->err);
    }
    type = binding.field.type;
    if (compare->length && !type_is_array(type)) {
        char name[EXCERPT_NBYTES];

        name_excerpt(compare->name, compare->name_nbytes, name);
        return place_error(bind->err, compare->place,
                           "field %s is of type %s; array_length() is for arrays", name,
                           type_name(type));
    }
    if (null) {
        if (binding_op(&binding) == PAUA_IS_NOT_NULL) test.kind = TEST_NOT_NULL;
        *step = step_test(&binding, &test, COST_NULL);
        return *step != NULL ? PAUA_OK : error_set_nomem(bind->err);
    }
    if (type_is_array(type)) return bind_array(&binding, step);
    return type_is_number(type) ? bind_number(&binding, step) : bind_bytes(&binding, step);
}

/* ---- nodes ---- */

static paua_status bind_node(struct bind *bind, const struct node *node, bool negated,
                             struct step **step);

static paua_status bind_children(struct bind *bind, const struct node *node, bool negated,
                                 struct step **step)
{
    bool all = (node->kind == NODE_ALL) != negated;
    enum step_kind decides = all ? STEP_NONE : STEP_EVERY,
                   adds_nothing = all ? STEP_EVERY : STEP_NONE;
    struct children children = {0};
    struct step *decided = NULL;
    paua_status status = PAUA_OK;

    /* All are bound, also when one has decided: a mistake in any of them is told. */
    for (const struct node *child = node->as.first; child != NULL; child = child->next) {
        struct step *made;

        status = bind_node(bind, child, negated, &made);
        if (status != PAUA_OK) goto done;
        if (made->kind == decides) decided = made;
        if (decided != NULL || made->kind == adds_nothing) continue;
        if (mem_grow((void **)&children.items, &children.capacity, children.count + 1,
                     sizeof *children.items) != 0) {
            status = error_set_nomem(bind->err);
            goto done;
        }
        children.items[children.count++] = made;
    }
    if (decided == NULL)
        decided = step_combine(&bind->bound->arena, all ? STEP_ALL : STEP_ANY, &children);
    if (decided == NULL)
        status = error_set_nomem(bind->err);
    else
        *step = decided;
done:
    mem_free(children.items);
    return status;
}

static paua_status bind_node(struct bind *bind, const struct node *node, bool negated,
                             struct step **step)
{
    bool every = (node->kind == NODE_TRUE) != negated;

    switch (node->kind) {
    case NODE_TRUE:
    case NODE_FALSE:
        *step = step_new(&bind->bound->arena, every ? STEP_EVERY : STEP_NONE);
        return *step != NULL ? PAUA_OK : error_set_nomem(bind->err);
    case NODE_COMPARE:
        return bind_compare(bind, &node->as.compare, negated, step);
    case NODE_NOT:
        return bind_node(bind, node->as.first, !negated, step);
    default:
        return bind_children(bind, node, negated, step);
    }
}

/* ---- the fields that are read ---- */

/* Adds the fields below a step to fields, unless it is NULL; their number. */
static uint32_t collect(const struct step *step, uint32_t *fields, uint32_t count)
{
    if (step->kind == STEP_TEST) {
        if (fields != NULL) fields[count] = step->field;
        return count + 1;
    }
    if (step->kind != STEP_ALL && step->kind != STEP_ANY) return count;
    for (const struct step *child = step->as.first; child != NULL; child = child->next)
        count = collect(child, fields, count);
    return count;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static paua_status collect_fields(struct bound_filter *bound, paua_error *err)
{
    uint32_t count = collect(bound->root, NULL, 0);

    bound->fields = arena_alloc(&bound->arena, count * sizeof *bound->fields);
    if (bound->fields == NULL) return error_set_nomem(err);
    collect(bound->root, bound->fields, 0);
    if (count > 1) qsort(bound->fields, count, sizeof *bound->fields, by_number);
    for (uint32_t i = 0; i < count; i++)
        if (bound->field_count == 0 || bound->fields[bound->field_count - 1] != bound->fields[i])
            bound->fields[bound->field_count++] = bound->fields[i];
    return PAUA_OK;
}

uint32_t bound_filter_field(const struct bound_filter *bound, uint32_t i)
{
    return i < bound->field_count ? bound->fields[i] : UINT32_MAX;
}

void bound_filter_free(struct bound_filter *bound)
{
    if (bound != NULL) arena_free(&bound->arena);
    mem_free(bound);
}

paua_status filter_bind(const paua_filter *filter, const struct filter_fields *fields,
                        bool unknown_is_null, struct bound_filter **bound, paua_error *err)
{
    struct bind bind = {.fields = fields, .unknown_is_null = unknown_is_null, .err = err};
    paua_status status;

    assert(filter != NULL && fields->find != NULL);
    bind.bound = mem_zalloc(1, sizeof *bind.bound);
    if (bind.bound == NULL) return error_set_nomem(err);
    status = bind_node(&bind, filter->root, false, &bind.bound->root);
    if (status == PAUA_OK) status = collect_fields(bind.bound, err);
    if (status != PAUA_OK) {
        bound_filter_free(bind.bound);
        return status;
    }
    *bound = bind.bound;
    return PAUA_OK;
}
