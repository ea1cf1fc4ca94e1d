/* Speed of the conversion kernels in cache, beside memcpy of the same bytes: one thread, pieces that stay in the
 * second-level cache, median of 7 interleaved runs of process CPU time. Usage: bench_convert [all] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/types.h"
#include "convert/kernels.h"

enum { RUNS = 7, ELEMENTS = 16384, PIECE = ELEMENTS * 8 };
static const double seconds_per_run = 0.004;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int copy(void *dst, const void *src, int64_t bytes, const void *fill)
{
    (void)fill;
    memcpy(dst, src, (size_t)bytes);
    return 0;
}

/* Gigabytes of source per second. */
static double rate_of(pnc_kernel kernel, char *dst, const char *src, int64_t n, int64_t bytes)
{
    static const char fill[8];
    int64_t calls = 0;
    double begin = now(), end;
    do {
        for (int i = 0; i < 16; i++)
            kernel(dst, src, n, fill);
        calls += 16;
        end = now();
    } while (end - begin < seconds_per_run);
    return (double)(calls * bytes) / (end - begin) * 1e-9;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Small values, which every type can hold. */
static void prepare(pnc_direction direction, int xtype, pnc_mem_type mem, pnc_encoding encoding, char *src)
{
    static signed char small[ELEMENTS];
    static const char fill[8];
    for (int i = 0; i < ELEMENTS; i++)
        small[i] = (signed char)(i * 7 % 101);
    char *external = malloc(PIECE);
    if (external == NULL)
        exit(1);
    pnc_convert_kernel_find_scalar(PNC_PUT, xtype, PNC_SCHAR, encoding)(external, small, ELEMENTS, fill);
    if (direction == PNC_GET)
        memcpy(src, external, PIECE);
    else
        pnc_convert_kernel_find_scalar(PNC_GET, xtype, mem, encoding)(src, external, ELEMENTS, fill);
    free(external);
}

static void bench(pnc_direction direction, int xtype, pnc_mem_type mem, pnc_encoding encoding, char *dst, char *src)
{
    const size_t in = direction == PNC_PUT ? pnc_mem_type_get_size(mem) : pnc_type_get_size(xtype);
    const pnc_kernel kernel[] = {copy, pnc_convert_kernel_find_scalar(direction, xtype, mem, encoding),
                                 pnc_convert_kernel_find(direction, xtype, mem, encoding, NULL)};
    double rate[3][RUNS];
    prepare(direction, xtype, mem, encoding, src);
    for (int run = 0; run < RUNS; run++)
        for (int k = 0; k < 3; k++)
            rate[k][run] =
                rate_of(kernel[k], dst, src, k == 0 ? (int64_t)in * ELEMENTS : ELEMENTS, (int64_t)in * ELEMENTS);
    for (int k = 0; k < 3; k++)
        qsort(rate[k], RUNS, sizeof(double), by_size);
    const double limit = rate[0][RUNS / 2], scalar = rate[1][RUNS / 2], fast = rate[2][RUNS / 2];
    printf("%-3s %-9s %-2s %-7s %-6s %9.2f %9.2f %9.2f %9.2f\n", direction == PNC_PUT ? "put" : "get",
           pnc_mem_type_get_name(mem), direction == PNC_PUT ? "->" : "<-", pnc_type_get_name(xtype),
           encoding.little ? "little" : "big", limit, scalar, fast, fast / limit);
}

int main(int argc, char **argv)
{
    static const struct {
        pnc_mem_type mem;
        int xtype;
    } pair[] = {{PNC_SHORT, NC_SHORT},     {PNC_INT, NC_INT},      {PNC_FLOAT, NC_FLOAT},  {PNC_DOUBLE, NC_DOUBLE},
                {PNC_LONGLONG, NC_INT64},  {PNC_DOUBLE, NC_INT},   {PNC_DOUBLE, NC_FLOAT}, {PNC_DOUBLE, NC_SHORT},
                {PNC_FLOAT, NC_SHORT},     {PNC_FLOAT, NC_DOUBLE}, {PNC_INT, NC_DOUBLE},   {PNC_INT, NC_SHORT},
                {PNC_INT, NC_FLOAT},       {PNC_SHORT, NC_INT},    {PNC_INT, NC_BYTE},     {PNC_LONGLONG, NC_INT},
                {PNC_LONGLONG, NC_DOUBLE}, {PNC_UINT, NC_INT},     {PNC_DOUBLE, NC_UINT},  {PNC_DOUBLE, NC_INT64}};
    const int all = argc > 1 && strcmp(argv[1], "all") == 0;
    char *src = malloc(PIECE + 64), *dst = malloc(PIECE + 64);
    if (src == NULL || dst == NULL)
        return 1;
    memset(dst, 0, PIECE);
    printf("# gigabytes of source per second; kernels: %s; memcpy: the source's bytes\n", pnc_convert_kernel_get_isa());
    printf("#%-30s %9s %9s %9s %9s\n", "", "memcpy", "scalar", "fast", "ratio");
    for (int k = 0; k < 4; k++) {
        const pnc_direction direction = k % 2 == 0 ? PNC_PUT : PNC_GET;
        const pnc_encoding encoding = {.little = k >= 2};

        if (!all)
            for (size_t i = 0; i < sizeof pair / sizeof pair[0]; i++)
                bench(direction, pair[i].xtype, pair[i].mem, encoding, dst, src);
        for (int xtype = NC_BYTE; all && xtype <= NC_UINT64; xtype++)
            for (int mem = PNC_SCHAR; xtype != NC_CHAR && mem < PNC_MEM_TYPE_COUNT; mem++)
                bench(direction, xtype, (pnc_mem_type)mem, encoding, dst, src);
    }
    free(src);
    free(dst);
    return 0;
}
