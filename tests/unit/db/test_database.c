/* test_database.c - opening, closing, listing, dropping; durabilities, handles, forks, backups. */
#include "support/support.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define DIM 2u

static const struct test_schema plain = {.dim = DIM, .metric = PAUA_L2};
static const float zeros[20000 * DIM];

struct fixture {
    struct test_dir dir;
    paua_db *db;
};

static int setup(void **state)
{
    static struct fixture f;

    test_dir_make(&f.dir);
    f.db = test_open(&f.dir);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    paua_close(f->db);
    test_dir_remove(&f->dir);
    return 0;
}

struct names {
    char text[256];
};

static void name_add(void *arg, const char *name)
{
    struct names *names = arg;
    size_t at = strlen(names->text);

    snprintf(names->text + at, sizeof names->text - at, "%s ", name);
}

static void collections_are_listed_by_name(void **state)
{
    struct fixture *f = *state;
    static const char *const created[] = {"pear", "apple", "fig"};
    struct names names = {""};

    assert_ok(paua_collection_list(f->db, name_add, &names, &test_err));
    assert_string_equal(names.text, "");
    for (size_t i = 0; i < 3; i++)
        paua_collection_close(test_create(f->db, created[i], &plain));
    assert_ok(paua_collection_list(f->db, name_add, &names, &test_err));
    assert_string_equal(names.text, "apple fig pear ");
}

static void a_schema_is_the_same_after_reopening(void **state)
{
    struct fixture *f = *state;
    struct test_schema schema = {.key_kind = PAUA_KEY_STRING,
                                 .document = PAUA_DOCUMENT_BYTES,
                                 .dim = 9,
                                 .metric = PAUA_IP,
                                 .precision = PAUA_FP16,
                                 .dim2 = 5};
    const paua_schema *s;
    paua_collection *c;

    paua_collection_close(test_create(f->db, "Größe", &schema));
    paua_close(f->db);
    f->db = test_open(&f->dir);
    assert_ok(paua_collection_open(f->db, "Größe", &c, &test_err));
    assert_string_equal(paua_collection_name(c), "Größe");
    s = paua_collection_schema(c);
    assert_int_equal(s->size, sizeof *s);
    assert_int_equal(s->key_kind, PAUA_KEY_STRING);
    assert_int_equal(s->document, PAUA_DOCUMENT_BYTES);
    assert_int_equal(s->field_count, 2);
    assert_string_equal(s->fields[0].name, "vector");
    assert_int_equal(s->fields[0].dim, 9);
    assert_int_equal(s->fields[0].metric, PAUA_IP);
    assert_int_equal(s->fields[0].precision, PAUA_FP16);
    assert_string_equal(s->fields[1].name, "second");
    assert_int_equal(s->fields[1].dim, 5);
    paua_collection_close(c);
}

static void a_collection_that_exists_is_not_created_again(void **state)
{
    struct fixture *f = *state;
    paua_vector_field field = {
        .name = "other", .dim = 7, .metric = PAUA_IP, .precision = PAUA_FP16};
    paua_schema schema = {.size = sizeof schema, .fields = &field, .field_count = 1};
    paua_collection *c = test_create(f->db, "c", &plain), *again = NULL;

    assert_fails(paua_collection_create(f->db, "c", &schema, &again, &test_err), PAUA_EEXISTS);
    assert_null(again);
    assert_int_equal(paua_collection_schema(c)->fields[0].dim, DIM);
    paua_collection_close(c);
}

static void a_dropped_collection_leaves_nothing_behind(void **state)
{
    struct fixture *f = *state;
    uint64_t before, full;
    paua_collection *c;

    paua_collection_close(test_create(f->db, "kept", &plain));
    before = test_dir_nbytes(&f->dir);
    for (int round = 0; round < 3; round++) {
        c = test_create(f->db, "c", &plain);
        assert_int_equal(test_count(c), 0); /* nothing of the one before */
        test_insert_u64(c, 1, 20000, zeros);
        assert_ok(paua_optimize(c, NULL, &test_err));
        test_insert_u64(c, 50000, 100, zeros);
        test_delete_u64(c, 1);
        assert_fails(paua_collection_drop(f->db, "c", &test_err), PAUA_EBUSY); /* open here */
        paua_collection_close(c);
        full = test_dir_nbytes(&f->dir);
        assert_ok(paua_collection_drop(f->db, "c", &test_err));
        assert_true(test_dir_nbytes(&f->dir) + 20000 * DIM * 4 <= full);
        assert_fails(paua_collection_open(f->db, "c", &c, &test_err), PAUA_ENOTFOUND);
        assert_fails(paua_collection_drop(f->db, "c", &test_err), PAUA_ENOTFOUND);
    }
    assert_true(before > 0);
    assert_ok(paua_check(f->dir.path, NULL, &test_err));
}

