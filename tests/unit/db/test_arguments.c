/* test_arguments.c - what every function says to arguments that are wrong, and that nothing changed
 * then. */
#include "support/support.h"

#include <math.h>

struct fixture {
    paua_db *db;
    paua_collection *c; /* u64 keys, dim 2, text */
};

static int setup(void **state)
{
    static struct fixture f;
    struct test_schema schema = {.dim = 2, .metric = PAUA_L2};
    float vectors[] = {0, 0, 1, 1, 2, 2};

    f.db = test_open_memory();
    f.c = test_create(f.db, "c", &schema);
    test_insert_u64(f.c, 1, 3, vectors);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(test_count(f->c), 3);
    paua_collection_close(f->c);
    paua_close(f->db);
    return 0;
}

static void opening_needs_a_path_and_options_that_agree(void **state)
{
    paua_open_opts opts = {.size = sizeof opts};
    paua_db *db = (paua_db *)(uintptr_t)1;

    (void)state;
    assert_fails(paua_open(NULL, NULL, &db, &test_err), PAUA_EINVAL);
    assert_fails(paua_open("", &opts, &db, &test_err), PAUA_EINVAL);
    assert_fails(paua_open("/nonexistent/paua", &opts, &db, &test_err), PAUA_ENOTFOUND);
    opts.create = true;
    assert_fails(paua_open("/nonexistent/paua", &opts, &db, &test_err), PAUA_ENOTFOUND);
    assert_fails(paua_open("/dev/null", &opts, &db, &test_err), PAUA_EINVAL);
    opts.read_only = true;
    assert_fails(paua_open("/tmp", &opts, &db, &test_err), PAUA_EINVAL);
    opts = (paua_open_opts){.size = sizeof opts, .in_memory = true, .read_only = true};
    assert_fails(paua_open(NULL, &opts, &db, &test_err), PAUA_EINVAL);
    opts = (paua_open_opts){.size = sizeof opts, .in_memory = true, .durability = 3};
    assert_fails(paua_open(NULL, &opts, &db, &test_err), PAUA_EINVAL);
    opts = (paua_open_opts){.size = 0, .in_memory = true};
    assert_fails(paua_open(NULL, &opts, &db, &test_err), PAUA_EINVAL);
    assert_ptr_equal(db, (void *)1); /* untouched */
}

/* A caller compiled against a shorter struct has only its fields read. */
static void a_shorter_struct_of_options_is_read_as_far_as_it_goes(void **state)
{
    paua_open_opts opts = {.size = offsetof(paua_open_opts, durability), .in_memory = true};
    paua_db *db;

    (void)state;
    opts.durability = (paua_durability)99; /* beyond the size: not ours to read */
    opts.verify = (paua_verify)99;
    assert_ok(paua_open(NULL, &opts, &db, &test_err));
    paua_close(db);
}

static void a_directory_of_something_else_is_not_a_database(void **state)
{
    paua_open_opts opts = {.size = sizeof opts, .create = true};
    struct test_dir dir;
    paua_db *db = NULL;

    (void)state;
    test_dir_make(&dir);
    assert_fails(paua_open(dir.path, NULL, &db, &test_err), PAUA_ENOTFOUND);
    assert_ok(paua_open(dir.path, &opts, &db, &test_err)); /* empty: may become one */
    paua_close(db);
    test_dir_remove(&dir);
}

