/* Logs of a file that several ranks share. */
#include "file/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/memory.h"
#include "base/minmax.h"
#include "base/path.h"
#include "drivers/behind/behind.h"
#include "file/agree.h"
#include "file/behind.h"
#include "file/value_log.h"
#include "host/host.h"
#include "log/mark.h"

/* --- paths --- */

static char *derive_mark(const char *path)
{
    return pnc_host_path_extend(pnc_path_strip(path), PNC_LOG_MARK_SUFFIX);
}

/* Whether the mark begins with its title and this stamp. */
static bool has_stamp(const char *mark, const char *stamp)
{
    char begin[PNC_LOG_BEGIN_BYTES + 1] = "", wanted[PNC_LOG_BEGIN_BYTES + 1];
    int fd = open(mark, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, begin, PNC_LOG_BEGIN_BYTES) : -1;

    if (fd >= 0)
        close(fd);
    return n == PNC_LOG_BEGIN_BYTES && pnc_log_mark_format_begin(strtoull(stamp, NULL, 16), wanted) &&
           memcmp(begin, wanted, PNC_LOG_BEGIN_BYTES) == 0;
}

int pnc_file_log_mark_check(const char *path, const char *replays, pnc_error *error)
{
    char *mark = derive_mark(path);
    bool exists = mark != NULL && access(mark, F_OK) == 0, is_expected;

    is_expected = exists && replays != NULL && has_stamp(mark, replays);
    pnc_memory_free(mark);
    if (!exists || is_expected)
        return NC_NOERR;
    return pnc_error_set(error, NC_EINTERRUPTED,
                         "%s: values that a program has put may be in the logs of its burst buffer only, as it has "
                         "died, or still runs: `ncmpilog %s' says where they are, and writes them to the file with "
                         "--replay. If another dataset has replaced that of the program, delete the mark %s%s",
                         path, path, path, PNC_LOG_MARK_SUFFIX);
}

void pnc_file_log_mark_remove(const char *path)
{
    char *mark = derive_mark(path);

    if (mark != NULL)
        (void)unlink(mark);
    pnc_memory_free(mark);
}

/* --- its life --- */

/* An absolute path, or a copy of the given one if there is no such folder; NULL without memory. */
static char *find_folder(const char *folder)
{
    char *real = realpath(folder, NULL), *copy = pnc_string_copy(real != NULL ? real : folder);

    free(real);
    return copy;
}

static char *find_folder_of(const char *path)
{
    char *folder = pnc_string_copy(path), *slash = folder != NULL ? strrchr(folder, '/') : NULL, *found;

    if (slash == folder && slash != NULL)
        slash++;
    if (slash != NULL)
        *slash = '\0';
    found = folder == NULL ? NULL : find_folder(slash != NULL ? folder : ".");
    pnc_memory_free(folder);
    return found;
}

void pnc_file_log_init(pnc_file *file, const char *path, const char *folder, int64_t size, bool delays,
                       const int64_t *header_size)
{
    pnc_file_log *log = &file->log;
    const char *local = pnc_path_strip(path);
    char *real = file->rank == 0 ? realpath(local, NULL) : NULL;

    log->state = PNC_LOG_WANTED;
    log->folder = folder != NULL ? find_folder(folder) : find_folder_of(local);
    log->target = file->rank == 0 ? pnc_string_copy(real != NULL ? real : local) : NULL;
    log->size = size;
    log->header_size = header_size;
    log->delays = delays;
    log->is_given = folder != NULL;
    log->store = pnc_behind_store_find(file->store);
    if (header_size != NULL)
        log->store->needs_log = !delays;
    free(real);
}

void pnc_file_log_free(pnc_file *file)
{
    pnc_memory_free(file->log.folder);
    pnc_memory_free(file->log.target);
    file->log.folder = file->log.target = NULL;
    if (file->log.values != NULL)
        pnc_behind_log_free(file->log.values, false);
    file->log.values = NULL;
}

