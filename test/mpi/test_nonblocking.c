/* Nonblocking requests: their codes, statuses and ids in every mode, which requests stay pending and which are dropped,
 * and the data of many requests, also overlapping ones. */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "../expect.h"
#include "dataset/registry.h"
#include "io/request/queue.h"

enum { PER_RANK = 8, RECORDS = 5 };

/* A file in define mode with t (unlimited) and x, 8 places for each rank; ids are the same in every test. */
enum { DIM_T, DIM_X };
enum { FIXED, RECORD, BYTES, TEXT, SCALAR };

static char path[4096];
static MPI_Offset nx, mine[1], each[1] = {PER_RANK}; /* this rank's places */

static int create(int cmode, MPI_Info info)
{
    int ncid = -1, dims[2], id;
    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | cmode, info, &ncid) == NC_NOERR, "create");
    t_local(ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[DIM_T]) == NC_NOERR, "def_dim t");
    t_local(ncmpi_def_dim(ncid, "x", nx, &dims[DIM_X]) == NC_NOERR, "def_dim x");
    t_local(ncmpi_def_var(ncid, "fixed", NC_INT, 1, dims + 1, &id) == NC_NOERR && id == FIXED, "def_var fixed");
    t_local(ncmpi_def_var(ncid, "record", NC_INT, 2, dims, &id) == NC_NOERR && id == RECORD, "def_var record");
    t_local(ncmpi_def_var(ncid, "bytes", NC_BYTE, 1, dims + 1, &id) == NC_NOERR && id == BYTES, "def_var bytes");
    t_local(ncmpi_def_var(ncid, "text", NC_CHAR, 1, dims + 1, &id) == NC_NOERR && id == TEXT, "def_var text");
    t_local(ncmpi_def_var(ncid, "scalar", NC_INT, 0, NULL, &id) == NC_NOERR && id == SCALAR, "def_var scalar");
    return ncid;
}

static int create_ready(int cmode, MPI_Info info)
{
    int ncid = create(cmode, info);
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    return ncid;
}

/* Collective: n places of this rank hold first, first + 1, ... */
static bool holds(int ncid, int varid, MPI_Offset start, MPI_Offset n, int first)
{
    int *got = malloc((size_t)n * sizeof *got), code;
    bool same = true;
    memset(got, 0x77, (size_t)n * sizeof *got);
    code = ncmpi_get_vara_int_all(ncid, varid, &start, &n, got);
    t_local(code == NC_NOERR, "get: %s", ncmpi_strerrno(code));
    for (MPI_Offset i = 0; i < n; i++)
        same = t_local(got[i] == first + (int)i, "variable %d place %lld holds %d, not %d", varid,
                       (long long)(start + i), got[i], first + (int)i) &&
               same;
    free(got);
    return same;
}

static void count_up(int *values, int n, int first)
{
    for (int i = 0; i < n; i++)
        values[i] = first + i;
}

static bool pending(int ncid, int wanted)
{
    int n = -1;
    return ncmpi_inq_nreqs(ncid, &n) == NC_NOERR && n == wanted;
}

/* Under the hint nc_burst_buf, bput needs no buffer. */
static bool needs_buffer(int ncid)
{
    char value[MPI_MAX_INFO_VAL + 1] = "";
    MPI_Info used;
    int found = 0;

    ncmpi_inq_file_info(ncid, &used);
    MPI_Info_get(used, "nc_burst_buf", MPI_MAX_INFO_VAL, value, &found);
    MPI_Info_free(&used);
    return !found || strcmp(value, "enable") != 0;
}

/* --- modes --- */

static void test_define_mode(void)
{
    int ncid = create(0, MPI_INFO_NULL), values[PER_RANK], id = 12345, status = 99;
    count_up(values, PER_RANK, 100 * t_rank);
    expect_code(ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL), NC_EINDEFINE, "wait_all in define mode");
    expect_code(ncmpi_wait(ncid, NC_REQ_ALL, NULL, NULL), NC_EINDEFINE, "wait in define mode");
    expect_ok(ncmpi_iput_vara_int(ncid, FIXED, mine, each, values, &id), "iput in define mode");
    t_check(id != NC_REQ_NULL, "its request is valid");
    expect_code(ncmpi_wait_all(ncid, 1, &id, &status), NC_EINDEFINE, "wait_all for it in define mode");
    t_check(id != NC_REQ_NULL && pending(ncid, 1), "it stays pending");
    if (needs_buffer(ncid))
        expect_code(ncmpi_bput_vara_int(ncid, FIXED, mine, each, values, NULL), NC_ENULLABUF, "bput without attach");
    expect_code(ncmpi_bput_vara_int(ncid, 99, mine, each, values, NULL), NC_ENOTVAR, "bad variable outranks ENULLABUF");
    expect_code(ncmpi_bput_vara_text(ncid, FIXED, mine, each, "x", NULL), NC_ECHAR, "so does text for numbers");
    if (needs_buffer(ncid))
        expect_code(ncmpi_bput_vara_int(ncid, FIXED, NULL, each, values, NULL), NC_ENULLABUF, "a bad start does not");
    expect_code(ncmpi_bput_varn_int(ncid, FIXED, 0, NULL, NULL, values, NULL), NC_NOERR, "no pieces, no buffer");
    expect_code(ncmpi_buffer_attach(ncid, 0), NC_ENULLBUF, "buffer_attach 0");
    expect_code(ncmpi_buffer_attach(ncid, -1), NC_ENULLBUF, "buffer_attach -1");
    expect_code(ncmpi_buffer_detach(ncid), NC_ENULLABUF, "detach without attach");
    expect_code(ncmpi_inq_buffer_usage(ncid, &(MPI_Offset){0}), NC_ENULLABUF, "inq_buffer_usage without attach");
    expect_code(ncmpi_inq_buffer_size(ncid, &(MPI_Offset){0}), NC_ENULLABUF, "inq_buffer_size without attach");
    expect_ok(ncmpi_buffer_attach(ncid, 1000), "buffer_attach in define mode");
    int chars = NC_REQ_NULL;
    char text[] = "eight ch";
    expect_ok(ncmpi_bput_vara_text(ncid, TEXT, mine, each, text, &chars), "bput in define mode");
    memset(text, 'X', sizeof text);
    expect_ok(ncmpi_enddef(ncid), "enddef with pending requests");
    expect_ok(ncmpi_wait_all(ncid, 1, &id, &status), "wait_all 1");
    t_check(id == NC_REQ_NULL && status == NC_NOERR && pending(ncid, 1), "id is NC_REQ_NULL, status NC_NOERR");
    expect_ok(ncmpi_wait_all(ncid, 1, &chars, NULL), "wait_all for the bput, without statuses");
    char got[PER_RANK] = "";
    t_local(ncmpi_get_vara_text_all(ncid, TEXT, mine, each, got) == NC_NOERR, "get text");
    t_check(holds(ncid, FIXED, mine[0], PER_RANK, 100 * t_rank) && memcmp(got, "eight ch", 8) == 0,
            "what was posted in define mode is in the file");
    expect_ok(ncmpi_close(ncid), "close");
}

/* Posting again in a second define mode, with data that moves before the wait. */
static void test_redef(void)
{
    int ncid = create_ready(0, MPI_INFO_NULL), values[PER_RANK], more[PER_RANK], got[PER_RANK], ids[3], old = -1, id;
    MPI_Offset start[2] = {1, mine[0]}, count[2] = {1, PER_RANK};
    count_up(values, PER_RANK, 10 * t_rank);
    count_up(more, PER_RANK, 1000 + 10 * t_rank);
    t_local(ncmpi_put_vara_int_all(ncid, FIXED, mine, each, values) == NC_NOERR, "put");
    expect_ok(ncmpi_iput_vara_int(ncid, RECORD, start, count, values, &ids[0]), "iput before redef");
    expect_ok(ncmpi_iget_vara_int(ncid, FIXED, mine, each, got, &ids[1]), "iget before redef");
    expect_ok(ncmpi_redef(ncid), "redef with pending requests");
    t_local(ncmpi_def_var(ncid, "late", NC_INT, 1, (int[]){DIM_X}, &id) == NC_NOERR, "def_var");
    t_local(ncmpi_put_att_text(ncid, NC_GLOBAL, "long", 3000, (char[3000]){"x"}) == NC_NOERR, "put_att");
    t_local(ncmpi_rename_var(ncid, FIXED, "a much longer name than before") == NC_NOERR, "rename_var");
    expect_ok(ncmpi_iput_vara_int(ncid, id, mine, each, more, &ids[2]), "iput to a new variable in define mode");
    expect_ok(ncmpi_enddef(ncid), "enddef");
    t_check(pending(ncid, 3), "all requests are still pending");
    expect_ok(ncmpi_wait_all(ncid, 3, ids, NULL), "wait_all");
    t_check(memcmp(got, values, sizeof got) == 0, "the get of before follows its data");
    t_local(ncmpi_get_vara_int_all(ncid, RECORD, start, count, got) == NC_NOERR, "get record");
    t_local(memcmp(got, values, sizeof got) == 0, "record");
    t_local(holds(ncid, FIXED, mine[0], PER_RANK, 10 * t_rank), "fixed");
    t_check(holds(ncid, id, mine[0], PER_RANK, 1000 + 10 * t_rank), "puts of before and of define mode are in place");
    t_local(ncmpi_inq_varid(ncid, "late", &old) == NC_NOERR && old == id, "inq_varid");
    expect_ok(ncmpi_close(ncid), "close");
}

