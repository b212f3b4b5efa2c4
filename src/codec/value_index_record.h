/* value_index_record.h - what a file of an index of a field's values says about itself (magic
 * "PVIX"). */
#ifndef PAUA_CODEC_VALUE_INDEX_RECORD_H
#define PAUA_CODEC_VALUE_INDEX_RECORD_H

#include <paua/paua.h>

#include "base/bytes.h"

struct value_index_record {
    paua_index_kind kind; /* PAUA_INDEX_BITMAP or PAUA_INDEX_SORTED */
    uint32_t rows;        /* of the segment, 1 or more */
    uint32_t entries;     /* at most rows */
    uint32_t columns_crc; /* footer checksum of the column file that it is over; 0: there is none */
    uint64_t sets_nbytes; /* 0 for PAUA_INDEX_SORTED */
};

/* Appends the record to an empty writer: PAUA_OK or PAUA_ENOMEM. */
paua_status value_index_record_encode(const struct value_index_record *record, struct writer *w);
/* PAUA_OK, PAUA_ECORRUPT or PAUA_EVERSION; *record changes only on PAUA_OK. */
paua_status value_index_record_decode(const void *bytes, size_t length,
                                      struct value_index_record *record);

#endif
