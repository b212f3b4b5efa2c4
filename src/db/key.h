/* key.h - keys as bytes, whatever their kind: a u64 as 8 little-endian bytes, a string as it is, a
 * vector as its stored components. One hash and one equality serve all three. */
#ifndef PAUA_DB_KEY_H
#define PAUA_DB_KEY_H

#include <paua/paua.h>

#include "base/bytes.h"
#include "codec/schema.h"

struct key {
    const uint8_t *bytes;
    size_t nbytes;
};

/* Bytes that every key of this schema has, or 0 when they vary. */
size_t key_fixed_nbytes(const struct schema *schema);

/* XXH3 (xxhash), 64 bits, seed 0. Stored in key files: changing it is a format change. */
uint64_t key_hash(struct key key);
bool key_equal(struct key a, struct key b);

/* Order of keys in results: numbers as numbers, strings and vectors by their bytes. */
int key_compare(const struct schema *schema, struct key a, struct key b);

/* The i-th of a caller's keys, checked: a string's length and UTF-8, a vector's finiteness and, in
 * half precision, range. The bytes live in `scratch` (reused) or in the caller's array. PAUA_EINVAL
 * names the key's row and what is wrong with it. */
paua_status key_from_caller(const struct schema *schema, const paua_keys *keys, size_t i,
                            struct writer *scratch, struct key *key, paua_error *err);

/* The public form of a key, borrowing its bytes. */
paua_key key_public(const struct schema *schema, struct key key);

/* Are a caller's keys given as this schema's kind asks, a stride no shorter than a key? PAUA_EINVAL
 * says what to set. */
paua_status keys_check(const struct schema *schema, const paua_keys *keys, paua_error *err);

/* Converts dim floats to a field's stored form at `to`; PAUA_EINVAL names the component that is not
 * finite or does not fit in half precision. row: for the message. */
paua_status vector_store(const struct schema_field *field, const float *vector, uint64_t row,
                         uint8_t *to, paua_error *err);

/* Checks alone, without storing. */
paua_status vector_check(const struct schema_field *field, const float *vector, uint64_t row,
                         paua_error *err);

#endif
