/* A parallel shallow-water model that writes its history and its checkpoints with PnetCDF.
 *
 *     mpiexec -n 4 shallow_water --steps 480 --stop-after 240
 *     mpiexec -n 3 shallow_water --steps 480 --restart shallow_water_checkpoint.nc
 *
 * The two runs end with exactly the fields of a run that was not stopped, on any numbers of ranks.
 */
#include "output.h"
#include "../check.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <unistd.h>

struct options {
    int size[2];
    double spacing, depth, time_step; /* time_step 0: the largest stable one */
    bool grid_given;
    long long steps, stop_after, history_every, checkpoint_every;
    const char *history, *checkpoint, *restart;
};

static const char usage[] =
    "Usage: mpiexec -n RANKS shallow_water [OPTION]...\n"
    "A jet in a rotating channel of shallow water, on a 2D grid of ranks.\n"
    "\n"
    "  --nx N, --ny N          cells along and across the channel (150, 100)\n"
    "  --spacing METRES        width of a cell (20000)\n"
    "  --depth METRES          thickness of the water at rest (100)\n"
    "  --time-step SECONDS     (the largest stable one)\n"
    "  --steps N               last step of the whole run (480)\n"
    "  --stop-after N          stop at step N, to be restarted\n"
    "  --history FILE          CF history file (shallow_water_history.nc); a restart appends to it\n"
    "  --history-every N       steps between its records (40)\n"
    "  --checkpoint FILE       (shallow_water_checkpoint.nc); always written at the end\n"
    "  --checkpoint-every N    and every N steps (0: only at the end)\n"
    "  --restart FILE          go on from a checkpoint; the grid comes from there\n"
    "  --help                  this text\n";

enum {
    OPT_NX = 256,
    OPT_NY,
    OPT_SPACING,
    OPT_DEPTH,
    OPT_TIME_STEP,
    OPT_STEPS,
    OPT_STOP,
    OPT_HISTORY,
    OPT_HISTORY_EVERY,
    OPT_CHECKPOINT,
    OPT_CHECKPOINT_EVERY,
    OPT_RESTART,
    OPT_HELP
};

static const struct option long_options[] = {
    {"nx", required_argument, NULL, OPT_NX},
    {"ny", required_argument, NULL, OPT_NY},
    {"spacing", required_argument, NULL, OPT_SPACING},
    {"depth", required_argument, NULL, OPT_DEPTH},
    {"time-step", required_argument, NULL, OPT_TIME_STEP},
    {"steps", required_argument, NULL, OPT_STEPS},
    {"stop-after", required_argument, NULL, OPT_STOP},
    {"history", required_argument, NULL, OPT_HISTORY},
    {"history-every", required_argument, NULL, OPT_HISTORY_EVERY},
    {"checkpoint", required_argument, NULL, OPT_CHECKPOINT},
    {"checkpoint-every", required_argument, NULL, OPT_CHECKPOINT_EVERY},
    {"restart", required_argument, NULL, OPT_RESTART},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

/* All ranks see the same arguments: one says what is wrong, all leave. */
static _Noreturn void leave(int rank, const char *problem, const char *value)
{
    if (rank == 0 && problem != NULL)
        fprintf(stderr, "shallow_water: %s%s\nTry --help.\n", problem, value);
    MPI_Finalize();
    exit(problem != NULL ? EXIT_FAILURE : EXIT_SUCCESS);
}

static long long whole_number(int rank, const char *text, long long least, long long most)
{
    char *end;

    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < least || value > most)
        leave(rank, "not a sensible whole number: ", text);
    return value;
}

static double positive_number(int rank, const char *text)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end != '\0' || !(value > 0.0 && value < 1e9))
        leave(rank, "not a sensible positive number: ", text);
    return value;
}

static void set_option(int rank, int option, const char *value, struct options *o)
{
    const long long many_cells = 1000000, many_steps = 1000000000000;

    switch (option) {
    case OPT_NX: o->size[X] = (int)whole_number(rank, value, 1, many_cells); break;
    case OPT_NY: o->size[Y] = (int)whole_number(rank, value, 1, many_cells); break;
    case OPT_SPACING: o->spacing = positive_number(rank, value); break;
    case OPT_DEPTH: o->depth = positive_number(rank, value); break;
    case OPT_TIME_STEP: o->time_step = positive_number(rank, value); break;
    case OPT_STEPS: o->steps = whole_number(rank, value, 0, many_steps); break;
    case OPT_STOP: o->stop_after = whole_number(rank, value, 0, many_steps); break;
    case OPT_HISTORY: o->history = value; break;
    case OPT_HISTORY_EVERY: o->history_every = whole_number(rank, value, 1, many_steps); break;
    case OPT_CHECKPOINT: o->checkpoint = value; break;
    case OPT_CHECKPOINT_EVERY: o->checkpoint_every = whole_number(rank, value, 0, many_steps); break;
    case OPT_RESTART: o->restart = value; break;
    case OPT_HELP:
        if (rank == 0)
            fputs(usage, stdout);
        leave(rank, NULL, NULL);
    default: leave(rank, "unknown option or missing value", "");
    }
    if (option >= OPT_NX && option <= OPT_TIME_STEP)
        o->grid_given = true;
}

