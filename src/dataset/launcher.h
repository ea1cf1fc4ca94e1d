/* Programs that a launcher of another MPI library has started. */
#ifndef PNC_DATASET_LAUNCHER_H
#define PNC_DATASET_LAUNCHER_H

/* If the environment is that of a launcher of several processes, but MPI_COMM_WORLD has one rank, print this, once for
 * the job. Each process then writes the whole file, at the same time as the others. Local. */
void pnc_dataset_launcher_check(const char *path);

#endif
