/* Defines groups, for test_netcdf4_groups.py.
 *
 * netcdf4_groups put FILE: creates a file with groups, changes it in define mode, and puts values of all ranks.
 * netcdf4_groups append FILE: adds to a file with the group "forecast", its dimension "x" and its variable "tas".
 * netcdf4_groups rename FILE: exchanges the names of "forecast" and "late" of such a file, makes "high" "upper", and
 * adds "newer".
 * netcdf4_groups list FILE: prints groups, dimensions, variables and global attributes.
 * netcdf4_groups refuse FILE: calls that fail. A code that is not expected is printed as a line "wrong ..". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pnetcdf.h"

#include "netcdf4_expect.h"

enum { LENGTH = 12 };

static int nprocs;

/* Values of a variable over a dimension of LENGTH elements, each rank its part. */
static void put_part(const char *name, int factor)
{
    MPI_Offset start[2] = {0, rank * LENGTH / nprocs}, count[2] = {1, (rank + 1) * LENGTH / nprocs - start[1]};
    int values[LENGTH], varid, ndims;

    for (int i = 0; i < LENGTH; i++)
        values[i] = factor * (int)(start[1] + i);
    OK(ncmpi_inq_varid(ncid, name, &varid));
    OK(ncmpi_inq_varndims(ncid, varid, &ndims));
    OK(ncmpi_put_vara_int_all(ncid, varid, start + (2 - ndims), count + (2 - ndims), values));
}

static void put_groups(const char *path)
{
    const char *models[] = {"one", "two"};
    int x, time, level, dims[2], varid;

    OK(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_NETCDF4, MPI_INFO_NULL, &ncid));
    OK(ncmpi_def_dim(ncid, "x", LENGTH, &x));
    OK(ncmpi_def_grp(ncid, "forecast"));
    OK(ncmpi_def_dim(ncid, "/forecast/time", NC_UNLIMITED, &time));
    dims[0] = time, dims[1] = x;
    OK(ncmpi_def_var(ncid, "/forecast/tas", NC_INT, 2, dims, &varid));
    OK(ncmpi_def_var_deflate(ncid, varid, 1, 1, 1));
    OK(ncmpi_put_att_text(ncid, varid, "units", 1, "K"));
    OK(ncmpi_def_var(ncid, "tas", NC_INT, 1, &x, &varid));
    OK(ncmpi_def_grp(ncid, "/forecast/high"));
    OK(ncmpi_def_dim(ncid, "forecast/high/level", LENGTH, &level));
    OK(ncmpi_def_var(ncid, "forecast/high/level", NC_INT, 1, &level, &varid));
    OK(ncmpi_def_var(ncid, "forecast/high/x", NC_INT, 1, &level, &varid));
    OK(ncmpi_def_grp(ncid, "empty"));
    OK(ncmpi_put_att_text(ncid, NC_GLOBAL, "title", 4, "root"));
    OK(ncmpi_put_att_text(ncid, NC_GLOBAL, "/forecast/title", 8, "forecast"));
    OK(ncmpi_put_att_string(ncid, NC_GLOBAL, "/forecast/models", 2, models));
    OK(ncmpi_put_att_text(ncid, NC_GLOBAL, "/forecast/high/title", 4, "high"));
    OK(ncmpi_enddef(ncid));
    put_part("/forecast/tas", 1);
    put_part("tas", 2);
    put_part("forecast/high/level", 3);
    OK(ncmpi_redef(ncid));
    OK(ncmpi_inq_dimid(ncid, "/forecast/time", &time));
    OK(ncmpi_def_grp(ncid, "late"));
    OK(ncmpi_def_dim(ncid, "late/x", LENGTH, &x));
    OK(ncmpi_def_var(ncid, "late/x", NC_INT, 1, &x, &varid));
    OK(ncmpi_def_var(ncid, "forecast/time", NC_INT, 1, &time, &varid));
    OK(ncmpi_put_att_text(ncid, NC_GLOBAL, "/late/title", 4, "late"));
    OK(ncmpi_put_att_text(ncid, NC_GLOBAL, "/forecast/title", 3, "new"));
    OK(ncmpi_inq_varid(ncid, "/forecast/high/x", &varid));
    OK(ncmpi_rename_var(ncid, varid, "extra"));
    OK(ncmpi_enddef(ncid));
    put_part("/late/x", 4);
    put_part("/forecast/high/extra", 5);
    OK(ncmpi_put_att_text(ncid, NC_GLOBAL, "/late/title", 3, "end"));
    OK(ncmpi_close(ncid));
}

