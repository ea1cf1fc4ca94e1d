/* put_vard and get_vard: the filetype gives byte displacements from the begin of the variable. It is flattened like
 * a buffer datatype and never expanded. */
#include "dataset/modes.h"
#include "io/access.h"
#include "mpitype/flatten.h"

/* Range and runs of a filetype, in bytes from the begin of the variable. */
typedef struct reach {
    int64_t runs;       /* contiguous runs of bytes */
    int64_t first, end; /* the lowest byte; one beyond the highest byte */
} reach;

/* Add a run; `last` is the end of the previous one. */
static void add_run(reach *r, int64_t offset, int64_t length, int64_t *last)
{
    bool is_first = r->runs == 0;

    r->runs += is_first || offset != *last;
    *last = offset + length;
    r->first = is_first || offset < r->first ? offset : r->first;
    r->end = is_first || *last > r->end ? *last : r->end;
}

static int walk(const pnc_flat_type *flat, reach *r)
{
    int64_t size = pnc_select_flat_get_element_size(flat), last = 0;
    pnc_run_cursor cursor;
    pnc_memory_run run;
    int err = pnc_select_run_cursor_init(&cursor, flat);

    if (err != NC_NOERR)
        return err;
    while (pnc_select_run_cursor_next(&cursor, pnc_select_flat_count_elements(flat), &run)) {
        int64_t pieces = run.stride == size ? 1 : run.count;

        for (int64_t i = 0; i < pieces; i++)
            add_run(r, run.offset + i * run.stride, run.count / pieces * size, &last);
    }
    pnc_select_run_cursor_free(&cursor);
    return NC_NOERR;
}

/* A filetype may extend into other variables, because one call may write several of them, but not beyond the data of
 * the file. Records are unbounded: a put adds the records up to the highest one that the filetype covers, for any
 * variable. */
static int check_reach(pnc_dataset *ds, const pnc_var *var, pnc_request *q, const reach *r)
{
    const pnc_model *model = &ds->model;
    int64_t begin = model->header_extent, end = model->recsize > 0 ? INT64_MAX : pnc_format_layout_get_file_end(model),
            records;

    if (r->first < begin - var->begin || r->end > end - var->begin)
        return pnc_error_set(&ds->error, NC_ETYPESIZE,
                             "variable \"%s\" begins at byte %lld of the file, the filetype "
                             "covers the bytes from %lld to %lld relative to it: outside the data of the file, bytes "
                             "%lld to %lld",
                             var->name, (long long)var->begin, (long long)r->first, (long long)r->end, (long long)begin,
                             (long long)end);
    if (model->recsize == 0 || var->begin + r->end <= model->begin_rec)
        return NC_NOERR;
    records = (var->begin + r->end - model->begin_rec - 1) / model->recsize + 1;
    if (q->way == PNC_PUT) {
        q->numrecs = records;
        return pnc_io_request_check_records(ds, var, records - 1, records);
    }
    if (records > model->numrecs)
        return pnc_error_set(&ds->error, NC_EINVALCOORDS,
                             "variable \"%s\": the filetype extends to %lld records, but "
                             "the file has %lld",
                             var->name, (long long)records, (long long)model->numrecs);
    return NC_NOERR;
}

/* Flatten the filetype; its elements must have the variable's type. */
static int read_filetype(pnc_dataset *ds, const pnc_var *var, MPI_Datatype filetype, pnc_request *q, reach *r)
{
    pnc_mem_type mem;
    int err = pnc_mpitype_buftype_flatten(1, filetype, var->type, q->elements, &q->filetype, &mem, &ds->error);

    if (err == NC_EIOMISMATCH || err == NC_EBADTYPE) {
        /* the size matches, but the elements have another size or no type */
        pnc_error_clear(&ds->error);
        err = pnc_error_set(&ds->error, NC_ETYPE_MISMATCH,
                            "variable \"%s\" has type %s, the filetype has elements "
                            "of another size, or without a type",
                            var->name, pnc_type_get_name(var->type));
    }
    if (err == NC_NOERR && mem != pnc_type_get_mem_type(var->type) &&
        !(mem == PNC_LONG && pnc_mem_type_get_size(mem) == 8 && var->type == NC_INT64))
        err = pnc_error_set(&ds->error, NC_ETYPE_MISMATCH,
                            "variable \"%s\" has type %s, the filetype has elements "
                            "of type %s",
                            var->name, pnc_type_get_name(var->type), pnc_mem_type_get_name(mem));
    if (err == NC_NOERR && walk(q->filetype, r) != NC_NOERR)
        err = pnc_error_set(&ds->error, NC_ENOMEM, "no memory to flatten a filetype");
    q->nslabs = r->runs;
    return err;
}

static int make_request(pnc_dataset *ds, MPI_Datatype filetype, const pnc_call *call, pnc_request *q)
{
    int err = pnc_dataset_var_check(ds, call->varid);
    const pnc_var *var;
    MPI_Count size = 0;
    reach r = {0};

    if (err != NC_NOERR || filetype == MPI_DATATYPE_NULL)
        return err;
    var = ds->model.vars[call->varid];
    MPI_Type_size_x(filetype, &size);
    if (size % (int)pnc_type_get_size(var->type) != 0)
        return pnc_error_set(&ds->error, NC_ETYPE_MISMATCH,
                             "variable \"%s\": the filetype has %lld bytes, not a "
                             "multiple of %d, the size of an element",
                             var->name, (long long)size, (int)pnc_type_get_size(var->type));
    q->elements = size / (MPI_Count)pnc_type_get_size(var->type);
    if (q->elements == 0)
        return NC_NOERR;
    err = read_filetype(ds, var, filetype, q, &r);
    if (err == NC_NOERR && call->bufcount == 0 && call->buftype != MPI_DATATYPE_NULL) { /* no elements */
        q->elements = 0;
        return NC_NOERR;
    }
    if (err == NC_NOERR)
        err = check_reach(ds, var, q, &r);
    return err != NC_NOERR ? err : pnc_io_request_set_memory(ds, call, q);
}

int pnc_io_vard_execute(pnc_dataset *ds, pnc_direction way, bool collective, int varid, MPI_Datatype filetype,
                        void *buf, MPI_Offset bufcount, MPI_Datatype buftype)
{
    const pnc_call call = {.op = way == PNC_PUT ? PNC_OP_PUT : PNC_OP_GET,
                           .shape = PNC_VARA,
                           .varid = varid,
                           .mem = PNC_FLEX,
                           .buf = buf,
                           .bufcount = bufcount,
                           .buftype = buftype};
    pnc_request q = {.way = way, .varid = varid}, *list[1] = {&q};
    int err = pnc_io_mode_check(ds, way, collective);

    if (err != NC_NOERR)
        return err;
    err = make_request(ds, filetype, &call, &q);
    err = pnc_io_requests_execute(ds, way, collective, list, err == NC_NOERR && q.elements > 0, err);
    pnc_io_request_free(&q);
    return err;
}
