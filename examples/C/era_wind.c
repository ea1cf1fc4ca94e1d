/* Wind speed and zonal means of a reanalysis, in parallel.
 *
 *     mpiexec -n 4 era_wind eraint_uvz.nc out
 *
 * reads the variables u, v and (if there) z, of dimensions (..., latitude, longitude), and writes the speed
 * sqrt(u2 + v2) and the means over longitude of all of them to out.cdf1.nc, out.cdf2.nc and out.cdf5.nc. Each rank
 * works on its own range of latitudes. Packed data (scale_factor, add_offset) are unpacked; missing values
 * (_FillValue, missing_value, valid_min, valid_max, valid_range, NaN) take no part in a mean.
 */
#include "check.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { U, V, Z, N_INPUTS, SPEED = N_INPUTS, N_VARIABLES };
enum { N_FORMATS = 3, MAX_MISSING = 9, MAX_DIMS = 8 };

static const char *const names[N_VARIABLES] = {"u", "v", "z", "speed"};
static const struct {
    const char *suffix;
    int mode;
} formats[N_FORMATS] = {
    {"cdf1", 0},
    {"cdf2", NC_64BIT_OFFSET},
    {"cdf5", NC_64BIT_DATA},
};
static const float fill_value = NC_FILL_FLOAT;

/* What the attributes say about the numbers in the file. */
struct packing {
    double scale, offset;
    double missing[MAX_MISSING];
    int n_missing;
    double valid_min, valid_max;
};

struct input {
    const char *path;
    int ncid;
    int varids[N_INPUTS]; /* -1: not in the file */
    struct packing packing[N_INPUTS];
    int n_dims, dims[MAX_DIMS]; /* of u, and of the others */
    int unlimited;              /* dimension id or -1 */
    MPI_Offset start[MAX_DIMS]; /* this rank's share: one index of dimension 0, a range of latitudes */
    MPI_Offset count[MAX_DIMS];
    MPI_Offset length;        /* of dimension 0 */
    size_t n_rows, n_columns; /* the share as rows of longitudes */
};

struct output {
    char *path;
    int ncid;
    int speed, means[N_VARIABLES];
};

/* The value of a numeric attribute, up to `most` numbers; returns how many there are, 0 without the attribute. */
static int read_numbers(const struct input *in, int varid, const char *name, int most, double *values)
{
    nc_type type;
    MPI_Offset length;
    int status = ncmpi_inq_att(in->ncid, varid, name, &type, &length);

    if (status == NC_ENOTATT)
        return 0;
    NC_TRY(in->path, status);
    if (type == NC_CHAR || length < 1 || length > most)
        die("file %s: attribute %s has %lld values of type %d, expected are 1 to %d numbers", in->path, name,
            (long long)length, type, most);
    NC_TRY(in->path, ncmpi_get_att_double(in->ncid, varid, name, values));
    return (int)length;
}

/* What netCDF libraries write where a program has written nothing; bytes have no such value. */
static int default_fill(nc_type type, double *fill)
{
    switch (type) {
    case NC_SHORT: *fill = NC_FILL_SHORT; return 1;
    case NC_INT: *fill = NC_FILL_INT; return 1;
    case NC_FLOAT: *fill = (double)NC_FILL_FLOAT; return 1;
    case NC_DOUBLE: *fill = NC_FILL_DOUBLE; return 1;
    case NC_USHORT: *fill = NC_FILL_USHORT; return 1;
    case NC_UINT: *fill = NC_FILL_UINT; return 1;
    case NC_INT64: *fill = (double)NC_FILL_INT64; return 1;
    case NC_UINT64: *fill = (double)NC_FILL_UINT64; return 1;
    default: return 0;
    }
}

static struct packing read_packing(const struct input *in, int varid)
{
    struct packing p = {.scale = 1.0, .valid_min = -INFINITY, .valid_max = INFINITY};
    double range[2];
    nc_type type;

    NC_TRY(in->path, ncmpi_inq_vartype(in->ncid, varid, &type));
    read_numbers(in, varid, "scale_factor", 1, &p.scale);
    read_numbers(in, varid, "add_offset", 1, &p.offset);
    p.n_missing = read_numbers(in, varid, "_FillValue", 1, p.missing);
    if (p.n_missing == 0)
        p.n_missing = default_fill(type, p.missing);
    p.n_missing += read_numbers(in, varid, "missing_value", MAX_MISSING - p.n_missing, &p.missing[p.n_missing]);
    read_numbers(in, varid, "valid_min", 1, &p.valid_min);
    read_numbers(in, varid, "valid_max", 1, &p.valid_max);
    if (read_numbers(in, varid, "valid_range", 2, range) == 2) {
        p.valid_min = range[0];
        p.valid_max = range[1];
    }
    return p;
}

