/* Preloaded into an MPI program: counts the messages that leave a rank and its collective calls.
 *
 * MPICH's device ch4:ucx sends all messages through libucp, those of collective calls included. Systems with MPICH may
 * lack the headers of libucp, so its functions are declared here. Collective calls that MPI-IO makes are not counted:
 * inside of the MPI library they do not pass through the functions that are replaced here. Their messages are. */
#include "parallel_fs.h"

#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

/* --- which ranks are on the same node --- */

enum { MAX_RANKS_OF_NODE = 1024 };

static const void *local[MAX_RANKS_OF_NODE]; /* endpoints of the ranks of this node */
static int nlocal;

/* MPI_Init makes an endpoint for each rank, in the order of ranks. */
int8_t ucp_ep_create(void *worker, const void *parameters, void **out);
int8_t ucp_ep_create(void *worker, const void *parameters, void **out)
{
    static int8_t (*real)(void *, const void *, void **);
    static int rank;
    int8_t status;

    if (real == NULL)
        *(void **)&real = find_next("ucp_ep_create");
    status = real(worker, parameters, out);
    if (status == 0 && model_is_local(rank++) && nlocal < MAX_RANKS_OF_NODE)
        local[nlocal++] = *out;
    return status;
}

static bool is_local(const void *endpoint)
{
    for (int i = 0; i < nlocal; i++)
        if (local[i] == endpoint)
            return true;
    return false;
}

/* Also what MPI_Get_processor_name returns: libraries place their aggregators by it. */
int gethostname(char *name, size_t size)
{
    snprintf(name, size, "node%d", model_node());
    return 0;
}

/* --- messages --- */

