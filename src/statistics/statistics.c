/* Counters of an open file, and its clock. */
#include "statistics/statistics.h"

#include <sys/resource.h>
#include <time.h>

#include "base/memory.h"
#include "statistics/trace.h"

static int64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

pnc_statistics *pnc_statistics_create(void)
{
    pnc_statistics *s = pnc_memory_alloc_zeroed(1, sizeof *s);

    if (s != NULL) {
        s->opened = now();
        s->unit = 1;
        pnc_statistics_heat_init(&s->heat);
    }
    return s;
}

void pnc_statistics_free(pnc_statistics *s)
{
    if (s == NULL)
        return;
    pnc_trace_free(s->trace);
    pnc_memory_free(s->vars);
    pnc_memory_free(s->chunks);
    pnc_memory_free(s);
}

void pnc_statistics_update(pnc_statistics *s)
{
    struct rusage usage;

    s->counts[PNC_COUNT_TIME_OPEN] = now() - s->opened;
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        s->counts[PNC_COUNT_PEAK_MEMORY] = (int64_t)usage.ru_maxrss * 1024;
    s->counts[PNC_COUNT_PEAK_MEMORY_OF_LIBRARY] = pnc_memory_get_peak();
}

/* --- accesses --- */

/* The counters of reads follow those of writes in the same order. */
#define OF(counter) ((pnc_counter)(is_write ? PNC_COUNT_WRITE##counter : PNC_COUNT_READ##counter))

void pnc_statistics_access_count(pnc_statistics *s, bool is_write, int64_t offset, int64_t bytes)
{
    int64_t gap = offset - s->ends[is_write];
    bool follows = s->counts[OF(S)]++ > 0;

    s->counts[OF(_BYTES)] += bytes;
    s->counts[OF(S_100) + pnc_counter_class_find(bytes)]++;
    s->counts[OF(S_ALIGNED)] += offset % s->unit == 0;
    s->counts[OF(S_NEXT)] += follows && gap == 0;
    s->counts[OF(S_BACK)] += gap < 0;
    s->counts[OF(_GAP_BYTES)] += follows && gap > 0 ? gap : 0;
    s->counts[PNC_COUNT_READS_OF_PUTS] += !is_write && s->in_put;
    s->ends[is_write] = offset + bytes;
    pnc_statistics_heat_add(&s->heat, is_write, offset, bytes);
}

void pnc_statistics_var_add(pnc_statistics *s, int varid, const pnc_var_statistics *more)
{
    pnc_var_statistics *var;

    if (s == NULL)
        return;
    if (s->vars == NULL)
        s->vars = pnc_memory_alloc_zeroed(PNC_STATISTICS_VARS, sizeof *s->vars);
    if (s->vars == NULL) /* the report lacks the variables */
        return;
    var = &s->vars[varid < PNC_STATISTICS_VARS ? varid : PNC_STATISTICS_VARS - 1];
    var->put_bytes += more->put_bytes;
    var->get_bytes += more->get_bytes;
    var->nanoseconds += more->nanoseconds;
}

pnc_chunk_statistics *pnc_statistics_chunks_find(pnc_statistics *s, int varid)
{
    if (s == NULL || varid >= PNC_STATISTICS_CHUNKED)
        return NULL;
    if (s->chunks == NULL)
        s->chunks = pnc_memory_alloc_zeroed(PNC_STATISTICS_CHUNKED, sizeof *s->chunks);
    return s->chunks == NULL ? NULL : &s->chunks[varid]; /* without memory, advice names no variable */
}

void pnc_statistics_chunk_add(pnc_statistics *s, int varid, bool is_write, int64_t bytes, int64_t stored, bool again)
{
    pnc_chunk_statistics *var = pnc_statistics_chunks_find(s, varid);
    pnc_chunk_counts unused = {0}, *c = var != NULL ? &var->counts : &unused;

    if (s == NULL)
        return;
    *(is_write ? &c->written : &c->read) += 1;
    *(is_write ? &c->written_again : &c->read_again) += again;
    *(is_write ? &c->bytes_written : &c->bytes_read) += bytes;
    c->stored_written += is_write ? stored : 0;
    s->counts[is_write ? PNC_COUNT_CHUNKS_WRITTEN : PNC_COUNT_CHUNKS_READ]++;
    s->counts[is_write ? PNC_COUNT_CHUNKS_WRITTEN_AGAIN : PNC_COUNT_CHUNKS_READ_AGAIN] += again;
    s->counts[is_write ? PNC_COUNT_CHUNK_BYTES_WRITTEN : PNC_COUNT_CHUNK_BYTES_READ] += bytes;
    s->counts[is_write ? PNC_COUNT_STORED_BYTES_WRITTEN : PNC_COUNT_STORED_BYTES_READ] += stored;
}

/* --- the clock --- */

pnc_counter pnc_statistics_clock_set(pnc_statistics *s, pnc_counter takes)
{
    pnc_counter before = s->takes;
    int64_t time = now();

    if (s->begun == 0) {
        s->begun = time;
    } else {
        s->counts[before] += time - s->since;
        pnc_trace_span_add(s->trace, pnc_counter_table[before].name, s->since, time);
    }
    s->takes = takes;
    s->since = time;
    return before;
}

void pnc_statistics_call_finish(pnc_statistics *s, const char *name)
{
    if (s == NULL || !s->in_call)
        return;
    if (s->begun != 0) {
        pnc_statistics_clock_set(s, s->takes);
        pnc_trace_span_add(s->trace, name, s->begun, s->since);
    }
    s->in_call = s->in_put = false;
}

int64_t pnc_statistics_call_get_time(const pnc_statistics *s)
{
    return s->begun != 0 ? s->since - s->begun : 0;
}
