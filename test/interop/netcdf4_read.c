/* Reads a netCDF-4 file on several ranks, for test_netcdf4_read.py.
 *
 * netcdf4_read FILE define OUT: rank 0 writes definitions and attributes as lines of text to OUT
 * netcdf4_read FILE paths VARIABLE.. dims DIMENSION..: all ranks read whole variables; rank 0 writes their names, those
 *     of their dimensions and the sums of their values, names and lengths of dimensions, or error codes
 * netcdf4_read FILE change VARIABLE..: open FILE for writing, double the values of each variable, put a record of nines
 *     behind those that it has, if its first dimension is unlimited, and give it an attribute "changed"
 * netcdf4_read FILE extend VARIABLE..: the same without new definitions other than the attribute
 * netcdf4_read FILE fill VARIABLE..: open FILE for writing, and put their numbers into all elements of each variable
 *     but the last row; into those with names that begin with i independently
 * netcdf4_read FILE starve VARIABLE..: the same with one allocation that fails, each of them in turn on the first and
 *     on the last rank, in a copy of FILE: all variables can be put and read then as before
 * netcdf4_read FILE MODE OUT SEED ROUNDS: each rank reads random hyperslabs of all variables, in MODE all, indep,
 *     nonblocking, varn or whole, and writes them to OUT.RANK: varid, number of dimensions, start, count, stride as
 *     integers of 8 bytes, the number of bytes, and the values as the variable's type has them in memory.
 *
 * An error is written as "error CODE NAME" to stdout by rank 0, and the program goes on. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../mpi/allocations.h"
#include "pnetcdf.h"

enum { DIMS = 32, PIECES = 3 };

static int rank, nprocs, ncid, opened;
static uint64_t state;

/* With the message of the failure, which names its place. */
static int report(int err, const char *what)
{
    char message[NC_MAX_MESSAGE] = "";

    if (err == NC_NOERR || rank != 0)
        return err;
    ncmpi_inq_last_error(opened ? ncid : NC_GLOBAL, NULL, message);
    printf("error %s %s: %s\n", ncmpi_strerrno(err), what, message);
    return err;
}

static int64_t draw(int64_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return below <= 0 ? 0 : (int64_t)((state >> 33) % (uint64_t)below);
}

/* --- definitions --- */

static void write_att(FILE *out, int varid, int number)
{
    char name[NC_MAX_NAME + 1];
    nc_type type;
    MPI_Offset len;
    double *values;
    char *text;

    if (report(ncmpi_inq_attname(ncid, varid, number, name), "attname") != NC_NOERR ||
        report(ncmpi_inq_att(ncid, varid, name, &type, &len), name) != NC_NOERR)
        return;
    fprintf(out, "att %d %s %d %lld", varid, name, type, (long long)len);
    values = calloc((size_t)len + 1, sizeof *values);
    text = calloc((size_t)len + 1, 1);
    if (values == NULL || text == NULL)
        exit(1);
    if (type == NC_CHAR) {
        report(ncmpi_get_att_text(ncid, varid, name, text), name);
        fprintf(out, " ");
        for (MPI_Offset i = 0; i < len; i++)
            fprintf(out, "%02x", (unsigned char)text[i]);
    } else {
        report(ncmpi_get_att_double(ncid, varid, name, values), name);
        for (MPI_Offset i = 0; i < len; i++)
            fprintf(out, " %.17g", values[i]);
    }
    fprintf(out, "\n");
    free(values);
    free(text);
}

/* Of a variable whose values can be read. */
static void write_storage(FILE *out, int varid, int ndims)
{
    int storage, shuffle, deflate, level, sum, endian, mode, digits;
    MPI_Offset chunks[DIMS];

    report(ncmpi_inq_var_chunking(ncid, varid, &storage, chunks), "chunking");
    report(ncmpi_inq_var_deflate(ncid, varid, &shuffle, &deflate, &level), "deflate");
    report(ncmpi_inq_var_fletcher32(ncid, varid, &sum), "fletcher32");
    report(ncmpi_inq_var_endian(ncid, varid, &endian), "endian");
    report(ncmpi_inq_var_quantize(ncid, varid, &mode, &digits), "quantize");
    fprintf(out, "storage");
    for (int d = 0; storage == NC_CHUNKED && d < ndims; d++)
        fprintf(out, " %lld", (long long)chunks[d]);
    fprintf(out, "; shuffle %d deflate %d level %d fletcher32 %d endian %d quantize %d\n", shuffle, deflate, level, sum,
            endian, mode == NC_NOQUANTIZE ? 0 : digits);
}

