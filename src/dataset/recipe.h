/* What an MPI datatype was made with: constructor and arguments. */
#ifndef PNC_DATASET_RECIPE_H
#define PNC_DATASET_RECIPE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct pnc_recipe {
    int combiner;
    int64_t *numbers; /* all arguments but types, in the order of the constructor, arrays one after the other */
    MPI_Datatype *types;
    int64_t ntypes;
} pnc_recipe;

/* MPI_COMBINER_NAMED and so on, or MPI_UNDEFINED. */
int pnc_recipe_combiner(MPI_Datatype type);
/* A type that is not taken apart, and not freed either: predefined, or one of Fortran 90's by precision. */
bool pnc_recipe_is_element(int combiner);
/* The recipe of a type that is no element. NC_NOERR, NC_ENOMEM, or NC_EUNSPTETYPE if MPI does not tell. */
int pnc_recipe_get(MPI_Datatype type, pnc_recipe *recipe);
void pnc_recipe_free(pnc_recipe *recipe);

#endif
