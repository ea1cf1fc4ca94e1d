/* Shared by the C functions behind the nfmpi_ procedures. Their MPI handles are integers. */
#ifndef PNC_BINDING_F77_H
#define PNC_BINDING_F77_H

#include "binding/fortran.h"

/* nfmpi_<name> calls ncmpi_<function>. pnc_dataset_caller_end follows. */
#define PNC_F77_BEGIN(caller, name, function, ncid) \
    pnc_dataset_caller_begin(caller, PNC_LANGUAGE_F77, "nfmpi_" #name, "ncmpi_" #function, ncid)

/* The indices of a call for C. If the variable does not exist, the C function returns the error. If there is no memory,
 * it returns the error of the caller. */
void pnc_f77_hyperslab_init(pnc_caller *caller, int varid, const pnc_binding_indices *from, pnc_binding_hyperslab *to);

/* The same for the blocks of varn, whose arrays have a row per dimension. */
void pnc_f77_list_init(pnc_caller *caller, int varid, const pnc_binding_blocks *from, pnc_binding_list *to);

#endif
