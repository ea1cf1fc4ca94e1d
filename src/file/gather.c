/* A rank sends the number of its next bytes, then these in pieces; 0 is its end. Rank 0 takes the first rank that has
 * sent a number, until its end; the others wait with theirs. */
#include "file/gather.h"

#include "base/memory.h"
#include "base/minmax.h"
#include "file/agree.h"

enum { TAG_NUMBER = 31, TAG_PIECE = 32, PIECE = 65536, ATTEMPTS = 3 };

/* A call of MPI that fails may have done its work: then its request or its message shows it. */

static void send_message(pnc_file *file, const void *bytes, int64_t n, int tag)
{
    MPI_Request request = MPI_REQUEST_NULL;

    for (int i = 0; i < ATTEMPTS && request == MPI_REQUEST_NULL; i++)
        pnc_file_step_check(file, MPI_Issend(bytes, (int)n, MPI_BYTE, 0, tag, file->comm, &request), "MPI_Issend",
                            "values for rank 0");
    for (int i = 0; i < ATTEMPTS && request != MPI_REQUEST_NULL; i++)
        pnc_file_step_check(file, MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait", "values for rank 0");
}

/* From any rank if *source is negative, which becomes that of the message. False: there is none, after errors. */
static bool receive_message(pnc_file *file, void *bytes, int64_t n, int tag, int *source)
{
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status = {.MPI_SOURCE = -1};
    int from = *source < 0 ? MPI_ANY_SOURCE : *source;

    for (int i = 0; i < ATTEMPTS && message == MPI_MESSAGE_NULL; i++)
        pnc_file_step_check(file, MPI_Mprobe(from, tag, file->comm, &message, &status), "MPI_Mprobe",
                            "values of other ranks");
    if (message == MPI_MESSAGE_NULL)
        return false;
    *source = status.MPI_SOURCE;
    for (int i = 0; i < ATTEMPTS && message != MPI_MESSAGE_NULL; i++)
        pnc_file_step_check(file, MPI_Mrecv(bytes, (int)n, MPI_BYTE, &message, MPI_STATUS_IGNORE), "MPI_Mrecv",
                            "values of other ranks");
    return message == MPI_MESSAGE_NULL;
}

static void send_bytes(pnc_file *file, const pnc_gather *gather)
{
    const char *bytes = NULL;
    int64_t n;

    for (bool more = true; more;) {
        n = 0;
        more = gather->next(gather->own, &bytes, &n);
        n = more ? n : 0;
        send_message(file, &n, sizeof n, TAG_NUMBER);
        for (int64_t at = 0; at < n; at += PIECE)
            send_message(file, bytes + at, pnc_min64(n - at, PIECE), TAG_PIECE);
    }
}

/* Bytes for which there is no memory are received, too. */
static void receive_bytes(pnc_file *file, const pnc_gather *gather, int64_t n, int source)
{
    char *all = pnc_memory_alloc(n, 1), piece[PIECE];
    bool good = all != NULL;

    if (all == NULL)
        file->late = pnc_error_set(file->error, NC_ENOMEM, "%s: no memory for %lld bytes of rank %d", file->path,
                                   (long long)n, source);
    for (int64_t at = 0; at < n; at += PIECE)
        good =
            receive_message(file, all != NULL ? all + at : piece, pnc_min64(n - at, PIECE), TAG_PIECE, &source) && good;
    if (good)
        gather->take(gather->own, all, n);
    pnc_memory_free(all);
}

static void receive_rank(pnc_file *file, const pnc_gather *gather)
{
    int source = -1;
    int64_t n;

    while (receive_message(file, &n, sizeof n, TAG_NUMBER, &source) && n > 0)
        receive_bytes(file, gather, n, source);
}

void pnc_file_bytes_gather(pnc_file *file, const pnc_gather *gather, bool sends, int64_t nsenders)
{
    const char *bytes;
    int64_t n;

    if (file->rank > 0) {
        if (sends)
            send_bytes(file, gather);
        return;
    }
    while (sends && gather->next(gather->own, &bytes, &n))
        gather->take(gather->own, bytes, n);
    for (int64_t i = sends; i < nsenders; i++)
        receive_rank(file, gather);
}

int64_t pnc_file_sum_scan(pnc_file *file, int64_t value)
{
    int64_t before = 0;

    if (file->nprocs == 1)
        return 0;
    pnc_file_step_check(file, MPI_Exscan(&value, &before, 1, MPI_INT64_T, MPI_SUM, file->comm), "MPI_Exscan",
                        "the bytes of the ranks before");
    return file->rank == 0 ? 0 : before; /* MPI_Exscan sets nothing there */
}
