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
#include <time.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/memory.h"
#include "base/minmax.h"
#include "base/path.h"
#include "format/codec.h"
#include "format/layout.h"
#include "host/host.h"
#include "host/bytes.h"
#include "tools/common/file.h"
#include "tools/common/message.h"
#include "tools/common/parallel.h"
#include "tools/ncmpilog/source.h"
#include "tools/ncmpilog/values.h"

enum { COPY_BYTES = 1 << 20, HEADER_BYTES = 1 << 14, FIRST_NAMED = 20 };
#define SECOND INT64_C(1000000000)
#define NUMRECS_AT 4 /* offset of the number of records in the file */

typedef struct replay {
    const char *path; /* of the file */
    const log_options *options;
    int rank;
    bool shows_node, shows_all; /* whether locks of the file show programs of this node; of all nodes */
    char *mark_path;
    pnc_log_mark mark;
    tool_file file;               /* its header */
    const pnc_reader_ops *reader; /* its logs have values; NULL: a classic file, whose logs have blocks */
    int fd;                       /* of the file, for writing; -1: not open */
    int64_t end;                  /* offset behind the last byte of the file, with the new number of records */
    int64_t timed;                /* the last time that the logs have got, in nanoseconds */

    log_source *logs; /* of this process */
    int64_t nlogs;
    bool lacks; /* logs are missing or damaged */

    int64_t done;            /* the file has the calls up to this one */
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

static int refuse_file(const replay *r, const char *why)
{
    tool_error_print(
        "%s: is not the dataset of the logs, %s: it is not changed. If another dataset has replaced that of "
        "the logs, delete the mark %s, and the logs; if not, --assume-same writes what they have",
        r->path, why, r->mark_path);
    return NC_EFILE;
}

static int digest_header(const replay *r, uint64_t *out)
{
    char bytes[HEADER_BYTES];
    int64_t size = r->file.model.classic.header_size;

    *out = PNC_DIGEST_START;
    if (r->reader != NULL)
        *out = pnc_format_model_get_digest(&r->file.model);
    if (r->reader != NULL)
        return NC_NOERR;
    for (int64_t at = 0; at < size; at += HEADER_BYTES) {
        int64_t n = pnc_min64(HEADER_BYTES, size - at);

        PNC_TRY(tool_file_read(&r->file, at, bytes, n));
        *out = pnc_log_header_add(*out, at, bytes, n);
    }
    return NC_NOERR;
}

/* The file must be the one that the logs are of, and have the same definitions. */
static int check_identity(const replay *r)
{
    uint64_t header;
    struct stat facts;
    int64_t birth;

    if (fstat(r->fd, &facts) != 0)
        return fail_system(r, "examine the file");
    birth = pnc_host_file_get_birth(pnc_path_strip(r->path));
    if ((int64_t)facts.st_ino != r->mark.inode || (birth != 0 && r->mark.birth != 0 && birth != r->mark.birth))
        return refuse_file(r, "but another one of the same name");
    PNC_TRY(digest_header(r, &header));
    return header == r->mark.header ? NC_NOERR : refuse_file(r, "as its header is another one");
}

/* Nor may it have been written much later than by the program, or an earlier replay. Collective. */
static int check_time(const replay *r)
{
    struct stat facts;
    int64_t latest = 0;
    char why[80];

    for (int64_t i = 0; i < r->nlogs; i++)
        latest = pnc_max64(latest, r->logs[i].reader.time);
    latest = reduce(latest, MPI_MAX);
    if (r->rank != 0 || latest == 0 || r->options->assumes_same)
        return NC_NOERR;
    if (fstat(r->fd, &facts) != 0)
        return fail_system(r, "examine the file");
    if (facts.st_mtim.tv_sec - latest / SECOND <= PNC_LOG_TIME_TOLERANCE)
        return NC_NOERR;
    snprintf(why, sizeof why, "as it was written %lld s after the program has last done so",
             (long long)(facts.st_mtim.tv_sec - latest / SECOND));
    return refuse_file(r, why);
}

/* --- programs that run --- */

static int fail_as_running(const replay *r)
{
    tool_error_print(
        "%s: a program that runs has values in logs, or another replay writes them: wait until it has ended", r->path);
    return NC_EINTERRUPTED;
}

/* On a node that has died, or that cannot reach the server, a lock may remain. */
static bool must_obey(const replay *r, pnc_held held)
{
    return held == PNC_HELD_BY_OTHERS && !(r->options->assumes_dead && !pnc_host_file_is_local(r->fd));
}

/* The locks that each node sees, before rank 0 has one that keeps other replays out. Collective; err as usual. */
static int hold_file(replay *r, int err)
{
    pnc_held held;

    if (err == NC_NOERR) {
        held = pnc_host_logs_hold(r->fd, PNC_HOLD_INQUIRE);
        r->shows_node = held != PNC_HELD_UNKNOWN;
        r->shows_all = r->shows_node && pnc_host_file_is_local(r->fd);
        err = must_obey(r, held) ? fail_as_running(r) : NC_NOERR;
    }
    PNC_TRY(tool_status_agree(err));
    if (r->rank == 0 && must_obey(r, pnc_host_logs_hold(r->fd, PNC_HOLD_EXCLUSIVE)))
        err = fail_as_running(r);
    return tool_status_agree(err);
}

static int open_file(replay *r)
{
    PNC_TRY(tool_file_open_bytes(r->path, &r->file));
    r->reader = tool_file_find_reader(&r->file);
    if (r->reader == NULL) {
        tool_file_close(&r->file);
        PNC_TRY(tool_file_open(r->path, &r->file));
    }
    r->fd = open(pnc_path_strip(r->path), O_RDWR | O_CLOEXEC);
    return r->fd >= 0 ? NC_NOERR : fail_system(r, "open it for writing");
}

/* A program may have died while it wrote metadata: they become those that it wrote, as ncmpi_open with NC_WRITE does.
 * Rank 0, which holds the file. */
static int complete_metadata(const replay *r)
{
    pnc_error error = {0};
    bool was_interrupted;
    int err;

    if (r->rank != 0 || r->reader == NULL)
        return NC_NOERR;
    err = r->reader->repair(r->fd, r->path, r->file.size, &was_interrupted, &error);
    if (err != NC_NOERR)
        tool_error_print("%s", error.text);
    return err;
}

/* The definitions of a netCDF-4 file. Collective. */
static int read_definitions(replay *r)
{
    PNC_TRY(tool_status_agree(complete_metadata(r)));
    if (r->reader == NULL)
        return NC_NOERR;
    tool_file_close(&r->file);
    return tool_status_agree(tool_file_open(r->path, &r->file));
}

static int open_mark(replay *r)
{
    bool found;

    r->mark_path = log_mark_locate(r->path);
    if (r->mark_path == NULL)
        return NC_ENOMEM;
    PNC_TRY(log_mark_load(r->mark_path, &found, &r->mark));
    if (!found) {
        tool_error_print("%s: has no mark, %s: no burst buffer has values that the file does not have", r->path,
                         r->mark_path);
        return NC_ENOENT;
    }
    return r->options->assumes_same ? NC_NOERR : check_identity(r);
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

/* Whether it may be used: NC_EBADLOG, NC_EINTERRUPTED or NC_EPERM, after a message. */
static int check_log(const replay *r, int64_t rank, const log_source *log)
{
    const pnc_log_front *front = &log->reader.front;

    if (front->stamp != r->mark.stamp || front->rank != rank || front->nranks != r->mark.nranks) {
        tool_error_print("%s: is another log", log->path);
        return NC_EBADLOG;
    }
    if (!log_source_is_own(log) && !r->options->takes_any) {
        tool_error_print("%s: belongs to another user: --any-owner writes what it has", log->path);
        return NC_EPERM;
    }
    if (log_source_is_held(log)) {
        tool_error_print("%s: its program runs", log->path);
        return NC_EINTERRUPTED;
    }
    if (r->shows_all || log_source_has_locks(log, r->shows_node) || r->options->assumes_dead)
        return NC_NOERR;
    tool_error_print(
        "%s: whether its program still runs on %s is not known here: if it has ended, --assume-dead writes "
        "what the log has",
        log->path, r->mark.nodes[rank]);
    return NC_EINTERRUPTED;
}

/* The log of a rank, if the folder has it here. NC_ENOENT: it has not; others after an error message. */
static int open_log(const replay *r, int64_t rank, log_source *out)
{
    char name[PNC_LOG_NAME_BYTES], path[PATH_MAX];
    int err;

    pnc_log_name_format(r->mark.file, r->mark.stamp, rank, name);
    if (snprintf(path, sizeof path, "%s/%s", r->options->folder, name) >= (int)sizeof path)
        return NC_ENOENT;
    err = log_source_open(path, out);
    if (err == NC_NOERR)
        err = check_log(r, rank, out);
    else if (err != NC_ENOENT)
        tool_error_print(err == NC_EBADLOG ? "%s: is damaged, or no log" : "%s: cannot be read", path);
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
        if (found == NC_EINTERRUPTED || found == NC_EPERM || found == NC_ENOMEM)
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
                             r->mark.nodes[i], r->options->folder, name);
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
    if (!r->lacks || r->options->partial)
        return NC_NOERR;
    if (r->rank == 0)
        tool_error_print(
            "%s: is not changed: copy all logs into one folder, or run ncmpilog on all nodes that have "
            "them; --partial does without them",
            r->path);
    return NC_EBADLOG;
}

/* --- the blocks --- */

/* The last call that all logs have, and the number of records after it. Of a netCDF-4 file the ranks commit together:
 * it has what any of them says. Collective. */
static void choose_call(replay *r)
{
    int64_t call = PNC_LOG_EVERYTHING, numrecs = 0;

    for (int64_t i = 0; i < r->nlogs; i++) {
        call = pnc_min64(call, r->logs[i].summary.call);
        if (r->reader != NULL)
            r->done = pnc_max64(r->done, r->logs[i].reader.front.call);
    }
    r->call = reduce(call, MPI_MIN);
    r->done = reduce(r->done, MPI_MAX);
    for (int64_t i = 0; i < r->nlogs; i++)
        if (r->logs[i].summary.call == r->call && r->call != PNC_LOG_EVERYTHING)
            numrecs = pnc_max64(numrecs, r->logs[i].summary.numrecs);
    r->numrecs = pnc_max64(reduce(numrecs, MPI_MAX), r->file.model.numrecs);
}

static int refuse_block(const replay *r, const log_source *log, pnc_extent extent)
{
    if (log->reader.record.kind == PNC_LOG_VALUES) {
        tool_error_print("%s: has values of variable %lld, where %s has none", log->path, (long long)extent.offset,
                         r->path);
        return NC_EBADLOG;
    }
    tool_error_print("%s: has bytes %lld to %lld, where %s has no values", log->path, (long long)extent.offset,
                     (long long)(extent.offset + extent.length - 1), r->path);
    return NC_EBADLOG;
}

/* The first record of the log. */
static void begin_reading(log_source *log)
{
    (void)pnc_log_reader_begin(&log->reader);
    if (!pnc_log_reader_find_next(&log->reader))
        log->reader.record.call = INT64_MAX; /* it has nothing */
}

/* A classic file gets bytes, a netCDF-4 file values. */
static bool is_possible(const replay *r, log_source *log)
{
    if (r->reader != NULL)
        return log->reader.record.kind == PNC_LOG_VALUES && log_values_check(&r->file.model, log);
    return log->reader.record.kind == PNC_LOG_BLOCK &&
           log->reader.record.extent.offset >= r->file.model.classic.header_size;
}

/* The blocks of a log that will be written: none is in the header. *last: the one that reaches farthest. Counts those
 * that come too late. */
static int examine_blocks(replay *r, log_source *log, pnc_extent *last)
{
    pnc_log_reader *reader = &log->reader;

    *last = (pnc_extent){0, 0};
    (void)pnc_log_reader_begin(reader);
    while (pnc_log_reader_find_next(reader)) {
        pnc_extent extent = reader->record.extent;

        if (reader->record.kind == PNC_LOG_END || reader->record.call <= r->done)
            continue;
        if (reader->record.call > r->call) {
            r->later++;
            r->unlogged += extent.length;
        } else if (!is_possible(r, log)) {
            return refuse_block(r, log, extent);
        } else if (r->reader == NULL && extent.offset + extent.length > last->offset + last->length) {
            *last = extent;
        }
    }
    begin_reading(log);
    return NC_NOERR;
}

/* A record that is counted has a value, in the file or in a block: `reach` is behind the last byte of both. The number
 * in a log, or in the header, may be damaged: it would make a file of any size. */
static int limit_numrecs(replay *r, int64_t reach)
{
    pnc_model *model = &r->file.model;
    int64_t begin = pnc_max64(model->classic.begin_rec, 0), size = model->classic.recsize, most;

    most = model->format == NC_FORMAT_CDF5 ? INT64_MAX : INT32_MAX;
    if (size > 0)
        most =
            pnc_min64(most, reach <= begin ? 0 : pnc_min64((reach - begin - 1) / size + 1, (INT64_MAX - begin) / size));
    if (model->recdim < 0)
        r->numrecs = model->numrecs;
    else if (r->numrecs > most && r->options->partial)
        r->numrecs = most;
    else if (r->numrecs > most) {
        if (r->rank == 0)
            tool_error_print(
                "%s: should have %lld records, as %s, but file and logs have values of %lld: is not changed; "
                "--partial sets this number",
                r->path, (long long)r->numrecs, r->numrecs == model->numrecs ? "it says" : "the logs say",
                (long long)most);
        return NC_EBADLOG;
    }
    model->numrecs = r->numrecs;
    r->end = pnc_format_layout_get_file_end(model);
    return NC_NOERR;
}

/* Before anything is written: whether the blocks are of this file, and how many records it gets. Collective. */
static int check_blocks(replay *r)
{
    pnc_extent last = {0, 0}, of_log;
    const log_source *farthest = NULL;
    int err = NC_NOERR;

    for (int64_t i = 0; i < r->nlogs && err == NC_NOERR; i++) {
        err = examine_blocks(r, &r->logs[i], &of_log);
        if (of_log.offset + of_log.length > last.offset + last.length) {
            last = of_log;
            farthest = &r->logs[i];
        }
    }
    PNC_TRY(tool_status_agree(err));
    if (r->reader != NULL) /* no records but those of the values */
        return NC_NOERR;
    PNC_TRY(limit_numrecs(r, reduce(pnc_max64(r->file.size, last.offset + last.length), MPI_MAX)));
    if (farthest != NULL && last.length > r->end - last.offset)
        err = refuse_block(r, farthest, last);
    return tool_status_agree(err);
}

/* The file is about to be changed, or was: if this replay dies, the next one must know that. */
static int record_time(replay *r, bool is_due)
{
    struct timespec now;
    int number;

    clock_gettime(CLOCK_REALTIME, &now);
    if (!is_due && now.tv_sec - r->timed / SECOND < PNC_LOG_TIME_INTERVAL)
        return NC_NOERR;
    r->timed = (int64_t)now.tv_sec * SECOND + now.tv_nsec;
    for (int64_t i = 0; i < r->nlogs; i++) {
        number = log_source_write_time(&r->logs[i], r->timed);
        if (number != 0) {
            tool_error_print("%s: cannot be written: %s", r->logs[i].path, strerror(number));
            return NC_EWRITE;
        }
    }
    return NC_NOERR;
}

static int copy_block(replay *r, log_source *log)
{
    static char bytes[COPY_BYTES];
    pnc_extent extent = log->reader.record.extent;

    PNC_TRY(record_time(r, false));
    for (int64_t done = 0; done < extent.length; done += COPY_BYTES) {
        int64_t n = pnc_min64(COPY_BYTES, extent.length - done);
        int number = pnc_host_bytes_read(log->fd, log->reader.bytes_at + done, bytes, n);

        if (number == 0)
            number = pnc_host_bytes_write(r->fd, extent.offset + done, bytes, n);
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

/* --- values --- */

static int record_time_now(void *caller)
{
    return record_time(caller, false);
}

/* The calls that the file has, by all ranks, need not be put again: others may have overwritten them. */
static void skip_calls(replay *r)
{
    for (int64_t i = 0; i < r->nlogs; i++) {
        pnc_log_reader *reader = &r->logs[i].reader;

        while (reader->record.call <= r->done)
            if (!pnc_log_reader_find_next(reader))
                reader->record.call = INT64_MAX;
    }
}

/* Collective. */
static int replay_values(replay *r)
{
    log_values_put put = {.path = r->path,
                          .stamp = r->mark.stamp,
                          .model = &r->file.model,
                          .logs = r->logs,
                          .nlogs = r->nlogs,
                          .last = r->call,
                          .prepare = record_time_now,
                          .caller = r};

    skip_calls(r);
    PNC_TRY(log_values_execute(&put));
    r->blocks = put.records;
    r->bytes = put.bytes;
    r->numrecs = put.numrecs;
    return tool_status_agree(record_time(r, true));
}

/* --- the end --- */

static int flush_file(const replay *r)
{
    errno = pnc_host_file_sync(r->fd);
    return errno == 0 ? NC_NOERR : fail_system(r, "flush it");
}

/* Rank 0: the number of records counts no record whose values are not on disk. */
static int write_numrecs(replay *r)
{
    char bytes[8];
    int n = pnc_format_numrecs_encode(&r->file.model, bytes);
    struct stat facts;

    if (fstat(r->fd, &facts) != 0 || (facts.st_size < r->end && ftruncate(r->fd, r->end) != 0))
        return fail_system(r, "extend it");
    if (r->file.model.recdim < 0)
        return flush_file(r);
    errno = pnc_host_bytes_write(r->fd, NUMRECS_AT, bytes, n);
    if (errno == 0)
        errno = pnc_host_file_sync(r->fd);
    return errno == 0 ? NC_NOERR : fail_system(r, "write the number of records");
}

/* Collective. */
static int replay_blocks(replay *r)
{
    PNC_TRY(replay_calls(r));
    PNC_TRY(tool_status_agree(flush_file(r)));
    PNC_TRY(tool_status_agree(record_time(r, true)));
    return tool_status_agree(r->rank == 0 ? write_numrecs(r) : NC_NOERR);
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
    PNC_TRY(hold_file(r, open_file(r)));
    PNC_TRY(read_definitions(r));
    PNC_TRY(tool_status_agree(open_mark(r)));
    PNC_TRY(find_logs(r));
    PNC_TRY(tool_status_agree(check_time(r)));
    choose_call(r);
    PNC_TRY(check_blocks(r));
    PNC_TRY(tool_status_agree(record_time(r, true)));
    PNC_TRY(r->reader != NULL ? replay_values(r) : replay_blocks(r));
    PNC_TRY(remove_logs(r));
    report_result(r);
    return NC_NOERR;
}

int log_replay_execute(const log_options *options)
{
    replay r = {.path = options->paths[0], .options = options, .fd = -1};
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
