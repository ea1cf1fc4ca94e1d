/* The physics: nonlinear rotating shallow-water equations in vector-invariant form, with the energy-conserving
 * scheme of Sadourny (1975, J. Atmos. Sci. 32, 680-689) in space and the third-order Runge-Kutta scheme of Shu and
 * Osher (1988) in time.
 *
 * Each cell's arithmetic depends on its neighbours' values only, never on which rank owns them, so the result is the
 * same bit for bit on any number of ranks.
 */
#include "model.h"
#include "../check.h"

#include <math.h>
#include <stdint.h>

/* The initial jet and the bump that disturbs it. */
static const double jet_drop = 8.0;     /* difference of thickness over half the jet, m */
static const double jet_width = 200e3;  /* m */
static const double bump_height = 2.0;  /* m */
static const double bump_width = 150e3; /* m */

static const double max_cells = 1e8;

double model_stable_time_step(const struct constants *c)
{
    double speed = sqrt(c->gravity * (c->depth + jet_drop + bump_height)) + c->gravity * jet_drop / (c->f0 * jet_width);
    /* The limit is sqrt(3) / (2 sqrt(2)) = 0.61 grid spacings per step. */
    double step = 0.4 * c->spacing / speed;

    return step > 1.0 ? floor(step) : step;
}

void model_create(MPI_Comm comm, const struct constants *constants, struct model *model)
{
    if ((double)constants->size[Y] * constants->size[X] > max_cells)
        die("%d x %d cells are more than %.0f", constants->size[Y], constants->size[X], max_cells);
    model->constants = *constants;
    model->step = 0;
    grid_create(comm, constants->size, &model->grid);
    for (int n = 0; n < N_FIELDS; n++) {
        model->now[n] = grid_new_field(&model->grid);
        model->stage[n] = grid_new_field(&model->grid);
        model->tendency[n] = grid_new_field(&model->grid);
    }
    model->flux_x = grid_new_field(&model->grid);
    model->flux_y = grid_new_field(&model->grid);
    model->vorticity = grid_new_field(&model->grid);
    model->head = grid_new_field(&model->grid);
}

void model_free(struct model *model)
{
    for (int n = 0; n < N_FIELDS; n++) {
        free(model->now[n]);
        free(model->stage[n]);
        free(model->tendency[n]);
    }
    free(model->flux_x);
    free(model->flux_y);
    free(model->vorticity);
    free(model->head);
    grid_free(&model->grid);
}

/* f at the distance of `rows` cells from the southern wall. */
static double coriolis(const struct constants *c, double rows)
{
    return c->f0 + c->beta * c->spacing * (rows - 0.5 * c->size[Y]);
}

/* An eastward jet in geostrophic balance, unstable to the bump that is laid on it. */
void model_set_jet(struct model *model)
{
    const struct constants *c = &model->constants;
    const struct grid *grid = &model->grid;

    for (int j = 0; j < grid->size[Y]; j++) {
        double row = grid->first[Y] + j + 0.5;
        double y = c->spacing * (row - 0.5 * c->size[Y]);
        double slope = 1.0 / cosh(y / jet_width);
        double jet = c->gravity * jet_drop / (coriolis(c, row) * jet_width) * slope * slope;

        for (int i = 0; i < grid->size[X]; i++) {
            double x = c->spacing * (grid->first[X] + i + 0.5 - 0.25 * c->size[X]);
            double bump = bump_height * exp(-(x * x + y * y) / (bump_width * bump_width));

            model->now[FIELD_H][at(grid, j, i)] = c->depth - jet_drop * tanh(y / jet_width) + bump;
            model->now[FIELD_U][at(grid, j, i)] = jet;
            model->now[FIELD_V][at(grid, j, i)] = 0.0;
        }
    }
    grid_exchange_halos(grid, model->now);
}

/* Mass fluxes on faces, Bernoulli head g h + (u2 + v2) / 2 at centres, potential vorticity on corners. The loop visits
 * the corners; k, w, s and sw are the four cells that meet there. */
static void set_diagnostics(const struct model *model, double *const state[N_FIELDS])
{
    const struct constants *c = &model->constants;
    const struct grid *grid = &model->grid;
    const double *h = state[FIELD_H], *u = state[FIELD_U], *v = state[FIELD_V];
    const double per_spacing = 1.0 / c->spacing;

    for (int j = 0; j <= grid->size[Y]; j++) {
        double f = coriolis(c, grid->first[Y] + j);

        for (int i = 0; i <= grid->size[X]; i++) {
            size_t k = at(grid, j, i), s = at(grid, j - 1, i), w = k - 1, sw = s - 1;

            model->flux_x[s] = 0.5 * (h[sw] + h[s]) * u[s];
            model->flux_y[w] = 0.5 * (h[sw] + h[w]) * v[w];
            model->vorticity[k] =
                (f + ((v[k] - v[w]) - (u[k] - u[s])) * per_spacing) / (0.25 * ((h[k] + h[w]) + (h[s] + h[sw])));
            model->head[sw] =
                c->gravity * h[sw] + 0.25 * ((u[sw] * u[sw] + u[s] * u[s]) + (v[sw] * v[sw] + v[w] * v[w]));
        }
    }
}

