/* The shallow-water model: its constants, its share of the grid on this rank, and its state.
 *
 * Arakawa C grid, each array indexed [j][i] (y, x):
 *     h  thickness of the layer at the centre of a cell
 *     u  eastward velocity on the western face of the cell
 *     v  northward velocity on the southern face of the cell
 * The channel is periodic in x and has free-slip walls in y. Every array carries one row or column of halo cells on
 * each side, which belong to the neighbouring ranks.
 */
#ifndef SHALLOW_WATER_MODEL_H
#define SHALLOW_WATER_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include <mpi.h>

enum { FIELD_H, FIELD_U, FIELD_V, N_FIELDS };
enum { Y, X };

struct constants {
    int size[2];      /* cells of the whole channel: [Y], [X] */
    double spacing;   /* width of a cell in both directions, m */
    double depth;     /* thickness at rest, m */
    double gravity;   /* m s-2 */
    double f0, beta;  /* Coriolis parameter f0 + beta * (y - middle of the channel), s-1 and m-1 s-1 */
    double time_step; /* s */
};

struct grid {
    MPI_Comm comm; /* 2D process grid */
    int rank;
    int size[2], first[2];        /* this rank's cells, and the first of them in the whole channel */
    int width;                    /* columns of a padded array */
    int south, north, west, east; /* neighbours; MPI_PROC_NULL beyond a wall */
    MPI_Datatype row, column;     /* of a padded array, for the halo exchange */
    MPI_Datatype interior;        /* a padded array without its halo, for PnetCDF's flexible calls */
};

struct model {
    struct constants constants;
    struct grid grid;
    long long step;
    double *now[N_FIELDS]; /* the state; the arrays below are work space */
    double *stage[N_FIELDS], *tendency[N_FIELDS];
    double *flux_x, *flux_y, *vorticity, *head;
};

struct totals {
    double volume; /* in excess of the volume at rest, m3 */
    double energy; /* kinetic and available potential energy divided by density, m5 s-2 */
};

/* Index of cell (j, i) in a padded array; -1 and size are halo cells. */
static inline size_t at(const struct grid *grid, int j, int i)
{
    return (size_t)(j + 1) * (size_t)grid->width + (size_t)(i + 1);
}

/* grid.c: collective over comm. */
void grid_create(MPI_Comm comm, const int size[2], struct grid *grid);
void grid_free(struct grid *grid);
double *grid_new_field(const struct grid *grid);
void grid_exchange_halos(const struct grid *grid, double *const fields[N_FIELDS]);

/* model.c: collective over the grid's communicator. */
double model_stable_time_step(const struct constants *constants);
void model_create(MPI_Comm comm, const struct constants *constants, struct model *model);
void model_free(struct model *model);
void model_set_jet(struct model *model);
void model_step(struct model *model);
struct totals model_totals(const struct model *model);

static inline double model_time(const struct model *model)
{
    return (double)model->step * model->constants.time_step;
}

#endif
