/* Gets of the same values by all ranks. */
#include "io/shared/shared.h"

#include "base/digest.h"
#include "base/memory.h"
#include "base/minmax.h"
#include "file/agree.h"
#include "io/two_phase/two_phase.h"
#include "mapping/cursor.h"

/* --- which requests are the same --- */

/* More hyperslabs or extents, which take about 10 us, are not compared. */
#define MOST_COMPARED 4096

static uint64_t add_elements_to_key(uint64_t hash, const pnc_io_context *io, const pnc_elements *e)
{
    const pnc_mapping mapping = pnc_io_context_get_mapping(io, e->varid);
    int numbers = pnc_mapping_slab_count_numbers(e, mapping.array.ndims);
    const int64_t head[] = {e->varid, e->form, e->n, e->count, numbers};

    hash = pnc_digest_add(hash, head, (int64_t)sizeof head);
    for (int64_t i = 0; i < e->n; i++) {
        if (e->form == PNC_EXTENTS) {
            pnc_extent extent = pnc_mapping_extent_get(&mapping, e, i);

            hash = pnc_digest_word_add(pnc_digest_word_add(hash, (uint64_t)extent.offset), (uint64_t)extent.length);
        } else {
            hash = pnc_digest_add(hash, pnc_mapping_slab_get(e, mapping.array.ndims, i).start,
                                  numbers * (int64_t)sizeof(int64_t));
        }
    }
    return hash;
}

int64_t pnc_io_shared_key_compute(const pnc_io_context *io, const pnc_request_list *list)
{
    uint64_t hash = PNC_DIGEST_START;

    if (list->summary.slabs > MOST_COMPARED || list->n > MOST_COMPARED)
        return 0;
    for (int64_t i = 0; i < list->n; i++) {
        const pnc_elements *e = &list->at[i]->elements;

        if (e->form == PNC_FILETYPE)
            return 0;
        if (e->count > 0)
            hash = add_elements_to_key(hash, io, e);
    }
    return (int64_t)(hash >> 2) + 1;
}

/* --- a call --- */

/* Before the bytes of a step. The maximum of all readers is that of the step: a rank that cannot follow has zeros. */
typedef struct shared_head {
    int64_t bytes;      /* of the step */
    int64_t minus_read; /* negative number of those at its front that were read */
    int64_t failure;    /* negative error code of a reader; 0: none */
    int64_t more;       /* 1: a step follows */
} shared_head;
#define HEAD_VALUES ((int)(sizeof(shared_head) / sizeof(int64_t)))

typedef struct sharing {
    pnc_io_context *io;
    const pnc_request_list *list;
    shared_head *head;
    char *bytes; /* behind the head */
    pnc_extent *extents;
    int64_t most; /* bytes of a step */
    int64_t n;    /* extents of this one */
    int64_t own;  /* bytes of it that this rank has read */
    int root;     /* rank that reads, if there are no readers */
    int nreaders;
    const pnc_node *node;
    /* the request whose extents are next */
    int64_t from;
    bool has_cursor;
    pnc_elements_cursor cursor;
    int64_t untaken; /* its bytes */
    /* the request whose values are next */
    int64_t to;
    bool has_packer;
    pnc_packer packer;
    int64_t missing; /* its bytes */
    int err;
} sharing;

/* --- extents of a step --- */

/* Whether there is a request with more extents. Its cursor must not be moved. */
static bool find_shared_source(sharing *s)
{
    const pnc_elements *e;
    pnc_mapping mapping;

    if (s->has_cursor)
        return true;
    while (s->from < s->list->n && s->list->at[s->from]->elements.count == 0)
        s->from++;
    if (s->from == s->list->n)
        return false;
    e = &s->list->at[s->from]->elements;
    mapping = pnc_io_context_get_mapping(s->io, e->varid);
    pnc_mapping_cursor_init(&s->cursor, &mapping, e, 0, pnc_mapping_elements_get_end(e));
    s->untaken = pnc_io_request_count_bytes(s->list->at[s->from]);
    s->has_cursor = true;
    return true;
}

static void end_shared_source(sharing *s)
{
    pnc_mapping_cursor_free(&s->cursor);
    s->has_cursor = false;
    s->from++;
}

