/* catalog_helper.h - what the catalogue's tests share. Functions assert that they succeed. */
#ifndef PAUA_TESTS_UNIT_STORE_CATALOG_HELPER_H
#define PAUA_TESTS_UNIT_STORE_CATALOG_HELPER_H

#include "store/catalog.h"
#include "unit/store/temp.h"

extern const struct catalog_opts CREATE, EXISTING, READ_ONLY, IMMUTABLE;

struct catalog *open_with(struct dir *dir, const struct catalog_opts *opts);
void assert_open_fails(struct dir *dir, const struct catalog_opts *opts, paua_status want);
void put(struct catalog *c, enum table table, uint64_t id, const char *text);
void commit_one(struct catalog *c, enum table table, uint64_t id, const char *text);
/* text NULL: there must be no such record. */
void assert_record(struct catalog *c, enum table table, uint64_t id, const char *text);

#endif
