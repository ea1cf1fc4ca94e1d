/* Each rank on its own: no other rank accesses the range of the file in which its requests lie. */
#include "io/execution.h"

int pnc_io_separate_execute(const pnc_execution *x)
{
    bool one_slab = x->list->n == 1 && x->list->at[0]->elements.n == 1;
    int err;

    x->io->exclusive = true;
    err = one_slab ? pnc_io_direct_execute(x) : pnc_io_merged_execute(x);
    x->io->exclusive = false;
    return err;
}