bool pnc_file_log_explain(const pnc_file *file, char *why, size_t capacity)
{
    const pnc_file_log *log = &file->log;
    const char *refusal = log->why[0] != '\0' ? log->why : NULL;
    int number = pnc_file_log_is_used(file) ? pnc_behind_queue_get_log_failure(&file->behind->queue) : 0;

    if (log->state == PNC_LOG_WANTED)
        refusal = pnc_behind_store_explain(log->store);
    if (refusal != NULL)
        snprintf(why, capacity, "%s", refusal);
    else if (log->state == PNC_LOG_WANTED && log->folder != NULL && access(log->folder, W_OK | X_OK) != 0)
        snprintf(why, capacity, "the folder %.200s: %s", log->folder, strerror(errno));
    else if (number != 0)
        snprintf(why, capacity, "the log can no longer be written: %s", strerror(number));
    else
        return false;
    return true;
}

/* --- the first put --- */

/* What rank 0 must know of each rank. */
typedef struct member {
    char reason[80]; /* why it has no log; "": it has one */
    char node[PNC_LOG_NODE_BYTES];
} member;

/* Without the hint: half of what the folder has free, for the ranks of the node. */
static int64_t choose_size(const pnc_file *file)
{
    int64_t nranks = file->nodes->nranks > 0 ? file->nodes->nranks : 1;
    struct statvfs facts;

    if (file->log.size > 0)
        return file->log.size;
    if (statvfs(file->log.folder, &facts) != 0)
        return PNC_BEHIND_LOG_LEAST;
    return (int64_t)facts.f_bavail / 2 / nranks * (int64_t)facts.f_frsize;
}

/* Returns why there is none, or NULL. */
static const char *open_own_log(pnc_file *file, uint64_t stamp)
{
    pnc_log_front front = {
        .stamp = stamp, .rank = file->rank, .nranks = file->nprocs}; /* the file has the number of records */
    pnc_file_log *log = &file->log;
    const char *refusal = pnc_behind_store_explain(log->store);
    int number = 0;
    bool is_open;

    if (refusal != NULL || log->folder == NULL)
        return refusal != NULL ? refusal : "no memory";
    front.call = log->header_size != NULL ? log->store->call : log->call;
    if (log->header_size != NULL) {
        is_open = pnc_behind_store_open_log(log->store, log->folder, file->path, &front, choose_size(file), &number);
    } else {
        log->values =
            pnc_behind_log_create(log->folder, file->path, log->store->queue.fd, &front, choose_size(file), &number);
        is_open = log->values != NULL;
    }
    if (is_open)
        return NULL;
    if (number == EBUSY)
        return "ncmpilog --replay writes to the file";
    return number != 0 ? strerror(number) : "no memory";
}

static void make_member(const char *refusal, member *own)
{
    char name[MPI_MAX_PROCESSOR_NAME + 1] = "";
    int length;

    memset(own, 0, sizeof *own);
    MPI_Get_processor_name(name, &length);
    snprintf(own->node, sizeof own->node, "%.*s", PNC_LOG_NODE_BYTES - 1, name);
    snprintf(own->reason, sizeof own->reason, "%s", refusal != NULL ? refusal : "");
}

static const char *find_job(void)
{
    static const char *const names[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "COBALT_JOBID", "JOB_ID"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]) != NULL)
            return getenv(names[i]);
    return "";
}

/* It survives the death of the node. A mark that exists is of another program. */
static int write_mark_text(const char *path, const char *text, int64_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644), number = 0;

    if (fd < 0)
        return errno;
    for (int64_t done = 0; done < n && number == 0;) {
        ssize_t some = write(fd, text + done, (size_t)(n - done));

        if (some == 0 || (some < 0 && errno != EINTR))
            number = some < 0 ? errno : ENOSPC;
        done += some > 0 ? some : 0;
    }
    if (number == 0)
        number = pnc_host_file_sync(fd);
    close(fd);
    if (number == 0)
        number = pnc_host_file_sync_entry(path);
    if (number != 0)
        unlink(path);
    return number;
}

