/* keys.h - lists of keys of any kind, from text, and keys as text. */
#ifndef PAUA_CMD_KEYS_H
#define PAUA_CMD_KEYS_H

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>
#include <paua/paua.h>

#include "instream.h"

struct key_span {
    size_t at; /* offset in the list's bytes */
    size_t nbytes;
};

/* Keys in three possible shapes, of which the kind names one. */
struct key_list {
    paua_key_kind kind;
    size_t dim; /* of vector keys */
    size_t count;
    size_t capacity;
    uint64_t *u64;
    float *vectors;
    struct key_span *spans;
    paua_bytes *strings; /* made from the spans by key_list_view */
    uint8_t *bytes;
    size_t bytes_used, bytes_room;
};

void key_list_begin(struct key_list *list, const paua_schema *schema);
void key_list_free(struct key_list *list);
void key_list_reset(struct key_list *list);

/* Adds a key written as text: digits, the string itself, or a JSON array. */
bool key_list_add(struct key_list *list, const char *text, size_t nbytes, struct fault *fault);
void key_list_add_u64(struct key_list *list, uint64_t key);
void key_list_add_vector(struct key_list *list, const float *vector);

/* Adds the i-th u64 or string key of another list. */
void key_list_add_from(struct key_list *list, const struct key_list *from, size_t i);

/* Adds the keys of a file, one a line; the fault names file and line. */
bool key_list_add_file(struct key_list *list, const char *path, struct fault *fault);

/* The list as the library takes it, valid until the list changes. from, count: a part of it. */
paua_keys key_list_view(struct key_list *list, size_t from, size_t count);

/* Longest line of a file of keys. */
#define KEY_LINE_NBYTES_MAX ((size_t)4 << 20)

/* A stored key as JSON, and as text for a person (escaped by whoever prints it; freed). */
json_t *key_json(const paua_schema *schema, const paua_key *key);
char *key_text(const paua_schema *schema, const paua_key *key, size_t *nbytes);

/* Component i of a stored vector key. */
float key_component(const paua_schema *schema, const paua_key *key, size_t i);

#endif
