/* The communicator of an open file. */
#include "file/communicator.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#include "drivers/driver.h"
#include "file/agree.h"
#include "file/nodes.h"

/* Each communicator that is kept is one less for the program: MPICH has 2048. */
#define MOST_KEPT 64

#define CURE "close files, or free communicators that are no longer needed"

static atomic_int reserved; /* communicators that are kept, or will be when their file is closed */

/* --- a new one --- */

static int duplicate_comm(pnc_file *file, MPI_Comm users, int *code)
{
    if (file->nprocs > 1)
        return pnc_file_time_limit_comm_create(file, users, code);
    *code = MPI_Comm_dup(users, &file->comm);
    return NC_NOERR;
}

/* Let MPI return the errors of a communicator; MPI_ERRHANDLER_NULL if that fails. */
static MPI_Errhandler replace_handler(MPI_Comm comm)
{
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;

    if (MPI_Comm_get_errhandler(comm, &handler) == MPI_SUCCESS)
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return handler;
}

static void restore_handler(MPI_Comm comm, MPI_Errhandler handler)
{
    if (handler == MPI_ERRHANDLER_NULL)
        return;
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
}

/* Open MPI calls the error handler of MPI_COMM_WORLD if the wait for a duplication fails. Threads that replace it at
 * the same time could not restore it: with MPI_THREAD_MULTIPLE it stays. Then only a file with a time limit waits, and
 * the handler may end the program. */
static bool is_world_handler_replaceable(void)
{
    int has_world = 0;

    MPI_Initialized(&has_world);
    return has_world && !pnc_driver_has_threads();
}

/* MPI libraries have a bounded number of communicators (2048 contexts in MPICH; a file takes two, for its own and for
 * that of MPI-IO). At the bound the call returns an error; the error handlers of the program could abort it. */
static int duplicate_without_abort(pnc_file *file, MPI_Comm users)
{
    MPI_Errhandler of_world = is_world_handler_replaceable() ? replace_handler(MPI_COMM_WORLD) : MPI_ERRHANDLER_NULL;
    MPI_Errhandler of_users = replace_handler(users);
    int code, err;

    pnc_file_nodes_share(false);
    err = duplicate_comm(file, users, &code);
    pnc_file_nodes_share(true);
    restore_handler(users, of_users);
    restore_handler(MPI_COMM_WORLD, of_world);
    if (err == NC_NOERR && file->comm == MPI_COMM_NULL)
        err = pnc_error_set(file->error, NC_ENFILE,
                            "the communicator cannot be duplicated, as MPI libraries bound the number of "
                            "communicators: " CURE);
    if (err == NC_NOERR)
        pnc_file_step_check(file, code, "duplication", "the communicator");
    return err;
}

/* Each file has its own communicator, as different threads may use different files. MPI forbids concurrent collective
 * calls on one communicator: the lock allows threads to open files with MPI_COMM_SELF at once, and to replace its error
 * handler. With several ranks the caller must order the calls: a lock cannot match the threads of different ranks. */
static int create(pnc_file *file, MPI_Comm users)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    bool locks = file->nprocs == 1;
    int err;

    if (locks)
        pthread_mutex_lock(&lock);
    err = duplicate_without_abort(file, users);
    if (locks)
        pthread_mutex_unlock(&lock);
    PNC_TRY(err);
    MPI_Comm_set_errhandler(file->comm, MPI_ERRORS_RETURN);
    return NC_NOERR;
}

/* --- one that is kept --- */

/* With threads, files of one communicator may be closed in different orders on different ranks. */
bool pnc_file_comm_can_keep(void)
{
    return !pnc_driver_has_threads() && reserved < MOST_KEPT;
}

void pnc_file_comm_reserve(pnc_file *file)
{
    file->keeps_comm = true;
    reserved++;
}

void pnc_file_comm_discard(MPI_Comm *kept)
{
    if (*kept == MPI_COMM_NULL)
        return;
    MPI_Comm_free(kept);
    reserved--;
}

int pnc_file_comm_take(pnc_file *file, MPI_Comm users)
{
    pnc_nodes *nodes = file->nodes = pnc_file_nodes_get(users);

    if (nodes == NULL || nodes->kept == MPI_COMM_NULL)
        return create(file, users);
    file->comm = nodes->kept;
    nodes->kept = MPI_COMM_NULL;
    reserved--;
    return NC_NOERR;
}

void pnc_file_comm_release(pnc_file *file)
{
    bool is_kept = file->comm != MPI_COMM_NULL && file->keeps_comm && file->nodes->kept == MPI_COMM_NULL;

    if (is_kept)
        file->nodes->kept = file->comm;
    else if (file->comm != MPI_COMM_NULL)
        MPI_Comm_free(&file->comm);
    reserved -= file->keeps_comm && !is_kept;
    pnc_file_nodes_release(file->nodes);
}

/* --- communicators that MPI calls need --- */

/* Make n communicators of this rank only: they count towards the same bound, and need no messages. */
static int make_own(const pnc_file *file, int n, MPI_Comm *out)
{
    MPI_Group all = MPI_GROUP_NULL, own = MPI_GROUP_NULL;
    int code = MPI_Comm_group(file->comm, &all);

    if (code == MPI_SUCCESS)
        code = MPI_Group_incl(all, 1, &file->rank, &own);
    for (int i = 0; i < n && code == MPI_SUCCESS; i++)
        code = MPI_Comm_create_group(file->comm, own, 0, &out[i]);
    if (own != MPI_GROUP_NULL)
        MPI_Group_free(&own);
    if (all != MPI_GROUP_NULL)
        MPI_Group_free(&all);
    return code;
}

int pnc_file_comm_check_spare(const pnc_file *file, int n)
{
    MPI_Comm spare[PNC_COMMS_MOST];
    int code;

    assert(n <= PNC_COMMS_MOST);
    for (int i = 0; i < n; i++)
        spare[i] = MPI_COMM_NULL;
    code = make_own(file, n, spare);
    for (int i = 0; i < n; i++)
        if (spare[i] != MPI_COMM_NULL)
            MPI_Comm_free(&spare[i]);
    if (code == MPI_SUCCESS)
        return NC_NOERR;
    return pnc_error_set(file->error, NC_ENFILE, "%s: MPI has too few communicators left: " CURE, file->path);
}