static void test_modes(void)
{
    int ncid = create_ready(0, MPI_INFO_NULL), values[PER_RANK], ids[2];
    count_up(values, PER_RANK, 7 * t_rank);
    expect_code(ncmpi_wait(ncid, NC_REQ_ALL, NULL, NULL), NC_ENOTINDEP, "wait in collective mode");
    expect_ok(ncmpi_iput_vara_int(ncid, FIXED, mine, each, values, &ids[0]), "iput in collective mode");
    expect_ok(ncmpi_begin_indep_data(ncid), "begin_indep_data");
    expect_code(ncmpi_wait_all(ncid, 1, ids, NULL), NC_EINDEP, "wait_all in independent mode");
    t_check(ids[0] != NC_REQ_NULL && pending(ncid, 1), "its requests stay pending");
    expect_ok(
        ncmpi_iput_vara_int(ncid, RECORD, (MPI_Offset[]){0, mine[0]}, (MPI_Offset[]){1, PER_RANK}, values, &ids[1]),
        "iput in independent mode");
    if (t_rank == 0) /* the others call without it */
        t_local(ncmpi_wait(ncid, 1, ids, NULL) == NC_NOERR && ids[0] == NC_REQ_NULL, "wait of rank 0 alone");
    t_check(pending(ncid, t_rank == 0 ? 1 : 2), "wait is local");
    expect_ok(ncmpi_end_indep_data(ncid), "end_indep_data");
    expect_ok(ncmpi_wait_all(ncid, 2, ids, NULL), "wait_all for the rest, with NC_REQ_NULL among the ids");
    t_check(ids[0] == NC_REQ_NULL && ids[1] == NC_REQ_NULL && pending(ncid, 0), "nothing is pending");
    t_check(holds(ncid, FIXED, mine[0], PER_RANK, 7 * t_rank), "data of rank 0's wait and of wait_all");
    expect_ok(ncmpi_close(ncid), "close");
    t_local(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid) == NC_NOERR, "open");
    ids[0] = 5;
    expect_code(ncmpi_iput_vara_int(ncid, 99, NULL, NULL, NULL, &ids[0]), NC_EPERM, "iput, all bad, read-only file");
    t_check(ids[0] == NC_REQ_NULL, "a request that failed is NC_REQ_NULL");
    expect_code(ncmpi_bput_vara_int(ncid, FIXED, mine, each, values, NULL), NC_EPERM, "bput, read-only file");
    expect_ok(ncmpi_iget_vara_int(ncid, FIXED, mine, each, values, NULL), "iget, read-only file");
    expect_ok(ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL), "wait_all, read-only file");
    expect_ok(ncmpi_close(ncid), "close");
    expect_code(ncmpi_iput_var_int(ncid, 0, values, NULL), NC_EBADID, "iput, closed file");
    expect_code(ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL), NC_EBADID, "wait_all, closed file");
    expect_code(ncmpi_cancel(ncid, NC_REQ_ALL, NULL, NULL), NC_EBADID, "cancel, closed file");
}

/* --- codes --- */

static void test_arguments(void)
{
    int ncid = create_ready(0, MPI_INFO_NULL), values[PER_RANK] = {0}, id = 5;
    MPI_Offset low[1] = {-1}, end[1] = {nx}, one[1] = {1}, none[1] = {0}, all[1] = {nx + 1}, zero[1] = {0};
    expect_code(ncmpi_iput_vara_int(ncid, 99, mine, each, values, &id), NC_ENOTVAR, "iput: unknown variable");
    t_check(id == NC_REQ_NULL, "its request is NC_REQ_NULL");
    expect_code(ncmpi_iput_vara_int(ncid, TEXT, low, each, values, NULL), NC_ECHAR, "iput: numbers to NC_CHAR");
    expect_code(ncmpi_iput_vara_text(ncid, FIXED, mine, each, "xxxxxxxx", NULL), NC_ECHAR, "iput: text to NC_INT");
    expect_code(ncmpi_iput_vara_int(ncid, FIXED, NULL, each, values, NULL), NC_EINVALCOORDS, "iput: start NULL");
    expect_code(ncmpi_iput_vara_int(ncid, FIXED, mine, NULL, values, NULL), NC_EEDGE, "iput: count NULL");
    expect_code(ncmpi_iput_vara_int(ncid, FIXED, low, each, values, NULL), NC_EINVALCOORDS, "iput: start negative");
    expect_code(ncmpi_iput_vara_int(ncid, FIXED, mine, low, values, NULL), NC_ENEGATIVECNT, "iput: count negative");
    expect_code(ncmpi_iput_vara_int(ncid, FIXED, zero, all, values, NULL), NC_EEDGE, "iput: count too large");
    expect_code(ncmpi_iput_vara_int(ncid, FIXED, end, one, values, NULL), NC_EINVALCOORDS, "iput: start at the end");
    expect_ok(ncmpi_iput_vara_int(ncid, FIXED, end, none, values, NULL), "iput: start at the end, count 0");
    expect_code(ncmpi_iput_vars_int(ncid, FIXED, zero, one, none, values, NULL), NC_ESTRIDE, "iput: stride 0");
    expect_code(ncmpi_iput_vara_int(ncid, FIXED, mine, each, NULL, NULL), NC_EINVAL, "iput: buffer NULL");
    expect_code(ncmpi_iput_vara(ncid, FIXED, mine, each, values, PER_RANK - 1, MPI_INT, NULL), NC_EIOMISMATCH,
                "iput: bufcount too small");
    expect_code(ncmpi_iput_varn_int(ncid, FIXED, 1, NULL, NULL, values, NULL), NC_ENULLSTART, "iput_varn: starts NULL");
    expect_code(ncmpi_iget_vara_int(ncid, 99, mine, each, values, &id), NC_ENOTVAR, "iget: unknown variable");
    expect_code(ncmpi_iget_vara_int(ncid, RECORD, (MPI_Offset[]){0, 0}, (MPI_Offset[]){1, 1}, values, &id),
                NC_EINVALCOORDS, "iget: beyond the last record");
    expect_code(ncmpi_iget_vara_text(ncid, FIXED, mine, each, (char *)values, &id), NC_ECHAR, "iget: NC_INT as text");
    t_check(pending(ncid, 0), "no failed call left a request");
    expect_ok(ncmpi_inq_nreqs(ncid, NULL), "inq_nreqs with NULL");
    expect_ok(ncmpi_close(ncid), "close");
}

static void test_ids(void)
{
    int ncid = create_ready(0, MPI_INFO_NULL), values[PER_RANK], got[PER_RANK] = {0}, ids[4], statuses[4], bad = 12345;
    count_up(values, PER_RANK, 3 * t_rank);
    expect_code(ncmpi_wait_all(ncid, 1, &bad, statuses), NC_EINVAL_REQUEST, "wait_all: unknown id");
    t_check(statuses[0] == NC_EINVAL_REQUEST, "its status is NC_EINVAL_REQUEST");
    expect_code(ncmpi_cancel(ncid, 1, &bad, statuses), NC_EINVAL_REQUEST, "cancel: unknown id");
    t_check(statuses[0] == NC_EINVAL_REQUEST, "its status is NC_EINVAL_REQUEST");
    expect_ok(ncmpi_wait_all(ncid, 0, NULL, NULL), "wait_all for no requests");
    expect_ok(ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL), "wait_all for all of none");
    t_local(ncmpi_iput_vara_int(ncid, FIXED, mine, each, values, &ids[2]) == NC_NOERR, "iput");
    t_local(ncmpi_iput_vara_int(ncid, BYTES, mine, each, values, &ids[0]) == NC_NOERR, "iput");
    ids[1] = 12345;
    ids[3] = NC_REQ_NULL;
    expect_code(ncmpi_wait_all(ncid, 4, ids, statuses), NC_EINVAL_REQUEST, "wait_all: one unknown id of four");
    t_check(statuses[0] == NC_NOERR && statuses[1] == NC_EINVAL_REQUEST && statuses[2] == NC_NOERR &&
                statuses[3] == NC_NOERR && ids[0] == NC_REQ_NULL && ids[2] == NC_REQ_NULL && pending(ncid, 0),
            "the others are carried out");
    t_local(holds(ncid, FIXED, mine[0], PER_RANK, 3 * t_rank), "fixed");
    t_check(holds(ncid, BYTES, mine[0], PER_RANK, 3 * t_rank), "and their data is right");
    t_local(ncmpi_iget_vara_int(ncid, FIXED, mine, each, got, &ids[0]) == NC_NOERR, "iget");
    int done = ids[0];
    t_local(ncmpi_wait_all(ncid, 1, ids, NULL) == NC_NOERR, "wait_all");
    expect_code(ncmpi_wait_all(ncid, 1, &done, NULL), NC_EINVAL_REQUEST, "wait_all: an id that is done");
    t_check(memcmp(got, values, sizeof got) == 0, "iget");
    t_local(ncmpi_iput_vara_int(ncid, FIXED, mine, each, values, NULL) == NC_NOERR, "iput, request NULL");
    t_local(ncmpi_iget_vara_int(ncid, FIXED, mine, each, values, NULL) == NC_NOERR, "iget, request NULL");
    t_check(pending(ncid, 2), "requests posted without an id are pending");
    expect_ok(ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL), "wait_all");
    expect_ok(ncmpi_close(ncid), "close");
}

