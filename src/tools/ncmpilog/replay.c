/* Writing what logs have to the file: all calls that every log has, in their order, then the number of records. */
#include "tools/ncmpilog/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/minmax.h"
#include "base/path.h"
#include "format/codec.h"
#include "format/layout.h"
#include "host/host.h"
#include "tools/common/bytes.h"
#include "tools/common/file.h"
#include "tools/common/message.h"
#include "tools/common/parallel.h"
#include "tools/ncmpilog/source.h"

enum { COPY_BYTES = 1 << 20, FIRST_NAMED = 20 };
#define NUMRECS_AT 4 /* offset of the number of records in the file */

typedef struct replay {
    const char *path; /* of the file */
    const char *folder;
    bool partial;
    int rank;
    char *mark_path;
    pnc_log_mark mark;
    tool_file file; /* its header */
    int fd;         /* of the file, for writing; -1: not open */
    int64_t end;    /* offset behind the last byte of the file, with the new number of records */

    log_source *logs; /* of this process */
    int64_t nlogs;
    bool lacks; /* logs are missing or damaged */

    int64_t call, numrecs;   /* the last call that all logs have complete, and the number of records after it */
    int64_t blocks, bytes;   /* that this process has written */
    int64_t later, unlogged; /* blocks of later calls; bytes of them */
} replay;

static int64_t reduce(int64_t value, MPI_Op op)
{
    int64_t all = value;

    MPI_Allreduce(&value, &all, 1, MPI_INT64_T, op, MPI_COMM_WORLD);
    return all;
}

/* --- the file and its mark --- */

static int fail_system(const replay *r, const char *what)
{
    tool_error_print("%s: cannot %s: %s", r->path, what, strerror(errno));
    return NC_EFILE;
}

/* The file must be the one that the logs are of. */
static int check_identity(const replay *r)
{
    struct stat facts;
    int64_t birth;

    if (fstat(r->fd, &facts) != 0)
        return fail_system(r, "examine the file");
    birth = pnc_host_file_get_birth(pnc_path_strip(r->path));
    if ((int64_t)facts.st_ino == r->mark.inode && (birth == 0 || r->mark.birth == 0 || birth == r->mark.birth))
        return NC_NOERR;
    tool_error_print("%s: is not the file of the logs, but another one of the same name: it is not changed", r->path);
    return NC_EFILE;
}

static int open_file(replay *r)
{
    bool found;

    PNC_TRY(tool_file_open(r->path, &r->file));
    PNC_TRY(tool_file_check_classic(&r->file, "it has no logs"));
    r->mark_path = log_mark_locate(r->path);
    if (r->mark_path == NULL)
        return NC_ENOMEM;
    PNC_TRY(log_mark_load(r->mark_path, &found, &r->mark));
    if (!found) {
        tool_error_print("%s: has no mark, %s: no burst buffer has values that the file does not have", r->path,
                         r->mark_path);
        return NC_ENOENT;
    }
    r->fd = open(pnc_path_strip(r->path), O_RDWR | O_CLOEXEC);
    if (r->fd < 0)
        return fail_system(r, "open it for writing");
    return check_identity(r);
}

/* --- the logs --- */

/* Descriptors: each log has one. */
static void raise_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* The log of a rank, if the folder has it here. NC_ENOENT: it has not; others after an error message. */
static int open_log(const replay *r, int64_t rank, log_source *out)
{
    char name[PNC_LOG_NAME_BYTES], path[PATH_MAX];
    int err;

    pnc_log_name_format(r->mark.file, r->mark.stamp, rank, name);
    if (snprintf(path, sizeof path, "%s/%s", r->folder, name) >= (int)sizeof path)
        return NC_ENOENT;
    err = log_source_open(path, out);
    if (err == NC_NOERR && (out->reader.front.stamp != r->mark.stamp || out->reader.front.rank != rank ||
                            out->reader.front.nranks != r->mark.nranks))
        err = NC_EBADLOG;
    if (err == NC_NOERR && log_source_is_held(out))
        err = NC_EINTERRUPTED;
    if (err == NC_EBADLOG)
        tool_error_print("%s: is damaged, or another log", path);
    else if (err == NC_EINTERRUPTED)
        tool_error_print("%s: its program runs", path);
    else if (err != NC_NOERR && err != NC_ENOENT)
        tool_error_print("%s: cannot be read", path);
    if (err == NC_NOERR)
        return err;
    log_source_close(out);
    return err;
}

