/* The number of nodes that a communicator spans, cached in an attribute of it. */
#include "file/nodes.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int keyval = MPI_KEYVAL_INVALID; /* of the attribute; created at first use */

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
    if (MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL) != MPI_SUCCESS)
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

int pnc_file_nodes_get(MPI_Comm comm)
{
    int key = get_keyval(), found = 0;
    void *value = NULL;

    if (key != MPI_KEYVAL_INVALID && MPI_Comm_get_attr(comm, key, &value, &found) != MPI_SUCCESS)
        found = 0;
    return found ? (int)(intptr_t)value : 0;
}

void pnc_file_nodes_set(MPI_Comm comm, int nnodes)
{
    int key = get_keyval();

    if (key != MPI_KEYVAL_INVALID)
        MPI_Comm_set_attr(comm, key, (void *)(intptr_t)nnodes);
}

bool pnc_file_node_is_led(MPI_Comm comm)
{
    MPI_Comm node;
    int rank = 0;

    /* if the split fails, the rank counts as a node of its own */
    if (MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node) == MPI_SUCCESS) {
        MPI_Comm_rank(node, &rank);
        MPI_Comm_free(&node);
    }
    return rank == 0;
}
