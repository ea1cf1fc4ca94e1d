/* An open file and the ranks that share it, like an MPI_File. */
#ifndef PNC_FILE_FILE_H
#define PNC_FILE_FILE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/error.h"
#include "drivers/store.h"
#include "file/nodes.h"
#include "file/time_limit.h"
#include "file/watch.h"

/* The call of the program that is in progress. Its first agreement compares it with those of the other ranks: see
 * agree.h. */
typedef struct pnc_file_call {
    const char *name;     /* as the program called it */
    const char *function; /* of C that carries it out */
    const char *object;   /* name of a variable or file, for messages; may be NULL */
    int64_t kind;         /* calls of different kinds do not match; 0: those of different functions */
    bool begins;          /* it has made no agreement */
    bool mismatch;        /* it does not match those of other ranks, or an earlier one did not */
} pnc_file_call;

#define PNC_MISMATCH_BYTES 420

/* Type and operation of an agreement by maximum as one element; see pnc_file_maxima_init. */
typedef struct pnc_maxima {
    MPI_Datatype type;
    MPI_Op op;
    bool exists;  /* on this rank */
    bool is_used; /* they exist on all ranks */
} pnc_maxima;

/* The logs of a file (file/log.h). The same on all ranks, but for folder, size and cause. */
typedef enum pnc_file_log_state { PNC_LOG_UNUSED, PNC_LOG_WANTED, PNC_LOG_USED, PNC_LOG_REFUSED } pnc_file_log_state;
typedef struct pnc_file_log {
    pnc_file_log_state state;
    char *folder;                  /* of this rank */
    char *target;                  /* rank 0: the path of the file, beside which its mark is */
    int64_t size;                  /* bytes of a log; 0: a share of the folder */
    const int64_t *header_size;    /* of the file, while there are logs; NULL: they have values of variables */
    uint64_t definitions;          /* without a header: the digest of what logs rely on */
    struct pnc_behind *store;      /* it knows whether there can be logs */
    struct pnc_behind_log *values; /* of this rank (file/value_log.h); NULL: none */
    int64_t call;                  /* the last one whose values are logged */
    int64_t laps;                  /* of logs of values */
    int64_t writes, bytes, most;   /* of logs of values that have ended: system writes, their bytes; the most of one */
    int64_t queued;                /* bytes of values that were logged */
    int failed;                    /* errno of a write to the log of any rank; 0: none has failed */
    bool is_promised;              /* what they have is permanent: ncmpi_flush */
    bool delays;                   /* without logs, writes wait in memory */
    bool is_given;                 /* the folder */
    char why[200];                 /* it is refused */
} pnc_file_log;

struct pnc_file {
    char *path;
    MPI_Comm comm;   /* duplicate of the user's communicator */
    bool keeps_comm; /* for its next file; the same on all ranks */
    int rank, nprocs;
    pnc_nodes *nodes;
    const pnc_store_ops *driver;
    bool read_only;
    pnc_store *store;
    struct pnc_behind *behind; /* the store of delayed writes: file/behind.h; NULL: off */
    struct pnc_behind *ahead;  /* that of what is read ahead, the same if both are on; NULL: off */
    unsigned changes;          /* of the file by this process that what is read ahead has seen */
    pnc_file_log log;
    pnc_statistics *statistics;     /* NULL: off */
    struct pnc_host_writer *writer; /* rank 0: what it holds against other writers (file/writer.h); NULL: nothing */
    int64_t put_size, get_size;     /* bytes that this rank has written and read */
    bool unsynced;                  /* this rank may have changed the file since the last flush that succeeded */
    pnc_error *error;               /* of the call in progress */
    int late;                       /* error of a collective step, see agree.h */
    int lost_put;                   /* error of a call that has written a part of its data, or none; of the first one */
    pnc_file_call call;
    bool is_safe; /* the first agreement of a call does not block: see pnc_file_parting_begin */
    pnc_maxima maxima;
    pnc_time_limit *limit;             /* of the first agreement of each call; NULL: none */
    pnc_watch *watch;                  /* of the same without a limit, or NULL */
    char mismatch[PNC_MISMATCH_BYTES]; /* calls of two ranks that did not match; empty: all did */
    int64_t numrecs; /* records that this rank has added; of all ranks after calls that did not match */
};