/* The first process that finds a log uses it. readers[i] becomes its rank. */
static int find_readers(replay *r, int *readers)
{
    int err = NC_NOERR;
    log_source log;

    for (int64_t i = 0; i < r->mark.nranks; i++) {
        int found = open_log(r, i, &log);

        readers[i] = found == NC_NOERR ? r->rank : INT_MAX;
        if (found == NC_EINTERRUPTED || found == NC_ENOMEM)
            err = found;
        if (found == NC_NOERR)
            log_source_close(&log);
    }
    for (int64_t i = 0; i < r->mark.nranks; i += INT_MAX / 2)
        MPI_Allreduce(MPI_IN_PLACE, readers + i, (int)pnc_min64(r->mark.nranks - i, INT_MAX / 2), MPI_INT, MPI_MIN,
                      MPI_COMM_WORLD);
    return err;
}

static void report_missing(replay *r, const int *readers)
{
    char name[PNC_LOG_NAME_BYTES];
    int64_t missing = 0;

    for (int64_t i = 0; i < r->mark.nranks; i++) {
        if (readers[i] != INT_MAX)
            continue;
        pnc_log_name_format(r->mark.file, r->mark.stamp, i, name);
        if (r->rank == 0 && missing < FIRST_NAMED)
            tool_error_print("%s: the log of rank %lld, which ran on %s, is missing in %s: %s", r->path, (long long)i,
                             r->mark.nodes[i], r->folder, name);
        missing++;
    }
    if (r->rank == 0 && missing > FIRST_NAMED)
        tool_error_print("%s: %lld more logs are missing", r->path, (long long)(missing - FIRST_NAMED));
    r->lacks = missing > 0;
}

/* Those that this process uses. */
static int open_logs(replay *r, const int *readers)
{
    int64_t n = 0;

    for (int64_t i = 0; i < r->mark.nranks; i++)
        n += readers[i] == r->rank;
    r->logs = pnc_memory_alloc_zeroed(n > 0 ? n : 1, sizeof *r->logs);
    if (r->logs == NULL) {
        tool_error_print("%s: not enough memory for %lld logs", r->path, (long long)n);
        return NC_ENOMEM;
    }
    for (int64_t i = 0; i < r->mark.nranks; i++) {
        log_source *log = &r->logs[r->nlogs];

        if (readers[i] != r->rank)
            continue;
        PNC_TRY(open_log(r, i, log));
        r->nlogs++;
        log->reader.file = log;
        pnc_log_reader_examine(&log->reader, &log->summary);
        if (log->summary.is_damaged) {
            tool_error_print("%s: is damaged at byte %lld", log->path, (long long)log->summary.end);
            r->lacks = true;
        }
    }
    return NC_NOERR;
}

/* Collective. */
static int find_logs(replay *r)
{
    int *readers = pnc_memory_alloc(r->mark.nranks, sizeof *readers), err;

    raise_limit();
    PNC_TRY(tool_status_agree(readers == NULL ? NC_ENOMEM : NC_NOERR));
    err = tool_status_agree(find_readers(r, readers));
    if (err == NC_NOERR) {
        report_missing(r, readers);
        err = tool_status_agree(open_logs(r, readers));
    }
    pnc_memory_free(readers);
    PNC_TRY(err);
    r->lacks = reduce(r->lacks, MPI_MAX) != 0;
    if (!r->lacks || r->partial)
        return NC_NOERR;
    if (r->rank == 0)
        tool_error_print(
            "%s: is not changed: copy all logs into one folder, or run ncmpilog on all nodes that have "
            "them; --partial does without them",
            r->path);
    return NC_EBADLOG;
}

/* --- the blocks --- */

