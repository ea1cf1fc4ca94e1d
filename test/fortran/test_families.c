/* Every nfmpi_ function of the data families: what it puts into a file is what C reads at the places that C gives, and
 * it gets what C has written. Each works on a variable of its own, named after it, of 4 rows per rank and 6 columns. */
#include "../harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pnetcdf.h"

#define NX 6
#define ROWS 4

/* calls.f90.m4; the path is filled with blanks. */
void f77_call_puts(const char path[4096]);
void f77_call_gets(const char path[4096]);
void f77_report(const char *name, int good);

typedef struct member {
    const char *name, *operation, *shape;
    nc_type type;
} member;

static const member members[] = {
#define F77_MEMBER(name, operation, shape, type) {name, operation, shape, type},
#include "test/fortran/members.h"
};
#define MEMBERS (int)(sizeof members / sizeof members[0])

void f77_report(const char *name, int good)
{
    t_local(good, "%s", name);
}

static bool is_put(const member *m)
{
    return strstr(m->operation, "put") != NULL;
}

/* The value of a variable at a place, all counted from 0; printable as a character. */
static int value_at(int varid, int y, int x)
{
    return (7 * x + 13 * y + 3 * varid) % 90 + 33;
}

/* Whether an access of this shape reaches the place. */
static bool reached(const char *shape, int y, int x)
{
    int row = y % ROWS;

    switch (shape[0]) {
    case '1': return row == 2 && x == 1;
    case 'a': return (row == 1 || row == 2) && x >= 1 && x <= 3;
    case 's':
    case 'm': return row % 2 == 0 && x % 2 == 0;
    case 'n': return (row == 0 && x < 2) || (row >= 2 && x >= 3);
    default: return true;
    }
}

static double fill_of(nc_type type)
{
    switch (type) {
    case NC_BYTE: return NC_FILL_BYTE;
    case NC_CHAR: return NC_FILL_CHAR;
    case NC_SHORT: return NC_FILL_SHORT;
    case NC_INT: return NC_FILL_INT;
    case NC_FLOAT: return NC_FILL_FLOAT;
    case NC_DOUBLE: return NC_FILL_DOUBLE;
    default: return (double)NC_FILL_INT64;
    }
}

static void read_variable(int ncid, int varid, nc_type type, double *values, size_t n)
{
    char *text = malloc(n);

    if (type == NC_CHAR) {
        t_local(ncmpi_get_var_text_all(ncid, varid, text) == NC_NOERR, "read text");
        for (size_t i = 0; i < n; i++)
            values[i] = text[i];
    } else {
        t_local(ncmpi_get_var_double_all(ncid, varid, values) == NC_NOERR, "read numbers");
    }
    free(text);
}

static void write_variable(int ncid, int varid, nc_type type, size_t n)
{
    int *values = malloc(n * sizeof *values);
    char *text = malloc(n);

    for (size_t i = 0; i < n; i++)
        text[i] = (char)(values[i] = value_at(varid, (int)i / NX, (int)i % NX));
    t_local((type == NC_CHAR ? ncmpi_put_var_text_all(ncid, varid, text)
                             : ncmpi_put_var_int_all(ncid, varid, values)) == NC_NOERR,
            "write");
    free(values);
    free(text);
}

/* A file with the variables of all puts, or of all gets. */
static void make(const char *path, bool for_puts)
{
    int ncid, dims[2], varid, old;

    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &ncid) == NC_NOERR, "create");
    t_local(ncmpi_set_fill(ncid, NC_FILL, &old) == NC_NOERR, "set_fill");
    ncmpi_def_dim(ncid, "y", (MPI_Offset)ROWS * t_nprocs, &dims[0]);
    ncmpi_def_dim(ncid, "x", NX, &dims[1]);
    for (int i = 0; i < MEMBERS; i++)
        if (is_put(&members[i]) == for_puts)
            t_local(ncmpi_def_var(ncid, members[i].name, members[i].type, 2, dims, &varid) == NC_NOERR, "def_var");
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    varid = 0;
    for (int i = 0; i < MEMBERS && !for_puts; i++)
        if (!is_put(&members[i]))
            write_variable(ncid, varid++, members[i].type, (size_t)NX * ROWS * (size_t)t_nprocs);
    t_check(ncmpi_close(ncid) == NC_NOERR, "make a file for %s", for_puts ? "puts" : "gets");
}

static void check_puts(const char *path)
{
    size_t n = (size_t)NX * ROWS * (size_t)t_nprocs;
    double *values = malloc(n * sizeof *values);
    int ncid, varid = 0;

    t_local(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid) == NC_NOERR, "open");
    for (int i = 0; i < MEMBERS; i++) {
        const member *m = &members[i];

        if (!is_put(m))
            continue;
        read_variable(ncid, varid, m->type, values, n);
        for (size_t k = 0; k < n; k++) {
            int y = (int)k / NX, x = (int)k % NX;
            double expected = reached(m->shape, y, x) ? value_at(varid, y, x) : fill_of(m->type);

            if (!t_local(values[k] == expected, "nfmpi_%s: at row %d, column %d stands %g, not %g", m->name, y, x,
                         values[k], expected))
                break;
        }
        t_check(true, "nfmpi_%s puts its values to their places, and only there", m->name);
        varid++;
    }
    t_check(ncmpi_close(ncid) == NC_NOERR, "close");
    free(values);
}

int main(int argc, char **argv)
{
    char path[4097];

    t_start(&argc, &argv);
    make(t_path("f77_puts.nc"), true);
    snprintf(path, sizeof path, "%-4096s", t_path("f77_puts.nc"));
    f77_call_puts(path);
    t_check(true, "all nfmpi_ functions that put return NF_NOERR");
    check_puts(t_path("f77_puts.nc"));
    make(t_path("f77_gets.nc"), false);
    snprintf(path, sizeof path, "%-4096s", t_path("f77_gets.nc"));
    f77_call_gets(path);
    t_check(true, "all nfmpi_ functions that get return NF_NOERR and the values of their places");
    return t_finish();
}
