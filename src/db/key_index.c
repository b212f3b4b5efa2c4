/* key_index.c - see key_index.h. Building is a counting sort by bucket: one pass over the keys
 * counts, a second places, so only the table itself is on the heap. */
#include "db/key_index.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

#define ROWS_PER_BUCKET 16u
#define PROBE_TAGS_MAX 256u /* tags looked at together */

static uint32_t bucket_bits(uint32_t rows)
{
    uint32_t bits = 0;

    while (bits < 28 && ((uint64_t)ROWS_PER_BUCKET << bits) < rows)
        bits++;
    return bits;
}

static uint32_t bucket_of(uint64_t hash, uint32_t bits)
{
    return bits == 0 ? 0 : (uint32_t)(hash >> (64 - bits));
}

struct build {
    const struct schema *schema;
    struct file_writer *writer;
    uint32_t rows;
    uint32_t bits;
    key_source_fn source;
    void *arg;
    struct writer scratch;
    uint32_t *next; /* a bucket's next free slot; (1 << bits) + 1 entries */
    uint16_t *tags;
    uint32_t *slots;
    struct file_footer *footer;
};

static paua_status hashes_each(struct build *b, void (*each)(struct build *, uint32_t, uint64_t),
                               paua_error *err)
{
    for (uint32_t row = 0; row < b->rows; row++) {
        struct key key;
        paua_status status = b->source(b->arg, row, &b->scratch, &key, err);

        if (status != PAUA_OK) return status;
        each(b, row, key_hash(key));
    }
    return PAUA_OK;
}

static void count_one(struct build *b, uint32_t row, uint64_t hash)
{
    (void)row;
    b->next[bucket_of(hash, b->bits) + 1]++;
}

static void place_one(struct build *b, uint32_t row, uint64_t hash)
{
    uint32_t slot = b->next[bucket_of(hash, b->bits)]++;

    b->tags[slot] = (uint16_t)hash;
    b->slots[slot] = row;
}

static paua_status section_add(struct build *b, enum section_id id, const void *bytes,
                               size_t nbytes, paua_error *err)
{
    struct section *section = &b->footer->sections[b->footer->section_count];
    paua_status status = file_writer_align(b->writer, 64, err);

    if (status != PAUA_OK) return status;
    *section = (struct section){(uint16_t)id, file_writer_data_nbytes(b->writer), nbytes};
    b->footer->section_count++;
    return nbytes == 0 ? PAUA_OK : file_writer_append(b->writer, bytes, nbytes, err);
}

/* After placing, next[i] is the end of bucket i; shifted by one it is the bucket table. */
static paua_status table_write(struct build *b, paua_error *err)
{
    uint32_t buckets = 1u << b->bits;
    paua_status status;

    memmove(b->next + 1, b->next, buckets * sizeof b->next[0]);
    b->next[0] = 0;
    status = section_add(b, SECTION_BUCKETS, b->next, (buckets + 1) * sizeof b->next[0], err);
    if (status != PAUA_OK) return status;
    status = section_add(b, SECTION_TAGS, b->tags, b->rows * sizeof b->tags[0], err);
    if (status != PAUA_OK) return status;
    return section_add(b, SECTION_SLOTS, b->slots, b->rows * sizeof b->slots[0], err);
}

static paua_status keys_write(struct build *b, paua_error *err)
{
    struct section *section = &b->footer->sections[b->footer->section_count];
    bool strings = b->schema->key_kind == PAUA_KEY_STRING;
    uint32_t *ends = b->slots; /* the table is written: its memory serves the offsets */
    uint64_t end = 0;
    paua_status status;

    if (b->schema->key_kind == PAUA_KEY_VECTOR) return PAUA_OK;
    status = section_add(b, SECTION_KEYS, NULL, 0, err);
    for (uint32_t row = 0; row < b->rows && status == PAUA_OK; row++) {
        struct key key;

        status = b->source(b->arg, row, &b->scratch, &key, err);
        if (status == PAUA_OK) status = file_writer_append(b->writer, key.bytes, key.nbytes, err);
        if (status == PAUA_OK) end += key.nbytes;
        ends[row] = (uint32_t)end;
    }
    if (status != PAUA_OK) return status;
    section->nbytes = end;
    if (!strings) return PAUA_OK;
    return section_add(b, SECTION_OFFSETS, ends, b->rows * sizeof ends[0], err);
}

paua_status key_index_write(const struct schema *schema, struct file_writer *writer, uint32_t rows,
                            key_source_fn source, void *arg, struct file_footer *footer,
                            paua_error *err)
{
    struct build b = {.schema = schema,
                      .writer = writer,
                      .rows = rows,
                      .bits = bucket_bits(rows),
                      .source = source,
                      .arg = arg,
                      .footer = footer};
    uint32_t buckets = 1u << b.bits;
    paua_status status = PAUA_ENOMEM;

    b.next = mem_zalloc(buckets + 1, sizeof b.next[0]);
    b.tags = mem_zalloc(rows, sizeof b.tags[0]);
    b.slots = mem_zalloc(rows, sizeof b.slots[0]);
    if (b.next == NULL || b.tags == NULL || b.slots == NULL) {
        error_set_nomem(err);
        goto done;
    }
    status = hashes_each(&b, count_one, err);
    if (status != PAUA_OK) goto done;
    for (uint32_t i = 0; i < buckets; i++)
        b.next[i + 1] += b.next[i];
    status = hashes_each(&b, place_one, err);
    if (status == PAUA_OK) status = table_write(&b, err);
    if (status == PAUA_OK) status = keys_write(&b, err);
done:
    mem_free(b.next);
    mem_free(b.tags);
    mem_free(b.slots);
    writer_free(&b.scratch);
    return status;
}

