/* catalog_helper.c - see catalog_helper.h. */
#include "unit/store/catalog_helper.h"

const struct catalog_opts CREATE = {.create = true, .busy_ms = 1000};
const struct catalog_opts EXISTING = {.busy_ms = 1000};
const struct catalog_opts READ_ONLY = {.read_only = true, .busy_ms = 1000};
const struct catalog_opts IMMUTABLE = {.read_only = true, .immutable = true};

struct catalog *open_with(struct dir *dir, const struct catalog_opts *opts)
{
    struct catalog *c = NULL;
    paua_error err = {0};

    if (catalog_open(dir, opts, &c, &err) != PAUA_OK) fail_msg("%s", err.message);
    return c;
}

void assert_open_fails(struct dir *dir, const struct catalog_opts *opts, paua_status want)
{
    struct catalog *c = NULL;
    paua_error err = {0};
    paua_status status = catalog_open(dir, opts, &c, &err);

    if (status != want) fail_msg("%d instead of %d: %s", status, want, err.message);
    assert_null(c);
    assert_int_equal(err.status, want);
    assert_true(strlen(err.message) > 0);
}

void put(struct catalog *c, enum table table, uint64_t id, const char *text)
{
    assert_int_equal(catalog_put(c, table, id, text, strlen(text), NULL), PAUA_OK);
}

void commit_one(struct catalog *c, enum table table, uint64_t id, const char *text)
{
    assert_int_equal(catalog_begin_write(c, NULL), PAUA_OK);
    put(c, table, id, text);
    assert_int_equal(catalog_commit(c, NULL, NULL), PAUA_OK);
}

void assert_record(struct catalog *c, enum table table, uint64_t id, const char *text)
{
    paua_bytes record = {"unchanged", 9};
    paua_error err;
    paua_status status = catalog_get(c, table, id, &record, &err);

    if (text == NULL) {
        assert_int_equal(status, PAUA_ENOTFOUND);
        assert_string_equal(record.data, "unchanged");
        return;
    }
    assert_int_equal(status, PAUA_OK);
    assert_non_null(record.data);
    assert_int_equal(record.nbytes, strlen(text));
    assert_memory_equal(record.data, text, record.nbytes);
}
