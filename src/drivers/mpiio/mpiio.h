/* What the files of this driver share. */
#ifndef PNC_DRIVERS_MPIIO_MPIIO_H
#define PNC_DRIVERS_MPIIO_MPIIO_H

#include "drivers/driver.h"

typedef struct pnc_mpiio {
    pnc_store store;
    pnc_store_end end;
    MPI_File file;
    char *path;
    char *sieve_buffer; /* for many small extents, made at first use */
    int lock;           /* a descriptor of our own for locks of such writes, made at first use; or -1 */
    bool sole_writer;   /* the program has no other rank or thread, and its user lets writes be sieved */
} pnc_mpiio;

/* Measured on tmpfs, one rank: a read at an offset costs 550 ns and memory is passed over at 6 GB/s, so that up to
 * about 2 KiB of gap is cheaper to read than to skip. (Row of 64, 1024, 4096 B with a gap of the same size: 550, 770,
 * 1080 ns one by one; 25, 360, 1320 ns through a sieve buffer.) For writes through a view the figures are 755, 890,
 * 1120 ns against 63, 440, 1690. */
#define PNC_MPIIO_SIEVE_GAP 2048
#define PNC_MPIIO_SIEVE_MIN_EXTENTS 4 /* that are always worth their system calls */

/* inspect.c: MPI-IO takes "type:path" to name a kind of file system; the path alone. */
const char *pnc_mpiio_path_strip(const char *path);

/* errors.c: record what MPI says about a failed operation `what` ("open", "write" ..) on path. The code comes from the
 * class of the MPI error, or is `otherwise` where the class says nothing more definite. */
int pnc_mpiio_error_set(pnc_error *error, int mpi_code, int otherwise, const char *what, const char *path);

/* MPI calls it a success, but the operating system took no more than `moved` bytes of the extent. */
int pnc_mpiio_error_set_short(pnc_error *error, int moved, pnc_extent extent, const char *path);

/* turn.c: around each collective MPI_File_ call where ranks have threads. Collective; the call itself follows, also
 * where there was nothing to take. */
bool pnc_mpiio_turn_take(MPI_Comm comm);
void pnc_mpiio_turn_end(bool taken);

/* mpiio.c */
int pnc_mpiio_file_get_size(pnc_store *store, int64_t *out, pnc_error *error);

/* open.c */
int pnc_mpiio_file_create(MPI_Comm comm, const char *path, int mode, MPI_Info info, pnc_store **out, pnc_error *error);
int pnc_mpiio_file_open(MPI_Comm comm, const char *path, int mode, MPI_Info info, pnc_store **out, pnc_error *error);
int pnc_mpiio_file_close(pnc_store *store, pnc_error *error);

/* inspect.c: what rank 0 sees at a path before MPI opens it, so that the usual mistakes have clear messages. */
typedef enum pnc_mpiio_purpose { PNC_MPIIO_READ, PNC_MPIIO_UPDATE, PNC_MPIIO_REPLACE, PNC_MPIIO_NEW } pnc_mpiio_purpose;
typedef struct pnc_mpiio_sight {
    pnc_error error;
    int must_truncate; /* there is, or may be, a file with content */
} pnc_mpiio_sight;
void pnc_mpiio_path_inspect(const char *path, pnc_mpiio_purpose purpose, pnc_mpiio_sight *sight);

/* data.c: lists of extents, and one of them at its offset */
int pnc_mpiio_extents_write(pnc_store *store, const pnc_extent *extents, int64_t n, const void *buf, pnc_error *error);
int pnc_mpiio_extents_read(pnc_store *store, const pnc_extent *extents, int64_t n, void *buf, int64_t *got,
                           pnc_error *error);
int pnc_mpiio_extent_write(pnc_mpiio *io, pnc_extent extent, const char *buf, pnc_error *error);
/* *got grows by the bytes that came. */
int pnc_mpiio_extent_read(pnc_mpiio *io, pnc_extent extent, char *buf, int64_t *got, pnc_error *error);

#define PNC_MPIIO_LARGE 4096 /* an extent so long that it is moved on its own */

/* From the first to the last of ascending extents. */
static inline pnc_extent pnc_mpiio_extents_get_span(const pnc_extent *extents, int64_t n)
{
    return (pnc_extent){extents[0].offset, extents[n - 1].offset + extents[n - 1].length - extents[0].offset};
}

/* sieve.c: extents with small gaps through a sieve buffer, the others on their own. */
int pnc_mpiio_sieve_read(pnc_mpiio *io, const pnc_extent *extents, int64_t n, char *buf, int64_t *got,
                         pnc_error *error);

/* Whether this rank may write its ascending extents with what lies between them: true leaves their span locked, and
 * pnc_mpiio_sieve_write, which unlocks it, must follow. False where others may write, or the file system has no
 * locks. */
bool pnc_mpiio_sieve_lock(pnc_mpiio *io, const pnc_extent *extents, int64_t n);
int pnc_mpiio_sieve_write(pnc_mpiio *io, const pnc_extent *extents, int64_t n, const char *buf, pnc_error *error);

/* view.c: write ascending extents of a file that this rank has opened alone through a file view. */
int pnc_mpiio_view_write(pnc_mpiio *io, const pnc_extent *extents, int64_t n, const void *buf, pnc_error *error);

#endif
