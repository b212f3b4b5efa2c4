/* test_view.c - places, row ids and parts of a view over segments with gaps, a tail, and dead
 * rows. */
#include "support/support.h"

#include "db/db.h"
#include "db/validate.h"

#define DIM 4u

struct fixture {
    paua_db *db;
    paua_collection *c;
    struct view *view;
};

static void insert(paua_collection *c, uint64_t first, uint64_t n)
{
    float vectors[500 * DIM];

    for (uint64_t i = 0; i < n * DIM; i++)
        vectors[i] = (float)(first * DIM + i);
    test_insert_u64(c, first, n, vectors);
}

/* Keys 1 .. 300: sealed without gaps of 1 .. 200 where every third is dropped, then a kept segment
 * of 201 .. 250 with one dead row, and a tail of 251 .. 300 with one dead row. A row's id is its
 * key, since rows are numbered from 1. */
static void fixture_make(struct fixture *f)
{
    struct test_schema schema = {.dim = DIM, .metric = PAUA_L2};

    f->db = test_open_memory();
    f->c = test_create(f->db, "c", &schema);
    insert(f->c, 1, 200);
    for (uint64_t key = 3; key <= 200; key += 3)
        test_delete_u64(f->c, key);
    assert_ok(paua_optimize(f->c, NULL, &test_err));
    insert(f->c, 201, 50);
    pthread_mutex_lock(&f->c->write_mutex);
    assert_ok(seal_tail(f->c, &test_err));
    pthread_mutex_unlock(&f->c->write_mutex);
    test_delete_u64(f->c, 220);
    insert(f->c, 251, 50);
    test_delete_u64(f->c, 260);
    f->view = collection_peek(f->c);
    assert_int_equal(f->view->segment_count, 2);
}

static void fixture_free(struct fixture *f)
{
    view_unref(f->view);
    paua_collection_close(f->c);
    paua_close(f->db);
}

static bool dropped(uint64_t id) { return id <= 200 && id % 3 == 0; }

static void counts_add_up(void **state)
{
    struct fixture f;

    (void)state;
    fixture_make(&f);
    assert_int_equal(view_sources(f.view), 3);
    assert_int_equal(view_source_rows(f.view, 0), 134);
    assert_int_equal(view_source_rows(f.view, 1), 50);
    assert_int_equal(view_source_rows(f.view, 2), 50);
    assert_int_equal(f.view->live_rows, 232);
    assert_int_equal(f.view->dead_rows, 2);
    assert_null(view_source_deleted(f.view, 0));
    assert_int_equal(roaring_bitmap_get_cardinality(view_source_deleted(f.view, 1)), 1);
    assert_int_equal(roaring_bitmap_get_cardinality(view_source_deleted(f.view, 2)), 1);
    fixture_free(&f);
}

static void row_ids_and_places_are_each_others_inverse(void **state)
{
    struct fixture f;
    uint64_t last = 0;

    (void)state;
    fixture_make(&f);
    for (uint32_t source = 0; source < view_sources(f.view); source++)
        for (uint32_t row = 0; row < view_source_rows(f.view, source); row++) {
            struct place place = {source, row}, back;
            uint64_t id = view_row_id(f.view, place);

            assert_true(id > last);
            assert_false(dropped(id));
            back = view_find_row(f.view, id);
            assert_int_equal(back.source, source);
            assert_int_equal(back.row, row);
            last = id;
        }
    assert_int_equal(last, 300);
    for (uint64_t id = 0; id < 310; id++)
        assert_int_equal(place_is_none(view_find_row(f.view, id)),
                         id == 0 || id > 300 || dropped(id));
    fixture_free(&f);
}

static void a_key_is_found_where_its_row_is_unless_it_is_dead(void **state)
{
    struct writer scratch = {0};
    struct fixture f;

    (void)state;
    fixture_make(&f);
    for (uint64_t key = 0; key < 310; key++) {
        bool live = key >= 1 && key <= 300 && !dropped(key) && key != 220 && key != 260;
        uint8_t bytes[8];
        struct place place;
        float vector[DIM];

        bytes_put(bytes, key, 8);
        assert_ok(view_find(f.view, (struct key){bytes, 8}, &place, &test_err));
        assert_int_equal(place_is_none(place), !live);
        if (!live) continue;
        assert_int_equal(view_row_id(f.view, place), key);
        assert_ok(view_vector(f.view, 0, place, &scratch, vector, &test_err));
        assert_true(vector[0] == (float)(key * DIM));
    }
    writer_free(&scratch);
    fixture_free(&f);
}

