/* The raw limits: the fastest plain code with pread and pwrite for the same bytes, without any library. */
#ifndef BENCH_LIMIT_H
#define BENCH_LIMIT_H

#include <stddef.h>
#include <sys/types.h>

/* Converts n values; returns nonzero where one was out of range. in and out do not overlap. */
typedef int bench_convert_fn(const void *in, void *out, size_t n);

/* Memory values to big-endian external values and back. `swap` (in place) is set where both have one size and one
   meaning; all three are NULL for single bytes, which go to the file as they are. */
struct bench_codec {
    const char *memory, *external;
    size_t memory_size, external_size;
    bench_convert_fn *put, *get;
    void (*swap)(void *values, size_t n);
};

/* NULL if the limit has no such conversion. */
const struct bench_codec *bench_codec_find(const char *memory, const char *external);

/* Where the elements of one rank lie: `planes` x `rows` runs of `run` elements. Steps are in bytes in the file and in
   elements in memory. With stride > 1 there is one run whose elements lie `stride` elements apart in the file. With
   `transposed`, memory is [run][rows] and the rows are adjacent in the file. */
struct bench_plan {
    int fd;
    off_t base;
    size_t planes, rows, run, stride;
    off_t plane_step, row_step;
    size_t memory_plane, memory_row;
    int transposed;
    const struct bench_codec *codec;
};

void bench_limit_init(size_t piece_bytes);
void bench_limit_free(void);
void bench_limit_put(const struct bench_plan *plan, const void *source);
void bench_limit_get(const struct bench_plan *plan, void *sink);

/* Whole transfers that fail where the file system takes less. */
void bench_pwrite(int fd, const void *from, size_t bytes, off_t at);
void bench_pread(int fd, void *to, size_t bytes, off_t at);

#endif