static void write_definitions(const char *path)
{
    char file[4096] = "";
    int ndims, nvars, natts, unlimited, format, by_path = -1, ids[DIMS], rank_of;
    char name[NC_MAX_NAME + 1];
    FILE *out = fopen(path, "w");
    MPI_Offset len;
    nc_type type;

    if (out == NULL)
        exit(1);
    ncmpi_inq(ncid, &ndims, &nvars, &natts, &unlimited);
    ncmpi_inq_format(ncid, &format);
    ncmpi_inq_path(ncid, NULL, file);
    ncmpi_inq_file_format(file, &by_path);
    if (by_path != format)
        fprintf(out, "format by path %d\n", by_path);
    fprintf(out, "format %d\nunlimited %d\nall_unlimited", format, unlimited);
    ncmpi_inq_unlimdims(ncid, &unlimited, NULL);
    if (unlimited <= DIMS)
        ncmpi_inq_unlimdims(ncid, NULL, ids);
    for (int i = 0; i < unlimited && i < DIMS; i++)
        fprintf(out, " %d", ids[i]);
    fprintf(out, "\n");
    for (int i = 0; i < ndims; i++) {
        report(ncmpi_inq_dim(ncid, i, name, &len), "dim");
        fprintf(out, "dim %s %lld\n", name, (long long)len);
    }
    for (int i = 0; i < natts; i++)
        write_att(out, NC_GLOBAL, i);
    for (int i = 0; i < nvars; i++) {
        report(ncmpi_inq_var(ncid, i, name, &type, &rank_of, ids, &natts), "var");
        fprintf(out, "var %s %d", name, type);
        for (int k = 0; k < rank_of; k++)
            fprintf(out, " %d", ids[k]);
        fprintf(out, "\n");
        if (type <= NC_UINT64)
            write_storage(out, i, rank_of);
        for (int k = 0; k < natts; k++)
            write_att(out, i, k);
    }
    fclose(out);
}

/* --- values --- */

/* A hyperslab, and what is read there. */
typedef struct slab {
    int varid, ndims;
    MPI_Offset start[DIMS], count[DIMS], stride[DIMS], n;
    MPI_Datatype type;
    int size;
    char *values;
    int request, status;
} slab;

static const struct {
    MPI_Datatype type;
    int size;
} memory[] = {{MPI_DATATYPE_NULL, 0}, {MPI_SIGNED_CHAR, 1},   {MPI_CHAR, 1},
              {MPI_SHORT, 2},         {MPI_INT, 4},           {MPI_FLOAT, 4},
              {MPI_DOUBLE, 8},        {MPI_UNSIGNED_CHAR, 1}, {MPI_UNSIGNED_SHORT, 2},
              {MPI_UNSIGNED, 4},      {MPI_LONG_LONG, 8},     {MPI_UNSIGNED_LONG_LONG, 8}};

static int init_slab(slab *s, int varid, int is_strided)
{
    int ids[DIMS];
    nc_type type;

    *s = (slab){.varid = varid, .n = 1, .request = NC_REQ_NULL};
    if (report(ncmpi_inq_var(ncid, varid, NULL, &type, &s->ndims, ids, NULL), "var") != NC_NOERR || type > NC_UINT64)
        return 0;
    s->type = memory[type].type;
    s->size = memory[type].size;
    for (int i = 0; i < s->ndims; i++) {
        MPI_Offset len;

        ncmpi_inq_dimlen(ncid, ids[i], &len);
        s->stride[i] = is_strided ? 1 + draw(3) : 1;
        s->start[i] = draw(len);
        s->count[i] = len == 0 ? 0 : 1 + draw((len - s->start[i] + s->stride[i] - 1) / s->stride[i]);
        s->n *= s->count[i];
    }
    s->values = calloc((size_t)s->n + 1, (size_t)s->size);
    return s->values != NULL;
}

static void keep_slab(FILE *out, const slab *s)
{
    const int64_t head[] = {s->varid, s->ndims};
    const int64_t bytes = s->n * s->size;

    fwrite(head, sizeof head, 1, out);
    for (int i = 0; i < s->ndims; i++) {
        const int64_t numbers[] = {s->start[i], s->count[i], s->stride[i]};

        fwrite(numbers, sizeof numbers, 1, out);
    }
    fwrite(&bytes, sizeof bytes, 1, out);
    fwrite(s->values, 1, (size_t)bytes, out);
}