paua_status key_index_check(const struct schema *schema, const struct data_file *file,
                            uint32_t rows, paua_error *err)
{
    uint64_t buckets = UINT64_C(1) << bucket_bits(rows);
    bool good = data_file_row_count(file) == rows &&
                data_file_has_section(file, SECTION_BUCKETS, (buckets + 1) * 4) &&
                data_file_has_section(file, SECTION_TAGS, (uint64_t)rows * 2) &&
                data_file_has_section(file, SECTION_SLOTS, (uint64_t)rows * 4);

    if (schema->key_kind == PAUA_KEY_U64)
        good = good && data_file_has_section(file, SECTION_KEYS, (uint64_t)rows * 8);
    if (schema->key_kind == PAUA_KEY_STRING)
        good = good && data_file_section(file, SECTION_KEYS) != NULL &&
               data_file_has_section(file, SECTION_OFFSETS, (uint64_t)rows * 4);
    return good ? PAUA_OK : data_file_refuse(file, "does not hold the keys its segment names", err);
}

static paua_status read_u32(struct data_file *file, const struct section *section, uint64_t index,
                            uint32_t *value, paua_error *err)
{
    uint8_t room[4];
    const uint8_t *at;
    paua_status status = data_file_read(file, section->offset + 4 * index, 4, room, &at, err);

    if (status == PAUA_OK) *value = (uint32_t)bytes_get(at, 4);
    return status;
}

/* Where row's key lies in SECTION_KEYS. */
static paua_status key_place(const struct schema *schema, struct data_file *file, uint32_t row,
                             uint64_t *offset, size_t *nbytes, paua_error *err)
{
    const struct section *offsets = data_file_section(file, SECTION_OFFSETS);
    const struct section *keys = data_file_section(file, SECTION_KEYS);
    uint32_t first = 0, end = 0;
    paua_status status = PAUA_OK;

    if (schema->key_kind == PAUA_KEY_U64) {
        *offset = keys->offset + 8 * (uint64_t)row;
        *nbytes = 8;
        return PAUA_OK;
    }
    if (row > 0) status = read_u32(file, offsets, row - 1, &first, err);
    if (status == PAUA_OK) status = read_u32(file, offsets, row, &end, err);
    if (status != PAUA_OK) return status;
    if (end > keys->nbytes || first >= end || end - first > PAUA_KEY_NBYTES_MAX)
        return data_file_refuse(file, "a key's place is out of range", err);
    *offset = keys->offset + first;
    *nbytes = end - first;
    return PAUA_OK;
}

paua_status key_index_key(const struct schema *schema, struct data_file *file, uint32_t row,
                          struct writer *scratch, struct key *key, paua_error *err)
{
    const uint8_t *bytes;
    uint64_t offset = 0;
    size_t nbytes = 0;
    void *room = NULL;
    paua_status status = key_place(schema, file, row, &offset, &nbytes, err);

    if (status != PAUA_OK) return status;
    if (!data_file_mapped(file)) {
        scratch->length = 0;
        room = writer_room(scratch, nbytes);
        if (room == NULL) return error_set_nomem(err);
    }
    status = data_file_read(file, offset, nbytes, room, &bytes, err);
    if (status == PAUA_OK) *key = (struct key){bytes, nbytes};
    return status;
}

paua_status key_index_probe(struct data_file *file, uint64_t hash,
                            paua_status (*match)(void *arg, uint32_t row, bool *found,
                                                 paua_error *err),
                            void *arg, paua_error *err)
{
    const struct section *tags = data_file_section(file, SECTION_TAGS);
    const struct section *slots = data_file_section(file, SECTION_SLOTS);
    const struct section *buckets = data_file_section(file, SECTION_BUCKETS);
    uint32_t rows = data_file_row_count(file), bucket = bucket_of(hash, bucket_bits(rows));
    uint32_t first, end, row;
    uint8_t room[2 * PROBE_TAGS_MAX];
    const uint8_t *at = NULL;
    bool found = false;
    paua_status status = read_u32(file, buckets, bucket, &first, err);

    if (status == PAUA_OK) status = read_u32(file, buckets, bucket + 1, &end, err);
    if (status != PAUA_OK) return status;
    if (first > end || end > rows)
        return data_file_refuse(file, "its bucket table is out of order", err);
    for (uint32_t slot = first, seen = 0; slot < end && !found; slot++, seen++) {
        uint32_t left = end - slot, n = left < PROBE_TAGS_MAX ? left : PROBE_TAGS_MAX;

        if (seen % PROBE_TAGS_MAX == 0)
            status =
                data_file_read(file, tags->offset + 2 * (uint64_t)slot, 2u * n, room, &at, err);
        if (status != PAUA_OK) return status;
        if ((uint16_t)bytes_get(at + 2u * (seen % PROBE_TAGS_MAX), 2) != (uint16_t)hash) continue;
        status = read_u32(file, slots, slot, &row, err);
        if (status != PAUA_OK) return status;
        if (row >= rows) return data_file_refuse(file, "a slot names a row that is not there", err);
        status = match(arg, row, &found, err);
        if (status != PAUA_OK) return status;
    }
    return PAUA_OK;
}
