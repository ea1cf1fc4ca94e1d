/* Measuring: contenders run in turn, round after round, and a table of medians and ratios. */
#include "bench_measure.h"

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

struct sample {
    double cpu, wall;
};

void bench_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("bench_io: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static double cpu_now(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return seconds(use.ru_utime) + seconds(use.ru_stime);
}

static struct sample run_once(const struct bench_contender *contender)
{
    if (contender->prepare)
        contender->prepare(contender->job);
    MPI_Barrier(MPI_COMM_WORLD);
    double wall = MPI_Wtime(), cpu = cpu_now();
    contender->run(contender->job);
    struct sample mine = {cpu_now() - cpu, MPI_Wtime() - wall}, all;
    if (contender->restore)
        contender->restore(contender->job);
    MPI_Allreduce(&mine.cpu, &all.cpu, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&mine.wall, &all.wall, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, by_value);
    return n % 2 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

static struct sample medians(const struct sample *samples, int n)
{
    double cpu[BENCH_ROUNDS_MAX], wall[BENCH_ROUNDS_MAX];
    for (int i = 0; i < n; i++) {
        cpu[i] = samples[i].cpu;
        wall[i] = samples[i].wall;
    }
    return (struct sample){median(cpu, n), median(wall, n)};
}

void bench_report_begin(const struct bench_report *report, const char *library)
{
    if (report->rank != 0 || report->tabs)
        return;
    printf("# %s\n# %d rank%s, medians of %d interleaved runs; ratio = time of the limit / time of the subject\n",
           library, report->nprocs, report->nprocs > 1 ? "s" : "", report->rounds);
    printf("%-30s %-4s %-22s %-16s %9s %9s %8s %6s %6s %5s\n", "case", "op", "subject", "limit", "limit ms", "cpu ms",
           "MB/s", "cpu", "wall", "goal");
}

/* What a row of the table compares. */
struct comparison {
    const char *title, *direction;
    size_t bytes;
    const struct bench_contender *subject;
    const char *limit; /* name */
};

static void row_print(const struct bench_report *report, const struct comparison *row, struct sample base,
                      struct sample own)
{
    const struct bench_contender *subject = row->subject;
    double cpu = base.cpu / own.cpu, wall = base.wall / own.wall;
    char goal[32] = "";
    if (subject->goal > 0)
        snprintf(goal, sizeof goal, "%.1f%s", subject->goal, cpu < subject->goal ? " below" : "");
    double limit_ms = 1e3 * base.cpu, own_ms = 1e3 * own.cpu, rate = 1e-6 * (double)row->bytes / own.cpu;
    if (report->tabs)
        printf("%s\t%s\t%s\t%s\t%.3f\t%.3f\t%.0f\t%.3f\t%.3f\t%s\n", row->title, row->direction, subject->name,
               row->limit, limit_ms, own_ms, rate, cpu, wall, goal);
    else
        printf("%-30s %-4s %-22s %-16s %9.2f %9.2f %8.0f %6.2f %6.2f %5s\n", row->title, row->direction, subject->name,
               row->limit, limit_ms, own_ms, rate, cpu, wall, goal);
    fflush(stdout);
}

void bench_group_run(const struct bench_report *report, const char *title, const char *direction, size_t bytes,
                     const struct bench_contender *contenders, int n)
{
    struct sample samples[BENCH_CONTENDERS_MAX][BENCH_ROUNDS_MAX], middle[BENCH_CONTENDERS_MAX];
    for (int i = 0; i < n; i++)
        run_once(&contenders[i]);
    for (int round = 0; round < report->rounds; round++)
        for (int i = 0; i < n; i++)
            samples[i][round] = run_once(&contenders[i]);
    for (int i = 0; i < n; i++)
        middle[i] = medians(samples[i], report->rounds);
    for (int i = 0; i < n && report->rank == 0; i++) {
        int base = contenders[i].base;
        struct comparison row = {title, direction, bytes, &contenders[i], contenders[base].name};
        if (base != i)
            row_print(report, &row, middle[base], middle[i]);
    }
}
