/* Values of variables in logs. */
#include "config.h" /* system extensions */

#include "tools/ncmpilog/values.h"

#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "convert/convert.h"
#include "format/layout.h"
#include "log/values.h"
#include "host/bytes.h"
#include "tools/common/message.h"
#include "tools/common/parallel.h"

/* Bytes of a part of a call on each process. */
#define PART (INT64_C(16) << 20)

static const pnc_var *find_var(const pnc_model *model, const pnc_log_record *record)
{
    return record->extent.offset < model->nvars ? model->vars[record->extent.offset] : NULL;
}

/* Behind the current record. `bytes` has space for all of it, at an address for numbers. */
static bool read_values(const pnc_model *model, log_source *log, char *bytes, pnc_log_values *out)
{
    const pnc_log_record *record = &log->reader.record;
    const pnc_var *var = find_var(model, record);
    int size = var != NULL ? (int)pnc_type_get_size(var->type) : 0;

    return size > 0 && record->extent.length <= PNC_LOG_VALUES_MOST &&
           pnc_host_bytes_read(log->fd, log->reader.bytes_at, bytes, record->extent.length) == 0 &&
           pnc_log_values_decode((const int64_t *)(const void *)bytes, record->extent.length, var->ndims, size, out);
}

static bool are_in_variable(const pnc_model *model, const pnc_var *var, const pnc_log_values *v)
{
    int64_t *lengths = pnc_memory_alloc(var->ndims + 1, sizeof *lengths);
    bool result;

    if (lengths == NULL)
        return false;
    for (int d = 0; d < var->ndims; d++) {
        const pnc_dim *dim = model->dims[var->dimids[d]];

        lengths[d] = dim->unlimited ? -1 : dim->len;
    }
    result = pnc_log_values_is_inside(v, var->ndims, lengths);
    pnc_memory_free(lengths);
    return result;
}

bool log_values_check(const pnc_model *model, log_source *log)
{
    char *bytes = pnc_memory_alloc(PNC_LOG_VALUES_MOST, 1);
    pnc_log_values v;
    bool result = bytes != NULL && read_values(model, log, bytes, &v) &&
                  are_in_variable(model, find_var(model, &log->reader.record), &v);

    pnc_memory_free(bytes);
    return result;
}

static int fail_call(const log_values_put *p, int err)
{
    if (err != NC_NOERR)
        tool_error_print_last(p->path, err);
    return err;
}

/* Post a put of the current record, whose values the buffer gets in the byte order of this machine. */
static int post_record(log_values_put *p, log_source *log)
{
    const pnc_var *var = find_var(p->model, &log->reader.record);
    MPI_Datatype type = tool_type_get_mpi(var->type);
    pnc_mem_type mem = pnc_type_get_mem_type(var->type);
    char *bytes = p->buffer + p->used;
    pnc_log_values v;
    pnc_kernel kernel;

    if (!read_values(p->model, log, bytes, &v) || type == MPI_DATATYPE_NULL) {
        tool_error_print("%s: cannot be read", log->path);
        return NC_EREAD;
    }
    kernel = pnc_convert_kernel_find(PNC_GET, var->type, mem, pnc_format_var_get_encoding(p->model, var), NULL);
    kernel((char *)(uintptr_t)v.bytes, v.bytes, v.n, NULL);
    p->used += (log->reader.record.extent.length + 7) / 8 * 8;
    p->records++;
    p->bytes += v.n * (int64_t)pnc_type_get_size(var->type);
    return fail_call(p, ncmpi_iput_vars(p->ncid, (int)log->reader.record.extent.offset, (const MPI_Offset *)v.start,
                                        (const MPI_Offset *)v.count, (const MPI_Offset *)v.stride, v.bytes, v.n, type,
                                        NULL));
}

static void take_next(log_source *log)
{
    if (!pnc_log_reader_find_next(&log->reader))
        log->reader.record.call = INT64_MAX;
}

/* Post what the logs of this process have of a call, up to a part. *more: there is more. */
static int post_part(log_values_put *p, int64_t call, bool *more)
{
    p->used = 0;
    *more = false;
    for (int64_t i = 0; i < p->nlogs; i++)
        for (log_source *log = &p->logs[i]; log->reader.record.call == call; take_next(log)) {
            if (log->reader.record.kind != PNC_LOG_VALUES)
                continue;
            *more = p->used + log->reader.record.extent.length > PART;
            if (*more)
                return NC_NOERR;
            PNC_TRY(post_record(p, log));
        }
    return NC_NOERR;
}

/* Collective. */
static int put_call(log_values_put *p, int64_t call)
{
    int more = 1;

    while (more) {
        bool has_more = false;
        int err = p->prepare(p->caller);

        if (err == NC_NOERR)
            err = post_part(p, call, &has_more);
        PNC_TRY(tool_status_agree(err));
        PNC_TRY(tool_status_agree(fail_call(p, ncmpi_wait_all(p->ncid, NC_REQ_ALL, NULL, NULL))));
        more = has_more;
        MPI_Allreduce(MPI_IN_PLACE, &more, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
    return NC_NOERR;
}

/* Collective. */
static int put_calls(log_values_put *p)
{
    for (;;) {
        int64_t call = INT64_MAX;

        for (int64_t i = 0; i < p->nlogs; i++)
            call = p->logs[i].reader.record.call < call ? p->logs[i].reader.record.call : call;
        MPI_Allreduce(MPI_IN_PLACE, &call, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
        if (call > p->last || call == INT64_MAX)
            return NC_NOERR;
        PNC_TRY(put_call(p, call));
    }
}

static int get_records(log_values_put *p)
{
    MPI_Offset n = 0;
    int dimid = -1, err = ncmpi_inq_unlimdim(p->ncid, &dimid);

    if (err == NC_NOERR && dimid >= 0)
        err = ncmpi_inq_dimlen(p->ncid, dimid, &n);
    p->numrecs = n;
    return fail_call(p, err);
}

/* No hints of the environment: the values are those that the file is to have. */
static int open_for_values(log_values_put *p)
{
    char stamp[24];
    MPI_Info info;
    int err;

    unsetenv("PNETCDF_HINTS");
    snprintf(stamp, sizeof stamp, "%016llx", (unsigned long long)p->stamp);
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_burst_buf_replay", stamp);
    err = ncmpi_open(MPI_COMM_WORLD, p->path, NC_WRITE, info, &p->ncid);
    MPI_Info_free(&info);
    return tool_status_agree(fail_call(p, err));
}

/* Each rank puts with the communicator: a code of one rank is that of all. */
int log_values_execute(log_values_put *p)
{
    int err, closed;

    p->buffer = pnc_memory_alloc(PART + PNC_LOG_VALUES_MOST, 1);
    err = p->buffer != NULL ? NC_NOERR : NC_ENOMEM;
    if (err != NC_NOERR)
        tool_error_print("%s: not enough memory for values", p->path);
    err = tool_status_agree(err);
    if (err == NC_NOERR)
        err = open_for_values(p);
    if (err == NC_NOERR) {
        err = put_calls(p);
        if (err == NC_NOERR)
            err = tool_status_agree(fail_call(p, ncmpi_sync(p->ncid)));
        if (err == NC_NOERR)
            err = get_records(p);
        closed = ncmpi_close(p->ncid);
        err = tool_status_agree(err != NC_NOERR ? err : fail_call(p, closed));
    }
    pnc_memory_free(p->buffer);
    p->buffer = NULL;
    return err;
}