/* Missing values become NaN. The attributes that mark them are in terms of the packed numbers. */
static void unpack(const struct packing *p, double *values, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        bool missing = !(values[k] >= p->valid_min && values[k] <= p->valid_max);

        for (int m = 0; m < p->n_missing; m++)
            missing |= values[k] == p->missing[m];
        values[k] = missing ? NAN : values[k] * p->scale + p->offset;
    }
}

static void find_variable(struct input *in, int v)
{
    int n_dims, dims[MAX_DIMS] = {0};
    int status = ncmpi_inq_varid(in->ncid, names[v], &in->varids[v]);

    if (status == NC_ENOTVAR && v == Z) {
        in->varids[v] = -1;
        return;
    }
    if (status == NC_ENOTVAR)
        die("file %s has no variable \"%s\"", in->path, names[v]);
    NC_TRY(in->path, status);
    NC_TRY(in->path, ncmpi_inq_varndims(in->ncid, in->varids[v], &n_dims));
    if (n_dims < 3 || n_dims > MAX_DIMS)
        die("file %s: variable %s has %d dimensions, expected are 3 to %d: (..., latitude, longitude)", in->path,
            names[v], n_dims, MAX_DIMS);
    NC_TRY(in->path, ncmpi_inq_vardimid(in->ncid, in->varids[v], dims));
    if (v == U) {
        in->n_dims = n_dims;
        memcpy(in->dims, dims, sizeof dims);
    }
    if (n_dims != in->n_dims || memcmp(dims, in->dims, (size_t)n_dims * sizeof dims[0]) != 0)
        die("file %s: variable %s must have the same dimensions as u", in->path, names[v]);
    in->packing[v] = read_packing(in, in->varids[v]);
}

static void open_input(const char *path, struct input *in)
{
    int rank, n_ranks;
    MPI_Offset n;

    *in = (struct input){.path = path, .n_rows = 1};
    NC_TRY(path, ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &in->ncid));
    NC_TRY(path, ncmpi_inq_unlimdim(in->ncid, &in->unlimited));
    for (int v = 0; v < N_INPUTS; v++)
        find_variable(in, v);
    for (int d = 0; d < in->n_dims; d++)
        NC_TRY(path, ncmpi_inq_dimlen(in->ncid, in->dims[d], &in->count[d]));
    in->length = in->count[0];
    in->count[0] = 1;

    const int latitude = in->n_dims - 2;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    n = in->count[latitude];
    in->start[latitude] = n * rank / n_ranks;
    in->count[latitude] = n * (rank + 1) / n_ranks - in->start[latitude];
    for (int d = 0; d <= latitude; d++)
        in->n_rows *= (size_t)in->count[d];
    in->n_columns = (size_t)in->count[latitude + 1];
}

static void put_text(const struct output *out, int varid, const char *name, const char *text)
{
    NC_TRY(out->path, ncmpi_put_att_text(out->ncid, varid, name, (MPI_Offset)strlen(text), text));
}

static void copy_text(const struct input *in, int from, const char *name, const struct output *out, int to)
{
    nc_type type;
    MPI_Offset length;
    int status = ncmpi_inq_att(in->ncid, from, name, &type, &length);

    if (status == NC_ENOTATT)
        return;
    NC_TRY(in->path, status);
    if (type == NC_CHAR)
        NC_TRY(out->path, ncmpi_copy_att(in->ncid, from, name, out->ncid, to));
}

/* The coordinate variable of the input's dimension d, or -1: one-dimensional, numeric, named as its dimension. */
static int find_coordinate(const struct input *in, int d, nc_type *type)
{
    char name[NC_MAX_NAME + 1];
    int varid, n_dims;

    NC_TRY(in->path, ncmpi_inq_dimname(in->ncid, in->dims[d], name));
    int status = ncmpi_inq_varid(in->ncid, name, &varid);
    if (status == NC_ENOTVAR)
        return -1;
    NC_TRY(in->path, status);
    NC_TRY(in->path, ncmpi_inq_varndims(in->ncid, varid, &n_dims));
    NC_TRY(in->path, ncmpi_inq_vartype(in->ncid, varid, type));
    return n_dims == 1 && *type != NC_CHAR ? varid : -1;
}

