/* merge_build.c - writing the files of a merged segment: new parts where rows are copied, and
 * always a key file. Everything passes through 64 KiB buffers; per copied row 8 bytes stay on the
 * heap. */
#include "base/error.h"
#include "base/memory.h"
#include "codec/batch.h"
#include "codec/rowset.h"
#include "db/columns.h"
#include "db/files.h"
#include "db/merge.h"
#include "db/sealed_files.h"

#define COPY_NBYTES (64u << 10)
#define PART_NBYTES_MAX (UINT64_C(1) << 30)

/* One new part in the making: the pieces first .. end - 1. */
struct part_build {
    struct merge *m;
    struct part *part;
    size_t first, end;
    uint32_t *lengths; /* of documents */
    struct writer scratch;
    struct writer ids;
};

static paua_status pause_point(struct merge *m, uint32_t rows, paua_error *err)
{
    const paua_optimize_opts *opts = m->opts;

    m->done += rows;
    if (opts == NULL) return PAUA_OK;
    if (opts->progress != NULL) opts->progress(opts->progress_arg, "merging", m->done, m->total);
    if (opts->cancel != NULL && __atomic_load_n(&opts->cancel->requested, __ATOMIC_RELAXED) != 0)
        return error_set(err, PAUA_ECANCELED, "optimize was canceled; the old files stay");
    return PAUA_OK;
}

/* Consecutive old positions from index i of a piece on, at most n. */
static uint32_t positions_run(const struct piece *piece, uint32_t i, uint32_t n)
{
    uint32_t run = 1;

    while (run < n && i + run < piece->count &&
           piece->positions[i + run] == piece->positions[i] + run)
        run++;
    return run;
}

static paua_status vectors_copy(struct part_build *b, uint32_t field, struct file_writer *writer,
                                paua_error *err)
{
    struct merge *m = b->m;
    size_t row_nbytes = schema_row_nbytes(&m->c->schema.fields[field]);
    uint32_t most = row_nbytes >= COPY_NBYTES ? 1 : (uint32_t)(COPY_NBYTES / row_nbytes);
    paua_status status = PAUA_OK;

    for (size_t p = b->first; p < b->end; p++) {
        const struct piece *piece = &m->pieces[p];

        for (uint32_t i = 0, n; i < piece->count && status == PAUA_OK; i += n) {
            const uint8_t *bytes;

            n = positions_run(piece, i, most);
            status =
                view_vectors(m->view, field, (struct place){piece->segment, piece->positions[i]},
                             &n, &b->scratch, &bytes, err);
            if (status == PAUA_OK) status = file_writer_append(writer, bytes, n * row_nbytes, err);
            if (status == PAUA_OK) status = pause_point(m, field == 0 ? n : 0, err);
        }
    }
    return status;
}

static paua_status vectors_write(struct part_build *b, uint32_t field, uint64_t number,
                                 paua_error *err)
{
    const struct schema *schema = &b->m->c->schema;
    struct file_header header = files_vector_header(schema, field, number);
    struct file_footer footer = {.row_count = b->part->row_count, .section_count = 1};
    struct file_writer *writer = NULL;
    paua_status status = file_writer_create(b->m->c->db->dir, &header, true, &writer, err);

    if (status == PAUA_OK) status = vectors_copy(b, field, writer, err);
    if (status == PAUA_OK) {
        footer.sections[0] =
            (struct section){SECTION_ROWS, 0, (uint64_t)b->part->row_count * header.row_nbytes};
        if (field == 0 && b->ids.length > 0) footer.ids = (paua_bytes){b->ids.bytes, b->ids.length};
        status = file_writer_seal(writer, &footer, &b->part->vectors[field], err);
    }
    file_writer_close(writer);
    return status;
}

static uint32_t length_of(const void *arg, uint32_t row) { return ((const uint32_t *)arg)[row]; }

