/* index_print.c - indexes as text and as JSON, for the commands that show them. */
#include "index_print.h"

#include <stdio.h>

const char *index_numbers(const paua_index_params *params, char out[INDEX_NUMBERS_NBYTES])
{
    out[0] = 0;
    if (params->kind == PAUA_INDEX_VAMANA)
        snprintf(out, INDEX_NUMBERS_NBYTES, "degree %u, list %u, occlusion %u, alpha %g",
                 params->degree, params->list, params->occlusion, (double)params->alpha);
    return out;
}

uint64_t index_nbytes(const paua_index *index)
{
    return index->walk_nbytes + index->refine_nbytes + index->factor_nbytes + index->graph_nbytes +
           index->values_nbytes;
}

double index_row_nbytes(const paua_index *index)
{
    return index->rows == 0 ? 0 : (double)index_nbytes(index) / (double)index->rows;
}

static void add_number(json_t *object, const char *name, uint64_t value)
{
    json_object_set_new(object, name, json_u64(value));
}

json_t *index_json(const paua_index *index)
{
    json_t *object =
        json_made(json_pack("{s:o, s:o, s:s}", "index", json_word(index->name), "field",
                            json_word(index->field), "kind", index_kind_names[index->params.kind]));

    if (index->params.kind == PAUA_INDEX_VAMANA) {
        add_number(object, "degree", index->params.degree);
        add_number(object, "list", index->params.list);
        add_number(object, "occlusion", index->params.occlusion);
        json_object_set_new(object, "alpha", json_real(six_digits((double)index->params.alpha)));
    }
    add_number(object, "rows", index->rows);
    add_number(object, "rows_due", index->rows_due);
    add_number(object, "walk_bytes", index->walk_nbytes);
    add_number(object, "refine_bytes", index->refine_nbytes);
    add_number(object, "factor_bytes", index->factor_nbytes);
    add_number(object, "graph_bytes", index->graph_nbytes);
    add_number(object, "values_bytes", index->values_nbytes);
    json_object_set_new(object, "bytes_per_row", json_real(six_digits(index_row_nbytes(index))));
    return object;
}