static void set_tendency(const struct model *model)
{
    const struct grid *grid = &model->grid;
    const double *fx = model->flux_x, *fy = model->flux_y, *q = model->vorticity, *head = model->head;
    const double per_spacing = 1.0 / model->constants.spacing;
    const size_t row = (size_t)grid->width;

    for (int j = 0; j < grid->size[Y]; j++) {
        bool wall = grid->first[Y] + j == 0;

        for (int i = 0; i < grid->size[X]; i++) {
            size_t k = at(grid, j, i), n = k + row, s = k - row, e = k + 1, w = k - 1;

            model->tendency[FIELD_H][k] = -((fx[e] - fx[k]) + (fy[n] - fy[k])) * per_spacing;
            model->tendency[FIELD_U][k] =
                0.25 * (q[n] * (fy[n] + fy[n - 1]) + q[k] * (fy[k] + fy[w])) - (head[k] - head[w]) * per_spacing;
            model->tendency[FIELD_V][k] = wall ? 0.0
                                               : -0.25 * (q[e] * (fx[e] + fx[s + 1]) + q[k] * (fx[k] + fx[s])) -
                                                     (head[k] - head[s]) * per_spacing;
        }
    }
}

/* stage = old_share * now + (1 - old_share) * (stage + time step * tendency(stage)) */
static void advance_stage(struct model *model, double old_share)
{
    const struct grid *grid = &model->grid;
    const double new_share = 1.0 - old_share, dt = model->constants.time_step;

    set_diagnostics(model, model->stage);
    set_tendency(model);
    for (int n = 0; n < N_FIELDS; n++) {
        const double *old = model->now[n], *tendency = model->tendency[n];
        double *stage = model->stage[n];

        for (int j = 0; j < grid->size[Y]; j++)
            for (int i = 0; i < grid->size[X]; i++) {
                size_t k = at(grid, j, i);

                stage[k] = old_share * old[k] + new_share * (stage[k] + dt * tendency[k]);
            }
    }
    grid_exchange_halos(grid, model->stage);
}

void model_step(struct model *model)
{
    const struct grid *grid = &model->grid;
    const size_t cells = (size_t)(grid->size[Y] + 2) * (size_t)grid->width;

    for (int n = 0; n < N_FIELDS; n++)
        for (size_t k = 0; k < cells; k++)
            model->stage[n][k] = model->now[n][k];
    advance_stage(model, 0.0);
    advance_stage(model, 3.0 / 4.0);
    advance_stage(model, 1.0 / 3.0);
    for (int n = 0; n < N_FIELDS; n++) {
        double *new = model->stage[n];

        model->stage[n] = model->now[n];
        model->now[n] = new;
    }
    model->step++;
}

/* Sums of doubles depend on their order, and so on the number of ranks; sums of integers do not. These units leave room
 * for max_cells cells with an average of 20 m of excess and 8 * 10^4 m3 s-2 of energy. */
struct totals model_totals(const struct model *model)
{
    const struct constants *c = &model->constants;
    const struct grid *grid = &model->grid;
    const double *h = model->now[FIELD_H], *u = model->now[FIELD_U], *v = model->now[FIELD_V];
    const double height_unit = 0x1p-32, energy_unit = 0x1p-20, area = c->spacing * c->spacing;
    int64_t sums[2] = {0, 0};

    for (int j = 0; j < grid->size[Y]; j++)
        for (int i = 0; i < grid->size[X]; i++) {
            size_t k = at(grid, j, i), w = k - 1, s = k - (size_t)grid->width;
            double excess = h[k] - c->depth;
            double kinetic = 0.25 * ((h[w] + h[k]) * u[k] * u[k] + (h[s] + h[k]) * v[k] * v[k]);

            sums[0] += llround(excess / height_unit);
            sums[1] += llround((kinetic + 0.5 * c->gravity * excess * excess) / energy_unit);
        }
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INT64_T, MPI_SUM, grid->comm);
    return (struct totals){
        .volume = (double)sums[0] * height_unit * area,
        .energy = (double)sums[1] * energy_unit * area,
    };
}
