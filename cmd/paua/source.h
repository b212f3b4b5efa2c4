/* source.h - the rows of an import: a file of vectors, with keys and documents from wherever they
 * come: the file itself, files of lines beside it, or counting up. */
#ifndef PAUA_CMD_SOURCE_H
#define PAUA_CMD_SOURCE_H

#include "block.h"
#include "reader.h"

struct source {
    const paua_schema *schema;
    struct reader_state reader; /* of the file at work */
    struct instream keys;       /* --keys; has_keys */
    struct instream documents;  /* --documents; has_documents */
    bool has_keys;
    bool has_documents;
    uint64_t first_key;
    uint64_t ordinal; /* of the next row, over all files */
    uint32_t given;   /* vectors that the file's first row gave */
    bool given_known; /* a row has been read */
    bool upsert;      /* rows may leave the vectors out */
    struct field_table fields;
};

struct source_mark {
    uint64_t ordinal;
    uint64_t keys_offset;
    uint64_t documents_offset;
};

/* The next row into the block, with its key and document. Bad rows use up their lines too. */
enum row_result source_row(struct source *source, struct row_block *block, struct fault *fault);

/* Whether everything can be read a second time. */
bool source_seekable(const struct source *source);
struct source_mark source_mark(const struct source *source);
bool source_return(struct source *source, struct source_mark mark, struct fault *fault);

/* After the last file: whether the files of lines end here too. */
bool source_lines_end(struct source *source, struct fault *fault);

#endif
