/* model_record.c - the model of a file of codes as stored.
 *
 * Fields of the record "PMDL", version 1:
 *   u32 rows, u32 dim, u8 metric, u8 trained, u16 reserved 0, u32 lane, u32 segments,
 *   u32 matrix rows, u32 walk rows, u32 stride, u64 seed, u64 source digest, f32 constant,
 *   f64 walk error, f64 refine error;
 *   then for each plane, walk and refine: u32 bytes, u32 group count, u32 field count;
 *   then for each field of walk, then of refine: u32 offset, u32 segment, u8 shift, u8 width,
 *   u8 group, u8 reserved 0, f32 sigma.
 *
 * Kernels take offsets, shifts and widths as they are, so that everything they rely on is checked
 * here: after a record has been decoded, nothing in it can make them read outside a row. The fields
 * are allocated only after the record has been found exactly as long as their number says.
 * Encode asserts what decode checks. */
#include "codec/model_record.h"

#include <math.h>

#include "base/memory.h"
#include "codec/floats.h"
#include "codec/record.h"

#define MAGIC 0x4C444D50u /* "PMDL" */
#define VERSION 1u
#define FIELD_NBYTES 16u

static bool width_valid(uint32_t width)
{
    return width == 1 || width == 2 || width == 4 || width == 8;
}

static bool field_valid(const struct model_record *record, const struct model_record_plane *plane,
                        const struct model_record_field *f)
{
    if (f->offset % record->lane != 0) return false;
    if (f->offset >= plane->nbytes) return false;
    if (f->segment >= record->segments) return false;
    if (!width_valid(f->width) || f->shift + f->width > 8) return false;
    return isfinite(f->sigma) && f->sigma > 0;
}

/* Groups begin at 0 and rise by one. */
static bool groups_valid(const struct model_record_plane *plane)
{
    uint32_t next = 0;

    for (uint32_t i = 0; i < plane->field_count; i++) {
        uint32_t group = plane->fields[i].group;

        if (group != next && (next == 0 || group != next - 1)) return false;
        if (group == next) next++;
    }
    return next == plane->group_count;
}

/* Whether no segment has more than 8 bits, which is what sums of codes stay in range by. */
static bool segments_valid(const struct model_record_plane *plane)
{
    uint32_t bits = 0;

    for (uint32_t i = 0; i < plane->field_count; i++) {
        const struct model_record_field *f = &plane->fields[i];

        if (i > 0 && f->segment < f[-1].segment) return false;
        if (i > 0 && f->segment > f[-1].segment) bits = 0;
        bits += f->width;
        if (bits > 8) return false;
    }
    return true;
}

/* Segments bound the lines, and so the bytes of a row, before anything is counted. */
static bool plane_valid(const struct model_record *record, const struct model_record_plane *plane)
{
    if (plane->field_count > MODEL_RECORD_SEGMENT_FIELDS * record->segments) return false;
    if (plane->group_count > MODEL_RECORD_GROUPS) return false;
    if (plane->nbytes % record->lane != 0) return false;
    if (plane->nbytes / record->lane > record->segments) return false;
    for (uint32_t i = 0; i < plane->field_count; i++)
        if (!field_valid(record, plane, &plane->fields[i])) return false;
    return groups_valid(plane) && segments_valid(plane);
}

/* Whether every line of a row has fields, and their bits are disjoint. */
static paua_status check_lines(const struct model_record *record,
                               const struct model_record_plane *plane)
{
    uint32_t count = plane->nbytes / record->lane;
    uint8_t *lines = mem_zalloc(count + 1, 1);
    bool valid = true;

    if (lines == NULL) return PAUA_ENOMEM;
    for (uint32_t i = 0; i < plane->field_count; i++) {
        const struct model_record_field *f = &plane->fields[i];
        uint8_t *line = &lines[f->offset / record->lane];
        uint8_t bits = (uint8_t)(((1u << f->width) - 1) << f->shift);

        if ((*line & bits) != 0) valid = false;
        *line |= bits;
    }
    for (uint32_t line = 0; line < count; line++)
        if (lines[line] == 0) valid = false;
    mem_free(lines);
    return valid ? PAUA_OK : PAUA_ECORRUPT;
}

