/* Alignment of variables to the stripes of a parallel file system, or to the blocks of any file system. Ranks that
 * write whole stripes do not compete for locks of the file system. */
#include "tools/ncoffsets/offsets.h"

#include <inttypes.h>

#include "tools/common/message.h"

static void print_variable(const pnc_model *model, const pnc_var *var, int64_t align, int *aligned)
{
    int64_t first = var->classic.begin / align,
            last = (var->classic.begin + (var->size > 0 ? var->size - 1 : 0)) / align;
    int64_t rest = var->classic.begin % align;

    putchar('\t');
    tool_text_print(var->name);
    if (rest == 0)
        printf(": begins with stripe %" PRId64, first);
    else
        printf(": begins %" PRId64 " bytes into stripe %" PRId64, rest, first);
    *aligned += rest == 0;
    printf(", %s %" PRId64 " stripe%s", last > first ? "lies on" : "within", last - first + 1, last > first ? "s" : "");
    if (var->is_record && model->classic.recsize % align != 0)
        printf(", each record %" PRId64 " bytes further on in its stripe", model->classic.recsize % align);
    putchar('\n');
}

void offsets_alignment_print(const tool_file *file, int64_t align)
{
    const pnc_model *model = &file->model;
    int64_t shared = 0, counted = -1;
    int aligned = 0;

    printf("\nalignment to %" PRId64 " bytes:\n", align);
    for (int i = 0; i < model->nvars; i++) {
        const pnc_var *var = model->vars[i];
        int64_t before = offsets_var_find_previous_end(model, i), stripe = var->classic.begin / align;

        /* a stripe is counted once, even if more than two variables share it */
        if (before > 0 && var->size > 0 && (before - 1) / align == stripe && stripe != counted) {
            shared++;
            counted = stripe;
        }
        print_variable(model, var, align, &aligned);
    }
    printf("\t%d of %d variable%s begin%s with a stripe; %" PRId64 " stripe%s shared with what lies before\n", aligned,
           model->nvars, model->nvars == 1 ? "" : "s", model->nvars == 1 ? "s" : "", shared,
           shared == 1 ? " is" : "s are");
    if (model->nrecvars > 0)
        printf("\ta record has %" PRId64 " bytes: %s\n", model->classic.recsize,
               model->classic.recsize % align == 0 ? "whole stripes" : "no multiple of a stripe");
}
