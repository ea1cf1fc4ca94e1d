#include "tools/ncmpidump/checksum.h"

#include "tools/common/manifest.h"
#include "tools/common/parallel.h"
#include "tools/ncmpidump/team.h"

int dump_checksums_print(const dump_file *file)
{
    const dump_team *team = file->team;
    tool_manifest manifest;
    int err = dump_team_agree(file, tool_manifest_compute(&file->input, team->rank, team->nprocs, false, &manifest));

    if (err == NC_NOERR && team->nprocs > 1 && manifest.n > 0)
        MPI_Allreduce(MPI_IN_PLACE, manifest.sums, manifest.n * PNC_CHECKSUM_TEXT, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
    if (err == NC_NOERR && team->rank == 0)
        tool_manifest_write(&manifest, file->options->path, file->out);
    tool_manifest_free(&manifest);
    return err;
}
