/* What is cached in an attribute of a communicator, and which ranks share a node. */
#include "file/nodes.h"

#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "file/communicator.h"
#include "drivers/driver.h"
#include "file/finalize.h"
#include "host/cores.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int keyval = MPI_KEYVAL_INVALID; /* of the attribute; created at first use */
static _Thread_local bool is_private;   /* see pnc_file_nodes_share */

/* --- the attribute --- */

static void add_use(pnc_nodes *nodes)
{
    pthread_mutex_lock(&lock);
    nodes->uses++;
    pthread_mutex_unlock(&lock);
}

void pnc_file_nodes_release(pnc_nodes *nodes)
{
    int rest;

    if (nodes == NULL)
        return;
    pthread_mutex_lock(&lock);
    rest = --nodes->uses;
    pthread_mutex_unlock(&lock);
    if (rest > 0)
        return;
    pnc_file_comm_discard(&nodes->kept);
    pnc_memory_free(nodes->ranks);
    pnc_memory_free(nodes);
}

/* The nodes for a duplicate of the communicator. What is kept stays with the original. NULL: no memory. */
static pnc_nodes *copy_nodes(const pnc_nodes *from)
{
    pnc_nodes *copy = pnc_memory_alloc(1, sizeof *copy);
    int *ranks = pnc_memory_alloc(from->nranks, sizeof *ranks);

    if (copy == NULL || ranks == NULL) {
        pnc_memory_free(copy);
        pnc_memory_free(ranks);
        return NULL;
    }
    memcpy(ranks, from->ranks, (size_t)from->nranks * sizeof *ranks);
    *copy = (pnc_nodes){.uses = 1,
                        .n = from->n,
                        .nranks = from->nranks,
                        .ranks = ranks,
                        .nprocessors = from->nprocessors,
                        .nidle = from->nidle,
                        .is_leader = from->is_leader,
                        .kept = MPI_COMM_NULL};
    return copy;
}

/* Without memory the first file of the duplicate finds the nodes. */
static int copy_attribute(MPI_Comm comm, int number, void *extra, void *value, void *copy, int *has_copy)
{
    pnc_nodes *nodes = is_private ? NULL : copy_nodes(value);

    (void)comm, (void)number, (void)extra;
    *has_copy = nodes != NULL;
    if (nodes != NULL)
        *(void **)copy = nodes;
    return MPI_SUCCESS;
}

void pnc_file_nodes_share(bool with_duplicates)
{
    is_private = !with_duplicates;
}

static int delete_attribute(MPI_Comm comm, int number, void *value, void *extra)
{
    (void)comm, (void)number, (void)extra;
    pnc_file_nodes_release(value);
    return MPI_SUCCESS;
}

static void remove_from_world(void)
{
    int found = 0;
    void *value = NULL;

    if (keyval != MPI_KEYVAL_INVALID && MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, &value, &found) == MPI_SUCCESS &&
        found)
        MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval);
}

/* When MPI_Finalize begins: Open MPI deletes the attributes of MPI_COMM_WORLD when communicators can no longer be
 * freed. */
static int free_keyval(MPI_Comm comm, int number, void *value, void *extra)
{
    int code = MPI_SUCCESS;

    (void)comm, (void)number, (void)value, (void)extra;
    remove_from_world();
    pthread_mutex_lock(&lock);
    if (keyval != MPI_KEYVAL_INVALID)
        code = MPI_Comm_free_keyval(&keyval);
    pthread_mutex_unlock(&lock);
    return code;
}

/* Without free_keyval nothing would free it. */
static void create_keyval(void)
{
    if (MPI_Comm_create_keyval(copy_attribute, delete_attribute, &keyval, NULL) != MPI_SUCCESS)
        keyval = MPI_KEYVAL_INVALID;
    else if (!pnc_file_finalize_add(free_keyval))
        MPI_Comm_free_keyval(&keyval);
}

/* MPI_KEYVAL_INVALID in a program that only uses MPI sessions. */
static int get_keyval(void)
{
    int got;

    pthread_mutex_lock(&lock);
    if (keyval == MPI_KEYVAL_INVALID)
        create_keyval();
    got = keyval;
    pthread_mutex_unlock(&lock);
    return got;
}

pnc_nodes *pnc_file_nodes_get(MPI_Comm comm)
{
    int key = get_keyval(), found = 0;
    void *value = NULL;

    if (key != MPI_KEYVAL_INVALID && MPI_Comm_get_attr(comm, key, &value, &found) != MPI_SUCCESS)
        found = 0;
    if (!found)
        return NULL;
    add_use(value);
    return value;
}