/* The last call that all logs have, and the end of the file after it. Collective. */
static int choose_call(replay *r)
{
    int64_t call = PNC_LOG_EVERYTHING, numrecs = 0, most, size;
    pnc_model *model = &r->file.model;

    for (int64_t i = 0; i < r->nlogs; i++)
        call = pnc_min64(call, r->logs[i].summary.call);
    r->call = reduce(call, MPI_MIN);
    for (int64_t i = 0; i < r->nlogs; i++)
        if (r->logs[i].summary.call == r->call && r->call != PNC_LOG_EVERYTHING)
            numrecs = pnc_max64(numrecs, r->logs[i].summary.numrecs);
    r->numrecs = pnc_max64(reduce(numrecs, MPI_MAX), model->numrecs);
    most = model->format == NC_FORMAT_CDF5 ? INT64_MAX : INT32_MAX;
    if (model->recdim < 0)
        r->numrecs = model->numrecs;
    if (model->recdim >= 0 && (r->numrecs > most || pnc_size_multiply(r->numrecs, model->classic.recsize, &size) != 0 ||
                               pnc_size_add(size, pnc_max64(model->classic.begin_rec, 0), &size) != 0)) {
        if (r->rank == 0)
            tool_error_print("%s: the logs say that it has %lld records, which is not possible", r->path,
                             (long long)r->numrecs);
        return NC_EBADLOG;
    }
    model->numrecs = r->numrecs;
    r->end = pnc_format_layout_get_file_end(model);
    return NC_NOERR;
}

/* Before anything is written: whether the blocks are of this file. Also counts those that come too late. */
static int check_blocks(replay *r)
{
    for (int64_t i = 0; i < r->nlogs; i++) {
        pnc_log_reader *reader = &r->logs[i].reader;

        (void)pnc_log_reader_begin(reader);
        while (pnc_log_reader_find_next(reader)) {
            pnc_extent extent = reader->record.extent;

            if (reader->record.kind != PNC_LOG_BLOCK)
                continue;
            if (reader->record.call > r->call) {
                r->later++;
                r->unlogged += extent.length;
            } else if (extent.offset < r->file.model.classic.header_size || extent.length > r->end - extent.offset) {
                tool_error_print("%s: has bytes %lld to %lld, where %s has no values", r->logs[i].path,
                                 (long long)extent.offset, (long long)(extent.offset + extent.length - 1), r->path);
                return NC_EBADLOG;
            }
        }
        (void)pnc_log_reader_begin(reader);
        if (!pnc_log_reader_find_next(reader))
            reader->record.call = INT64_MAX; /* it has nothing */
    }
    return NC_NOERR;
}

static int copy_block(replay *r, log_source *log)
{
    static char bytes[COPY_BYTES];
    pnc_extent extent = log->reader.record.extent;

    for (int64_t done = 0; done < extent.length; done += COPY_BYTES) {
        int64_t n = pnc_min64(COPY_BYTES, extent.length - done);
        int number = tool_bytes_read(log->fd, log->reader.bytes_at + done, bytes, n);

        if (number == 0)
            number = tool_bytes_write(r->fd, extent.offset + done, bytes, n);
        if (number != 0) {
            tool_error_print("%s: cannot write bytes %lld to %lld: %s", r->path, (long long)extent.offset,
                             (long long)(extent.offset + extent.length - 1),
                             number > 0 ? strerror(number) : "the log is truncated");
            return NC_EWRITE;
        }
    }
    r->blocks++;
    r->bytes += extent.length;
    return NC_NOERR;
}

/* The blocks of a call in this log; afterwards its record is of a later call. */
static int replay_call(replay *r, log_source *log, int64_t call)
{
    pnc_log_reader *reader = &log->reader;

    while (reader->record.call == call) {
        if (reader->record.kind == PNC_LOG_BLOCK)
            PNC_TRY(copy_block(r, log));
        if (!pnc_log_reader_find_next(reader))
            reader->record.call = INT64_MAX;
    }
    return NC_NOERR;
}

