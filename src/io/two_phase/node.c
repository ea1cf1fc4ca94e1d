/* Nodes, aggregators and shared memory. */
#include "io/two_phase/node.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/minmax.h"
#include "file/agree.h"
#include "file/communicator.h"

static const pnc_node no_node = {.comm = MPI_COMM_NULL,
                                 .delegates = MPI_COMM_NULL,
                                 .shared = MPI_WIN_NULL,
                                 .sequence = MPI_DATATYPE_NULL,
                                 .join = MPI_OP_NULL};

/* What the leaders of the nodes agree on, and send to the ranks of their nodes. */
typedef struct placement {
    int index; /* of the node */
    int naggregators, first, n;
    int least; /* aggregators of the node that has the fewest */
} placement;

/* The number that the hint cb_config_list has for a node: of the first entry NODE:NUMBER with its name or "*". 0
 * without an entry and for a negative number, `any` for the number "*". */
static int64_t find_in_config_list(const char *list, const char *name, int64_t any)
{
    while (*list != '\0') {
        size_t length = strcspn(list, ","), host = strcspn(list, ":,");
        const char *number = list + host + (host < length);

        if ((host == 1 && *list == '*') || (strlen(name) == host && strncmp(list, name, host) == 0)) {
            if (host == length) /* a name without a number */
                return 1;
            return *number == '*' ? any : pnc_max64(strtoll(number, NULL, 10), 0);
        }
        list += length + (list[length] == ',');
    }
    return 0;
}

static int count_aggregators(const pnc_node *node, int index, const pnc_file *file, const pnc_access_hints *hints)
{
    const pnc_striping *striping = &file->store->striping;
    pnc_node_shape shape = {.nnodes = node->nnodes,
                            .index = index,
                            .nprocs = node->nprocs,
                            .nranks = file->nprocs,
                            .listed = INT64_MAX,
                            .servers = striping->round_robin ? striping->factor : 0};
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int length;

    MPI_Get_processor_name(name, &length);
    if (hints->config_list[0] != '\0')
        shape.listed = find_in_config_list(hints->config_list, name, INT64_MAX);
    return pnc_io_aggregators_count(&shape, hints);
}

/* Collective among the leaders, one rank of each node. */
static int place_aggregators(const pnc_node *node, MPI_Comm leaders, const pnc_file *file,
                             const pnc_access_hints *hints, placement *p)
{
    int failed = MPI_Comm_rank(leaders, &p->index);

    p->n = count_aggregators(node, p->index, file, hints);
    failed |= MPI_Exscan(&p->n, &p->first, 1, MPI_INT, MPI_SUM, leaders);
    if (p->index == 0)
        p->first = 0;
    failed |= MPI_Allreduce(&p->n, &p->naggregators, 1, MPI_INT, MPI_SUM, leaders);
    failed |= MPI_Allreduce(&p->n, &p->least, 1, MPI_INT, MPI_MIN, leaders);
    if (p->naggregators == 0) { /* cb_config_list has none of these nodes */
        p->naggregators = 1;
        p->n = p->index == 0;
    }
    return failed;
}

/* The communicators of the node and, on its leader, of the leaders. */
static int make_comms(pnc_node *node, const pnc_file *file, MPI_Group group, MPI_Comm *leaders)
{
    int failed = MPI_Comm_create_group(file->comm, group, 0, &node->comm);

    if (node->comm != MPI_COMM_NULL) {
        failed |= MPI_Comm_set_errhandler(node->comm, MPI_ERRORS_RETURN);
        failed |= MPI_Comm_rank(node->comm, &node->rank) | MPI_Comm_size(node->comm, &node->nprocs);
    }
    return failed | MPI_Comm_split(file->comm, file->nodes->is_leader ? 0 : MPI_UNDEFINED, 0, leaders);
}

/* Delegates are ordered: aggregators by node, then the delegates of nodes without an aggregator. With one aggregator on
 * each node, these are the leaders. */
