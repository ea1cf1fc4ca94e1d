/* The drivers by name, and functions that all drivers use. */
#include "drivers/driver.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "base/memory.h"
#include "drivers/wrapper.h"

#define NAME(name, operations) name,
const char *const pnc_driver_names[] = {PNC_DRIVERS(NAME) NULL};

#define OPERATIONS(name, operations) &operations,
static const pnc_store_ops *const drivers[] = {PNC_DRIVERS(OPERATIONS) PNC_DRIVERS_OF_DATASETS(OPERATIONS)};
#define DRIVERS ((int)(sizeof drivers / sizeof *drivers))
#define NAMED ((int)(sizeof pnc_driver_names / sizeof *pnc_driver_names) - 1) /* by hints */

const pnc_store_ops *const *pnc_driver_more;

/* --- stacks --- */

/* A number of a stack has in its lowest bits the index of the driver at the bottom, and in those above it the index,
 * plus 1, of each wrapper, the innermost one first. */
#define INDEX_BITS 6
#define INDEX_MASK ((1 << INDEX_BITS) - 1)
_Static_assert(DRIVERS <= INDEX_MASK && (1 + PNC_DRIVER_WRAPPERS) * INDEX_BITS < 31, "the number does not fit");

static const pnc_store_ops *driver_at(int index)
{
    assert(index >= 0);
    return index < DRIVERS ? drivers[index] : pnc_driver_more[index - DRIVERS];
}

static bool has_driver_name(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && strncmp(name, text, length) == 0;
}

static int find_driver(const char *text, size_t length)
{
    for (int i = 0; i < NAMED; i++)
        if (has_driver_name(pnc_driver_names[i], text, length))
            return i;
    for (int i = 0; pnc_driver_more != NULL && pnc_driver_more[i] != NULL && DRIVERS + i < INDEX_MASK; i++)
        if (has_driver_name(pnc_driver_more[i]->name, text, length))
            return DRIVERS + i;
    return -1;
}

int pnc_driver_find(const char *names)
{
    const char *colon = strchr(names, ':');
    int wrappers[PNC_DRIVER_WRAPPERS], n = 0, number;

    for (; colon != NULL; names = colon + 1, colon = strchr(names, ':')) {
        int index = find_driver(names, (size_t)(colon - names));

        if (index < 0 || !driver_at(index)->is_wrapper || n == PNC_DRIVER_WRAPPERS)
            return -1;
        wrappers[n++] = index;
    }
    number = find_driver(names, strlen(names));
    if (number < 0 || driver_at(number)->is_wrapper)
        return -1;
    for (int shift = INDEX_BITS; n > 0; shift += INDEX_BITS)
        number |= (wrappers[--n] + 1) << shift;
    return number;
}

int pnc_driver_choose(int number, const char *path)
{
    if (driver_at(number & INDEX_MASK)->local_path == NULL)
        return number;
    for (int i = NAMED; i < DRIVERS; i++)
        if (drivers[i]->has_dataset(path))
            return i;
    return number;
}

int pnc_driver_of_dataset_find(const char *name)
{
    int i = NAMED;

    while (strcmp(drivers[i]->name, name) != 0)
        i++;
    return i;
}

const pnc_store_ops *pnc_driver_get(int number, pnc_driver_stack *stack)
{
    const pnc_store_ops *driver = driver_at(number & INDEX_MASK);
    char *name;

    number >>= INDEX_BITS;
    if (number == 0)
        return driver;
    name = stack->name + sizeof stack->name - 1 - strlen(driver->name);
    strcpy(name, driver->name);
    for (int at = PNC_DRIVER_WRAPPERS - 1; number > 0; at--, number >>= INDEX_BITS) {
        const pnc_store_ops *wrapper = driver_at((number & INDEX_MASK) - 1);
        size_t length = strlen(wrapper->name);

        assert(at >= 0 && (size_t)(name - stack->name) > length);
        *--name = ':';
        name -= length;
        memcpy(name, wrapper->name, length);
        pnc_wrapper_join(wrapper, driver, name, &stack->wrappers[at]);
        driver = &stack->wrappers[at];
    }
    return driver;
}

