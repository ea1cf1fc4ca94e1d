/* Shared by the blocking functions: put/get, mput/mget and put_vard/get_vard. */
#ifndef PNC_IO_ACCESS_H
#define PNC_IO_ACCESS_H

#include "io/request.h"

/* Check the data mode and write access. An error (NC_EPERM, NC_EINDEFINE, NC_EINDEP, NC_ENOTINDEP) is the same on
 * all ranks and ends the call at once. */
int pnc_io_mode_check(pnc_dataset *ds, pnc_direction way, bool collective);

/* Execute a list of requests. err is an error in the arguments of this rank. It is returned at the end; the requests
 * in the list and those of other ranks are still executed, except in safe mode. */
int pnc_io_requests_execute(pnc_dataset *ds, pnc_direction way, bool collective, pnc_request **list, int64_t n,
                            int err);

#endif
