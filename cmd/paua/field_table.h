/* field_table.h - the fields that a command knows of: a collection's own, and new ones that an
 * import brings. */
#ifndef PAUA_CMD_FIELD_TABLE_H
#define PAUA_CMD_FIELD_TABLE_H

#include "cli.h"
#include "value.h"

struct field_entry {
    char *name; /* owned */
    uint32_t type;
    bool made;        /* the collection has it */
    bool empty_array; /* an empty array was given before the type was known */
    bool added;       /* by field_table_make */
};

struct field_table {
    struct field_entry *items;
    size_t count, capacity;
    size_t next;     /* where the next one is looked for first: rows give them in one order */
    bool may_grow;   /* fields that are not there are added, with the type of their values */
    bool dynamic;    /* of the collection: strings and bytes go together in new fields */
    bool may_loosen; /* rows are read again, once all types are known */
};

/* Reads the collection's fields. EXIT_OK, or the error was printed. */
int field_table_load(struct field_table *table, paua_collection *collection);
void field_table_free(struct field_table *table);

/* NULL if there is none. */
struct field_entry *field_table_find(const struct field_table *table, const char *name);

/* The entry of a field that a row gives, or a new one without a type. The fault says how to add
 * it. */
struct field_entry *field_table_take(struct field_table *table, const char *name,
                                     struct fault *fault);

/* Gives an entry that is not made yet a type that takes this value too: doubles take integers,
 * strings and bytes are mixed. False if there is none. */
bool field_entry_widen(struct field_entry *entry, const paua_value *value, struct fault *fault);

/* The same for a value that was written as text: where nothing else is left, under may_loosen, a
 * string. */
bool field_table_widen_text(const struct field_table *table, struct field_entry *entry,
                            const paua_value *value, struct fault *fault);

/* Once all rows were seen: whether the types suit empty arrays, too. */
bool field_table_settle(const struct field_table *table, struct fault *fault);

/* Adds the entries with a type that are not made yet to the collection, and says so. */
int field_table_make(struct field_table *table, const struct cli *cli, paua_collection *collection);

/* A JSON object of the entries that were added: {"name": "type"}. */
json_t *field_table_added(const struct field_table *table);

/* NAME:TYPE as --column takes it; the name may hold colons. Prints and returns false if it is none.
 * The name is cut out of the text. */
bool field_parse_typed(const char *option, char *text, paua_field *field);

#endif
