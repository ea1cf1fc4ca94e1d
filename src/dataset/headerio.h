/* The header in the file: only rank 0 reads and writes it. Functions are collective unless they say otherwise. */
#ifndef PNC_DATASET_HEADERIO_H
#define PNC_DATASET_HEADERIO_H

#include "dataset/dataset.h"

/* Rank 0 reads, all decode. err is the result so far of this rank, and the return value too: the caller agrees. */
int pnc_dataset_header_read(pnc_dataset *ds, int err);
/* Local: decode the header that the file has now. Free *out even after an error. */
int pnc_dataset_header_load(pnc_dataset *ds, pnc_model *out);
/* Writing it takes two steps. First all ranks adopt rank 0's definitions and encode them, unless one of them
 * passes an error; the caller frees *bytes. Then rank 0 writes the bytes; if that fails, it writes the header of
 * ds->before again. */
int pnc_dataset_header_agree(pnc_dataset *ds, int err, char **bytes, int64_t *n);
int pnc_dataset_header_replace(pnc_dataset *ds, const char *bytes, int64_t n);
/* On rank 0: NC_ESTALE if the file does not have the header of ds->before. *in_parts: header_replace with these bytes
 * would change more than one page of it, so that the death of the process could leave a mixture of both. */
int pnc_dataset_header_examine(pnc_dataset *ds, const char *bytes, int64_t n, int64_t *in_parts);
/* On rank 0, after a write to the header has failed: write the old bytes again (NULL: there is no memory for them). The
 * message reports if that fails. */
void pnc_dataset_header_repair(pnc_dataset *ds, pnc_extent where, const char *old);
/* Local. The bytes that change if n bytes of the header, at `offset`, are replaced: from the first to the last one that
 * differs. Of length 0 if none does. */
pnc_extent pnc_dataset_header_find_change(int64_t offset, const char *was, const char *becomes, int64_t n);
/* Local. Whether a death cannot leave a part of a write to this extent: the kernel writes bytes of one page all or not
 * at all if the process is killed. */
#define PNC_HEADER_PAGE 4096 /* bytes that a file system writes at once */
bool pnc_dataset_header_is_in_page(pnc_extent extent);

#endif