/* The pieces of varn have one count each, unstrided. */
static int read_pieces(slab *s)
{
    MPI_Offset *starts[PIECES], *counts[PIECES], first[PIECES][DIMS], lengths[PIECES][DIMS];
    MPI_Offset total = s->ndims > 0 ? s->count[0] : 1;
    int n = s->ndims > 0 && total >= PIECES ? PIECES : 1;

    for (int i = 0; i < n; i++) {
        memcpy(first[i], s->start, sizeof first[i]);
        memcpy(lengths[i], s->count, sizeof lengths[i]);
        if (s->ndims > 0) {
            first[i][0] += total * i / n;
            lengths[i][0] = total * (i + 1) / n - total * i / n;
        }
        starts[i] = first[i];
        counts[i] = lengths[i];
    }
    return ncmpi_get_varn_all(ncid, s->varid, n, starts, counts, s->values, s->n, s->type);
}

static int read_slab(const char *mode, slab *s)
{
    MPI_Offset *start = s->start, *count = s->count, *stride = s->stride;

    if (strcmp(mode, "indep") == 0)
        return ncmpi_get_vars(ncid, s->varid, start, count, stride, s->values, s->n, s->type);
    if (strcmp(mode, "nonblocking") == 0)
        return ncmpi_iget_vars(ncid, s->varid, start, count, stride, s->values, s->n, s->type, &s->request);
    if (strcmp(mode, "varn") == 0)
        return read_pieces(s);
    if (strcmp(mode, "whole") == 0)
        return ncmpi_get_var_all(ncid, s->varid, s->values, s->n, s->type);
    return ncmpi_get_vars_all(ncid, s->varid, start, count, stride, s->values, s->n, s->type);
}

/* All of the variable. */
static void widen_slab(slab *s)
{
    int ids[DIMS];

    ncmpi_inq_vardimid(ncid, s->varid, ids);
    s->n = 1;
    for (int i = 0; i < s->ndims; i++) {
        ncmpi_inq_dimlen(ncid, ids[i], &s->count[i]);
        s->start[i] = 0;
        s->stride[i] = 1;
        s->n *= s->count[i];
    }
    free(s->values);
    s->values = calloc((size_t)s->n + 1, (size_t)s->size);
}

static void read_round(const char *mode, FILE *out)
{
    int nvars, n = 0, is_strided = strcmp(mode, "varn") != 0;
    slab *slabs;

    ncmpi_inq_nvars(ncid, &nvars);
    slabs = calloc((size_t)nvars + 1, sizeof *slabs);
    if (slabs == NULL)
        exit(1);
    for (int i = 0; i < nvars; i++) {
        slab *s = &slabs[n];
        char name[NC_MAX_NAME + 1];

        if (!init_slab(s, i, is_strided))
            continue;
        if (strcmp(mode, "whole") == 0)
            widen_slab(s);
        ncmpi_inq_varname(ncid, i, name);
        s->status = report(read_slab(mode, s), name);
        n++;
    }
    if (strcmp(mode, "nonblocking") == 0)
        report(ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL), "wait_all");
    for (int i = 0; i < n; i++) {
        if (slabs[i].status == NC_NOERR)
            keep_slab(out, &slabs[i]);
        free(slabs[i].values);
    }
    free(slabs);
}

static void read_values(const char *mode, const char *path, int rounds)
{
    char own[1024];
    FILE *out;

    snprintf(own, sizeof own, "%s.%d", path, rank);
    out = fopen(own, "wb");
    if (out == NULL)
        exit(1);
    if (strcmp(mode, "indep") == 0)
        report(ncmpi_begin_indep_data(ncid), "begin_indep_data");
    for (int i = 0; i < rounds; i++)
        read_round(mode, out);
    if (strcmp(mode, "indep") == 0)
        report(ncmpi_end_indep_data(ncid), "end_indep_data");
    fclose(out);
}

/* --- paths --- */

static void sum_var(const char *path)
{
    char name[NC_MAX_NAME + 1];
    int varid, ndims, ids[DIMS];
    MPI_Offset n = 1, length;
    double sum = 0, *values;

    if (report(ncmpi_inq_varid(ncid, path, &varid), path) != NC_NOERR)
        return;
    ncmpi_inq_var(ncid, varid, name, NULL, &ndims, ids, NULL);
    for (int d = 0; d < ndims; d++) {
        ncmpi_inq_dimlen(ncid, ids[d], &length);
        n *= length;
    }
    values = calloc((size_t)n + 1, sizeof *values);
    report(ncmpi_get_var_double_all(ncid, varid, values), path);
    for (MPI_Offset i = 0; i < n; i++)
        sum += values[i];
    free(values);
    if (rank != 0)
        return;
    printf("%s", name);
    for (int d = 0; d < ndims; d++) {
        ncmpi_inq_dimname(ncid, ids[d], name);
        printf(" %s", name);
    }
    printf(": %.9g\n", sum);
}

