/* index_record.h - the two records that describe indexes in the catalogue.
 *
 * A definition (magic "PIDX") says what index a field shall have; an artifact (magic "PART") which
 * file holds the codes (index 0) or the graph of one index for one field of one segment. */
#ifndef PAUA_CODEC_INDEX_RECORD_H
#define PAUA_CODEC_INDEX_RECORD_H

#include <paua/paua.h>

#include "base/bytes.h"
#include "codec/manifest.h"

struct index_definition {
    uint32_t collection;
    uint32_t number; /* 1 and up in its collection, rising, never reused */
    uint32_t field;
    paua_index_kind kind; /* PAUA_INDEX_VAMANA or PAUA_INDEX_FLAT, never DEFAULT or NONE */
    uint32_t degree, list, occlusion; /* vamana; 0 for flat */
    float alpha;                      /* vamana: 1 to 2; 0 for flat */
    char name[PAUA_NAME_NBYTES_MAX + 1];
};

struct artifact {
    uint32_t collection;
    uint64_t segment;
    uint32_t field;
    uint32_t index; /* 0: codes; else the number of the index whose graph it is */
    uint32_t rows;
    struct file_ref file;
    uint64_t source_digest; /* codes: of the vector files; graph: footer checksum of the codes */
};

paua_status index_definition_encode(const struct index_definition *definition, struct writer *w);
paua_status index_definition_decode(const void *bytes, size_t length,
                                    struct index_definition *definition);
paua_status artifact_encode(const struct artifact *artifact, struct writer *w);
paua_status artifact_decode(const void *bytes, size_t length, struct artifact *artifact);

#endif
