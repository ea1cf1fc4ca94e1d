/* Programs that a launcher of another MPI library has started. */
#ifndef PNC_DATASET_LAUNCHER_H
#define PNC_DATASET_LAUNCHER_H

#include <stdbool.h>

/* If the environment is that of a launcher of several processes, but MPI_COMM_WORLD has one rank, print this, once for
 * the job. Each process then writes the whole file, at the same time as the others. Local. */
void pnc_dataset_launcher_check(const char *path);

/* False if the launcher has given this process another rank than 0. */
bool pnc_dataset_launcher_is_first(void);

#endif