static void change_var(const char *path)
{
    int varid, ndims, ids[DIMS], err;
    MPI_Offset start[DIMS] = {0}, count[DIMS], n = 1, record = 1;
    double *values;

    if (report(ncmpi_inq_varid(ncid, path, &varid), path) != NC_NOERR)
        return;
    ncmpi_inq_var(ncid, varid, NULL, NULL, &ndims, ids, NULL);
    for (int d = 0; d < ndims; d++) {
        ncmpi_inq_dimlen(ncid, ids[d], &count[d]);
        n *= count[d];
    }
    for (int d = 1; d < ndims; d++)
        record *= count[d];
    values = calloc((size_t)(n + record), sizeof *values);
    report(ncmpi_get_var_double_all(ncid, varid, values), path);
    for (MPI_Offset i = 0; i < n; i++)
        values[i] *= 2;
    report(ncmpi_put_vara_double_all(ncid, varid, start, count, values), path);
    for (MPI_Offset i = 0; i < record; i++)
        values[i] = 9;
    start[0] = count[0];
    count[0] = 1;
    err = ndims > 0 ? ncmpi_put_vara_double_all(ncid, varid, start, count, values) : NC_EINVALCOORDS;
    if (err != NC_EINVALCOORDS)
        report(err, path);
    free(values);
    report(ncmpi_put_att_text(ncid, varid, "changed", 3, "yes"), path);
}

static void define_new(void)
{
    int id, err = ncmpi_def_dim(ncid, "new", 3, &id);

    if (rank == 0)
        printf("%s", ncmpi_strerrno(err));
    err = ncmpi_def_var(ncid, "new", NC_INT, 0, NULL, &id);
    if (rank == 0)
        printf(" %s\n", ncmpi_strerrno(err));
}

/* Definitions of a file with groups stay: only attributes change. */
static void change_vars(char *const *names, int defines)
{
    int id;

    report(ncmpi_redef(ncid), "redef");
    if (defines)
        define_new();
    for (char *const *name = names; *name != NULL; name++) {
        report(ncmpi_inq_varid(ncid, *name, &id), *name);
        report(ncmpi_put_att_text(ncid, id, "changed", 3, "no "), *name);
    }
    report(ncmpi_enddef(ncid), "enddef");
    for (; *names != NULL; names++)
        change_var(*names);
}

/* All but the last row; each rank has a part of the rows. Returns the number of elements of this rank. */
static MPI_Offset choose_rows(int varid, int ndims, MPI_Offset *start, MPI_Offset *count, MPI_Offset *first)
{
    int ids[DIMS];
    MPI_Offset rows, size = 1;

    ncmpi_inq_vardimid(ncid, varid, ids);
    for (int d = 0; d < ndims; d++) {
        ncmpi_inq_dimlen(ncid, ids[d], &count[d]);
        start[d] = 0;
        size *= d > 0 ? count[d] : 1;
    }
    *first = 0;
    if (ndims == 0)
        return 1;
    rows = count[0] - 1;
    start[0] = rows * rank / nprocs;
    count[0] = rows * (rank + 1) / nprocs - start[0];
    *first = start[0] * size;
    return count[0] * size;
}

static void fill_var(const char *path)
{
    int varid, ndims, is_independent = path[0] == 'i';
    MPI_Offset start[DIMS], count[DIMS], first, n;
    double *values;

    if (report(ncmpi_inq_varid(ncid, path, &varid), path) != NC_NOERR)
        return;
    ncmpi_inq_varndims(ncid, varid, &ndims);
    n = choose_rows(varid, ndims, start, count, &first);
    values = calloc((size_t)n + 1, sizeof *values);
    for (MPI_Offset i = 0; i < n; i++)
        values[i] = (double)(first + i + 100);
    if (is_independent) {
        report(ncmpi_begin_indep_data(ncid), path);
        report(ncmpi_put_vara_double(ncid, varid, start, count, values), path);
        report(ncmpi_end_indep_data(ncid), path);
    } else {
        report(ncmpi_put_vara_double_all(ncid, varid, start, count, values), path);
    }
    memset(values, 0, (size_t)n * sizeof *values);
    report(ncmpi_get_vara_double_all(ncid, varid, start, count, values), path);
    for (MPI_Offset i = 0; i < n; i++)
        if (values[i] != (double)(first + i + 100)) {
            printf("rank %d: element %lld of %s is %g\n", rank, (long long)(first + i), path, values[i]);
            break;
        }
    free(values);
}

