/* The 2D process grid: who owns which cells, and the exchange of halo cells. */
#include "model.h"
#include "../check.h"

static void grid_set_types(struct grid *grid)
{
    const int padded[2] = {grid->size[Y] + 2, grid->width};
    const int corner[2] = {1, 1};

    MPI_Type_contiguous(grid->width, MPI_DOUBLE, &grid->row);
    MPI_Type_vector(grid->size[Y], 1, grid->width, MPI_DOUBLE, &grid->column);
    MPI_Type_create_subarray(2, padded, grid->size, corner, MPI_ORDER_C, MPI_DOUBLE, &grid->interior);
    MPI_Type_commit(&grid->row);
    MPI_Type_commit(&grid->column);
    MPI_Type_commit(&grid->interior);
}

void grid_create(MPI_Comm comm, const int size[2], struct grid *grid)
{
    const int periodic[2] = {false, true};
    int n_ranks, ranks[2] = {0, 0}, place[2];

    MPI_Comm_size(comm, &n_ranks);
    MPI_Dims_create(n_ranks, 2, ranks);
    if (size[Y] < ranks[Y] || size[X] < ranks[X])
        die("a grid of %d x %d cells is too small for %d x %d ranks: run on fewer ranks", size[Y], size[X], ranks[Y],
            ranks[X]);
    MPI_Cart_create(comm, 2, ranks, periodic, true, &grid->comm);
    MPI_Comm_rank(grid->comm, &grid->rank);
    MPI_Cart_coords(grid->comm, grid->rank, 2, place);
    MPI_Cart_shift(grid->comm, Y, 1, &grid->south, &grid->north);
    MPI_Cart_shift(grid->comm, X, 1, &grid->west, &grid->east);
    for (int d = 0; d < 2; d++) {
        long long n = size[d];

        grid->first[d] = (int)(n * place[d] / ranks[d]);
        grid->size[d] = (int)(n * (place[d] + 1) / ranks[d]) - grid->first[d];
    }
    grid->width = grid->size[X] + 2;
    grid_set_types(grid);
}

void grid_free(struct grid *grid)
{
    MPI_Type_free(&grid->row);
    MPI_Type_free(&grid->column);
    MPI_Type_free(&grid->interior);
    MPI_Comm_free(&grid->comm);
}

double *grid_new_field(const struct grid *grid)
{
    return allocate((size_t)(grid->size[Y] + 2) * (size_t)grid->width, sizeof(double));
}

/* Columns first, then whole rows with their halo cells: this carries the corners without diagonal messages. */
static void exchange(const struct grid *grid, double *field)
{
    const int ny = grid->size[Y], nx = grid->size[X];

    MPI_Sendrecv(&field[at(grid, 0, nx - 1)], 1, grid->column, grid->east, 0, &field[at(grid, 0, -1)], 1, grid->column,
                 grid->west, 0, grid->comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&field[at(grid, 0, 0)], 1, grid->column, grid->west, 1, &field[at(grid, 0, nx)], 1, grid->column,
                 grid->east, 1, grid->comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&field[at(grid, ny - 1, -1)], 1, grid->row, grid->north, 2, &field[at(grid, -1, -1)], 1, grid->row,
                 grid->south, 2, grid->comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&field[at(grid, 0, -1)], 1, grid->row, grid->south, 3, &field[at(grid, ny, -1)], 1, grid->row,
                 grid->north, 3, grid->comm, MPI_STATUS_IGNORE);
}

/* Beyond a wall h and u are mirrored (no gradient, no stress) and nothing flows through the wall's face. */
static void set_wall(const struct grid *grid, double *const fields[N_FIELDS], int halo_row, int edge_row)
{
    for (int i = -1; i <= grid->size[X]; i++) {
        fields[FIELD_H][at(grid, halo_row, i)] = fields[FIELD_H][at(grid, edge_row, i)];
        fields[FIELD_U][at(grid, halo_row, i)] = fields[FIELD_U][at(grid, edge_row, i)];
        fields[FIELD_V][at(grid, halo_row, i)] = 0.0;
    }
}

void grid_exchange_halos(const struct grid *grid, double *const fields[N_FIELDS])
{
    for (int n = 0; n < N_FIELDS; n++)
        exchange(grid, fields[n]);
    if (grid->south == MPI_PROC_NULL)
        set_wall(grid, fields, -1, 0);
    if (grid->north == MPI_PROC_NULL)
        set_wall(grid, fields, grid->size[Y], grid->size[Y] - 1);
}