static void a_null_handle_is_an_error_and_closing_null_is_none(void **state)
{
    paua_keys keys = {0};
    paua_rows rows = {.size = sizeof rows};
    paua_search_opts search = {.size = sizeof search, .k = 1};
    paua_stats stats = {.size = sizeof stats};
    const paua_record *record;
    paua_collection *c;
    paua_cursor *cursor;
    float q[2] = {0};

    (void)state;
    assert_fails(paua_flush(NULL, &test_err), PAUA_EINVAL);
    assert_fails(paua_backup(NULL, "x", NULL, &test_err), PAUA_EINVAL);
    assert_fails(paua_collection_create(NULL, "c", NULL, &c, &test_err), PAUA_EINVAL);
    assert_fails(paua_collection_open(NULL, "c", &c, &test_err), PAUA_EINVAL);
    assert_fails(paua_collection_drop(NULL, "c", &test_err), PAUA_EINVAL);
    assert_fails(paua_collection_list(NULL, NULL, NULL, &test_err), PAUA_EINVAL);
    assert_fails(paua_insert(NULL, &rows, NULL, NULL, &test_err), PAUA_EINVAL);
    assert_fails(paua_upsert(NULL, &rows, NULL, NULL, &test_err), PAUA_EINVAL);
    assert_fails(paua_update(NULL, &rows, NULL, NULL, &test_err), PAUA_EINVAL);
    assert_fails(paua_delete(NULL, &keys, NULL, NULL, &test_err), PAUA_EINVAL);
    assert_fails(paua_optimize(NULL, NULL, &test_err), PAUA_EINVAL);
    assert_fails(paua_fetch(NULL, &keys, NULL, &cursor, &test_err), PAUA_EINVAL);
    assert_fails(paua_iterate(NULL, NULL, &cursor, &test_err), PAUA_EINVAL);
    assert_fails(paua_cursor_next(NULL, &record, &test_err), PAUA_EINVAL);
    assert_fails(paua_search(NULL, q, 1, 0, &search, NULL, &test_err), PAUA_EINVAL);
    assert_fails(paua_collection_stats(NULL, &stats, &test_err), PAUA_EINVAL);
    assert_int_equal(paua_flush(NULL, NULL), PAUA_EINVAL); /* err may be NULL */
    paua_close(NULL);
    paua_collection_close(NULL);
    paua_cursor_close(NULL);
    paua_hits_close(NULL);
}

static void a_schema_out_of_range_is_refused(void **state)
{
    struct fixture *f = *state;
    static const char control[] = "a\tb", broken[] = "\xC3";
    char longest[PAUA_NAME_NBYTES_MAX + 2] = {0};
    paua_vector_field fields[17];
    paua_schema good = {.size = sizeof good, .fields = fields, .field_count = 1}, s;
    paua_collection *c = (paua_collection *)(uintptr_t)1;

    for (size_t i = 0; i < 17; i++)
        fields[i] =
            (paua_vector_field){.name = "v", .dim = 4, .metric = PAUA_L2, .precision = PAUA_FP32};
    memset(longest, 'x', PAUA_NAME_NBYTES_MAX + 1);
#define REFUSED(name)                                                                              \
    assert_fails(paua_collection_create(f->db, name, &s, &c, &test_err), PAUA_EINVAL)
    s = good;
    REFUSED(NULL);
    REFUSED("");
    REFUSED(longest);
    REFUSED(control);
    REFUSED(broken);
    s.size = 0;
    REFUSED("d");
    s = good;
    s.fields = NULL;
    REFUSED("d");
    s = good;
    s.field_count = 0;
    REFUSED("d");
    s.field_count = 17;
    REFUSED("d");
    s.field_count = 2; /* twice the same name */
    REFUSED("d");
    s = good;
    s.key_kind = (paua_key_kind)3;
    REFUSED("d");
    s = good;
    s.document = (paua_document_kind)3;
    REFUSED("d");
    s = good;
    fields[0].dim = 0;
    REFUSED("d");
    fields[0].dim = PAUA_DIM_MAX + 1;
    REFUSED("d");
    assert_non_null(strstr(test_err.message, "65535"));
    fields[0] =
        (paua_vector_field){.name = NULL, .dim = 4, .metric = PAUA_L2, .precision = PAUA_FP32};
    REFUSED("d");
    fields[0] =
        (paua_vector_field){.name = "", .dim = 4, .metric = PAUA_L2, .precision = PAUA_FP32};
    REFUSED("d");
    fields[0] =
        (paua_vector_field){.name = longest, .dim = 4, .metric = PAUA_L2, .precision = PAUA_FP32};
    REFUSED("d");
    fields[0] = (paua_vector_field){
        .name = "v", .dim = 4, .metric = (paua_metric)4, .precision = PAUA_FP32};
    REFUSED("d");
    fields[0] = (paua_vector_field){
        .name = "v", .dim = 4, .metric = PAUA_L2, .precision = (paua_precision)5};
    REFUSED("d");
    fields[0] = (paua_vector_field){.name = "v", .dim = 4, .originals = (paua_originals)4};
    REFUSED("d");
#undef REFUSED
    assert_fails(paua_collection_create(f->db, "d", NULL, &c, &test_err), PAUA_EINVAL);
    assert_ptr_equal(c, (void *)1);
    assert_fails(paua_collection_open(f->db, NULL, &c, &test_err), PAUA_EINVAL);
    assert_fails(paua_collection_open(f->db, "d", &c, &test_err), PAUA_ENOTFOUND);
    assert_fails(paua_collection_drop(f->db, NULL, &test_err), PAUA_EINVAL);
    assert_fails(paua_collection_drop(f->db, "d", &test_err), PAUA_ENOTFOUND);
}

