/* Data mode with independent and collective calls at the same time, as programs that call netCDF expect: there a
 * variable is collective or independent, not the file. src/api/door.h switches it on.
 *
 * - An independent put of a contiguous variable is written at once. Of a variable in chunks, it waits at its rank, like
 *   the lengths of dimensions that it needs, until the next collective put or get, or ncmpi_sync: after that all ranks
 *   see it.
 * - What a collective put has left at aggregators, or in delayed writes, is seen by collective gets. An independent get
 *   of that variable fails on ranks that could read older values, until ncmpi_sync.
 * - Puts are not deferred (nc_defer_puts). */
#ifndef PNC_DATASET_UNITED_H
#define PNC_DATASET_UNITED_H

#include "dataset/dataset.h"

/* Local, on all ranks, after opening or creating. */
int pnc_dataset_modes_join(pnc_dataset *ds);
/* At the start of a call, before its arguments are checked, as ranks may not know all lengths yet. Collective if the
 * call is. */
int pnc_dataset_united_begin(pnc_dataset *ds, bool collective);
/* Before the requests of an independent call are executed: NC_EINDEP. Local. */
int pnc_dataset_united_check(pnc_dataset *ds, const pnc_request_list *list);
/* After they were, for a put. Local. */
void pnc_dataset_united_end(pnc_dataset *ds, const pnc_request_list *list);
/* The same for strings of a variable, which the store of chunks does not have; varid -1: an error, of a variable that
 * this rank may not know. */
int pnc_dataset_united_check_var(pnc_dataset *ds, int varid);
void pnc_dataset_united_add_var(pnc_dataset *ds, bool collective, int varid);
/* All ranks see all values: after a flush. Local. */
void pnc_dataset_united_clear(pnc_dataset *ds);
void pnc_dataset_united_free(pnc_dataset *ds);

#endif