/* Waiting for puts, gets and all of them, collective and not. */
static void test_sets(bool collective)
{
    int (*wait)(int, int, int *, int *) = collective ? ncmpi_wait_all : ncmpi_wait;
    int ncid = create_ready(0, MPI_INFO_NULL), values[PER_RANK], one[PER_RANK], two[PER_RANK];
    count_up(values, PER_RANK, 50 + t_rank);
    t_local(ncmpi_put_vara_int_all(ncid, FIXED, mine, each, values) == NC_NOERR, "put");
    if (!collective)
        t_local(ncmpi_begin_indep_data(ncid) == NC_NOERR, "begin_indep_data");
    memset(one, 0, sizeof one);
    memset(two, 0, sizeof two);
    ncmpi_iput_vara_int(ncid, BYTES, mine, each, values, NULL);
    ncmpi_iget_vara_int(ncid, FIXED, mine, each, one, NULL);
    ncmpi_iput_vara_int(ncid, RECORD, (MPI_Offset[]){0, mine[0]}, (MPI_Offset[]){1, PER_RANK}, values, NULL);
    ncmpi_iget_vara_int(ncid, FIXED, mine, each, two, NULL);
    t_check(pending(ncid, 4), "four requests are pending");
    expect_ok(wait(ncid, NC_GET_REQ_ALL, NULL, NULL), "wait for NC_GET_REQ_ALL");
    t_check(pending(ncid, 2) && memcmp(one, values, sizeof one) == 0 && memcmp(two, values, sizeof two) == 0,
            "gets are done, puts pending");
    ncmpi_iget_vara_int(ncid, FIXED, mine, each, one, NULL);
    expect_ok(wait(ncid, NC_PUT_REQ_ALL, NULL, NULL), "wait for NC_PUT_REQ_ALL");
    t_check(pending(ncid, 1), "puts are done, the get is pending");
    ncmpi_iput_vara_int(ncid, FIXED, mine, each, values, NULL);
    expect_ok(wait(ncid, NC_REQ_ALL, NULL, NULL), "wait for NC_REQ_ALL");
    t_check(pending(ncid, 0), "nothing is pending");
    if (!collective)
        t_local(ncmpi_end_indep_data(ncid) == NC_NOERR, "end_indep_data");
    t_check(holds(ncid, BYTES, mine[0], PER_RANK, 50 + t_rank), "puts are in the file");
    expect_ok(ncmpi_close(ncid), "close");
}

static void test_cancel(void)
{
    int ncid = create_ready(0, MPI_INFO_NULL), values[PER_RANK], other[PER_RANK], got[PER_RANK] = {-5}, ids[3],
        statuses[3];
    MPI_Offset usage = -1;
    count_up(values, PER_RANK, 0);
    count_up(other, PER_RANK, 90);
    t_local(ncmpi_put_vara_int_all(ncid, FIXED, mine, each, values) == NC_NOERR, "put");
    t_local(ncmpi_buffer_attach(ncid, 100) == NC_NOERR, "attach");
    t_local(ncmpi_iput_vara_int(ncid, FIXED, mine, each, other, &ids[0]) == NC_NOERR, "iput");
    t_local(ncmpi_bput_vara_int(ncid, FIXED, mine, each, other, &ids[1]) == NC_NOERR, "bput");
    t_local(ncmpi_iget_vara_int(ncid, FIXED, mine, each, got, &ids[2]) == NC_NOERR, "iget");
    expect_ok(ncmpi_cancel(ncid, 3, ids, statuses), "cancel three requests");
    t_check(ids[0] == NC_REQ_NULL && ids[1] == NC_REQ_NULL && ids[2] == NC_REQ_NULL, "ids are NC_REQ_NULL");
    t_check(statuses[0] == NC_NOERR && statuses[1] == NC_NOERR && statuses[2] == NC_NOERR, "statuses are NC_NOERR");
    t_check(ncmpi_inq_buffer_usage(ncid, &usage) == NC_NOERR && usage == 0, "the attached buffer is empty");
    t_check(pending(ncid, 0) && got[0] == -5, "nothing is pending, and the get did not happen");
    ncmpi_iput_vara_int(ncid, FIXED, mine, each, other, NULL);
    ncmpi_iget_vara_int(ncid, FIXED, mine, each, got, NULL);
    expect_ok(ncmpi_cancel(ncid, NC_PUT_REQ_ALL, NULL, NULL), "cancel NC_PUT_REQ_ALL");
    t_check(pending(ncid, 1), "the get is still pending");
    expect_ok(ncmpi_cancel(ncid, NC_GET_REQ_ALL, NULL, NULL), "cancel NC_GET_REQ_ALL");
    ncmpi_bput_vara_int(ncid, FIXED, mine, each, other, NULL);
    ncmpi_iget_vara_int(ncid, FIXED, mine, each, got, NULL);
    expect_ok(ncmpi_redef(ncid), "redef");
    expect_ok(ncmpi_cancel(ncid, NC_REQ_ALL, NULL, NULL), "cancel NC_REQ_ALL in define mode");
    expect_ok(ncmpi_enddef(ncid), "enddef");
    expect_ok(ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL), "wait_all for nothing");
    t_check(holds(ncid, FIXED, mine[0], PER_RANK, 0) && got[0] == -5, "no cancelled request was carried out");
    expect_ok(ncmpi_close(ncid), "close");
}

/* Only one rank may have forgotten its requests; every rank's file is closed. */
static void test_close(void)
{
    int ncid = create_ready(0, MPI_INFO_NULL), values[PER_RANK], other[PER_RANK];
    count_up(values, PER_RANK, 0);
    count_up(other, PER_RANK, 90);
    t_local(ncmpi_put_vara_int_all(ncid, FIXED, mine, each, values) == NC_NOERR, "put");
    if (t_rank == 0)
        t_local(ncmpi_iput_vara_int(ncid, FIXED, mine, each, other, NULL) == NC_NOERR, "iput");
    expect_code(ncmpi_close(ncid), t_rank == 0 ? NC_EPENDING : NC_NOERR, "close with a pending request on rank 0");
    expect_code(ncmpi_close(ncid), NC_EBADID, "close again");
    ncid = create(0, MPI_INFO_NULL);
    t_local(ncmpi_buffer_attach(ncid, 100) == NC_NOERR, "attach");
    t_local(ncmpi_bput_vara_int(ncid, FIXED, mine, each, other, NULL) == NC_NOERR, "bput");
    expect_code(ncmpi_close(ncid), NC_EPENDING, "close in define mode with a pending bput");
    expect_code(ncmpi_close(ncid), NC_EBADID, "close again");
    ncid = create(0, MPI_INFO_NULL);
    t_local(ncmpi_iput_vara_int(ncid, FIXED, mine, each, other, NULL) == NC_NOERR, "iput");
    expect_ok(ncmpi_abort(ncid), "abort a new file with a pending request");
    expect_code(ncmpi_close(ncid), NC_EBADID, "close after abort");
    ncid = create_ready(0, MPI_INFO_NULL);
    t_local(ncmpi_redef(ncid) == NC_NOERR, "redef");
    t_local(ncmpi_iput_vara_int(ncid, FIXED, mine, each, other, NULL) == NC_NOERR, "iput");
    expect_ok(ncmpi_abort(ncid), "abort a redefinition with a pending request");
}

