/* Does on a netCDF-4 file what rank 0 reads from its standard input, for test_netcdf4_writers.py: one call a line, with
 * a handle from 0 to 3. Prints the code of each call, and after an error the message of rank 0.
 *
 * H create PATH [classic] [whole]   a file with t (unlimited), x (50), int v(t, x), which is compressed; or a classic
 *                                   one; whole: nc_whole_files. To the end of define mode
 * H open PATH, H read PATH          for writing; for reading
 * H put R N                         record R of v has N + 1000 R + x at each x
 * H get R N                         the same is there, or "wrong"
 * H define NAME                     a variable
 * H sync, H close, H abort
 * H exec SECONDS                    start a program that sleeps, as popen does, and go on
 * H fail N                          write N from now on of each rank, to any file, writes a half and has no space left
 * H die, H kill                     all ranks end at once, by _exit or SIGKILL */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#undef _FILE_OFFSET_BITS /* on 32-bit processors it makes one name of pwrite and pwrite64 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include <mpi.h>
#include <pnetcdf.h>

enum { X = 50, HANDLES = 4 };

typedef struct command {
    int handle;
    char verb[20], text[3000], more[2][20];
} command;

static int rank, nprocs, ncids[HANDLES], fails_at;

/* clang-format off */
#define WRITE(name, part, n, position, half)                           \
    ssize_t name(int fd, part bytes, n, position offset)               \
    {                                                                  \
        static ssize_t (*real)(int, part, n, position);                \
                                                                       \
        if (real == NULL)                                              \
            *(void **)&real = dlsym(RTLD_NEXT, #name);                 \
        if (fails_at > 0 && --fails_at == 0) {                         \
            (void)!half;                                               \
            errno = ENOSPC;                                            \
            return -1;                                                 \
        }                                                              \
        return real(fd, bytes, count, offset);                         \
    }
WRITE(pwrite, const void *, size_t count, off_t, real(fd, bytes, count / 2, offset))
WRITE(pwrite64, const void *, size_t count, off64_t, real(fd, bytes, count / 2, offset))
WRITE(pwritev, const struct iovec *, int count, off_t, pwrite(fd, bytes->iov_base, bytes->iov_len / 2, offset))
/* clang-format on */

static int create_file(const command *c, int *ncid)
{
    int is_classic = strcmp(c->more[0], "classic") == 0 || strcmp(c->more[1], "classic") == 0;
    int is_whole = strcmp(c->more[0], "whole") == 0 || strcmp(c->more[1], "whole") == 0;
    int dims[2], varid, err;
    MPI_Info info;

    MPI_Info_create(&info);
    if (is_whole)
        MPI_Info_set(info, "nc_whole_files", "enable");
    err = ncmpi_create(MPI_COMM_WORLD, c->text, NC_CLOBBER | (is_classic ? 0 : NC_NETCDF4), info, ncid);
    MPI_Info_free(&info);
    if (err != NC_NOERR)
        return err;
    ncmpi_def_dim(*ncid, "t", NC_UNLIMITED, &dims[0]);
    ncmpi_def_dim(*ncid, "x", X, &dims[1]);
    ncmpi_def_var(*ncid, "v", NC_INT, 2, dims, &varid);
    if (!is_classic)
        ncmpi_def_var_deflate(*ncid, varid, 1, 1, 1);
    return ncmpi_enddef(*ncid);
}

static int define_var(const command *c, int ncid)
{
    int dims[2] = {0, 1}, varid, err = ncmpi_redef(ncid);

    if (err == NC_NOERR)
        err = ncmpi_def_var(ncid, c->text, NC_INT, 2, dims, &varid);
    return err == NC_NOERR ? ncmpi_enddef(ncid) : err;
}

/* Each rank has a part of the record. */
static int access_record(const command *c, int ncid, int is_put)
{
    MPI_Offset first = (MPI_Offset)X * rank / nprocs, end = (MPI_Offset)X * (rank + 1) / nprocs;
    MPI_Offset start[2] = {atoi(c->text), first}, count[2] = {1, end - first};
    int values[X], number = atoi(c->more[0]) + 1000 * (int)start[0], err;

    for (int i = 0; i < end - first; i++)
        values[i] = is_put ? number + (int)first + i : -1;
    if (is_put)
        return ncmpi_put_vara_int_all(ncid, 0, start, count, values);
    err = ncmpi_get_vara_int_all(ncid, 0, start, count, values);
    for (int i = 0; err == NC_NOERR && i < end - first; i++)
        if (values[i] != number + (int)first + i)
            err = NC_EINVAL;
    return err;
}

/* A child has what popen leaves it: all descriptors but those that close at exec. */
static int start_sleep(const command *c)
{
    char line[100];

    snprintf(line, sizeof line, "sleep %d </dev/null >/dev/null 2>&1 &", atoi(c->text));
    return rank != 0 || system(line) == 0 ? NC_NOERR : NC_EINVAL;
}

static int execute(const command *c)
{
    int *ncid = &ncids[c->handle];

    if (strcmp(c->verb, "create") == 0)
        return create_file(c, ncid);
    if (strcmp(c->verb, "open") == 0)
        return ncmpi_open(MPI_COMM_WORLD, c->text, NC_WRITE, MPI_INFO_NULL, ncid);
    if (strcmp(c->verb, "read") == 0)
        return ncmpi_open(MPI_COMM_WORLD, c->text, NC_NOWRITE, MPI_INFO_NULL, ncid);
    if (strcmp(c->verb, "define") == 0)
        return define_var(c, *ncid);
    if (strcmp(c->verb, "put") == 0 || strcmp(c->verb, "get") == 0)
        return access_record(c, *ncid, c->verb[0] == 'p');
    if (strcmp(c->verb, "sync") == 0)
        return ncmpi_sync(*ncid);
    if (strcmp(c->verb, "close") == 0)
        return ncmpi_close(*ncid);
    if (strcmp(c->verb, "abort") == 0)
        return ncmpi_abort(*ncid);
    if (strcmp(c->verb, "exec") == 0)
        return start_sleep(c);
    if (strcmp(c->verb, "fail") == 0) {
        fails_at = atoi(c->text);
        return NC_NOERR;
    }
    if (strcmp(c->verb, "kill") == 0)
        raise(SIGKILL);
    _exit(0);
}

/* The codes of all ranks must be the same. */
static void report(int err)
{
    char message[NC_MAX_MESSAGE] = "";
    int least, most, code;

    MPI_Allreduce(&err, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&err, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank != 0)
        return;
    ncmpi_inq_last_error(NC_GLOBAL, &code, message);
    if (least != most)
        printf("codes from %s to %s\n", ncmpi_strerrno(least), ncmpi_strerrno(most));
    else
        printf("%s %s\n", ncmpi_strerrno(err), err == NC_NOERR ? "" : message);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    char line[4096];
    command c;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    for (;;) {
        memset(&c, 0, sizeof c);
        if (rank == 0 && fgets(line, sizeof line, stdin) != NULL)
            sscanf(line, "%d %19s %2999s %19s %19s", &c.handle, c.verb, c.text, c.more[0], c.more[1]);
        MPI_Bcast(&c, sizeof c, MPI_BYTE, 0, MPI_COMM_WORLD);
        if (c.verb[0] == '\0' || c.handle < 0 || c.handle >= HANDLES)
            break;
        report(execute(&c));
    }
    MPI_Finalize();
    return 0;
}
