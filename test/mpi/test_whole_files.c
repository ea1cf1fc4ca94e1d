/* The hint nc_whole_files: a new file has its name when it is complete, and not before. Until ncmpi_close a file of
 * that name is unchanged, or there is none.
 *
 * test_whole_files PATH ends the last rank by SIGKILL before ncmpi_close, for test/tools/test_whole_files_death.py. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../expect.h"

static char folder[4000], path[4096];

/* Of files in the folder; *part is the name of one that is not complete. */
static int count_files(char *part)
{
    DIR *d = opendir(folder);
    int n = 0;

    part[0] = '\0';
    if (d == NULL)
        return -1;
    for (const struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
        n += e->d_name[0] != '.';
        if (strstr(e->d_name, ".part-") != NULL)
            snprintf(part, 4400, "%s/%.300s", folder, e->d_name);
    }
    closedir(d);
    return n;
}

static void expect_files(int wanted, bool incomplete, const char *when)
{
    char part[4400];
    int n;

    MPI_Barrier(MPI_COMM_WORLD);
    n = count_files(part);
    t_check(n == wanted && (part[0] != '\0') == incomplete, "%s: %d files, %s", when, n,
            incomplete ? "one is not complete" : "all are complete");
    MPI_Barrier(MPI_COMM_WORLD);
}

static int create(const char *name, int mode, int *ncid)
{
    MPI_Info info;
    int err;

    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_whole_files", "enable");
    err = ncmpi_create(MPI_COMM_WORLD, name, mode, info, ncid);
    MPI_Info_free(&info);
    return err;
}

/* Each rank has the value `base` + its rank. */
static void write_values(int ncid, int base)
{
    int dim, id, value = base + t_rank;
    MPI_Offset start[] = {0, t_rank}, count[] = {1, 1};

    t_local(ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &id) == NC_NOERR, "def_dim");
    t_local(ncmpi_def_dim(ncid, "x", t_nprocs, &dim) == NC_NOERR, "def_dim");
    t_local(ncmpi_def_var(ncid, "v", NC_INT, 2, (int[]){id, dim}, &id) == NC_NOERR, "def_var");
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    t_local(ncmpi_put_vara_int_all(ncid, id, start, count, &value) == NC_NOERR, "put");
}

static void expect_values(const char *name, int base, const char *when)
{
    int ncid, got = -1, err;
    MPI_Offset start[] = {0, t_rank};

    err = ncmpi_open(MPI_COMM_WORLD, name, NC_NOWRITE, MPI_INFO_NULL, &ncid);
    if (err == NC_NOERR) {
        err = ncmpi_get_var1_int_all(ncid, 0, start, &got);
        t_local(ncmpi_close(ncid) == NC_NOERR, "close");
    }
    t_check(err == NC_NOERR && got == base + t_rank, "%s: %s, value %d", when, ncmpi_strerrno(err), got);
}

/* --- the cases --- */

static void test_new(const char *prefix)
{
    char name[4200], got[4200] = "";
    int ncid, other, n;

    snprintf(name, sizeof name, "%s%s", prefix, path);
    expect_ok(create(name, NC_CLOBBER, &ncid), "create");
    write_values(ncid, 10);
    expect_files(1, true, "a new file before close");
    expect_code(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &other), NC_ENOENT, "open before close");
    t_check(ncmpi_inq_path(ncid, &n, got) == NC_NOERR && strcmp(got, name) == 0, "inq_path: %s", got);
    expect_ok(ncmpi_close(ncid), "close");
    expect_files(1, false, "a new file after close");
    expect_values(path, 10, "a new file");
}

static void test_replacement(void)
{
    struct stat facts;
    int ncid;

    t_local(t_rank != 0 || chmod(path, 06640) == 0, "chmod");
    MPI_Barrier(MPI_COMM_WORLD);
    expect_ok(create(path, NC_CLOBBER | NC_64BIT_DATA, &ncid), "create a file that exists");
    write_values(ncid, 20);
    expect_files(2, true, "a replacement before close");
    expect_values(path, 10, "the old file before close");
    expect_ok(ncmpi_redef(ncid), "redef");
    expect_ok(ncmpi_put_att_text(ncid, NC_GLOBAL, "a", 1, "b"), "put_att");
    expect_ok(ncmpi_close(ncid), "close in define mode");
    expect_files(1, false, "a replacement after close");
    expect_values(path, 20, "the new file");
    t_check(stat(path, &facts) == 0 && (facts.st_mode & 07777) == 0640, "its permissions are %o",
            (unsigned)facts.st_mode & 07777);
}

static void test_abort(void)
{
    int ncid;

    expect_ok(create(path, NC_CLOBBER, &ncid), "create");
    expect_ok(ncmpi_abort(ncid), "abort in define mode");
    expect_files(1, false, "after abort in define mode");
    expect_ok(create(path, NC_CLOBBER, &ncid), "create");
    write_values(ncid, 30);
    expect_ok(ncmpi_abort(ncid), "abort in data mode");
    expect_files(1, false, "after abort in data mode");
    expect_values(path, 20, "the old file after abort");
}

