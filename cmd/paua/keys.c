/* keys.c - lists of keys of any kind, from text, and keys as text. */
#include "keys.h"

#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "text.h"
#include "vector.h"

void key_list_free(struct key_list *list)
{
    free(list->u64);
    free(list->vectors);
    free(list->spans);
    free(list->strings);
    free(list->bytes);
    *list = (struct key_list){0};
}

void key_list_reset(struct key_list *list)
{
    list->count = 0;
    list->bytes_used = 0;
}

static void reserve(struct key_list *list)
{
    size_t capacity = list->capacity == 0 ? 16 : 2 * list->capacity;

    if (list->count < list->capacity) return;
    if (list->kind == PAUA_KEY_U64) {
        list->u64 = cmd_grow(list->u64, capacity, sizeof *list->u64);
    } else if (list->kind == PAUA_KEY_VECTOR) {
        list->vectors = cmd_grow(list->vectors, capacity * list->dim, sizeof *list->vectors);
    } else {
        list->spans = cmd_grow(list->spans, capacity, sizeof *list->spans);
        list->strings = cmd_grow(list->strings, capacity, sizeof *list->strings);
    }
    list->capacity = capacity;
}

void key_list_begin(struct key_list *list, const paua_schema *schema)
{
    *list = (struct key_list){.kind = schema->key_kind, .dim = schema->fields[0].dim};
    reserve(list);
}

void key_list_add_u64(struct key_list *list, uint64_t key)
{
    reserve(list);
    list->u64[list->count++] = key;
}

void key_list_add_vector(struct key_list *list, const float *vector)
{
    reserve(list);
    memcpy(list->vectors + list->count * list->dim, vector, list->dim * sizeof *vector);
    list->count++;
}

static void append_string(struct key_list *list, const void *text, size_t nbytes)
{
    reserve(list);
    if (list->bytes_used + nbytes > list->bytes_room) {
        list->bytes_room = 2 * (list->bytes_used + nbytes);
        list->bytes = cmd_grow(list->bytes, list->bytes_room, 1);
    }
    memcpy(list->bytes + list->bytes_used, text, nbytes);
    list->spans[list->count++] = (struct key_span){.at = list->bytes_used, .nbytes = nbytes};
    list->bytes_used += nbytes;
}

void key_list_add_from(struct key_list *list, const struct key_list *from, size_t i)
{
    if (list->kind == PAUA_KEY_U64)
        key_list_add_u64(list, from->u64[i]);
    else
        append_string(list, from->bytes + from->spans[i].at, from->spans[i].nbytes);
}

static bool add_string(struct key_list *list, const char *text, size_t nbytes, struct fault *fault)
{
    size_t bad = 0;

    if (nbytes == 0 || nbytes > PAUA_KEY_NBYTES_MAX) {
        fault_set(fault, "the key has %zu bytes, expected 1 to %u", nbytes, PAUA_KEY_NBYTES_MAX);
        return false;
    }
    if (!text_valid(text, nbytes, &bad)) {
        fault_set(fault, "the key is no UTF-8 at its byte %zu, expected UTF-8", bad);
        return false;
    }
    append_string(list, text, nbytes);
    return true;
}

bool key_list_add(struct key_list *list, const char *text, size_t nbytes, struct fault *fault)
{
    uint64_t number = 0;

    if (list->kind == PAUA_KEY_STRING) return add_string(list, text, nbytes, fault);
    if (list->kind == PAUA_KEY_U64) {
        if (!parse_u64(text, nbytes, &number)) {
            fault_set(fault, "the key \"%.*s\" is no whole number from 0 to 2^64-1",
                      nbytes < 100 ? (int)nbytes : 100, text);
            return false;
        }
        key_list_add_u64(list, number);
        return true;
    }
    reserve(list);
    if (!vector_from_text(text, nbytes, list->dim, list->vectors + list->count * list->dim, fault))
        return false;
    list->count++;
    return true;
}

bool key_list_add_file(struct key_list *list, const char *path, struct fault *fault)
{
    struct instream in;
    enum line_result result = LINE_OK;
    const char *line;
    size_t nbytes;
    uint64_t number = 0;
    struct fault why;

    if (!instream_open(&in, path, fault)) return false;
    while (result == LINE_OK) {
        uint64_t at = in.offset;
        result = instream_line(&in, KEY_LINE_NBYTES_MAX, &line, &nbytes, fault);
        if (result != LINE_OK) break;
        if (!key_list_add(list, line, nbytes, &why)) {
            fault_set(fault, "%s: line %llu at byte %llu: %s", in.name,
                      (unsigned long long)number + 1, (unsigned long long)at, why.text);
            result = LINE_FAULT;
        }
        number++;
    }
    instream_close(&in);
    return result == LINE_END;
}

paua_keys key_list_view(struct key_list *list, size_t from, size_t count)
{
    paua_keys keys = {.count = count};

    if (list->kind == PAUA_KEY_U64) {
        keys.u64 = list->u64 + from;
    } else if (list->kind == PAUA_KEY_VECTOR) {
        keys.vectors = list->vectors + from * list->dim;
    } else {
        for (size_t i = from; i < from + count; i++)
            list->strings[i] = (paua_bytes){.data = list->bytes + list->spans[i].at,
                                            .nbytes = list->spans[i].nbytes};
        keys.strings = list->strings + from;
    }
    return keys;
}

float key_component(const paua_schema *schema, const paua_key *key, size_t i)
{
    const uint8_t *bytes = key->bytes.data;
    uint16_t half;
    float value;

    if (vector_is_half(&schema->fields[0])) {
        memcpy(&half, bytes + 2 * i, sizeof half);
        return half_to_float(half);
    }
    memcpy(&value, bytes + 4 * i, sizeof value);
    return value;
}

json_t *key_json(const paua_schema *schema, const paua_key *key)
{
    json_t *array;

    if (schema->key_kind == PAUA_KEY_U64) return json_u64(key->u64);
    if (schema->key_kind == PAUA_KEY_STRING) return json_text(key->bytes.data, key->bytes.nbytes);
    array = json_made(json_array());
    for (size_t i = 0; i < schema->fields[0].dim; i++)
        json_array_append_new(array, json_real((double)key_component(schema, key, i)));
    return array;
}

char *key_text(const paua_schema *schema, const paua_key *key, size_t *nbytes)
{
    size_t dim = schema->fields[0].dim;
    char *text;

    if (schema->key_kind == PAUA_KEY_U64) {
        text = cmd_format("%llu", (unsigned long long)key->u64);
        *nbytes = strlen(text);
        return text;
    }
    if (schema->key_kind == PAUA_KEY_STRING) {
        text = cmd_alloc(key->bytes.nbytes, 1);
        memcpy(text, key->bytes.data, key->bytes.nbytes);
        *nbytes = key->bytes.nbytes;
        return text;
    }
    text = cmd_alloc(dim + 1, FLOAT_TEXT_NBYTES + 1);
    *nbytes = 0;
    for (size_t i = 0; i < dim; i++) {
        text[(*nbytes)++] = i == 0 ? '[' : ',';
        *nbytes += float_text(key_component(schema, key, i), text + *nbytes);
    }
    text[(*nbytes)++] = ']';
    return text;
}