/* Rank 0: the header as it is in the file. */
static bool digest_file_header(pnc_file *file, uint64_t *out)
{
    enum { PORTION = 1 << 14 };
    char bytes[PORTION];

    *out = PNC_DIGEST_START;
    if (file->log.header_size == NULL) {
        *out = file->log.definitions;
        return true;
    }
    for (pnc_extent part = {0, 0}; part.offset < *file->log.header_size; part.offset += part.length) {
        part.length = pnc_min64(PORTION, *file->log.header_size - part.offset);
        if (pnc_file_extents_peek(file, &part, 1, bytes) != NC_NOERR)
            return false;
        *out = pnc_log_header_add(*out, part.offset, bytes, part.length);
    }
    return true;
}

/* Rank 0: all ranks have a log. Returns errno, 0, or -1 without memory. */
static int write_mark(pnc_file *file, uint64_t stamp, const member *members)
{
    pnc_log_mark mark = {.stamp = stamp,
                         .inode = file->store->identity.inode,
                         .birth = pnc_host_file_get_birth(file->log.target),
                         .nranks = file->nprocs,
                         .file = pnc_path_get_name(file->path),
                         .folder = file->log.folder,
                         .job = find_job()};
    char *path = derive_mark(file->log.target), *text = NULL;
    int64_t n = 0;
    int number = -1;

    if (!digest_file_header(file, &mark.header))
        number = EIO;
    mark.nodes = pnc_memory_alloc(file->nprocs, sizeof *mark.nodes);
    for (int i = 0; mark.nodes != NULL && i < file->nprocs; i++)
        memcpy(mark.nodes[i], members[i].node, sizeof members[i].node);
    if (mark.nodes != NULL)
        text = pnc_log_mark_encode(&mark, &n);
    if (path != NULL && text != NULL && number < 0)
        number = write_mark_text(path, text, n);
    pnc_memory_free(mark.nodes);
    pnc_memory_free(text);
    pnc_memory_free(path);
    return number;
}

/* Rank 0: write the mark, or say why there are no logs. */
static void conclude_logs(pnc_file *file, uint64_t stamp, const member *members, char why[sizeof file->log.why])
{
    int number;

    if (members == NULL) {
        snprintf(why, sizeof file->log.why, "no memory for the names of the nodes");
        return;
    }
    for (int i = 0; i < file->nprocs; i++)
        if (members[i].reason[0] != '\0') {
            snprintf(why, sizeof file->log.why, "rank %d on %.40s cannot create its log in the folder: %.80s", i,
                     members[i].node, members[i].reason);
            return;
        }
    number = file->log.target != NULL ? write_mark(file, stamp, members) : -1;
    if (number != 0)
        snprintf(why, sizeof file->log.why, "the mark beside the file cannot be written: %.80s",
                 number > 0 ? strerror(number) : "no memory");
}

static void refuse_logs(pnc_file *file)
{
    file->log.state = PNC_LOG_REFUSED;
    if (file->log.header_size == NULL) {
        pnc_file_value_log_remove(file);
        return;
    }
    if (pnc_behind_store_has_log(file->behind))
        pnc_behind_queue_close_log(&file->behind->queue);
    if (!file->log.delays)
        file->behind = NULL;
}

/* `all`: of rank 0, which has memory for them, or no rank sends. Collective. */
static void gather_members(pnc_file *file, const member *own, member *all)
{
    int64_t has_memory = all != NULL;

    pnc_file_bytes_broadcast(file, &has_memory, sizeof has_memory, "the memory of rank 0");
    if (file->nprocs == 1 && all != NULL)
        all[0] = *own;
    else if (has_memory != 0)
        pnc_file_step_check(file,
                            MPI_Gather(own, (int)sizeof *own, MPI_BYTE, all, (int)sizeof *own, MPI_BYTE, 0, file->comm),
                            "MPI_Gather", "the nodes of the logs");
}