static void copy_file(const char *from, const char *to)
{
    char bytes[4096];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");

    for (size_t n; in != NULL && out != NULL && (n = fread(bytes, 1, sizeof bytes, in)) > 0;)
        fwrite(bytes, 1, n, out);
    if (in == NULL || out == NULL || fclose(in) != 0 || fclose(out) != 0)
        printf("%s is not copied\n", from);
}

/* The first put of a variable without memory on one rank. Returns false if it has fewer allocations. */
static int starve_once(const char *path, char *const *names, int which, long position)
{
    MPI_Offset start[DIMS], count[DIMS], first, n;
    int varid, ndims, err, failed;
    double *values;

    if (rank == 0)
        copy_file(path, path + strlen(path) + 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (report(ncmpi_open(MPI_COMM_WORLD, path + strlen(path) + 1, NC_WRITE, MPI_INFO_NULL, &ncid), "open"))
        return 0;
    ncmpi_inq_varid(ncid, names[0], &varid);
    ncmpi_inq_varndims(ncid, varid, &ndims);
    n = choose_rows(varid, ndims, start, count, &first);
    values = calloc((size_t)n + 1, sizeof *values);
    allocation_arm(which, position);
    err = ncmpi_put_vara_double_all(ncid, varid, start, count, values);
    failed = allocation_disarm(which);
    free(values);
    if (err != NC_NOERR && (err != NC_ENOMEM || !failed))
        printf("allocation %ld of rank %d: rank %d returns %s\n", position, which, rank, ncmpi_strerrno(err));
    for (; *names != NULL; names++)
        fill_var(*names);
    report(ncmpi_close(ncid), "close");
    return failed;
}

static void starve(const char *path, char *const *names)
{
    char *paths = malloc(2 * strlen(path) + 8);
    long position = 0;

    ncmpi_close(ncid);
    sprintf(paths, "%s%c%s.copy", path, '\0', path);
    t_rank = rank;
    for (int which = 0; which<nprocs; which += nprocs> 1 ? nprocs - 1 : 1) {
        for (position = 0; starve_once(paths, names, which, position); position++)
            ;
        if (rank == 0)
            printf("%ld allocations of rank %d\n", position, which);
    }
    free(paths);
}

static void write_dim(const char *path)
{
    int dimid, err = ncmpi_inq_dimid(ncid, path, &dimid);
    char name[NC_MAX_NAME + 1];
    MPI_Offset length;

    if (err == NC_NOERR)
        err = ncmpi_inq_dim(ncid, dimid, name, &length);
    if (err != NC_NOERR)
        printf("%s\n", ncmpi_strerrno(err));
    else
        printf("%s %lld\n", name, (long long)length);
}

static void read_paths(char *const *names)
{
    for (; *names != NULL && strcmp(*names, "dims") != 0; names++)
        sum_var(*names);
    for (names += *names != NULL; *names != NULL && rank == 0; names++)
        write_dim(*names);
}

int main(int argc, char **argv)
{
    static const char *const changing[] = {"change", "extend", "fill", NULL};
    int changes = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    for (const char *const *mode = changing; argc > 3 && *mode != NULL; mode++)
        changes = changes || strcmp(argv[2], *mode) == 0;
    if (argc < 4 || report(ncmpi_open(MPI_COMM_WORLD, argv[1], changes ? NC_WRITE : NC_NOWRITE, MPI_INFO_NULL, &ncid),
                           "open") != NC_NOERR) {
        MPI_Finalize();
        return argc < 4;
    }
    opened = 1;
    if (strcmp(argv[2], "define") == 0 && rank == 0)
        write_definitions(argv[3]);
    if (strcmp(argv[2], "paths") == 0) {
        read_paths(argv + 3);
    } else if (changes && strcmp(argv[2], "fill") == 0) {
        for (char *const *name = argv + 3; *name != NULL; name++)
            fill_var(*name);
    } else if (strcmp(argv[2], "starve") == 0) {
        starve(argv[1], argv + 3);
        MPI_Finalize();
        return 0;
    } else if (changes) {
        change_vars(argv + 3, strcmp(argv[2], "change") == 0);
    } else if (argc == 6) {
        state = (uint64_t)(atoll(argv[4]) * nprocs + rank) * 2654435761u + 12345;
        read_values(argv[2], argv[3], atoi(argv[5]));
    }
    report(ncmpi_close(ncid), "close");
    MPI_Finalize();
    return 0;
}
