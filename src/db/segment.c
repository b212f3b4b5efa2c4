/* segment.c - see segment.h. Positions are found by binary search over the parts, of which there
 * are few. */
#include "db/segment.h"

#include "base/error.h"
#include "base/memory.h"
#include "db/files.h"

static void segment_free(struct segment *segment)
{
    for (uint32_t i = 0; segment->parts != NULL && i < segment->manifest.part_count; i++)
        part_unref(segment->parts[i]);
    mem_free(segment->parts);
    mem_free(segment->first_positions);
    data_file_unref(segment->keys);
    manifest_free(&segment->manifest);
    mem_free(segment);
}

struct segment *segment_ref(struct segment *segment)
{
    atomic_fetch_add(&segment->refs, 1);
    return segment;
}

void segment_unref(struct segment *segment)
{
    if (segment != NULL && atomic_fetch_sub(&segment->refs, 1) == 1) segment_free(segment);
}

/* File numbers are never reused, so the same first file means the same part. */
static struct part_data *part_shared(const struct part *part, struct segment *const *others,
                                     size_t other_count)
{
    for (size_t i = 0; i < other_count; i++)
        for (uint32_t p = 0; p < others[i]->manifest.part_count; p++)
            if (others[i]->manifest.parts[p].vectors[0].number == part->vectors[0].number)
                return others[i]->parts[p];
    return NULL;
}

static paua_status parts_open(struct dir *dir, struct segment *s, struct data_file_opts opts,
                              struct segment *const *others, size_t other_count, paua_error *err)
{
    for (uint32_t i = 0; i < s->manifest.part_count; i++) {
        const struct part *part = &s->manifest.parts[i];
        struct part_data *shared = part_shared(part, others, other_count);
        paua_status status = PAUA_OK;

        if (shared != NULL)
            s->parts[i] = part_ref(shared);
        else
            status = part_open(dir, s->schema, part, opts, &s->parts[i], err);
        if (status != PAUA_OK) return status;
        s->first_positions[i] = s->rows;
        s->rows += part->row_count;
    }
    return PAUA_OK;
}

paua_status segment_open(struct dir *dir, const struct schema *schema, struct manifest *manifest,
                         uint32_t record_crc, struct data_file_opts opts,
                         struct segment *const *others, size_t other_count,
                         struct segment **segment, paua_error *err)
{
    struct file_header header = files_keys_header(schema, manifest->keys.number);
    struct segment *s = mem_zalloc(1, sizeof *s);
    paua_status status;

    if (s == NULL) {
        manifest_free(manifest);
        return error_set_nomem(err);
    }
    s->refs = 1;
    s->schema = schema;
    s->manifest = *manifest;
    *manifest = (struct manifest){0};
    s->record_crc = record_crc;
    s->parts = mem_zalloc(s->manifest.part_count, sizeof(struct part_data *));
    s->first_positions = mem_zalloc(s->manifest.part_count, sizeof s->first_positions[0]);
    if (s->parts == NULL || s->first_positions == NULL)
        status = error_set_nomem(err);
    else
        status = parts_open(dir, s, opts, others, other_count, err);
    if (status == PAUA_OK)
        status = data_file_open_sealed(dir, &header, &s->manifest.keys, opts, &s->keys, err);
    if (status == PAUA_OK) status = key_index_check(schema, s->keys, s->rows, err);
    if (status != PAUA_OK) {
        segment_unref(s);
        return status;
    }
    *segment = s;
    return PAUA_OK;
}

struct part_data *segment_part(const struct segment *segment, uint32_t position, uint32_t *row)
{
    uint32_t low = 0, high = segment->manifest.part_count - 1;

    assert(position < segment->rows);
    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;

        if (segment->first_positions[middle] <= position)
            low = middle;
        else
            high = middle - 1;
    }
    *row = position - segment->first_positions[low];
    return segment->parts[low];
}

bool segment_has_vectors(const struct segment *segment, uint32_t field)
{
    for (uint32_t p = 0; p < segment->manifest.part_count; p++)
        if (!part_has_vectors(segment->parts[p], field)) return false;
    return true;
}

uint64_t segment_row_id(const struct segment *segment, uint32_t position)
{
    uint32_t row;
    const struct part_data *part = segment_part(segment, position, &row);

    return part_row_id(part, row);
}

uint32_t segment_find_row(const struct segment *segment, uint64_t id)
{
    uint32_t low = 0, high = segment->manifest.part_count;

    while (low < high) { /* the first part whose last row is not before id */
        uint32_t middle = low + (high - low) / 2;

        if (segment->parts[middle]->part.last_row < id)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == segment->manifest.part_count) return UINT32_MAX;
    high = part_find_row(segment->parts[low], id);
    return high == UINT32_MAX ? UINT32_MAX : segment->first_positions[low] + high;
}

paua_status segment_key(const struct segment *segment, uint32_t position, struct writer *scratch,
                        struct key *key, paua_error *err)
{
    const uint8_t *bytes;
    uint32_t row;
    struct part_data *part;
    paua_status status;

    if (segment->schema->key_kind != PAUA_KEY_VECTOR)
        return key_index_key(segment->schema, segment->keys, position, scratch, key, err);
    part = segment_part(segment, position, &row);
    status = part_vectors(part, 0, row, 1, scratch, &bytes, err);
    if (status == PAUA_OK)
        *key = (struct key){bytes, schema_row_nbytes(&segment->schema->fields[0])};
    return status;
}

struct finding {
    const struct segment *segment;
    const roaring_bitmap_t *deleted;
    struct key key;
    struct writer scratch;
    uint32_t position;
};

static paua_status match_key(void *arg, uint32_t row, bool *found, paua_error *err)
{
    struct finding *f = arg;
    struct key stored;
    paua_status status;

    if (f->deleted != NULL && roaring_bitmap_contains(f->deleted, row)) return PAUA_OK;
    status = segment_key(f->segment, row, &f->scratch, &stored, err);
    if (status != PAUA_OK || !key_equal(stored, f->key)) return status;
    f->position = row;
    *found = true;
    return PAUA_OK;
}

paua_status segment_find(const struct segment *segment, const roaring_bitmap_t *deleted,
                         struct key key, uint64_t hash, uint32_t *position, paua_error *err)
{
    struct finding f = {.segment = segment, .deleted = deleted, .key = key, .position = UINT32_MAX};
    paua_status status = key_index_probe(segment->keys, hash, match_key, &f, err);

    writer_free(&f.scratch);
    if (status == PAUA_OK) *position = f.position;
    return status;
}
