/* Writes a zoo of files for test_interop.py, by all ranks together: every format and type, fixed and record variables,
 * scalars, attributes, fill values, odd names, one packed record variable, files without variables or records.
 *
 * write_zoo FOLDER. The values follow from formulas that test_interop.py has once more in Python. */
#include <float.h>
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../naive.h"

enum { NY = 3, NX = 5, RECORDS = 4 };

static int rank, nprocs;

static void must(int code, const char *what)
{
    if (code == NC_NOERR)
        return;
    fprintf(stderr, "write_zoo: rank %d: %s: %s\n", rank, what, ncmpi_strerror(code));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Element i of a variable or attribute of this type. */
static wide value_of(int type, int i)
{
    struct kind_of kind = kind_of_type[type];
    if (kind.kind == K_CHAR)
        return 'A' + i % 26;
    if (kind.kind == K_INTEGER) {
        switch (i % 4) {
        case 1: return kind.low;
        case 2: return kind.high;
        case 3: return kind.low < 0 ? -(i % 100) : (i * 37 + type) % 100;
        default: return (i * 37 + type) % 100;
        }
    }
    switch (i % 7) {
    case 3: return kind.high;
    case 5: return -0.0L;
    default: return kind.kind == K_FLOAT ? i * 0.5L - 3 : (double)i / 3;
    }
}

static int create(const char *folder, const char *name, int format)
{
    static const int modes[6] = {0, 0, NC_64BIT_OFFSET, 0, 0, NC_64BIT_DATA};
    char path[4096];
    int ncid;
    snprintf(path, sizeof path, "%s/%s_%d.nc", folder, name, format);
    must(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | modes[format], MPI_INFO_NULL, &ncid), path);
    return ncid;
}

static int define_dim(int ncid, const char *name, MPI_Offset length)
{
    int id;
    must(ncmpi_def_dim(ncid, name, length, &id), name);
    return id;
}

static int define_var(int ncid, const char *prefix, int type, int ndims, const int *dims)
{
    char name[40];
    int id;
    snprintf(name, sizeof name, "%s_%s", prefix, type_names[type]);
    must(ncmpi_def_var(ncid, name, type, ndims, dims, &id), name);
    return id;
}

/* Attribute of n elements of its own type. */
static void put_attribute(int ncid, int varid, const char *name, int type, int n)
{
    char values[64 * 8];
    enum memory memory = memory_of_type[type];
    for (int i = 0; i < n; i++)
        naive_store(memory, values + (size_t)i * memory_types[memory].size, value_of(type, i));
    must(ncmpi_put_att(ncid, varid, name, type, n, values), name);
}

/* rows x cols elements from row `first` on, split among the ranks by columns; element i has value_of(type, i). */
static void put_block(int ncid, int varid, int type, int first, int rows, int cols)
{
    enum memory memory = memory_of_type[type];
    MPI_Offset low = (MPI_Offset)cols * rank / nprocs, high = (MPI_Offset)cols * (rank + 1) / nprocs;
    MPI_Offset start[2] = {first, low}, count[2] = {rows, high - low};
    char *values = malloc((size_t)(rows * cols) * 8 + 1);
    size_t n = 0;
    for (int y = first; y < first + rows; y++)
        for (MPI_Offset x = low; x < high; x++)
            naive_store(memory, values + n++ * memory_types[memory].size, value_of(type, y * cols + (int)x));
    struct call c = {.put = true,
                     .collective = true,
                     .shape = VARA,
                     .memory = memory,
                     .start = start,
                     .count = count,
                     .buffer = values};
    must(call_run(ncid, varid, &c), "put");
    free(values);
}

static void put_scalar(int ncid, int varid, int type)
{
    char value[8];
    enum memory memory = memory_of_type[type];
    naive_store(memory, value, value_of(type, type));
    struct call c = {.put = true, .collective = true, .shape = VAR, .memory = memory, .buffer = value};
    must(call_run(ncid, varid, &c), "put");
}

/* All types, fixed, by record, and scalar, with attributes. */
static void write_types(const char *folder, int format)
{
    int types = format == 5 ? 11 : 6, ids[12][3], ncid = create(folder, "types", format), dims[3];
    dims[0] = define_dim(ncid, "t", NC_UNLIMITED);
    dims[1] = define_dim(ncid, "y", NY);
    dims[2] = define_dim(ncid, "x", NX);
    for (int type = 1; type <= types; type++) {
        ids[type][0] = define_var(ncid, "fixed", type, 2, dims + 1);
        ids[type][1] = define_var(ncid, "record", type, 2, (int[]){dims[0], dims[2]});
        ids[type][2] = define_var(ncid, "scalar", type, 0, NULL);
        for (int n = 0; n < 4; n++) {
            char name[24];
            snprintf(name, sizeof name, "length%d", n);
            put_attribute(ncid, ids[type][0], name, type, n);
        }
        put_attribute(ncid, NC_GLOBAL, type_names[type], type, type);
    }
    must(ncmpi_enddef(ncid), "enddef");
    for (int type = 1; type <= types; type++) {
        put_block(ncid, ids[type][0], type, 0, NY, NX);
        put_block(ncid, ids[type][1], type, 0, RECORDS, NX);
        put_scalar(ncid, ids[type][2], type);
    }
    must(ncmpi_close(ncid), "close");
}