static void vectors_come_in_runs_that_end_with_their_part(void **state)
{
    struct writer scratch = {0};
    struct fixture f;
    const uint8_t *bytes;
    uint32_t n = 1000;

    (void)state;
    fixture_make(&f);
    assert_int_equal(view_run(f.view, (struct place){0, 0}, 1000), 134);
    assert_int_equal(view_run(f.view, (struct place){0, 130}, 1000), 4);
    assert_int_equal(view_run(f.view, (struct place){1, 49}, 1000), 1);
    assert_ok(view_vectors(f.view, 0, (struct place){1, 10}, &n, &scratch, &bytes, &test_err));
    assert_int_equal(n, 40);
    writer_free(&scratch);
    fixture_free(&f);
}

static void a_part_with_gaps_knows_which_ids_remain(void **state)
{
    struct fixture f;
    const struct part_data *part;

    (void)state;
    fixture_make(&f);
    part = f.view->segments[0].segment->parts[0];
    assert_non_null(part->ids);
    assert_int_equal(part->part.first_row, 1);
    assert_int_equal(part->part.last_row, 200);
    for (uint64_t id = 0; id < 220; id++)
        assert_int_equal(part_find_row(part, id) == UINT32_MAX, id == 0 || id > 200 || dropped(id));
    for (uint32_t row = 0; row < part->part.row_count; row++)
        assert_int_equal(part_find_row(part, part_row_id(part, row)), row);
    assert_null(f.view->segments[1].segment->parts[0]->ids);
    fixture_free(&f);
}

static void a_segment_of_a_kept_and_a_new_part_finds_rows_of_both(void **state)
{
    struct test_schema schema = {.dim = 2048, .metric = PAUA_L2};
    float *vectors = calloc(1100 * 2048, sizeof vectors[0]);
    struct fixture f = {0};
    const struct segment *segment;

    (void)state;
    assert_non_null(vectors);
    f.db = test_open_memory();
    f.c = test_create(f.db, "c", &schema);
    test_insert_u64(f.c, 1, 1100, vectors); /* more than 8 MiB: not small */
    assert_ok(paua_optimize(f.c, NULL, &test_err));
    test_delete_u64(f.c, 7);
    test_insert_u64(f.c, 1101, 50, vectors);
    assert_ok(paua_optimize(f.c, NULL, &test_err));
    f.view = collection_peek(f.c);
    assert_int_equal(f.view->segment_count, 1);
    segment = f.view->segments[0].segment;
    assert_int_equal(segment->manifest.part_count, 2);
    assert_int_equal(segment->rows, 1150); /* the dead row is kept */
    for (uint64_t id = 1; id <= 1150; id++) {
        struct place place = view_find_row(f.view, id);

        assert_int_equal(place.source, 0);
        assert_int_equal(place.row, id - 1);
        assert_int_equal(view_row_id(f.view, place), id);
    }
    assert_false(test_fetch_u64(f.c, 7, NULL));
    test_validate(f.c);
    free(vectors);
    fixture_free(&f);
}

static void the_view_is_valid(void **state)
{
    struct fixture f;

    (void)state;
    fixture_make(&f);
    test_validate(f.c);
    fixture_free(&f);
}

static void count_problem(void *arg, const char *file, const char *what)
{
    (void)file;
    (void)what;
    ++*(uint32_t *)arg;
}

/* The validator must notice: two live rows of one key. */
static void two_rows_of_one_key_do_not_pass_validation(void **state)
{
    uint32_t problems = 0;
    struct validate v = {.report = count_problem, .arg = &problems};
    struct fixture f;
    struct view *broken;

    (void)state;
    fixture_make(&f);
    { /* row 220 lives again beside a newer one */
        insert(f.c, 220, 1);
        view_unref(f.view);
        f.view = collection_peek(f.c);
    }
    broken = view_copy(f.view);
    deleted_unref(broken->segments[1].deleted);
    broken->segments[1].deleted = NULL;
    assert_int_equal(view_validate(broken, &v), PAUA_OK);
    assert_true(problems > 0);
    view_unref(broken);
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_add_up),
        cmocka_unit_test(row_ids_and_places_are_each_others_inverse),
        cmocka_unit_test(a_key_is_found_where_its_row_is_unless_it_is_dead),
        cmocka_unit_test(vectors_come_in_runs_that_end_with_their_part),
        cmocka_unit_test(a_part_with_gaps_knows_which_ids_remain),
        cmocka_unit_test(a_segment_of_a_kept_and_a_new_part_finds_rows_of_both),
        cmocka_unit_test(the_view_is_valid),
        cmocka_unit_test(two_rows_of_one_key_do_not_pass_validation),
    };

    return cmocka_run_group_tests_name("db/view", tests, NULL, NULL);
}
