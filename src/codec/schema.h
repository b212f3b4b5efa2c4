/* schema.h - a collection's description as stored (magic "PSCH"): its number, name, key kind,
 * document kind, metric, precision, dimension and name of each vector field, and feature bits. */
#ifndef PAUA_CODEC_SCHEMA_H
#define PAUA_CODEC_SCHEMA_H

#include <paua/paua.h>

#include "base/bytes.h"

struct schema_field {
    char name[PAUA_NAME_NBYTES_MAX + 1];
    uint32_t dim;
    paua_metric metric; /* never PAUA_METRIC_DEFAULT */
    paua_precision precision;
    paua_originals originals; /* never PAUA_ORIGINALS_DEFAULT */
};

struct schema {
    uint32_t collection; /* number, 1 and up, never reused */
    char name[PAUA_NAME_NBYTES_MAX + 1];
    paua_key_kind key_kind;
    paua_document_kind document;
    bool columns; /* its rows may have fields: a paua that knows none must not touch it */
    bool dynamic; /* writes may bring new fields; implies columns */
    uint32_t field_count;
    struct schema_field fields[PAUA_VECTOR_FIELDS_MAX];
};

/* Bytes of one component of the originals as they are stored, and of one vector. Originals that
 * will not be kept are stored in fp32 until codes take their place. */
size_t schema_component_nbytes(const struct schema_field *field);
size_t schema_row_nbytes(const struct schema_field *field);

/* 1 to 255 bytes of UTF-8 without control characters (below 0x20, and 0x7F)? */
bool schema_name_valid(const char *name);

/* A name as records hold it: u8 length and bytes. take fills name, which is zeroed and has room for
 * PAUA_NAME_NBYTES_MAX + 1; false if it is cut short or holds a NUL. Whether it is valid is asked
 * afterwards. */
void schema_name_put(struct writer *w, const char *name);
bool schema_name_take(struct reader *r, char *name);

/* Appends the record to an empty writer: PAUA_OK or PAUA_ENOMEM. */
paua_status schema_encode(const struct schema *schema, struct writer *w);
/* PAUA_OK, PAUA_ECORRUPT or PAUA_EVERSION; *schema changes only on PAUA_OK. Field names must be
 * valid and distinct, every enum in range. */
paua_status schema_decode(const void *bytes, size_t length, struct schema *schema);

#endif
