/* field_edit.h - changing which fields a collection has. */
#ifndef PAUA_DB_FIELD_EDIT_H
#define PAUA_DB_FIELD_EDIT_H

#include "db/db.h"

/* A number for a new field, above that of the newest there is (0: none): another handle may have
 * made it, with numbers taken later than those that are left here. */
paua_status field_number(paua_db *db, uint32_t newest, uint32_t *id, paua_error *err);

/* Are a new field's name and type such as a field can have, and is there room beside `count`
 * others? PAUA_EINVAL. */
paua_status field_check(const paua_field *field, uint32_t count, paua_error *err);

/* Checks a field against those there are (list may be NULL), and gives it a number. PAUA_EINVAL,
 * PAUA_EEXISTS. */
paua_status field_define(paua_db *db, const struct field_list *list, const paua_field *field,
                         struct field_item *item, paua_error *err);

#endif
