/* codes.c - opening a file of codes.
 *
 * All that is needed lies in one stretch of the file, since the refine codes come first: with
 * `lean` the stretch begins after them. It is looked at in the map, or read into one block of
 * memory of its length, and verified on the way by the file's own page checksums. Pointers into it
 * are kept; whatever order a forged footer gives the sections, each is inside its stretch.
 *
 * Trust     The record is checked by its decoder, lengths of sections against the record, numbers
 *           here: a float that is not finite would make NaN of distances, and heaps of them lose
 *           rows. What codes and matrix say is harmless, whatever it is.
 * Slack     Kernels may read CODE_SLACK_NBYTES beyond codes. After any section come at least the
 *           footer and trailer of the file, which are longer; a copy in memory has the room.
 * Cost      The page checksums, and one look at factors and matrices: 10 ms for 80 MB in the
 *           page cache. */
#include "index/codes.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "index/codes_private.h"
#include "index/sections.h"
#include "kernel/kernel.h"

struct opening {
    struct codes *codes;
    struct model_record record;
    struct codes_shape shapes[CODES_ARRAYS];
    struct stretch stretch;
};

static paua_status refuse(const struct opening *o, const char *what, paua_error *err)
{
    return data_file_refuse(o->codes->file, what, err);
}

static const void *array_of(const struct opening *o, enum codes_array array)
{
    return stretch_section(&o->stretch, o->shapes[array].id);
}

static paua_status load(struct opening *o, bool lean, paua_error *err)
{
    bool whole = stretch_add(&o->stretch, SECTION_MODEL);
    paua_status status;

    codes_shapes(&o->record, o->shapes); /* an empty record: it tells ids, no lengths */
    for (enum codes_array i = 0; i < CODES_ARRAYS; i++)
        if (i == CODES_REFINE && lean)
            whole &= sections_have(o->codes->file, SECTION_REFINE);
        else
            whole &= stretch_add(&o->stretch, o->shapes[i].id);
    if (!whole) return refuse(o, "lacks parts of its codes", err);
    status = stretch_load(&o->stretch, CODE_SLACK_NBYTES, err);
    o->codes->memory = o->stretch.memory;
    return status;
}

static paua_status take_record(struct opening *o, paua_error *err)
{
    const struct data_file *file = o->codes->file;
    const struct section *section = data_file_section(file, SECTION_MODEL);
    paua_status status = model_record_decode(stretch_section(&o->stretch, SECTION_MODEL),
                                             (size_t)section->nbytes, &o->record);

    if (status == PAUA_ENOMEM) return error_set_nomem(err);
    if (status == PAUA_EVERSION)
        return error_set(err, status,
                         "%s: was written by a newer version of paua; use that version",
                         data_file_name(file));
    if (status != PAUA_OK) return refuse(o, "its model is damaged", err);
    if (o->record.dim != data_file_header(file)->dim || o->record.rows != data_file_row_count(file))
        return refuse(o, "its model is of other vectors", err);
    codes_shapes(&o->record, o->shapes);
    for (uint32_t i = 0; i < CODES_ARRAYS; i++)
        if (!data_file_has_section(file, o->shapes[i].id, o->shapes[i].nbytes))
            return refuse(o, "its codes are not as long as its model says", err);
    return PAUA_OK;
}

static bool floats_finite(const struct opening *o, enum codes_array array)
{
    size_t n = (size_t)o->shapes[array].nbytes / sizeof(float);

    return kernels_best()->find_nonfinite(array_of(o, array), n) == n;
}

static paua_status check_numbers(const struct opening *o, paua_error *err)
{
    static const enum codes_array floats[] = {CODES_MEAN, CODES_ROTATED_MEAN, CODES_MATRIX_SCALE,
                                              CODES_WALK_FACTORS, CODES_REFINE_FACTORS};

    for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++)
        if (!floats_finite(o, floats[i])) return refuse(o, "a number of it is not finite", err);
    return PAUA_OK;
}

static paua_status borrow(struct opening *o, bool lean, paua_error *err)
{
    struct codes *codes = o->codes;
    struct model *model = &codes->model;

    if (!model_from_record(&o->record, model)) return error_set_nomem(err);
    model->mean = (float *)(uintptr_t)array_of(o, CODES_MEAN);
    model->rotated_mean = (float *)(uintptr_t)array_of(o, CODES_ROTATED_MEAN);
    model->matrix_s8 = array_of(o, CODES_MATRIX_S8);
    model->matrix_scale = array_of(o, CODES_MATRIX_SCALE);
    codes->rows = o->record.rows;
    codes->source_digest = o->record.source_digest;
    codes->walk = (struct code_plane){.layout = model->walk.layout,
                                      .codes = array_of(o, CODES_WALK),
                                      .factors = array_of(o, CODES_WALK_FACTORS)};
    codes->walk_nbytes = (size_t)o->shapes[CODES_WALK].nbytes;
    codes->refine_nbytes = (size_t)o->shapes[CODES_REFINE].nbytes;
    if (codes->refine_nbytes == 0) return PAUA_OK;
    codes->refine_factors = array_of(o, CODES_REFINE_FACTORS);
    if (!lean) codes->refine = array_of(o, CODES_REFINE);
    return PAUA_OK;
}

paua_status codes_open(struct data_file *file, bool lean, struct codes **codes, paua_error *err)
{
    struct opening o = {.codes = mem_zalloc(1, sizeof *o.codes), .stretch = {.file = file}};
    paua_status status;

    assert(data_file_header(file)->kind == FILE_CODES);
    if (o.codes == NULL) return error_set_nomem(err);
    atomic_init(&o.codes->refs, 1);
    o.codes->file = data_file_ref(file);
    status = load(&o, lean, err);
    if (status == PAUA_OK) status = take_record(&o, err);
    if (status == PAUA_OK) status = check_numbers(&o, err);
    if (status == PAUA_OK) status = borrow(&o, lean, err);
    model_record_free(&o.record);
    if (status != PAUA_OK) {
        codes_unref(o.codes);
        return status;
    }
    *codes = o.codes;
    return PAUA_OK;
}

struct codes *codes_ref(struct codes *codes)
{
    atomic_fetch_add_explicit(&codes->refs, 1, memory_order_relaxed);
    return codes;
}

void codes_unref(struct codes *codes)
{
    if (codes == NULL) return;
    if (atomic_fetch_sub_explicit(&codes->refs, 1, memory_order_acq_rel) != 1) return;
    model_free(&codes->model);
    mem_free(codes->memory);
    data_file_unref(codes->file);
    mem_free(codes);
}

paua_status codes_refine_row(const struct codes *codes, uint32_t row, uint8_t *scratch,
                             const uint8_t **bytes, paua_error *err)
{
    size_t nbytes = codes->model.refine.layout.nbytes;
    uint64_t at = (uint64_t)row * nbytes;
    paua_status status;

    assert(row < codes->rows && nbytes > 0);
    if (codes->refine != NULL) {
        *bytes = codes->refine + at;
        return PAUA_OK;
    }
    at += data_file_section(codes->file, SECTION_REFINE)->offset;
    status = data_file_pread(codes->file, at, nbytes, scratch, err);
    if (status == PAUA_OK) *bytes = scratch;
    return status;
}
