/* codes_decode.c - vectors from their codes, where the originals are not kept. */
#include "base/error.h"
#include "base/memory.h"
#include "index/codes.h"

static paua_status row_decode(const struct codes *codes, uint32_t row,
                              struct model_scratch *scratch, uint8_t *room, float *out,
                              paua_error *err)
{
    const struct code_plane *walk = &codes->walk;
    const float *refine_factors = NULL;
    const uint8_t *refine = NULL;

    if (codes->model.refine.layout.nbytes > 0) {
        paua_status status = codes_refine_row(codes, row, room, &refine, err);

        if (status != PAUA_OK) return status;
        refine_factors = codes->refine_factors + (size_t)row * CODE_FACTORS;
    }
    model_decode(&codes->model, walk->codes + (size_t)row * walk->layout.nbytes,
                 walk->factors + (size_t)row * CODE_FACTORS, refine, refine_factors, scratch, out);
    return PAUA_OK;
}

paua_status codes_decode(const struct codes *codes, uint32_t first, uint32_t n, float *rows,
                         paua_error *err)
{
    struct model_scratch scratch = {0};
    uint8_t *room = mem_alloc(codes->model.refine.layout.nbytes + CODE_SLACK_NBYTES);
    paua_status status = PAUA_OK;

    if (room == NULL || !model_scratch_init(&scratch, &codes->model)) {
        mem_free(room);
        return error_set_nomem(err);
    }
    for (uint32_t i = 0; i < n && status == PAUA_OK; i++)
        status =
            row_decode(codes, first + i, &scratch, room, rows + (size_t)i * codes->model.dim, err);
    model_scratch_free(&scratch);
    mem_free(room);
    return status;
}
