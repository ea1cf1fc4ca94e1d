/* Prints all of a file as our library reads it, in a form that test_interop.py compares exactly: names in hexadecimal,
 * text as byte codes, floating point as hex floats. All ranks read, the last one prints.
 *
 * dump_raw FILE */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../naive.h"

static int rank, nprocs;

static void must(int code, const char *what)
{
    if (code == NC_NOERR)
        return;
    fprintf(stderr, "dump_raw: rank %d: %s: %s\n", rank, what, ncmpi_strerror(code));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void print_name(const char *name)
{
    for (const unsigned char *p = (const unsigned char *)name; *p != '\0'; p++)
        printf("%02x", *p);
}

static void print_values(int type, const char *values, MPI_Offset n)
{
    enum memory memory = memory_of_type[type];
    for (MPI_Offset i = 0; i < n; i++) {
        const char *at = values + (size_t)i * memory_types[memory].size;
        wide v = naive_load(memory, at);
        if (kind_of_type[type].kind == K_FLOAT || kind_of_type[type].kind == K_DOUBLE)
            printf(" %a", (double)v);
        else if (v < 0)
            printf(" %lld", (long long)v);
        else
            printf(" %llu", (unsigned long long)v);
    }
    printf("\n");
}

static void dump_attributes(int ncid, int varid, int natts)
{
    for (int i = 0; i < natts; i++) {
        char name[NC_MAX_NAME * 4 + 1];
        nc_type type;
        MPI_Offset n;
        must(ncmpi_inq_attname(ncid, varid, i, name), "inq_attname");
        must(ncmpi_inq_att(ncid, varid, name, &type, &n), "inq_att");
        char *values = malloc((size_t)n * 8 + 1);
        must(ncmpi_get_att(ncid, varid, name, values), "get_att");
        if (rank == nprocs - 1) {
            printf("att %d ", varid);
            print_name(name);
            printf(" %s", type_names[type]);
            print_values(type, values, n);
        }
        free(values);
    }
}

static void dump_variable(int ncid, int varid)
{
    char name[NC_MAX_NAME * 4 + 1];
    nc_type type;
    int ndims, natts;
    must(ncmpi_inq_varndims(ncid, varid, &ndims), "inq_varndims");
    int *dims = malloc(((size_t)ndims + 1) * sizeof *dims);
    MPI_Offset n = 1, length;
    must(ncmpi_inq_var(ncid, varid, name, &type, &ndims, dims, &natts), "inq_var");
    for (int i = 0; i < ndims; i++) {
        must(ncmpi_inq_dimlen(ncid, dims[i], &length), "inq_dimlen");
        n *= length;
    }
    char *values = malloc((size_t)n * 8 + 1);
    struct call c = {.collective = true, .shape = VAR, .memory = memory_of_type[type], .buffer = values};
    must(call_run(ncid, varid, &c), name);
    if (rank == nprocs - 1) {
        printf("var ");
        print_name(name);
        printf(" %s", type_names[type]);
        for (int i = 0; i < ndims; i++)
            printf(" %d", dims[i]);
        printf("\ndata");
        print_values(type, values, n);
    }
    free(values);
    free(dims);
    dump_attributes(ncid, varid, natts);
}

int main(int argc, char **argv)
{
    int ncid, format, ndims, nvars, natts, unlimited;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    must(argc == 2 ? NC_NOERR : NC_EINVAL, "usage: dump_raw FILE");
    must(ncmpi_open(MPI_COMM_WORLD, argv[1], NC_NOWRITE, MPI_INFO_NULL, &ncid), argv[1]);
    must(ncmpi_inq_format(ncid, &format), "inq_format");
    must(ncmpi_inq(ncid, &ndims, &nvars, &natts, &unlimited), "inq");
    if (rank == nprocs - 1)
        printf("format %d\n", format);
    for (int i = 0; i < ndims; i++) {
        char name[NC_MAX_NAME * 4 + 1];
        MPI_Offset length;
        must(ncmpi_inq_dim(ncid, i, name, &length), "inq_dim");
        if (rank == nprocs - 1) {
            printf("dim ");
            print_name(name);
            printf(" %lld %d\n", (long long)length, i == unlimited);
        }
    }
    dump_attributes(ncid, NC_GLOBAL, natts);
    for (int i = 0; i < nvars; i++)
        dump_variable(ncid, i);
    must(ncmpi_close(ncid), "close");
    return MPI_Finalize();
}
