/* Fill values: in chunks, what was never written reads as such. Others are written by all ranks, each a part. */
#include <string.h>

#include "base/memory.h"
#include "base/minmax.h"
#include "file/agree.h"
#include "formats/netcdf4/netcdf4.h"

#define PORTION (INT64_C(1) << 20)

/* Write this rank's part of the elements at some addresses. Local. */
static int fill_part(pnc_netcdf4 *n, const pnc_var *var, int64_t address, int64_t elements)
{
    pnc_file *file = n->format.file;
    int64_t size = pnc_type_get_size(var->type), share = elements / file->nprocs + 1;
    int64_t first = pnc_min64(elements, share * file->rank), end = pnc_min64(elements, first + share);
    char *values = pnc_memory_alloc(pnc_min64(PORTION, share * size), 1), value[8];
    int err = values == NULL ? pnc_formats_memory_fail(&n->format, PORTION) : NC_NOERR;

    pnc_format_var_get_fill_value(n->format.model, var, value);
    for (int64_t i = 0; err == NC_NOERR && i < pnc_min64(PORTION / size, share); i++)
        memcpy(values + i * size, value, (size_t)size);
    for (int64_t some; err == NC_NOERR && first < end; first += some) {
        some = pnc_min64(PORTION / size, end - first);
        err = pnc_file_extents_write(file, &(pnc_extent){address + first * size, some * size}, 1, values);
    }
    pnc_memory_free(values);
    return err;
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

int pnc_netcdf4_record_fill(pnc_format *f, int varid, int64_t record)
{
    pnc_netcdf4 *n = pnc_netcdf4_state_get(f);
    const pnc_var *var = f->model->vars[varid];
    const pnc_mapping mapping = f->ops->addressing->get_mapping(f->model, var);
    int64_t size = pnc_type_get_size(var->type);
    int err;

    if (record >= mapping.array.most[0])
        return fail_record(f, record);
    PNC_TRY(pnc_netcdf4_file_restore_before_put(f, true));
    err = fill_part(n, var, mapping.array.begin + record * mapping.part, mapping.part / size);
    if (f->file->nprocs > 1)
        err = pnc_error_keep_first(err, pnc_file_extents_write_all(f->file, NULL, 0, NULL));
    PNC_TRY(pnc_file_status_agree(f->file, err));
    return pnc_netcdf4_length_write(f, var->dimids[0], record + 1);
}