static void define_axes(const struct input *in, const struct output *out, int *dims)
{
    static const char *const kept[] = {"units", "long_name", "standard_name", "calendar", "axis", "positive"};
    char name[NC_MAX_NAME + 1];
    MPI_Offset length;
    nc_type type;
    int to;

    for (int d = 0; d < in->n_dims; d++) {
        NC_TRY(in->path, ncmpi_inq_dim(in->ncid, in->dims[d], name, &length));
        if (in->dims[d] == in->unlimited)
            length = NC_UNLIMITED;
        NC_TRY(out->path, ncmpi_def_dim(out->ncid, name, length, &dims[d]));
        int from = find_coordinate(in, d, &type);
        if (from < 0)
            continue;
        /* CDF-1 and CDF-2 know the types up to double only. */
        NC_TRY(out->path, ncmpi_def_var(out->ncid, name, type > NC_DOUBLE ? NC_DOUBLE : type, 1, &dims[d], &to));
        for (size_t k = 0; k < sizeof kept / sizeof kept[0]; k++)
            copy_text(in, from, kept[k], out, to);
    }
}

static int define_field(const struct output *out, const char *name, int n_dims, const int *dims)
{
    int varid;

    NC_TRY(out->path, ncmpi_def_var(out->ncid, name, NC_FLOAT, n_dims, dims, &varid));
    NC_TRY(out->path, ncmpi_put_att_float(out->ncid, varid, "_FillValue", NC_FLOAT, 1, &fill_value));
    return varid;
}

/* The zonal mean of variable v: all dimensions but longitude. */
static int define_mean(const struct input *in, const struct output *out, int v, const int *dims)
{
    char name[NC_MAX_NAME + 1], longitude[NC_MAX_NAME + 1], methods[NC_MAX_NAME + 16];

    snprintf(name, sizeof name, "%s_zonal_mean", names[v]);
    int varid = define_field(out, name, in->n_dims - 1, dims);
    if (v == SPEED) {
        copy_text(in, in->varids[U], "units", out, varid);
        put_text(out, varid, "standard_name", "wind_speed");
    } else {
        copy_text(in, in->varids[v], "units", out, varid);
        copy_text(in, in->varids[v], "long_name", out, varid);
        copy_text(in, in->varids[v], "standard_name", out, varid);
    }
    NC_TRY(in->path, ncmpi_inq_dimname(in->ncid, in->dims[in->n_dims - 1], longitude));
    snprintf(methods, sizeof methods, "%s: mean", longitude);
    put_text(out, varid, "cell_methods", methods);
    return varid;
}

static void write_axes(const struct input *in, const struct output *out)
{
    char name[NC_MAX_NAME + 1];
    const MPI_Offset start = 0;
    MPI_Offset length;
    nc_type type;
    int to;

    for (int d = 0; d < in->n_dims; d++) {
        int from = find_coordinate(in, d, &type);
        if (from < 0)
            continue;
        NC_TRY(in->path, ncmpi_inq_dim(in->ncid, in->dims[d], name, &length));
        double *values = allocate((size_t)length, sizeof(double));
        NC_TRY(in->path, ncmpi_get_var_double_all(in->ncid, from, values));
        NC_TRY(out->path, ncmpi_inq_varid(out->ncid, name, &to));
        NC_TRY(out->path, ncmpi_put_vara_double_all(out->ncid, to, &start, &length, values));
        free(values);
    }
}

static void create_output(const struct input *in, const char *prefix, int format, struct output *out)
{
    const size_t size = strlen(prefix) + 16;
    int dims[MAX_DIMS];

    out->path = allocate(size, 1);
    snprintf(out->path, size, "%s.%s.nc", prefix, formats[format].suffix);
    NC_TRY(out->path,
           ncmpi_create(MPI_COMM_WORLD, out->path, NC_CLOBBER | formats[format].mode, MPI_INFO_NULL, &out->ncid));
    define_axes(in, out, dims);
    out->speed = define_field(out, names[SPEED], in->n_dims, dims);
    copy_text(in, in->varids[U], "units", out, out->speed);
    put_text(out, out->speed, "standard_name", "wind_speed");
    put_text(out, out->speed, "long_name", "Wind speed");
    for (int v = 0; v < N_VARIABLES; v++)
        if (v == SPEED || in->varids[v] >= 0)
            out->means[v] = define_mean(in, out, v, dims);
    put_text(out, NC_GLOBAL, "Conventions", "CF-1.8");
    put_text(out, NC_GLOBAL, "title", "Wind speed and zonal means");
    put_text(out, NC_GLOBAL, "source", in->path);
    NC_TRY(out->path, ncmpi_enddef(out->ncid));
    write_axes(in, out);
}