/* One record variable whose record is not a multiple of four bytes: records lie without padding. */
static void write_packed(const char *folder, int format)
{
    static const struct {
        const char *name;
        int type;
    } rows[] = {{"packed_byte", NC_BYTE}, {"packed_short", NC_SHORT}};
    for (int k = 0; k < 2; k++) {
        int ncid = create(folder, rows[k].name, format), dims[2], id;
        dims[0] = define_dim(ncid, "t", NC_UNLIMITED);
        dims[1] = define_dim(ncid, "x", 3);
        id = define_var(ncid, "only", rows[k].type, 2, dims);
        must(ncmpi_enddef(ncid), "enddef");
        put_block(ncid, id, rows[k].type, 0, 5, 3);
        must(ncmpi_close(ncid), "close");
    }
}

/* Fill values: the default, an own one, and one element written over each. */
static void write_fills(const char *folder, int format)
{
    int types = format == 5 ? 11 : 6, ncid = create(folder, "fill", format), dims[2], old, ids[12][2];
    dims[0] = define_dim(ncid, "y", NY);
    dims[1] = define_dim(ncid, "x", NX);
    must(ncmpi_set_fill(ncid, NC_FILL, &old), "set_fill");
    for (int type = 1; type <= types; type++) {
        char own[8];
        ids[type][0] = define_var(ncid, "default", type, 2, dims);
        ids[type][1] = define_var(ncid, "own", type, 2, dims);
        naive_store(memory_of_type[type], own, 88);
        must(ncmpi_def_var_fill(ncid, ids[type][1], 0, own), "def_var_fill");
    }
    must(ncmpi_enddef(ncid), "enddef");
    for (int type = 1; type <= types; type++)
        for (int k = 0; k < 2; k++)
            put_block(ncid, ids[type][k], type, 1, 1, NX);
    must(ncmpi_close(ncid), "close");
}

static void write_names(const char *folder, int format)
{
    static const char *const names[] = {"with space", "\303\274ber", "\xe6\xb8\xa9\xe5\xba\xa6", "dot.dash-plus+at@",
                                        "7up",        "_x",          "brackets(a)[b]",           "colon:percent%"};
    int ncid = create(folder, "names", format), id, value = 5;
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++) {
        int dim = define_dim(ncid, names[i], i + 1);
        must(ncmpi_def_var(ncid, names[i], NC_INT, 1, &dim, &id), names[i]);
        must(ncmpi_put_att_text(ncid, id, names[i], (MPI_Offset)strlen(names[i]), names[i]), names[i]);
    }
    must(ncmpi_enddef(ncid), "enddef");
    for (int i = 0; i <= id; i++) {
        struct call c = {.put = true,
                         .collective = true,
                         .shape = VAR1,
                         .memory = M_INT,
                         .start = (MPI_Offset[]){i},
                         .buffer = &value};
        must(call_run(ncid, i, &c), "put"); /* the last element only; all ranks write the same */
    }
    must(ncmpi_close(ncid), "close");
}

static void write_nothing(const char *folder, int format)
{
    int ncid = create(folder, "empty", format), dims[2];
    must(ncmpi_close(ncid), "close");
    ncid = create(folder, "no_records", format);
    dims[0] = define_dim(ncid, "t", NC_UNLIMITED);
    dims[1] = define_dim(ncid, "x", NX);
    define_var(ncid, "none", NC_INT, 2, dims);
    define_var(ncid, "none", NC_BYTE, 1, dims);
    must(ncmpi_enddef(ncid), "enddef");
    must(ncmpi_close(ncid), "close");
}

/* A file whose data moved: defined again after data were written. */
static void write_redefined(const char *folder, int format)
{
    int ncid = create(folder, "redefined", format), dims[3], id[4];
    dims[0] = define_dim(ncid, "t", NC_UNLIMITED);
    dims[1] = define_dim(ncid, "y", NY);
    dims[2] = define_dim(ncid, "x", NX);
    id[0] = define_var(ncid, "fixed", NC_SHORT, 2, dims + 1);
    id[1] = define_var(ncid, "record", NC_BYTE, 2, (int[]){dims[0], dims[2]});
    must(ncmpi_enddef(ncid), "enddef");
    put_block(ncid, id[0], NC_SHORT, 0, NY, NX);
    put_block(ncid, id[1], NC_BYTE, 0, RECORDS, NX);
    must(ncmpi_redef(ncid), "redef");
    id[2] = define_var(ncid, "fixed", NC_DOUBLE, 2, dims + 1);
    id[3] = define_var(ncid, "record", NC_FLOAT, 2, (int[]){dims[0], dims[2]});
    put_attribute(ncid, NC_GLOBAL, "note", NC_DOUBLE, 60);
    must(ncmpi__enddef(ncid, 700, 64, 30, 128), "_enddef");
    put_block(ncid, id[2], NC_DOUBLE, 0, NY, NX);
    put_block(ncid, id[3], NC_FLOAT, 0, RECORDS, NX);
    must(ncmpi_close(ncid), "close");
}

int main(int argc, char **argv)
{
    static const int formats[] = {1, 2, 5};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    if (argc != 2) {
        fprintf(stderr, "usage: write_zoo FOLDER\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int f = 0; f < 3; f++) {
        write_types(argv[1], formats[f]);
        write_packed(argv[1], formats[f]);
        write_fills(argv[1], formats[f]);
        write_names(argv[1], formats[f]);
        write_nothing(argv[1], formats[f]);
        write_redefined(argv[1], formats[f]);
    }
    return MPI_Finalize();
}
