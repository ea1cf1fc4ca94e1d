/* Access to the values of variables: the mode is checked, src/io executes the requests, and the number of records
 * follows. */
#ifndef PNC_DATASET_ACCESS_H
#define PNC_DATASET_ACCESS_H

#include "dataset/dataset.h"
#include "io/request/call.h"

/* Blocking: put and get; mput and mget; put_vard and get_vard. An error in the arguments of a rank is returned at the
 * end; the requests of the other ranks are still executed, except in safe mode. */
int pnc_dataset_call_execute(pnc_dataset *ds, const pnc_call *call);
int pnc_dataset_multi_execute(pnc_dataset *ds, const pnc_multi *multi);
int pnc_dataset_vard_execute(pnc_dataset *ds, const pnc_vard *vard);

/* Execute requests; after a put, update the number of records, and with NC_SHARE flush the data. Collective if the list
 * is. */
int pnc_dataset_list_transfer(pnc_dataset *ds, pnc_request_list *list);
/* After a collective put that a later call writes: the lengths of unlimited dimensions, which only the program sees.
 * Collective. */
int pnc_dataset_lengths_add(pnc_dataset *ds, const pnc_request_list *list, int64_t numrecs);

/* Nonblocking: iput, iget, bput. Local. */
int pnc_dataset_call_post(pnc_dataset *ds, const pnc_call *call);

#endif