/* Ids are ints; after the last one they begin anew once nothing is pending. */
static void test_last_id(void)
{
    int ncid = create_ready(0, MPI_INFO_NULL), values[PER_RANK], id = 0;
    count_up(values, PER_RANK, 0);
    t_local(ncmpi_iput_vara_int(ncid, FIXED, mine, each, values, NULL) == NC_NOERR, "iput");
    pnc_dataset_registry_peek(ncid)->io.queue->next_id = INT_MAX;
    expect_code(ncmpi_iput_vara_int(ncid, FIXED, mine, each, values, &id), NC_EINTOVERFLOW, "iput beyond the last id");
    pnc_dataset_registry_peek(ncid)->io.queue->next_id = 1; /* as the queue has it */
    t_check(id == NC_REQ_NULL, "no request was posted");
    expect_ok(ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL), "wait for all");
    expect_ok(ncmpi_iput_vara_int(ncid, FIXED, mine, each, values, &id), "iput after that");
    expect_ok(ncmpi_wait_all(ncid, 1, &id, NULL), "wait for it");
    expect_ok(ncmpi_close(ncid), "close");
}

/* Some requests are always pending: a window of the last ones, and every 10,000th, which is cancelled at the end. The
 * queue keeps memory for these, not for all ids. */
static void test_window(void)
{
    enum { POSTED = 100000, WINDOW = 50, RARE = 10000 };
    int ncid = create_ready(0, MPI_INFO_NULL), values[POSTED / RARE], ids[WINDOW], rare[POSTED / RARE], got, err = 0;
    const pnc_queue *queue = pnc_dataset_registry_peek(ncid)->io.queue;
    const MPI_Offset one[1] = {1};

    t_local(ncmpi_begin_indep_data(ncid) == NC_NOERR, "begin_indep_data");
    for (int i = 0; i < POSTED; i++) {
        int *value = i % RARE == 0 ? &values[i / RARE] : &got, *id = i % RARE == 0 ? &rare[i / RARE] : &ids[i % WINDOW];

        if (i >= WINDOW && (i - WINDOW) % RARE != 0)
            err = err != NC_NOERR ? err : ncmpi_wait(ncid, 1, &ids[i % WINDOW], NULL);
        err = err != NC_NOERR ? err : ncmpi_iget_vara_int(ncid, FIXED, mine, one, value, id);
    }
    t_check(err == NC_NOERR && pending(ncid, WINDOW + POSTED / RARE), "wait for each request after 50 others: %s",
            ncmpi_strerror(err));
    t_check(queue->next_id == POSTED && queue->nblocks < 40, "%d blocks of ids are in memory", (int)queue->nblocks);
    expect_ok(ncmpi_cancel(ncid, POSTED / RARE, rare, NULL), "cancel the oldest ones");
    t_check(pending(ncid, WINDOW), "50 are pending");
    expect_ok(ncmpi_wait(ncid, NC_REQ_ALL, NULL, NULL), "wait for all");
    expect_ok(ncmpi_end_indep_data(ncid), "end_indep_data");
    expect_ok(ncmpi_close(ncid), "close");
}

static void test_range(void)
{
    int ncid = create_ready(0, MPI_INFO_NULL), values[4] = {300, 1, 2, 3}, id = NC_REQ_NULL, status = 99;
    const int wide[4] = {1000, 1, 2, 3};
    MPI_Offset four[1] = {4}, usage;
    signed char got[4];
    expect_code(ncmpi_iput_vara_int(ncid, BYTES, mine, four, values, &id), NC_ERANGE, "iput 300 to NC_BYTE");
    t_check(id != NC_REQ_NULL && pending(ncid, 1), "its request is valid");
    expect_ok(ncmpi_wait_all(ncid, 1, &id, &status), "wait_all for it");
    t_check(status == NC_NOERR && values[0] == 300, "status NC_NOERR, buffer unchanged");
    t_local(ncmpi_get_vara_schar_all(ncid, BYTES, mine, four, got) == NC_NOERR, "get");
    t_check(got[0] == -127 && got[1] == 1 && got[2] == 2 && got[3] == 3, "stored -127 1 2 3");
    values[1] = 2;
    t_local(ncmpi_buffer_attach(ncid, 4) == NC_NOERR, "attach");
    expect_code(ncmpi_bput_vara_int(ncid, BYTES, mine, four, values, &id), NC_ERANGE, "bput 300 to NC_BYTE");
    t_check(id != NC_REQ_NULL && ncmpi_inq_buffer_usage(ncid, &usage) == NC_NOERR && usage == 4,
            "its request is valid");
    expect_ok(ncmpi_wait_all(ncid, 1, &id, &status), "wait_all for it");
    t_local(ncmpi_get_vara_schar_all(ncid, BYTES, mine, four, got) == NC_NOERR, "get");
    t_check(status == NC_NOERR && got[0] == -127 && got[1] == 2, "stored -127 2 2 3");
    t_local(ncmpi_put_vara_int_all(ncid, FIXED, mine, four, wide) == NC_NOERR, "put");
    int ids[2], statuses[2] = {99, 99}, good[4] = {0};
    expect_ok(ncmpi_iget_vara_schar(ncid, FIXED, mine, four, got, &ids[1]), "iget 1000 as schar");
    t_local(ncmpi_iget_vara_int(ncid, FIXED, mine, four, good, &ids[0]) == NC_NOERR, "iget");
    expect_code(ncmpi_wait_all(ncid, 2, ids, statuses), NC_ERANGE, "wait_all for it and another");
    t_check(statuses[0] == NC_NOERR && statuses[1] == NC_ERANGE, "status NC_ERANGE, the other's NC_NOERR");
    t_check(got[0] == -127 && got[1] == 1 && got[3] == 3 && memcmp(good, wide, sizeof good) == 0, "got -127 1 2 3");
    t_local(ncmpi_iget_vara_schar(ncid, FIXED, mine, four, got, NULL) == NC_NOERR, "iget");
    expect_code(ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL), NC_ERANGE, "wait_all for all");
    if (t_rank == 0) /* a value out of range on one rank is not an error on the others */
        t_local(ncmpi_iget_vara_schar(ncid, FIXED, mine, four, got, NULL) == NC_NOERR, "iget");
    expect_code(ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL), t_rank == 0 ? NC_ERANGE : NC_NOERR, "wait_all on rank 0");
    expect_ok(ncmpi_close(ncid), "close");
}

/* Requests that are sorted by their offsets keep their own statuses. */
static void test_range_of_shuffled(void)
{
    static const int order[4] = {2, 0, 3, 1}, wide[4] = {0, 1, 2, 1000};
    int ncid = create_ready(0, MPI_INFO_NULL), ids[4], statuses[4];
    const MPI_Offset one = 1, four = 4;
    signed char got[4] = {0};
    t_local(ncmpi_put_vara_int_all(ncid, FIXED, mine, &four, wide) == NC_NOERR, "put");
    for (int i = 0; i < 4; i++) {
        MPI_Offset start = mine[0] + order[i];
        t_local(ncmpi_iget_vara_schar(ncid, FIXED, &start, &one, &got[order[i]], &ids[i]) == NC_NOERR, "iget");
    }
    expect_code(ncmpi_wait_all(ncid, 4, ids, statuses), NC_ERANGE, "wait_all for shuffled gets");
    for (int i = 0; i < 4; i++)
        t_local(statuses[i] == (order[i] == 3 ? NC_ERANGE : NC_NOERR), "status of get %d is %d", i, statuses[i]);
    t_check(got[0] == 0 && got[1] == 1 && got[2] == 2 && got[3] == -127, "NC_ERANGE of one of four shuffled gets");
    expect_ok(ncmpi_close(ncid), "close");
}

/* --- buffered puts --- */

