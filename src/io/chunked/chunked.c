/* Requests of variables in chunks: the values of each box go to its chunk, or come from there. */
#include "io/chunked/chunked.h"

#include <string.h>

#include "drivers/chunks/chunks.h"
#include "file/agree.h"
#include "io/chunked/slabs.h"

/* The values of requests. Those whose memory is scattered are copied in their order, which is fast for a transposed
 * array; run by run it takes twice as long. */
typedef struct request_values {
    pnc_io_context *io;
    pnc_request *request; /* of the packer; NULL: none */
    pnc_packer packer;
    char *stage;  /* a put: a copy of the values, from which the packer takes them */
    int64_t left; /* a get: bytes that copies may have */
    int err;      /* the first error of a packer */
} request_values;

/* Where a get has its values. */
typedef struct request_target {
    pnc_request *request;
    char *stage; /* a copy of the values, for now; NULL: none */
} request_target;

typedef struct chunked_access {
    pnc_io_context *io;
    const pnc_request_list *list;
    request_values values;
    pnc_chunk_values calls; /* of these values */
    int err;                /* first error of this rank */
    /* a put: */
    int64_t next; /* request */
    pnc_slab_cursor slabs;
    bool has_slabs, has_walk;
    int64_t array;
    pnc_array_walk walk; /* of the current hyperslab */
} chunked_access;

static int64_t find_chunk_array(const pnc_io_context *io, int varid)
{
    return pnc_chunks_array_find(io->file->store, varid);
}

bool pnc_io_chunked_has_var(const pnc_io_context *io, int varid)
{
    return io->file->store->has_arrays && find_chunk_array(io, varid) >= 0;
}

bool pnc_io_chunked_is_request(const pnc_io_context *io, const pnc_request *r)
{
    return pnc_io_chunked_has_var(io, r->elements.varid);
}

/* --- values --- */

static void close_packer(request_values *v)
{
    if (v->request == NULL)
        return;
    pnc_io_request_set_status(v->io, v->request, v->packer.status);
    pnc_convert_packer_free(&v->packer);
    pnc_memory_free(v->stage);
    v->stage = NULL;
    v->request = NULL;
}

static bool is_scattered(const pnc_packer *packer)
{
    return packer->direct == NULL && packer->flat == NULL;
}

/* The packer of a request, at one of its values. NULL: there is none. */
static pnc_packer *move_packer(request_values *v, pnc_request *r, int64_t value)
{
    if (v->request != r) {
        int err;

        close_packer(v);
        err = pnc_io_request_init_packer(v->io, r, &v->packer);
        v->err = pnc_error_keep_first(v->err, err);
        v->request = r; /* to be freed, also after an error */
    }
    if (v->err != NC_NOERR)
        return NULL;
    pnc_convert_packer_seek(&v->packer, value);
    return &v->packer;
}

static void pack_values_of(void *own, int64_t first, int64_t n, void *to)
{
    request_values *v = own;
    pnc_packer *packer = move_packer(v, v->request, first);

    pnc_convert_packer_pack(packer, to, n);
}

static const void *look_at_values(void *own, int64_t first)
{
    request_values *v = own;
    pnc_packer *packer = move_packer(v, v->request, first);

    return packer->direct;
}

static void unpack_values_of(void *own, void *of, int64_t first, int64_t n, const void *from)
{
    const request_target *target = of;
    int64_t size = target->request->elements.elem_size;
    pnc_packer *packer;

    if (target->stage != NULL) {
        memcpy(target->stage + first * size, from, (size_t)(n * size));
        return;
    }
    packer = move_packer(own, target->request, first);
    if (packer != NULL)
        pnc_convert_packer_unpack(packer, from, n);
}

/* --- puts --- */

