/* Moving data when the header, or a section before the data, grows. The move can be undone until the new header is
 * written, so that the old contents survive a failure. */
#ifndef PNC_DATASET_MOVE_H
#define PNC_DATASET_MOVE_H

#include <stdbool.h>
#include "file/file.h"
#include "format/model.h"

typedef struct pnc_move {
    pnc_file *file;
    const pnc_model *old, *now;    /* the definitions before and after the move */
    struct pnc_stretch *stretches; /* the data to move, in file order: one stream of bytes */
    int n;
    int64_t total;     /* bytes of the stream */
    int64_t moved;     /* from this position on the stream is at its new offsets */
    int64_t beyond;    /* from this position on new offsets are beyond the end of the old file */
    bool overwritten;  /* bytes inside the old file were overwritten */
    int lost;          /* the error of restoring this rank's share of a failed round, or NC_NOERR */
    int64_t file_size; /* of the old file */
    int64_t chunk;     /* bytes that a rank moves in one round */
    char *buf;
} pnc_move;

/* All functions but free are collective. init finds the data whose offsets differ between `old` and `now`; `chunk` is
 * an upper bound on the bytes that a rank moves in one round. Call free even if init fails. */
int pnc_dataset_move_init(pnc_move *move, pnc_file *file, const pnc_model *old, const pnc_model *now, int64_t chunk);
int pnc_dataset_move_execute(pnc_move *move);
/* After a failure: restore all data at their old offsets, even if they were overwritten, and the old size of the file.
 * file->error holds the cause; its message reports if the data cannot be restored. */
void pnc_dataset_move_undo(pnc_move *move);
void pnc_dataset_move_free(pnc_move *move);

#endif
