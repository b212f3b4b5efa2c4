/* test_keys.c - keys of every kind through the whole library (T11): limits, odd bytes, and that a
 * key comes back as it was given, from the tail, from a segment, and after reopening. */
#include "support/support.h"

static char longest[1026];

struct named {
    paua_bytes key;
    bool good;
};

#define TEXT(literal)                                                                              \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }

static const struct named table[] = {
    {TEXT(""), false},
    {TEXT("a/b:c d"), true},
    {TEXT("日本語"), true},
    {TEXT("👩‍👩‍👧‍👦"), true},
    {TEXT("a"), true},
    {TEXT("a\0b"), true}, /* an embedded NUL is a character like any other */
    {TEXT("a\0"), true},
    {TEXT("\0"), true},
    {{longest, 1023}, true},
    {{longest, 1024}, true},
    {{longest, 1025}, false},
    {TEXT("ab\xC3"), false},           /* cut short */
    {TEXT("\xC0\x80"), false},         /* overlong */
    {TEXT("x\xED\xA0\x80"), false},    /* a surrogate */
    {TEXT("\xF4\x90\x80\x80"), false}, /* beyond U+10FFFF */
    {TEXT("\xFF"), false},
    {{NULL, 3}, false},
    {TEXT("' OR 1=1; --"), true},
    {TEXT("..\n\t\x7F"), true},
};

#define NAMES (sizeof table / sizeof table[0])

static paua_collection *make(paua_db *db, paua_key_kind kind, uint32_t dim,
                             paua_precision precision)
{
    struct test_schema schema = {
        .key_kind = kind, .dim = dim, .metric = PAUA_L2, .precision = precision};

    return test_create(db, "c", &schema);
}

/* Every good key is there with its number as vector, no bad one is. */
static void expect_names(paua_collection *c)
{
    for (size_t i = 0; i < NAMES; i++) {
        paua_keys keys = {.count = 1, .strings = &table[i].key};
        paua_cursor *cursor;
        const paua_record *record;

        if (!table[i].good) {
            assert_fails(paua_fetch(c, &keys, NULL, &cursor, &test_err), PAUA_EINVAL);
            continue;
        }
        assert_ok(paua_fetch(c, &keys, NULL, &cursor, &test_err));
        assert_ok(paua_cursor_next(cursor, &record, &test_err));
        assert_true(record->found);
        assert_int_equal(record->key.bytes.nbytes, table[i].key.nbytes);
        assert_memory_equal(record->key.bytes.data, table[i].key.data, table[i].key.nbytes);
        assert_true(record->vectors[0][0] == (float)i);
        paua_cursor_close(cursor);
    }
}

static void insert_names(paua_collection *c)
{
    paua_bytes strings[NAMES];
    float data[NAMES];
    paua_vectors v = {data, 0};
    paua_rows rows = test_rows((paua_keys){.count = NAMES, .strings = strings}, &v, NULL);
    paua_status statuses[NAMES];

    for (size_t i = 0; i < NAMES; i++) {
        strings[i] = table[i].key;
        data[i] = (float)i;
    }
    assert_fails(paua_insert(c, &rows, NULL, statuses, &test_err), PAUA_EPARTIAL);
    for (size_t i = 0; i < NAMES; i++)
        assert_int_equal(statuses[i], table[i].good ? PAUA_OK : PAUA_EINVAL);
}

static void string_keys_work_up_to_their_limits_everywhere(void **state)
{
    struct test_dir dir;
    paua_collection *c;
    paua_db *db;

    (void)state;
    memset(longest, 'k', 1025);
    test_dir_make(&dir);
    db = test_open(&dir);
    c = make(db, PAUA_KEY_STRING, 1, PAUA_FP32);
    insert_names(c);
    expect_names(c);
    for (int sealed = 0; sealed < 2; sealed++) {
        paua_collection_close(c);
        paua_close(db);
        db = test_open(&dir);
        assert_ok(paua_collection_open(db, "c", &c, &test_err));
        expect_names(c);
        assert_ok(paua_optimize(c, NULL, &test_err));
        expect_names(c);
        test_validate(c);
    }
    paua_collection_close(c);
    paua_close(db);
    test_dir_remove(&dir);
}

