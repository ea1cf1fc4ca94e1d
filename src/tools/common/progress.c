/* The line is overwritten by the next one and by messages; CSI K (ECMA-48) erases the rest of a longer line. */
#include "config.h" /* system extensions */

#include "tools/common/progress.h"

#include <time.h>
#include <unistd.h>

static FILE *shown_on; /* the stream that shows a line now */

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void tool_progress_begin(FILE *out, const char *what, int64_t total, tool_progress *progress)
{
    *progress = (tool_progress){.out = isatty(fileno(out)) ? out : NULL, .what = what, .total = total};
    if (progress->out != NULL) {
        progress->begin = now();
        progress->next = progress->begin + 1;
    }
}

void tool_progress_keep_lines(FILE *out, tool_progress *progress)
{
    if (progress->out != NULL) /* a terminal */
        return;
    progress->out = out;
    progress->keeps_lines = true;
    progress->begin = now();
    progress->next = progress->begin + 1;
}

void tool_progress_format(const char *what, int64_t done, int64_t total, double seconds, char *line, size_t capacity)
{
    const double mebibyte = 1 << 20;
    double rate = seconds > 0 ? (double)done / seconds : 0;
    double left = rate > 0 ? (double)(total - done) / rate + 0.5 : 0;
    int length = snprintf(line, capacity, "%s: %d %% of %.0f MiB, %.0f MiB/s", what,
                          total > 0 ? (int)(100. * (double)done / (double)total) : 100, (double)total / mebibyte,
                          rate / mebibyte);
    if (length < 0 || (size_t)length >= capacity || rate <= 0 || left > 1e9)
        return;
    long s = (long)left;
    if (s < 3600)
        snprintf(line + length, capacity - (size_t)length, ", %ld:%02ld left", s / 60, s % 60);
    else
        snprintf(line + length, capacity - (size_t)length, ", %ld:%02ld:%02ld left", s / 3600, s / 60 % 60, s % 60);
}

static void show(tool_progress *progress, int64_t done, double seconds)
{
    char line[200];
    tool_progress_format(progress->what, done, progress->total, seconds, line, sizeof line);
    fprintf(progress->out, progress->keeps_lines ? "%s\n" : "%s\033[K\r", line);
    fflush(progress->out);
    if (!progress->keeps_lines)
        shown_on = progress->out;
}

void tool_progress_update(tool_progress *progress, int64_t done)
{
    const double interval = progress->keeps_lines ? 5 : 0.2;
    if (progress->out == NULL)
        return;
    if (done > progress->total) /* each rank estimates the progress of all */
        done = progress->total;
    double time = now();
    if (time < progress->next)
        return;
    progress->next = time + interval;
    show(progress, done, time - progress->begin);
}

void tool_progress_finish(tool_progress *progress)
{
    if (progress->out != NULL && progress->keeps_lines)
        show(progress, progress->total, now() - progress->begin);
}

void tool_progress_wipe(void)
{
    if (shown_on != NULL) {
        fputs("\033[K", shown_on);
        fflush(shown_on);
    }
    shown_on = NULL;
}