const pnc_store_ops *pnc_driver_behind_add(const pnc_store_ops *driver, pnc_driver_stack *stack)
{
    if (driver->is_wrapper || driver->local_path == NULL)
        return driver;
    pnc_wrapper_join(&pnc_store_behind, driver, driver->name, &stack->wrappers[0]);
    return &stack->wrappers[0];
}

/* --- stores --- */

pnc_store *pnc_driver_store_create(void)
{
    size_t most = pnc_store_behind.store_bytes;

    for (int i = 0; i < DRIVERS || (pnc_driver_more != NULL && pnc_driver_more[i - DRIVERS] != NULL); i++)
        most = driver_at(i)->store_bytes > most ? driver_at(i)->store_bytes : most;
    return pnc_memory_alloc_zeroed(1, most);
}

bool pnc_driver_has_threads(void)
{
    int level = MPI_THREAD_MULTIPLE;

    MPI_Query_thread(&level);
    return level == MPI_THREAD_MULTIPLE;
}

int pnc_driver_count_world(void)
{
    int ranks = 0, has_world = 0;

    MPI_Initialized(&has_world);
    if (has_world)
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return ranks;
}

/* Returns the most negative code of all ranks. *late: as in file/agree.h, an error of a collective step on this rank
 * that the next agreement passes to the others. */
static int agree_on_open(const pnc_open_call *call, int status, int *late, pnc_error *error)
{
    int own = pnc_error_keep_first(status, *late), worst = own;

    *late = NC_NOERR;
    if (MPI_Allreduce(&own, &worst, 1, MPI_INT, MPI_MIN, call->comm) != MPI_SUCCESS)
        *late = pnc_error_set(error, NC_EMPI, "%s: MPI_Allreduce of the status failed", call->path);
    if (own == NC_NOERR && worst != NC_NOERR)
        pnc_error_set_remote(error, worst, "another rank could not open %s: %s", call->path, pnc_error_get_text(worst));
    return worst;
}

/* Inspect the path on rank 0, and adopt what it finds. `prefix` has PNC_PREFIX_BYTES bytes. */
static int inspect(const pnc_store_ops *driver, pnc_open_call *call, char *prefix, int *late, pnc_error *error)
{
    pnc_inspection found;
    int rank;

    memset(&found, 0, sizeof found);
    MPI_Comm_rank(call->comm, &rank);
    if (rank == 0 && driver->inspect != NULL)
        driver->inspect(call->path, call->purpose, &found);
    if (MPI_Bcast(&found, (int)sizeof found, MPI_BYTE, 0, call->comm) != MPI_SUCCESS)
        *late = pnc_error_set(error, NC_EMPI, "%s: MPI_Bcast of rank 0's check of the path failed", call->path);
    call->truncation = found.truncation;
    memcpy(prefix, found.prefix, PNC_PREFIX_BYTES);
    call->prefix = prefix;
    return pnc_error_copy(error, &found.error, rank != 0);
}

int pnc_driver_store_open(const pnc_open_call *call, pnc_store **out, pnc_error *error)
{
    pnc_store *store = pnc_memory_alloc_zeroed(1, call->driver->store_bytes);
    int err = call->status, late = NC_NOERR;

    if (err == NC_NOERR && store == NULL)
        err = pnc_error_set(error, NC_ENOMEM, "no memory to open %s", call->path);
    err = agree_on_open(call, err, &late, error);
    if (err != NC_NOERR) {
        pnc_memory_free(store);
        return err;
    }
    store->statistics = call->statistics;
    err = call->driver->open(call, store, error);
    err = agree_on_open(call, err, &late, error);
    if (err == NC_NOERR)
        *out = store;
    else
        (void)call->driver->close(store, NULL); /* the first error is the one to report */
    return pnc_error_keep_first(err, late);
}

int pnc_driver_file_open(const pnc_store_ops *driver, pnc_open_call call, pnc_store **out, pnc_error *error)
{
    char prefix[PNC_PREFIX_BYTES];
    int err, late = NC_NOERR;

    call.driver = driver;
    err = inspect(driver, &call, prefix, &late, error);
    if (err != NC_NOERR)
        return pnc_error_keep_first(call.status, err);
    call.status = pnc_error_keep_first(call.status, late);
    return pnc_driver_store_open(&call, out, error);
}
