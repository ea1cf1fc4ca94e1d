/* Fill values: in chunks, what was never written reads as such. Others are written by all ranks, each a part. */
#include <string.h>

#include "base/memory.h"
#include "base/minmax.h"
#include "file/agree.h"
#include "formats/arrays.h"
#include "formats/netcdf4/netcdf4.h"

#define PORTION (INT64_C(1) << 20)

/* Write this rank's part of the elements of `size` bytes at some address of the file. Local. */
static int write_part_of_rank(pnc_netcdf4 *n, const void *value, int64_t size, int64_t address, int64_t elements)
{
    pnc_file *file = n->format.file;
    int64_t share = elements / file->nprocs + 1;
    int64_t first = pnc_min64(elements, share * file->rank), end = pnc_min64(elements, first + share);
    char *values = pnc_memory_alloc(pnc_min64(PORTION, share * size), 1);
    int err = values == NULL ? pnc_formats_memory_fail(&n->format, PORTION) : NC_NOERR;

    for (int64_t i = 0; err == NC_NOERR && i < pnc_min64(PORTION / size, share); i++)
        memcpy(values + i * size, value, (size_t)size);
    for (int64_t some; err == NC_NOERR && first < end; first += some) {
        some = pnc_min64(PORTION / size, end - first);
        err = pnc_file_extents_write(file, &(pnc_extent){address + first * size, some * size}, 1, values);
    }
    pnc_memory_free(values);
    return err;
}

static int fill_part(pnc_netcdf4 *n, const pnc_var *var, int64_t address, int64_t elements)
{
    char value[8];

    pnc_format_var_get_fill_value(n->format.model, var, value);
    return write_part_of_rank(n, value, pnc_type_get_size(var->type), address, elements);
}

int pnc_netcdf4_vars_fill(pnc_netcdf4 *n, int varid)
{
    const pnc_model *model = n->format.model;
    bool fills = false;
    int err = NC_NOERR;

    for (int i = varid; i < model->nvars; i++) {
        const pnc_var *var = model->vars[i];

        if (var->no_fill || n->content.storage[i].layout != PNC_NETCDF4_CONTIGUOUS)
            continue;
        fills = true;
        if (err == NC_NOERR)
            err = fill_part(n, var, var->netcdf4.address, var->size / (int64_t)pnc_type_get_size(var->type));
    }
    return fills ? pnc_file_status_agree(n->format.file, err) : NC_NOERR;
}

/* It depends on the variable. */
int pnc_netcdf4_record_check(pnc_format *f, int64_t record)
{
    (void)f, (void)record;
    return NC_NOERR;
}

static int fail_record(pnc_format *f, int64_t record)
{
    long long named = pnc_error_get_index(f->file->error, record);

    return pnc_error_set(f->file->error, NC_EINVALCOORDS, "recno is %lld%s: too large for a netCDF-4 file", named,
                         pnc_error_explain_kind(f->file->error, named));
}

/* Local. A variable of another program may be contiguous although its dimension is unlimited. */
static int fill_part_of_record(pnc_netcdf4 *n, int varid, int64_t record)
{
    const pnc_var *var = n->format.model->vars[varid];
    int64_t array = pnc_chunks_array_find(n->format.file->store, varid), elements = 1;
    int64_t size = pnc_type_get_size(var->type);
    char value[8];

    if (array >= 0)
        return pnc_formats_record_part_fill(&n->format, varid, array, record);
    pnc_format_var_get_fill_value(n->format.model, var, value);
    for (int d = 1; d < var->ndims; d++)
        elements *= pnc_format_var_get_length(n->format.model, var, d);
    return write_part_of_rank(n, value, size, var->netcdf4.address + record * elements * size, elements);
}

