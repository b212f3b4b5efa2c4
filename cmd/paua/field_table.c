/* field_table.c - the fields that a command knows of (see field_table.h). */
#include "field_table.h"

#include <stdlib.h>
#include <string.h>

static struct field_entry *add(struct field_table *table, const char *name)
{
    if (table->count == table->capacity) {
        table->capacity = 2 * table->capacity + 16;
        table->items = cmd_grow(table->items, table->capacity, sizeof *table->items);
    }
    table->items[table->count] = (struct field_entry){.name = cmd_strdup(name)};
    return &table->items[table->count++];
}

static void take_info(void *arg, const paua_field_info *info)
{
    struct field_entry *entry = add(arg, info->field.name);

    entry->type = info->field.type;
    entry->made = true;
}

int field_table_load(struct field_table *table, paua_collection *collection)
{
    paua_error err;

    if (paua_field_list(collection, take_info, table, &err) != PAUA_OK) return fail_with(&err);
    return EXIT_OK;
}

void field_table_free(struct field_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        free(table->items[i].name);
    free(table->items);
    *table = (struct field_table){0};
}

struct field_entry *field_table_find(const struct field_table *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->items[i].name, name) == 0) return &table->items[i];
    return NULL;
}

struct field_entry *field_table_take(struct field_table *table, const char *name,
                                     struct fault *fault)
{
    for (size_t i = 0; i < table->count; i++) {
        size_t at = (table->next + i) % table->count;

        if (strcmp(table->items[at].name, name) != 0) continue;
        table->next = at + 1;
        return &table->items[at];
    }
    if (table->may_grow) return add(table, name);
    fault_set(fault,
              "there is no field \"%s\" (\"paua field add\" adds one, import --add-fields all)",
              name);
    return NULL;
}

static bool is_text(uint32_t type)
{
    return type == PAUA_TYPE_STRING || type == PAUA_TYPE_BYTES || type == PAUA_TYPE_MIXED;
}

static bool is_number(uint32_t type) { return type == PAUA_TYPE_INT64 || type == PAUA_TYPE_DOUBLE; }

/* A type for values of both; 0 if there is none. */
static uint32_t wider(uint32_t type, uint32_t other)
{
    const uint32_t array = PAUA_TYPE_ARRAY;

    if (type == 0 || type == other) return other;
    if (is_number(type) && is_number(other)) return PAUA_TYPE_DOUBLE;
    if (is_text(type) && is_text(other)) return PAUA_TYPE_MIXED;
    if ((type & other & array) != 0 && is_number(type & ~array) && is_number(other & ~array))
        return array | PAUA_TYPE_DOUBLE;
    return 0;
}

bool field_entry_widen(struct field_entry *entry, const paua_value *value, struct fault *fault)
{
    uint32_t type = value->type, wide;

    if (type == PAUA_TYPE_NONE || type == PAUA_TYPE_NULL || entry->made) return true;
    wide = wider(entry->type, type);
    if (wide != 0) {
        entry->type = wide;
        return true;
    }
    fault_set(fault, "%s, where rows before it have %s", paua_type_name(type),
              paua_type_name(entry->type));
    return false;
}

bool field_table_widen_text(const struct field_table *table, struct field_entry *entry,
                            const paua_value *value, struct fault *fault)
{
    if (field_entry_widen(entry, value, fault)) return true;
    if (!table->may_loosen) return false;
    entry->type = PAUA_TYPE_STRING;
    return true;
}

bool field_table_settle(const struct field_table *table, struct fault *fault)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct field_entry *entry = &table->items[i];

        if (!entry->empty_array || entry->made || (entry->type & PAUA_TYPE_ARRAY) != 0) continue;
        if (entry->type == 0)
            fault_set(fault,
                      "field \"%s\": its arrays are all empty and have no type, declare it "
                      "first (paua field add)",
                      entry->name);
        else
            fault_set(fault, "field \"%s\": an empty array, where other rows have %s", entry->name,
                      paua_type_name(entry->type));
        return false;
    }
    return true;
}

int field_table_make(struct field_table *table, const struct cli *cli, paua_collection *collection)
{
    paua_error err;

    for (size_t i = 0; i < table->count; i++) {
        struct field_entry *entry = &table->items[i];
        paua_field field = {entry->name, entry->type};

        if (entry->made || entry->type == 0) continue;
        if (table->dynamic && is_text(entry->type)) field.type = entry->type = PAUA_TYPE_MIXED;
        if (paua_field_add(collection, &field, &err) != PAUA_OK) return fail_with(&err);
        entry->made = entry->added = true;
        note(cli->quiet || cli->json, "field %s added, %s", entry->name,
             paua_type_name(entry->type));
    }
    return EXIT_OK;
}

json_t *field_table_added(const struct field_table *table)
{
    json_t *added = json_made(json_object());

    for (size_t i = 0; i < table->count; i++)
        if (table->items[i].added)
            json_object_set_new(added, table->items[i].name,
                                json_word(paua_type_name(table->items[i].type)));
    return added;
}

bool field_parse_typed(const char *option, char *text, paua_field *field)
{
    char *colon = strrchr(text, ':');

    if (colon != NULL) field->type = paua_type_parse(colon + 1);
    if (colon == NULL || colon == text || field->type == 0) {
        usage("option --%s: \"%s\" is not NAME:TYPE, TYPE one of bool, int8 to int64, uint8 to "
              "uint64, float, double, string, bytes, timestamp, \"array of TYPE\"",
              option, text);
        return false;
    }
    *colon = 0;
    field->name = text;
    return true;
}
