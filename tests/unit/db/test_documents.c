/* test_documents.c - documents: none, empty, one byte, larger than a page, the largest; as text
 * and as bytes; in the tail, in segments, mapped and not. */
#include "support/support.h"

#define ROWS 200u

struct fixture {
    struct test_dir dir;
    paua_db *db;
    paua_collection *c;
};

static void fixture_make(struct fixture *f, paua_document_kind kind)
{
    struct test_schema schema = {.dim = 1, .metric = PAUA_L2, .document = kind};

    test_dir_make(&f->dir);
    f->db = test_open(&f->dir);
    f->c = test_create(f->db, "c", &schema);
}

static void fixture_free(struct fixture *f)
{
    paua_collection_close(f->c);
    paua_close(f->db);
    test_dir_remove(&f->dir);
}

static void reopen(struct fixture *f, bool no_mmap)
{
    paua_open_opts opts = {
        .size = sizeof opts, .durability = PAUA_OFF, .no_background = true, .no_mmap = no_mmap};

    paua_collection_close(f->c);
    paua_close(f->db);
    assert_ok(paua_open(f->dir.path, &opts, &f->db, &test_err));
    assert_ok(paua_collection_open(f->db, "c", &f->c, &test_err));
}

static paua_status put(paua_collection *c, uint64_t key, paua_bytes document)
{
    float zero = 0;
    paua_vectors v = {&zero, 0};
    paua_rows rows = test_rows(test_u64(&key, 1), &v, &document);

    return paua_upsert(c, &rows, NULL, NULL, &test_err);
}

/* The document of a row, by number: none, empty, short, a page and a bit. */
static paua_bytes document_of(uint64_t key, char *room)
{
    size_t nbytes = key % 4 == 1 ? 0 : key % 4 == 2 ? (size_t)key : 66000 + (size_t)key;

    if (key % 4 == 0) return (paua_bytes){0};
    for (size_t i = 0; i < nbytes; i++)
        room[i] = (char)('a' + (i * 7 + key) % 26);
    return (paua_bytes){room, nbytes};
}

static void expect_document(paua_bytes found, paua_bytes wanted)
{
    assert_int_equal(found.data == NULL, wanted.data == NULL);
    assert_int_equal(found.nbytes, wanted.nbytes);
    if (wanted.nbytes > 0) assert_memory_equal(found.data, wanted.data, wanted.nbytes);
}

static void expect_all(paua_collection *c)
{
    static char room[70000];
    paua_search_opts opts = {.size = sizeof opts, .k = ROWS};
    const paua_record *record;
    paua_cursor *cursor;
    paua_hits *hits;
    float zero = 0;
    uint64_t key;

    assert_ok(paua_iterate(c, NULL, &cursor, &test_err));
    for (key = 0; key < ROWS; key++) {
        assert_ok(paua_cursor_next(cursor, &record, &test_err));
        assert_non_null(record);
        assert_int_equal(record->key.u64, key);
        expect_document(record->document, document_of(key, room));
    }
    assert_ok(paua_cursor_next(cursor, &record, &test_err));
    assert_null(record);
    paua_cursor_close(cursor);
    assert_ok(paua_hits_open(&hits, &test_err));
    assert_ok(paua_search(c, &zero, 1, 0, &opts, hits, &test_err));
    for (size_t i = 0; i < ROWS; i++) {
        paua_bytes document;

        assert_ok(paua_hits_document(hits, 0, i, &document, &test_err));
        expect_document(document, document_of(paua_hits_at(hits, 0, i).key.u64, room));
    }
    paua_hits_close(hits);
}

static void documents_come_back_from_wherever_they_lie(void **state)
{
    static char room[70000];
    struct fixture f;

    (void)state;
    fixture_make(&f, PAUA_DOCUMENT_TEXT);
    for (uint64_t key = 0; key < ROWS; key++)
        assert_ok(put(f.c, key, document_of(key, room)));
    for (int sealed = 0; sealed < 2; sealed++) {
        expect_all(f.c);
        reopen(&f, true);
        expect_all(f.c);
        reopen(&f, false);
        expect_all(f.c);
        assert_ok(paua_optimize(f.c, NULL, &test_err));
    }
    test_validate(f.c);
    fixture_free(&f);
}