static int make_delegates(pnc_node *node, MPI_Comm comm, const placement *p, MPI_Comm *leaders)
{
    int key = node->rank < p->n ? p->first + node->rank : p->naggregators + p->index;

    node->index = p->index;
    node->naggregators = p->naggregators;
    node->all_nodes = p->least > 0;
    node->first = p->first;
    node->n = p->n;
    node->ndelegates = p->n > 0 ? p->n : 1;
    if (p->least == 1 && p->naggregators == node->nnodes) {
        node->delegates = *leaders;
        *leaders = MPI_COMM_NULL;
        return MPI_SUCCESS;
    }
    return MPI_Comm_split(comm, pnc_io_node_is_delegate(node) ? 0 : MPI_UNDEFINED, key, &node->delegates);
}

static void join_sequences(void *before, void *behind, int *n, MPI_Datatype *type)
{
    const pnc_sequence *a = before;
    pnc_sequence *b = behind;

    (void)type;
    for (int i = 0; i < *n; i++)
        b[i] = pnc_io_sequences_join(a[i], b[i]);
}

/* Whether the system has memory for all pages of the segment. Shared memory is a file for most systems: where it is
 * full, or exceeds the limit for files, the access of a page ends the program by a signal; a system call that accesses
 * it fails. */
static bool has_pages(void *memory, size_t bytes)
{
    int zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    size_t done = 0;
    ssize_t some = 1;

    if (zeros < 0)
        return false;
    while (done < bytes && some > 0) {
        some = read(zeros, (char *)memory + done, bytes - done);
        done += some > 0 ? (size_t)some : 0;
    }
    close(zeros);
    return done == bytes;
}

static int make_segments(pnc_node *node)
{
    pnc_segment *own;
    MPI_Info info = MPI_INFO_NULL;
    int failed = MPI_Info_create(&info);

    if (info != MPI_INFO_NULL)
        failed |= MPI_Info_set(info, "alloc_shared_noncontig", "true");
    failed |= MPI_Win_allocate_shared((MPI_Aint)sizeof(pnc_segment), 1, info, node->comm, &own, &node->shared);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    if (node->shared == MPI_WIN_NULL)
        return failed;
    MPI_Win_set_errhandler(node->shared, MPI_ERRORS_RETURN);
    pnc_memory_count(sizeof(pnc_segment));
    for (int i = 0; i < node->nprocs; i++) {
        MPI_Aint size;
        int unit;

        failed |= MPI_Win_shared_query(node->shared, i, &size, &unit, &node->segments[i]);
    }
    failed |= MPI_Win_lock_all(MPI_MODE_NOCHECK, node->shared);
    return failed;
}

static int fail_mpi(pnc_file *file)
{
    return pnc_error_set(file->error, NC_EMPI, "%s: MPI failed to make the shared memory of a node", file->path);
}

static int fail_no_segment(pnc_file *file)
{
    return pnc_error_set(file->error, NC_ENOMEM, "%s: no shared memory for a segment of %zu bytes", file->path,
                         sizeof(pnc_segment));
}

/* What must be there before the segments are made. MPI libraries keep the segments of a node in one file; some block
 * other ranks if the process may not write a file of that size. */
static int prepare_segments(pnc_node *node, pnc_file *file)
{
    struct rlimit most;

    node->segments = pnc_memory_alloc_zeroed(node->nprocs, sizeof *node->segments);
    node->ranges = pnc_memory_alloc(node->nprocs, sizeof *node->ranges);
    if (node->segments == NULL || node->ranges == NULL)
        return pnc_error_set(file->error, NC_ENOMEM, "%s: no memory for a list of %d ranks", file->path, node->nprocs);
    if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur / sizeof(pnc_segment) <= (rlim_t)node->nprocs)
        return fail_no_segment(file);
    return NC_NOERR;
}

/* A rank on which a step fails makes the next ones as well, as the others wait for it. */
static int make_node(pnc_node *node, pnc_file *file, const pnc_access_hints *hints, MPI_Group group)
{
    placement p = {0};
    MPI_Comm leaders = MPI_COMM_NULL;
    int failed = make_comms(node, file, group, &leaders);

    if (leaders != MPI_COMM_NULL)
        failed |= place_aggregators(node, leaders, file, hints, &p);
    if (node->comm != MPI_COMM_NULL) {
        failed |= MPI_Bcast(&p, (int)(sizeof p / sizeof(int)), MPI_INT, 0, node->comm);
        failed |= make_delegates(node, file->comm, &p, &leaders);
    }
    if (leaders != MPI_COMM_NULL)
        MPI_Comm_free(&leaders);
    failed |= MPI_Op_create(join_sequences, 0, &node->join); /* associative only */
    _Static_assert(sizeof(pnc_sequence) == 3 * sizeof(int64_t), "a sequence has three values");
    failed |= MPI_Type_contiguous(3, MPI_INT64_T, &node->sequence);
    if (node->sequence != MPI_DATATYPE_NULL)
        failed |= MPI_Type_commit(&node->sequence);
    return failed == MPI_SUCCESS ? prepare_segments(node, file) : fail_mpi(file);
}

