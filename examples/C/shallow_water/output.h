/* The files of the model: a history for people and their tools, a checkpoint for the model itself. */
#ifndef SHALLOW_WATER_OUTPUT_H
#define SHALLOW_WATER_OUTPUT_H

#include "model.h"

struct history {
    const char *path;
    int ncid;
    int time, h, u, v, volume, energy; /* variable ids */
    MPI_Offset n_records;
    double *anomaly; /* work space: h - depth */
    double seconds;  /* spent in PnetCDF */
};

/* history.c: CDF-2, CF-1.8. All calls are collective over the grid's communicator. `command` goes into the history
 * attribute and must be the same on all ranks. */
void history_create(const char *path, const struct model *model, const char *command, struct history *history);
/* Open a history to go on after the model's time; records of a later time are overwritten. */
void history_append(const char *path, const struct model *model, const char *command, struct history *history);
void history_write(struct history *history, const struct model *model);
void history_close(struct history *history);

/* checkpoint.c: CDF-5, the whole state in double precision. Collective; each returns the seconds it took. */
double checkpoint_write(const char *path, const struct model *model);
/* Creates the model on comm, whatever the number of ranks that wrote the file. */
double checkpoint_read(const char *path, MPI_Comm comm, struct model *model);

#endif