static void a_name_and_16_fields_may_be_as_long_as_the_limits_say(void **state)
{
    struct fixture *f = *state;
    char name[PAUA_NAME_NBYTES_MAX + 1] = {0}, names[16][PAUA_NAME_NBYTES_MAX + 1] = {{0}};
    paua_vector_field fields[16];
    paua_schema s = {.size = sizeof s, .fields = fields, .field_count = 16};
    paua_collection *c;

    memset(name, 'n', PAUA_NAME_NBYTES_MAX);
    for (size_t i = 0; i < 16; i++) {
        memset(names[i], 'a' + (int)i, PAUA_NAME_NBYTES_MAX);
        fields[i] = (paua_vector_field){.name = names[i],
                                        .dim = (uint32_t)i + 1,
                                        .metric = PAUA_METRIC_DEFAULT,
                                        .precision = PAUA_FP16};
    }
    assert_ok(paua_collection_create(f->db, name, &s, &c, &test_err));
    assert_string_equal(paua_collection_name(c), name);
    assert_int_equal(paua_collection_schema(c)->field_count, 16);
    for (size_t i = 0; i < 16; i++) {
        const paua_vector_field *field = &paua_collection_schema(c)->fields[i];

        assert_string_equal(field->name, names[i]);
        assert_int_equal(field->dim, i + 1);
        assert_int_equal(field->metric, PAUA_COSINE); /* never the default */
        assert_int_equal(field->precision, PAUA_FP16);
        assert_int_equal(field->originals, PAUA_ORIGINALS_FP16); /* never the default either */
    }
    paua_collection_close(c);
    assert_ok(paua_collection_drop(f->db, name, &test_err));
}

static void rows_that_do_not_fit_the_schema_are_refused_whole(void **state)
{
    struct fixture *f = *state;
    uint64_t key = 9;
    float data[4] = {0};
    paua_bytes string = {"x", 1};
    paua_vectors v[2] = {{data, 0}, {data, 0}};
    paua_rows good = test_rows(test_u64(&key, 1), v, NULL), rows;

    assert_fails(paua_insert(f->c, NULL, NULL, NULL, &test_err), PAUA_EINVAL);
    rows = good;
    rows.size = 0;
    assert_fails(paua_insert(f->c, &rows, NULL, NULL, &test_err), PAUA_EINVAL);
    rows = good;
    rows.vectors_count = 2;
    assert_fails(paua_upsert(f->c, &rows, NULL, NULL, &test_err), PAUA_EINVAL);
    rows = good;
    rows.vectors = NULL;
    assert_fails(paua_update(f->c, &rows, NULL, NULL, &test_err), PAUA_EINVAL);
    rows = good;
    rows.keys.u64 = NULL;
    rows.keys.strings = &string;
    assert_fails(paua_insert(f->c, &rows, NULL, NULL, &test_err), PAUA_EINVAL);
    assert_fails(paua_delete(f->c, &rows.keys, NULL, NULL, &test_err), PAUA_EINVAL);
    assert_fails(paua_delete(f->c, NULL, NULL, NULL, &test_err), PAUA_EINVAL);
    rows = good;
    v[0].stride = 1;
    assert_fails(paua_insert(f->c, &rows, NULL, NULL, &test_err), PAUA_EINVAL);
    v[0].stride = 0;
    rows.keys.count = SIZE_MAX;
    assert_fails(paua_insert(f->c, &rows, NULL, NULL, &test_err), PAUA_EINVAL);
    rows = (paua_rows){.size = sizeof rows};
    assert_ok(paua_insert(f->c, &rows, NULL, NULL, &test_err)); /* no rows: nothing to do */
    assert_ok(paua_delete(f->c, &rows.keys, NULL, NULL, &test_err));
}