void pnc_file_nodes_set(MPI_Comm comm, pnc_nodes *nodes)
{
    int key = get_keyval();

    if (key == MPI_KEYVAL_INVALID)
        return;
    add_use(nodes);
    if (MPI_Comm_set_attr(comm, key, nodes) != MPI_SUCCESS)
        pnc_file_nodes_release(nodes);
}

/* --- finding the nodes --- */

static void free_groups(MPI_Group *a, MPI_Group *b)
{
    if (*a != MPI_GROUP_NULL)
        MPI_Group_free(a);
    if (*b != MPI_GROUP_NULL)
        MPI_Group_free(b);
}

int pnc_file_nodes_make_group(const pnc_nodes *nodes, MPI_Comm comm, MPI_Group *out)
{
    MPI_Group all = MPI_GROUP_NULL, none = MPI_GROUP_NULL;
    int failed = MPI_Comm_group(comm, &all);

    if (failed == MPI_SUCCESS)
        failed = MPI_Group_incl(all, nodes->nranks, nodes->ranks, out);
    free_groups(&all, &none);
    return failed;
}

/* ranks[n .. 2n - 1] become the ranks in `comm` of those of `part`. Local. */
static int translate_ranks(MPI_Comm comm, MPI_Comm part, int *ranks, int n)
{
    MPI_Group all = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
    int failed = MPI_Comm_group(comm, &all) | MPI_Comm_group(part, &some);

    for (int i = 0; i < n; i++)
        ranks[i] = i;
    if (failed == MPI_SUCCESS)
        failed = MPI_Group_translate_ranks(some, n, ranks, all, ranks + n);
    memcpy(ranks, ranks + n, (size_t)n * sizeof *ranks);
    free_groups(&some, &all);
    return failed;
}

/* Processes of this node that are not in the communicator have processors, too: at most all of the program. */
static int count_processes(int nranks, MPI_Comm comm)
{
    int known = pnc_host_cores_count_processes(), all = pnc_driver_count_world(), own = 0;

    if (MPI_Comm_size(comm, &own) != MPI_SUCCESS)
        return INT_MAX;
    if (all > 0 && own >= all)
        return nranks;
    return known > 0 || all == 0 ? known : all;
}

/* Collective in the communicator of the node. 0 also after an error: a rank works without threads then. */
static int count_idle(MPI_Comm comm, MPI_Comm node)
{
    uint16_t is_mine[PNC_HOST_CORES_MOST], users[PNC_HOST_CORES_MOST];
    int nranks = 0, failed;

    pnc_host_cores_list(is_mine);
    failed = MPI_Allreduce(is_mine, users, PNC_HOST_CORES_MOST, MPI_UINT16_T, MPI_SUM, node);
    failed |= MPI_Comm_size(node, &nranks);
    return failed != MPI_SUCCESS ? 0
                                 : pnc_host_cores_count_idle(is_mine, users, nranks, count_processes(nranks, comm),
                                                             pnc_host_cores_count());
}

static int list_ranks(MPI_Comm comm, MPI_Comm node, pnc_nodes *nodes)
{
    int own, failed;

    failed = MPI_Comm_rank(comm, &own) | MPI_Comm_size(node, &nodes->nranks);
    nodes->ranks = pnc_memory_alloc(2 * (int64_t)nodes->nranks, sizeof *nodes->ranks);
    if (nodes->ranks == NULL)
        return NC_ENOMEM;
    failed |= translate_ranks(comm, node, nodes->ranks, nodes->nranks);
    nodes->is_leader = nodes->ranks[0] == own;
    return failed == MPI_SUCCESS ? NC_NOERR : NC_EMPI;
}

int pnc_file_nodes_find(MPI_Comm comm, pnc_nodes **out)
{
    pnc_nodes *nodes = pnc_memory_alloc_zeroed(1, sizeof *nodes);
    MPI_Comm node = MPI_COMM_NULL;
    int err = nodes == NULL ? NC_ENOMEM : NC_NOERR, nidle = 0, failed;

    failed = MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    if (node != MPI_COMM_NULL)
        nidle = count_idle(comm, node);
    if (err == NC_NOERR)
        err = failed == MPI_SUCCESS ? list_ranks(comm, node, nodes) : NC_EMPI;
    if (node != MPI_COMM_NULL)
        MPI_Comm_free(&node);
    if (nodes != NULL) {
        nodes->uses = 1;
        nodes->kept = MPI_COMM_NULL;
        nodes->nprocessors = pnc_host_cores_count();
        nodes->nidle = nidle;
    }
    if (err == NC_NOERR)
        *out = nodes;
    else
        pnc_file_nodes_release(nodes);
    return err;
}
