/* Checkpoints: everything needed to go on with exactly the same numbers, on any number of ranks. */
#include "output.h"
#include "../check.h"

#include <string.h>

static const char *const names[N_FIELDS] = {"h", "u", "v"};
static const char *const units[N_FIELDS] = {"m", "m s-1", "m s-1"};

static void define(const char *path, int ncid, const struct model *model, int fields[N_FIELDS], int *step)
{
    static const char title[] = "Checkpoint of the shallow-water example";
    const struct constants *c = &model->constants;
    int dims[2];

    NC_TRY(path, ncmpi_def_dim(ncid, "y", c->size[Y], &dims[Y]));
    NC_TRY(path, ncmpi_def_dim(ncid, "x", c->size[X], &dims[X]));
    NC_TRY(path, ncmpi_def_var(ncid, "step", NC_INT64, 0, NULL, step));
    for (int n = 0; n < N_FIELDS; n++) {
        MPI_Offset length = (MPI_Offset)strlen(units[n]);

        NC_TRY(path, ncmpi_def_var(ncid, names[n], NC_DOUBLE, 2, dims, &fields[n]));
        NC_TRY(path, ncmpi_put_att_text(ncid, fields[n], "units", length, units[n]));
    }
    NC_TRY(path, ncmpi_put_att_text(ncid, NC_GLOBAL, "title", sizeof title - 1, title));
    NC_TRY(path, ncmpi_put_att_double(ncid, NC_GLOBAL, "spacing", NC_DOUBLE, 1, &c->spacing));
    NC_TRY(path, ncmpi_put_att_double(ncid, NC_GLOBAL, "depth", NC_DOUBLE, 1, &c->depth));
    NC_TRY(path, ncmpi_put_att_double(ncid, NC_GLOBAL, "gravity", NC_DOUBLE, 1, &c->gravity));
    NC_TRY(path, ncmpi_put_att_double(ncid, NC_GLOBAL, "f0", NC_DOUBLE, 1, &c->f0));
    NC_TRY(path, ncmpi_put_att_double(ncid, NC_GLOBAL, "beta", NC_DOUBLE, 1, &c->beta));
    NC_TRY(path, ncmpi_put_att_double(ncid, NC_GLOBAL, "time_step", NC_DOUBLE, 1, &c->time_step));
    NC_TRY(path, ncmpi_enddef(ncid));
}

/* The file gets its name only when it is complete, so a crash while writing leaves the last checkpoint as it was. */
double checkpoint_write(const char *path, const struct model *model)
{
    const struct grid *grid = &model->grid;
    const MPI_Offset start[2] = {grid->first[Y], grid->first[X]};
    const MPI_Offset count[2] = {grid->size[Y], grid->size[X]};
    const size_t length = strlen(path) + sizeof ".part";
    char *part = allocate(length, 1);
    int ncid, fields[N_FIELDS], step;
    double begun = MPI_Wtime();

    snprintf(part, length, "%s.part", path);
    NC_TRY(part, ncmpi_create(grid->comm, part, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &ncid));
    define(part, ncid, model, fields, &step);
    NC_TRY(part, ncmpi_put_var_longlong_all(ncid, step, &model->step));
    for (int n = 0; n < N_FIELDS; n++)
        NC_TRY(part, ncmpi_put_vara_all(ncid, fields[n], start, count, model->now[n], 1, grid->interior));
    NC_TRY(part, ncmpi_close(ncid));
    MPI_Barrier(grid->comm);
    if (grid->rank == 0 && rename(part, path) != 0)
        die("cannot rename %s to %s", part, path);
    MPI_Barrier(grid->comm);
    free(part);
    return MPI_Wtime() - begun;
}

static int dimension_length(const char *path, int ncid, const char *name)
{
    int dimid;
    MPI_Offset length;

    NC_TRY(path, ncmpi_inq_dimid(ncid, name, &dimid));
    NC_TRY(path, ncmpi_inq_dimlen(ncid, dimid, &length));
    if (length < 1 || length > 1000000)
        die("file %s: dimension %s = %lld is not one of this model", path, name, (long long)length);
    return (int)length;
}

static void read_constants(const char *path, int ncid, struct constants *c)
{
    c->size[Y] = dimension_length(path, ncid, "y");
    c->size[X] = dimension_length(path, ncid, "x");
    NC_TRY(path, ncmpi_get_att_double(ncid, NC_GLOBAL, "spacing", &c->spacing));
    NC_TRY(path, ncmpi_get_att_double(ncid, NC_GLOBAL, "depth", &c->depth));
    NC_TRY(path, ncmpi_get_att_double(ncid, NC_GLOBAL, "gravity", &c->gravity));
    NC_TRY(path, ncmpi_get_att_double(ncid, NC_GLOBAL, "f0", &c->f0));
    NC_TRY(path, ncmpi_get_att_double(ncid, NC_GLOBAL, "beta", &c->beta));
    NC_TRY(path, ncmpi_get_att_double(ncid, NC_GLOBAL, "time_step", &c->time_step));
}

double checkpoint_read(const char *path, MPI_Comm comm, struct model *model)
{
    struct constants constants;
    const struct grid *grid = &model->grid;
    int ncid, varid;
    double begun = MPI_Wtime();

    NC_TRY(path, ncmpi_open(comm, path, NC_NOWRITE, MPI_INFO_NULL, &ncid));
    read_constants(path, ncid, &constants);
    model_create(comm, &constants, model);
    NC_TRY(path, ncmpi_inq_varid(ncid, "step", &varid));
    NC_TRY(path, ncmpi_get_var_longlong_all(ncid, varid, &model->step));
    for (int n = 0; n < N_FIELDS; n++) {
        /* The process grid may have renumbered the ranks: `grid` says what is ours on this process. */
        const MPI_Offset start[2] = {grid->first[Y], grid->first[X]};
        const MPI_Offset count[2] = {grid->size[Y], grid->size[X]};

        NC_TRY(path, ncmpi_inq_varid(ncid, names[n], &varid));
        NC_TRY(path, ncmpi_get_vara_all(ncid, varid, start, count, model->now[n], 1, grid->interior));
    }
    NC_TRY(path, ncmpi_close(ncid));
    grid_exchange_halos(grid, model->now);
    return MPI_Wtime() - begun;
}
