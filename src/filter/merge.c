/* merge.c - tests of one field that stand beside each other become one test.
 *
 * a = 1 OR a = 2 OR ... is what a IN (1, 2, ...) is: one scan of the column, not one for each; and
 * a >= 1 AND a < 5 is one range. A test passes no row whose value is NULL, so a row passes any, or
 * all, of some tests of a field exactly if its value is in the union, or the intersection, of what
 * they let pass: three-valued logic asks for nothing more.
 *
 * Unions     of ranges of numbers, and of sets of byte strings, under ANY. Sets of what must not
 *            be are united under ALL.
 * Intersections  under ALL: of numbers, as what is left by the union of the complements, so that
 *            a thousand of a != n take no longer than NOT IN; of byte strings, if they are ranges.
 * Cost       O(n log n) in all that the tests name.
 * Rejected   Doing this to the tree: it is what the user wrote, and text is made of it. */
#include "filter/bind.h"

#include <stdlib.h>
#include <string.h>

static const struct key_range every_key = {0, UINT64_MAX};

/* Can tests like this one be merged under a step of this kind? */
static bool merges(const struct step *step, enum step_kind kind)
{
    if (step->kind != STEP_TEST) return false;
    switch (step->as.test.kind) {
    case TEST_KEYS:
        return true;
    case TEST_SET:
        return step->as.test.negated == (kind == STEP_ALL);
    case TEST_BYTES:
        return kind == STEP_ALL;
    default:
        return false;
    }
}

static int by_field_and_kind(const void *a, const void *b)
{
    const struct step *x = *(struct step *const *)a, *y = *(struct step *const *)b;

    if (x->field != y->field) return x->field < y->field ? -1 : 1;
    return (x->as.test.kind > y->as.test.kind) - (x->as.test.kind < y->as.test.kind);
}

static bool keys_merge(struct arena *arena, enum step_kind kind, struct step **steps, size_t count)
{
    struct column_test *test = &steps[0]->as.test;
    struct key_range *ranges;
    size_t room = 1, n = 0;

    for (size_t i = 0; i < count; i++)
        room += steps[i]->as.test.range_count + 1; /* a complement may have one more */
    ranges = arena_alloc(arena, room * sizeof *ranges);
    if (ranges == NULL) return false;
    for (size_t i = 0; i < count; i++) {
        const struct column_test *other = &steps[i]->as.test;
        size_t added = other->range_count;

        memcpy(ranges + n, other->ranges, added * sizeof *ranges);
        if (kind == STEP_ALL) added = ranges_complement(ranges + n, added, every_key);
        n += added;
    }
    n = ranges_join(ranges, n);
    if (kind == STEP_ALL) n = ranges_complement(ranges, n, every_key);
    test->ranges = ranges;
    test->range_count = n;
    if (n == 0) steps[0]->kind = STEP_NONE;
    return true;
}

static bool sets_unite(struct arena *arena, struct step **steps, size_t count)
{
    struct column_test *test = &steps[0]->as.test;
    size_t room = 0, n = 0;
    paua_bytes *set;

    for (size_t i = 0; i < count; i++)
        room += steps[i]->as.test.set_count;
    set = arena_alloc(arena, room * sizeof *set);
    if (set == NULL) return false;
    for (size_t i = 0; i < count; i++) {
        memcpy(set + n, steps[i]->as.test.set, steps[i]->as.test.set_count * sizeof *set);
        n += steps[i]->as.test.set_count;
    }
    test->set = set;
    test->set_count = bytes_sort(set, n);
    return true;
}

static int compare(const paua_bytes *a, const paua_bytes *b)
{
    return bytes_compare(a->data, a->nbytes, b->data, b->nbytes);
}

/* Narrows a range of byte strings to another. */
static void bytes_narrow(struct column_test *test, const struct column_test *other)
{
    if (other->low.data != NULL) {
        int order = test->low.data == NULL ? 1 : compare(&other->low, &test->low);

        test->low_open = order == 0 ? test->low_open || other->low_open
                                    : (order > 0 ? other->low_open : test->low_open);
        if (order > 0) test->low = other->low;
    }
    if (other->high.data != NULL) {
        int order = test->high.data == NULL ? -1 : compare(&other->high, &test->high);

        test->high_open = order == 0 ? test->high_open || other->high_open
                                     : (order < 0 ? other->high_open : test->high_open);
        if (order < 0) test->high = other->high;
    }
}

static void bytes_intersect(struct step **steps, size_t count)
{
    struct column_test *test = &steps[0]->as.test;
    int order = -1;

    for (size_t i = 1; i < count; i++)
        bytes_narrow(test, &steps[i]->as.test);
    if (test->low.data != NULL && test->high.data != NULL) order = compare(&test->low, &test->high);
    if (order > 0 || (order == 0 && (test->low_open || test->high_open)))
        steps[0]->kind = STEP_NONE;
}

/* Makes one test of steps that are alike: the first. */
static bool alike_merge(struct arena *arena, enum step_kind kind, struct step **steps, size_t count)
{
    if (count == 1) return true;
    switch (steps[0]->as.test.kind) {
    case TEST_KEYS:
        return keys_merge(arena, kind, steps, count);
    case TEST_SET:
        return sets_unite(arena, steps, count);
    default:
        bytes_intersect(steps, count);
        return true;
    }
}

bool steps_merge(struct arena *arena, enum step_kind kind, struct step **steps, size_t *count)
{
    size_t alike = 0, kept = 0;

    if (*count < 2) return true;
    for (size_t i = 0; i < *count; i++) /* those that may be merged to the front */
        if (merges(steps[i], kind)) {
            struct step *step = steps[i];

            steps[i] = steps[alike];
            steps[alike++] = step;
        }
    if (alike > 1) qsort(steps, alike, sizeof steps[0], by_field_and_kind);
    for (size_t i = 0, n; i < alike; i += n) {
        for (n = 1; i + n < alike && by_field_and_kind(&steps[i], &steps[i + n]) == 0;)
            n++;
        if (!alike_merge(arena, kind, steps + i, n)) return false;
        steps[kept++] = steps[i];
    }
    memmove(steps + kept, steps + alike, (*count - alike) * sizeof steps[0]);
    *count -= alike - kept;
    return true;
}