static bool fails; /* writes of this rank */

int MPI_File_write_at(MPI_File file, MPI_Offset offset, const void *buf, int n, MPI_Datatype type, MPI_Status *status)
{
    return fails ? MPI_ERR_NO_SPACE : PMPI_File_write_at(file, offset, buf, n, type, status);
}

/* A file without data that the program has put does not replace one. */
static void test_incomplete(bool is_pending)
{
    MPI_Offset start[] = {0, t_rank}, count[] = {1, 1};
    int ncid, value = 50, id, err;
    char part[4400];

    expect_ok(create(path, NC_CLOBBER, &ncid), "create");
    write_values(ncid, 50);
    if (is_pending) {
        expect_ok(ncmpi_iput_vara_int(ncid, 0, start, count, &value, &id), "iput");
        expect_code(ncmpi_close(ncid), NC_EPENDING, "close with a pending put");
    } else {
        fails = true;
        err = ncmpi_put_vara_int_all(ncid, 0, start, count, &value);
        fails = false;
        t_check(err != NC_NOERR, "a put on a full disk: %s", ncmpi_strerrno(err));
        expect_code(ncmpi_close(ncid), err, "close after a put that failed");
    }
    expect_files(2, true, "a file that is not complete");
    expect_values(path, 20, "the old file");
    count_files(part);
    MPI_Barrier(MPI_COMM_WORLD);
    t_local(t_rank != 0 || unlink(part) == 0, "unlink");
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Another program makes a file, or a folder, of that name meanwhile: it stays, and so does the new file. */
static void test_obstacle(bool is_folder)
{
    char other[4200], part[4400];
    int ncid, fd;

    expect_code(create(path, NC_NOCLOBBER, &ncid), NC_EEXIST, "create with NC_NOCLOBBER");
    snprintf(other, sizeof other, "%s.other", path);
    expect_ok(create(other, is_folder ? NC_CLOBBER : NC_NOCLOBBER, &ncid), "create");
    write_values(ncid, 40);
    if (t_rank == 0 && is_folder) {
        t_local(mkdir(other, 0777) == 0, "mkdir");
    } else if (t_rank == 0) {
        fd = open(other, O_CREAT | O_EXCL | O_WRONLY, 0666);
        t_local(fd >= 0 && write(fd, "own", 3) == 3 && close(fd) == 0, "write another file");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    expect_code(ncmpi_close(ncid), is_folder ? NC_EFILE : NC_EEXIST, "close, the name is taken");
    expect_files(3, true, "the name is taken");
    count_files(part);
    expect_values(part, 40, "the file that was not renamed");
    if (t_rank == 0) {
        struct stat facts;

        t_local(stat(other, &facts) == 0 && (is_folder || facts.st_size == 3), "the other file has changed");
        t_local(unlink(part) == 0 && remove(other) == 0, "remove");
    }
    expect_files(1, false, "at the end");
}

static void test_link(void)
{
    char link[4200];
    int ncid;

    snprintf(link, sizeof link, "%s.link", path);
    t_local(t_rank != 0 || symlink(path, link) == 0, "symlink");
    MPI_Barrier(MPI_COMM_WORLD);
    expect_code(create(link, NC_CLOBBER, &ncid), NC_EBAD_FILE, "create at a symbolic link");
    MPI_Barrier(MPI_COMM_WORLD);
    t_local(t_rank != 0 || unlink(link) == 0, "unlink");
    expect_files(1, false, "at the end");
}

static int die(const char *name)
{
    int ncid, err = create(name, NC_CLOBBER, &ncid);

    if (err != NC_NOERR)
        return 1;
    write_values(ncid, 50);
    if (ncmpi_sync(ncid) != NC_NOERR)
        return 1;
    if (t_rank == t_nprocs - 1)
        raise(SIGKILL);
    ncmpi_close(ncid);
    return 0;
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    if (argc > 1)
        return die(argv[1]);
    snprintf(folder, sizeof folder, "%s", t_path("whole"));
    snprintf(path, sizeof path, "%s/whole.nc", folder);
    t_local(t_rank != 0 || mkdir(folder, 0777) == 0, "mkdir");
    MPI_Barrier(MPI_COMM_WORLD);
    test_new("");
    t_local(t_rank != 0 || unlink(path) == 0, "unlink");
    MPI_Barrier(MPI_COMM_WORLD);
    test_new("ufs:");
    test_replacement();
    test_abort();
    test_incomplete(true);
    if (t_classic()) /* values of chunks wait in memory: the put does not write them */
        test_incomplete(false);
    test_obstacle(false);
    test_obstacle(true);
    test_link();
    if (t_rank == 0)
        t_local(unlink(path) == 0 && rmdir(folder) == 0, "remove");
    return t_finish();
}