static void append_groups(const char *path)
{
    int x, varid;
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_groups", "all");
    OK(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, info, &ncid));
    OK(ncmpi_redef(ncid));
    OK(ncmpi_inq_dimid(ncid, "/forecast/x", &x));
    OK(ncmpi_def_var(ncid, "/forecast/added", NC_INT, 1, &x, &varid));
    OK(ncmpi_def_grp(ncid, "/forecast/inner"));
    OK(ncmpi_def_var(ncid, "/forecast/inner/added", NC_INT, 1, &x, &varid));
    OK(ncmpi_def_dim(ncid, "/forecast/inner/y", LENGTH, &x));
    OK(ncmpi_def_var(ncid, "/forecast/inner/y", NC_INT, 1, &x, &varid));
    OK(ncmpi_put_att_text(ncid, NC_GLOBAL, "/forecast/inner/title", 5, "inner"));
    OK(ncmpi_put_att_text(ncid, NC_GLOBAL, "/forecast/title", 7, "changed"));
    OK(ncmpi_put_att_text(ncid, NC_GLOBAL, "history", 5, "added"));
    OK(ncmpi_enddef(ncid));
    put_part("/forecast/added", 1);
    put_part("/forecast/inner/added", 2);
    put_part("/forecast/inner/y", 3);
    put_part("/forecast/tas", 4);
    OK(ncmpi_close(ncid));
    OK(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid)); /* groups are not listed */
    OK(ncmpi_redef(ncid));
    expect(ncmpi_def_grp(ncid, "more"), NC_ENOTSUPPORT, "def_grp of a file whose groups are not listed");
    expect(ncmpi_def_dim(ncid, "more", 1, &x), NC_ENOTSUPPORT, "def_dim of a file whose groups are not listed");
    OK(ncmpi_put_att_text(ncid, NC_GLOBAL, "history", 7, "changed"));
    OK(ncmpi_close(ncid));
    MPI_Info_free(&info);
}

static int find_group(const char *path)
{
    char name[NC_MAX_NAME + 1] = "";
    int n = 0, i = 0;

    OK(ncmpi_inq_ngrps(ncid, &n));
    while (i < n && ncmpi_inq_grpname(ncid, i, name) == NC_NOERR && strcmp(name, path) != 0)
        i++;
    return i;
}

static void rename_groups(const char *path)
{
    int x, varid, forecast, late;
    char name[NC_MAX_NAME + 1];
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_groups", "all");
    OK(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, info, &ncid));
    MPI_Info_free(&info);
    forecast = find_group("forecast");
    late = find_group("late");
    expect(ncmpi_rename_grp(ncid, late, "x"), NC_ENOTINDEFINE, "rename_grp in data mode");
    OK(ncmpi_redef(ncid));
    expect(ncmpi_rename_grp(ncid, late, "forecast"), NC_ENAMEINUSE, "the name of another group");
    expect(ncmpi_rename_grp(ncid, late, "late"), NC_ENAMEINUSE, "its own name");
    expect(ncmpi_rename_grp(ncid, late, "tas"), NC_ENAMEINUSE, "the name of a variable");
    expect(ncmpi_rename_grp(ncid, late, "a/b"), NC_EBADNAME, "a path");
    expect(ncmpi_rename_grp(ncid, late, NULL), NC_EBADNAME, "no name");
    expect(ncmpi_rename_grp(ncid, -1, "a"), NC_ENOGRP, "no group");
    OK(ncmpi_rename_grp(ncid, forecast, "aside"));
    OK(ncmpi_rename_grp(ncid, late, "forecast"));
    OK(ncmpi_rename_grp(ncid, forecast, "late"));
    OK(ncmpi_rename_grp(ncid, find_group("late/high"), "upper"));
    OK(ncmpi_inq_varid(ncid, "/late/upper/extra", &varid));
    OK(ncmpi_inq_varname(ncid, varid, name));
    if (strcmp(name, "late/upper/extra") != 0)
        printf("wrong: the name %s\n", name);
    OK(ncmpi_def_grp(ncid, "new"));
    OK(ncmpi_def_dim(ncid, "new/x", LENGTH, &x));
    OK(ncmpi_def_var(ncid, "new/x", NC_INT, 1, &x, &varid));
    OK(ncmpi_put_att_text(ncid, NC_GLOBAL, "new/title", 3, "new"));
    OK(ncmpi_rename_grp(ncid, find_group("new"), "newer"));
    OK(ncmpi_put_att_text(ncid, NC_GLOBAL, "/forecast/title", 4, "late"));
    OK(ncmpi_enddef(ncid));
    put_part("newer/x", 6);
    put_part("late/upper/level", 7);
    OK(ncmpi_close(ncid));
}

static void list_groups(const char *path)
{
    char name[NC_MAX_NAME + 1];
    int n, ndims, nvars, natts;
    MPI_Offset length;
    MPI_Info info;

    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_groups", "all");
    OK(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, info, &ncid));
    MPI_Info_free(&info);
    OK(ncmpi_inq_ngrps(ncid, &n));
    for (int i = 0; i < n && rank == 0; i++) {
        OK(ncmpi_inq_grpname(ncid, i, name));
        printf("group %s\n", name);
    }
    expect(ncmpi_inq_grpname(ncid, n, name), NC_ENOGRP, "a group that is not there");
    OK(ncmpi_inq(ncid, &ndims, &nvars, &natts, NULL));
    for (int i = 0; i < ndims && rank == 0; i++) {
        OK(ncmpi_inq_dim(ncid, i, name, &length));
        printf("dimension %s %lld\n", name, (long long)length);
    }
    for (int i = 0; i < nvars && rank == 0; i++) {
        OK(ncmpi_inq_varname(ncid, i, name));
        printf("variable %s\n", name);
    }
    for (int i = 0; i < natts && rank == 0; i++) {
        OK(ncmpi_inq_attname(ncid, NC_GLOBAL, i, name));
        printf("attribute %s\n", name);
    }
    OK(ncmpi_close(ncid));
}

