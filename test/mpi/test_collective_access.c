/* Collective access of MPI-IO against a naive model that accesses each byte on its own: random requests of all ranks,
 * which interleave and overlap, through lists of random size, with delegates chosen in several manners; and what an
 * error of one rank does to the others. */
#include <string.h>
#include <unistd.h>

#include "counting_driver.h"
#include "file/agree.h"
#include "drivers/driver.h"
#include "drivers/wrapper.h"
#include "io/mpi_io/collective_access.h"
#include "slabs.h"

enum { MOST_RANKS = 8, MOST_REQUESTS = 6, MOST_BYTES = 3 << 20 };

static slab_lengths shape; /* of a small file for many cases, or a large one for requests that exceed a segment */
static pnc_model model;
static pnc_error error;
static pnc_file file;
static pnc_io_context io;
static slab slabs[MOST_RANKS][MOST_REQUESTS];
static int counts[MOST_RANKS]; /* of requests */
static pnc_request requests[MOST_REQUESTS], *list[MOST_REQUESTS];
static char before[MOST_BYTES], found[MOST_BYTES], of_rank[MOST_BYTES];
static bool touched[MOST_BYTES], good[MOST_BYTES], written[MOST_BYTES];
static int64_t total; /* bytes of the file */

static void make_model(slab_lengths l)
{
    shape = l;
    slabs_make_model(l, &model);
    total = model.classic.begin_rec + model.numrecs * model.classic.recsize;
    t_local(total <= MOST_BYTES, "%d bytes fit", (int)total);
}

static pnc_store_ops counting_driver; /* in front of MPI-IO */

static int create_store(MPI_Comm comm, const char *path, pnc_store **store)
{
    pnc_open_call call = {.comm = comm, .path = path, .purpose = PNC_OPEN_REPLACE, .info = MPI_INFO_NULL};

    return pnc_driver_file_open(&counting_driver, call, store, &error);
}

static void open_file(const char *path, slab_lengths l)
{
    file = (pnc_file){
        .path = (char *)path, .rank = t_rank, .nprocs = t_nprocs, .driver = &counting_driver, .error = &error};
    MPI_Comm_dup(MPI_COMM_WORLD, &file.comm);
    make_model(l);
    t_local(pnc_io_context_init(&io, &file, &model) == NC_NOERR, "context");
    io.addressing = &pnc_format_classic_addressing;
    t_check(create_store(file.comm, path, &file.store) == NC_NOERR, "create %s: %s", path, error.text);
    t_local(pnc_file_nodes_find(file.comm, &file.nodes) == NC_NOERR, "nodes");
    int leads = file.nodes->is_leader;
    MPI_Allreduce(&leads, &file.nodes->n, 1, MPI_INT, MPI_SUM, file.comm);
}

static void close_file(void)
{
    t_check(file.store->ops->close(file.store, &error) == NC_NOERR, "close: %s", error.text);
    pnc_io_context_free(&io);
    pnc_format_model_free(&model);
    pnc_file_nodes_release(file.nodes);
    MPI_Comm_free(&file.comm);
}

/* --- requests --- */

static void make_slab(slab *s)
{
    int64_t size;

    slab_draw(shape, s);
    size = slab_get_size(s, &model) * s->count[0] * s->count[1];
    s->values = malloc((size_t)size + 1);
    for (int64_t i = 0; i < size; i++)
        s->values[i] = (char)rand();
}

/* The requests of all ranks, the same on all ranks; some have none. */
static void make_slabs(unsigned seed)
{
    srand(seed);
    for (int rank = 0; rank < t_nprocs; rank++) {
        counts[rank] = random_in(0, 3) == 0 ? 0 : (int)random_in(0, MOST_REQUESTS);
        for (int i = 0; i < counts[rank]; i++)
            make_slab(&slabs[rank][i]);
    }
}

static void free_slabs(void)
{
    for (int rank = 0; rank < t_nprocs; rank++)
        for (int i = 0; i < counts[rank]; i++)
            free(slabs[rank][i].values);
}

static void make_requests(pnc_op op)
{
    for (int i = 0; i < counts[t_rank]; i++) {
        slab_make_request(&slabs[t_rank][i], op, &io, &requests[i]);
        list[i] = &requests[i];
    }
}

static void for_each_byte(int rank, void (*access)(int64_t offset, char *value))
{
    slabs_for_each_byte(slabs[rank], counts[rank], &model, shape, access);
}

static void write_byte(int64_t offset, char *value)
{
    of_rank[offset] = *value;
    touched[offset] = true;
}

static int wrong_bytes;

