/* fields.c - see fields.h. */
#include "db/fields.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "codec/record.h"

struct field_list *field_list_new(uint32_t count)
{
    struct field_list *list = mem_zalloc(1, sizeof *list + count * sizeof list->items[0]);

    if (list != NULL) list->refs = 1;
    return list;
}

struct field_list *field_list_ref(struct field_list *list)
{
    if (list != NULL) atomic_fetch_add(&list->refs, 1);
    return list;
}

void field_list_unref(struct field_list *list)
{
    if (list != NULL && atomic_fetch_sub(&list->refs, 1) == 1) mem_free(list);
}

struct field_list *field_list_with(const struct field_list *list, const struct field_item *added,
                                   uint32_t added_count)
{
    uint32_t before = field_list_count(list);
    struct field_list *with = field_list_new(before + added_count);

    if (with == NULL) return NULL;
    for (uint32_t i = 0; i < before; i++)
        with->items[i] = list->items[i];
    for (uint32_t i = 0; i < added_count; i++)
        with->items[before + i] = added[i];
    with->count = before + added_count;
    return with;
}

const struct field *field_list_name(const struct field_list *list, const char *name, size_t nbytes)
{
    for (uint32_t i = 0; i < field_list_count(list); i++) {
        const char *own = list->items[i].field.name;

        if (strlen(own) == nbytes && memcmp(own, name, nbytes) == 0) return &list->items[i].field;
    }
    return NULL;
}

const struct field *field_list_id(const struct field_list *list, uint32_t id)
{
    uint32_t low = 0, high = field_list_count(list);

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (list->items[middle].field.id == id) return &list->items[middle].field;
        if (list->items[middle].field.id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static bool find(const void *list, const char *name, size_t nbytes, struct filter_field *field)
{
    const struct field *found = field_list_name(list, name, nbytes);

    if (found == NULL) return false;
    *field = (struct filter_field){found->id, found->type};
    return true;
}

static const char *name_of(const void *list, uint32_t i)
{
    const struct field_list *fields = list;

    return i < field_list_count(fields) ? fields->items[i].field.name : NULL;
}

struct filter_fields field_list_filter(const struct field_list *list)
{
    return (struct filter_fields){.find = find, .name = name_of, .arg = list};
}

uint32_t field_list_type(void *list, uint32_t id)
{
    const struct field *found = field_list_id(list, id);

    return found == NULL ? 0 : found->type;
}

paua_status field_store(struct catalog *catalog, struct field_item *item, paua_error *err)
{
    struct writer w = {0};
    paua_status status =
        field_encode(&item->field, &w) == PAUA_OK
            ? catalog_put(catalog, TABLE_FIELD, CATALOG_ID(item->field.collection, item->field.id),
                          w.bytes, w.length, err)
            : error_set_nomem(err);

    if (status == PAUA_OK) item->record_crc = record_crc(w.bytes);
    writer_free(&w);
    return status;
}
