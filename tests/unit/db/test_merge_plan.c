/* test_merge_plan.c - what is worth merging, on views made of nothing but counts. */
#include "support/support.h"

#include "db/merge.h"

#define SEGMENTS_MAX 24u

struct counts {
    uint32_t rows, dead; /* dead: the first so many; rows 0: the end */
};

struct expected {
    enum merge_policy policy;
    uint32_t from;
    struct counts segments[SEGMENTS_MAX];
    uint32_t first, count;
};

struct fake {
    struct schema schema;
    struct segment segments[SEGMENTS_MAX];
    struct part_data parts[SEGMENTS_MAX], *part_pointers[SEGMENTS_MAX];
    struct deleted deleted[SEGMENTS_MAX];
    uint32_t zero;
};

static struct view *fake_view(struct fake *f, const struct counts *counts)
{
    struct view *view;
    uint32_t n = 0;

    *f = (struct fake){0};
    f->schema.field_count = 1;
    f->schema.fields[0] = (struct schema_field){.name = "v",
                                                .dim = 4096,
                                                .metric = PAUA_L2,
                                                .precision = PAUA_FP32,
                                                .originals = PAUA_ORIGINALS_FP32};
    while (n < SEGMENTS_MAX && counts[n].rows > 0)
        n++;
    view = view_new(&f->schema, NULL, n);
    assert_non_null(view);
    for (uint32_t i = 0; i < n; i++) {
        f->parts[i].part.row_count = counts[i].rows;
        f->part_pointers[i] = &f->parts[i];
        f->segments[i].schema = &f->schema;
        f->segments[i].rows = counts[i].rows;
        f->segments[i].manifest.part_count = 1;
        f->segments[i].parts = &f->part_pointers[i];
        f->segments[i].first_positions = &f->zero;
        view->segments[i].segment = &f->segments[i];
        if (counts[i].dead == 0) continue;
        f->deleted[i].set = roaring_bitmap_from_range(0, counts[i].dead, 1);
        f->deleted[i].count = counts[i].dead;
        view->segments[i].deleted = &f->deleted[i];
    }
    return view;
}

static void fake_free(struct fake *f, struct view *view)
{
    for (uint32_t i = 0; i < view->segment_count; i++)
        if (f->deleted[i].set != NULL) roaring_bitmap_free(f->deleted[i].set);
    view->segment_count = 0;
    view_unref(view);
}

#define S16K                                                                                       \
    {                                                                                              \
        16384, 0                                                                                   \
    }