static void test_attached(void)
{
    int ncid = create_ready(0, MPI_INFO_NULL), values[4], ids[5];
    MPI_Offset two[1] = {2}, usage = -1, size = -1, at[1];
    expect_ok(ncmpi_buffer_attach(ncid, 32), "buffer_attach 32");
    expect_code(ncmpi_buffer_attach(ncid, 32), NC_EPREVATTACHBUF, "attach again");
    expect_ok(ncmpi_inq_buffer_usage(ncid, NULL), "inq_buffer_usage with NULL");
    expect_ok(ncmpi_inq_buffer_size(ncid, NULL), "inq_buffer_size with NULL");
    t_check(ncmpi_inq_buffer_size(ncid, &size) == NC_NOERR && size == 32, "size 32");
    for (int i = 0; i < 4; i++) {
        at[0] = mine[0] + 2 * i;
        count_up(values, 2, 100 * t_rank + 2 * i);
        t_local(ncmpi_bput_vara_int(ncid, FIXED, at, two, values, &ids[i]) == NC_NOERR, "bput %d", i);
        t_local(ncmpi_inq_buffer_usage(ncid, &usage) == NC_NOERR && usage == 8 * (i + 1), "usage after bput %d", i);
        memset(values, 0x55, sizeof values); /* the user's memory is free again */
    }
    t_check(true, "four bputs fill the buffer");
    expect_code(ncmpi_bput_vara_int(ncid, FIXED, mine, two, values, &ids[4]), NC_EINSUFFBUF,
                "bput 5 (buffer now full)");
    t_check(ids[4] == NC_REQ_NULL && pending(ncid, 4), "it left nothing behind");
    expect_code(ncmpi_buffer_detach(ncid), NC_EPENDINGBPUT, "detach with pending bput");
    expect_ok(ncmpi_wait_all(ncid, 1, &ids[3], NULL), "wait_all for one of them");
    t_check(ncmpi_inq_buffer_usage(ncid, &usage) == NC_NOERR && usage == 24, "its part of the buffer is free");
    at[0] = mine[0];
    count_up(values, 2, 100 * t_rank);
    expect_ok(ncmpi_bput_vara_int(ncid, FIXED, at, two, values, &ids[4]), "and can be used again");
    expect_ok(ncmpi_wait_all(ncid, 5, ids, NULL), "wait_all for the rest");
    t_check(ncmpi_inq_buffer_usage(ncid, &usage) == NC_NOERR && usage == 0, "usage 0");
    t_check(holds(ncid, FIXED, mine[0], PER_RANK, 100 * t_rank), "values are those at the time of the bput");
    expect_ok(ncmpi_buffer_detach(ncid), "detach");
    expect_code(ncmpi_buffer_detach(ncid), NC_ENULLABUF, "detach again");
    if (needs_buffer(ncid))
        expect_code(ncmpi_bput_vara_int(ncid, FIXED, mine, two, values, NULL), NC_ENULLABUF, "bput after detach");
    expect_ok(ncmpi_buffer_attach(ncid, 8), "attach another one");
    expect_ok(ncmpi_close(ncid), "close with a buffer attached");
}

/* Programs that use the buffer of a small iput again before they wait: it was packed when it was posted. */
static void test_careless(bool collective)
{
    enum { N = 1024 }; /* ints of 4096 bytes, the largest */
    int ncid = -1, dims[2], ints, doubles, bytes, values[2 * N], got[N], wrong = 0;
    MPI_Offset start[2] = {0, (MPI_Offset)N * t_rank}, count[2] = {1, N}, stop = 0;
    MPI_Datatype every_second;
    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &ncid) == NC_NOERR, "create");
    ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &dims[0]);
    ncmpi_def_dim(ncid, "x", (MPI_Offset)N * t_nprocs, &dims[1]);
    ncmpi_def_var(ncid, "ints", NC_INT, 2, dims, &ints);
    ncmpi_def_var(ncid, "doubles", NC_DOUBLE, 1, dims + 1, &doubles);
    ncmpi_def_var(ncid, "bytes", NC_BYTE, 1, dims + 1, &bytes);
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    t_local(ncmpi_buffer_attach(ncid, 64) == NC_NOERR, "attach");
    for (int i = 0; i < 100; i++) { /* the index itself, to every second place of record 0 */
        start[1] = (MPI_Offset)N * t_rank + 2 * i;
        t_local(ncmpi_iput_var1_int(ncid, ints, start, &i, NULL) == NC_NOERR, "iput the index");
    }
    for (int k = 1; k <= 3; k++) { /* one buffer for several records, with gaps in memory the last one */
        start[0] = k;
        start[1] = (MPI_Offset)N * t_rank;
        for (int i = 0; i < 2 * N; i++)
            values[i] = 1000 * k + i;
        MPI_Type_vector(N, 1, 2, MPI_INT, &every_second);
        MPI_Type_commit(&every_second);
        t_local((k < 3 ? ncmpi_iput_vara_int(ncid, ints, start, count, values, NULL)
                       : ncmpi_iput_vara(ncid, ints, start, count, values, 1, every_second, NULL)) == NC_NOERR,
                "iput");
        MPI_Type_free(&every_second);
    }
    for (int i = 0; i < N; i++)
        values[i] = i < 512 ? i : 5;
    count[0] = 512;
    t_local(ncmpi_iput_vara_int(ncid, doubles, start + 1, count, values, NULL) == NC_NOERR, "iput to doubles");
    count[0] = N;
    t_local(ncmpi_iput_vara_int(ncid, bytes, start + 1, count, values, NULL) == NC_ERANGE, "iput out of range");
    memset(values, 0x7f, sizeof values);
    t_check(ncmpi_inq_buffer_usage(ncid, &stop) == NC_NOERR && stop == 0, "nothing of it is in the attached buffer");
    if (!collective)
        ncmpi_begin_indep_data(ncid);
    expect_ok(collective ? ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL) : ncmpi_wait(ncid, NC_REQ_ALL, NULL, NULL),
              "wait for puts whose buffers have changed");
    if (!collective)
        ncmpi_end_indep_data(ncid);
    for (int k = 0; k <= 3; k++) {
        start[0] = k;
        count[0] = 1;
        t_local(ncmpi_get_vara_int_all(ncid, ints, start, count, got) == NC_NOERR, "get");
        for (int i = 0; k == 0 && i < 200; i += 2)
            wrong += got[i] != i / 2;
        for (int i = 0; k > 0 && i < N; i++)
            wrong += got[i] != 1000 * k + (k < 3 ? i : 2 * i);
    }
    t_local(wrong == 0, "%d ints wrong", wrong);
    count[0] = 512;
    t_local(ncmpi_get_vara_int_all(ncid, doubles, start + 1, count, got) == NC_NOERR, "get doubles");
    for (int i = 0; i < 512; i++)
        wrong += got[i] != i;
    count[0] = N;
    t_local(ncmpi_get_vara_int_all(ncid, bytes, start + 1, count, got) == NC_NOERR, "get bytes");
    for (int i = 0; i < 128; i++)
        wrong += got[i] != i;
    for (int i = 128; i < N; i++)
        wrong += got[i] != (i < 512 ? NC_FILL_BYTE : 5);
    t_check(t_local(wrong == 0, "%d values wrong", wrong), "%s wait: the values are those at the time of posting",
            collective ? "collective" : "independent");
    t_check(ncmpi_iput_var1_int(ncid, ints, start, values, &wrong) == NC_NOERR &&
                ncmpi_cancel(ncid, 1, &wrong, NULL) == NC_NOERR && pending(ncid, 0),
            "such a request can be cancelled");
    expect_ok(ncmpi_buffer_detach(ncid), "detach");
    expect_ok(ncmpi_close(ncid), "close");
}

/* Buffered puts of every kind of memory: flexible, imap, varn, and the whole variable. */
static void test_bput_memory(void)
{
    int ncid = create_ready(0, MPI_INFO_NULL), values[2 * PER_RANK];
    MPI_Offset *starts[PER_RANK], places[PER_RANK];
    MPI_Datatype every_second;
    t_local(ncmpi_buffer_attach(ncid, 1 << 16) == NC_NOERR, "attach");
    MPI_Type_vector(PER_RANK, 1, 2, MPI_INT, &every_second);
    MPI_Type_commit(&every_second);
    for (int i = 0; i < PER_RANK; i++) {
        values[2 * i] = 10 * t_rank + i;
        places[i] = mine[0] + PER_RANK - 1 - i; /* from right to left */
        starts[i] = &places[i];
    }
    expect_ok(ncmpi_bput_vara(ncid, FIXED, mine, each, values, 1, every_second, NULL), "bput of a derived type");
    MPI_Type_free(&every_second);
    expect_ok(ncmpi_bput_varm_int(ncid, BYTES, mine, each, NULL, (MPI_Offset[]){2}, values, NULL), "bput with imap");
    for (int i = 0; i < PER_RANK; i++)
        values[i] = 10 * t_rank + PER_RANK - 1 - i;
    MPI_Offset record[2] = {0, mine[0]}, count[2] = {1, PER_RANK};
    expect_ok(ncmpi_bput_varn_int(ncid, FIXED, PER_RANK, starts, NULL, values, NULL), "bput_varn");
    expect_ok(ncmpi_bput_vara_int(ncid, RECORD, record, count, values, NULL), "bput to a record");
    expect_ok(ncmpi_bput_var_int(ncid, SCALAR, (int[]){42}, NULL), "bput to a scalar");
    memset(values, 0x55, sizeof values);
    expect_ok(ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL), "wait_all");
    int scalar = 0, got[PER_RANK];
    t_local(ncmpi_get_var_int_all(ncid, SCALAR, &scalar) == NC_NOERR && scalar == 42, "scalar %d", scalar);
    t_local(ncmpi_get_vara_int_all(ncid, RECORD, record, count, got) == NC_NOERR, "get record");
    for (int i = 0; i < PER_RANK; i++)
        t_local(got[i] == 10 * t_rank + PER_RANK - 1 - i, "record holds %d at %d", got[i], i);
    t_local(holds(ncid, FIXED, mine[0], PER_RANK, 10 * t_rank), "fixed");
    t_check(holds(ncid, BYTES, mine[0], PER_RANK, 10 * t_rank), "values are right");
    expect_ok(ncmpi_close(ncid), "close");
}

