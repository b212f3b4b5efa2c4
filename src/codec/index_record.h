/* index_record.h - the two records that describe indexes in the catalogue.
 *
 * A definition (magic "PIDX") says what index a field shall have; an artifact (magic "PART") which
 * file holds, for one field of one segment, its codes (index 0), or the graph or the ordered values
 * of one index. */
#ifndef PAUA_CODEC_INDEX_RECORD_H
#define PAUA_CODEC_INDEX_RECORD_H

#include <paua/paua.h>

#include "base/bytes.h"
#include "codec/filehead.h"
#include "codec/manifest.h"

struct index_definition {
    uint32_t collection;
    uint32_t number;      /* 1 and up in its collection, rising, never reused */
    uint32_t field;       /* place in the schema's vector fields; BITMAP, SORTED: id of a field */
    paua_index_kind kind; /* never DEFAULT or NONE */
    uint32_t degree, list, occlusion; /* vamana; 0 for others */
    float alpha;                      /* vamana: 1 to 2; 0 for others */
    char name[PAUA_NAME_NBYTES_MAX + 1];
};

struct artifact {
    uint32_t collection;
    uint64_t segment;
    uint32_t field; /* as in the definition */
    uint32_t index; /* 0: codes; else the number of the index */
    bool values;    /* of an index of a field's values, not a graph */
    uint32_t rows;
    struct file_ref file;
    uint64_t source_digest; /* codes: of the vector files; graph: footer checksum of the codes;
                               values: that of the column file, 0 if there is none */
};

/* Is it an index of a field that is no vector? */
static inline bool index_kind_is_values(paua_index_kind kind)
{
    return kind == PAUA_INDEX_BITMAP || kind == PAUA_INDEX_SORTED;
}

/* FILE_CODES, FILE_GRAPH or FILE_VALUES. */
enum file_kind artifact_file_kind(const struct artifact *artifact);

paua_status index_definition_encode(const struct index_definition *definition, struct writer *w);
paua_status index_definition_decode(const void *bytes, size_t length,
                                    struct index_definition *definition);
paua_status artifact_encode(const struct artifact *artifact, struct writer *w);
paua_status artifact_decode(const void *bytes, size_t length, struct artifact *artifact);

#endif