static void two_handles_are_one_state(void **state)
{
    struct fixture *f = *state;
    paua_collection *a = test_create(f->db, "c", &plain), *b;

    assert_ok(paua_collection_open(f->db, "c", &b, &test_err));
    test_insert_u64(a, 1, 1, zeros);
    assert_true(test_fetch_u64(b, 1, NULL));
    paua_collection_close(a);
    test_insert_u64(b, 2, 1, zeros);
    assert_int_equal(test_count(b), 2);
    paua_collection_close(b);
}

static void a_second_writer_is_told_who_holds_the_collection(void **state)
{
    struct fixture *f = *state;
    paua_collection *a = test_create(f->db, "c", &plain), *b;
    paua_db *other = test_open(&f->dir);
    uint64_t key = 5;
    paua_vectors v = {zeros, 0};
    paua_rows rows = test_rows(test_u64(&key, 1), &v, NULL);
    char pid[32];

    assert_ok(paua_collection_open(other, "c", &b, &test_err));
    test_insert_u64(a, 1, 1, zeros);
    assert_fails(paua_insert(b, &rows, NULL, NULL, &test_err), PAUA_EBUSY);
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    assert_non_null(strstr(test_err.message, pid));
    assert_fails(paua_optimize(b, NULL, &test_err), PAUA_EBUSY);
    assert_fails(paua_collection_drop(other, "c", &test_err), PAUA_EBUSY);
    assert_true(test_fetch_u64(b, 1, NULL)); /* reading is free */
    paua_collection_close(a);
    test_insert_u64(b, 2, 1, zeros); /* the lock went with the handle */
    assert_int_equal(test_count(b), 2);
    paua_collection_close(b);
    paua_close(other);
}

static void a_read_only_handle_refuses_every_write(void **state)
{
    struct fixture *f = *state;
    paua_open_opts opts = {.size = sizeof opts, .read_only = true};
    paua_collection *c = test_create(f->db, "c", &plain), *made;
    uint64_t key = 5, before;
    paua_vectors v = {zeros, 0};
    paua_vector_field field = {.name = "v", .dim = 1, .metric = PAUA_L2, .precision = PAUA_FP32};
    paua_schema schema = {.size = sizeof schema, .fields = &field, .field_count = 1};
    paua_rows rows = test_rows(test_u64(&key, 1), &v, NULL);
    paua_db *db;

    test_insert_u64(c, 1, 10, zeros);
    paua_collection_close(c);
    before = test_dir_nbytes(&f->dir);
    assert_ok(paua_open(f->dir.path, &opts, &db, &test_err));
    assert_ok(paua_collection_open(db, "c", &c, &test_err));
    assert_fails(paua_insert(c, &rows, NULL, NULL, &test_err), PAUA_EREADONLY);
    assert_fails(paua_upsert(c, &rows, NULL, NULL, &test_err), PAUA_EREADONLY);
    assert_fails(paua_update(c, &rows, NULL, NULL, &test_err), PAUA_EREADONLY);
    assert_fails(paua_delete(c, &rows.keys, NULL, NULL, &test_err), PAUA_EREADONLY);
    assert_fails(paua_optimize(c, NULL, &test_err), PAUA_EREADONLY);
    assert_fails(paua_flush(db, &test_err), PAUA_EREADONLY);
    assert_fails(paua_collection_create(db, "d", &schema, &made, &test_err), PAUA_EREADONLY);
    assert_fails(paua_collection_drop(db, "c", &test_err), PAUA_EREADONLY);
    assert_int_equal(test_count(c), 10);
    paua_collection_close(c);
    paua_close(db);
    assert_int_equal(test_dir_nbytes(&f->dir), before);
}