static void what_is_wrong_with_a_string_key_is_said_with_its_byte(void **state)
{
    paua_bytes keys[] = {{"ab\xC3", 3}, {"", 0}, {longest, 1025}};
    static const char *const wanted[] = {"at byte 2", "empty", "1025 bytes"};
    paua_db *db = test_open_memory();
    paua_collection *c = make(db, PAUA_KEY_STRING, 1, PAUA_FP32);

    (void)state;
    memset(longest, 'k', 1025);
    for (size_t i = 0; i < 3; i++) {
        paua_keys one = {.count = 1, .strings = &keys[i]};

        assert_fails(paua_delete(c, &one, NULL, NULL, &test_err), PAUA_EPARTIAL);
        assert_int_equal(test_err.status, PAUA_EINVAL);
        assert_non_null(strstr(test_err.message, wanted[i]));
    }
    paua_collection_close(c);
    paua_close(db);
}

static void any_64_bit_number_is_a_key(void **state)
{
    static const uint64_t numbers[] = {0, 1, UINT64_C(1) << 63, UINT64_MAX - 1, UINT64_MAX};
    float data[5] = {0, 1, 2, 3, 4}, back;
    paua_vectors v = {data, 0};
    paua_rows rows = test_rows(test_u64(numbers, 5), &v, NULL);
    paua_db *db = test_open_memory();
    paua_collection *c = make(db, PAUA_KEY_U64, 1, PAUA_FP32);

    (void)state;
    assert_ok(paua_insert(c, &rows, NULL, NULL, &test_err));
    for (int sealed = 0; sealed < 2; sealed++) {
        for (size_t i = 0; i < 5; i++) {
            assert_true(test_fetch_u64(c, numbers[i], &back));
            assert_true(back == data[i]);
        }
        assert_ok(paua_optimize(c, NULL, &test_err));
    }
    assert_false(test_fetch_u64(c, 2, NULL));
    paua_collection_close(c);
    paua_close(db);
}

/* Rows with vectors for keys, their second component their number. */
static paua_status insert_vectors(paua_collection *c, const float *data, size_t n, size_t stride,
                                  paua_status *statuses)
{
    paua_vectors v = {data, stride};
    paua_rows rows = test_rows((paua_keys){.count = n}, &v, NULL);

    return paua_insert(c, &rows, NULL, statuses, &test_err);
}

static bool vector_found(paua_collection *c, const float *vector)
{
    paua_keys keys = {.count = 1, .vectors = vector};
    const paua_record *record;
    paua_cursor *cursor;
    bool found;

    assert_ok(paua_fetch(c, &keys, NULL, &cursor, &test_err));
    assert_ok(paua_cursor_next(cursor, &record, &test_err));
    found = record->found;
    paua_cursor_close(cursor);
    return found;
}

static void the_stored_bits_of_a_vector_are_its_key(void **state)
{
    static const float data[] = {1, 2, 1, 3, 1, 2, -0.0f, 0, 0, 0};
    paua_db *db = test_open_memory();
    paua_collection *c = make(db, PAUA_KEY_VECTOR, 2, PAUA_FP32);
    paua_keys keys = {.count = 2, .vectors = data, .stride = 2};
    paua_status statuses[5];

    (void)state;
    assert_fails(insert_vectors(c, data, 5, 0, statuses), PAUA_EPARTIAL);
    for (size_t i = 0; i < 5; i++) /* the third comes twice; -0 and 0 are two keys */
        assert_int_equal(statuses[i], i == 2 ? PAUA_EEXISTS : PAUA_OK);
    for (int sealed = 0; sealed < 2; sealed++) {
        for (size_t i = 0; i < 5; i++)
            assert_true(vector_found(c, data + 2 * i));
        assert_fails(insert_vectors(c, data, 5, 0, NULL), PAUA_EPARTIAL);
        assert_ok(paua_optimize(c, NULL, &test_err));
    }
    assert_ok(paua_delete(c, &keys, NULL, NULL, &test_err));
    assert_false(vector_found(c, data) || vector_found(c, data + 2));
    assert_true(vector_found(c, data + 6));
    test_validate(c);
    paua_collection_close(c);
    paua_close(db);
}

