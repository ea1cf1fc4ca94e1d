/* Internal interface of the MPI-IO driver. */
#ifndef PNC_DRIVERS_MPIIO_MPIIO_H
#define PNC_DRIVERS_MPIIO_MPIIO_H

#include "base/path.h"
#include "drivers/driver.h"
#include "select/sieving.h"

#include <aio.h>
#include <assert.h>

#define PNC_MPIIO_CHANNELS 8

/* For transfers in the background. */
typedef struct pnc_mpiio_channel {
    int fd; /* opened at first use; -1 if closed; PNC_MPIIO_NO_BACKGROUND */
    int ntransfers;
} pnc_mpiio_channel;

/* A transfer that the system makes. Its memory is used again by later ones. */
typedef struct pnc_mpiio_access {
    struct pnc_mpiio_access *next; /* in the list of those that are not used */
    int channel;
    struct aiocb block;
} pnc_mpiio_access;

typedef struct pnc_mpiio {
    pnc_store store;
    pnc_store_end end;
    MPI_File file; /* MPI_FILE_NULL if MPI could not open it */
    const char *path;
    char *sieve_buffer; /* for reads of many small extents; allocated at first use */
    int lock;           /* file descriptor for locks, opened at first use; -1 if closed */
    pnc_mpiio_channel channels[PNC_MPIIO_CHANNELS];
    pnc_mpiio_access *unused; /* memory for transfers in the background */
    bool read_only;
    bool sole_writer; /* the program has one rank and one thread, and the hints allow sieved writes */
} pnc_mpiio;

/* Bytes of a path. ROMIO of MPICH 4.0 fails to open a longer one, but leaves a handle of which MPI_File_close aborts
 * the program. */
#define PNC_MPIIO_PATH_MOST 4094

/* path.c: MPI-IO needs a prefix in front of some paths. Choose it (PNC_PREFIX_BYTES bytes, empty without one): what it
 * is may depend on the node, so that one rank chooses for all. */
void pnc_mpiio_path_choose_prefix(const char *path, char *prefix);
/* The folder of a file: at most PNC_MPIIO_PATH_BYTES bytes. */
void pnc_mpiio_path_find_folder(const char *path, char *folder);
/* The path for MPI-IO: `path`, or a string in the buffer of PNC_MPIIO_PATH_BYTES bytes. prefix may be NULL. */
#define PNC_MPIIO_PATH_BYTES (4096 + PNC_PREFIX_BYTES)
const char *pnc_mpiio_path_derive(const char *path, const char *prefix, char *buffer);
/* The same path for any working folder, with its prefix, if there is one. The caller frees it; NULL without memory. */
char *pnc_mpiio_path_make_absolute(const char *path);
/* False if the path names no file, or one of a file system that only MPI-IO can access. */
bool pnc_mpiio_path_identify(const char *path, pnc_identity *out);
/* Delete a file. */
int pnc_mpiio_path_remove(const char *path, MPI_Info info, pnc_error *error);
/* The same, only if it is `own`. If its path names no file, there is nothing to do; NC_EFILE if it names another. */
int pnc_mpiio_path_discard(const char *path, pnc_identity own, MPI_Info info, pnc_error *error);
/* Remove the last `suffix` bytes of the name of a file. NC_EEXIST if a file has that name already, unless it may be
 * replaced. */
int pnc_mpiio_path_rename(const char *path, int suffix, bool replaces, pnc_error *error);

/* errors.c: set an error for a failed MPI operation `what` ("open", "write" ..) on path. The code is that of the MPI
 * error class; `otherwise` if the class is unspecific. */
int pnc_mpiio_error_set(pnc_error *error, int mpi_code, int otherwise, const char *what, const char *path);

/* Set an error for a write that MPI reports as successful, but that wrote only `moved` bytes of the extent. */
int pnc_mpiio_error_set_short(pnc_error *error, int moved, pnc_extent extent, const char *path);

/* True if a signal interrupted the system call. Nothing was transferred: the operation can be repeated. */
bool pnc_mpiio_error_is_interruption(int mpi_code);
#define PNC_MPIIO_ATTEMPTS 16 /* at an access that signals interrupt, or that transfers nothing */

/* turn.c: to be called before and after each collective MPI_File_ call. Collective. The caller makes the MPI_File_
 * call whatever pnc_mpiio_turn_take returns; it returns false if no turn is needed or MPI fails. */
bool pnc_mpiio_turn_take(MPI_Comm comm);
/* The same for a call of one rank, before this process has opened a file. Local; false if no turn is needed. */
bool pnc_mpiio_turn_take_local(void);
void pnc_mpiio_turn_end(bool taken);
/* To be called before the end of a turn in which MPI_File_open has succeeded. */
void pnc_mpiio_turn_set_prepared(void);

/* mpiio.c */
int pnc_mpiio_file_get_size(pnc_store *store, int64_t *out, pnc_error *error);

/* open.c */
int pnc_mpiio_file_open(const pnc_open_call *call, pnc_store *store, pnc_error *error);
int pnc_mpiio_file_close(pnc_store *store, pnc_error *error);

