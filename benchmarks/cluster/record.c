/* The record of a run: what each rank does in each phase. The accesses are listed one by one, so that a program can
 * examine them (run.py); messages and collective calls are counted. Lines of fields with tabs between them:
 *
 *   access      R or W, offset, length, simulated nanoseconds, moves of locks
 *   disk        R or W, length, simulated nanoseconds: of a file on the disk of the node
 *   collective  name, calls
 *   phase       name, begin and end in nanoseconds, messages to other nodes, messages to ranks of the node, growth of
 *               resident memory in KiB at its peak
 *
 * The line of a phase follows those of its accesses and calls. */
#define _GNU_SOURCE
#include "parallel_fs.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAMES = 64 };

typedef struct call_count {
    const char *name;
    long calls;
} call_count;

/* The current phase. Threads of a rank may take part in it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *record;
static char phase[64];
static bool is_active;
static int64_t begin;
static long remote_messages, local_messages, resident;
static call_count calls[MAX_NAMES];

void fail(const char *what)
{
    fprintf(stderr, "parallel_fs: %s\n", what);
    abort();
}

void *find_next(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);

    if (found == NULL)
        fail(name);
    return found;
}

/* --- memory --- */

/* KiB, a field of the status of this process. */
static long read_status(const char *field)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    long kib = 0;

    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, field, strlen(field)) == 0)
            kib = atol(line + strlen(field));
    if (status != NULL)
        fclose(status);
    return kib;
}

/* The peak of resident memory becomes the present value. Systems that refuse this report the peak since the start. */
static void reset_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");

    if (file == NULL)
        return;
    fputs("5", file);
    fclose(file);
}

/* --- counts --- */

void record_access(const file_access *access, const outcome *outcome)
{
    pthread_mutex_lock(&lock);
    if (is_active && access->place == LOCAL)
        fprintf(record, "disk\t%c\t%lld\t%lld\n", access->direction, (long long)access->length,
                (long long)outcome->delay);
    else if (is_active)
        fprintf(record, "access\t%c\t%lld\t%lld\t%lld\t%d\n", access->direction, (long long)access->offset,
                (long long)access->length, (long long)outcome->delay, outcome->lock_moves);
    pthread_mutex_unlock(&lock);
}

void record_message(bool is_local)
{
    pthread_mutex_lock(&lock);
    if (is_local)
        local_messages++;
    else
        remote_messages++;
    pthread_mutex_unlock(&lock);
}

void record_collective(const char *name)
{
    call_count *at = calls;

    pthread_mutex_lock(&lock);
    while (at->name != NULL && at->name != name)
        at++;
    if (at == calls + MAX_NAMES - 1)
        fail("more kinds of collective calls than the record has memory for");
    at->name = name;
    at->calls++;
    pthread_mutex_unlock(&lock);
}

/* --- phases --- */

static void open_record(void)
{
    const char *prefix = getenv("PARALLEL_FS_RECORD");
    char path[4096];

    if (prefix == NULL || model_rank() < 0)
        fail("PARALLEL_FS_RECORD and the rank of mpiexec are needed to record phases");
    snprintf(path, sizeof path, "%s.%d", prefix, model_rank());
    record = fopen(path, "w");
    if (record == NULL)
        fail(path);
}

static void end_phase(void)
{
    for (const call_count *at = calls; at->name != NULL; at++)
        fprintf(record, "collective\t%s\t%ld\n", at->name, at->calls);
    fprintf(record, "phase\t%s\t%lld\t%lld\t%ld\t%ld\t%ld\n", phase, (long long)begin, (long long)model_now(),
            remote_messages, local_messages, read_status("VmHWM:") - resident);
    fflush(record);
    is_active = false;
}

static void begin_phase(const char *name)
{
    snprintf(phase, sizeof phase, "%s", name);
    memset(calls, 0, sizeof calls);
    remote_messages = local_messages = 0;
    reset_peak();
    resident = read_status("VmRSS:");
    is_active = true;
    begin = model_now();
}

void parallel_fs_phase(const char *name)
{
    pthread_mutex_lock(&lock);
    if (record == NULL)
        open_record();
    if (is_active)
        end_phase();
    if (name != NULL)
        begin_phase(name);
    pthread_mutex_unlock(&lock);
}
