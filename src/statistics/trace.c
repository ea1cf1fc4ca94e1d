/* Writes a timeline as an array of complete events (phase X), in microseconds of a day: viewers have doubles. */
#include "statistics/trace.h"

#include <errno.h>
#include <time.h>

#include "base/memory.h"

#define DAY (INT64_C(86400) * 1000000000)

struct pnc_trace {
    FILE *file;
    int node, rank;
    int64_t zero; /* CLOCK_REALTIME - CLOCK_MONOTONIC, without whole days: nodes agree on the former only */
    bool failed;
};

static int64_t read_clock(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

pnc_trace *pnc_trace_create(FILE *file, int node, int rank)
{
    pnc_trace *trace = pnc_memory_alloc_zeroed(1, sizeof *trace);

    if (trace == NULL) {
        fclose(file);
        errno = ENOMEM;
        return NULL;
    }
    trace->file = file;
    trace->node = node;
    trace->rank = rank;
    trace->zero = read_clock(CLOCK_REALTIME) / DAY * -DAY + read_clock(CLOCK_REALTIME) - read_clock(CLOCK_MONOTONIC);
    trace->failed =
        fprintf(trace->file,
                "[\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"name\":\"node of rank %d\"}},\n"
                "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":\"rank "
                "%d\"}}",
                node, node, node, rank, rank) < 0;
    return trace;
}

bool pnc_trace_close(pnc_trace *trace)
{
    bool complete = !trace->failed && fputs("\n]\n", trace->file) >= 0;

    complete = fclose(trace->file) == 0 && complete;
    pnc_memory_free(trace);
    return complete;
}

void pnc_trace_free(pnc_trace *trace)
{
    if (trace != NULL)
        (void)pnc_trace_close(trace);
}

void pnc_trace_span_add(pnc_trace *trace, const char *name, int64_t begin, int64_t end)
{
    if (trace == NULL || trace->failed)
        return;
    begin += trace->zero; /* integers: a double would round the times, and spans would overlap */
    end += trace->zero;
    trace->failed =
        fprintf(trace->file,
                ",\n{\"name\":\"%s\",\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"ts\":%lld.%03d,\"dur\":%lld.%03d}", name,
                trace->node, trace->rank, (long long)(begin / 1000), (int)(begin % 1000),
                (long long)((end - begin) / 1000), (int)((end - begin) % 1000)) < 0;
}
