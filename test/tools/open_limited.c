/* Started by test_forged_journals.py: SECONDS FILE..: open each file for writing and close it, and print the code. The
 * system ends the process if one takes more time of the processor, or two minutes, or makes the file longer. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pnetcdf.h"

static void set_limit(int resource, rlim_t value)
{
    struct rlimit limit;

    if (getrlimit(resource, &limit) == 0) {
        limit.rlim_cur = value;
        if (setrlimit(resource, &limit) == 0)
            return;
    }
    perror("open_limited");
    exit(1);
}

static void limit_file(const char *path, long seconds)
{
    struct rusage used;
    struct stat facts;

    if (stat(path, &facts) != 0 || getrusage(RUSAGE_SELF, &used) != 0) {
        perror(path);
        exit(1);
    }
    set_limit(RLIMIT_CPU, (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec + 1 + seconds));
    set_limit(RLIMIT_FSIZE, (rlim_t)facts.st_size);
    alarm(120);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int i = 2; i < argc; i++) {
        int ncid, err;

        limit_file(argv[i], atol(argv[1]));
        err = ncmpi_open(MPI_COMM_WORLD, argv[i], NC_WRITE, MPI_INFO_NULL, &ncid);
        if (err == NC_NOERR)
            err = ncmpi_close(ncid);
        set_limit(RLIMIT_FSIZE, RLIM_INFINITY);
        printf("%d\n", err);
        fflush(stdout);
    }
    alarm(0);
    MPI_Finalize();
    return 0;
}
