/* graph_record.h - what a file of a graph says about itself (magic "PGRF"). Its lists are a section
 * of rows x stride ids, its copies one of copy_count pairs. */
#ifndef PAUA_CODEC_GRAPH_RECORD_H
#define PAUA_CODEC_GRAPH_RECORD_H

#include <paua/paua.h>

#include "base/bytes.h"

#define GRAPH_RECORD_ROWS_MAX (UINT32_C(1) << 31) /* ids share 32 bits with a mark */
#define GRAPH_RECORD_STRIDE_UNIT 16u
#define GRAPH_RECORD_COPY_NBYTES 8u

struct graph_record {
    uint32_t rows;       /* 1 to GRAPH_RECORD_ROWS_MAX */
    uint32_t degree;     /* 4 to PAUA_DEGREE_MAX */
    uint32_t stride;     /* degree rounded up to GRAPH_RECORD_STRIDE_UNIT */
    uint32_t entry;      /* below rows */
    uint32_t copy_count; /* below rows */
    uint32_t list;       /* 1 to PAUA_LIST_MAX */
    uint32_t occlusion;  /* 1 or more */
    float alpha;         /* 1 to 2 */
    uint32_t codes_crc;  /* footer checksum of the codes it was built on */
    uint64_t edges;      /* at most rows x degree */
};

/* Appends the record to an empty writer: PAUA_OK or PAUA_ENOMEM. */
paua_status graph_record_encode(const struct graph_record *record, struct writer *w);
/* PAUA_OK, PAUA_ECORRUPT or PAUA_EVERSION; *record changes only on PAUA_OK. */
paua_status graph_record_decode(const void *bytes, size_t length, struct graph_record *record);

#endif
