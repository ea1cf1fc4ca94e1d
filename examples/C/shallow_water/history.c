/* The history file: one record per output time, described by the CF conventions (https://cfconventions.org). */
#include "output.h"
#include "../check.h"

#include <string.h>
#include <time.h>

static const float fill_value = NC_FILL_FLOAT;

static void put_text(const char *path, int ncid, int varid, const char *name, const char *text)
{
    NC_TRY(path, ncmpi_put_att_text(ncid, varid, name, (MPI_Offset)strlen(text), text));
}

static int define_axis(const char *path, int ncid, const char *name, const char *axis, int dim, const char *long_name)
{
    int varid;

    NC_TRY(path, ncmpi_def_var(ncid, name, NC_DOUBLE, 1, &dim, &varid));
    put_text(path, ncid, varid, "units", "m");
    put_text(path, ncid, varid, "standard_name",
             axis[0] == 'X' ? "projection_x_coordinate" : "projection_y_coordinate");
    put_text(path, ncid, varid, "long_name", long_name);
    put_text(path, ncid, varid, "axis", axis);
    return varid;
}

static int define_field(const char *path, int ncid, const char *name, const int dims[3], const char *units,
                        const char *standard_name, const char *long_name)
{
    int varid;

    NC_TRY(path, ncmpi_def_var(ncid, name, NC_FLOAT, 3, dims, &varid));
    NC_TRY(path, ncmpi_put_att_float(ncid, varid, "_FillValue", NC_FLOAT, 1, &fill_value));
    put_text(path, ncid, varid, "units", units);
    put_text(path, ncid, varid, "standard_name", standard_name);
    put_text(path, ncid, varid, "long_name", long_name);
    return varid;
}

static int define_series(const char *path, int ncid, const char *name, int time_dim, const char *units,
                         const char *long_name)
{
    int varid;

    NC_TRY(path, ncmpi_def_var(ncid, name, NC_DOUBLE, 1, &time_dim, &varid));
    put_text(path, ncid, varid, "units", units);
    put_text(path, ncid, varid, "long_name", long_name);
    return varid;
}

static void define_variables(struct history *history, const int dims[5])
{
    enum { T, Y_CENTRE, Y_FACE, X_CENTRE, X_FACE };
    const int h_dims[] = {dims[T], dims[Y_CENTRE], dims[X_CENTRE]};
    const int u_dims[] = {dims[T], dims[Y_CENTRE], dims[X_FACE]};
    const int v_dims[] = {dims[T], dims[Y_FACE], dims[X_CENTRE]};
    const char *path = history->path;
    int ncid = history->ncid;

    history->time = define_series(path, ncid, "time", dims[T], "seconds since 2000-01-01 00:00:00", "model time");
    put_text(path, ncid, history->time, "standard_name", "time");
    put_text(path, ncid, history->time, "calendar", "proleptic_gregorian");
    put_text(path, ncid, history->time, "axis", "T");
    history->h = define_field(path, ncid, "h", h_dims, "m", "sea_surface_height_above_mean_sea_level",
                              "height of the surface above its level at rest");
    history->u = define_field(path, ncid, "u", u_dims, "m s-1", "sea_water_x_velocity",
                              "velocity in x on the western faces of the cells");
    history->v = define_field(path, ncid, "v", v_dims, "m s-1", "sea_water_y_velocity",
                              "velocity in y on the southern faces of the cells");
    history->volume = define_series(path, ncid, "volume", dims[T], "m3", "volume in excess of the volume at rest");
    history->energy = define_series(path, ncid, "energy", dims[T], "m5 s-2",
                                    "kinetic and available potential energy divided by density");
}

/* The ranks along one edge of the process grid write the axis. The others take part with nothing: in MPI-IO,
 * overlapping writes of one collective call leave undefined data behind, even where all write the same. */
static void write_axis(const struct history *history, int varid, const struct model *model, int d, double shift)
{
    const int across = d == X ? Y : X;
    const MPI_Offset start = model->grid.first[d];
    const MPI_Offset count = model->grid.first[across] == 0 ? model->grid.size[d] : 0;
    double *values = allocate((size_t)count, sizeof(double));

    for (MPI_Offset n = 0; n < count; n++)
        values[n] = model->constants.spacing * ((double)(start + n) + shift);
    NC_TRY(history->path, ncmpi_put_vara_double_all(history->ncid, varid, &start, &count, values));
    free(values);
}

/* One more line "date: command" in the global attribute `history`, as the CF conventions ask. */
static void add_history_line(const struct history *history, const struct model *model, const char *command)
{
    const char *path = history->path;
    MPI_Offset old_length = 0;
    char date[32] = "";
    time_t now = time(NULL);

    /* Attributes must be equal on all ranks, and their clocks are not. */
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    MPI_Bcast(date, sizeof date, MPI_CHAR, 0, model->grid.comm);

    int status = ncmpi_inq_attlen(history->ncid, NC_GLOBAL, "history", &old_length);
    if (status != NC_ENOTATT)
        NC_TRY(path, status);
    size_t size = (size_t)old_length + sizeof date + strlen(command) + 4;
    char *text = allocate(size, 1);
    if (old_length > 0) {
        NC_TRY(path, ncmpi_get_att_text(history->ncid, NC_GLOBAL, "history", text));
        text[old_length++] = '\n';
    }
    snprintf(text + old_length, size - (size_t)old_length, "%s: %s", date, command);
    put_text(path, history->ncid, NC_GLOBAL, "history", text);
    free(text);
}