/* The same extents on all ranks. After an error a rank takes part without them. */
static int take_shared_step(sharing *s)
{
    *s->head = (shared_head){0, 0, 0, 0};
    s->n = 0;
    while (s->n < PNC_PORTION_EXTENTS && s->most - s->head->bytes >= 8 && find_shared_source(s)) {
        int64_t n, bytes;
        int err = pnc_mapping_cursor_take(&s->cursor, s->most - s->head->bytes, s->extents + s->n,
                                          PNC_PORTION_EXTENTS - s->n, &n, &bytes);

        if (err != NC_NOERR)
            return pnc_io_request_fail(s->io, s->list->at[s->from]->elements.varid, err);
        s->n += n;
        s->head->bytes += bytes;
        s->untaken -= bytes;
        if (s->untaken == 0)
            end_shared_source(s);
    }
    s->head->more = find_shared_source(s);
    return NC_NOERR;
}

/* --- values of a step --- */

static int find_shared_target(sharing *s)
{
    const pnc_request *r;

    if (s->has_packer)
        return NC_NOERR;
    while (s->list->at[s->to]->elements.count == 0)
        s->to++;
    r = s->list->at[s->to];
    s->has_packer = true;
    s->missing = pnc_io_request_count_bytes(r);
    return pnc_io_request_init_packer(s->io, r, &s->packer);
}

static void end_shared_target(sharing *s)
{
    if (!s->has_packer)
        return;
    pnc_io_request_set_status(s->io, s->list->at[s->to], s->packer.status);
    pnc_convert_packer_free(&s->packer);
    s->has_packer = false;
    s->to++;
}

/* The first n bytes of the step; a value of which only a part was read remains. */
static int unpack_shared_step(sharing *s, int64_t n)
{
    pnc_statistics *statistics = s->io->file->statistics;
    pnc_counter before = pnc_statistics_begin(statistics, PNC_COUNT_TIME_CONVERT);
    int err = NC_NOERR;

    for (int64_t at = 0, some; at < n && err == NC_NOERR; at += some) {
        err = find_shared_target(s);
        if (err != NC_NOERR)
            break;
        some = pnc_min64(n - at, s->missing);
        pnc_statistics_add(statistics, PNC_COUNT_CONVERTED_BYTES, s->packer.direct == NULL ? some : 0);
        pnc_convert_packer_unpack(&s->packer, s->bytes + at, some / s->packer.ext_size);
        s->missing -= some;
        if (s->missing == 0)
            end_shared_target(s);
    }
    pnc_statistics_end(statistics, before);
    return err;
}

/* --- reading --- */

/* Long extents: several at the same time. *got: bytes at the front that were read. */
static int read_at_once(pnc_file *file, const pnc_extent *extents, int n, char *bytes, int64_t *got)
{
    pnc_store_transfer transfers[PNC_TRANSFERS_AT_ONCE];
    int err = NC_NOERR, some;

    *got = 0;
    for (int i = 0; i < n && err == NC_NOERR; i += some) {
        some = n - i < PNC_TRANSFERS_AT_ONCE ? n - i : PNC_TRANSFERS_AT_ONCE;
        for (int k = 0; k < some; bytes += extents[i + k++].length)
            pnc_file_transfer_start(file, false, extents[i + k], bytes, &transfers[k]);
        for (int k = 0; k < some; k++) {
            err = pnc_error_keep_first(err, pnc_file_transfer_finish(file, &transfers[k]));
            *got += err == NC_NOERR ? extents[i + k].length : 0;
        }
    }
    return err;
}

static int read_shared_extents(const pnc_io_context *io, const pnc_extent *extents, int n, int64_t length, char *bytes,
                               int64_t *got)
{
    bool has_overlap = io->hints->no_overlap == 0 && pnc_file_has_overlap(io->file);

    if (n > 1 && has_overlap && length / n >= PNC_SHARED_LONG)
        return read_at_once(io->file, extents, n, bytes, got);
    return pnc_file_extents_read(io->file, extents, n, bytes, got);
}