int pnc_io_node_init(pnc_node *node, pnc_file *file, const pnc_access_hints *hints)
{
    MPI_Group group = MPI_GROUP_NULL;
    int failed = pnc_file_nodes_make_group(file->nodes, file->comm, &group), err;

    *node = no_node;
    node->nnodes = file->nodes->n;
    /* if a rank lacks a communicator, MPI_Comm_split of Open MPI returns an invalid handle, or blocks other ranks */
    err = failed == MPI_SUCCESS ? pnc_file_comm_check_spare(file, PNC_COMMS_FOR_AGGREGATORS) : fail_mpi(file);
    err = pnc_file_status_agree(file, err);
    if (err == NC_NOERR)
        err = make_node(node, file, hints, group);
    if (group != MPI_GROUP_NULL)
        MPI_Group_free(&group);
    return err;
}

int pnc_io_node_segments_make(pnc_node *node, pnc_file *file)
{
    if (make_segments(node) != MPI_SUCCESS)
        return fail_mpi(file);
    if (!has_pages(pnc_io_node_get_segment(node), sizeof(pnc_segment)))
        return fail_no_segment(file);
    return NC_NOERR;
}

/* Only one rank of each node passes its range on, so that delegates of the same node are not compared. */
int pnc_io_node_compare_ranges(const pnc_node *node, pnc_range *range, pnc_comparison *found)
{
    int64_t values[4] = {0, 0, 0, 0}, before = INT64_MIN, end = INT64_MIN; /* overlaps, bytes; range of the node */
    int code = MPI_Gather(range, 2, MPI_INT64_T, node->ranges, 2, MPI_INT64_T, 0, node->comm);

    if (node->rank == 0) {
        *range = pnc_io_ranges_merge(node->ranges, node->nprocs, &values[1]);
        end = range->high;
    }
    if (pnc_io_node_is_delegate(node)) {
        code |= MPI_Exscan(&end, &before, 1, MPI_INT64_T, MPI_MAX, node->delegates);
        values[0] = node->rank == 0 && node->index > 0 && range->low < range->high && before > range->low;
        code |= MPI_Allreduce(MPI_IN_PLACE, values, 2, MPI_INT64_T, MPI_SUM, node->delegates);
    }
    values[2] = range->low;
    values[3] = range->high;
    code |= MPI_Bcast(values, 4, MPI_INT64_T, 0, node->comm);
    *found = (pnc_comparison){.apart = node->all_nodes && values[0] == 0, .sum = values[1]};
    *range = (pnc_range){values[2], values[3]};
    return code;
}

int pnc_io_node_compare_ranks(const pnc_node *node, MPI_Comm comm, pnc_sequence own, bool *apart)
{
    pnc_sequence all = own;
    int code = MPI_Allreduce(MPI_IN_PLACE, &all, 1, node->sequence, node->join, comm);

    *apart = pnc_io_sequence_is_apart(all);
    return code;
}

void pnc_io_node_free(pnc_node *node)
{
    if (node->shared != MPI_WIN_NULL) {
        MPI_Win_unlock_all(node->shared);
        MPI_Win_free(&node->shared);
        pnc_memory_count(-(int64_t)sizeof(pnc_segment));
    }
    if (node->delegates != MPI_COMM_NULL)
        MPI_Comm_free(&node->delegates);
    if (node->comm != MPI_COMM_NULL)
        MPI_Comm_free(&node->comm);
    if (node->sequence != MPI_DATATYPE_NULL)
        MPI_Type_free(&node->sequence);
    if (node->join != MPI_OP_NULL)
        MPI_Op_free(&node->join);
    pnc_memory_free(node->segments);
    pnc_memory_free(node->ranges);
    *node = no_node;
}
