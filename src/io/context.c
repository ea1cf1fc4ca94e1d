/* What requests of one open file need. */
#include "io/context.h"

#include "base/memory.h"
#include "io/queue.h"
#include "io/two_phase.h"

int pnc_io_context_init(pnc_io_context *io, pnc_file *file, const pnc_model *model)
{
    *io = (pnc_io_context){.file = file, .model = model};
    return pnc_io_queue_create(&io->queue);
}

void pnc_io_context_free(pnc_io_context *io)
{
    pnc_io_queue_free(io->queue);
    pnc_io_two_phase_free(io->two_phase);
    pnc_memory_free(io->stage);
}