static void two_vectors_of_the_same_halves_are_one_key(void **state)
{
    static const float data[] = {1, 2, 1.0f + 0x1p-13f, 2};
    paua_db *db = test_open_memory();
    paua_collection *c = make(db, PAUA_KEY_VECTOR, 2, PAUA_FP16);
    paua_status statuses[2];
    paua_search_opts opts = {.size = sizeof opts, .k = 1};
    paua_hits *hits;

    (void)state;
    assert_fails(insert_vectors(c, data, 2, 0, statuses), PAUA_EPARTIAL);
    assert_int_equal(statuses[1], PAUA_EEXISTS);
    assert_true(vector_found(c, data + 2));
    assert_ok(paua_hits_open(&hits, &test_err));
    assert_ok(paua_search(c, data, 1, 0, &opts, hits, &test_err));
    assert_int_equal(paua_hits_at(hits, 0, 0).key.bytes.nbytes, 4); /* the stored form */
    paua_hits_close(hits);
    paua_collection_close(c);
    paua_close(db);
}

static void a_row_whose_key_is_its_vector_must_give_it(void **state)
{
    paua_bytes document = {"text", 4};
    paua_rows rows = {.size = sizeof rows, .keys = {.count = 1}, .documents = &document};
    paua_db *db = test_open_memory();
    paua_collection *c = make(db, PAUA_KEY_VECTOR, 2, PAUA_FP32);

    (void)state;
    assert_fails(paua_upsert(c, &rows, NULL, NULL, &test_err), PAUA_EPARTIAL);
    assert_int_equal(test_err.status, PAUA_EINVAL);
    assert_non_null(strstr(test_err.message, "is the key"));
    paua_collection_close(c);
    paua_close(db);
}

static void a_document_can_be_put_to_a_row_whose_key_is_its_vector(void **state)
{
    static const float data[] = {1, 2};
    paua_bytes document = {"text", 4};
    paua_vectors v = {data, 0};
    paua_rows rows = test_rows((paua_keys){.count = 1}, &v, &document);
    paua_keys keys = {.count = 1, .vectors = data};
    paua_db *db = test_open_memory();
    paua_collection *c = make(db, PAUA_KEY_VECTOR, 2, PAUA_FP32);
    const paua_record *record;
    paua_cursor *cursor;

    (void)state;
    assert_ok(insert_vectors(c, data, 1, 0, NULL));
    assert_ok(paua_update(c, &rows, NULL, NULL, &test_err));
    assert_int_equal(test_count(c), 1);
    assert_ok(paua_fetch(c, &keys, NULL, &cursor, &test_err));
    assert_ok(paua_cursor_next(cursor, &record, &test_err));
    assert_int_equal(record->document.nbytes, 4);
    paua_cursor_close(cursor);
    paua_collection_close(c);
    paua_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(string_keys_work_up_to_their_limits_everywhere),
        cmocka_unit_test(what_is_wrong_with_a_string_key_is_said_with_its_byte),
        cmocka_unit_test(any_64_bit_number_is_a_key),
        cmocka_unit_test(the_stored_bits_of_a_vector_are_its_key),
        cmocka_unit_test(two_vectors_of_the_same_halves_are_one_key),
        cmocka_unit_test(a_row_whose_key_is_its_vector_must_give_it),
        cmocka_unit_test(a_document_can_be_put_to_a_row_whose_key_is_its_vector),
    };

    return cmocka_run_group_tests_name("db/keys", tests, NULL, NULL);
}