static void compare_byte(int64_t offset, char *value)
{
    wrong_bytes += *value != before[offset];
}

/* --- cases --- */

static int transfer(pnc_collective_access *x, pnc_direction direction)
{
    pnc_request_list all = slabs_make_list(direction, list, counts[t_rank]);
    pnc_file_order order;
    int64_t range[2]; /* -low, high */
    int err;

    all.collective = true;
    err = pnc_io_file_order_init(&order, &io, &all);
    range[0] = order.low < order.high ? -order.low : -MOST_BYTES;
    range[1] = order.high;
    MPI_Allreduce(MPI_IN_PLACE, range, 2, MPI_INT64_T, MPI_MAX, file.comm);
    if (-range[0] < range[1])
        err = pnc_error_keep_first(err, pnc_io_collective_access_execute(x, &order, (pnc_range){-range[0], range[1]}));
    pnc_io_file_order_free(&order);
    return pnc_file_status_agree(&file, err);
}

/* Known bytes, or a file that ends before its variables. */
static void prepare_file(bool is_short)
{
    pnc_extent all = {0, total};

    for (int64_t i = 0; i < total; i++)
        before[i] = is_short ? 0 : (char)rand();
    t_local(file.store->ops->set_size(file.store, 0, &error) == NC_NOERR, "%s", error.text);
    MPI_Barrier(file.comm);
    if (t_rank == 0 && !is_short)
        t_local(file.store->ops->write(file.store, &all, 1, before, &error) == NC_NOERR, "%s", error.text);
    file.store->end->least_size = 0;
    MPI_Barrier(file.comm);
}

/* Where ranks overlap, any of them wins. */
static bool is_right_put(pnc_collective_access *x)
{
    pnc_extent all = {0, total};
    int64_t wrong = 0;
    int err;

    make_requests(PNC_OP_PUT);
    err = transfer(x, PNC_PUT);
    t_local(file.store->ops->read(file.store, &all, 1, found, NULL, &error) == NC_NOERR, "%s", error.text);
    memset(good, 0, sizeof good);
    memset(written, 0, sizeof written);
    for (int rank = 0; rank < t_nprocs; rank++) {
        memset(touched, 0, sizeof touched);
        for_each_byte(rank, write_byte);
        for (int64_t i = 0; i < total; i++) {
            written[i] = written[i] || touched[i];
            good[i] = good[i] || (touched[i] && of_rank[i] == found[i]);
        }
    }
    for (int64_t i = 0; i < total; i++)
        wrong += written[i] ? !good[i] : found[i] != before[i];
    return t_local(err == NC_NOERR && wrong == 0, "%d, %d bytes are wrong: %s", err, (int)wrong, error.text);
}

static bool is_right_get(pnc_collective_access *x)
{
    pnc_extent all = {0, total};
    int err;

    t_local(file.store->ops->read(file.store, &all, 1, before, NULL, &error) == NC_NOERR, "%s", error.text);
    MPI_Barrier(file.comm);
    make_requests(PNC_OP_GET);
    err = transfer(x, PNC_GET);
    wrong_bytes = 0;
    for_each_byte(t_rank, compare_byte);
    return t_local(err == NC_NOERR && wrong_bytes == 0, "%d, %d bytes are wrong: %s", err, wrong_bytes, error.text);
}

static bool create_node(pnc_node *node, const pnc_access_hints *hints)
{
    return t_local(pnc_io_node_init(node, &file, hints) == NC_NOERR, "%s", error.text) &&
           t_local(pnc_io_node_segments_make(node, &file) == NC_NOERR, "%s", error.text);
}

static bool try_cases(const pnc_access_hints *aggregators, int64_t buffer, unsigned first, int n)
{
    pnc_domain_shape domain = {.naggregators = 3, .buffer = buffer, .striping_unit = buffer % 3 == 0 ? 1000 : 64};
    pnc_collective_access *x = NULL;
    pnc_node node;
    bool right = true;

    if (!create_node(&node, aggregators))
        return false;
    right = t_local(pnc_io_collective_access_create(&io, &node, &domain, &x) == NC_NOERR, "%s", error.text);
    for (unsigned seed = first; right && seed < first + (unsigned)n; seed++) {
        make_slabs(seed);
        prepare_file(seed % 4 == 0);
        right = is_right_put(x) && right;
        MPI_Barrier(file.comm);
        right = is_right_get(x) && right;
        MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_C_BOOL, MPI_LAND, file.comm);
        free_slabs();
    }
    right = t_local(pnc_io_collective_access_free(x) == NC_NOERR, "%s", error.text) && right;
    pnc_io_node_free(&node);
    return right;
}

