/* fields.h - the fields of a collection's rows, as views hold them. Immutable once published,
 * reference-counted, shared between views. */
#ifndef PAUA_DB_FIELDS_H
#define PAUA_DB_FIELDS_H

#include <stdatomic.h>

#include "codec/field_record.h"
#include "filter/filter.h"
#include "store/catalog.h"

struct field_item {
    struct field field;
    uint32_t record_crc; /* of its record in the catalogue */
};

struct field_list {
    _Atomic uint32_t refs;
    uint32_t count;
    struct field_item items[]; /* by id, rising: the order of their making */
};

/* An empty list with room for `count`; NULL when out of memory. */
struct field_list *field_list_new(uint32_t count);
struct field_list *field_list_ref(struct field_list *list); /* NULL stays NULL */
void field_list_unref(struct field_list *list);             /* NULL does nothing */
/* A copy with `added` more at the end (their ids are higher); list may be NULL. */
struct field_list *field_list_with(const struct field_list *list, const struct field_item *added,
                                   uint32_t added_count);

/* NULL: there is none. list may be NULL. */
const struct field *field_list_name(const struct field_list *list, const char *name, size_t nbytes);
const struct field *field_list_id(const struct field_list *list, uint32_t id);
static inline uint32_t field_list_count(const struct field_list *list)
{
    return list == NULL ? 0 : list->count;
}
/* Number of the newest field; 0: there is none. */
static inline uint32_t field_list_newest(const struct field_list *list)
{
    return field_list_count(list) == 0 ? 0 : list->items[list->count - 1].field.id;
}

/* The look-ups that filters and patches want; arg is a struct field_list, or NULL. */
struct filter_fields field_list_filter(const struct field_list *list);
uint32_t field_list_type(void *list, uint32_t id);

/* Inside a write transaction: stores a field's record and notes its checksum. */
paua_status field_store(struct catalog *catalog, struct field_item *item, paua_error *err);

#endif