/* Bytes [low, high) of the step, at their place in memory. */
static void read_shared_part(sharing *s, int64_t low, int64_t high)
{
    pnc_extent part[64];
    int64_t at = 0, to = low, end = low; /* `to`: where the extents in `part` begin; end: behind them */
    int n = 0;

    for (int64_t i = 0; i < s->n && s->err == NC_NOERR && end < high; at += s->extents[i++].length) {
        int64_t first = pnc_max64(low - at, 0), last = pnc_min64(high - at, s->extents[i].length), got;

        if (first >= last)
            continue;
        part[n++] = (pnc_extent){s->extents[i].offset + first, last - first};
        end += last - first;
        if (n < (int)(sizeof part / sizeof *part) && end < high)
            continue;
        s->err = read_shared_extents(s->io, part, n, end - to, s->bytes + to, &got);
        to += got;
        n = 0;
    }
    s->own += to - low;
    pnc_statistics_add(s->io->file->statistics, PNC_COUNT_SHARED_BYTES_READ, to - low);
    s->head->minus_read = s->err == NC_NOERR ? -s->head->bytes : -to;
    s->head->failure = -s->err;
}

static void check_shared_step(sharing *s, int code, const char *call)
{
    pnc_file_step_check(s->io->file, code, call, "values that all ranks get");
}

/* One rank reads for all. */
static void pass_from_root(sharing *s)
{
    const pnc_file *file = s->io->file;
    pnc_counter before;

    if (file->rank == s->root)
        read_shared_part(s, 0, s->head->bytes);
    before = pnc_statistics_begin(file->statistics, PNC_COUNT_TIME_EXCHANGE);
    check_shared_step(s, MPI_Bcast(s->head, (int)(sizeof *s->head + (size_t)s->most), MPI_BYTE, s->root, file->comm),
                      "MPI_Bcast");
    pnc_statistics_end(file->statistics, before);
}

/* Part i of the step; the parts of all readers have the same length. */
static pnc_range get_part(const sharing *s, int i, int64_t bytes)
{
    int64_t length = (s->most / s->nreaders + 7) / 8 * 8;

    return (pnc_range){pnc_min64(i * length, bytes), pnc_min64((i + 1) * length, bytes)};
}

/* The readers are at equal distances among the aggregators. */
static int get_reader(const sharing *s, int i)
{
    return (int)((int64_t)i * s->node->naggregators / s->nreaders);
}

static void read_own_part(sharing *s, int aggregator)
{
    s->head->minus_read = s->err == NC_NOERR ? -s->head->bytes : 0;
    for (int i = 0; i < s->nreaders && s->err == NC_NOERR; i++) {
        pnc_range part = get_part(s, i, s->head->bytes);

        if (get_reader(s, i) == aggregator)
            read_shared_part(s, part.low, part.high);
    }
    s->head->failure = -s->err;
}

/* The delegates read, and send the parts to each other. */
static int pass_among_delegates(sharing *s)
{
    pnc_statistics *statistics = s->io->file->statistics;
    const pnc_node *node = s->node;
    pnc_counter before;
    int rank, code = MPI_Comm_rank(node->delegates, &rank);

    read_own_part(s, rank);
    before = pnc_statistics_begin(statistics, PNC_COUNT_TIME_EXCHANGE);
    code |= MPI_Allreduce(MPI_IN_PLACE, s->head, HEAD_VALUES, MPI_INT64_T, MPI_MAX, node->delegates);
    for (int i = 0; i < s->nreaders; i++) {
        pnc_range part = get_part(s, i, s->head->bytes);

        if (part.low < part.high)
            code |= MPI_Bcast(s->bytes + part.low, (int)(part.high - part.low), MPI_BYTE, get_reader(s, i),
                              node->delegates);
    }
    pnc_statistics_end(statistics, before);
    return code;
}

static void pass_from_readers(sharing *s)
{
    pnc_statistics *statistics = s->io->file->statistics;
    int code = pnc_io_node_is_delegate(s->node) ? pass_among_delegates(s) : MPI_SUCCESS;
    pnc_counter before = pnc_statistics_begin(statistics, PNC_COUNT_TIME_EXCHANGE);

    code |= MPI_Bcast(s->head, (int)(sizeof *s->head + (size_t)s->most), MPI_BYTE, 0, s->node->comm);
    pnc_statistics_end(statistics, before);
    check_shared_step(s, code, "a broadcast");
}

/* --- the steps --- */

