/* What formats share whose variables are arrays of the store of chunks: lengths of dimensions, records that are filled,
 * a folder for what waits. Their shapes: shapes.c. */
#include "formats/arrays.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/minmax.h"
#include "base/path.h"
#include "drivers/chunks/chunks.h"
#include "file/agree.h"

/* --- lengths of dimensions --- */

int pnc_formats_length_write(pnc_format *f, int dimid, int64_t length)
{
    f->ops->add_length(f, dimid, length);
    return NC_NOERR;
}

bool pnc_formats_values_wait(const pnc_format *f)
{
    return f->file->store != NULL && pnc_chunks_store_is_dirty(f->file->store);
}

int pnc_formats_lengths_agree(pnc_format *f)
{
    for (int i = 0; f->model->nunlimited > 1 && i < f->model->ndims; i++) {
        int64_t length = pnc_format_dim_get_length(f->model, i);

        if (!f->model->dims[i]->unlimited || i == f->model->recdim)
            continue;
        PNC_TRY(pnc_file_maxima_agree(f->file, &length, 1, "the length of a dimension"));
        f->ops->add_length(f, i, length);
    }
    return NC_NOERR;
}

/* --- records --- */

/* A value that all elements get. */
typedef struct filled_value {
    char bytes[8];
    int64_t size;
} filled_value;

static void repeat_value(void *own, int64_t first, int64_t n, void *to)
{
    const filled_value *value = own;

    (void)first;
    for (int64_t i = 0; i < n; i++)
        memcpy((char *)to + i * value->size, value->bytes, (size_t)value->size);
}

static const void *look_at_nothing(void *own, int64_t first)
{
    (void)own, (void)first;
    return NULL;
}

int pnc_formats_record_part_fill(pnc_format *f, int varid, int64_t array, int64_t record)
{
    pnc_file *file = f->file;
    const pnc_var *var = f->model->vars[varid];
    int64_t elements = 1, share, first, end;
    int64_t shape[PNC_ARRAY_DIMS], start[PNC_ARRAY_DIMS], count[PNC_ARRAY_DIMS];
    filled_value value = {.size = pnc_type_get_size(var->type)};
    const pnc_chunk_values values = {.own = &value, .pack = repeat_value, .look = look_at_nothing};
    const pnc_array_slab slab = {.start = start, .count = count};

    pnc_format_var_get_fill_value(f->model, var, value.bytes);
    for (int d = 1; d < var->ndims; d++) {
        shape[d] = pnc_format_var_get_length(f->model, var, d);
        elements *= shape[d];
    }
    share = elements / file->nprocs + 1;
    first = pnc_min64(elements, share * file->rank);
    end = pnc_min64(elements, first + share);
    PNC_TRY(pnc_chunks_put_check(file->store, array, file->error));
    start[0] = record;
    count[0] = 1;
    while (first < end) {
        first += pnc_array_range_take(var->ndims - 1, shape + 1, first, end - first, start + 1, count + 1);
        PNC_TRY(pnc_chunks_slab_put(file->store, array, &slab, &values, false, file->error));
    }
    return NC_NOERR;
}

/* --- what waits --- */

/* Where independent puts keep values that have no space in memory: in the folder of the file, which has space for them,
 * unless the user names another one. A folder for temporary files may be memory, and the program may change its working
 * folder before one is made. */
char *pnc_formats_spill_folder_find(const pnc_file *file, pnc_region *region)
{
    const char *path = pnc_path_strip(file->store->full_path != NULL ? file->store->full_path : file->path);
    const char *slash = strrchr(path, '/'), *given = getenv("TMPDIR");
    int64_t length = 1;
    char *folder;

    if (given != NULL && given[0] != '\0') {
        path = given;
        length = (int64_t)strlen(given);
    } else if (slash == NULL) {
        path = ".";
    } else if (slash > path) {
        length = slash - path;
    }
    folder = pnc_region_alloc(region, length + 1);
    if (folder == NULL)
        return NULL;
    memcpy(folder, path, (size_t)length);
    folder[length] = '\0';
    return folder;
}
