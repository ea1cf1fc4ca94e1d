/* Blocking puts and gets: each call becomes a request that is executed at once. In a collective call a rank with an
 * error takes part with an empty list of requests. */
#include "base/memory.h"
#include "dataset/modes.h"
#include "io/access.h"
#include "io/request.h"
#include "io/transfer.h"

#define NUMBERS_INLINE 48

int pnc_io_mode_check(pnc_dataset *ds, pnc_direction way, bool collective)
{
    int err = way == PNC_PUT ? pnc_dataset_mode_check_write(ds) : NC_NOERR;

    if (err != NC_NOERR)
        return err;
    return collective ? pnc_dataset_mode_check_collective(ds) : pnc_dataset_mode_check_independent(ds);
}

int pnc_io_requests_execute(pnc_dataset *ds, pnc_direction way, bool collective, pnc_request **list, int64_t n, int err)
{
    int moved;

    if (collective && ds->safe && (err = pnc_dataset_status_agree(ds, err)) != NC_NOERR)
        return err;
    if (n == 0 && !collective)
        return err;
    moved = pnc_io_requests_transfer(ds, way, collective, list, n);
    for (int64_t i = 0; i < n && err == NC_NOERR && moved == NC_NOERR; i++)
        moved = pnc_io_request_report_status(ds, list[i]);
    return err != NC_NOERR ? err : moved;
}

int pnc_io_call_execute(pnc_dataset *ds, const pnc_call *call)
{
    pnc_direction way = pnc_io_call_get_way(call);
    int64_t few[NUMBERS_INLINE], *numbers = few, n;
    pnc_request r = {0}, *list[1] = {&r};
    int err = pnc_io_mode_check(ds, way, call->collective);

    if (err != NC_NOERR) /* no agreement needed: the mode is the same on all ranks */
        return err;
    n = pnc_io_request_count_numbers(ds, call);
    if (n > NUMBERS_INLINE && (numbers = pnc_memory_alloc(n, sizeof *numbers)) == NULL)
        err = pnc_error_set(&ds->error, NC_ENOMEM, "no memory for %lld indices of a call", (long long)n);
    if (err == NC_NOERR)
        err = pnc_io_request_init(ds, call, numbers, &r);
    err = pnc_io_requests_execute(ds, way, call->collective, list, err == NC_NOERR, err);
    pnc_io_request_free(&r);
    if (numbers != few)
        pnc_memory_free(numbers);
    return err;
}