/* Memory for a copy of scattered values. NULL: they stay where they are, and are found one run after the other. */
static char *allocate_stage(pnc_request *r, int64_t most)
{
    int64_t bytes = pnc_io_request_count_bytes(r);
    char *stage = bytes <= most ? pnc_memory_alloc(bytes, 1) : NULL;

    if (stage == NULL)
        (void)pnc_select_index_make(r->flat); /* without memory for it, too, they are found */
    return stage;
}

static void stage_put(request_values *v)
{
    int size = v->packer.ext_size;

    if (is_scattered(&v->packer))
        v->stage = allocate_stage(v->request, v->io->buffer_size);
    if (v->stage == NULL)
        return;
    pnc_convert_packer_pack(&v->packer, v->stage, v->request->elements.count);
    pnc_io_request_set_status(v->io, v->request, v->packer.status);
    pnc_convert_packer_free(&v->packer);
    pnc_convert_packer_init_copy(&v->packer, PNC_PUT, v->stage, size);
}

/* A variable that lacks space gets it before it is written. */
int pnc_io_chunked_puts_check(const pnc_io_context *io, const pnc_request_list *list)
{
    int last = -1;

    for (int64_t i = 0; i < list->n; i++) {
        int varid = list->at[i]->elements.varid;

        if (list->at[i]->elements.count == 0 || varid == last || io->model->vars[varid]->netcdf4.lacks_space ||
            !pnc_io_chunked_is_request(io, list->at[i]))
            continue;
        PNC_TRY(pnc_chunks_put_check(io->file->store, find_chunk_array(io, varid), io->file->error));
        last = varid;
    }
    return NC_NOERR;
}

/* The next request with values, and its packer. */
static bool open_request(chunked_access *x)
{
    pnc_request *r;

    while (x->next < x->list->n && x->list->at[x->next]->elements.count == 0)
        x->next++;
    if (x->next == x->list->n)
        return false;
    r = x->list->at[x->next++];
    x->array = find_chunk_array(x->io, r->elements.varid);
    x->err = pnc_chunks_put_check(x->io->file->store, x->array, x->io->file->error);
    if (x->err == NC_NOERR) {
        x->err = pnc_io_slab_cursor_init(&x->slabs, x->io, r);
        x->has_slabs = true;
    }
    if (x->err == NC_NOERR && move_packer(&x->values, r, 0) == NULL)
        x->err = x->values.err;
    if (x->err == NC_NOERR)
        stage_put(&x->values);
    return x->err == NC_NOERR;
}

/* The box that is put next; false: there is none, or an error. */
static bool next_box(chunked_access *x, pnc_box *box)
{
    pnc_array_slab slab;

    for (;;) {
        if (x->has_walk && pnc_array_walk_next(&x->walk, box))
            return true;
        x->has_walk = x->has_slabs && pnc_io_slab_cursor_next(&x->slabs, &slab);
        if (x->has_walk) {
            pnc_chunks_walk_init(x->io->file->store, x->array, &slab, &x->walk);
            continue;
        }
        if (x->has_slabs)
            pnc_io_slab_cursor_free(&x->slabs);
        x->has_slabs = false;
        if (!open_request(x))
            return false;
    }
}

/* As much as a round has, at least one box. Returns whether there may be more. */
static bool put_boxes(chunked_access *x, int64_t bytes)
{
    pnc_file *file = x->io->file;
    pnc_box box;

    for (int64_t done = 0; done < bytes; done += box.n * x->values.packer.ext_size) {
        if (x->err != NC_NOERR || !next_box(x, &box))
            return false;
        x->err = pnc_chunks_box_put(file->store, x->array, &box, &x->calls, x->list->collective, file->error);
    }
    return x->err == NC_NOERR;
}

/* Whether any rank has more. An error of the agreement is one of all ranks. */
static bool agree_more(chunked_access *x, int64_t more)
{
    int err = pnc_file_maxima_agree(x->io->file, &more, 1, "whether a rank has more values");

    x->err = pnc_error_keep_first(x->err, err);
    return err == NC_NOERR && more != 0;
}