/* --- the user's memory --- */

/* A page that may be read only: a library that swapped bytes in place would die. */
static void test_read_only_memory(void)
{
    int ncid = create_ready(0, MPI_INFO_NULL), ids[4];
    static const int constant[PER_RANK] = {0, 1, 2, 3, 4, 5, 6, 7};
    int *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MPI_Offset record[2] = {2, mine[0]}, count[2] = {1, PER_RANK}, after[2] = {3, mine[0]};
    if (!t_check(page != MAP_FAILED, "map a page"))
        return;
    count_up(page, PER_RANK, 30 + t_rank);
    mprotect(page, 4096, PROT_READ);
    t_local(ncmpi_iput_vara_int(ncid, FIXED, mine, each, page, &ids[0]) == NC_NOERR, "iput");
    t_local(ncmpi_iput_vara_int(ncid, RECORD, record, count, page, &ids[1]) == NC_NOERR, "iput of the same memory");
    t_local(ncmpi_iput_vara_int(ncid, RECORD, after, count, constant, &ids[2]) == NC_NOERR, "iput of a constant");
    t_local(ncmpi_iput_vara_int(ncid, BYTES, mine, each, page, &ids[3]) == NC_NOERR, "iput with conversion");
    expect_ok(ncmpi_wait_all(ncid, 4, ids, NULL), "wait_all for puts of memory that can only be read");
    int got[PER_RANK];
    t_local(ncmpi_get_vara_int_all(ncid, RECORD, record, count, got) == NC_NOERR, "get record");
    t_local(memcmp(got, page, sizeof got) == 0, "record 2");
    t_local(ncmpi_get_vara_int_all(ncid, RECORD, after, count, got) == NC_NOERR, "get record");
    t_local(memcmp(got, constant, sizeof got) == 0, "record 3");
    t_local(holds(ncid, BYTES, mine[0], PER_RANK, 30 + t_rank), "bytes");
    t_check(holds(ncid, FIXED, mine[0], PER_RANK, 30 + t_rank), "two puts of the same memory are both right");
    expect_ok(ncmpi_put_vara_int_all(ncid, FIXED, mine, each, page), "a blocking put of it");
    munmap(page, 4096);
    expect_ok(ncmpi_close(ncid), "close");
}

static void test_datatypes(void)
{
    int ncid = create_ready(0, MPI_INFO_NULL), memory[3][PER_RANK], got[2 * PER_RANK + 1];
    MPI_Datatype column, gaps;
    for (int i = 0; i < PER_RANK; i++)
        for (int k = 0; k < 3; k++)
            memory[k][i] = 1000 * k + 10 * t_rank + i;
    MPI_Type_create_subarray(2, (int[]){3, PER_RANK}, (int[]){1, PER_RANK}, (int[]){1, 0}, MPI_ORDER_C, MPI_INT,
                             &column);
    MPI_Type_commit(&column);
    expect_ok(ncmpi_iput_vara(ncid, FIXED, mine, each, memory, 1, column, NULL), "iput of a subarray");
    MPI_Type_free(&column);
    expect_ok(
        ncmpi_iput_vara(ncid, BYTES, mine, each, (signed char[]){9, 8, 7, 6, 5, 4, 3, 2}, 77, MPI_DATATYPE_NULL, NULL),
        "iput with MPI_DATATYPE_NULL");
    expect_ok(ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL), "wait_all after its type was freed");
    t_check(holds(ncid, FIXED, mine[0], PER_RANK, 1000 + 10 * t_rank), "data is right");
    MPI_Type_vector(PER_RANK, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    memset(got, 0x11, sizeof got);
    expect_ok(ncmpi_iget_vara(ncid, FIXED, mine, each, got, 1, gaps, NULL), "iget with gaps");
    MPI_Type_free(&gaps);
    signed char bytes[PER_RANK];
    expect_ok(ncmpi_iget_vara(ncid, BYTES, mine, each, bytes, NC_COUNT_IGNORE, MPI_SIGNED_CHAR, NULL),
              "iget with bufcount NC_COUNT_IGNORE");
    expect_ok(ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL), "wait_all");
    for (int i = 0; i < PER_RANK; i++) {
        t_local(got[2 * i] == memory[1][i] && got[2 * i + 1] == 0x11111111, "element %d", i);
        t_local(bytes[i] == 9 - i, "byte %d is %d", i, bytes[i]);
    }
    t_check(true, "data is right, and gaps are as before");
    expect_ok(ncmpi_close(ncid), "close");
}

/* --- ranks with different requests --- */

static void test_uneven(void)
{
    int ncid = create_ready(0, MPI_INFO_NULL), values[PER_RANK], *ids = calloc((size_t)t_nprocs + 1, sizeof *ids);
    MPI_Offset n = -1, one = 1, last = t_nprocs - 1, zero[2] = {0, 0}, none[2] = {0, 0};
    for (int i = 0; i < t_rank; i++) { /* rank r has r requests */
        MPI_Offset start[2] = {i, mine[0]}, count[2] = {1, PER_RANK};
        count_up(values, PER_RANK, 500);
        t_local(ncmpi_iput_vara_int(ncid, RECORD, start, count, values, &ids[i]) == NC_NOERR, "iput %d", i);
    }
    expect_ok(ncmpi_wait_all(ncid, t_rank, t_rank == 0 ? NULL : ids, NULL),
              "wait_all for as many requests as the rank says");
    t_check(ncmpi_inq_dimlen(ncid, DIM_T, &n) == NC_NOERR && n == last, "all know %lld records", (long long)last);
    if (t_rank == 0)
        t_local(ncmpi_iput_vara_int(ncid, FIXED, zero, &one, values, NULL) == NC_NOERR, "iput");
    if (t_rank == t_nprocs - 1)
        t_local(ncmpi_iget_vara_int(ncid, FIXED, zero, &one, values, NULL) == NC_NOERR, "iget");
    expect_ok(ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL), "wait_all, a put on the first rank and a get on the last");
    int id = 5;
    expect_ok(ncmpi_iput_vara_int(ncid, RECORD, zero, none, NULL, &id), "iput of nothing to a record variable");
    expect_ok(ncmpi_wait_all(ncid, 1, &id, NULL), "wait_all for it");
    t_check(id == NC_REQ_NULL, "it is done");
    expect_ok(ncmpi_iput_varn_int(ncid, RECORD, 0, NULL, NULL, NULL, &id), "iput_varn of no blocks");
    expect_ok(ncmpi_wait_all(ncid, 1, &id, NULL), "wait_all for it");
    expect_ok(ncmpi_put_vara_int_all(ncid, RECORD, zero, none, NULL), "a collective put of nothing");
    id = t_rank == 0 ? 12345 : NC_REQ_NULL; /* rank 0 names a wrong request and still takes part */
    t_local(t_rank == 0 || ncmpi_iput_vara_int(ncid, FIXED, mine, each, values, &id) == NC_NOERR, "iput");
    expect_code(ncmpi_wait_all(ncid, 1, &id, NULL), t_rank == 0 ? NC_EINVAL_REQUEST : NC_NOERR,
                "wait_all, wrong on rank 0");
    expect_ok(ncmpi_close(ncid), "close");
    free(ids);
}

static void test_records(void)
{
    int ncid = create_ready(0, MPI_INFO_NULL), values[PER_RANK];
    MPI_Offset n = -1, start[2] = {t_rank, mine[0]}, count[2] = {1, PER_RANK};
    count_up(values, PER_RANK, t_rank);
    expect_ok(ncmpi_iput_vara_int(ncid, RECORD, start, count, values, NULL), "iput to record r on rank r");
    t_check(ncmpi_inq_dimlen(ncid, DIM_T, &n) == NC_NOERR && n == 0, "no record before wait_all");
    expect_ok(ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL), "wait_all");
    t_check(ncmpi_inq_dimlen(ncid, DIM_T, &n) == NC_NOERR && n == t_nprocs, "all know the records of all");
    expect_ok(ncmpi_begin_indep_data(ncid), "begin_indep_data");
    start[0] = 10 + t_rank;
    t_local(ncmpi_iput_vara_int(ncid, RECORD, start, count, values, NULL) == NC_NOERR, "iput");
    expect_ok(ncmpi_wait(ncid, NC_REQ_ALL, NULL, NULL), "wait");
    t_check(ncmpi_inq_dimlen(ncid, DIM_T, &n) == NC_NOERR && n == 11 + t_rank, "each rank knows its own records");
    expect_ok(ncmpi_sync_numrecs(ncid), "sync_numrecs");
    t_check(ncmpi_inq_dimlen(ncid, DIM_T, &n) == NC_NOERR && n == 10 + t_nprocs, "all know the records of all");
    expect_ok(ncmpi_end_indep_data(ncid), "end_indep_data");
    int got[PER_RANK];
    expect_ok(ncmpi_get_vara_int_all(ncid, RECORD, start, count, got), "get");
    t_check(memcmp(got, values, sizeof got) == 0, "data is right");
    expect_ok(ncmpi_close(ncid), "close");
    t_local(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &ncid) == NC_NOERR, "open");
    t_check(ncmpi_inq_dimlen(ncid, DIM_T, &n) == NC_NOERR && n == 10 + t_nprocs, "the file has their number");
    expect_ok(ncmpi_close(ncid), "close");
}

