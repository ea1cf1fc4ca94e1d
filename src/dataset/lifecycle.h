/* The life of a dataset from create or open to close. */
#ifndef PNC_DATASET_LIFECYCLE_H
#define PNC_DATASET_LIFECYCLE_H

#include "dataset/dataset.h"

/* Collective. They call pnc_dataset_error_report themselves. If the ranks pass different modes, rank 0's mode is used,
 * *ncidp is set, and the other ranks (in safe mode all ranks) return NC_EMULTIDEFINE_CMODE or NC_EMULTIDEFINE_OMODE. */
int pnc_dataset_create(MPI_Comm comm, const char *path, int cmode, MPI_Info info, int *ncidp);
int pnc_dataset_open(MPI_Comm comm, const char *path, int omode, MPI_Info info, int *ncidp);
/* Local: the driver that the hints name deletes the file. */
int pnc_dataset_delete(const char *path, MPI_Info info, pnc_error *error);

/* The format of files that are created without a format flag, for all threads. NC_EINVAL for a format that cannot be
 * created. old may be NULL. */
int pnc_dataset_default_format_get(void);
int pnc_dataset_default_format_set(int format, int *old, pnc_error *error);

#endif
