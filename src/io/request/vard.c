/* put_vard and get_vard: the filetype gives byte displacements from the beginning of the variable. It is flattened like
 * a buffer datatype and never expanded. */

#include "io/request/request.h"
#include "mpitype/flatten.h"

/* *runs: contiguous runs of bytes. */
static int measure(const pnc_flat_type *flat, pnc_reach *r, int64_t *runs)
{
    int64_t size = pnc_select_flat_get_element_size(flat), last = 0;
    pnc_run_cursor cursor;
    pnc_memory_run run;
    int err = pnc_select_run_cursor_init(&cursor, flat);

    if (err != NC_NOERR)
        return err;
    *runs = 0;
    r->is_aligned = true;
    while (pnc_select_run_cursor_next(&cursor, pnc_select_flat_count_elements(flat), &run)) {
        int64_t pieces = run.stride == size ? 1 : run.count;

        for (int64_t i = 0; i < pieces; i++) {
            int64_t offset = run.offset + i * run.stride, before = last;

            last = offset + run.count / pieces * size;
            r->first = *runs == 0 || offset < r->first ? offset : r->first;
            r->end = *runs == 0 || last > r->end ? last : r->end;
            r->is_aligned = r->is_aligned && offset % size == 0;
            *runs += *runs == 0 || offset != before;
        }
    }
    pnc_select_run_cursor_free(&cursor);
    return NC_NOERR;
}

/* Flatten the filetype; its elements must have the variable's type. */
static int read_filetype(pnc_io_context *io, const pnc_var *var, MPI_Datatype filetype, pnc_request *q, pnc_reach *r)
{
    pnc_mem_type mem;
    int64_t runs = 0;
    int err = pnc_mpitype_buffer_flatten((pnc_mpi_buffer){1, filetype}, var->type, q->elements.count,
                                         &q->elements.filetype, &mem, io->file->error);

    if (err == NC_EIOMISMATCH || err == NC_EBADTYPE) {
        /* the size matches, but the elements have another size or no type */
        pnc_error_clear(io->file->error);
        err = pnc_error_set(
            io->file->error, NC_ETYPE_MISMATCH,
            "variable \"%s\" has type %s, but the filetype has elements of another size or without a type", var->name,
            pnc_type_get_name(var->type));
    }
    if (err == NC_NOERR && mem != pnc_type_get_mem_type(var->type) &&
        !(mem == PNC_LONG && pnc_mem_type_get_size(mem) == 8 && var->type == NC_INT64))
        err = pnc_error_set(io->file->error, NC_ETYPE_MISMATCH,
                            "variable \"%s\" has type %s, but the filetype has elements of type %s", var->name,
                            pnc_type_get_name(var->type), pnc_mem_type_get_name(mem));
    if (err == NC_NOERR && measure(q->elements.filetype, r, &runs) != NC_NOERR)
        err = pnc_error_set(io->file->error, NC_ENOMEM, "no memory to flatten a filetype");
    q->elements.form = q->elements.filetype != NULL ? PNC_FILETYPE : PNC_SLABS;
    q->elements.n = runs;
    return err;
}

int pnc_io_vard_request_init(pnc_io_context *io, const pnc_vard *vard, pnc_request *q)
{
    const pnc_call call = {.op = vard->op,
                           .shape = PNC_VARA,
                           .varid = vard->varid,
                           .mem = PNC_FLEX,
                           .buf = vard->buf,
                           .bufcount = vard->bufcount,
                           .buftype = vard->buftype};
    const pnc_var *var;
    MPI_Count size = 0;
    pnc_reach reach = {0};

    *q = (pnc_request){.direction = pnc_io_op_get_direction(vard->op), .elements = {.varid = vard->varid}};
    PNC_TRY(pnc_format_var_check(io->model, vard->varid, io->file->error));
    if (vard->filetype == MPI_DATATYPE_NULL)
        return NC_NOERR;
    var = io->model->vars[vard->varid];
    if (pnc_type_get_size(var->type) == 0)
        return pnc_error_set(io->file->error, NC_EBADTYPE,
                             "variable \"%s\" has no numbers or characters, which a filetype could select", var->name);
    MPI_Type_size_x(vard->filetype, &size);
    if (size % (int)pnc_type_get_size(var->type) != 0)
        return pnc_error_set(io->file->error, NC_ETYPE_MISMATCH,
                             "variable \"%s\": the filetype has %lld bytes, not a "
                             "multiple of %d, the size of an element",
                             var->name, (long long)size, (int)pnc_type_get_size(var->type));
    q->elements.elem_size = (uint8_t)pnc_type_get_size(var->type);
    q->elements.count = size / q->elements.elem_size;
    if (q->elements.count == 0)
        return NC_NOERR;
    PNC_TRY(read_filetype(io, var, vard->filetype, q, &reach));
    if (vard->bufcount == 0 && vard->buftype != MPI_DATATYPE_NULL) { /* no elements */
        q->elements.count = 0;
        return NC_NOERR;
    }
    PNC_TRY(io->addressing->check_reach(io->model, var, &reach, q->direction == PNC_PUT, &q->numrecs, io->file->error));
    return pnc_io_request_set_memory(io, &call, q);
}
