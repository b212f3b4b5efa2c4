/* originals.c - see originals.h.
 *
 * A stub is a sealed vector file of the same number without rows: it keeps the row ids, which live
 * in the first field's footer, and replaces the file by a rename. So a name always leads to a whole
 * file, and open descriptors and maps go on with the old one. */
#include "db/originals.h"

#include "base/error.h"
#include "base/memory.h"
#include "db/files.h"

bool originals_due(const struct view_segment *slot, uint32_t field)
{
    const struct segment *segment = slot->segment;

    if (segment->schema->fields[field].originals != PAUA_ORIGINALS_NONE) return false;
    if (artifacts_find(slot->artifacts, field, 0) == NULL) return false;
    for (uint32_t p = 0; p < segment->manifest.part_count; p++)
        if (part_has_vectors(segment->parts[p], field)) return true;
    return false;
}

static paua_status stub_write(struct dir *dir, const struct part_data *part, uint32_t field,
                              paua_error *err)
{
    struct file_header header =
        files_vector_header(part->schema, field, part->part.vectors[field].number);
    struct file_footer footer = {.row_count = part->part.row_count,
                                 .ids = data_file_ids(part->vectors[field])};
    struct file_writer *writer = NULL;
    struct file_ref ref;
    paua_status status = file_writer_create(dir, &header, true, &writer, err);

    if (status == PAUA_OK) status = file_writer_seal(writer, &footer, &ref, err);
    file_writer_close(writer);
    return status;
}

/* Opens the segment anew, to see the stubs. */
static paua_status segment_reopen(struct paua_collection *c, const struct segment *segment,
                                  struct segment **reopened, paua_error *err)
{
    struct manifest manifest = segment->manifest;

    manifest.parts = mem_dup(manifest.parts, manifest.part_count * sizeof manifest.parts[0]);
    if (manifest.parts == NULL) return error_set_nomem(err);
    return segment_open(c->db->dir, &c->schema, &manifest, segment->record_crc, c->db->file_opts,
                        NULL, 0, reopened, err);
}

/* With write_mutex held. Takes the reopened segment over. */
static paua_status publish(struct paua_collection *c, const struct segment *old,
                           struct segment *reopened, paua_error *err)
{
    struct view *now = collection_peek(c), *next = view_copy(now);
    uint32_t at = 0;

    view_unref(now);
    if (next == NULL) {
        segment_unref(reopened);
        return error_set_nomem(err);
    }
    while (next->segments[at].segment != old)
        at++;
    segment_unref(next->segments[at].segment);
    next->segments[at].segment = reopened;
    collection_publish(c, next);
    return PAUA_OK;
}

paua_status originals_drop(struct paua_collection *c, struct segment *segment, uint32_t field,
                           paua_error *err)
{
    struct dir *dir = c->db->dir;
    struct segment *reopened;
    paua_status status = db_sync_catalog(c->db, err); /* the codes are all there is from here on */

    for (uint32_t p = 0; p < segment->manifest.part_count && status == PAUA_OK; p++)
        if (part_has_vectors(segment->parts[p], field))
            status = stub_write(dir, segment->parts[p], field, err);
    if (status == PAUA_OK) status = dir_sync(dir, err);
    if (status == PAUA_OK) status = segment_reopen(c, segment, &reopened, err);
    if (status != PAUA_OK) return status;
    pthread_mutex_lock(&c->write_mutex);
    status = publish(c, segment, reopened, err);
    pthread_mutex_unlock(&c->write_mutex);
    return status;
}