static void the_plan_is_the_one_that_the_policy_describes(void **state)
{
    static const struct expected table[] = {
        {MERGE_ALL, 0, {{0, 0}}, 0, 0},                    /* nothing there */
        {MERGE_ALL, 0, {{100, 0}}, 0, 0},                  /* one whole segment */
        {MERGE_ALL, 0, {{100, 25}}, 0, 0},                 /* a quarter dead is not over it */
        {MERGE_ALL, 0, {{100, 26}}, 0, 1},                 /* over a quarter */
        {MERGE_ALL, 0, {{100, 0}, {1, 0}}, 0, 2},          /* all into one */
        {MERGE_ALL, 1, {{100, 0}, {1, 0}}, 0, 0},          /* dealt with */
        {MERGE_ALL, 0, {{4000000, 0}, {300000, 0}}, 0, 0}, /* too many for one */
        {MERGE_ALL, 0, {{4000000, 0}, {9, 0}, {194294, 0}, {5, 0}}, 0, 3},
        {MERGE_ALL, 0, {{4194303, 0}, {5, 0}, {6, 0}}, 1, 2},
        {MERGE_BACKGROUND, 0, {{100, 50}}, 0, 0}, /* half dead is not over it */
        {MERGE_BACKGROUND, 0, {{100, 51}}, 0, 1},
        {MERGE_BACKGROUND, 0, {S16K, S16K, S16K, S16K, S16K, S16K, S16K}, 0, 0},
        {MERGE_BACKGROUND, 0, {S16K, S16K, S16K, S16K, S16K, S16K, S16K, S16K}, 0, 8},
        {MERGE_BACKGROUND,
         0,
         {{131072, 0}, S16K, S16K, S16K, S16K, S16K, S16K, S16K, S16K},
         0,
         8}, /* the first is of a higher level: the run may begin with it */
        {MERGE_BACKGROUND, 0, {{131072, 0}, {131072, 0}, S16K, S16K, S16K}, 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        static struct fake fake;
        struct view *view = fake_view(&fake, table[i].segments);
        uint32_t first = 77, count = 77;

        merge_plan(view, table[i].policy, table[i].from, &first, &count);
        if (first != table[i].first || count != table[i].count)
            fail_msg("case %zu: first %u, count %u", i, first, count);
        fake_free(&fake, view);
    }
}

static void a_background_merge_never_passes_the_rows_of_a_segment(void **state)
{
    static const struct counts big[SEGMENTS_MAX] = {{1048576, 0}, {1048576, 0}, {1048576, 0},
                                                    {1048576, 0}, {1048576, 0}, {1048576, 0},
                                                    {1048576, 0}, {1048576, 0}};
    static struct fake fake;
    struct view *view = fake_view(&fake, big);
    uint32_t first, count;

    (void)state;
    merge_plan(view, MERGE_BACKGROUND, 0, &first, &count);
    assert_int_equal(count, 0);
    fake_free(&fake, view);
}

/* Cuts all segments of a view; the cut takes over the view. */
static void cut(struct merge *m, struct fake *f, const struct counts *counts)
{
    *m = (struct merge){.view = fake_view(f, counts)};
    m->count = m->view->segment_count;
    assert_ok(merge_cut(m, MERGE_ALL, &test_err));
}

static void cut_free(struct merge *m, struct fake *f)
{
    struct view *view = m->view;

    m->view = NULL;
    merge_free(m);
    fake_free(f, view);
}

/* A row has 16 KiB here: 512 rows are not small. */
static void parts_with_few_dead_rows_are_kept_and_others_rewritten(void **state)
{
    static const struct counts counts[SEGMENTS_MAX] = {{1000, 100}, {1000, 300}, {1000, 0}};
    static struct fake fake;
    struct merge m;

    (void)state;
    cut(&m, &fake, counts);
    assert_int_equal(m.piece_count, 3);
    assert_false(m.pieces[0].rewrite);
    assert_int_equal(m.pieces[0].count, 1000); /* dead rows and all */
    assert_true(m.pieces[1].rewrite);
    assert_int_equal(m.pieces[1].count, 700);
    assert_int_equal(m.pieces[1].first_new, 1000);
    assert_int_equal(m.pieces[1].positions[0], 300);
    assert_int_equal(m.pieces[1].positions[699], 999);
    assert_false(m.pieces[2].rewrite);
    assert_int_equal(m.rows, 2700);
    cut_free(&m, &fake);
}

static void small_neighbours_are_rewritten_together(void **state)
{
    static const struct counts counts[SEGMENTS_MAX] = {{100, 0}, {100, 1}, {1000, 0}, {100, 0}};
    static struct fake fake;
    struct merge m;

    (void)state;
    cut(&m, &fake, counts);
    assert_true(m.pieces[0].rewrite && m.pieces[1].rewrite);
    assert_false(m.pieces[2].rewrite || m.pieces[3].rewrite);
    assert_int_equal(m.pieces[0].count, 100);
    assert_int_equal(m.pieces[1].count, 99);
    assert_int_equal(m.rows, 1299);
    cut_free(&m, &fake);
}

static void each_new_row_has_one_origin_and_dead_parts_have_none(void **state)
{
    static const struct counts counts[SEGMENTS_MAX] = {{600, 0}, {50, 50}, {700, 400}, {600, 1}};
    static struct fake fake;
    struct merge m;
    uint32_t position, segment = 0, last = 0;

    (void)state;
    cut(&m, &fake, counts);
    assert_int_equal(m.rows, 600 + 0 + 300 + 600);
    for (uint32_t row = 0; row < m.rows; row++) {
        const struct piece *piece = merge_origin(&m, row, &position);

        assert_true(piece->count > 0 && position < counts[piece->segment].rows);
        assert_true(row == 0 || piece->segment > segment ||
                    (piece->segment == segment && position > last));
        assert_true(piece->segment != 2 || position >= 400);
        assert_true(piece->segment != 1);
        segment = piece->segment;
        last = position;
    }
    cut_free(&m, &fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_plan_is_the_one_that_the_policy_describes),
        cmocka_unit_test(a_background_merge_never_passes_the_rows_of_a_segment),
        cmocka_unit_test(parts_with_few_dead_rows_are_kept_and_others_rewritten),
        cmocka_unit_test(small_neighbours_are_rewritten_together),
        cmocka_unit_test(each_new_row_has_one_origin_and_dead_parts_have_none),
    };

    return cmocka_run_group_tests_name("db/merge_plan", tests, NULL, NULL);
}
