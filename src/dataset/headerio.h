/* The header in the file: only rank 0 reads and writes it. Functions are collective unless they say otherwise. */
#ifndef PNC_DATASET_HEADERIO_H
#define PNC_DATASET_HEADERIO_H

#include "dataset/dataset.h"

/* Rank 0 reads, all decode. err is the result so far of this rank, and the return value too: the caller agrees. */
int pnc_dataset_header_read(pnc_dataset *ds, int err);
/* Local: decode the header that the file has now. Free *out even after an error. */
int pnc_dataset_header_load(pnc_dataset *ds, pnc_model *out);
/* Before it is written: all ranks adopt rank 0's definitions and encode them, unless one of them passes an error; the
 * caller frees *bytes. */
int pnc_dataset_header_agree(pnc_dataset *ds, int err, char **bytes, int64_t *n);
/* Local: NC_ENOMEM, with a message. */
int pnc_dataset_header_memory_fail(pnc_dataset *ds, int64_t bytes);

#endif