void history_create(const char *path, const struct model *model, const char *command, struct history *history)
{
    const int *size = model->constants.size;
    const MPI_Offset header_room = 4096;
    int ncid, dims[5];
    double begun = MPI_Wtime();

    *history = (struct history){.path = path, .anomaly = grid_new_field(&model->grid)};
    NC_TRY(path, ncmpi_create(model->grid.comm, path, NC_CLOBBER | NC_64BIT_OFFSET, MPI_INFO_NULL, &ncid));
    history->ncid = ncid;
    NC_TRY(path, ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]));
    NC_TRY(path, ncmpi_def_dim(ncid, "y", size[Y], &dims[1]));
    NC_TRY(path, ncmpi_def_dim(ncid, "y_face", size[Y], &dims[2]));
    NC_TRY(path, ncmpi_def_dim(ncid, "x", size[X], &dims[3]));
    NC_TRY(path, ncmpi_def_dim(ncid, "x_face", size[X], &dims[4]));
    int y = define_axis(path, ncid, "y", "Y", dims[1], "y of the centres of the cells");
    int y_face = define_axis(path, ncid, "y_face", "Y", dims[2], "y of the southern faces of the cells");
    int x = define_axis(path, ncid, "x", "X", dims[3], "x of the centres of the cells");
    int x_face = define_axis(path, ncid, "x_face", "X", dims[4], "x of the western faces of the cells");
    define_variables(history, dims);
    put_text(path, ncid, NC_GLOBAL, "Conventions", "CF-1.8");
    put_text(path, ncid, NC_GLOBAL, "title", "Unstable jet in a rotating channel of shallow water");
    put_text(path, ncid, NC_GLOBAL, "source", "shallow_water example: Arakawa C grid, Sadourny (1975), Runge-Kutta 3");
    add_history_line(history, model, command);
    /* Restarts add to the attribute `history`: with room in the header this need not move the data. */
    NC_TRY(path, ncmpi__enddef(ncid, header_room, 4, 0, 4));
    write_axis(history, y, model, Y, 0.5);
    write_axis(history, y_face, model, Y, 0.0);
    write_axis(history, x, model, X, 0.5);
    write_axis(history, x_face, model, X, 0.0);
    history->seconds += MPI_Wtime() - begun;
}

/* The number of records up to the time of the model. */
static MPI_Offset count_records(const struct history *history, const struct model *model)
{
    const double limit = model_time(model) + 0.5 * model->constants.time_step;
    MPI_Offset start = 0, count, n = 0;
    int dimid;

    NC_TRY(history->path, ncmpi_inq_unlimdim(history->ncid, &dimid));
    NC_TRY(history->path, ncmpi_inq_dimlen(history->ncid, dimid, &count));
    double *times = allocate((size_t)count, sizeof(double));
    NC_TRY(history->path, ncmpi_get_vara_double_all(history->ncid, history->time, &start, &count, times));
    while (n < count && times[n] <= limit)
        n++;
    free(times);
    return n;
}

void history_append(const char *path, const struct model *model, const char *command, struct history *history)
{
    int ncid;
    double begun = MPI_Wtime();

    *history = (struct history){.path = path, .anomaly = grid_new_field(&model->grid)};
    NC_TRY(path, ncmpi_open(model->grid.comm, path, NC_WRITE, MPI_INFO_NULL, &ncid));
    history->ncid = ncid;
    NC_TRY(path, ncmpi_inq_varid(ncid, "time", &history->time));
    NC_TRY(path, ncmpi_inq_varid(ncid, "h", &history->h));
    NC_TRY(path, ncmpi_inq_varid(ncid, "u", &history->u));
    NC_TRY(path, ncmpi_inq_varid(ncid, "v", &history->v));
    NC_TRY(path, ncmpi_inq_varid(ncid, "volume", &history->volume));
    NC_TRY(path, ncmpi_inq_varid(ncid, "energy", &history->energy));
    history->n_records = count_records(history, model);
    NC_TRY(path, ncmpi_redef(ncid));
    add_history_line(history, model, command);
    NC_TRY(path, ncmpi_enddef(ncid));
    history->seconds += MPI_Wtime() - begun;
}

/* PnetCDF takes the interior out of the padded array and converts it to float. */
static void write_field(const struct history *history, int varid, const struct grid *grid, const double *field)
{
    const MPI_Offset start[3] = {history->n_records, grid->first[Y], grid->first[X]};
    const MPI_Offset count[3] = {1, grid->size[Y], grid->size[X]};

    NC_TRY(history->path, ncmpi_put_vara_all(history->ncid, varid, start, count, field, 1, grid->interior));
}

void history_write(struct history *history, const struct model *model)
{
    const struct grid *grid = &model->grid;
    const struct totals totals = model_totals(model);
    const double now = model_time(model);
    const MPI_Offset *record = &history->n_records;

    for (int j = 0; j < grid->size[Y]; j++)
        for (int i = 0; i < grid->size[X]; i++) {
            size_t k = at(grid, j, i);

            history->anomaly[k] = model->now[FIELD_H][k] - model->constants.depth;
        }

    double begun = MPI_Wtime();
    NC_TRY(history->path, ncmpi_put_var1_double_all(history->ncid, history->time, record, &now));
    NC_TRY(history->path, ncmpi_put_var1_double_all(history->ncid, history->volume, record, &totals.volume));
    NC_TRY(history->path, ncmpi_put_var1_double_all(history->ncid, history->energy, record, &totals.energy));
    write_field(history, history->h, grid, history->anomaly);
    write_field(history, history->u, grid, model->now[FIELD_U]);
    write_field(history, history->v, grid, model->now[FIELD_V]);
    history->n_records++;
    history->seconds += MPI_Wtime() - begun;
}

void history_close(struct history *history)
{
    double begun = MPI_Wtime();

    NC_TRY(history->path, ncmpi_close(history->ncid));
    free(history->anomaly);
    history->seconds += MPI_Wtime() - begun;
}