static void rows_written_under_any_durability_are_there_after_reopening(void **state)
{
    struct fixture *f = *state;
    paua_collection *c = test_create(f->db, "c", &plain);
    uint64_t rows = 0;

    paua_collection_close(c);
    for (int durability = PAUA_FULL; durability <= PAUA_OFF; durability++)
        for (int background = 0; background < 2; background++) {
            paua_open_opts opts = {.size = sizeof opts,
                                   .durability = (paua_durability)durability,
                                   .batch_ms = 1,
                                   .no_background = background == 0};

            paua_close(f->db);
            assert_ok(paua_open(f->dir.path, &opts, &f->db, &test_err));
            assert_ok(paua_collection_open(f->db, "c", &c, &test_err));
            assert_int_equal(test_count(c), rows);
            for (int i = 0; i < 10; i++)
                test_insert_u64(c, rows++, 1, zeros);
            if (background == 1) assert_ok(paua_flush(f->db, &test_err));
            test_insert_u64(c, rows++, 1, zeros);
            paua_collection_close(c);
        }
    paua_close(f->db);
    f->db = test_open(&f->dir);
    assert_ok(paua_collection_open(f->db, "c", &c, &test_err));
    assert_int_equal(test_count(c), rows);
    test_validate(c);
    paua_collection_close(c);
}

static void a_tail_of_16384_rows_seals_itself_and_copies_nothing(void **state)
{
    struct fixture *f = *state;
    paua_collection *c = test_create(f->db, "c", &plain);
    paua_stats stats = {.size = sizeof stats};

    test_insert_u64(c, 1, 16383, zeros);
    assert_ok(paua_collection_stats(c, &stats, &test_err));
    assert_true(stats.segments == 0 && stats.tail_rows == 16383);
    test_insert_u64(c, 16384, 1, zeros);
    assert_ok(paua_collection_stats(c, &stats, &test_err));
    assert_true(stats.segments == 1 && stats.tail_rows == 0);
    test_insert_u64(c, 16385, 1, zeros);
    assert_ok(paua_collection_stats(c, &stats, &test_err));
    assert_true(stats.segments == 1 && stats.tail_rows == 1 && stats.rows == 16385);
    test_validate(c);
    paua_collection_close(c);
    assert_ok(paua_check(f->dir.path, NULL, &test_err));
}

static void in_a_forked_child_every_call_fails(void **state)
{
    struct fixture *f = *state;
    paua_collection *c = test_create(f->db, "c", &plain), *other;
    paua_search_opts search = {.size = sizeof search, .k = 1};
    paua_stats stats = {.size = sizeof stats};
    uint64_t key = 1;
    paua_vectors v = {zeros, 0};
    paua_rows rows = test_rows(test_u64(&key, 1), &v, NULL);
    paua_bytes document;
    const paua_record *record;
    paua_cursor *cursor, *made;
    paua_hits *hits;
    int status = 0;
    pid_t child;

    test_insert_u64(c, 1, 1, zeros);
    assert_ok(paua_iterate(c, NULL, &cursor, &test_err));
    assert_ok(paua_hits_open(&hits, &test_err));
    assert_ok(paua_search(c, zeros, 1, 0, &search, hits, &test_err));
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int wrong = 0;

        wrong += paua_insert(c, &rows, NULL, NULL, NULL) != PAUA_EFORKED;
        wrong += paua_delete(c, &rows.keys, NULL, NULL, NULL) != PAUA_EFORKED;
        wrong += paua_search(c, zeros, 1, 0, &search, hits, NULL) != PAUA_EFORKED;
        wrong += paua_fetch(c, &rows.keys, NULL, &made, NULL) != PAUA_EFORKED;
        wrong += paua_iterate(c, NULL, &made, NULL) != PAUA_EFORKED;
        wrong += paua_cursor_next(cursor, &record, NULL) != PAUA_EFORKED;
        wrong += paua_hits_document(hits, 0, 0, &document, NULL) != PAUA_EFORKED;
        wrong += paua_collection_stats(c, &stats, NULL) != PAUA_EFORKED;
        wrong += paua_optimize(c, NULL, NULL) != PAUA_EFORKED;
        wrong += paua_flush(f->db, NULL) != PAUA_EFORKED;
        wrong += paua_backup(f->db, "/tmp/paua-never-made", NULL, NULL) != PAUA_EFORKED;
        wrong += paua_collection_open(f->db, "c", &other, NULL) != PAUA_EFORKED;
        wrong += paua_collection_drop(f->db, "c", NULL) != PAUA_EFORKED;
        wrong += paua_collection_list(f->db, name_add, NULL, NULL) != PAUA_EFORKED;
        paua_collection_close(c); /* do no harm to the parent's */
        paua_close(f->db);
        _exit(wrong);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    paua_cursor_close(cursor);
    paua_hits_close(hits);
    test_insert_u64(c, 2, 1, zeros); /* the parent goes on */
    assert_int_equal(test_count(c), 2);
    paua_collection_close(c);
}

