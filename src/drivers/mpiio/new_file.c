/* The stripes of a new file on Lustre. Rank 0 asks what its folder and the file system say, chooses, and creates the
 * file by Lustre's own library, liblustreapi, which is opened at run time: then any MPI-IO opens it as it is. Without
 * that library the choice becomes hints: the Lustre driver of ROMIO knows them, other drivers ignore them. */
#include "drivers/mpiio/mpiio.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/library.h"

/* --- liblustreapi, as llapi_layout(7) describes it --- */

#define OVERSTRIPING 4 /* LLAPI_LAYOUT_OVERSTRIPING */

typedef struct llapi_layout llapi_layout;
typedef struct layout_functions {
    llapi_layout *(*alloc)(void);
    void (*free)(llapi_layout *layout);
    int (*set_count)(llapi_layout *layout, uint64_t count);
    int (*set_size)(llapi_layout *layout, uint64_t size);
    int (*set_pattern)(llapi_layout *layout, uint64_t pattern);
    int (*create)(const char *path, int flags, int mode, const llapi_layout *layout);
    int (*get_servers)(const char *folder, int *count, int of_metadata);
} layout_functions;

static bool load_functions(layout_functions *out)
{
    static const pnc_host_symbol wanted[] = {
        {"llapi_layout_alloc", offsetof(layout_functions, alloc)},
        {"llapi_layout_free", offsetof(layout_functions, free)},
        {"llapi_layout_stripe_count_set", offsetof(layout_functions, set_count)},
        {"llapi_layout_stripe_size_set", offsetof(layout_functions, set_size)},
        {"llapi_layout_pattern_set", offsetof(layout_functions, set_pattern)},
        {"llapi_layout_file_create", offsetof(layout_functions, create)},
        {"llapi_get_obd_count", offsetof(layout_functions, get_servers)},
    };
    const size_t n = sizeof wanted / sizeof *wanted;

    return pnc_host_library_load("liblustreapi.so.1", wanted, n, out) ||
           pnc_host_library_load("liblustreapi.so", wanted, n, out);
}

/* A library from before Lustre 2.13 has no pattern with several stripes on a server. */
static bool fill_layout(const layout_functions *f, pnc_striping_choice *c, llapi_layout *layout)
{
    if (c->on_server > 0 && f->set_pattern(layout, OVERSTRIPING) != 0) {
        c->factor /= c->on_server;
        c->on_server = 0;
    }
    return (c->factor == 0 || f->set_count(layout, (uint64_t)c->factor) == 0) &&
           (c->unit == 0 || f->set_size(layout, (uint64_t)c->unit) == 0);
}

/* False: errno says why. */
static bool create_with_layout(const layout_functions *f, const char *path, pnc_striping_choice *c)
{
    llapi_layout *layout = f->alloc();
    int fd = -1, number;

    if (layout == NULL)
        return false;
    if (fill_layout(f, c, layout))
        fd = f->create(path, O_RDWR | O_CLOEXEC, 0666, layout);
    number = errno;
    f->free(layout);
    if (fd >= 0)
        close(fd);
    errno = number;
    return fd >= 0;
}