void pnc_file_log_begin(pnc_file *file)
{
    uint64_t stamp = file->rank == 0 ? (uint64_t)pnc_host_id_create() : 0;
    char why[sizeof file->log.why] = "";
    member own, *members = NULL;

    pnc_file_bytes_broadcast(file, &stamp, sizeof stamp, "the stamp of the logs");
    make_member(open_own_log(file, stamp), &own);
    if (file->rank == 0)
        members = pnc_memory_alloc_zeroed(file->nprocs, sizeof *members);
    gather_members(file, &own, members);
    if (file->rank == 0)
        conclude_logs(file, stamp, members, why);
    pnc_memory_free(members);
    pnc_file_bytes_broadcast(file, why, sizeof why, "the logs");
    memcpy(file->log.why, why, sizeof why);
    file->log.state = PNC_LOG_USED;
    if (why[0] != '\0')
        refuse_logs(file);
}

/* --- calls --- */

void pnc_file_log_end_call(pnc_file *file, int64_t numrecs)
{
    if (pnc_file_log_is_used(file))
        pnc_behind_queue_end_call(&file->behind->queue, file->behind->call, pnc_max64(numrecs, 0));
}

int pnc_file_log_sync(pnc_file *file)
{
    pnc_store *inner = file->behind->store.inner; /* sync of the whole waits for the logs */
    bool needs_file;
    int err = pnc_behind_store_sync_log(file->behind, &needs_file, file->error), synced = NC_NOERR;
    int64_t v[2] = {pnc_file_failure_encode(file, err), needs_file};

    PNC_TRY(pnc_file_maxima_agree(file, v, 2, "the logs of the ranks"));
    if (v[1] != 0)
        synced = inner->ops->sync(inner, file->error);
    return pnc_file_status_agree(file, pnc_error_keep_first(err, synced));
}

int pnc_file_log_mark_delete(pnc_file *file)
{
    if (file->rank == 0 && file->log.target != NULL)
        pnc_file_log_mark_remove(file->log.target);
    return pnc_file_status_broadcast(file, NC_NOERR);
}

int pnc_file_log_end(pnc_file *file, int err)
{
    if (pnc_file_log_has_values(file))
        return pnc_file_value_log_end(file, err);
    if (!pnc_file_log_is_used(file))
        return err;
    PNC_TRY(pnc_file_status_agree(file, pnc_file_behind_finish(file, err)));
    err = pnc_file_log_mark_delete(file);
    pnc_behind_queue_remove_log(&file->behind->queue);
    return err;
}

int pnc_file_log_discard(pnc_file *file)
{
    int err;

    if (pnc_file_log_has_values(file)) {
        err = pnc_file_value_log_end(file, NC_NOERR);
        file->log.state = PNC_LOG_WANTED;
        return err;
    }
    if (!pnc_file_log_is_used(file))
        return NC_NOERR;
    PNC_TRY(pnc_file_status_agree(file, pnc_file_behind_finish(file, NC_NOERR)));
    err = pnc_file_log_mark_delete(file);
    pnc_behind_queue_close_log(&file->behind->queue);
    file->log.state = PNC_LOG_WANTED;
    return err;
}

void pnc_file_log_remove(pnc_file *file)
{
    if (!pnc_file_log_is_used(file) && !pnc_file_log_has_values(file))
        return;
    if (file->rank == 0 && file->log.target != NULL)
        pnc_file_log_mark_remove(file->log.target);
    if (pnc_file_log_has_values(file))
        pnc_file_value_log_remove(file);
    else
        pnc_behind_queue_remove_log(&file->behind->queue);
}
