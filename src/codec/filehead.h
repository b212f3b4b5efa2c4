/* filehead.h - header, footer and trailer of every data file.
 *
 *   header    64 bytes: see filehead_encode
 *   data      pages of 64 KiB (the last may be shorter), each with its crc32c in the footer
 *   footer    a record (magic "PFTR"), only in sealed files: sections, page checksums, row count,
 *             and opaque descriptions (rowset of ids, manifest, schema)
 *   trailer   24 bytes: u64 footer offset, u32 footer length, u32 crc32c of the footer record,
 *             u32 crc32c of these 16 bytes, u32 magic "PEND"
 *
 * Header fields: 8 magic "PAUAFILE", u16 version, u8 kind, u8 reserved, u32 compat, u32
 * read_compat, u32 incompat, u64 number, u32 collection, u32 field, u32 row_nbytes, u32 dim, 12
 * reserved zero bytes, u32 crc32c of the first 60 bytes. Unknown incompat bits: PAUA_EVERSION;
 * unknown read_compat bits: writers refuse, readers go on; unknown compat bits: ignored. */
#ifndef PAUA_CODEC_FILEHEAD_H
#define PAUA_CODEC_FILEHEAD_H

#include <paua/paua.h>

#include "base/bytes.h"

#define FILE_HEADER_NBYTES 64u
#define FILE_TRAILER_NBYTES 24u
#define FILE_PAGE_NBYTES 65536u
#define FILE_SECTIONS_MAX 64u

enum file_kind {
    FILE_VECTORS_F32 = 1,
    FILE_VECTORS_F16 = 2,
    FILE_HEAP = 3,
    FILE_KEYS = 4,
    FILE_CODES = 5,
    FILE_GRAPH = 6,
    FILE_COLUMNS = 7,
    FILE_PAGES = 8, /* of a history: no footer, see archive/page_file.h */
    FILE_VALUES = 9
};

/* ".f32", ".f16", ".heap", ".keys", ".codes", ".graph", ".columns", ".pages",
 * ".values" */
const char *file_kind_suffix(enum file_kind kind);

struct file_header {
    enum file_kind kind;
    uint32_t compat, read_compat, incompat;
    uint64_t number;
    uint32_t collection;
    uint32_t field;      /* vectors, codes, graphs, values; otherwise 0 */
    uint32_t row_nbytes; /* vectors: bytes of a row; otherwise 0 */
    uint32_t dim;        /* vectors, codes and graphs: components; otherwise 0 */
};

void file_header_encode(const struct file_header *header, uint8_t bytes[FILE_HEADER_NBYTES]);
paua_status file_header_decode(const void *bytes, size_t length, struct file_header *header);

enum section_id {
    SECTION_ROWS = 1,      /* vectors */
    SECTION_DOCUMENTS = 2, /* heap: the documents, one after the other */
    SECTION_LENGTHS = 3,   /* heap: u32 a row; BATCH_NO_DOCUMENT: none */
    SECTION_BASES = 4,     /* heap: u64 every 64 rows: offset in DOCUMENTS */
    SECTION_BUCKETS = 5,   /* keys: u32 first slot of each bucket, and one past the last */
    SECTION_TAGS = 6,      /* keys: u16 a slot */
    SECTION_SLOTS = 7,     /* keys: u32 row a slot */
    SECTION_KEYS = 8,      /* keys: u64 a row, or the strings */
    SECTION_OFFSETS = 9,   /* keys: strings: u32 a row, where its key ends in KEYS */
    /* codes and graphs: see index/codes.h and index/graph_file.h */
    SECTION_MODEL = 10,
    SECTION_MEAN = 11,
    SECTION_ROTATED_MEAN = 12,
    SECTION_MATRIX_S8 = 14,
    SECTION_MATRIX_SCALE = 15,
    SECTION_WALK = 17,
    SECTION_WALK_FACTORS = 18,
    SECTION_REFINE = 19,
    SECTION_REFINE_FACTORS = 20,
    SECTION_GRAPH = 21,
    SECTION_NEIGHBOURS = 22,
    SECTION_COPIES = 23,
    /* columns: see column/column_file.h */
    SECTION_COLUMNS = 24,
    SECTION_COLUMN_DIRECTORY = 25,
    /* values: see index/value_index.h */
    SECTION_VALUE_INDEX = 26,
    SECTION_VALUE_ROWS = 27,
    SECTION_VALUE_TOTALS = 28,
    SECTION_VALUE_ENDS = 29,
    SECTION_VALUE_SETS = 30
};

struct section {
    uint16_t id;
    uint64_t offset; /* from the start of the data */
    uint64_t nbytes;
};

struct file_footer {
    uint64_t data_nbytes;
    uint32_t row_count;
    uint32_t section_count;
    struct section sections[FILE_SECTIONS_MAX]; /* rising offsets, inside the data, not overlapping,
                                                   ids distinct */
    const uint8_t *page_crcs; /* u32 little-endian, one a page of the data; borrowed */
    uint32_t page_count;
    paua_bytes ids;      /* rowset of row ids relative to the first, or absent (data NULL) */
    paua_bytes manifest; /* key files: the segment's manifest record, or absent */
    paua_bytes schema;   /* key files: the collection's schema record, or absent */
};

paua_status file_footer_encode(const struct file_footer *footer, struct writer *w);
/* Borrows from bytes. page_count must be exactly what data_nbytes needs. */
paua_status file_footer_decode(const void *bytes, size_t length, struct file_footer *footer);

struct file_trailer {
    uint64_t footer_offset; /* from the start of the file */
    uint32_t footer_nbytes;
    uint32_t footer_crc; /* record_crc() of the footer */
};

void file_trailer_encode(const struct file_trailer *trailer, uint8_t bytes[FILE_TRAILER_NBYTES]);
paua_status file_trailer_decode(const void *bytes, size_t length, struct file_trailer *trailer);

#endif
