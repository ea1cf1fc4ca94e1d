/* Data that make room when the header or a section before them grows. They can be moved back until the new header is
 * written, so that a file of which this fails still holds what it held. */
#ifndef PNC_DATASET_MOVE_H
#define PNC_DATASET_MOVE_H

#include "dataset/dataset.h"

typedef struct pnc_move {
    pnc_dataset *ds;
    struct pnc_stretch *stretches; /* what moves, in the order of the file: one stream of bytes */
    int n;
    int64_t total;     /* bytes of the stream */
    int64_t moved;     /* from this position on the stream is in its new place */
    int64_t beyond;    /* from this position on new places lie beyond the end of the old file */
    bool overwritten;  /* something was written inside the old file */
    int lost;          /* why this rank's part of a failed round could not be put back, or NC_NOERR */
    int64_t file_size; /* of the old file */
    int64_t chunk;     /* bytes that a rank moves in one round */
    char *buf;
} pnc_move;

/* All are collective. Find what differs between ds->before and ds->model; free it also where this fails. */
int pnc_dataset_move_init(pnc_dataset *ds, pnc_move *move);
int pnc_dataset_move_execute(pnc_move *move);
/* After a failure, whatever else was written meanwhile: all bytes of data in their old places, the file of its old
 * size. ds->error holds the failure; where the data cannot be put back its sentence says so. */
void pnc_dataset_move_undo(pnc_move *move);
void pnc_dataset_move_free(pnc_move *move);

#endif
