/* The filetype of a list of extents. */
#include "drivers/mpiio/mpiio.h"

#include <limits.h>

#include "base/memory.h"

/* True for extents of the same length at equal distances: a vector type is faster than a list of displacements
 * (stride 2 of doubles: 24 ns per element, list 30 ns). */
static bool has_equal_distances(const pnc_extent *extents, int64_t n)
{
    int64_t step = extents[1].offset - extents[0].offset;

    for (int64_t i = 1; i < n; i++)
        if (extents[i].length != extents[0].length || extents[i].offset - extents[i - 1].offset != step)
            return false;
    return true;
}

static int create_list(const pnc_extent *extents, int64_t n, MPI_Datatype *type)
{
    int *lengths = pnc_memory_alloc(n, sizeof *lengths), code = MPI_ERR_NO_MEM;
    MPI_Aint *displacements = pnc_memory_alloc(n, sizeof *displacements);

    if (lengths != NULL && displacements != NULL) {
        for (int64_t i = 0; i < n; i++) {
            lengths[i] = (int)extents[i].length;
            displacements[i] = (MPI_Aint)(extents[i].offset - extents[0].offset);
        }
        code = MPI_Type_create_hindexed((int)n, lengths, displacements, MPI_BYTE, type);
    }
    pnc_memory_free(lengths);
    pnc_memory_free(displacements);
    return code;
}

int pnc_mpiio_filetype_create(const pnc_extent *extents, int64_t n, MPI_Datatype *type)
{
    int length = (int)extents[0].length, code;

    assert(n > 0 && n <= INT_MAX);
    if (n == 1)
        code = MPI_Type_contiguous(length, MPI_BYTE, type);
    else if (has_equal_distances(extents, n))
        code =
            MPI_Type_create_hvector((int)n, length, (MPI_Aint)(extents[1].offset - extents[0].offset), MPI_BYTE, type);
    else
        code = create_list(extents, n, type);
    if (code != MPI_SUCCESS)
        return code;
    code = MPI_Type_commit(type);
    if (code != MPI_SUCCESS)
        MPI_Type_free(type);
    return code;
}
