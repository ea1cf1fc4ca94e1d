/* The life of a dataset from create or open to close. */
#ifndef PNC_DATASET_LIFECYCLE_H
#define PNC_DATASET_LIFECYCLE_H

#include "dataset/dataset.h"

int pnc_create(MPI_Comm comm, const char *path, int cmode, MPI_Info info, int *ncidp);
int pnc_open(MPI_Comm comm, const char *path, int omode, MPI_Info info, int *ncidp);
/* Local: the driver that the hints name deletes the file. */
int pnc_delete(const char *path, MPI_Info info, pnc_error *error);

/* The format of new files without a format flag, of all threads: NC_EINVAL for one that cannot be made. old may be
 * NULL. */
int pnc_default_format(void);
int pnc_set_default_format(int format, int *old, pnc_error *error);

#endif