#define COUNT_MESSAGES(name, parameters, arguments) \
    void *name parameters;                          \
    void *name parameters                           \
    {                                               \
        static void *(*real)parameters;             \
        if (real == NULL)                           \
            *(void **)&real = find_next(#name);     \
        record_message(is_local(to));               \
        return real arguments;                      \
    }

COUNT_MESSAGES(ucp_tag_send_nb, (void *to, const void *buf, size_t n, uint64_t type, uint64_t tag, void *done),
               (to, buf, n, type, tag, done))
COUNT_MESSAGES(ucp_tag_send_nbx, (void *to, const void *buf, size_t n, uint64_t tag, const void *options),
               (to, buf, n, tag, options))
COUNT_MESSAGES(ucp_tag_send_sync_nb, (void *to, const void *buf, size_t n, uint64_t type, uint64_t tag, void *done),
               (to, buf, n, type, tag, done))
COUNT_MESSAGES(ucp_tag_send_sync_nbx, (void *to, const void *buf, size_t n, uint64_t tag, const void *options),
               (to, buf, n, tag, options))
COUNT_MESSAGES(ucp_am_send_nb,
               (void *to, uint16_t id, const void *buf, size_t n, uint64_t type, void *done, unsigned flags),
               (to, id, buf, n, type, done, flags))
COUNT_MESSAGES(ucp_am_send_nbx,
               (void *to, unsigned id, const void *head, size_t bytes, const void *buf, size_t n, const void *options),
               (to, id, head, bytes, buf, n, options))
COUNT_MESSAGES(ucp_put_nb, (void *to, const void *buf, size_t n, uint64_t address, void *key, void *done),
               (to, buf, n, address, key, done))
COUNT_MESSAGES(ucp_get_nb, (void *to, void *buf, size_t n, uint64_t address, void *key, void *done),
               (to, buf, n, address, key, done))

/* --- collective calls --- */

#define LIST(...) __VA_ARGS__
#define COUNT_CALLS(name, parameters, arguments) \
    int MPI_##name(LIST parameters)              \
    {                                            \
        record_collective(#name);                \
        return PMPI_##name(LIST arguments);      \
    }
/* The blocking function and the nonblocking one. */
#define COUNT_BOTH(name, nonblocking, parameters, arguments) \
    COUNT_CALLS(name, parameters, arguments)                 \
    COUNT_CALLS(nonblocking, (LIST parameters, MPI_Request * request), (LIST arguments, request))

#define SEND const void *out, int nout, MPI_Datatype sent
#define SEND_V const void *out, const int *nout, const int *from, MPI_Datatype sent
#define RECEIVE void *in, int nin, MPI_Datatype received
#define RECEIVE_V void *in, const int *nin, const int *to, MPI_Datatype received
#define REDUCE const void *out, void *in, int n, MPI_Datatype type, MPI_Op op

COUNT_BOTH(Barrier, Ibarrier, (MPI_Comm comm), (comm))
COUNT_BOTH(Bcast, Ibcast, (void *buf, int n, MPI_Datatype type, int root, MPI_Comm comm), (buf, n, type, root, comm))
COUNT_BOTH(Allreduce, Iallreduce, (REDUCE, MPI_Comm comm), (out, in, n, type, op, comm))
COUNT_BOTH(Reduce, Ireduce, (REDUCE, int root, MPI_Comm comm), (out, in, n, type, op, root, comm))
COUNT_BOTH(Scan, Iscan, (REDUCE, MPI_Comm comm), (out, in, n, type, op, comm))
COUNT_BOTH(Exscan, Iexscan, (REDUCE, MPI_Comm comm), (out, in, n, type, op, comm))
COUNT_BOTH(Gather, Igather, (SEND, RECEIVE, int root, MPI_Comm comm), (out, nout, sent, in, nin, received, root, comm))
COUNT_BOTH(Gatherv, Igatherv, (SEND, RECEIVE_V, int root, MPI_Comm comm),
           (out, nout, sent, in, nin, to, received, root, comm))
COUNT_BOTH(Scatter, Iscatter, (SEND, RECEIVE, int root, MPI_Comm comm),
           (out, nout, sent, in, nin, received, root, comm))
COUNT_BOTH(Scatterv, Iscatterv, (SEND_V, RECEIVE, int root, MPI_Comm comm),
           (out, nout, from, sent, in, nin, received, root, comm))
COUNT_BOTH(Allgather, Iallgather, (SEND, RECEIVE, MPI_Comm comm), (out, nout, sent, in, nin, received, comm))
COUNT_BOTH(Allgatherv, Iallgatherv, (SEND, RECEIVE_V, MPI_Comm comm), (out, nout, sent, in, nin, to, received, comm))
COUNT_BOTH(Alltoall, Ialltoall, (SEND, RECEIVE, MPI_Comm comm), (out, nout, sent, in, nin, received, comm))
COUNT_BOTH(Alltoallv, Ialltoallv, (SEND_V, RECEIVE_V, MPI_Comm comm),
           (out, nout, from, sent, in, nin, to, received, comm))
COUNT_CALLS(Comm_dup, (MPI_Comm comm, MPI_Comm *out), (comm, out))
COUNT_CALLS(Comm_idup, (MPI_Comm comm, MPI_Comm *out, MPI_Request *request), (comm, out, request))
COUNT_CALLS(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *out), (comm, color, key, out))
COUNT_CALLS(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *out),
            (comm, type, key, info, out))
COUNT_CALLS(Win_allocate_shared, (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *memory, MPI_Win *out),
            (size, unit, info, comm, memory, out))
COUNT_CALLS(File_open, (MPI_Comm comm, const char *path, int mode, MPI_Info info, MPI_File *out),
            (comm, path, mode, info, out))
COUNT_CALLS(File_close, (MPI_File * file), (file))
COUNT_CALLS(File_sync, (MPI_File file), (file))
COUNT_CALLS(File_set_size, (MPI_File file, MPI_Offset size), (file, size))
COUNT_CALLS(File_set_view,
            (MPI_File file, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype, const char *rep, MPI_Info info),
            (file, disp, etype, filetype, rep, info))
COUNT_CALLS(File_write_at_all,
            (MPI_File file, MPI_Offset offset, const void *buf, int n, MPI_Datatype type, MPI_Status *status),
            (file, offset, buf, n, type, status))
COUNT_CALLS(File_read_at_all,
            (MPI_File file, MPI_Offset offset, void *buf, int n, MPI_Datatype type, MPI_Status *status),
            (file, offset, buf, n, type, status))
