/* field.c - vector fields and their indexes, as the command line writes them (see field.h). */
#include "field.h"

#include <string.h>

#include "cli.h"
#include "util.h"

#define OCCLUSION_MAX 65536u
#define WORDS_MAX 4u

bool index_take_numbers(const struct args *args, paua_index_params *params)
{
    double alpha = (double)params->alpha;

    if (!args_u32(args, "degree", 4, PAUA_DEGREE_MAX, &params->degree) ||
        !args_u32(args, "list", 4, PAUA_LIST_MAX, &params->list) ||
        !args_u32(args, "occlusion", 1, OCCLUSION_MAX, &params->occlusion) ||
        !args_double(args, "alpha", 1, 2, &alpha))
        return false;
    params->alpha = (float)alpha;
    return true;
}

/* A choice among all words of an enumeration but its first, "default". */
static bool take_choice(const struct args *args, const char *name, const char *const *words,
                        uint32_t *choice)
{
    uint32_t index = 0;

    if (!args_has(args, name)) return true;
    if (!args_choice(args, name, words + 1, &index)) return false;
    *choice = index + 1;
    return true;
}

bool field_take_options(const struct args *args, paua_vector_field *field)
{
    uint32_t metric = field->metric, precision = field->precision;
    uint32_t originals = field->originals, kind = field->index.kind;

    if (!take_choice(args, "metric", metric_names, &metric) ||
        !args_choice(args, "precision", precision_names, &precision) ||
        !take_choice(args, "originals", originals_names, &originals) ||
        !take_choice(args, "index", vector_index_names, &kind) ||
        !index_take_numbers(args, &field->index))
        return false;
    field->metric = (paua_metric)metric;
    field->precision = (paua_precision)precision;
    field->originals = (paua_originals)originals;
    field->index.kind = (paua_index_kind)kind;
    return true;
}

static bool parse_word(const char *word, const char *const *words, uint32_t first, uint32_t *choice)
{
    for (uint32_t i = first; words[i] != NULL; i++) {
        if (strcmp(words[i], word) != 0) continue;
        *choice = i;
        return true;
    }
    return false;
}

/* The words after the dimension, each in its place. */
static bool parse_words(char *const *words, size_t count, paua_vector_field *field)
{
    uint32_t choices[WORDS_MAX] = {field->metric, field->precision, field->originals,
                                   field->index.kind};
    static const struct {
        const char *const *names;
        uint32_t first; /* the first that may be written */
    } places[WORDS_MAX] = {
        {metric_names, 1}, {precision_names, 0}, {originals_names, 1}, {vector_index_names, 1}};

    for (size_t i = 0; i < count; i++) {
        if (!parse_word(words[i], places[i].names, places[i].first, &choices[i])) return false;
    }
    field->metric = (paua_metric)choices[0];
    field->precision = (paua_precision)choices[1];
    field->originals = (paua_originals)choices[2];
    field->index.kind = (paua_index_kind)choices[3];
    return true;
}

/* Read from the right: the last part that is a number is the dimension, and what stands before it
 * is the name, colons and all. */
bool field_parse(char *text, paua_vector_field *field)
{
    paua_vector_field draft = *field;
    char *words[WORDS_MAX + 1];
    char *cuts[WORDS_MAX + 1];
    size_t count = 0;
    uint64_t dim = 0;
    bool ok = false;

    while (count <= WORDS_MAX && !ok) {
        char *colon = strrchr(text, ':');
        if (colon == NULL) break;
        *colon = 0;
        ok = parse_u64(colon + 1, strlen(colon + 1), &dim);
        cuts[count] = colon;
        words[WORDS_MAX - count] = colon + 1;
        count++;
    }
    /* The first of the words kept is the dimension itself. */
    ok = ok && dim >= 1 && dim <= PAUA_DIM_MAX;
    ok = ok && parse_words(words + WORDS_MAX + 2 - count, count - 1, &draft);
    if (!ok) {
        for (size_t i = 0; i < count; i++)
            *cuts[i] = ':';
        return false;
    }
    draft.name = text;
    draft.dim = (uint32_t)dim;
    *field = draft;
    return true;
}

bool field_settle_numbers(const struct args *args, paua_vector_field *fields, size_t count)
{
    static const char *const names[] = {"degree", "list", "occlusion", "alpha"};
    bool used = false;

    for (size_t i = 0; i < count; i++) {
        paua_index_kind kind = fields[i].index.kind;
        if (kind != PAUA_INDEX_DEFAULT && kind != PAUA_INDEX_VAMANA)
            fields[i].index = (paua_index_params){.kind = kind};
        else
            used = true;
    }
    for (size_t i = 0; i < COUNT_OF(names) && !used; i++) {
        if (!args_has(args, names[i])) continue;
        usage("option --%s: only vamana indexes have it, drop it or make one", names[i]);
        return false;
    }
    return true;
}
