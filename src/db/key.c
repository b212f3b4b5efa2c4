/* key.c - keys and vectors as a caller gives them, checked and turned into their stored bytes. */
#include "db/key.h"

#include <math.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/error.h"
#include "base/utf8.h"
#include "kernel/kernel.h"

#define HALF_MAX 65504.0f
#define HALF_OVERFLOW 65520.0f /* from here on rounding to nearest gives infinity */

size_t key_fixed_nbytes(const struct schema *schema)
{
    switch (schema->key_kind) {
    case PAUA_KEY_U64:
        return 8;
    case PAUA_KEY_VECTOR:
        return schema_row_nbytes(&schema->fields[0]);
    default:
        return 0;
    }
}

uint64_t key_hash(struct key key) { return XXH3_64bits(key.bytes, key.nbytes); }

bool key_equal(struct key a, struct key b)
{
    return a.nbytes == b.nbytes && memcmp(a.bytes, b.bytes, a.nbytes) == 0;
}

int key_compare(const struct schema *schema, struct key a, struct key b)
{
    size_t shorter = a.nbytes < b.nbytes ? a.nbytes : b.nbytes;
    int order;

    if (schema->key_kind == PAUA_KEY_U64) {
        uint64_t x = bytes_get(a.bytes, 8), y = bytes_get(b.bytes, 8);
        return x < y ? -1 : x > y;
    }
    order = memcmp(a.bytes, b.bytes, shorter);
    if (order != 0) return order;
    return a.nbytes < b.nbytes ? -1 : a.nbytes > b.nbytes;
}

paua_status keys_check(const struct schema *schema, const paua_keys *keys, paua_error *err)
{
    uint32_t dim = schema->fields[0].dim;

    if (keys == NULL) return error_set(err, PAUA_EINVAL, "the keys are NULL");
    if (keys->count == 0) return PAUA_OK;
    if (schema->key_kind == PAUA_KEY_U64 && keys->u64 == NULL)
        return error_set(err, PAUA_EINVAL, "the keys of \"%s\" are numbers; set paua_keys.u64",
                         schema->name);
    if (schema->key_kind == PAUA_KEY_STRING && keys->strings == NULL)
        return error_set(err, PAUA_EINVAL, "the keys of \"%s\" are strings; set paua_keys.strings",
                         schema->name);
    if (schema->key_kind == PAUA_KEY_VECTOR && keys->vectors == NULL)
        return error_set(err, PAUA_EINVAL, "the keys of \"%s\" are vectors; set paua_keys.vectors",
                         schema->name);
    if (schema->key_kind == PAUA_KEY_VECTOR && keys->stride != 0 && keys->stride < dim)
        return error_set(err, PAUA_EINVAL, "a stride of %zu is less than the dimension %u",
                         keys->stride, dim);
    return PAUA_OK;
}

static paua_status string_check(const paua_bytes *string, size_t row, paua_error *err)
{
    size_t valid;

    if (string->data == NULL || string->nbytes == 0)
        return error_set_row(err, PAUA_EINVAL, row, "row %zu: the key is empty; give 1 to %u bytes",
                             row, PAUA_KEY_NBYTES_MAX);
    if (string->nbytes > PAUA_KEY_NBYTES_MAX)
        return error_set_row(err, PAUA_EINVAL, row,
                             "row %zu: the key has %zu bytes; at most %u are allowed", row,
                             string->nbytes, PAUA_KEY_NBYTES_MAX);
    valid = utf8_valid_prefix(string->data, string->nbytes);
    if (valid < string->nbytes)
        return error_set_row(err, PAUA_EINVAL, row,
                             "row %zu: the key is not UTF-8 at byte %zu; encode it or use hex", row,
                             valid);
    return PAUA_OK;
}

paua_status vector_check(const struct schema_field *field, const float *vector, uint64_t row,
                         paua_error *err)
{
    size_t bad = kernels_best()->find_nonfinite(vector, field->dim);

    if (bad < field->dim)
        return error_set_row(err, PAUA_EINVAL, row,
                             "row %llu: component %zu of vector \"%s\" is %s; give finite numbers",
                             (unsigned long long)row, bad, field->name,
                             isnan(vector[bad]) ? "NaN" : "infinite");
    if (field->originals != PAUA_ORIGINALS_FP16) return PAUA_OK;
    for (bad = 0; bad < field->dim; bad++)
        if (fabsf(vector[bad]) >= HALF_OVERFLOW)
            return error_set_row(err, PAUA_EINVAL, row,
                                 "row %llu: component %zu of vector \"%s\" is %g, beyond half "
                                 "precision's %g; scale it or store fp32",
                                 (unsigned long long)row, bad, field->name, (double)vector[bad],
                                 (double)HALF_MAX);
    return PAUA_OK;
}

paua_status vector_store(const struct schema_field *field, const float *vector, uint64_t row,
                         uint8_t *to, paua_error *err)
{
    paua_status status = vector_check(field, vector, row, err);

    if (status != PAUA_OK) return status;
    if (field->originals == PAUA_ORIGINALS_FP16)
        kernels_best()->f16_from_f32(vector, field->dim, (uint16_t *)(void *)to);
    else
        memcpy(to, vector, schema_row_nbytes(field));
    return PAUA_OK;
}

paua_status key_from_caller(const struct schema *schema, const paua_keys *keys, size_t i,
                            struct writer *scratch, struct key *key, paua_error *err)
{
    const struct schema_field *field = &schema->fields[0];
    size_t stride = keys->stride == 0 ? field->dim : keys->stride;
    paua_status status;
    uint8_t *room;

    if (schema->key_kind == PAUA_KEY_STRING) {
        status = string_check(&keys->strings[i], i, err);
        if (status != PAUA_OK) return status;
        *key = (struct key){keys->strings[i].data, keys->strings[i].nbytes};
        return PAUA_OK;
    }
    scratch->length = 0;
    room = writer_room(scratch, key_fixed_nbytes(schema));
    if (room == NULL) return error_set_nomem(err);
    if (schema->key_kind == PAUA_KEY_U64) {
        bytes_put(room, keys->u64[i], 8);
    } else {
        status = vector_store(field, keys->vectors + i * stride, i, room, err);
        if (status != PAUA_OK) return status;
    }
    *key = (struct key){room, key_fixed_nbytes(schema)};
    return PAUA_OK;
}

paua_key key_public(const struct schema *schema, struct key key)
{
    if (schema->key_kind == PAUA_KEY_U64) return (paua_key){.u64 = bytes_get(key.bytes, 8)};
    return (paua_key){.bytes = {key.bytes, key.nbytes}};
}