static void reading_needs_keys_of_the_collections_kind(void **state)
{
    struct fixture *f = *state;
    paua_bytes string = {"x", 1};
    paua_keys keys = {.count = 1, .strings = &string};
    paua_search_opts search = {.size = sizeof search, .k = 1, .allowed = &keys};
    paua_cursor *cursor = (paua_cursor *)(uintptr_t)1;
    paua_hits *hits;
    float q[2] = {0};

    assert_fails(paua_fetch(f->c, NULL, NULL, &cursor, &test_err), PAUA_EINVAL);
    assert_fails(paua_fetch(f->c, &keys, NULL, &cursor, &test_err), PAUA_EINVAL);
    assert_ptr_equal(cursor, (void *)1);
    assert_ok(paua_hits_open(&hits, &test_err));
    assert_fails(paua_search(f->c, q, 1, 0, &search, hits, &test_err), PAUA_EINVAL);
    paua_hits_close(hits);
}

static void a_stride_shorter_than_a_vector_key_is_refused(void **state)
{
    struct fixture *f = *state;
    struct test_schema schema = {.key_kind = PAUA_KEY_VECTOR, .dim = 4, .metric = PAUA_L2};
    paua_collection *c = test_create(f->db, "vectors", &schema);
    float data[8] = {0};
    paua_keys keys = {.count = 2, .vectors = data, .stride = 3};
    paua_search_opts search = {.size = sizeof search, .k = 1, .allowed = &keys};
    paua_cursor *cursor;
    paua_hits *hits;

    assert_fails(paua_delete(c, &keys, NULL, NULL, &test_err), PAUA_EINVAL);
    assert_fails(paua_fetch(c, &keys, NULL, &cursor, &test_err), PAUA_EINVAL);
    assert_ok(paua_hits_open(&hits, &test_err));
    assert_fails(paua_search(c, data, 1, 0, &search, hits, &test_err), PAUA_EINVAL);
    paua_hits_close(hits);
    paua_collection_close(c);
    assert_ok(paua_collection_drop(f->db, "vectors", &test_err));
}

static void a_search_out_of_range_is_refused_and_leaves_the_hits(void **state)
{
    struct fixture *f = *state;
    float q[4] = {0, 0, 1, 1}, bad[4] = {0, 0, 1, NAN};
    paua_search_opts good = {.size = sizeof good, .k = 2}, o;
    paua_hits *hits;

    assert_ok(paua_hits_open(&hits, &test_err));
    assert_int_equal(paua_hits_queries(hits), 0);
    assert_ok(paua_search(f->c, q, 2, 0, &good, hits, &test_err));
#define REFUSED(status) assert_fails(paua_search(f->c, q, 2, 0, &o, hits, &test_err), status)
    assert_fails(paua_search(f->c, q, 2, 0, NULL, hits, &test_err), PAUA_EINVAL);
    assert_fails(paua_search(f->c, q, 2, 0, &good, NULL, &test_err), PAUA_EINVAL);
    assert_fails(paua_search(f->c, NULL, 2, 0, &good, hits, &test_err), PAUA_EINVAL);
    assert_fails(paua_search(f->c, q, 2, 1, &good, hits, &test_err), PAUA_EINVAL);
    assert_fails(paua_search(f->c, bad, 2, 0, &good, hits, &test_err), PAUA_EINVAL);
    assert_int_equal(test_err.row, 1);
    assert_non_null(strstr(test_err.message, "component 1"));
    bad[3] = INFINITY;
    assert_fails(paua_search(f->c, bad, 2, 0, &good, hits, &test_err), PAUA_EINVAL);
    o = good;
    o.size = 0;
    REFUSED(PAUA_EINVAL);
    o = good;
    o.k = 0;
    REFUSED(PAUA_EINVAL);
    o.k = UINT32_C(1) << 31;
    REFUSED(PAUA_EINVAL);
    o = good;
    o.metric = (paua_metric)4;
    REFUSED(PAUA_EINVAL);
    o = good;
    o.field = "nope";
    REFUSED(PAUA_ENOTFOUND);
    o = good;
    o.has_radius = true;
    o.radius = NAN;
    REFUSED(PAUA_EINVAL);
#undef REFUSED
    assert_int_equal(paua_hits_queries(hits), 2); /* of the search that went well */
    assert_int_equal(paua_hits_count(hits, 0), 2);
    assert_int_equal(paua_hits_count(hits, 2), 0);
    paua_hits_close(hits);
}