/* Dimensions of a segment; the last may have fewer than a lane holds. */
static uint32_t segment_dims(const struct model_record *record, uint32_t segment)
{
    uint32_t left = record->dim - segment * record->lane;

    return left < record->lane ? left : record->lane;
}

/* The matrix has the rows of the segments that are used, in rising order; walk_rows is how many
 * come up to the last that the walk plane uses. */
static bool matrix_valid(const struct model_record *record)
{
    const struct model_record_plane *walk = &record->walk, *refine = &record->refine;
    uint32_t rows = 0, walk_rows = 0, w = 0, r = 0;

    while (w < walk->field_count || r < refine->field_count) {
        uint32_t next = w < walk->field_count ? walk->fields[w].segment : UINT32_MAX;

        if (r < refine->field_count && refine->fields[r].segment < next)
            next = refine->fields[r].segment;
        rows += segment_dims(record, next);
        while (r < refine->field_count && refine->fields[r].segment == next)
            r++;
        if (w == walk->field_count || walk->fields[w].segment != next) continue;
        while (w < walk->field_count && walk->fields[w].segment == next)
            w++;
        walk_rows = rows;
    }
    if (!record->trained) walk_rows = rows = 0;
    return record->walk_rows == walk_rows && record->matrix_rows == rows;
}

static bool shape_valid(const struct model_record *record)
{
    if (record->rows < 1) return false;
    if (record->dim > PAUA_DIM_MAX) return false; /* of 0 there are no segments for fields */
    if (record->metric < PAUA_L2 || record->metric > PAUA_COSINE) return false;
    if (record->trained && record->dim > MODEL_RECORD_DIM_TRAINED) return false;
    if (record->lane < 1 || record->lane > MODEL_RECORD_LANE_MAX) return false;
    if (record->segments != (record->dim + record->lane - 1) / record->lane) return false;
    return record->stride == (record->dim + MODEL_RECORD_STRIDE_UNIT - 1) /
                                 MODEL_RECORD_STRIDE_UNIT * MODEL_RECORD_STRIDE_UNIT;
}

static bool numbers_valid(const struct model_record *record)
{
    return isfinite(record->constant) && isfinite(record->walk_error) && record->walk_error >= 0 &&
           isfinite(record->refine_error) && record->refine_error >= 0;
}

/* PAUA_OK, PAUA_ECORRUPT or PAUA_ENOMEM. */
static paua_status check_record(const struct model_record *record)
{
    paua_status status;

    if (!shape_valid(record) || !numbers_valid(record)) return PAUA_ECORRUPT;
    if (!plane_valid(record, &record->walk) || !plane_valid(record, &record->refine))
        return PAUA_ECORRUPT;
    if (record->walk.field_count == 0 || !matrix_valid(record)) return PAUA_ECORRUPT;
    for (uint32_t i = 0; i < record->walk.field_count; i++)
        if (record->walk.fields[i].width > MODEL_RECORD_WALK_BITS) return PAUA_ECORRUPT;
    status = check_lines(record, &record->walk);
    return status == PAUA_OK ? check_lines(record, &record->refine) : status;
}

static void put_plane(struct writer *w, const struct model_record_plane *plane)
{
    writer_u32(w, plane->nbytes);
    writer_u32(w, plane->group_count);
    writer_u32(w, plane->field_count);
}

static void put_fields(struct writer *w, const struct model_record_plane *plane)
{
    for (uint32_t i = 0; i < plane->field_count; i++) {
        const struct model_record_field *f = &plane->fields[i];

        writer_u32(w, f->offset);
        writer_u32(w, f->segment);
        writer_u8(w, f->shift);
        writer_u8(w, f->width);
        writer_u8(w, f->group);
        writer_u8(w, 0);
        writer_f32(w, f->sigma);
    }
}