static void the_largest_document_fits_and_a_byte_more_does_not(void **state)
{
    char *large = malloc(PAUA_DOCUMENT_NBYTES_MAX + 1);
    uint64_t keys[] = {1, 2};
    paua_keys wanted = test_u64(keys, 2);
    const paua_record *record;
    paua_cursor *cursor;
    struct fixture f;

    (void)state;
    assert_non_null(large);
    memset(large, 'x', PAUA_DOCUMENT_NBYTES_MAX + 1);
    large[PAUA_DOCUMENT_NBYTES_MAX - 1] = 'y';
    fixture_make(&f, PAUA_DOCUMENT_BYTES);
    assert_fails(put(f.c, 1, (paua_bytes){large, PAUA_DOCUMENT_NBYTES_MAX + 1}), PAUA_EPARTIAL);
    assert_int_equal(test_err.status, PAUA_EINVAL);
    assert_ok(put(f.c, 1, (paua_bytes){large, PAUA_DOCUMENT_NBYTES_MAX}));
    assert_ok(put(f.c, 2, (paua_bytes){"small", 5})); /* the large one has sealed the tail */
    assert_ok(paua_fetch(f.c, &wanted, NULL, &cursor, &test_err));
    assert_ok(paua_cursor_next(cursor, &record, &test_err));
    assert_int_equal(record->document.nbytes, PAUA_DOCUMENT_NBYTES_MAX);
    assert_memory_equal(record->document.data, large, PAUA_DOCUMENT_NBYTES_MAX);
    assert_ok(paua_cursor_next(cursor, &record, &test_err));
    assert_int_equal(record->document.nbytes, 5);
    paua_cursor_close(cursor);
    free(large);
    fixture_free(&f);
}

static void text_must_be_utf8_and_bytes_may_be_anything(void **state)
{
    struct fixture f;
    paua_bytes wrong = {"good\xFF", 5};

    (void)state;
    fixture_make(&f, PAUA_DOCUMENT_TEXT);
    assert_fails(put(f.c, 1, wrong), PAUA_EPARTIAL);
    assert_int_equal(test_err.status, PAUA_EINVAL);
    assert_non_null(strstr(test_err.message, "byte 4"));
    assert_int_equal(test_count(f.c), 0);
    fixture_free(&f);
    fixture_make(&f, PAUA_DOCUMENT_BYTES);
    assert_ok(put(f.c, 1, wrong));
    fixture_free(&f);
}

static void a_collection_without_documents_refuses_them(void **state)
{
    struct fixture f;

    (void)state;
    fixture_make(&f, PAUA_DOCUMENT_NONE);
    assert_fails(put(f.c, 1, (paua_bytes){"x", 1}), PAUA_EPARTIAL);
    assert_int_equal(test_err.status, PAUA_EINVAL);
    assert_fails(put(f.c, 1, (paua_bytes){"", 0}), PAUA_EPARTIAL);
    assert_ok(put(f.c, 1, (paua_bytes){0}));
    fixture_free(&f);
}

static void what_is_not_asked_for_is_not_read(void **state)
{
    paua_read_opts opts = {.size = sizeof opts, .no_document = true};
    const paua_record *record;
    paua_cursor *cursor;
    struct fixture f;

    (void)state;
    fixture_make(&f, PAUA_DOCUMENT_TEXT);
    assert_ok(put(f.c, 1, (paua_bytes){"x", 1}));
    assert_ok(paua_iterate(f.c, &opts, &cursor, &test_err));
    assert_ok(paua_cursor_next(cursor, &record, &test_err));
    assert_null(record->document.data);
    assert_non_null(record->vectors);
    paua_cursor_close(cursor);
    opts = (paua_read_opts){.size = sizeof opts, .no_vectors = true};
    assert_ok(paua_iterate(f.c, &opts, &cursor, &test_err));
    assert_ok(paua_cursor_next(cursor, &record, &test_err));
    assert_int_equal(record->document.nbytes, 1);
    assert_null(record->vectors);
    paua_cursor_close(cursor);
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_come_back_from_wherever_they_lie),
        cmocka_unit_test(the_largest_document_fits_and_a_byte_more_does_not),
        cmocka_unit_test(text_must_be_utf8_and_bytes_may_be_anything),
        cmocka_unit_test(a_collection_without_documents_refuses_them),
        cmocka_unit_test(what_is_not_asked_for_is_not_read),
    };

    return cmocka_run_group_tests_name("db/documents", tests, NULL, NULL);
}
