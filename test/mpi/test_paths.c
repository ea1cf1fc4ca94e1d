/* Paths with colons: only a prefix of ROMIO in lower case, at the front, is no part of the name. Every function that
 * takes a path takes it for the same file, which is looked for here by the system, and no other file appears. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../expect.h"

enum { NX = 30 };

static char home[4096], room[4096];

static const struct {
    const char *path, *file;
} rows[] = {{"a:b.nc", "a:b.nc"},
            {":.nc", ":.nc"},
            {"dir:x/file.nc", "dir:x/file.nc"},
            {"./dir:x/c:d:e.nc", "dir:x/c:d:e.nc"},
            {"UFS:x.nc", "UFS:x.nc"},
            {"Nfs:x.nc", "Nfs:x.nc"},
            {"ufs :x.nc", "ufs :x.nc"},
            {"ufsx:x.nc", "ufsx:x.nc"},
            {"ftp:x.nc", "ftp:x.nc"},
            {"./ufs:x.nc", "ufs:x.nc"},
            {"dir:x/ufs:x.nc", "dir:x/ufs:x.nc"},
            {"ufs:x.nc", "x.nc"},
            {"nfs:x.nc", "x.nc"},
            {"ufs:ufs:x.nc", "ufs:x.nc"},
            {"ufs:dir:x/a:b.nc", "dir:x/a:b.nc"}};

static bool exists(const char *file)
{
    struct stat facts;

    return stat(file, &facts) == 0 && S_ISREG(facts.st_mode);
}

static int count_in(const char *folder)
{
    DIR *open = opendir(folder);
    int n = 0;

    if (open == NULL)
        return -1;
    for (struct dirent *entry = readdir(open); entry != NULL; entry = readdir(open))
        n += entry->d_type == DT_REG;
    closedir(open);
    return n;
}

static bool is_only_file(const char *file)
{
    bool found = exists(file) && count_in(".") + count_in("dir:x") == 1;

    MPI_Barrier(MPI_COMM_WORLD);
    return t_local(found, "%s: %d files here, %d in dir:x", file, count_in("."), count_in("dir:x"));
}

static bool has_no_file(void)
{
    bool none = count_in(".") + count_in("dir:x") == 0;

    MPI_Barrier(MPI_COMM_WORLD);
    return t_local(none, "%d files here, %d in dir:x", count_in("."), count_in("dir:x"));
}

static int transfer(int ncid, bool puts)
{
    MPI_Offset start = t_rank, count = NX, stride = t_nprocs;
    int values[NX], wrong = 0, err;

    for (int i = 0; i < NX; i++)
        values[i] = puts ? 100 * t_rank + i : -1;
    if (puts)
        return ncmpi_put_vars_int_all(ncid, 0, &start, &count, &stride, values);
    err = ncmpi_get_vars_int_all(ncid, 0, &start, &count, &stride, values);
    for (int i = 0; i < NX; i++)
        wrong += values[i] != 100 * t_rank + i;
    return err == NC_NOERR && !t_local(wrong == 0, "%d values are wrong", wrong) ? NC_EREAD : err;
}

static void test_path(const char *path, const char *file, MPI_Info info)
{
    int ncid, dim, varid, format = 0, length = 0, err;
    char found[4096] = "", text[6000];

    memset(text, 'g', sizeof text);
    expect_ok(ncmpi_create(MPI_COMM_WORLD, path, NC_NOCLOBBER, info, &ncid), path);
    t_check(is_only_file(file), "%s: create makes %s", path, file);
    t_check(ncmpi_inq_path(ncid, &length, found) == NC_NOERR && strcmp(found, path) == 0, "inq_path: %s", found);
    ncmpi_def_dim(ncid, "x", NX * t_nprocs, &dim);
    ncmpi_def_var(ncid, "v", NC_INT, 1, &dim, &varid);
    err = ncmpi_enddef(ncid);
    expect_ok(err == NC_NOERR ? transfer(ncid, true) : err, "put");
    expect_ok(ncmpi_close(ncid), "close");
    expect_code(ncmpi_create(MPI_COMM_WORLD, path, NC_NOCLOBBER, info, &ncid), NC_EEXIST, "create once more");
    t_check(ncmpi_inq_file_format(path, &format) == NC_NOERR &&
                format == (t_classic() ? NC_FORMAT_CLASSIC : NC_FORMAT_NETCDF4_CLASSIC),
            "inq_file_format");
    expect_ok(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, info, &ncid), "open");
    ncmpi_redef(ncid);
    ncmpi_put_att_text(ncid, NC_GLOBAL, "long", sizeof text, text);
    expect_ok(ncmpi_enddef(ncid), "a header that grows");
    expect_ok(transfer(ncid, false), "get");
    expect_ok(ncmpi_close(ncid), "close");
    t_check(is_only_file(file), "%s: open opens %s", path, file);
    err = t_rank == 0 ? ncmpi_delete(path, info) : NC_NOERR;
    MPI_Barrier(MPI_COMM_WORLD);
    t_check(t_local(err == NC_NOERR, "%s", ncmpi_strerrno(err)) && has_no_file(), "delete");
    expect_code(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, info, &ncid), NC_ENOENT, "open a missing file");
    expect_ok(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, info, &ncid), "create");
    expect_ok(ncmpi_abort(ncid), "abort");
    t_check(has_no_file(), "abort deletes it");
}

/* A file that has the name without what looks like a prefix stays as it is. */
static void test_neighbour(void)
{
    int ncid;

    if (t_rank == 0) {
        FILE *file = fopen("x.nc", "w");

        t_local(file != NULL && fputs("another program's", file) > 0 && fclose(file) == 0, "write x.nc");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    expect_code(ncmpi_open(MPI_COMM_WORLD, "UFS:x.nc", NC_NOWRITE, MPI_INFO_NULL, &ncid), NC_ENOENT, "open UFS:x.nc");
    t_check(t_rank != 0 || ncmpi_delete("UFS:x.nc", MPI_INFO_NULL) == NC_ENOENT, "delete UFS:x.nc");
    expect_ok(ncmpi_create(MPI_COMM_WORLD, "UFS:x.nc", NC_CLOBBER, MPI_INFO_NULL, &ncid), "create UFS:x.nc");
    expect_ok(ncmpi_abort(ncid), "abort");
    t_check(is_only_file("x.nc"), "x.nc is there");
    t_local(t_rank != 0 || unlink("x.nc") == 0, "unlink");
    MPI_Barrier(MPI_COMM_WORLD);
}

/* MPI-IO would leave a handle that cannot be closed, or accept it. Open MPI 4.1 aborts the program in MPI_File_open if
 * a path has more than about 250 bytes. */
#ifdef OMPI_MAJOR_VERSION
#define LONGEST 4095
#else
#define LONGEST 4094
#endif
static void test_length(void)
{
    char *longest = calloc(1, 5000);
    int ncid;

    for (size_t bytes = LONGEST; bytes <= 4097; bytes++) {
        memset(longest, '/', bytes);
        memcpy(longest, "./", 2);
        memcpy(longest + bytes - 4, "x.nc", 4);
        longest[bytes] = '\0';
        if (bytes < 4095) {
            expect_ok(ncmpi_create(MPI_COMM_WORLD, longest, NC_CLOBBER, MPI_INFO_NULL, &ncid), "a path of 4094 bytes");
            expect_ok(ncmpi_close(ncid), "close");
        } else {
            expect_code(ncmpi_create(MPI_COMM_WORLD, longest, NC_CLOBBER, MPI_INFO_NULL, &ncid), NC_EBAD_FILE,
                        "create: a longer path");
            expect_code(ncmpi_open(MPI_COMM_WORLD, longest, NC_NOWRITE, MPI_INFO_NULL, &ncid), NC_EBAD_FILE,
                        "open: a longer path");
        }
    }
    free(longest);
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == 0)
        unlink("x.nc");
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    char absolute[8500];
    MPI_Info info;

    t_start(&argc, &argv);
    snprintf(room, sizeof room, "%s", t_path("paths"));
    if (t_rank == 0)
        t_local(mkdir(room, 0777) == 0, "mkdir");
    MPI_Barrier(MPI_COMM_WORLD);
    t_local(getcwd(home, sizeof home) != NULL && chdir(room) == 0, "chdir");
    if (t_rank == 0)
        t_local(mkdir("dir:x", 0777) == 0, "mkdir");
    MPI_Barrier(MPI_COMM_WORLD);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        test_path(rows[i].path, rows[i].file, MPI_INFO_NULL);
    t_local(getcwd(room, sizeof room) != NULL, "getcwd");
    snprintf(absolute, sizeof absolute, "%s/dir:x/a:b.nc", room);
    test_path(absolute, absolute, MPI_INFO_NULL);
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_strategy", "mpi_io");
    test_path("a:b.nc", "a:b.nc", info);
    MPI_Info_free(&info);
    test_neighbour();
    test_length();
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == 0)
        t_local(rmdir("dir:x") == 0 && chdir(home) == 0 && rmdir(room) == 0, "rmdir");
    return t_finish();
}
