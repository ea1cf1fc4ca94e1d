/* Constructor and arguments of an MPI datatype. */
#ifndef PNC_MPITYPE_CONTENTS_H
#define PNC_MPITYPE_CONTENTS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct pnc_type_contents {
    int combiner;
    int64_t *numbers; /* all arguments except types, in the order of the constructor, arrays concatenated */
    MPI_Datatype *types;
    int64_t ntypes;
} pnc_type_contents;

/* The combiner (MPI_COMBINER_NAMED ..), or MPI_UNDEFINED on error. */
int pnc_mpitype_combiner_get(MPI_Datatype type);
/* A type without contents, which must not be freed: predefined, or from MPI_Type_create_f90_*. */
bool pnc_mpitype_combiner_is_element(int combiner);
/* The contents of a type that is not an element. NC_NOERR, NC_ENOMEM, or NC_EUNSPTETYPE if MPI does not return them. */
int pnc_mpitype_contents_get(MPI_Datatype type, pnc_type_contents *contents);
void pnc_mpitype_contents_free(pnc_type_contents *contents);

#endif
