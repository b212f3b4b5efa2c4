/* head.h - the state of one collection as stored (magic "PHED"), rewritten by each commit: what the
 * tail is, how far it goes, and digests that notice a missing or exchanged segment or batch. */
#ifndef PAUA_CODEC_HEAD_H
#define PAUA_CODEC_HEAD_H

#include <paua/paua.h>

#include "base/bytes.h"

struct head {
    uint32_t collection;
    uint64_t generation;     /* rises whenever the set of segments or the tail's files change */
    uint64_t next_row;       /* id that the next row will get */
    uint64_t first_sequence; /* first batch still stored; first_sequence > last_sequence: none */
    uint64_t last_sequence;  /* last batch committed */
    uint64_t tail_first_row; /* id of the tail's first row */
    uint32_t field_count;
    uint64_t tail_vectors[PAUA_VECTOR_FIELDS_MAX]; /* file numbers; 0: the tail has no files yet */
    uint64_t tail_heap;                            /* file number; 0 without documents */
    uint32_t segment_count;
    uint32_t segments_digest; /* head_digest() over all segments in order, and fields */
};

paua_status head_encode(const struct head *head, struct writer *w);
paua_status head_decode(const void *bytes, size_t length, struct head *head);

/* Adds one segment (its record's and its deletion record's checksum; 0 without deletions) to a
 * digest that starts at 0. */
uint32_t head_digest(uint32_t digest, uint64_t segment, uint32_t record_crc, uint32_t deleted_crc);

#endif
