/* Statistics of a dataset: switched on by PNETCDF_STATS or the hint nc_stats, reported when the file is closed. */
#ifndef PNC_DATASET_STATISTICS_H
#define PNC_DATASET_STATISTICS_H

#include "dataset/dataset.h"
#include "io/request/request.h"

/* Values of the hint nc_stats; written: kept, and written as JSON. */
enum { PNC_STATS_OFF, PNC_STATS_PRINTED, PNC_STATS_KEPT, PNC_STATS_WRITTEN };
/* On rank 0: a value for all ranks, which takes PNETCDF_STATS into account. */
int64_t pnc_dataset_statistics_choose(int64_t hint);

/* Start to count, if the hint says so: while the file is opened, after so many seconds of which some were those of
 * waiting; and when it is open. Local. */
void pnc_dataset_statistics_start(pnc_dataset *ds, double seconds, double waited);
void pnc_dataset_statistics_open(pnc_dataset *ds);
/* Gather the statistics of all ranks, and report them on rank 0. Collective, before the file is closed. If MPI fails,
 * there is no report. */
void pnc_dataset_statistics_report(pnc_dataset *ds);
/* The same without other ranks: complete the timeline. Local. */
void pnc_dataset_statistics_discard(pnc_dataset *ds);

/* A call that accesses values begins. */
void pnc_dataset_statistics_call_start(pnc_dataset *ds);
/* A blocking call of these requests. */
void pnc_dataset_statistics_call_add(pnc_dataset *ds, const pnc_request_list *list);
/* A wait call with n requests. */
void pnc_dataset_statistics_wait_add(pnc_dataset *ds, bool collective, int64_t n);
/* Around the transfer of requests. The variables have their shares of its time by bytes. */
static inline void pnc_dataset_statistics_transfer_start(pnc_dataset *ds, pnc_direction direction)
{
    if (ds->file.statistics != NULL)
        ds->file.statistics->in_put = direction == PNC_PUT;
}
void pnc_dataset_statistics_transfer_add(pnc_dataset *ds, const pnc_request_list *list);
static inline void pnc_dataset_statistics_transfer_finish(pnc_dataset *ds, const pnc_request_list *list)
{
    if (ds->file.statistics != NULL)
        pnc_dataset_statistics_transfer_add(ds, list);
}

#endif
