/* Copies of puts. */
#include "io/request/copy.h"

#include <string.h>

#include "io/request/out_of_range.h"

static int64_t count_copied_numbers(const pnc_io_context *io, const pnc_elements *e)
{
    int numbers = e->form == PNC_EXTENTS ? 2 : pnc_mapping_slab_count_numbers(e, io->model->vars[e->varid]->ndims);

    return e->n * numbers;
}

int64_t pnc_io_copy_count_bytes(const pnc_io_context *io, const pnc_request *r)
{
    if (r->elements.form == PNC_FILETYPE)
        return -1;
    return (int64_t)sizeof *r + count_copied_numbers(io, &r->elements) * (int64_t)sizeof(int64_t) +
           pnc_io_request_count_bytes(r);
}

/* Of the hyperslabs or extents, also of those that are in the arrays of the caller. */
static void copy_elements(pnc_io_context *io, const pnc_elements *e, int64_t *to)
{
    const pnc_mapping mapping = pnc_io_context_get_mapping(io, e->varid);
    int ndims = io->model->vars[e->varid]->ndims, numbers = pnc_mapping_slab_count_numbers(e, ndims);

    for (int64_t i = 0; i < e->n; i++) {
        if (e->form == PNC_EXTENTS)
            ((pnc_extent *)to)[i] = pnc_mapping_extent_get(&mapping, e, i);
        else
            memcpy(to + i * numbers, pnc_mapping_slab_get(e, ndims, i).start, (size_t)numbers * sizeof *to);
    }
}

static int copy_values(pnc_io_context *io, pnc_request *r, char *to)
{
    pnc_packer packer;
    int err = pnc_io_request_init_converter(io, r, &packer);

    if (err == NC_NOERR)
        pnc_convert_packer_pack(&packer, to, r->elements.count);
    pnc_io_request_set_status(io, r, packer.status);
    pnc_convert_packer_free(&packer);
    return err;
}

int pnc_io_copy_make(pnc_io_context *io, pnc_arena *arena, pnc_request *r, pnc_request **out)
{
    int64_t bytes = pnc_io_copy_count_bytes(io, r), n = count_copied_numbers(io, &r->elements);
    pnc_request *copy = pnc_arena_alloc(arena, bytes);
    int64_t *numbers = (int64_t *)(copy + 1);
    int err;

    if (copy == NULL)
        return pnc_error_set(io->file->error, NC_ENOMEM, "no memory for the %lld bytes of a request", (long long)bytes);
    *copy = *r;
    copy_elements(io, &r->elements, numbers);
    copy->elements.numbers = numbers;
    copy->elements.selection = NULL;
    copy->elements.in_arrays = copy->elements.is_ready = false;
    copy->flat = NULL;
    copy->memory = (char *)(numbers + n);
    copy->external = true;
    err = copy_values(io, r, copy->memory);
    if (err != NC_NOERR)
        pnc_arena_free(arena, copy);
    else
        *out = copy;
    return err;
}