static void a_child_may_open_the_database_anew(void **state)
{
    struct fixture *f = *state;
    paua_collection *c = test_create(f->db, "c", &plain);
    int status = 0;
    pid_t child;

    test_insert_u64(c, 1, 3, zeros);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        paua_open_opts opts = {.size = sizeof opts, .read_only = true};
        paua_collection *own;
        paua_db *db;
        bool good = paua_open(f->dir.path, &opts, &db, NULL) == PAUA_OK &&
                    paua_collection_open(db, "c", &own, NULL) == PAUA_OK && test_count(own) == 3;

        _exit(good ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    paua_collection_close(c);
}

static void a_backup_is_one_state_and_opens_like_any_database(void **state)
{
    struct fixture *f = *state;
    paua_collection *c = test_create(f->db, "c", &plain);
    struct test_dir copy;

    test_insert_u64(c, 1, 300, zeros);
    assert_ok(paua_optimize(c, NULL, &test_err));
    test_insert_u64(c, 301, 50, zeros);
    test_delete_u64(c, 7);
    for (int link = 0; link < 2; link++) {
        paua_backup_opts opts = {.size = sizeof opts, .link = link != 0};
        paua_collection *copied;
        paua_db *db;

        test_dir_make(&copy); /* an empty directory will do */
        assert_ok(paua_backup(f->db, copy.path, &opts, &test_err));
        assert_fails(paua_backup(f->db, copy.path, &opts, &test_err), PAUA_EEXISTS);
        assert_ok(paua_check(copy.path, NULL, &test_err));
        db = test_open(&copy);
        assert_ok(paua_collection_open(db, "c", &copied, &test_err));
        assert_int_equal(test_count(copied), 349);
        test_insert_u64(copied, 1000, 1, zeros); /* writing to it leaves the original alone */
        paua_collection_close(copied);
        paua_close(db);
        test_dir_remove(&copy);
    }
    assert_int_equal(test_count(c), 349);
    assert_false(test_fetch_u64(c, 1000, NULL));
    paua_collection_close(c);
    assert_ok(paua_check(f->dir.path, NULL, &test_err));
}

static void nothing_of_a_database_in_memory_outlives_it(void **state)
{
    paua_db *a = test_open_memory(), *b = test_open_memory();
    paua_collection *c = test_create(a, "c", &plain);

    (void)state;
    test_insert_u64(c, 1, 20000, zeros);
    assert_ok(paua_optimize(c, NULL, &test_err));
    assert_fails(paua_collection_open(b, "c", &c, &test_err), PAUA_ENOTFOUND);
    test_validate(c);
    paua_collection_close(c);
    paua_close(a);
    paua_close(b);
    a = test_open_memory();
    assert_fails(paua_collection_open(a, "c", &c, &test_err), PAUA_ENOTFOUND);
    paua_close(a);
}

#define T(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(collections_are_listed_by_name),
        T(a_schema_is_the_same_after_reopening),
        T(a_collection_that_exists_is_not_created_again),
        T(a_dropped_collection_leaves_nothing_behind),
        T(two_handles_are_one_state),
        T(a_second_writer_is_told_who_holds_the_collection),
        T(a_read_only_handle_refuses_every_write),
        T(rows_written_under_any_durability_are_there_after_reopening),
        T(a_tail_of_16384_rows_seals_itself_and_copies_nothing),
        T(in_a_forked_child_every_call_fails),
        T(a_child_may_open_the_database_anew),
        T(a_backup_is_one_state_and_opens_like_any_database),
        cmocka_unit_test(nothing_of_a_database_in_memory_outlives_it),
    };

    return cmocka_run_group_tests_name("db/database", tests, NULL, NULL);
}