/* False: it was the last one. What a rank has read itself was not received; it has the values before a failure too. */
static bool make_shared_step(sharing *s)
{
    pnc_file *file = s->io->file;
    bool has_step;
    int64_t read;

    s->own = 0;
    if (s->err == NC_NOERR)
        s->err = take_shared_step(s);
    has_step = s->err == NC_NOERR;
    if (s->err != NC_NOERR)
        *s->head = (shared_head){.failure = -s->err};
    if (s->nreaders > 1)
        pass_from_readers(s);
    else
        pass_from_root(s);
    read = -s->head->minus_read;
    if (has_step && s->list->summary.bytes > 0 && read > 0) {
        pnc_statistics_add(file->statistics, PNC_COUNT_SHARED_BYTES_RECEIVED, pnc_max64(read - s->own, 0));
        s->err = pnc_error_keep_first(s->err, unpack_shared_step(s, read));
    }
    if (s->err == NC_NOERR && s->head->failure != 0)
        s->err = pnc_error_set_remote(file->error, (int)-s->head->failure, "%s: a rank that reads for all failed: %s",
                                      file->path, pnc_error_get_text((int)-s->head->failure));
    return s->head->failure == 0 && s->head->more != 0;
}

/* --- a call --- */

/* Memory of steps of at most s->most bytes, or fewer if this rank knows that the call has fewer. */
static int reserve_shared_memory(sharing *s, int64_t bytes)
{
    int64_t slack = 64; /* parts of readers, and steps, are rounded up */

    s->most = pnc_max64(PNC_PAGE, pnc_min64(PNC_SHARED_BYTES, s->io->buffer_size));
    s->head = pnc_memory_alloc((int64_t)sizeof *s->head + (bytes > 0 ? pnc_min64(bytes, s->most) : s->most) + slack, 1);
    s->extents = pnc_memory_alloc(PNC_PORTION_EXTENTS, sizeof *s->extents);
    if (s->head == NULL || s->extents == NULL)
        return pnc_error_set(s->io->file->error, NC_ENOMEM, "%s: no memory for %lld bytes of values", s->io->file->path,
                             (long long)s->most);
    s->bytes = (char *)(s->head + 1);
    return NC_NOERR;
}

/* Steps of about the same length, each with space for a value that is cut. most: of a step. */
static void choose_steps(sharing *s, int64_t total, int64_t most)
{
    int64_t steps = (total + most - 1) / most;

    s->most = (total / steps + 15) / 8 * 8;
    s->nreaders = 1;
}

static void choose_readers(sharing *s, int64_t total, int64_t most, int64_t buffer)
{
    if (!pnc_io_two_phase_make(s->io, buffer))
        return;
    s->node = pnc_io_two_phase_get_node(s->io->two_phase);
    s->nreaders =
        pnc_io_shared_count_readers(total, most, s->node->naggregators, pnc_io_context_get_striping_unit(s->io));
}

/* The ranks agree on what those without values do not know, and that all have memory: the same error on all of them if
 * one has none. nreaders remains 0 if one rank has values. */
static int agree_steps(sharing *s, int64_t buffer)
{
    pnc_file *file = s->io->file;
    int64_t own = s->list->summary.bytes, rank = file->rank;
    int err = reserve_shared_memory(s, own);
    int64_t values[6] = {pnc_file_failure_encode(file, err),
                         own > 0 ? -rank : INT64_MIN,
                         own > 0 ? rank : INT64_MIN,
                         own == 0,
                         own,
                         -s->most};

    err = pnc_error_keep_first(err, pnc_file_maxima_agree(file, values, 6, "the values that all ranks get"));
    err = pnc_file_failure_share(file, err, values[0], "a collective read");
    if (err != NC_NOERR || values[1] == -values[2])
        return err;
    s->root = (int)-values[1];
    choose_steps(s, values[4], -values[5]);
    if (values[3] == 0 && values[4] > -values[5])
        choose_readers(s, values[4], -values[5], buffer);
    return NC_NOERR;
}

int pnc_io_shared_execute(const pnc_execution *x)
{
    sharing s = {.io = x->io, .list = x->list};

    s.err = agree_steps(&s, x->buffer);
    if (s.err == NC_NOERR && s.nreaders == 0)
        s.err = pnc_io_direct_execute(x);
    else if (s.err == NC_NOERR)
        while (make_shared_step(&s))
            continue;
    if (s.has_cursor)
        end_shared_source(&s);
    end_shared_target(&s);
    pnc_memory_free(s.head);
    pnc_memory_free(s.extents);
    return s.err;
}