static void put_all(chunked_access *x, int64_t bytes)
{
    pnc_file *file = x->io->file;
    bool more;

    file->unsynced = true;
    do {
        pnc_counter before = pnc_statistics_begin(file->statistics, PNC_COUNT_TIME_WRITE);

        more = put_boxes(x, x->list->collective ? bytes : INT64_MAX);
        x->err = pnc_chunks_put_end(file->store, x->list->collective, x->err, file->error);
        pnc_statistics_end(file->statistics, before);
    } while (x->list->collective && agree_more(x, more));
    if (x->has_slabs)
        pnc_io_slab_cursor_free(&x->slabs);
}

/* --- gets --- */

static void stage_get(request_values *v, request_target *target)
{
    const pnc_packer *packer = target->request->flat != NULL ? move_packer(v, target->request, 0) : NULL;

    if (packer != NULL && is_scattered(packer))
        target->stage = allocate_stage(target->request, v->left);
    v->left -= target->stage != NULL ? pnc_io_request_count_bytes(target->request) : 0;
}

static void unpack_stage(request_values *v, request_target *target)
{
    pnc_packer *packer = target->stage != NULL && v->err == NC_NOERR ? move_packer(v, target->request, 0) : NULL;

    if (packer != NULL)
        pnc_convert_packer_unpack(packer, target->stage, target->request->elements.count);
    pnc_memory_free(target->stage);
}

static int get_request(chunked_access *x, request_target *target)
{
    int64_t array = find_chunk_array(x->io, target->request->elements.varid);
    pnc_file *file = x->io->file;
    pnc_slab_cursor slabs;
    pnc_array_slab slab;
    int err = pnc_io_slab_cursor_init(&slabs, x->io, target->request);

    stage_get(&x->values, target);
    while (err == NC_NOERR && pnc_io_slab_cursor_next(&slabs, &slab))
        err = pnc_chunks_slab_get(file->store, array, &slab, target, file->error);
    pnc_io_slab_cursor_free(&slabs);
    return pnc_error_keep_first(err, x->values.err);
}

static int get_requests(chunked_access *x, request_target *targets)
{
    pnc_file *file = x->io->file;
    int err = pnc_chunks_get_begin(file->store, &x->calls, x->list->collective, file->error);

    if (err == NC_NOERR && targets == NULL)
        err =
            pnc_error_set(file->error, NC_ENOMEM, "%s: no memory for %lld requests", file->path, (long long)x->list->n);
    for (int64_t i = 0; err == NC_NOERR && i < x->list->n; i++) {
        targets[i].request = x->list->at[i];
        err = get_request(x, &targets[i]);
    }
    return pnc_chunks_get_end(file->store, x->list->collective, err, file->error);
}

static void get_all(chunked_access *x)
{
    pnc_file *file = x->io->file;
    request_target *targets = pnc_memory_alloc_zeroed(x->list->n + 1, sizeof *targets);
    pnc_counter before = pnc_statistics_begin(file->statistics, PNC_COUNT_TIME_READ);

    x->values.left = x->io->buffer_size;
    x->err = get_requests(x, targets);
    x->values.err = pnc_error_keep_first(x->values.err, x->err);
    for (int64_t i = 0; targets != NULL && i < x->list->n; i++)
        unpack_stage(&x->values, &targets[i]);
    x->err = x->values.err;
    pnc_memory_free(targets);
    pnc_statistics_end(file->statistics, before);
}

int pnc_io_chunked_execute(pnc_io_context *io, const pnc_request_list *list, int64_t bytes)
{
    chunked_access x = {.io = io, .list = list};

    x.values.io = io;
    x.calls = (pnc_chunk_values){
        .own = &x.values, .pack = pack_values_of, .look = look_at_values, .unpack = unpack_values_of};
    if (list->direction == PNC_PUT)
        put_all(&x, bytes);
    else
        get_all(&x);
    close_packer(&x.values);
    return x.err;
}
