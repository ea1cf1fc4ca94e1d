/* Which ranks share a node. */
#include "file/nodes.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int keyval = MPI_KEYVAL_INVALID; /* of the attribute; created at first use */
static pnc_nodes *newest;               /* the first of those that exist */

/* --- the attribute --- */

static void add_use(pnc_nodes *nodes)
{
    pthread_mutex_lock(&lock);
    nodes->uses++;
    pthread_mutex_unlock(&lock);
}

static void add_to_list(pnc_nodes *nodes)
{
    pthread_mutex_lock(&lock);
    nodes->next = newest;
    newest = nodes;
    pthread_mutex_unlock(&lock);
}

/* Under the lock. */
static void remove_from_list(const pnc_nodes *nodes)
{
    pnc_nodes **at = &newest;

    while (*at != nodes)
        at = &(*at)->next;
    *at = nodes->next;
}

void pnc_file_nodes_release(pnc_nodes *nodes)
{
    int rest;

    if (nodes == NULL)
        return;
    pthread_mutex_lock(&lock);
    rest = --nodes->uses;
    if (rest == 0)
        remove_from_list(nodes);
    pthread_mutex_unlock(&lock);
    if (rest > 0)
        return;
    if (nodes->idle != MPI_COMM_NULL)
        MPI_Comm_free(&nodes->idle);
    pnc_memory_free(nodes->ranks);
    pnc_memory_free(nodes);
}

static int copy_attribute(MPI_Comm comm, int number, void *extra, void *value, void *copy, int *has_copy)
{
    (void)comm, (void)number, (void)extra;
    add_use(value);
    *(void **)copy = value;
    *has_copy = 1;
    return MPI_SUCCESS;
}

static int delete_attribute(MPI_Comm comm, int number, void *value, void *extra)
{
    (void)comm, (void)number, (void)extra;
    pnc_file_nodes_release(value);
    return MPI_SUCCESS;
}

/* Of communicators that the program never frees, such as MPI_COMM_WORLD: their attributes are deleted when MPI has
 * ended. Ranks that share several communicators have opened the first files of them in the same order. */
static void free_idle_comms(void)
{
    for (pnc_nodes *nodes = newest; nodes != NULL; nodes = nodes->next) {
        nodes->keeps_comm = false;
        if (nodes->idle != MPI_COMM_NULL)
            MPI_Comm_free(&nodes->idle);
    }
}

/* MPI_Finalize begins by deleting the attributes of MPI_COMM_SELF, which calls this function. */
static int end_use_of_mpi(MPI_Comm comm, int number, void *value, void *extra)
{
    int code = MPI_SUCCESS;

    (void)comm, (void)number, (void)value, (void)extra;
    free_idle_comms();
    pthread_mutex_lock(&lock);
    if (keyval != MPI_KEYVAL_INVALID)
        code = MPI_Comm_free_keyval(&keyval);
    pthread_mutex_unlock(&lock);
    return code;
}

static void create_keyval(void)
{
    int at_end;

    if (MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_use_of_mpi, &at_end, NULL) != MPI_SUCCESS)
        return;
    if (MPI_Comm_create_keyval(copy_attribute, delete_attribute, &keyval, NULL) != MPI_SUCCESS)
        keyval = MPI_KEYVAL_INVALID;
    else if (MPI_Comm_set_attr(MPI_COMM_SELF, at_end, NULL) != MPI_SUCCESS)
        MPI_Comm_free_keyval(&keyval);
    MPI_Comm_free_keyval(&at_end); /* MPI keeps it as long as MPI_COMM_SELF has the attribute */
}

/* MPI_KEYVAL_INVALID in a program that only uses MPI sessions: without MPI_COMM_SELF nothing would free the keyval. */
static int get_keyval(void)
{
    int has_world = 0, got;

    MPI_Initialized(&has_world);
    pthread_mutex_lock(&lock);
    if (has_world && keyval == MPI_KEYVAL_INVALID)
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

bool pnc_file_nodes_set(MPI_Comm comm, pnc_nodes *nodes)
{
    int key = get_keyval(), level = MPI_THREAD_MULTIPLE;

    if (key == MPI_KEYVAL_INVALID)
        return false;
    add_use(nodes);
    if (MPI_Comm_set_attr(comm, key, nodes) != MPI_SUCCESS) {
        pnc_file_nodes_release(nodes);
        return false;
    }
    MPI_Query_thread(&level);
    return level != MPI_THREAD_MULTIPLE;
}

/* --- idle communicators --- */

MPI_Comm pnc_file_nodes_take_comm(pnc_nodes *nodes)
{
    MPI_Comm comm = MPI_COMM_NULL;

    if (nodes != NULL && nodes->keeps_comm) {
        comm = nodes->idle;
        nodes->idle = MPI_COMM_NULL;
    }
    return comm;
}

/* A duplicate has the attribute, too: as a use, it would outlive the communicator of the program. */
void pnc_file_nodes_keep_comm(pnc_nodes *nodes, MPI_Comm *comm)
{
    void *value = NULL;
    int has_value = 0;

    if (!nodes->keeps_comm || nodes->idle != MPI_COMM_NULL)
        return;
    if (MPI_Comm_get_attr(*comm, keyval, &value, &has_value) == MPI_SUCCESS && has_value)
        MPI_Comm_delete_attr(*comm, keyval);
    nodes->idle = *comm;
    *comm = MPI_COMM_NULL;
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
    int err = nodes == NULL ? NC_ENOMEM : NC_NOERR, failed;

    failed = MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    if (err == NC_NOERR)
        err = failed == MPI_SUCCESS ? list_ranks(comm, node, nodes) : NC_EMPI;
    if (node != MPI_COMM_NULL)
        MPI_Comm_free(&node);
    if (nodes != NULL) {
        nodes->uses = 1;
        nodes->idle = MPI_COMM_NULL;
        add_to_list(nodes);
    }
    if (err == NC_NOERR)
        *out = nodes;
    else
        pnc_file_nodes_release(nodes);
    return err;
}
