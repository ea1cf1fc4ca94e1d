/* The indices of the data families: Fortran's arrays have an element per dimension of the variable. */
#include "binding/f77/f77.h"

/* 0 if there is no such variable. */
static int rank_of(int ncid, int varid)
{
    pnc_var_facts facts = {0};

    pnc_dataset_caller_inquire_var(ncid, pnc_binding_id_convert(varid), &facts);
    return facts.ndims;
}

void pnc_f77_hyperslab_init(pnc_caller *caller, int varid, const pnc_binding_indices *from, pnc_binding_hyperslab *to)
{
    pnc_binding_hyperslab_init(from, rank_of(caller->ncid, varid), to, &caller->error);
}

void pnc_f77_list_init(pnc_caller *caller, int varid, const pnc_binding_blocks *from, pnc_binding_list *to)
{
    pnc_binding_blocks blocks = *from;
    int ndims = rank_of(caller->ncid, varid);

    blocks.start_rows = blocks.count_rows = (size_t)ndims;
    pnc_binding_list_init(&blocks, ndims, to, &caller->error);
}