static void a_hit_that_is_not_there_has_no_document(void **state)
{
    struct fixture *f = *state;
    paua_search_opts opts = {.size = sizeof opts, .k = 2};
    paua_bytes document = {"x", 1};
    float q[2] = {0, 0};
    paua_hits *hits;

    assert_ok(paua_hits_open(&hits, &test_err));
    assert_ok(paua_search(f->c, q, 1, 0, &opts, hits, &test_err));
    assert_fails(paua_hits_document(NULL, 0, 0, &document, &test_err), PAUA_EINVAL);
    assert_fails(paua_hits_document(hits, 1, 0, &document, &test_err), PAUA_EINVAL);
    assert_fails(paua_hits_document(hits, 0, 2, &document, &test_err), PAUA_EINVAL);
    assert_non_null(document.data);
    assert_ok(paua_hits_document(hits, 0, 0, &document, &test_err));
    assert_null(document.data);
    paua_hits_close(hits);
}

static void the_other_option_structs_need_their_size_too(void **state)
{
    struct fixture *f = *state;
    paua_optimize_opts optimize = {.size = 0};
    paua_backup_opts backup = {.size = 0};
    paua_check_opts check = {.size = 0};
    paua_stats stats = {.size = 0};

    assert_fails(paua_optimize(f->c, &optimize, &test_err), PAUA_EINVAL);
    assert_fails(paua_backup(f->db, "/tmp/paua-never-made", &backup, &test_err), PAUA_EINVAL);
    assert_fails(paua_check("/tmp", &check, &test_err), PAUA_EINVAL);
    assert_fails(paua_check(NULL, NULL, &test_err), PAUA_EINVAL);
    assert_fails(paua_collection_stats(f->c, &stats, &test_err), PAUA_EINVAL);
    assert_fails(paua_collection_stats(f->c, NULL, &test_err), PAUA_EINVAL);
}

static void stats_fill_what_the_caller_has_room_for(void **state)
{
    struct fixture *f = *state;
    paua_stats stats;

    memset(&stats, 0xAA, sizeof stats);
    stats.size = offsetof(paua_stats, deleted);
    assert_ok(paua_collection_stats(f->c, &stats, &test_err));
    assert_int_equal(stats.size, offsetof(paua_stats, deleted));
    assert_int_equal(stats.rows, 3);
    assert_true(stats.deleted == UINT64_C(0xAAAAAAAAAAAAAAAA));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opening_needs_a_path_and_options_that_agree),
        cmocka_unit_test(a_shorter_struct_of_options_is_read_as_far_as_it_goes),
        cmocka_unit_test(a_directory_of_something_else_is_not_a_database),
        cmocka_unit_test(a_null_handle_is_an_error_and_closing_null_is_none),
        cmocka_unit_test(a_schema_out_of_range_is_refused),
        cmocka_unit_test(a_name_and_16_fields_may_be_as_long_as_the_limits_say),
        cmocka_unit_test(rows_that_do_not_fit_the_schema_are_refused_whole),
        cmocka_unit_test(reading_needs_keys_of_the_collections_kind),
        cmocka_unit_test(a_stride_shorter_than_a_vector_key_is_refused),
        cmocka_unit_test(a_search_out_of_range_is_refused_and_leaves_the_hits),
        cmocka_unit_test(a_hit_that_is_not_there_has_no_document),
        cmocka_unit_test(the_other_option_structs_need_their_size_too),
        cmocka_unit_test(stats_fill_what_the_caller_has_room_for),
    };

    return cmocka_run_group_tests_name("db/arguments", tests, setup, teardown);
}
