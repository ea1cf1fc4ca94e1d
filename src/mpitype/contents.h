/* What an MPI datatype was made with: constructor and arguments. */
#ifndef PNC_MPITYPE_CONTENTS_H
#define PNC_MPITYPE_CONTENTS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct pnc_type_contents {
    int combiner;
    int64_t *numbers; /* all arguments but types, in the order of the constructor, arrays one after the other */
    MPI_Datatype *types;
    int64_t ntypes;
} pnc_type_contents;

/* MPI_COMBINER_NAMED and so on, or MPI_UNDEFINED. */
int pnc_mpitype_combiner_get(MPI_Datatype type);
/* A type that is not taken apart, and not freed either: predefined, or one of Fortran 90's by precision. */
bool pnc_mpitype_combiner_is_element(int combiner);
/* The contents of a type that is no element. NC_NOERR, NC_ENOMEM, or NC_EUNSPTETYPE if MPI does not return them. */
int pnc_mpitype_contents_get(MPI_Datatype type, pnc_type_contents *contents);
void pnc_mpitype_contents_free(pnc_type_contents *contents);

#endif
