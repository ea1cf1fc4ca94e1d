/* Measuring: contenders run in turn, round after round, and a table of medians and ratios. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stdbool.h>
#include <stddef.h>

enum { BENCH_ROUNDS_MAX = 101, BENCH_CONTENDERS_MAX = 8 };

/* One way to do the work. `base` is the contender that it is compared with; a contender that is its own base is a
   limit and gets no row. `goal` is the ratio that the project aims at, 0 for none. */
struct bench_contender {
    const char *name;
    void (*run)(void *job);
    void *job;
    int base;
    double goal;
    void (*prepare)(void *job); /* before each run, not timed; may be NULL */
    void (*restore)(void *job); /* after each run, not timed; may be NULL */
};

struct bench_report {
    int rank, nprocs, rounds;
    bool tabs; /* tab-separated rows without a heading */
};

void bench_report_begin(const struct bench_report *report, const char *library);

/* Collective. Runs all contenders once to warm up, then `rounds` times in turn (A B C A B C ...). Time is that of the
   slowest rank for wall, and the sum over ranks of user and system time (getrusage) for CPU. */
void bench_group_run(const struct bench_report *report, const char *title, const char *direction, size_t bytes,
                     const struct bench_contender *contenders, int n);

/* Print the error and end the program on all ranks. */
void bench_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