/* The library opens the file with O_EXCL, and leaves it there, empty, if it cannot give it the stripes. */
static bool has_left_file(const char *path, int number)
{
    struct stat facts;

    return number != EEXIST && stat(path, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size == 0 &&
           facts.st_uid == geteuid();
}

static void create_file(const layout_functions *f, const char *path, pnc_new_striping *out)
{
    int number = create_with_layout(f, path, &out->choice) ? 0 : errno;
    pnc_identity own;

    out->is_created = number == 0 || has_left_file(path, number);
    if (number != 0)
        snprintf(out->obstacle, sizeof out->obstacle, "liblustreapi failed: %.60s", strerror(number));
    if (out->is_created && pnc_mpiio_path_identify(path, &own)) {
        out->device = own.device;
        out->inode = own.inode;
    }
}

/* --- what the choice depends on --- */

/* The topmost folder of the file system that has this one. Freed by free; NULL: it is not known. */
static char *find_root(const char *folder)
{
    char *path = realpath(folder, NULL), *slash;
    struct stat below, above;

    if (path == NULL || stat(path, &below) != 0)
        return path;
    for (slash = strrchr(path, '/'); slash != NULL && slash != path; slash = strrchr(path, '/')) {
        *slash = '\0';
        if (stat(path, &above) == 0 && above.st_dev == below.st_dev)
            continue;
        *slash = '/';
        break;
    }
    return path;
}

/* Whether this is one rank of several, as far as that is known. */
static bool is_one_of_several(MPI_Comm comm)
{
    int own = 0;

    MPI_Comm_size(comm, &own);
    return own == 1 && pnc_driver_count_world() > 1;
}

static bool has_variable(const char *name, const char *part)
{
    const char *value = getenv(name);

    return value != NULL && strstr(value, part) != NULL;
}

/* ROMIO's file of hints, and variables of HPE Cray MPI and OMPIO; the first server, which only MPI knows by a hint. */
static bool is_left_to_mpi(MPI_Info info)
{
    static const char *const names[] = {"romio_lustre_start_iodevice", "start_iodevice"};
    int length, found = 0;

    for (size_t i = 0; i < sizeof names / sizeof *names && info != MPI_INFO_NULL && !found; i++)
        MPI_Info_get_valuelen(info, names[i], &length, &found);
    return found || has_variable("ROMIO_HINTS", "") || has_variable("MPICH_MPIIO_HINTS", "striping") ||
           has_variable("OMPI_MCA_fs_lustre_stripe_size", "") || has_variable("OMPI_MCA_fs_lustre_stripe_width", "");
}

static bool is_same_default(const pnc_striping_default *a, const pnc_striping_default *b)
{
    return a->factor == b->factor && a->unit == b->unit && a->is_composite == b->is_composite;
}

static void find_defaults(const char *folder, pnc_striping_case *c)
{
    char *root = find_root(folder), *own = realpath(folder, NULL);

    if (root != NULL)
        pnc_mpiio_striping_find_default(root, &c->system);
    if (root == NULL || own == NULL || strcmp(root, own) != 0)
        pnc_mpiio_striping_find_default(folder, &c->folder);
    if (is_same_default(&c->folder, &c->system)) /* Lustre answers so for a folder that says nothing */
        c->folder = (pnc_striping_default){0};
    free(root);
    free(own);
}

/* --- the choice --- */

static pnc_striping_choice choose(const pnc_open_call *call, int nnodes, const layout_functions *f)
{
    char folder[PNC_MPIIO_PATH_BYTES];
    pnc_striping_case c = {.nnodes = nnodes,
                           .is_of_rank = is_one_of_several(call->comm),
                           .inherits = call->inherits,
                           .is_by_mpi = is_left_to_mpi(call->info),
                           .given_factor = pnc_mpiio_striping_get_hint(call->info, "striping_factor"),
                           .given_unit = pnc_mpiio_striping_get_hint(call->info, "striping_unit"),
                           .expected = call->expected_size};
    int servers = 0;

    pnc_mpiio_path_find_folder(pnc_path_strip(call->path), folder);
    if (!c.inherits && !c.is_by_mpi)
        find_defaults(folder, &c);
    if (f != NULL && nnodes > 1 && f->get_servers(folder, &servers, 0) == 0)
        c.servers = servers;
    return pnc_driver_striping_choose(&c);
}

/* Rank 0. */
static void choose_and_create(const pnc_open_call *call, int nnodes, pnc_new_striping *out)
{
    layout_functions functions;
    bool has_functions = load_functions(&functions);

    out->choice = choose(call, nnodes, has_functions ? &functions : NULL);
    if (out->choice.factor == 0 && out->choice.unit == 0)
        return;
    if (!has_functions)
        snprintf(out->obstacle, sizeof out->obstacle, "there is no liblustreapi, or an old one");
    else
        create_file(&functions, pnc_path_strip(call->path), out);
}

static bool set_number(MPI_Info info, const char *name, int64_t number)
{
    char text[24];

    snprintf(text, sizeof text, "%lld", (long long)number);
    return number == 0 || MPI_Info_set(info, name, text) == MPI_SUCCESS;
}

/* What the program gives has the same values. */
static int pass_choice(const pnc_striping_choice *c, const char *path, MPI_Info *info, pnc_error *error)
{
    MPI_Info given = *info, more = MPI_INFO_NULL;
    int code = given != MPI_INFO_NULL ? MPI_Info_dup(given, &more) : MPI_Info_create(&more);

    if (code == MPI_SUCCESS)
        *info = more;
    if (code == MPI_SUCCESS && set_number(more, "striping_factor", c->factor) &&
        set_number(more, "striping_unit", c->unit))
        return NC_NOERR;
    return pnc_error_set(error, NC_EMPI, "%s: MPI has no memory for hints", path);
}

int pnc_mpiio_new_file_create(const pnc_open_call *call, MPI_Info *info, pnc_new_striping *out, pnc_error *error)
{
    int rank, leads = call->is_leader, nnodes = leads, code = MPI_SUCCESS;

    MPI_Comm_rank(call->comm, &rank);
    code = MPI_Reduce(&leads, &nnodes, 1, MPI_INT, MPI_SUM, 0, call->comm);
    if (rank == 0 && code == MPI_SUCCESS)
        choose_and_create(call, nnodes, out);
    if (MPI_Bcast(out, (int)sizeof *out, MPI_BYTE, 0, call->comm) != MPI_SUCCESS || code != MPI_SUCCESS)
        return pnc_error_set(error, NC_EMPI, "%s: the ranks cannot share the choice of its stripes", call->path);
    if (out->is_created || (out->choice.factor == 0 && out->choice.unit == 0))
        return NC_NOERR;
    return pass_choice(&out->choice, call->path, info, error);
}
