/* field_record.h - the two records that describe columns in the catalogue.
 *
 * A field (magic "PFLD") is a named, typed property of a collection's rows; a column file (magic
 * "PCFI") holds the values of all fields for one segment. */
#ifndef PAUA_CODEC_FIELD_RECORD_H
#define PAUA_CODEC_FIELD_RECORD_H

#include <paua/paua.h>

#include "base/bytes.h"
#include "codec/manifest.h"

struct field {
    uint32_t collection;
    uint32_t id;   /* 1 and up, rising, never reused in a database */
    uint32_t type; /* of paua_type */
    char name[PAUA_NAME_NBYTES_MAX + 1];
};

struct column_ref {
    uint32_t collection;
    uint64_t segment;
    uint32_t rows;
    struct file_ref file;
};

paua_status field_encode(const struct field *field, struct writer *w);
/* PAUA_OK, PAUA_ECORRUPT or PAUA_EVERSION; the type is not checked beyond fitting 16 bits: that is
 * the column layer's. */
paua_status field_decode(const void *bytes, size_t length, struct field *field);

paua_status column_ref_encode(const struct column_ref *ref, struct writer *w);
paua_status column_ref_decode(const void *bytes, size_t length, struct column_ref *ref);

#endif
