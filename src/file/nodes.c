/* Which ranks share a node. */
#include "file/nodes.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int keyval = MPI_KEYVAL_INVALID; /* of the attribute; created at first use */

/* --- the attribute --- */

static void free_lists(pnc_nodes *nodes)
{
    pnc_memory_free(nodes->own);
    pnc_memory_free(nodes->leaders);
}

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
    free_lists(nodes);
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

/* MPI_Finalize begins by deleting the attributes of MPI_COMM_SELF, which calls this function. */
static int free_keyval(MPI_Comm comm, int number, void *value, void *extra)
{
    int code = MPI_SUCCESS;

    (void)comm, (void)number, (void)value, (void)extra;
    pthread_mutex_lock(&lock);
    if (keyval != MPI_KEYVAL_INVALID)
        code = MPI_Comm_free_keyval(&keyval);
    pthread_mutex_unlock(&lock);
    return code;
}

static void create_keyval(void)
{
    int at_end;

    if (MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_keyval, &at_end, NULL) != MPI_SUCCESS)
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

int pnc_file_nodes_make_comm(MPI_Comm comm, const int *ranks, int n, MPI_Comm *out)
{
    MPI_Group all = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
    int failed = MPI_Comm_group(comm, &all);

    *out = MPI_COMM_NULL;
    if (all != MPI_GROUP_NULL)
        failed |= MPI_Group_incl(all, n, ranks, &some);
    if (some != MPI_GROUP_NULL)
        failed |= MPI_Comm_create_group(comm, some, 0, out);
    if (*out != MPI_COMM_NULL)
        failed |= MPI_Comm_set_errhandler(*out, MPI_ERRORS_RETURN);
    free_groups(&some, &all);
    return failed;
}

/* ranks[n .. 2n - 1] become the ranks in `comm` of those that `part` consists of. Local. */
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

static int list_ranks(MPI_Comm comm, MPI_Comm part, int **out, int *n)
{
    int failed = MPI_Comm_size(part, n);

    *out = pnc_memory_alloc(2 * (int64_t)*n, sizeof **out);
    if (*out == NULL)
        return NC_ENOMEM;
    failed |= translate_ranks(comm, part, *out, *n);
    return failed == MPI_SUCCESS ? NC_NOERR : NC_EMPI;
}

/* A rank on which a step fails takes part in the steps behind it. */
static int find(MPI_Comm comm, MPI_Comm node, pnc_nodes *nodes)
{
    MPI_Comm leaders = MPI_COMM_NULL;
    int counts[2] = {0, 0}, rank, err = list_ranks(comm, node, &nodes->own, &nodes->nown), failed; /* n, index */

    MPI_Comm_rank(node, &rank);
    failed = MPI_Comm_split(comm, rank == 0 ? 0 : MPI_UNDEFINED, 0, &leaders);
    if (leaders != MPI_COMM_NULL) {
        failed |= MPI_Comm_rank(leaders, &counts[1]);
        err = pnc_error_keep_first(err, list_ranks(comm, leaders, &nodes->leaders, &counts[0]));
        MPI_Comm_free(&leaders);
    }
    failed |= MPI_Bcast(counts, 2, MPI_INT, 0, node);
    nodes->n = counts[0];
    nodes->index = counts[1];
    return pnc_error_keep_first(err, failed == MPI_SUCCESS ? NC_NOERR : NC_EMPI);
}

static int find_all(MPI_Comm comm, pnc_nodes *nodes)
{
    MPI_Comm node = MPI_COMM_NULL;
    int err = NC_EMPI, failed;

    failed = MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    if (node == MPI_COMM_NULL)
        return err;
    err = find(comm, node, nodes);
    MPI_Comm_free(&node);
    return failed == MPI_SUCCESS ? err : NC_EMPI;
}

int pnc_file_nodes_find(MPI_Comm comm, pnc_nodes **out)
{
    pnc_nodes spare = {0}, *nodes = pnc_memory_alloc_zeroed(1, sizeof *nodes);
    int err = find_all(comm, nodes == NULL ? &spare : nodes);

    if (nodes == NULL) {
        free_lists(&spare);
        return NC_ENOMEM;
    }
    nodes->uses = 1;
    if (err != NC_NOERR)
        pnc_file_nodes_release(nodes);
    else
        *out = nodes;
    return err;
}