/* inspect.c: check a path before MPI opens it, for clear messages about frequent errors. */
void pnc_mpiio_path_inspect(const char *path, pnc_open_purpose purpose, pnc_inspection *found);
/* Remove the content of a file. Local. */
int pnc_mpiio_path_truncate(const char *path, pnc_error *error);

/* library.c: which MPI library this is. MPICH, and libraries derived from it whose version names it, have ROMIO. */
typedef enum pnc_mpiio_library { PNC_MPIIO_UNKNOWN, PNC_MPIIO_MPICH, PNC_MPIIO_OPEN_MPI } pnc_mpiio_library;
pnc_mpiio_library pnc_mpiio_library_get(void);

/* striping.c: ask the file system. The caller sets *out to zeros. False if it does not report how it distributes the
 * file: then only in_memory, on_servers and is_local may be set. */
bool pnc_mpiio_striping_find(const char *path, pnc_striping *out);
/* Set the unit and the number of servers by hints, and on_servers if there is a unit. */
void pnc_mpiio_striping_derive(MPI_Info hints, pnc_striping *out);

/* A hint as a positive number, 0 without it. */
int64_t pnc_mpiio_striping_get_hint(MPI_Info info, const char *key);
/* What a folder of Lustre says about new files; *out stays as it is if it says nothing. */
void pnc_mpiio_striping_find_default(const char *folder, pnc_striping_default *out);
/* Whether the folder of a file is one of Lustre. The path has no prefix. */
bool pnc_mpiio_striping_is_on_lustre(const char *path);

/* new_file.c: collective, before MPI opens a new file on Lustre. Choose its stripes; rank 0 creates it with them, or
 * *info becomes a copy with hints for them, which the caller frees. It is not there only if out->is_created is false.
 * NC_EMPI: the ranks could not share the choice. What prevents the choice is no error. */
int pnc_mpiio_new_file_create(const pnc_open_call *call, MPI_Info *info, pnc_new_striping *out, pnc_error *error);

/* lustre.c: the layout in the n bytes of the attribute lustre.lov: sets unit, factor and round_robin. False if they are
 * not one, or have no stripes. */
bool pnc_mpiio_lustre_parse(const unsigned char *bytes, size_t n, pnc_striping *out);
/* The same attribute of a folder. False: these bytes are none. */
bool pnc_mpiio_lustre_parse_default(const unsigned char *bytes, size_t n, pnc_striping_default *out);

/* background.c: as in pnc_store_ops */
#define PNC_MPIIO_NO_BACKGROUND (-2)
void pnc_mpiio_background_close(pnc_mpiio *io);
void pnc_mpiio_transfer_start(pnc_store *store, bool is_write, pnc_extent extent, void *bytes, pnc_store_transfer *out);
bool pnc_mpiio_transfer_is_complete(const pnc_store *store, const pnc_store_transfer *transfer);
int pnc_mpiio_transfer_finish(pnc_store *store, pnc_store_transfer *transfer, pnc_error *error);

/* data.c: lists of extents, and single extents */
int pnc_mpiio_extents_write(pnc_store *store, const pnc_extent *extents, int64_t n, const void *buf, pnc_error *error);
int pnc_mpiio_extents_read(pnc_store *store, const pnc_extent *extents, int64_t n, void *buf, int64_t *got,
                           pnc_error *error);
int pnc_mpiio_extent_write(pnc_mpiio *io, pnc_extent extent, const char *buf, pnc_error *error);
/* Adds the number of bytes read to *got. */
int pnc_mpiio_extent_read(pnc_mpiio *io, pnc_extent extent, char *buf, int64_t *got, pnc_error *error);

/* sieve.c: data sieving of reads for extents with small gaps; the others are read on their own. */
int pnc_mpiio_sieve_read(pnc_mpiio *io, const pnc_extent *extents, int64_t n, char *buf, int64_t *got,
                         pnc_error *error);

/* lock.c: as in pnc_store_ops. False if other ranks or threads may write, or if the file system has no locks. */
bool pnc_mpiio_span_lock(pnc_store *store, pnc_extent span);
int pnc_mpiio_span_unlock(pnc_store *store, pnc_extent span, pnc_error *error);
pnc_held pnc_mpiio_file_hold(pnc_store *store, pnc_hold hold);

/* filetype.c: the committed filetype of ascending extents, relative to the first one. Returns a code of MPI. */
int pnc_mpiio_filetype_create(const pnc_extent *extents, int64_t n, MPI_Datatype *type);

/* view.c: write ascending extents through a file view; for files opened by one rank. */
int pnc_mpiio_view_write(pnc_mpiio *io, const pnc_extent *extents, int64_t n, const void *buf, pnc_error *error);

/* collective.c */
int pnc_mpiio_extents_write_all(pnc_store *store, const pnc_extent *extents, int64_t n, const void *buf,
                                pnc_error *error);
int pnc_mpiio_extents_read_all(pnc_store *store, const pnc_extent *extents, int64_t n, void *buf, int64_t *got,
                               pnc_error *error);

#endif
