/* put_vard and get_vard: the place in the file is an MPI datatype, in bytes from the begin of the variable. */
#include "base/memory.h"
#include "dataset/access.h"
#include "dataset/modes.h"

/* The runs of a datatype as numbers of a request: offset and length of each. */
typedef struct runs {
    int64_t *numbers, n, room, end;
    bool backwards;
} runs;

static int add_run(runs *r, int64_t offset, int64_t length)
{
    if (r->n > 0 && r->numbers[2 * r->n - 2] + r->numbers[2 * r->n - 1] == offset) {
        r->numbers[2 * r->n - 1] += length;
    } else {
        if (r->n == r->room) {
            int64_t room = r->room == 0 ? 16 : 2 * r->room, *larger = pnc_resize(r->numbers, room, 2 * sizeof *larger);

            if (larger == NULL)
                return NC_ENOMEM;
            r->numbers = larger;
            r->room = room;
        }
        r->numbers[2 * r->n] = offset;
        r->numbers[2 * r->n + 1] = length;
        r->n++;
    }
    r->backwards = r->backwards || offset < 0;
    r->end = offset + length > r->end ? offset + length : r->end;
    return NC_NOERR;
}

static int list_runs(const pnc_memmap *map, int64_t elements, runs *r)
{
    int64_t size = pnc_memmap_elem_size(map);
    pnc_memcursor cursor;
    pnc_memrun run;
    int err = pnc_memcursor_start(&cursor, map);

    if (err != NC_NOERR)
        return err;
    while (err == NC_NOERR && pnc_memcursor_next(&cursor, elements, &run)) {
        if (run.stride == size)
            err = add_run(r, run.offset, run.count * size);
        for (int64_t i = 0; run.stride != size && i < run.count && err == NC_NOERR; i++)
            err = add_run(r, run.offset + i * run.stride, size);
    }
    pnc_memcursor_end(&cursor);
    return err;
}

/* Whether a run touches bytes of other record variables. */
static bool leaves_records(const pnc_dataset *ds, const pnc_var *var, const runs *r)
{
    for (int64_t i = 0; i < r->n && ds->model.recsize > var->size; i++)
        if (r->numbers[2 * i] % ds->model.recsize + r->numbers[2 * i + 1] > var->size)
            return true;
    return false;
}

/* The filetype must be made of the variable's own type and stay inside it. */
static int read_filetype(pnc_dataset *ds, const pnc_var *var, MPI_Datatype filetype, int64_t elements, runs *r)
{
    pnc_memmap *map = NULL;
    pnc_mem mem;
    int err = pnc_buftype_map(1, filetype, var->type, elements, &map, &mem, &ds->error);

    if (err == NC_NOERR && mem != pnc_mem_of_type(var->type) && !(mem == PNC_LONG && pnc_mem_size(mem) == 8 &&
                                                                 var->type == NC_INT64))
        err = pnc_fail(&ds->error, NC_ETYPE_MISMATCH, "variable \"%s\" has type %s, the filetype is made of %s", var->name,
                       pnc_type_name(var->type), pnc_mem_name(mem));
    if (err == NC_NOERR && list_runs(map, elements, r) != NC_NOERR)
        err = pnc_fail(&ds->error, NC_ENOMEM, "no memory for the runs of a filetype");
    if (err == NC_NOERR && (r->backwards || (var->is_record ? leaves_records(ds, var, r) : r->end > var->size)))
        err = pnc_fail(&ds->error, NC_ETYPESIZE, "the filetype reaches beyond variable \"%s\"", var->name);
    pnc_memmap_free(map);
    return err;
}

static int check_records(pnc_dataset *ds, const pnc_var *var, pnc_request *q, const runs *r)
{
    int64_t records;

    if (!var->is_record || r->n == 0)
        return NC_NOERR;
    records = ds->model.recsize > 0 ? (r->end - 1) / ds->model.recsize + 1 : 0;
    if (q->way == PNC_PUT && ds->model.format < 5 && records > INT32_MAX)
        return pnc_fail(&ds->error, NC_EINVALCOORDS, "the filetype reaches to record %lld, a CDF-%d file holds %d at most",
                        (long long)records, ds->model.format, INT32_MAX);
    if (q->way == PNC_PUT)
        q->newrecs = records;
    else if (records > ds->model.numrecs)
        return pnc_fail(&ds->error, NC_EINVALCOORDS, "the filetype reaches to record %lld of variable \"%s\", which has %lld",
                        (long long)records, var->name, (long long)ds->model.numrecs);
    return NC_NOERR;
}

static int map_buffer(pnc_dataset *ds, const pnc_var *var, pnc_request *q, void *buf, int64_t bufcount,
                      MPI_Datatype buftype)
{
    int err = pnc_buftype_map(bufcount, buftype, var->type, q->elements, &q->map, &q->mem, &ds->error);

    if (err == NC_EIOMISMATCH)
        return ds->error.code = NC_ETYPESIZE_MISMATCH;
    if (err == NC_NOERR && (q->mem == PNC_TEXT) != (var->type == NC_CHAR))
        err = pnc_fail(&ds->error, NC_ECHAR, "variable \"%s\": text and numbers do not convert into each other", var->name);
    if (err == NC_NOERR && buf == NULL && q->elements > 0)
        err = pnc_fail(&ds->error, NC_EINVAL, "variable \"%s\": the buffer is NULL", var->name);
    q->memory = buf;
    return err;
}

static int make_request(pnc_dataset *ds, int varid, MPI_Datatype filetype, void *buf, int64_t bufcount,
                        MPI_Datatype buftype, runs *r, pnc_request *q)
{
    int err = pnc_mode_need_var(ds, varid);
    const pnc_var *var;
    MPI_Count size = 0;

    if (err != NC_NOERR)
        return err;
    var = ds->model.vars[varid];
    q->varid = varid;
    q->extents = true;
    if (filetype == MPI_DATATYPE_NULL)
        return NC_NOERR;
    MPI_Type_size_x(filetype, &size);
    if (size % (int)pnc_type_size(var->type) != 0)
        return pnc_fail(&ds->error, NC_ETYPESIZE, "the filetype has %lld bytes, no whole number of elements of variable "
                        "\"%s\"", (long long)size, var->name);
    q->elements = size / (MPI_Count)pnc_type_size(var->type);
    if (q->elements == 0)
        return NC_NOERR;
    err = read_filetype(ds, var, filetype, q->elements, r);
    if (err == NC_NOERR)
        err = check_records(ds, var, q, r);
    if (err == NC_NOERR)
        err = map_buffer(ds, var, q, buf, bufcount, buftype);
    q->numbers = r->numbers;
    q->nparts = r->n;
    return err;
}

int pnc_access_vard(pnc_dataset *ds, pnc_direction way, bool collective, int varid, MPI_Datatype filetype, void *buf,
                    MPI_Offset bufcount, MPI_Datatype buftype)
{
    pnc_request q = {.way = way}, *list[1] = {&q};
    runs r = {0};
    int err = pnc_access_mode(ds, way, collective);

    if (err != NC_NOERR)
        return err;
    err = make_request(ds, varid, filetype, buf, bufcount, buftype, &r, &q);
    err = pnc_access_list(ds, way, collective, list, err == NC_NOERR && q.elements > 0, err);
    pnc_request_release(&q);
    pnc_free(r.numbers);
    return err;
}
