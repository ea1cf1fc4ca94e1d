/* ncmpilog: the logs of a burst buffer after the death of its program. */
#include <mpi.h>

#include "tools/common/message.h"
#include "tools/common/parallel.h"
#include "tools/ncmpilog/list.h"
#include "tools/ncmpilog/options.h"
#include "tools/ncmpilog/replay.h"

/* On rank 0. The worst status: an error, then values that wait. */
static int list_files(const log_options *options)
{
    int worst = LOG_DONE;

    for (int i = 0; i < options->npaths; i++) {
        int status = log_file_print(options->paths[i]);

        if (status == LOG_FAILED || worst == LOG_DONE)
            worst = status;
    }
    return tool_output_flush(NULL) == NC_NOERR ? worst : LOG_FAILED;
}

static int execute(const log_options *options)
{
    int rank, status = LOG_DONE;

    if (options->folder != NULL)
        return log_replay_execute(options);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        status = list_files(options);
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return status;
}

int main(int argc, char **argv)
{
    log_options options;
    int status;

    MPI_Init(&argc, &argv);
    tool_program_start("ncmpilog", argv);
    status = tool_options_parse(log_options_parse, argc, argv, &options);
    if (status < 0)
        status = execute(&options);
    MPI_Finalize();
    return tool_program_end(status);
}
