/* rebuild_codes.c - see rebuild_codes.h. Codes may be all that is kept of the vectors; a digest in
 * them names the vector files they were made of. Graphs are built anew by the next optimize. */
#include "db/rebuild_codes.h"

#include "base/error.h"
#include "codec/index_record.h"
#include "db/vectors.h"
#include "index/codes.h"

/* Does file `number` hold codes of this segment's vectors? Fills the record if so. */
static bool codes_match(struct dir *dir, const struct segment *segment, uint64_t number,
                        struct artifact *artifact)
{
    struct data_file_opts opts = {.no_mmap = true, .verify = PAUA_VERIFY_TOUCH};
    const struct file_header *header;
    struct data_file *file;
    struct codes *codes = NULL;
    bool match = false;

    *artifact = (struct artifact){.collection = segment->manifest.collection,
                                  .segment = segment->manifest.segment,
                                  .rows = segment->rows};
    if (data_file_open_any(dir, number, FILE_CODES, opts, &file, &artifact->file, NULL) != PAUA_OK)
        return false;
    header = data_file_header(file);
    artifact->field = header->field;
    if (header->collection == artifact->collection &&
        header->field < segment->manifest.field_count &&
        data_file_row_count(file) == segment->rows &&
        codes_open(file, true, &codes, NULL) == PAUA_OK) {
        artifact->source_digest = codes->source_digest;
        match = codes->source_digest == vectors_digest(segment, header->field);
        codes_unref(codes);
    }
    data_file_unref(file);
    return match;
}

paua_status rebuild_codes(struct dir *dir, struct catalog *catalog, const struct segment *segment,
                          const uint64_t *numbers, size_t count, paua_error *err)
{
    uint32_t stored = 0; /* one bit a field */
    struct writer w = {0};
    paua_status status = PAUA_OK;

    for (size_t i = 0; i < count && status == PAUA_OK; i++) {
        struct artifact artifact;

        if (!codes_match(dir, segment, numbers[i], &artifact) ||
            (stored >> artifact.field & 1) != 0)
            continue;
        stored |= 1u << artifact.field;
        w.length = 0;
        status = artifact_encode(&artifact, &w) != PAUA_OK
                     ? error_set_nomem(err)
                     : catalog_put(catalog, TABLE_ARTIFACT,
                                   CATALOG_ID(artifact.collection, artifact.file.number), w.bytes,
                                   w.length, err);
    }
    writer_free(&w);
    return status;
}
