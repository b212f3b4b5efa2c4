/* record_print.c - one row for a person (see record_print.h). */
#include "record_print.h"

#include <stdlib.h>
#include <string.h>

#include "keys.h"
#include "text.h"
#include "value.h"
#include "vector.h"

static void print_vectors(const paua_schema *schema, const paua_record *record)
{
    for (size_t f = 0; f < schema->field_count; f++) {
        const paua_vector_field *field = &schema->fields[f];
        char number[FLOAT_TEXT_NBYTES];

        fputs("vector    ", stdout);
        if (schema->field_count > 1) {
            text_print(stdout, field->name, strlen(field->name), TEXT_NO_LIMIT);
            putchar(' ');
        }
        for (uint32_t i = 0; i < field->dim; i++) {
            float_text(record->vectors[f][i], number);
            printf("%s%s", i == 0 ? "[" : ", ", number);
        }
        fputs("]\n", stdout);
    }
}

static void print_value(const paua_field *field, const paua_value *value)
{
    size_t nbytes;
    char *text;

    if (value->type == PAUA_TYPE_NULL) return;
    text = value_text(value, &nbytes);
    fputs("field     ", stdout);
    text_print(stdout, field->name, strlen(field->name), TEXT_NO_LIMIT);
    fputs(" = ", stdout);
    text_print(stdout, text, nbytes, TEXT_NO_LIMIT);
    putchar('\n');
    free(text);
}

void record_print(const struct writer_state *writer, const paua_record *record)
{
    size_t nbytes = 0;
    char *key = key_text(writer->schema, &record->key, &nbytes);

    fputs("key       ", stdout);
    text_print(stdout, key, nbytes, TEXT_NO_LIMIT);
    putchar('\n');
    free(key);
    if (!writer->no_vector) print_vectors(writer->schema, record);
    if (record->document.data != NULL) {
        fputs("document  ", stdout);
        text_print(stdout, record->document.data, record->document.nbytes, TEXT_NO_LIMIT);
        putchar('\n');
    }
    for (size_t f = 0; f < writer->field_count; f++)
        print_value(&writer->fields[f], &record->values[f]);
}

void field_names_take(const struct args *args, struct field_names *names)
{
    const char *given = args_value(args, "fields");
    char *at;

    *names = (struct field_names){0};
    if (given == NULL) return;
    names->text = at = cmd_strdup(given);
    names->names = cmd_alloc(strlen(given) + 1, sizeof *names->names);
    while (at != NULL) {
        char *comma = strchr(at, ',');

        if (comma != NULL) *comma = 0;
        if (*at != 0) names->names[names->count++] = at;
        at = comma == NULL ? NULL : comma + 1;
    }
}

void field_names_free(struct field_names *names)
{
    free(names->text);
    free(names->names);
}
