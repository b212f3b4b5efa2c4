/* history_record.h - the records of a durable history: its state, a group of its sealed pages, and
 * its tail (magics "PHIS", "PHGR", "PHTR").
 *
 * Rows have ordinals, from 0, in the order of their appending; pages have numbers, from 0. What a
 * page or a tail holds is in the stored form of docs/FORMAT-HISTORY.md, of which this layer knows
 * no more than the length of a head. */
#ifndef PAUA_CODEC_HISTORY_RECORD_H
#define PAUA_CODEC_HISTORY_RECORD_H

#include <paua/paua.h>

#include "base/bytes.h"

#define HISTORY_GROUP_PAGES_MAX 8u
#define HISTORY_PAGE_HEAD_NBYTES 80u
#define HISTORY_FILTER_NBYTES_MAX 65536u

struct history_record {
    uint32_t history;    /* number, shared with those of collections, from 1 */
    uint64_t generation; /* rises with every commit */
    uint64_t first_row;  /* ordinal of the oldest row that is kept */
    uint64_t tail_row;   /* ordinal of the first row that is in no page */
    uint64_t next_row;
    uint64_t next_id;
    uint64_t next_page;
    int64_t last_time;    /* 0: rows had none */
    uint64_t file;        /* of pages, the last one; 0: none yet */
    uint64_t file_nbytes; /* its length as committed */
    uint32_t group_count; /* records of groups that there are */
    uint64_t max_rows, max_nbytes, max_age_ms;
    uint32_t page_rows; /* 1 to 256 */
    char name[PAUA_NAME_NBYTES_MAX + 1];
};

paua_status history_record_encode(const struct history_record *record, struct writer *w);
paua_status history_record_decode(const void *bytes, size_t length, struct history_record *record);

/* Pages that lie one behind the other in a file, each head followed by its bytes. */
struct history_group {
    uint32_t history;
    uint64_t first_page;
    uint64_t first_row;
    uint64_t file;
    uint64_t offset; /* of the first page's head */
    uint32_t page_count;
    const uint8_t *heads; /* page_count times HISTORY_PAGE_HEAD_NBYTES; borrowed */
    paua_bytes filter;    /* for searches; data NULL: none; borrowed */
};

paua_status history_group_encode(const struct history_group *group, struct writer *w);
/* Borrows from bytes. */
paua_status history_group_decode(const void *bytes, size_t length, struct history_group *group);

struct history_tail {
    uint32_t history;
    uint64_t generation; /* of the commit that wrote it */
    uint64_t first_row;
    paua_bytes page; /* a stored page of magic "PHTL"; borrowed */
};

paua_status history_tail_encode(const struct history_tail *tail, struct writer *w);
paua_status history_tail_decode(const void *bytes, size_t length, struct history_tail *tail);

#endif
