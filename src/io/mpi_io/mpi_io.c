/* The strategy mpi_io. */
#include "io/mpi_io/mpi_io.h"

#include "io/mpi_io/collective_access.h"

bool pnc_io_mpi_io_open(pnc_io_context *io, const pnc_node *node, int64_t buffer)
{
    pnc_domain_shape shape = {
        .naggregators = node->naggregators, .buffer = buffer, .striping_unit = pnc_io_context_get_striping_unit(io)};
    int err;

    if (io->collective_access != NULL || io->no_collective_access)
        return io->collective_access != NULL;
    err = pnc_io_collective_access_create(io, node, &shape, &io->collective_access);
    io->no_collective_access = err != NC_NOERR;
    if (err != NC_NOERR)
        pnc_error_clear(io->file->error);
    return err == NC_NOERR;
}

int pnc_io_mpi_io_execute(const pnc_execution *x)
{
    return pnc_io_collective_access_execute(x->io->collective_access, x->order, x->range);
}
