/* What the ranks agree on before and after a file is opened. */
#ifndef PNC_DATASET_OPENING_H
#define PNC_DATASET_OPENING_H

#include "dataset/dataset.h"

/* A call of ncmpi_create or ncmpi_open. */
typedef struct pnc_opening {
    const char *call;
    bool creates;
    MPI_Comm comm; /* the user's */
    const char *path;
    MPI_Info info;
    const int *ncidp;

    int mode, format;         /* cmode or omode, and the default format: of this rank; of rank 0 after begin */
    int asked;                /* the format of which a hint chooses the classic model of netCDF-4; 0: none */
    int mismatch;             /* NC_NOERR, or a code if ranks have passed different modes */
    pnc_inspection inspected; /* by rank 0 */
    bool delays, reads_ahead; /* what the hints ask for, and the mode allows; after begin */
    bool finds_nodes;         /* a rank does not know yet which ranks share a node */
} pnc_opening;

/* Collective. Make the dataset, and adopt mode, hints and switches of rank 0. If this fails on any rank, all ranks
 * report an error. *late is an error of this rank only, which it finds after the ranks have agreed. */
int pnc_dataset_opening_begin(pnc_opening *o, pnc_dataset **out, int *late);
/* Collective. err is the result of this rank; all ranks return an error, or none does. */
int pnc_dataset_opening_end(const pnc_opening *o, pnc_dataset *ds, int err);
/* In safe mode: print once that a file is open with a communicator of one rank, if MPI_COMM_WORLD has more. Local. */
void pnc_dataset_opening_report(const pnc_dataset *ds);
/* The format that the hint nc_format names; 0: none. Local. */
int pnc_dataset_opening_get_hinted(const pnc_dataset *ds);
/* Whether the mode is one of this library. o->format: the format that the hint chooses, or the mode, or the default
 * one. */
int pnc_dataset_opening_check_mode(pnc_dataset *ds, pnc_opening *o);
pnc_open_purpose pnc_dataset_opening_get_purpose(const pnc_opening *o);
/* Report the error and free the dataset, whose file is not open. Returns err. */
int pnc_dataset_opening_discard(pnc_dataset *ds, int err);

/* Collective. Free a dataset whose file is closed. */
void pnc_dataset_state_free(pnc_dataset *ds);

#endif
