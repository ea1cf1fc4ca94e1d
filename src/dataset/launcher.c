/* Launchers of MPI programs set variables of the environment for the processes that they start. */
#include "dataset/launcher.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/driver.h"

/* Set for each process of a job. SLURM sets these for srun only, not in a shell of an allocation. */
static const struct {
    const char *size, *rank, *name;
} launchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "the mpiexec of Open MPI"},
    {"PMI_SIZE", "PMI_RANK", "the mpiexec of MPICH or a relative"},
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "srun"},
};

static int get_number(const char *name)
{
    const char *value = getenv(name);

    return value == NULL ? 0 : atoi(value);
}

/* The name of the MPI library, from its version string: "MPICH Version: 4.0.2", "Open MPI v4.1.4, package ...". */
static void get_library(char *out)
{
    const char *const ends[] = {"\n", ",", " v", " V"};
    int length;

    if (MPI_Get_library_version(out, &length) != MPI_SUCCESS)
        out[0] = '\0';
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char *end = strstr(out, ends[i]);

        if (end != NULL)
            *end = '\0';
    }
}

static void print(const char *path, const char *launcher, int n)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";

    get_library(library);
    fprintf(stderr,
            "PnetCDF warning: %s started %d processes, but each of them is an MPI program of 1 rank: each accesses all "
            "of %s, regardless of the others. The program was built with another MPI library than that launcher: "
            "start it with the mpiexec of %s.\n",
            launcher, n, path, library[0] != '\0' ? library : "that library");
}

void pnc_dataset_launcher_check(const char *path)
{
    static atomic_flag is_known = ATOMIC_FLAG_INIT;

    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        int n = get_number(launchers[i].size);

        if (n == 0)
            continue;
        if (n > 1 && pnc_driver_count_world() == 1 && get_number(launchers[i].rank) == 0 &&
            !atomic_flag_test_and_set(&is_known))
            print(path, launchers[i].name, n);
        return;
    }
}

bool pnc_dataset_launcher_is_first(void)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (get_number(launchers[i].rank) != 0)
            return false;
    return true;
}
