/* What requests of one open file need. */
#include "io/context.h"

#include "base/memory.h"
#include "io/mpi_io/collective_access.h"
#include "io/request/queue.h"
#include "io/two_phase/two_phase.h"

int pnc_io_context_init(pnc_io_context *io, pnc_file *file, const pnc_model *model)
{
    static const pnc_access_hints none = {0};

    *io = (pnc_io_context){.file = file, .model = model, .hints = &none};
    return pnc_io_queue_create(&io->queue);
}

int pnc_io_context_close(pnc_io_context *io)
{
    int err = pnc_io_collective_access_free(io->collective_access);

    io->collective_access = NULL;
    return err;
}

void pnc_io_context_free(pnc_io_context *io)
{
    (void)pnc_io_context_close(io); /* after an error, which is the one to report */
    pnc_io_queue_free(io->queue);
    pnc_io_two_phase_free(io->two_phase);
    pnc_memory_free(io->stage);
    pnc_memory_free(io->sieve);
}