static void set_speed(const double *u, const double *v, double *speed, size_t n)
{
    for (size_t k = 0; k < n; k++)
        speed[k] = sqrt(u[k] * u[k] + v[k] * v[k]); /* NaN, that is missing, where u or v is */
}

static void set_means(const double *values, size_t n_rows, size_t n_columns, float *means)
{
    for (size_t row = 0; row < n_rows; row++) {
        double sum = 0.0;
        size_t n = 0;

        for (size_t k = row * n_columns; k < (row + 1) * n_columns; k++)
            if (!isnan(values[k])) {
                sum += values[k];
                n++;
            }
        means[row] = n > 0 ? (float)(sum / (double)n) : fill_value;
    }
}

static void write_all(const struct input *in, const struct output *outputs, double *const fields[N_VARIABLES],
                      float *buffer)
{
    const size_t n = in->n_rows * in->n_columns;

    for (size_t k = 0; k < n; k++)
        buffer[k] = isnan(fields[SPEED][k]) ? fill_value : (float)fields[SPEED][k];
    for (const struct output *out = outputs; out < outputs + N_FORMATS; out++)
        NC_TRY(out->path, ncmpi_put_vara_float_all(out->ncid, out->speed, in->start, in->count, buffer));
    for (int v = 0; v < N_VARIABLES; v++) {
        if (v != SPEED && in->varids[v] < 0)
            continue;
        set_means(fields[v], in->n_rows, in->n_columns, buffer);
        /* start and count serve here too: the mean has the same dimensions but the last. */
        for (const struct output *out = outputs; out < outputs + N_FORMATS; out++)
            NC_TRY(out->path, ncmpi_put_vara_float_all(out->ncid, out->means[v], in->start, in->count, buffer));
    }
}

/* One index of the first dimension (time) at a time, so that memory does not grow with the length of the series. */
static void process(struct input *in, const struct output *outputs)
{
    const size_t n = in->n_rows * in->n_columns;
    float *buffer = allocate(n + in->n_rows, sizeof(float));
    double *fields[N_VARIABLES];

    for (int v = 0; v < N_VARIABLES; v++)
        fields[v] = allocate(n, sizeof(double));
    for (in->start[0] = 0; in->start[0] < in->length; in->start[0]++) {
        for (int v = 0; v < N_INPUTS; v++) {
            if (in->varids[v] < 0)
                continue;
            NC_TRY(in->path, ncmpi_get_vara_double_all(in->ncid, in->varids[v], in->start, in->count, fields[v]));
            unpack(&in->packing[v], fields[v], n);
        }
        set_speed(fields[U], fields[V], fields[SPEED], n);
        write_all(in, outputs, fields, buffer);
    }
    for (int v = 0; v < N_VARIABLES; v++)
        free(fields[v]);
    free(buffer);
}

int main(int argc, char **argv)
{
    struct input in;
    struct output outputs[N_FORMATS];
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 3) {
        if (rank == 0)
            fprintf(stderr,
                    "Usage: mpiexec -n RANKS era_wind INPUT.nc OUTPUT_PREFIX\n"
                    "Writes OUTPUT_PREFIX.cdf1.nc, .cdf2.nc and .cdf5.nc.\n");
        MPI_Finalize();
        return EXIT_FAILURE;
    }
    open_input(argv[1], &in);
    for (int f = 0; f < N_FORMATS; f++)
        create_output(&in, argv[2], f, &outputs[f]);
    process(&in, outputs);
    for (int f = 0; f < N_FORMATS; f++) {
        NC_TRY(outputs[f].path, ncmpi_close(outputs[f].ncid));
        if (rank == 0)
            printf("wrote %s\n", outputs[f].path);
        free(outputs[f].path);
    }
    NC_TRY(in.path, ncmpi_close(in.ncid));
    MPI_Finalize();
    return EXIT_SUCCESS;
}