static void test_cases(const char *what, slab_lengths l, const int64_t *buffers, int nbuffers, int n)
{
    const pnc_access_hints aggregators[] = {
        {0}, {.aggregators_a_node = 1}, {.aggregators_a_node = 2}, {.aggregators = 1}, {.aggregators = 3}};
    bool right = true;

    open_file(t_path("access.bin"), l);
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < nbuffers; k++)
            right = try_cases(&aggregators[i], buffers[k], 1000u * (unsigned)(i * 10 + k), n) && right;
    t_check(right, "%s: puts and gets of all ranks", what);
    close_file();
}

/* --- errors --- */

static bool fails_everywhere(pnc_collective_access *x, pnc_direction direction, int code)
{
    int err, codes[2];

    make_requests(direction == PNC_PUT ? PNC_OP_PUT : PNC_OP_GET);
    err = transfer(x, direction);
    codes[0] = err;
    codes[1] = -err;
    MPI_Allreduce(MPI_IN_PLACE, codes, 2, MPI_INT, MPI_MAX, file.comm);
    t_local(err == code && error.text[0] != '\0', "%d \"%s\"", err, error.text);
    pnc_error_clear(&error);
    return codes[0] == code && codes[1] == -code;
}

static bool is_empty(const slab *s)
{
    return s->count[0] == 0 || s->count[1] == 0;
}

static void test_faults(void)
{
    pnc_domain_shape domain = {.naggregators = 3, .buffer = 512, .striping_unit = 64};
    const pnc_access_hints aggregators = {0};
    pnc_collective_access *x = NULL;
    char *full_path;
    pnc_node node;

    open_file(t_path("access.bin"), (slab_lengths){9, 11, 7});
    full_path = file.store->full_path;
    create_node(&node, &aggregators);
    file.store->full_path = (char *)"/no/such/folder/access.bin";
    int err = pnc_io_collective_access_create(&io, &node, &domain, &x);
    file.store->full_path = full_path;
    t_check(err == NC_ENOENT && x == NULL, "a file that is no longer there: %d %s", err, error.text);
    pnc_error_clear(&error);
    file.path = (char *)t_path("access.bin");
    t_check(pnc_io_collective_access_create(&io, &node, &domain, &x) == NC_NOERR, "create %s", error.text);
    make_slabs((unsigned)rand());
    while (counts[t_nprocs - 1] == 0 || is_empty(&slabs[t_nprocs - 1][0])) {
        free_slabs();
        make_slabs((unsigned)rand());
    }
    prepare_file(false);
    int fails = t_rank == t_nprocs - 1 || pnc_io_node_is_delegate(&node); /* on each node at least */
    counting_next_faults = (counting_faults){fails ? NC_EREAD : NC_NOERR, fails ? NC_EQUOTA : NC_NOERR};
    t_check(fails_everywhere(x, PNC_PUT, NC_EQUOTA), "a put of which a write fails");
    t_check(fails_everywhere(x, PNC_GET, NC_EREAD), "a get of which a read fails");
    counting_next_faults = (counting_faults){0, 0};
    t_check(is_right_put(x), "then a put that succeeds");
    MPI_Barrier(file.comm);
    t_check(is_right_get(x), "and a get");
    free_slabs();
    t_check(pnc_io_collective_access_free(x) == NC_NOERR, "free %s", error.text);
    pnc_io_node_free(&node);
    close_file();
}

static bool is_available(const char *path)
{
    pnc_store *store = NULL;
    bool available;

    t_check(create_store(MPI_COMM_WORLD, path, &store) == NC_NOERR, "create %s", error.text);
    available = store != NULL && store->has_collective;
    t_check(store != NULL && counting_driver.close(store, &error) == NC_NOERR, "close %s", error.text);
    return available;
}

int main(int argc, char **argv)
{
    const int64_t small[] = {600, 4096, 1 << 20}, large[] = {60000, 8 << 20};

    t_start(&argc, &argv);
    pnc_wrapper_join(&counting_wrapper, &pnc_store_mpiio, "counting:mpiio", &counting_driver);
    if (t_nprocs > MOST_RANKS || !is_available(t_path("access.bin"))) {
        t_skip("more ranks than the model has, or an MPI-IO that is not ROMIO");
        return t_finish();
    }
    test_cases("a small file", (slab_lengths){9, 11, 7}, small, 3, t_quick() ? 2 : 8);
    test_cases("a large file", (slab_lengths){97, 1511, 61}, large, 2, t_quick() ? 1 : 2);
    test_faults();
    if (t_rank == 0)
        unlink(t_path("access.bin"));
    return t_finish();
}