static paua_status documents_copy(struct part_build *b, struct file_writer *writer, paua_error *err)
{
    struct merge *m = b->m;
    paua_status status = PAUA_OK;
    uint32_t row = 0;

    for (size_t p = b->first; p < b->end; p++)
        for (uint32_t i = 0; i < m->pieces[p].count && status == PAUA_OK; i++) {
            struct place place = {m->pieces[p].segment, m->pieces[p].positions[i]};
            paua_bytes document;

            status = view_document(m->view, place, &b->scratch, &document, err);
            if (status != PAUA_OK) break;
            b->lengths[row++] =
                document.data == NULL ? BATCH_NO_DOCUMENT : (uint32_t)document.nbytes;
            if (document.nbytes > 0)
                status = file_writer_append(writer, document.data, document.nbytes, err);
            if (status == PAUA_OK && i % 1024 == 0) status = pause_point(m, 0, err);
        }
    return status;
}

static paua_status documents_write(struct part_build *b, uint64_t number, paua_error *err)
{
    struct file_header header = files_heap_header(&b->m->c->schema, number);
    struct file_footer footer = {.row_count = b->part->row_count};
    struct file_writer *writer = NULL;
    paua_status status;

    b->lengths = mem_alloc(b->part->row_count * sizeof b->lengths[0]);
    if (b->lengths == NULL) return error_set_nomem(err);
    status = file_writer_create(b->m->c->db->dir, &header, true, &writer, err);
    if (status == PAUA_OK) status = documents_copy(b, writer, err);
    if (status == PAUA_OK) {
        footer.sections[footer.section_count++] =
            (struct section){SECTION_DOCUMENTS, 0, file_writer_data_nbytes(writer)};
        status = heap_index_write(writer, b->part->row_count, length_of, b->lengths, &footer, err);
    }
    if (status == PAUA_OK) status = file_writer_seal(writer, &footer, &b->part->heap, err);
    file_writer_close(writer);
    return status;
}

static uint64_t old_row_id(const struct merge *m, const struct piece *piece, uint32_t i)
{
    return segment_row_id(m->view->segments[piece->segment].segment, piece->positions[i]);
}

/* First and last row id, and the set of those between, if there are gaps. */
static paua_status ids_collect(struct part_build *b, paua_error *err)
{
    struct merge *m = b->m;
    const struct piece *last = &m->pieces[b->end - 1], *first = &m->pieces[b->first];
    roaring_bitmap_t *set;
    paua_status status = PAUA_OK;

    while (first->count == 0)
        first++;
    while (last->count == 0)
        last--;
    b->part->first_row = old_row_id(m, first, 0);
    b->part->last_row = old_row_id(m, last, last->count - 1);
    if (b->part->last_row - b->part->first_row + 1 == b->part->row_count) return PAUA_OK;
    set = roaring_bitmap_create();
    if (set == NULL) return error_set_nomem(err);
    for (size_t p = b->first; p < b->end; p++)
        for (uint32_t i = 0; i < m->pieces[p].count; i++)
            roaring_bitmap_add(set,
                               (uint32_t)(old_row_id(m, &m->pieces[p], i) - b->part->first_row));
    roaring_bitmap_run_optimize(set);
    if (rowset_encode(set, &b->ids) != PAUA_OK) status = error_set_nomem(err);
    roaring_bitmap_free(set);
    return status;
}

static paua_status part_write(struct merge *m, size_t first, size_t end, struct part *part,
                              paua_error *err)
{
    struct part_build b = {.m = m, .part = part, .first = first, .end = end};
    uint32_t fields = m->c->schema.field_count;
    bool documents = m->c->schema.document != PAUA_DOCUMENT_NONE;
    uint64_t numbers[PAUA_VECTOR_FIELDS_MAX + 1];
    paua_status status = db_file_numbers(m->c->db, fields + (documents ? 1 : 0), numbers, err);

    if (status == PAUA_OK) status = ids_collect(&b, err);
    for (uint32_t f = 0; f < fields && status == PAUA_OK; f++)
        status = vectors_write(&b, f, numbers[f], err);
    if (status == PAUA_OK && documents) status = documents_write(&b, numbers[fields], err);
    mem_free(b.lengths);
    writer_free(&b.scratch);
    writer_free(&b.ids);
    return status;
}

/* How far the rewritten pieces from `first` on share one new part. Its row ids must lie within 32
 * bits of each other, as they need not where much between two old rows has died. */