/* --- many requests --- */

enum { WIDE = 300000 }; /* ints of each rank: several stripes of 1 MiB, many rounds of 64 KiB */

static int create_wide(MPI_Info info, int nvars, int *varids)
{
    int ncid = -1, dim;
    t_local(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_OFFSET, info, &ncid) == NC_NOERR, "create");
    t_local(ncmpi_def_dim(ncid, "x", (MPI_Offset)WIDE * t_nprocs, &dim) == NC_NOERR, "def_dim");
    for (int i = 0; i < nvars; i++) {
        char name[20];
        snprintf(name, sizeof name, "v%d", i);
        t_local(ncmpi_def_var(ncid, name, NC_INT, 1, &dim, &varids[i]) == NC_NOERR, "def_var");
    }
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    return ncid;
}

/* Places of this rank: blocks of `block` ints dealt out to the ranks in turn. */
static MPI_Offset place_of(int i, int block)
{
    return ((MPI_Offset)(i / block) * t_nprocs + t_rank) * block + i % block;
}

/* Posts requests of `length` random places each, in the same order to a model: the last posted wins. */
static void post_overlapping(int ncid, int varid, int block, int length, int n, int *model, int *values)
{
    uint32_t state = 12345u + (uint32_t)t_rank;
    for (int k = 0; k < n; k++) {
        state = state * 1664525u + 1013904223u;
        int from = (int)(state >> 8) % (WIDE / block - length / block + 1) * block;
        int *mine_now = values + (int64_t)k * length;
        for (int i = 0; i < length; i++)
            model[from + i] = mine_now[i] = k * 1000 + i;
        MPI_Offset start[1] = {place_of(from, block)}, count[1] = {length};
        MPI_Offset strided_start[2] = {start[0], 0}, stride[1] = {t_nprocs};
        int code = block == 1 ? ncmpi_iput_vars_int(ncid, varid, strided_start, count, stride, mine_now, NULL)
                              : ncmpi_iput_vara_int(ncid, varid, start, (MPI_Offset[]){block}, mine_now, NULL);
        t_local(code == NC_NOERR, "iput %d: %s", k, ncmpi_strerrno(code));
    }
}

/* block == 1: strided requests of `length` places; else contiguous ones of one block, or of the rank's whole part. */
static void test_overlap(const char *what, int block, int length, int n, bool collective, MPI_Info info)
{
    int varid, ncid = create_wide(info, 1, &varid), *model = malloc(WIDE * sizeof *model);
    int *got = malloc(WIDE * sizeof *got), *values = malloc((size_t)n * (size_t)length * sizeof *values), code,
        wrong = 0;
    for (int i = 0; i < WIDE; i++)
        model[i] = -1;
    for (int i = 0; i < WIDE; i += block) {
        MPI_Offset start = place_of(i, block), count = block == 1 ? WIDE : block, stride = block == 1 ? t_nprocs : 1;
        ncmpi_iput_vars_int(ncid, varid, &start, &count, &stride, model + i, NULL);
        i += block == 1 ? WIDE : 0;
    }
    t_local(ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL) == NC_NOERR, "initialise");
    post_overlapping(ncid, varid, block, length, n, model, values);
    if (!collective)
        t_local(ncmpi_begin_indep_data(ncid) == NC_NOERR, "begin_indep_data");
    code = collective ? ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL) : ncmpi_wait(ncid, NC_REQ_ALL, NULL, NULL);
    t_local(code == NC_NOERR, "wait: %s", ncmpi_strerrno(code));
    if (!collective)
        t_local(ncmpi_end_indep_data(ncid) == NC_NOERR, "end_indep_data");
    for (int i = 0; i < WIDE; i += block) {
        MPI_Offset start = place_of(i, block), count = block == 1 ? WIDE : block, stride = block == 1 ? t_nprocs : 1;
        ncmpi_iget_vars_int(ncid, varid, &start, &count, &stride, got + i, NULL);
        i += block == 1 ? WIDE : 0;
    }
    t_local(ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL) == NC_NOERR, "read");
    for (int i = 0; i < WIDE; i++)
        if (got[i] != model[i] && wrong++ < 3)
            t_local(false, "place %d holds %d, not %d", i, got[i], model[i]);
    t_check(wrong == 0, "overlapping puts, the last one posted wins: %s, %s", what, collective ? "wait_all" : "wait");
    expect_ok(ncmpi_close(ncid), "close");
    free(model);
    free(got);
    free(values);
}

static void test_overlaps(bool collective, const char *buffer_size)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_ibuf_size", buffer_size);
    test_overlap("strided", 1, 50, 2000, collective, info);
    test_overlap("strided and long", 1, 30000, 40, collective, info);
    test_overlap("small blocks", 10, 10, 8000, collective, info);
    test_overlap("large blocks", 5000, 5000, 60, collective, info);
    MPI_Info_free(&info);
}

/* Contiguous puts of any length at any place of the rank's own part. */
static void test_ragged_overlap(bool collective)
{
    enum { N = 3000 };
    int varid, ncid = create_wide(MPI_INFO_NULL, 1, &varid), *model = malloc(WIDE * sizeof *model);
    int *got = calloc(WIDE, sizeof *got), *values = malloc(WIDE * sizeof *values), wrong = 0;
    MPI_Offset first = (MPI_Offset)t_rank * WIDE, wide = WIDE;
    uint32_t state = 99u + (uint32_t)t_rank;
    count_up(model, WIDE, 0);
    count_up(values, WIDE, 5000000);
    t_local(ncmpi_put_vara_int_all(ncid, varid, &first, &wide, model) == NC_NOERR, "put");
    if (!collective)
        t_local(ncmpi_begin_indep_data(ncid) == NC_NOERR, "begin_indep_data");
    for (int k = 0; k < N; k++) {
        state = state * 1664525u + 1013904223u;
        int from = (int)(state >> 8) % WIDE, most = k % 100 == 0 ? 20000 : 300;
        int length = 1 + (int)(state >> 4) % most;
        length = from + length > WIDE ? WIDE - from : length;
        MPI_Offset start = first + from, count = length;
        memcpy(model + from, values + k, (size_t)length * sizeof *model); /* overlapping memory as well */
        t_local(ncmpi_iput_vara_int(ncid, varid, &start, &count, values + k, NULL) == NC_NOERR, "iput");
    }
    int code = collective ? ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL) : ncmpi_wait(ncid, NC_REQ_ALL, NULL, NULL);
    t_local(code == NC_NOERR, "wait");
    if (!collective)
        t_local(ncmpi_end_indep_data(ncid) == NC_NOERR, "end_indep_data");
    t_local(ncmpi_get_vara_int_all(ncid, varid, &first, &wide, got) == NC_NOERR, "get");
    for (int i = 0; i < WIDE; i++)
        if (got[i] != model[i] && wrong++ < 3)
            t_local(false, "place %d holds %d, not %d", i, got[i], model[i]);
    t_check(wrong == 0, "overlapping puts of short and long pieces, %s", collective ? "wait_all" : "wait");
    expect_ok(ncmpi_close(ncid), "close");
    free(model);
    free(got);
    free(values);
}