/* Later calls may overwrite what earlier ones have put, also those of other ranks. Collective. */
static int replay_calls(replay *r)
{
    for (;;) {
        int64_t call = INT64_MAX;
        int err = NC_NOERR;

        for (int64_t i = 0; i < r->nlogs; i++)
            call = pnc_min64(call, r->logs[i].reader.record.call);
        call = reduce(call, MPI_MIN);
        if (call > r->call || call == INT64_MAX)
            return NC_NOERR;
        for (int64_t i = 0; i < r->nlogs && err == NC_NOERR; i++)
            err = replay_call(r, &r->logs[i], call);
        PNC_TRY(tool_status_agree(err));
    }
}

/* --- the end --- */

/* Rank 0: the number of records counts no record whose values are not on disk. */
static int write_numrecs(replay *r)
{
    char bytes[8];
    int n = pnc_format_numrecs_encode(&r->file.model, bytes), number;
    struct stat facts;

    if (fstat(r->fd, &facts) != 0 || (facts.st_size < r->end && ftruncate(r->fd, r->end) != 0))
        return fail_system(r, "extend it");
    if (r->file.model.recdim < 0)
        return fsync(r->fd) == 0 ? NC_NOERR : fail_system(r, "flush it");
    number = tool_bytes_write(r->fd, NUMRECS_AT, bytes, n);
    if (number == 0 && fsync(r->fd) == 0)
        return NC_NOERR;
    errno = number != 0 ? number : errno;
    return fail_system(r, "write the number of records");
}

/* The mark first: without it, logs that remain are of no use. */
static int remove_logs(replay *r)
{
    int err = NC_NOERR;

    if (r->rank == 0 && unlink(r->mark_path) != 0) {
        tool_error_print("%s: cannot be deleted: %s", r->mark_path, strerror(errno));
        err = NC_EFILE;
    }
    PNC_TRY(tool_status_agree(err));
    for (int64_t i = 0; i < r->nlogs; i++)
        if (unlink(r->logs[i].path) != 0)
            tool_error_print("%s: cannot be deleted: %s", r->logs[i].path, strerror(errno));
    return NC_NOERR;
}

static void report_result(const replay *r)
{
    int64_t sums[] = {r->blocks, r->bytes, r->later, r->unlogged};

    MPI_Allreduce(MPI_IN_PLACE, sums, 4, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (r->rank != 0)
        return;
    tool_text_print(r->path);
    if (sums[0] == 0)
        printf(": nothing had to be written");
    else
        printf(": %lld blocks of %lld bytes were written", (long long)sums[0], (long long)sums[1]);
    if (r->file.model.recdim >= 0)
        printf("; it has %lld records", (long long)r->numrecs);
    putchar('\n');
    if (sums[2] > 0)
        printf("  %lld blocks of %lld bytes are of later calls, which not all logs have: they were discarded\n",
               (long long)sums[2], (long long)sums[3]);
}

/* Collective. */
static int replay_file(replay *r)
{
    PNC_TRY(tool_status_agree(open_file(r)));
    PNC_TRY(find_logs(r));
    PNC_TRY(choose_call(r));
    PNC_TRY(tool_status_agree(check_blocks(r)));
    PNC_TRY(replay_calls(r));
    PNC_TRY(tool_status_agree(fsync(r->fd) == 0 ? NC_NOERR : fail_system(r, "flush it")));
    PNC_TRY(tool_status_agree(r->rank == 0 ? write_numrecs(r) : NC_NOERR));
    PNC_TRY(remove_logs(r));
    report_result(r);
    return NC_NOERR;
}

int log_replay_execute(const log_options *options)
{
    replay r = {.path = options->paths[0], .folder = options->folder, .partial = options->partial, .fd = -1};
    int err;

    r.file.fd = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &r.rank);
    err = replay_file(&r);
    for (int64_t i = 0; i < r.nlogs; i++)
        log_source_close(&r.logs[i]);
    pnc_memory_free(r.logs);
    if (r.fd >= 0)
        close(r.fd);
    tool_file_close(&r.file);
    pnc_log_mark_free(&r.mark);
    pnc_memory_free(r.mark_path);
    if (err != NC_NOERR)
        return LOG_FAILED;
    if (tool_output_flush(NULL) != NC_NOERR)
        return LOG_FAILED;
    return r.lacks ? LOG_WAITS : LOG_DONE;
}