paua_status model_record_encode(const struct model_record *record, struct writer *w)
{
    paua_status status = check_record(record);

    assert(status != PAUA_ECORRUPT);
    if (status != PAUA_OK) return status;
    record_begin(w, MAGIC, VERSION);
    writer_u32(w, record->rows);
    writer_u32(w, record->dim);
    writer_u8(w, (uint8_t)record->metric);
    writer_u8(w, record->trained);
    writer_u16(w, 0);
    writer_u32(w, record->lane);
    writer_u32(w, record->segments);
    writer_u32(w, record->matrix_rows);
    writer_u32(w, record->walk_rows);
    writer_u32(w, record->stride);
    writer_u64(w, record->seed);
    writer_u64(w, record->source_digest);
    writer_f32(w, record->constant);
    writer_f64(w, record->walk_error);
    writer_f64(w, record->refine_error);
    put_plane(w, &record->walk);
    put_plane(w, &record->refine);
    put_fields(w, &record->walk);
    put_fields(w, &record->refine);
    return record_end(w);
}

static void take_plane(struct reader *r, struct model_record_plane *plane)
{
    plane->nbytes = reader_u32(r);
    plane->group_count = reader_u32(r);
    plane->field_count = reader_u32(r);
}

static bool take_fields(struct reader *r, struct model_record_plane *plane)
{
    for (uint32_t i = 0; i < plane->field_count; i++) {
        struct model_record_field *f = &plane->fields[i];

        f->offset = reader_u32(r);
        f->segment = reader_u32(r);
        f->shift = reader_u8(r);
        f->width = reader_u8(r);
        f->group = reader_u8(r);
        if (reader_u8(r) != 0) return false;
        f->sigma = reader_f32(r);
    }
    return true;
}

static bool take_fixed(struct reader *r, struct model_record *record)
{
    uint8_t trained;

    record->rows = reader_u32(r);
    record->dim = reader_u32(r);
    record->metric = (paua_metric)reader_u8(r);
    trained = reader_u8(r);
    if (trained > 1 || reader_u16(r) != 0) return false;
    record->trained = trained != 0;
    record->lane = reader_u32(r);
    record->segments = reader_u32(r);
    record->matrix_rows = reader_u32(r);
    record->walk_rows = reader_u32(r);
    record->stride = reader_u32(r);
    record->seed = reader_u64(r);
    record->source_digest = reader_u64(r);
    record->constant = reader_f32(r);
    record->walk_error = reader_f64(r);
    record->refine_error = reader_f64(r);
    take_plane(r, &record->walk);
    take_plane(r, &record->refine);
    return reader_left(r) ==
           ((uint64_t)record->walk.field_count + record->refine.field_count) * FIELD_NBYTES;
}

/* One array for the fields of both planes. */
static bool fields_alloc(struct model_record *record)
{
    struct model_record_field *fields =
        mem_zalloc((size_t)record->walk.field_count + record->refine.field_count, sizeof fields[0]);

    if (fields == NULL) return false;
    record->walk.fields = fields;
    record->refine.fields = fields + record->walk.field_count;
    return true;
}

paua_status model_record_decode(const void *bytes, size_t length, struct model_record *record)
{
    struct model_record draft = {0};
    struct reader r;
    paua_status status = record_open(bytes, length, MAGIC, VERSION, &r);

    assert(record != NULL);
    if (status != PAUA_OK) return status;
    if (!take_fixed(&r, &draft) || draft.walk.field_count == 0) return PAUA_ECORRUPT;
    if (!fields_alloc(&draft)) return PAUA_ENOMEM;
    status = take_fields(&r, &draft.walk) && take_fields(&r, &draft.refine) ? check_record(&draft)
                                                                            : PAUA_ECORRUPT;
    if (status != PAUA_OK) {
        model_record_free(&draft);
        return status;
    }
    *record = draft;
    return PAUA_OK;
}

void model_record_free(struct model_record *record)
{
    mem_free(record->walk.fields);
    *record = (struct model_record){0};
}