int pnc_netcdf4_record_fill(pnc_format *f, int varid, int64_t record)
{
    pnc_netcdf4 *n = pnc_netcdf4_state_get(f);
    const pnc_var *var = f->model->vars[varid];
    const pnc_mapping mapping = f->ops->addressing->get_mapping(f->model, var);
    int err;

    if (record >= mapping.array.most[0])
        return fail_record(f, record);
    PNC_TRY(pnc_netcdf4_file_restore_before_put(f, true));
    f->file->unsynced = true;
    err = fill_part_of_record(n, varid, record);
    err = pnc_chunks_put_end(f->file->store, true, err, f->file->error);
    PNC_TRY(pnc_file_status_agree(f->file, err));
    return pnc_formats_length_write(f, var->dimids[0], record + 1);
}

/* --- space --- */

/* libhdf5 gives the variable an address, which the metadata in the file do not have before the values are there. */
static int find_space(pnc_netcdf4 *n, int varid, int64_t *address)
{
    *address = -1;
    if (n->format.file->rank != 0)
        return NC_NOERR;
    PNC_TRY(pnc_netcdf4_seen_check(n));
    PNC_TRY(pnc_netcdf4_handle_get(n));
    pnc_netcdf4_metadata_raise_end(n->metadata, pnc_max64(n->end, pnc_chunks_end_get(pnc_netcdf4_container_get(n))));
    return pnc_netcdf4_metadata_alloc_values(n->metadata, n->content.storage[varid].path, address);
}

static const pnc_chunk_array *find_array_of(const pnc_netcdf4 *n, int varid)
{
    int64_t i = 0;

    while (n->content.varids[i] != varid)
        i++;
    return &n->content.arrays[i];
}

/* Collective. With the values that it had before for readers. */
static int fill_space(pnc_netcdf4 *n, int varid, int64_t address)
{
    const pnc_chunk_array *a = find_array_of(n, varid);
    int err = write_part_of_rank(n, a->fill, a->elem_size, address, n->format.model->vars[varid]->size / a->elem_size);

    return pnc_file_status_agree(n->format.file, err);
}

/* Local. The variable is one of those that are accessed in the file then: no array has it. */
static int install_space(pnc_netcdf4 *n, int varid, int64_t address, pnc_netcdf4_addresses *old)
{
    PNC_TRY(pnc_netcdf4_addresses_take(n, old));
    n->content.storage[varid].address = address;
    return pnc_netcdf4_store_attach(n);
}

/* Collective. What can fail for want of memory comes before the file changes. */
static int adopt_space(pnc_netcdf4 *n, int varid, int64_t address, int err)
{
    pnc_netcdf4_addresses old = {.vars = NULL};

    if (err == NC_NOERR)
        err = pnc_file_status_agree(n->format.file, install_space(n, varid, address, &old));
    err = pnc_netcdf4_metadata_update(n, err);
    if (err != NC_NOERR && n->format.file->rank == 0 && !n->is_unfinished)
        pnc_netcdf4_handle_release(n); /* it has the address */
    if (err == NC_NOERR) {
        pnc_netcdf4_addresses_discard(&old);
        pnc_netcdf4_index_adopt(n);
    } else {
        n->content.storage[varid].address = -1;
        pnc_netcdf4_addresses_restore(n, &old);
    }
    return err;
}

int pnc_netcdf4_space_add(pnc_format *f, int varid, bool *more)
{
    pnc_netcdf4 *n = pnc_netcdf4_state_get(f);
    int64_t first = varid < 0 ? INT64_MIN : -(int64_t)varid, address;
    int err;

    PNC_TRY(pnc_file_maxima_agree(f->file, &first, 1, "the variable that needs space"));
    *more = first > INT64_MIN;
    if (!*more)
        return NC_NOERR;
    PNC_TRY(pnc_netcdf4_chunks_flush(f, NC_NOERR, NULL));
    err = pnc_file_status_broadcast(f->file, find_space(n, (int)-first, &address));
    pnc_file_bytes_broadcast(f->file, &address, sizeof address, "the address of a variable");
    if (err == NC_NOERR)
        err = fill_space(n, (int)-first, address);
    return adopt_space(n, (int)-first, address, err);
}
