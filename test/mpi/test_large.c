/* Requests of more than 2 GiB and offsets beyond 4 GiB. The buffer is one page-aligned piece of a small file mapped
 * many times, so a request of 2.2 GiB needs little memory; the variable's file does need its space on disk, so the test
 * runs on one or two ranks only and skips where the disk is short, and in the inner loop. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include "../expect.h"

#define PIECE ((size_t)64 << 20)
#define PIECES 35
#define BYTES ((MPI_Offset)(PIECE * PIECES)) /* 2.19 GiB */

static char path[4096];

/* One piece of memory that shows PIECES times in a row. */
static signed char *map_pattern(void)
{
    int fd = memfd_create("pattern", 0);
    char *all = mmap(NULL, PIECE * PIECES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fd < 0 || ftruncate(fd, PIECE) != 0 || all == MAP_FAILED)
        return NULL;
    for (int i = 0; i < PIECES; i++)
        if (mmap(all + (size_t)i * PIECE, PIECE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
            return NULL;
    close(fd);
    for (size_t i = 0; i < PIECE; i++)
        all[i] = (char)(i * 7 + i / 4093 % 127);
    return (signed char *)all;
}

static signed char pattern_at(MPI_Offset place)
{
    size_t i = (size_t)place % PIECE;
    return (signed char)(i * 7 + i / 4093 % 127);
}

/* Rank 0 writes the whole variable in one request; every rank reads pieces at the ends and around 2^31. */
static void test_one_request(void)
{
    static const MPI_Offset places[] = {0, 65535, (1LL << 31) - 50, (1LL << 31), BYTES - 100};
    signed char *pattern = map_pattern(), got[100];
    MPI_Offset start = 0, count = t_rank == 0 ? BYTES : 0;
    int ncid, dim, id;
    t_check(pattern != NULL, "map the pattern");
    if (pattern == NULL)
        return;
    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &ncid) == NC_NOERR, "create");
    t_local(ncmpi_def_dim(ncid, "x", BYTES, &dim) == NC_NOERR, "def_dim");
    t_local(ncmpi_def_var(ncid, "v", NC_BYTE, 1, &dim, &id) == NC_NOERR && ncmpi_enddef(ncid) == NC_NOERR, "def_var");
    expect_ok(ncmpi_put_vara_schar_all(ncid, id, &start, &count, pattern), "put 2.2 GiB in one request");
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        start = places[k];
        count = sizeof got;
        t_local(ncmpi_get_vara_schar_all(ncid, id, &start, &count, got) == NC_NOERR, "get");
        for (int i = 0; i < (int)sizeof got; i++)
            t_local(got[i] == pattern_at(start + i), "byte %lld is %d, not %d", (long long)start + i, got[i],
                    pattern_at(start + i));
    }
    t_check(true, "its bytes are right at both ends and about 2 GiB");
    memset(pattern, 0, PIECE);
    start = 0;
    count = t_rank == t_nprocs - 1 ? BYTES : 0;
    expect_ok(ncmpi_get_vara_schar_all(ncid, id, &start, &count, pattern), "get 2.2 GiB in one request");
    for (size_t i = 0; i < PIECE && count > 0; i += 509)
        t_local(pattern[i] == pattern_at((MPI_Offset)i), "byte %zu of a piece is %d, not %d", i, pattern[i],
                pattern_at((MPI_Offset)i));
    t_check(true, "all pieces came back the same");
    expect_ok(ncmpi_close(ncid), "close");
    munmap(pattern, PIECE * PIECES);
}

/* Variables that begin beyond 4 GiB in a sparse file. */
static void test_offsets(int cmode, const char *format)
{
    int ncid, dim, fixed, last, got[4], values[4] = {1 + t_rank, -2, 3, 1 << 30};
    MPI_Offset offset = 0, start = (MPI_Offset)((1 << 30) + 4 * t_rank), count = 4;
    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | cmode, MPI_INFO_NULL, &ncid) == NC_NOERR, "create");
    t_local(ncmpi_def_dim(ncid, "x", (1 << 30) + 1000, &dim) == NC_NOERR, "def_dim");
    for (int i = 0; i < 3; i++)
        t_local(ncmpi_def_var(ncid, (char[]){(char)('a' + i), 0}, NC_BYTE, 1, &dim, &fixed) == NC_NOERR, "def_var");
    for (int i = 3; i < 5; i++)
        t_local(ncmpi_def_var(ncid, (char[]){(char)('a' + i), 0}, NC_SHORT, 1, &dim, &fixed) == NC_NOERR, "def_var");
    t_local(ncmpi_def_var(ncid, "last", NC_INT, 1, &dim, &last) == NC_NOERR, "def_var");
    expect_ok(ncmpi_enddef(ncid), "enddef");
    t_check(ncmpi_inq_varoffset(ncid, last, &offset) == NC_NOERR && offset > 1LL << 32,
            "%s: the last variable begins beyond "
            "4 GiB",
            format);
    expect_ok(ncmpi_put_vara_int_all(ncid, last, &start, &count, values), "put beyond 8 GiB");
    expect_ok(ncmpi_close(ncid), "close");
    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid), "open");
    expect_ok(ncmpi_get_vara_int_all(ncid, last, &start, &count, got), "get beyond 8 GiB");
    t_check(memcmp(values, got, sizeof got) == 0, "%s: the values are right", format);
    expect_ok(ncmpi_close(ncid), "close");
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    snprintf(path, sizeof path, "%s", t_path("large.nc"));
    struct statvfs disk;
    bool room = statvfs(t_path("."), &disk) == 0 && disk.f_bavail * disk.f_frsize > (unsigned long long)BYTES * 3 / 2;
    test_offsets(NC_64BIT_OFFSET, "CDF-2");
    test_offsets(NC_64BIT_DATA, "CDF-5");
    if (t_quick() || t_nprocs > 2)
        t_skip("2.2 GiB in one request: only in the full run on one or two ranks");
    else if (!room)
        t_skip("2.2 GiB in one request: less than 3.3 GiB free on disk");
    else
        test_one_request();
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == 0)
        unlink(path);
    return t_finish();
}
