#include "config.h" /* system extensions */

#include "tools/ncmpigen/netcdf4.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/storage.h"
#include "formats/netcdf4/whole_file.h"
#include "tools/ncmpigen/records.h"

static bool is_in_chunks(const pnc_model *model, const pnc_var *var)
{
    if (var->storage != NULL)
        return var->storage->layout == NC_CHUNKED;
    for (int d = 0; d < var->ndims; d++)
        if (model->dims[var->dimids[d]]->unlimited)
            return true;
    return false;
}

bool gen_netcdf4_var_is_written(const pnc_model *model, const int64_t *counts, bool fills, int varid)
{
    return counts[varid] > 0 || !fills || !is_in_chunks(model, model->vars[varid]);
}

/* The values, while the temporary file is mapped into memory. */
typedef struct mapped_values {
    const gen_values *values;
    char *at;
} mapped_values;

static bool var_is_written(void *with, int varid)
{
    const mapped_values *mapped = with;

    return gen_netcdf4_var_is_written(mapped->values->model, mapped->values->counts, mapped->values->fills, varid);
}

/* The offset of an element in the temporary file. */
static int64_t find_offset(const pnc_model *model, const pnc_var *var, const int64_t *index)
{
    int64_t offset = 0;

    for (int d = var->is_record; d < var->ndims; d++)
        offset = offset * var->shape[d] + index[d];
    return var->classic.begin + offset * (int64_t)pnc_type_get_size(var->type) +
           (var->is_record ? index[0] * model->classic.recsize : 0);
}

/* Row by row: elements of the last dimension are adjacent, unless that has records. */
static int read_values(void *with, int varid, const int64_t *start, const int64_t *count, void *to, pnc_error *error)
{
    const mapped_values *mapped = with;
    const pnc_var *var = mapped->values->model->vars[varid];
    int last = var->ndims > 1 || !var->is_record ? var->ndims - 1 : var->ndims, d;
    size_t row = (size_t)(last >= 0 && last < var->ndims ? count[last] : 1) * pnc_type_get_size(var->type);
    int64_t index[PNC_STORAGE_DIMS_MOST];
    char *next = to;

    (void)error;
    for (d = 0; d < var->ndims; d++)
        index[d] = start[d];
    do {
        memcpy(next, mapped->at + find_offset(mapped->values->model, var, index), row);
        next += row;
        for (d = last - 1; d >= 0; d--) {
            if (++index[d] < start[d] + count[d])
                break;
            index[d] = start[d];
        }
    } while (d >= 0);
    return NC_NOERR;
}

static int map_and_write(const gen_values *values, const tool_output *output, int file, pnc_error *error)
{
    size_t bytes = values->size > 0 ? (size_t)values->size : 1;
    mapped_values mapped = {values, mmap(NULL, bytes, PROT_READ, MAP_SHARED, values->file, 0)};
    const pnc_netcdf4_whole whole = {.fd = file,
                                     .path = output->path,
                                     .model = values->model,
                                     .read = read_values,
                                     .is_written = var_is_written,
                                     .with = &mapped};
    int err;

    if (mapped.at == MAP_FAILED)
        return gen_spool_fail("read", error);
    err = pnc_netcdf4_whole_write(&whole, error);
    munmap(mapped.at, bytes);
    return err;
}

int gen_netcdf4_write(const gen_values *values, const tool_output *output, pnc_error *error)
{
    int file = open(output->temporary, O_RDWR), err;

    if (file < 0)
        return pnc_error_set(error, NC_EFILE, "%s: cannot be written: %s", output->path, strerror(errno));
    err = map_and_write(values, output, file, error);
    if (close(file) != 0 && err == NC_NOERR)
        err = pnc_error_set(error, NC_EWRITE, "%s: cannot be written: %s", output->path, strerror(errno));
    return err;
}