static void refuse_classic(const char *path, int mode, int code)
{
    int dimid;

    OK(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | mode, MPI_INFO_NULL, &ncid));
    expect(ncmpi_def_grp(ncid, "g"), code, "def_grp");
    expect(ncmpi_rename_grp(ncid, 0, "g"), code, "rename_grp");
    expect(ncmpi_def_dim(ncid, "/g/x", 2, &dimid), NC_EBADNAME, "def_dim of a path");
    expect(ncmpi_put_att_text(ncid, NC_GLOBAL, "/g/x", 1, "a"), NC_EBADNAME, "put_att of a path");
    OK(ncmpi_close(ncid));
}

static void refuse(const char *path)
{
    int x, y, varid;

    refuse_classic(path, 0, NC_ENOTNC4);
    refuse_classic(path, NC_64BIT_DATA, NC_ENOTNC4);
    refuse_classic(path, NC_NETCDF4 | NC_CLASSIC_MODEL, NC_ESTRICTNC3);
    OK(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_NETCDF4, MPI_INFO_NULL, &ncid));
    expect(ncmpi_def_dim(ncid, "/a/x", 2, &x), NC_ENOGRP, "def_dim in no group");
    expect(ncmpi_def_var(ncid, "/a/x", NC_INT, 0, NULL, &varid), NC_ENOGRP, "def_var in no group");
    expect(ncmpi_def_grp(ncid, "/a/b"), NC_ENOGRP, "def_grp in no group");
    expect(ncmpi_put_att_text(ncid, NC_GLOBAL, "/a/x", 1, "a"), NC_ENOGRP, "put_att of no group");
    OK(ncmpi_def_grp(ncid, "a"));
    OK(ncmpi_def_grp(ncid, "/b"));
    expect(ncmpi_def_grp(ncid, "/a"), NC_ENAMEINUSE, "def_grp twice");
    expect(ncmpi_def_grp(ncid, ""), NC_EBADNAME, "def_grp without a name");
    expect(ncmpi_def_grp(ncid, "/a/"), NC_EBADNAME, "def_grp with a slash at the end");
    expect(ncmpi_def_grp(ncid, "/a/ c"), NC_EBADNAME, "def_grp with a blank in front");
    OK(ncmpi_def_dim(ncid, "/a/x", 2, &x));
    OK(ncmpi_def_dim(ncid, "/b/x", 3, &y));
    expect(ncmpi_def_dim(ncid, "a", 3, &y), NC_ENAMEINUSE, "def_dim with the name of a group");
    expect(ncmpi_def_grp(ncid, "a/x"), NC_ENAMEINUSE, "def_grp with the name of a dimension");
    expect(ncmpi_def_var(ncid, "v", NC_INT, 1, &x, &varid), NC_EBADDIM, "a dimension of a group in the root group");
    expect(ncmpi_def_var(ncid, "b/v", NC_INT, 1, &x, &varid), NC_EBADDIM, "a dimension of another group");
    expect(ncmpi_def_var(ncid, "a/v/w", NC_INT, 1, &x, &varid), NC_ENOGRP, "a path through no group");
    OK(ncmpi_def_var(ncid, "a/v", NC_INT, 1, &x, &varid));
    expect(ncmpi_rename_var(ncid, varid, "b/v"), NC_EBADNAME, "a new name with a path");
    expect(ncmpi_put_att_text(ncid, varid, "/a/x", 1, "a"), NC_EBADNAME, "an attribute of a variable with a path");
    OK(ncmpi_enddef(ncid));
    expect(ncmpi_def_grp(ncid, "late"), NC_ENOTINDEFINE, "def_grp in data mode");
    OK(ncmpi_close(ncid));
    OK(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid));
    expect(ncmpi_def_grp(ncid, "late"), NC_EPERM, "def_grp in a file that is only read");
    OK(ncmpi_close(ncid));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    if (argc == 3 && strcmp(argv[1], "put") == 0)
        put_groups(argv[2]);
    else if (argc == 3 && strcmp(argv[1], "append") == 0)
        append_groups(argv[2]);
    else if (argc == 3 && strcmp(argv[1], "rename") == 0)
        rename_groups(argv[2]);
    else if (argc == 3 && strcmp(argv[1], "list") == 0)
        list_groups(argv[2]);
    else if (argc == 3 && strcmp(argv[1], "refuse") == 0)
        refuse(argv[2]);
    MPI_Finalize();
    return 0;
}