/* Read or write n extents; their bytes are contiguous in memory. *got as in pnc_store_ops; may be NULL. Local. */
int pnc_file_extents_read(pnc_file *file, const pnc_extent *extents, int64_t n, void *bytes, int64_t *got);
int pnc_file_extents_write(pnc_file *file, const pnc_extent *extents, int64_t n, const void *bytes);
/* Read for the explanation of an error: sets no error, and the read is not part of the time of reads. Local. */
int pnc_file_extents_peek(pnc_file *file, const pnc_extent *extents, int64_t n, void *bytes);

/* The file has so many bytes at least: if it has fewer later, it was truncated. Local. */
static inline void pnc_file_end_raise(pnc_file *file, int64_t size)
{
    if (size > file->store->end->least_size)
        file->store->end->least_size = size;
}
/* The same for a size that another rank has given it. Ignored for a file on servers: nodes may see an older size for
 * some time, which must not be taken for a truncation. */
void pnc_file_end_adopt(pnc_file *file, int64_t size);

/* As lock and unlock of pnc_store_ops. */
bool pnc_file_span_lock(pnc_file *file, pnc_extent span);
int pnc_file_span_unlock(pnc_file *file, pnc_extent span);

/* As hold of pnc_store_ops. */
pnc_held pnc_file_hold_set(pnc_file *file, pnc_hold hold);

/* As start, is_complete and finish of pnc_store_ops. pnc_file_has_overlap returns whether the driver has them. */
static inline bool pnc_file_has_overlap(const pnc_file *file)
{
    return file->store->ops->start != NULL;
}
void pnc_file_transfer_start(pnc_file *file, bool is_write, pnc_extent extent, void *bytes, pnc_store_transfer *out);
static inline bool pnc_file_transfer_is_complete(const pnc_file *file, const pnc_store_transfer *transfer)
{
    return file->store->ops->is_complete(file->store, transfer);
}
int pnc_file_transfer_finish(pnc_file *file, pnc_store_transfer *transfer);

/* The same by a collective call of the store. */
int pnc_file_extents_read_all(pnc_file *file, const pnc_extent *extents, int64_t n, void *bytes);
int pnc_file_extents_write_all(pnc_file *file, const pnc_extent *extents, int64_t n, const void *bytes);

/* The hints for opening a file once more: those in effect, without data sieving of writes. Local. */
int pnc_file_hints_create(const pnc_file *file, MPI_Info *out);
/* Open a file once more, for collective access by some of its ranks, which are those of `comm`. Collective
 * over comm, which must outlive the result; the path and the error object are those of `file`. If out->store is set
 * after an error, the file is open on all these ranks. */
int pnc_file_open_again(const pnc_file *file, MPI_Comm comm, MPI_Info info, pnc_file *out);
/* Collective over its communicator. */
int pnc_file_close_again(pnc_file *file);

/* Read or write one extent of the header, of any length, in portions that the store accepts, and count its bytes.
 * Local. */
int pnc_file_range_read(pnc_file *file, pnc_extent extent, char *bytes);
int pnc_file_range_write(pnc_file *file, pnc_extent extent, const char *bytes);

/* Read what the file, which has `size` bytes, has of the span; bytes beyond its end are zeros. */
int pnc_file_span_read(pnc_file *file, int64_t size, pnc_extent span, char *bytes);
int pnc_file_get_size(pnc_file *file, int64_t *size); /* local */
/* When the file has last changed, in nanoseconds, as the file system counts; 0: not known. Local. */
int64_t pnc_file_get_change(const pnc_file *file);
int pnc_file_data_sync(pnc_file *file); /* collective */

#endif
