/* What the ways to ask for blocking access share. */
#ifndef PNC_IO_ACCESS_H
#define PNC_IO_ACCESS_H

#include "io/request.h"

/* The errors that end a call at once, on all ranks alike: NC_EPERM NC_EINDEFINE NC_EINDEP NC_ENOTINDEP. */
int pnc_io_mode_check(pnc_dataset *ds, pnc_direction way, bool collective);

/* Carry a list of requests out. err: what this rank has met in its arguments; it is returned in the end, but does not
 * keep the requests of the list, or of other ranks, from being carried out (except in safe mode). */
int pnc_io_requests_execute(pnc_dataset *ds, pnc_direction way, bool collective, pnc_request **list, int64_t n,
                            int err);

#endif
