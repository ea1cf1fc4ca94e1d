/* put_vard and get_vard: the place in the file is an MPI datatype, in bytes from the begin of the variable. It is
 * walked through, as one that describes memory is, and never expanded. */
#include "dataset/access.h"
#include "dataset/modes.h"

/* What a filetype reaches, in bytes from the begin of the variable. */
typedef struct reach {
    int64_t runs, end; /* of bytes that follow one another, and beyond the last of them */
    bool backwards;    /* before the variable */
    bool between;      /* bytes of other record variables */
} reach;

typedef struct bounds {
    /* bytes of the variable in each record, and from record to record; recsize 0: all are its own */
    int64_t record, recsize;
} bounds;

/* One more run; `last` is the end of the one before. */
static void add_run(reach *r, const bounds *b, int64_t offset, int64_t length, int64_t *last)
{
    r->runs += r->runs == 0 || offset != *last;
    r->backwards = r->backwards || offset < 0;
    r->between = r->between || (b->recsize > 0 && offset % b->recsize + length > b->record);
    *last = offset + length;
    r->end = *last > r->end ? *last : r->end;
}

static int walk(const pnc_memmap *map, const bounds *b, reach *r)
{
    int64_t size = pnc_memmap_elem_size(map), last = 0;
    pnc_memcursor cursor;
    pnc_memrun run;
    int err = pnc_memcursor_start(&cursor, map);

    if (err != NC_NOERR)
        return err;
    while (pnc_memcursor_next(&cursor, pnc_memmap_elements(map), &run)) {
        int64_t pieces = run.stride == size ? 1 : run.count;

        for (int64_t i = 0; i < pieces; i++)
            add_run(r, b, run.offset + i * run.stride, run.count / pieces * size, &last);
    }
    pnc_memcursor_end(&cursor);
    return NC_NOERR;
}

/* The filetype must be made of the variable's own type and stay inside it. */
static int read_filetype(pnc_dataset *ds, const pnc_var *var, MPI_Datatype filetype, pnc_request *q, reach *r)
{
    bounds b = {var->size, var->is_record && ds->model.recsize > var->size ? ds->model.recsize : 0};
    pnc_mem mem;
    int err = pnc_buftype_map(1, filetype, var->type, q->elements, &q->place, &mem, &ds->error);

    if (err == NC_EIOMISMATCH || err == NC_EBADTYPE) {
        /* as many bytes, but elements of another size or without a type */
        pnc_error_clear(&ds->error);
        err = pnc_fail(&ds->error, NC_ETYPE_MISMATCH, "variable \"%s\" has type %s, the filetype is made of other "
                       "elements", var->name, pnc_type_name(var->type));
    }
    if (err == NC_NOERR && mem != pnc_mem_of_type(var->type) && !(mem == PNC_LONG && pnc_mem_size(mem) == 8 &&
                                                                 var->type == NC_INT64))
        err = pnc_fail(&ds->error, NC_ETYPE_MISMATCH, "variable \"%s\" has type %s, the filetype is made of %s",
                       var->name, pnc_type_name(var->type), pnc_mem_name(mem));
    if (err == NC_NOERR && walk(q->place, &b, r) != NC_NOERR)
        err = pnc_fail(&ds->error, NC_ENOMEM, "no memory to walk through a filetype");
    if (err == NC_NOERR && (r->backwards || r->between || (!var->is_record && r->end > var->size)))
        err = pnc_fail(&ds->error, NC_ETYPESIZE, "the filetype reaches beyond variable \"%s\"", var->name);
    q->nparts = r->runs;
    return err;
}

static int check_records(pnc_dataset *ds, const pnc_var *var, pnc_request *q, const reach *r)
{
    int64_t records;

    if (!var->is_record || r->runs == 0)
        return NC_NOERR;
    records = ds->model.recsize > 0 ? (r->end - 1) / ds->model.recsize + 1 : 0;
    if (q->way == PNC_PUT) {
        q->newrecs = records;
        return pnc_request_check_records(ds, var, records - 1, records);
    }
    if (records > ds->model.numrecs)
        return pnc_fail(&ds->error, NC_EINVALCOORDS, "the filetype reaches to record %lld of variable \"%s\", which "
                        "has %lld", (long long)records, var->name, (long long)ds->model.numrecs);
    return NC_NOERR;
}

/* The buffer is that of any flexible call; only the code for a wrong size is another. */
static int map_buffer(pnc_dataset *ds, const pnc_call *call, pnc_request *q)
{
    int err = pnc_request_map(ds, call, q);

    if (err == NC_EIOMISMATCH) {
        pnc_error cause = ds->error;

        pnc_error_clear(&ds->error);
        err = pnc_fail(&ds->error, NC_ETYPESIZE_MISMATCH, "filetype and buffer differ: %s", cause.text);
    }
    return err;
}

static int make_request(pnc_dataset *ds, MPI_Datatype filetype, const pnc_call *call, pnc_request *q)
{
    int err = pnc_mode_need_var(ds, call->varid);
    const pnc_var *var;
    MPI_Count size = 0;
    reach r = {0};

    if (err != NC_NOERR || filetype == MPI_DATATYPE_NULL)
        return err;
    var = ds->model.vars[call->varid];
    MPI_Type_size_x(filetype, &size);
    if (size % (int)pnc_type_size(var->type) != 0)
        return pnc_fail(&ds->error, NC_ETYPE_MISMATCH, "the filetype has %lld bytes, no whole number of elements of "
                        "variable \"%s\"", (long long)size, var->name);
    q->elements = size / (MPI_Count)pnc_type_size(var->type);
    if (q->elements == 0)
        return NC_NOERR;
    err = read_filetype(ds, var, filetype, q, &r);
    if (err == NC_NOERR && call->bufcount == 0 && call->buftype != MPI_DATATYPE_NULL) { /* a rank with nothing to do */
        q->elements = 0;
        return NC_NOERR;
    }
    if (err == NC_NOERR)
        err = check_records(ds, var, q, &r);
    return err != NC_NOERR ? err : map_buffer(ds, call, q);
}

int pnc_access_vard(pnc_dataset *ds, pnc_direction way, bool collective, int varid, MPI_Datatype filetype, void *buf,
                    MPI_Offset bufcount, MPI_Datatype buftype)
{
    const pnc_call call = {.op = way == PNC_PUT ? PNC_OP_PUT : PNC_OP_GET, .shape = PNC_VARA, .varid = varid,
                           .mem = PNC_FLEX, .buf = buf, .bufcount = bufcount, .buftype = buftype};
    pnc_request q = {.way = way, .varid = varid}, *list[1] = {&q};
    int err = pnc_access_mode(ds, way, collective);

    if (err != NC_NOERR)
        return err;
    err = make_request(ds, filetype, &call, &q);
    err = pnc_access_list(ds, way, collective, list, err == NC_NOERR && q.elements > 0, err);
    pnc_request_release(&q);
    return err;
}
