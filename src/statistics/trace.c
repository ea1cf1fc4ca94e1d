/* Writes a timeline as an array of complete events (phase X), in microseconds of a day: viewers have doubles. */
#include "statistics/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"

#define DAY (INT64_C(86400) * 1000000000)
#define EVENT_BYTES 512 /* more than an event has */

struct pnc_trace {
    int fd; /* not a FILE, which writes what it has when the program exits */
    int node, rank;
    int64_t zero;       /* CLOCK_REALTIME - CLOCK_MONOTONIC, without whole days: nodes agree on the former only */
    bool is_file;       /* with the timeline at its beginning; else a pipe, or the standard output */
    bool has_worker;    /* whose thread has its name */
    const char *failed; /* why */
    size_t n;
    char text[16 * 1024]; /* not yet written */
};

static int64_t read_clock(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Whether the program has made the file its dataset meanwhile: that begins with other bytes, or is still empty. */
static bool is_replaced(const pnc_trace *trace)
{
    char first = '\0';

    return trace->is_file && (pread(trace->fd, &first, 1, 0) != 1 || first != '[');
}

static void write_text(pnc_trace *trace)
{
    size_t done = 0;

    if (trace->failed == NULL && is_replaced(trace))
        trace->failed = "the file has become another one: choose another path in PNETCDF_STATS";
    while (trace->failed == NULL && done < trace->n) {
        ssize_t n = write(trace->fd, trace->text + done, trace->n - done);

        if (n >= 0)
            done += (size_t)n;
        else if (errno != EINTR)
            trace->failed = strerror(errno);
    }
    trace->n = 0;
}

PNC_PRINTF(2, 3) static void add_text(pnc_trace *trace, const char *format, ...)
{
    va_list args;
    int n;

    if (sizeof trace->text - trace->n < EVENT_BYTES)
        write_text(trace);
    va_start(args, format);
    n = vsnprintf(trace->text + trace->n, EVENT_BYTES, format, args);
    va_end(args);
    if (n > 0 && n < EVENT_BYTES)
        trace->n += (size_t)n;
}

pnc_trace *pnc_trace_create(FILE *file, int node, int rank)
{
    pnc_trace *trace = pnc_memory_alloc_zeroed(1, sizeof *trace);
    int fd = trace == NULL ? -1 : fcntl(fileno(file), F_DUPFD_CLOEXEC, 0), number = errno;

    fclose(file);
    if (fd < 0) {
        pnc_memory_free(trace);
        errno = trace == NULL ? ENOMEM : number;
        return NULL;
    }
    trace->fd = fd;
    trace->node = node;
    trace->rank = rank;
    trace->zero = read_clock(CLOCK_REALTIME) / DAY * -DAY + read_clock(CLOCK_REALTIME) - read_clock(CLOCK_MONOTONIC);
    add_text(trace,
             "[\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"name\":\"node of rank %d\"}},\n"
             "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":\"rank %d\"}}",
             node, node, node, rank, rank);
    write_text(trace); /* at once: it shows whose file that is */
    trace->is_file = true;
    trace->is_file = !is_replaced(trace);
    return trace;
}

const char *pnc_trace_close(pnc_trace *trace)
{
    const char *failed;

    add_text(trace, "\n]\n");
    write_text(trace);
    failed = trace->failed;
    /* A dataset: closing it would release the locks that this process has on it. */
    if (!is_replaced(trace) && close(trace->fd) != 0 && failed == NULL)
        failed = strerror(errno);
    pnc_memory_free(trace);
    return failed;
}

void pnc_trace_free(pnc_trace *trace)
{
    if (trace != NULL)
        (void)pnc_trace_close(trace);
}

static void add_span(pnc_trace *trace, int thread, const char *name, int64_t begin, int64_t end)
{
    begin += trace->zero; /* integers: a double would round the times, and spans would overlap */
    end += trace->zero;
    add_text(trace, ",\n{\"name\":\"%s\",\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"ts\":%lld.%03d,\"dur\":%lld.%03d}", name,
             trace->node, thread, (long long)(begin / 1000), (int)(begin % 1000), (long long)((end - begin) / 1000),
             (int)((end - begin) % 1000));
}

void pnc_trace_span_add(pnc_trace *trace, const char *name, int64_t begin, int64_t end)
{
    if (trace != NULL && trace->failed == NULL)
        add_span(trace, trace->rank, name, begin, end);
}

void pnc_trace_worker_add(pnc_trace *trace, const char *name, int64_t begin, int64_t end)
{
    int thread;

    if (trace == NULL || trace->failed != NULL)
        return;
    thread = trace->rank + PNC_TRACE_WORKER;
    if (!trace->has_worker)
        add_text(trace,
                 ",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"args\":"
                 "{\"name\":\"worker of rank %d\"}}",
                 trace->node, thread, trace->rank);
    trace->has_worker = true;
    add_span(trace, thread, name, begin, end);
}
