/* Puts the same values into quantized variables by all kinds of calls, for test_netcdf4_quantize.py, which knows the
 * order of the values of each call.
 *
 * netcdf4_quantize FILE VALUES MODE NSD define|hint: VALUES has numbers in host order (double), ROWS times COLUMNS for
 *     each rank. For each kind of call the file gets the variables KIND_f, KIND_d and KIND_b, whose type is NC_FLOAT,
 *     NC_DOUBLE, and NC_FLOAT with the other byte order. `define`: a netCDF-4 file with ncmpi_def_var_quantize; `hint`:
 *     the format and the quantization are those of hints.
 *
 * A code that is not expected, or a buffer that has changed, is printed as a line "wrong ..". */
#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pnetcdf.h"

enum { ROWS = 6, COLUMNS = 300, N = ROWS * COLUMNS, SMALL = 10, TYPES = 3 };

static int rank, nprocs, ncid;
static MPI_Offset first; /* row of this rank */

typedef struct values {
    double d[N], d_before[N], transposed[N], wide[2 * N];
    float f[N];
    int i[N];
} values;
static values v;

static void check(int err, const char *what)
{
    char message[NC_MAX_MESSAGE] = "";

    if (err == NC_NOERR)
        return;
    ncmpi_inq_last_error(ncid, NULL, message);
    printf("wrong: rank %d: %s: %s %s\n", rank, what, ncmpi_strerrno(err), message);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* --- kinds of calls; each puts the rows of this rank --- */

typedef struct block {
    MPI_Offset start[2], count[2];
} block;

static block whole(void)
{
    return (block){{first, 0}, {ROWS, COLUMNS}};
}

static void put_double(int id)
{
    block b = whole();

    check(ncmpi_put_vara_double_all(ncid, id, b.start, b.count, v.d), "put_vara_double_all");
}

static void put_float(int id)
{
    block b = whole();

    check(ncmpi_put_vara_float_all(ncid, id, b.start, b.count, v.f), "put_vara_float_all");
}

static void put_int(int id)
{
    block b = whole();

    check(ncmpi_put_vara_int_all(ncid, id, b.start, b.count, v.i), "put_vara_int_all");
}

static void put_independent(int id)
{
    block b = whole();

    check(ncmpi_begin_indep_data(ncid), "begin_indep_data");
    check(ncmpi_put_vara_double(ncid, id, b.start, b.count, v.d), "put_vara_double");
    check(ncmpi_end_indep_data(ncid), "end_indep_data");
}

/* Every other column, from the columns 0 and 1. */
static void put_strided(int id)
{
    const MPI_Offset stride[] = {1, 2};
    double half[N / 2];

    for (int odd = 0; odd < 2; odd++) {
        block b = whole();

        for (int i = 0; i < N / 2; i++)
            half[i] = v.d[2 * i + odd];
        b.start[1] = odd;
        b.count[1] = COLUMNS / 2;
        check(ncmpi_put_vars_double_all(ncid, id, b.start, b.count, stride, half), "put_vars_double_all");
    }
}

static void put_mapped(int id)
{
    const MPI_Offset imap[] = {1, ROWS};
    block b = whole();

    check(ncmpi_put_varm_double_all(ncid, id, b.start, b.count, NULL, imap, v.transposed), "put_varm_double_all");
}

static void put_flexible(int id)
{
    MPI_Datatype type;
    block b = whole();

    MPI_Type_vector(N, 1, 2, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    check(ncmpi_put_vara_all(ncid, id, b.start, b.count, v.wide, 1, type), "put_vara_all");
    MPI_Type_free(&type);
}

/* The last row first. */
static void put_list(int id)
{
    MPI_Offset start[ROWS][2], count[ROWS][2], *starts[ROWS], *counts[ROWS];
    double *reversed = malloc(sizeof v.d);

    for (int r = 0; r < ROWS; r++) {
        start[r][0] = first + ROWS - 1 - r;
        start[r][1] = 0;
        count[r][0] = 1;
        count[r][1] = COLUMNS;
        starts[r] = start[r];
        counts[r] = count[r];
        memcpy(reversed + (size_t)r * COLUMNS, v.d + (size_t)(ROWS - 1 - r) * COLUMNS, COLUMNS * sizeof(double));
    }
    check(ncmpi_put_varn_double_all(ncid, id, ROWS, starts, counts, reversed), "put_varn_double_all");
    free(reversed);
}

static void wait_all(void)
{
    check(ncmpi_wait_all(ncid, NC_PUT_REQ_ALL, NULL, NULL), "wait_all");
}

static void post(int id)
{
    block b = whole();

    check(ncmpi_iput_vara_double(ncid, id, b.start, b.count, v.d, NULL), "iput_vara_double");
    wait_all();
}

/* In random order: the requests are sorted. */
static void post_small(int id, bool buffered)
{
    for (int k = 0; k < N / SMALL; k++) {
        int at = k * 7 % (N / SMALL) * SMALL;
        MPI_Offset start[] = {first + at / COLUMNS, at % COLUMNS}, count[] = {1, SMALL};

        check(buffered ? ncmpi_bput_vara_double(ncid, id, start, count, v.d + at, NULL)
                       : ncmpi_iput_vara_double(ncid, id, start, count, v.d + at, NULL),
              "posting");
    }
}

static void post_many(int id)
{
    post_small(id, false);
    wait_all();
}

static void post_buffered(int id)
{
    check(ncmpi_buffer_attach(ncid, (MPI_Offset)sizeof v.d), "buffer_attach");
    post_small(id, true);
    wait_all();
    check(ncmpi_buffer_detach(ncid), "buffer_detach");
}

/* Single values, a few; the others as one block each side of them. */
static void put_single(int id)
{
    block b = whole();
    MPI_Offset at[] = {first, 0};

    check(ncmpi_put_vara_double_all(ncid, id, b.start, b.count, v.d), "put_vara_double_all");
    for (at[1] = 0; at[1] < SMALL; at[1]++)
        check(ncmpi_put_var1_double_all(ncid, id, at, &v.d[at[1]]), "put_var1_double_all");
}

static const struct {
    const char *name;
    void (*put)(int id);
} kinds[] = {{"double", put_double},     {"float", put_float},        {"int", put_int},
             {"indep", put_independent}, {"strided", put_strided},    {"mapped", put_mapped},
             {"flexible", put_flexible}, {"list", put_list},          {"iput", post},
             {"many", post_many},        {"buffered", post_buffered}, {"single", put_single}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* --- the file --- */

static void read_values(const char *path)
{
    FILE *file = fopen(path, "rb");

    if (file == NULL || fseek(file, (long)(rank * sizeof v.d), SEEK_SET) != 0 || fread(v.d, sizeof v.d, 1, file) != 1)
        check(NC_EREAD, path);
    fclose(file);
    memcpy(v.d_before, v.d, sizeof v.d);
    for (int i = 0; i < N; i++) {
        v.f[i] = (float)v.d[i];
        if (i % 97 == 5) /* as double: NC_ERANGE */
            v.f[i] = i % 2 == 0 ? INFINITY : -INFINITY;
        v.i[i] = i * 1234 % 100003 - 50000;
        v.wide[2 * i] = v.d[i];
        v.transposed[i % COLUMNS * ROWS + i / COLUMNS] = v.d[i];
    }
}

static void define(int ids[KINDS + 1][TYPES], int mode, int nsd, bool by_hint)
{
    static const nc_type types[TYPES] = {NC_FLOAT, NC_DOUBLE, NC_FLOAT};
    const float fill = 1e20F, missing = 2e20F;
    int dimids[2];

    check(ncmpi_def_dim(ncid, "y", (MPI_Offset)ROWS * nprocs, &dimids[0]), "def_dim");
    check(ncmpi_def_dim(ncid, "x", COLUMNS, &dimids[1]), "def_dim");
    for (int k = 0; k <= KINDS; k++)
        for (int t = 0; t < TYPES; t++) {
            char name[40];

            snprintf(name, sizeof name, "%s_%c", k < KINDS ? kinds[k].name : "early", "fdb"[t]);
            check(ncmpi_def_var(ncid, name, types[t], 2, dimids, &ids[k][t]), name);
            check(ncmpi_put_att_float(ncid, ids[k][t], "_FillValue", types[t], 1, &fill), "put_att");
            check(ncmpi_put_att_float(ncid, ids[k][t], "missing_value", types[t], 1, &missing), "put_att");
            if (by_hint)
                continue;
            check(ncmpi_def_var_quantize(ncid, ids[k][t], mode, nsd), "def_var_quantize");
            if (t == 2)
                check(ncmpi_def_var_endian(ncid, ids[k][t], NC_ENDIAN_BIG), "def_var_endian");
        }
}

int main(int argc, char **argv)
{
    int ids[KINDS + 1][TYPES];
    bool by_hint = argc == 6 && strcmp(argv[5], "hint") == 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    first = (MPI_Offset)ROWS * rank;
    if (argc != 6)
        MPI_Abort(MPI_COMM_WORLD, 2);
    read_values(argv[2]);
    check(ncmpi_create(MPI_COMM_WORLD, argv[1], by_hint ? NC_CLOBBER : NC_CLOBBER | NC_NETCDF4, MPI_INFO_NULL, &ncid),
          "create");
    define(ids, atoi(argv[3]), atoi(argv[4]), by_hint);
    for (int t = 0; t < TYPES; t++)
        post_small(ids[KINDS][t], false); /* in define mode */
    check(ncmpi_enddef(ncid), "enddef");
    wait_all();
    for (int k = 0; k < KINDS; k++)
        for (int t = 0; t < TYPES; t++) {
            kinds[k].put(ids[k][t]);
            if (memcmp(v.d, v.d_before, sizeof v.d) != 0)
                check(NC_EINVAL, kinds[k].name);
        }
    check(ncmpi_close(ncid), "close");
    MPI_Finalize();
    return 0;
}