static size_t rewrite_end(const struct merge *m, size_t first, uint32_t *rows)
{
    uint64_t row_nbytes = schema_row_nbytes(&m->c->schema.fields[0]), first_id = 0;
    size_t end;

    *rows = 0;
    for (end = first; end < m->piece_count && m->pieces[end].rewrite; end++) {
        const struct piece *piece = &m->pieces[end];

        if (piece->count == 0) continue;
        if (*rows == 0) first_id = old_row_id(m, piece, 0);
        if (*rows > 0 && ((*rows + (uint64_t)piece->count) * row_nbytes > PART_NBYTES_MAX ||
                          old_row_id(m, piece, piece->count - 1) - first_id >= UINT32_MAX))
            break;
        *rows += piece->count;
    }
    return end;
}

static paua_status parts_write(struct merge *m, paua_error *err)
{
    paua_status status = PAUA_OK;

    for (size_t i = 0, end; i < m->piece_count && status == PAUA_OK; i = end) {
        const struct piece *piece = &m->pieces[i];
        struct part *part = &m->manifest.parts[m->manifest.part_count];
        uint32_t rows;

        end = i + 1;
        if (!piece->rewrite) {
            *part = m->view->segments[piece->segment].segment->manifest.parts[piece->part];
            m->manifest.part_count++;
            continue;
        }
        end = rewrite_end(m, i, &rows);
        if (rows == 0) continue;
        *part = (struct part){.row_count = rows};
        m->manifest.part_count++; /* counted at once, so that merge_unbuild sees it */
        status = part_write(m, i, end, part, err);
    }
    return status;
}

static paua_status key_of(void *arg, uint32_t row, struct writer *scratch, struct key *key,
                          paua_error *err)
{
    const struct merge *m = arg;
    uint32_t position;
    const struct piece *piece = merge_origin(m, row, &position);

    return view_key(m->view, (struct place){piece->segment, position}, scratch, key, err);
}

static struct place place_of(const void *arg, uint32_t row)
{
    const struct merge *m = arg;
    uint32_t position;
    const struct piece *piece = merge_origin(m, row, &position);

    return (struct place){piece->segment, position};
}

/* With patches folded in, as of the view that was planned on. */
static paua_status merged_columns_write(struct merge *m, paua_error *err)
{
    const struct column_rows rows = {
        .view = m->view, .rows = m->rows, .place_of = place_of, .arg = m};

    return columns_write(m->c, &rows, m->manifest.segment, m->opts, &m->columns, err);
}

paua_status merge_build(struct merge *m, paua_error *err)
{
    uint64_t number;
    paua_status status = db_file_numbers(m->c->db, 1, &number, err);

    if (status != PAUA_OK) return status;
    m->manifest = (struct manifest){.collection = m->c->schema.collection,
                                    .segment = number,
                                    .generation = m->view->head.generation + 1,
                                    .field_count = m->c->schema.field_count};
    if (m->rows == 0) return PAUA_OK; /* nothing lives: the segments go, none comes */
    m->manifest.parts = mem_zalloc(m->piece_count, sizeof m->manifest.parts[0]);
    if (m->manifest.parts == NULL) return error_set_nomem(err);
    status = parts_write(m, err);
    if (status == PAUA_OK)
        status =
            keys_file_write(m->c->db->dir, &m->c->schema, &m->manifest, m->rows, key_of, m, err);
    if (status == PAUA_OK) status = merged_columns_write(m, err);
    if (status == PAUA_OK && manifest_encode(&m->manifest, &m->record) != PAUA_OK)
        status = error_set_nomem(err);
    if (status != PAUA_OK) merge_unbuild(m);
    return status;
}

static bool is_old_part(const struct merge *m, const struct part *part)
{
    for (size_t i = 0; i < m->piece_count; i++) {
        const struct segment *old = m->view->segments[m->pieces[i].segment].segment;

        if (old->manifest.parts[m->pieces[i].part].vectors[0].number == part->vectors[0].number)
            return true;
    }
    return false;
}

void merge_unbuild(struct merge *m)
{
    for (uint32_t p = 0; p < m->manifest.part_count; p++)
        if (m->manifest.parts[p].vectors[0].number != 0 && !is_old_part(m, &m->manifest.parts[p]))
            files_unlink_part(m->c->db->dir, &m->c->schema, &m->manifest.parts[p]);
    files_unlink(m->c->db->dir, m->manifest.segment, FILE_KEYS);
    files_unlink(m->c->db->dir, m->columns.number, FILE_COLUMNS);
}