static struct options parse_options(int argc, char **argv, int rank)
{
    struct options o = {
        .size = {100, 150},
        .spacing = 20e3,
        .depth = 100.0,
        .steps = 480,
        .stop_after = -1,
        .history_every = 40,
        .history = "shallow_water_history.nc",
        .checkpoint = "shallow_water_checkpoint.nc",
    };
    int option;

    opterr = rank == 0;
    while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1)
        set_option(rank, option, optarg, &o);
    if (optind < argc)
        leave(rank, "unexpected argument: ", argv[optind]);
    if (o.restart != NULL && o.grid_given)
        leave(rank, "a restart takes its grid and time step from the checkpoint ", o.restart);
    if (o.depth < 20.0 || o.depth > 12000.0)
        leave(rank, "the depth must be between 20 and 12000 m", "");
    if (o.spacing * o.size[Y] > 10e6)
        leave(rank, "the channel must be narrower than 10,000 km: its Coriolis parameter may not reach zero", "");
    return o;
}

static void start_model(int rank, const struct options *o, struct model *model, double *io_seconds)
{
    struct constants c = {
        .size = {o->size[Y], o->size[X]},
        .spacing = o->spacing,
        .depth = o->depth,
        .gravity = 9.81,
        .f0 = 1e-4,
        .beta = 1.6e-11,
        .time_step = o->time_step,
    };
    const double stable = model_stable_time_step(&c);

    if (o->restart != NULL) {
        *io_seconds += checkpoint_read(o->restart, MPI_COMM_WORLD, model);
        return;
    }
    if (c.time_step > stable)
        leave(rank, "the time step is too long for the grid to be stable", "");
    if (c.time_step == 0.0)
        c.time_step = stable;
    model_create(MPI_COMM_WORLD, &c, model);
    model_set_jet(model);
}

static void report(const struct model *model)
{
    struct totals totals = model_totals(model);

    if (model->grid.rank == 0)
        printf("step %6lld  time %9.0f s  volume %+.9e m3  energy %.9e m5 s-2\n", model->step, model_time(model),
               totals.volume, totals.energy);
}

static void run(struct model *model, const struct options *o, struct history *history, double *io_seconds)
{
    const long long last = o->stop_after >= 0 && o->stop_after < o->steps ? o->stop_after : o->steps;
    const bool progress = model->grid.rank == 0 && isatty(STDERR_FILENO);

    while (model->step < last) {
        model_step(model);
        if (progress)
            fprintf(stderr, "\rstep %lld of %lld\033[K\r", model->step, last);
        if (model->step % o->history_every == 0) {
            history_write(history, model);
            report(model);
        }
        if (o->checkpoint_every > 0 && model->step % o->checkpoint_every == 0 && model->step < last)
            *io_seconds += checkpoint_write(o->checkpoint, model);
    }
    *io_seconds += checkpoint_write(o->checkpoint, model);
}

/* The command line as one string, for the history attribute; the caller frees it. */
static char *join_arguments(int argc, char **argv)
{
    size_t size = 1, used = 0;

    for (int n = 0; n < argc; n++)
        size += strlen(argv[n]) + 1;
    char *text = allocate(size, 1);
    for (int n = 0; n < argc; n++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", n > 0 ? " " : "", argv[n]);
    return text;
}

int main(int argc, char **argv)
{
    struct model model;
    struct history history;
    int rank, n_ranks;
    double seconds[2] = {0.0, 0.0}; /* in checkpoints, then in the history */

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    char *command = join_arguments(argc, argv);
    const struct options o = parse_options(argc, argv, rank);
    const double begun = MPI_Wtime();

    start_model(rank, &o, &model, &seconds[0]);
    report(&model);
    if (o.restart != NULL) {
        history_append(o.history, &model, command, &history);
    } else {
        history_create(o.history, &model, command, &history);
        history_write(&history, &model);
    }
    run(&model, &o, &history, &seconds[0]);
    history_close(&history);
    seconds[1] = history.seconds;
    MPI_Allreduce(MPI_IN_PLACE, seconds, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s at step %lld of %lld on %d rank%s: %.2f s, of which history %.2f s, checkpoints %.2f s\n",
               model.step < o.steps ? "stopped" : "finished", model.step, o.steps, n_ranks, n_ranks == 1 ? "" : "s",
               MPI_Wtime() - begun, seconds[1], seconds[0]);
    model_free(&model);
    free(command);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
