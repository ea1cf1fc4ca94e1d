/* The table of open datasets, indexed by ncid. */
#ifndef PNC_DATASET_REGISTRY_H
#define PNC_DATASET_REGISTRY_H

#include "dataset/dataset.h"

int pnc_dataset_registry_add(pnc_dataset *ds, int *ncid); /* NC_ENFILE */
void pnc_dataset_registry_remove(int ncid);
/* Remove the ncid, and keep the dataset in memory to the end of the program, as MPI uses parts of it. */
void pnc_dataset_registry_discard(pnc_dataset *ds);
/* The dataset, with its error object cleared; `call` is the name of the public function. NULL if there is none, which
 * is reported as NC_EBADID. */
pnc_dataset *pnc_dataset_registry_find(int ncid, const char *call);
/* The dataset or NULL; without side effects. */
pnc_dataset *pnc_dataset_registry_peek(int ncid);
/* Whether a dataset that is open here is this file, as far as its identity is known. */
bool pnc_dataset_registry_has_file(int64_t device, int64_t inode);
int pnc_dataset_registry_list(int *num, int *ncids);

#endif
