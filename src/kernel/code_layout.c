/* code_layout.c - which fields of a code row are taken in one step.
 *
 * Fields of one shift, width and group come in the order of their bytes, so that one step of each
 * kind is open at a time: a field joins it if it ends within its 64 bytes, or opens the next one.
 * Lines of 64 bytes are a step a field; a row of 50 bytes has some 8 steps, where it has 20 fields.
 *
 * Within a group, whole bytes come first, then what needs a mask, then what needs a shift too, so
 * that kernels run through each without asking. */
#include "kernel/code.h"

enum form { WHOLE, MASKED, SHIFTED, FORMS };

#define KINDS (8u * 9u) /* of shift and width */

static enum form form_of(const struct code_field *field)
{
    if (field->width == 8) return WHOLE;
    return field->shift == 0 ? MASKED : SHIFTED;
}

/* Joins a field to its kind's open step, whose number and one is *open, or opens one; returns how
 * many steps there are. */
static uint32_t join(uint32_t lane, struct code_field *field, struct code_step *steps, uint32_t n,
                     uint32_t *open)
{
    struct code_step *step = *open == 0 ? NULL : &steps[*open - 1];

    if (step == NULL || field->offset < step->offset ||
        field->offset + lane > step->offset + CODE_LINE_NBYTES) {
        step = &steps[n++];
        *open = n;
        *step = (struct code_step){.offset = field->offset,
                                   .shift = field->shift,
                                   .mask = ((1u << field->width) - 1u) * 0x01010101u};
    }
    field->values_at = (*open - 1) * CODE_LINE_NBYTES + field->offset - step->offset;
    return n;
}

void code_layout_join(struct code_layout *layout, struct code_field *fields,
                      struct code_step *steps)
{
    uint32_t n = 0, first = 0, end = 0;

    for (uint32_t g = 0; g < CODE_GROUPS; g++, first = end) {
        uint32_t open[KINDS] = {0};

        while (end < layout->field_count && fields[end].group == g)
            end++;
        for (enum form form = WHOLE; form < FORMS; form++)
            for (uint32_t f = first; f < end; f++)
                if (form_of(&fields[f]) == form)
                    n = join(layout->lane, &fields[f], steps, n,
                             &open[fields[f].shift * 9u + fields[f].width]);
        layout->step_end[g] = n;
    }
    layout->step_count = n;
    layout->fields = fields;
    layout->steps = steps;
}