/* Requests of many variables, posted in turn, waited for in another order. */
static void test_many_variables(bool collective)
{
    enum { NVARS = 20, PIECES = 40, LENGTH = 25 };
    int varids[NVARS], ncid = create_wide(MPI_INFO_NULL, NVARS, varids), *ids = malloc(NVARS * PIECES * sizeof *ids);
    int(*values)[LENGTH] = malloc(NVARS * PIECES * sizeof *values);
    int(*got)[LENGTH] = calloc(NVARS * PIECES, sizeof *got);
    int (*wait)(int, int, int *, int *) = collective ? ncmpi_wait_all : ncmpi_wait;
    MPI_Offset count = LENGTH, start;
    if (!collective)
        t_local(ncmpi_begin_indep_data(ncid) == NC_NOERR, "begin_indep_data");
    for (int k = 0; k < NVARS * PIECES; k++) {
        start = place_of(k / NVARS * LENGTH, LENGTH);
        count_up(values[k], LENGTH, 100 * k + t_rank);
        t_local(ncmpi_iput_vara_int(ncid, varids[k % NVARS], &start, &count, values[k], &ids[k]) == NC_NOERR, "iput");
    }
    for (int k = 0, last = NVARS * PIECES - 1; k < last - k; k++) {
        int swap = ids[k];
        ids[k] = ids[last - k];
        ids[last - k] = swap;
    }
    expect_ok(wait(ncid, NVARS * PIECES / 2, ids, NULL), "wait for the second half of the puts, backwards");
    t_check(pending(ncid, NVARS * PIECES / 2), "the first half is pending");
    expect_ok(wait(ncid, NVARS * PIECES, ids, NULL), "wait for the rest");
    for (int k = NVARS * PIECES - 1; k >= 0; k--) {
        start = place_of(k / NVARS * LENGTH, LENGTH);
        t_local(ncmpi_iget_vara_int(ncid, varids[k % NVARS], &start, &count, got[k], &ids[k]) == NC_NOERR, "iget");
    }
    expect_ok(wait(ncid, NVARS * PIECES, ids, NULL), "wait for gets");
    t_check(memcmp(values, got, NVARS * PIECES * sizeof *values) == 0, "data of many variables is right");
    if (!collective)
        t_local(ncmpi_end_indep_data(ncid) == NC_NOERR, "end_indep_data");
    expect_ok(ncmpi_close(ncid), "close");
    free(ids);
    free(values);
    free(got);
}

enum { NFIELDS = 30, CELLS = 70000, HALF = CELLS / 2 };

/* Field 7 goes to the second half of variable 6, which is posted before it. */
static void post_fields(int ncid, const int *varids, bool put, int (*cells)[NFIELDS])
{
    for (int v = 0; v < NFIELDS; v++) {
        MPI_Offset start = (MPI_Offset)WIDE * t_rank + (v == 7 ? HALF : 0), count = v == 7 ? HALF : CELLS;
        MPI_Offset imap = NFIELDS;
        int varid = varids[v == 7 ? 6 : v], err;
        if (put)
            err = ncmpi_iput_varm_int(ncid, varid, &start, &count, NULL, &imap, &cells[0][v], NULL);
        else
            err = ncmpi_iget_varm_int(ncid, varid, &start, &count, NULL, &imap, &cells[0][v], NULL);
        t_local(err == NC_NOERR, "iput or iget");
    }
}

/* Variables side by side in each cell of a mesh, more of them and of more bytes than are moved in one turn. */
static void test_fields_of_cells(bool collective)
{
    int varids[NFIELDS], ncid = create_wide(MPI_INFO_NULL, NFIELDS, varids), wrong = 0;
    int *line = malloc(CELLS * sizeof *line);
    int(*cells)[NFIELDS] = malloc(CELLS * sizeof *cells), (*got)[NFIELDS] = calloc(CELLS, sizeof *got);
    int (*wait)(int, int, int *, int *) = collective ? ncmpi_wait_all : ncmpi_wait;
    MPI_Offset start = (MPI_Offset)WIDE * t_rank, count = CELLS;
    for (int i = 0; i < CELLS; i++)
        count_up(cells[i], NFIELDS, 1000 * i + 100 * t_rank);
    if (!collective)
        t_local(ncmpi_begin_indep_data(ncid) == NC_NOERR, "begin_indep_data");
    post_fields(ncid, varids, true, cells);
    expect_ok(wait(ncid, NC_REQ_ALL, NULL, NULL), "wait for fields of cells");
    post_fields(ncid, varids, false, got);
    expect_ok(wait(ncid, NC_REQ_ALL, NULL, NULL), "wait for them to come back");
    if (!collective)
        t_local(ncmpi_end_indep_data(ncid) == NC_NOERR, "end_indep_data");
    for (int v = 0; v < NFIELDS; v++) {
        memset(line, 0, CELLS * sizeof *line);
        t_local(ncmpi_get_vara_int_all(ncid, varids[v], &start, &count, line) == NC_NOERR, "get");
        for (int i = 0; i < (v == 7 ? HALF : CELLS); i++) {
            int value = v == 6 && i >= HALF ? cells[i - HALF][7] : cells[i][v];
            wrong += got[i][v] != value || (v != 7 && line[i] != value);
        }
    }
    t_check(t_local(wrong == 0, "%d values are wrong", wrong), "fields of cells, %s", collective ? "wait_all" : "wait");
    expect_ok(ncmpi_close(ncid), "close");
    free(line);
    free(cells);
    free(got);
}

/* Two gets, of types of different size, into the same places in memory, with gaps: the last one posted wins. */
static void test_gets_to_one_place(void)
{
    enum { N = 200000 };
    int dim, first, last, ncid, wrong = 0;
    double *ones = malloc(N * sizeof *ones), *got = calloc(2 * N, sizeof *got);
    float *twos = malloc(N * sizeof *twos);
    MPI_Offset start = 0, count = N, imap = 2;
    for (int i = 0; i < N; i++) {
        ones[i] = 1;
        twos[i] = 2;
    }
    t_local(ncmpi_create(MPI_COMM_WORLD, path, 0, MPI_INFO_NULL, &ncid) == NC_NOERR, "create");
    t_local(ncmpi_def_dim(ncid, "x", N, &dim) == NC_NOERR, "dimension");
    t_local(ncmpi_def_var(ncid, "first", NC_DOUBLE, 1, &dim, &first) == NC_NOERR, "first");
    t_local(ncmpi_def_var(ncid, "last", NC_FLOAT, 1, &dim, &last) == NC_NOERR, "last");
    t_local(ncmpi_enddef(ncid) == NC_NOERR, "enddef");
    expect_ok(ncmpi_put_var_double_all(ncid, first, ones), "put ones");
    expect_ok(ncmpi_put_var_float_all(ncid, last, twos), "put twos");
    ncmpi_iget_varm_double(ncid, first, &start, &count, NULL, &imap, got, NULL);
    ncmpi_iget_varm_double(ncid, last, &start, &count, NULL, &imap, got, NULL);
    expect_ok(ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL), "wait for both");
    for (int i = 0; i < N; i++)
        wrong += got[2 * i] != 2 || got[2 * i + 1] != 0;
    t_check(t_local(wrong == 0, "%d values are wrong", wrong), "the last of two gets into one place wins");
    expect_ok(ncmpi_close(ncid), "close");
    free(ones);
    free(twos);
    free(got);
}

/* The file is truncated before one rank's get reads it: every rank gets the error. Between nodes only a rank that has
 * written the values itself knows that the file had them. */
static void test_failed_read(void)
{
    MPI_Offset start = (MPI_Offset)WIDE * t_nprocs - 2, count = 2;
    MPI_Info info;
    int varid, ncid, value[2], code;

    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_strategy", "direct");
    ncid = create_wide(info, 1, &varid);
    MPI_Info_free(&info);
    t_local(ncmpi_put_vara_int_all(ncid, varid, &start, &count, (int[]){1, 2}) == NC_NOERR, "put");
    t_local(ncmpi_sync(ncid) == NC_NOERR, "sync");
    if (t_rank == 0)
        t_local(truncate(path, 2048) == 0, "truncate");
    MPI_Barrier(MPI_COMM_WORLD);
    if (t_rank == t_nprocs - 1)
        t_local(ncmpi_iget_vara_int(ncid, varid, &start, &count, value, NULL) == NC_NOERR, "iget");
    code = ncmpi_wait_all(ncid, NC_REQ_ALL, NULL, NULL);
    expect_code(code, NC_EREAD, "wait_all where one rank's get fails");
    t_check(pending(ncid, 0), "a request that failed is not pending");
    ncmpi_close(ncid);
}

int main(int argc, char **argv)
{
    t_start(&argc, &argv);
    snprintf(path, sizeof path, "%s", t_path("nonblocking.nc"));
    nx = (MPI_Offset)PER_RANK * t_nprocs;
    mine[0] = (MPI_Offset)PER_RANK * t_rank;
    test_define_mode();
    test_redef();
    test_modes();
    test_arguments();
    test_ids();
    test_sets(true);
    test_sets(false);
    test_cancel();
    test_close();
    test_last_id();
    test_window();
    test_range();
    test_range_of_shuffled();
    test_attached();
    test_bput_memory();
    test_careless(true);
    test_careless(false);
    test_read_only_memory();
    test_datatypes();
    test_uneven();
    test_records();
    test_many_variables(true);
    test_many_variables(false);
    test_fields_of_cells(true);
    test_fields_of_cells(false);
    test_gets_to_one_place();
    test_overlaps(true, "16777216");
    test_overlaps(true, "1000");
    test_overlaps(false, "1000");
    test_ragged_overlap(true);
    test_ragged_overlap(false);
    test_failed_read();
    if (t_rank == 0)
        unlink(path);
    return t_finish();
}
