/* A variable as chunks, or as one part, of which values are read. */
#include "formats/netcdf4/array.h"

#include <string.h>

#include "array/box.h"
#include "convert/convert.h"
#include "format/storage.h"

_Static_assert(PNC_ARRAY_DIMS == PNC_STORAGE_DIMS_MOST, "a variable that is described is an array");

bool pnc_netcdf4_extent_is_whole(const pnc_var *var, const pnc_netcdf4_storage *s)
{
    return var->ndims == 0 || memcmp(var->shape, s->extent, (size_t)var->ndims * sizeof *var->shape) == 0;
}

static const char *find_refusal(const pnc_var *var, const pnc_netcdf4_storage *s)
{
    if (s->layout == PNC_NETCDF4_UNREADABLE || s->layout == PNC_NETCDF4_STRINGS)
        return "its values are in other files, or stored in a way that this library does not read";
    if (s->layout != PNC_NETCDF4_CHUNKED && !pnc_netcdf4_extent_is_whole(var, s))
        return "it is shorter than its dimensions, and not stored in chunks: this library does not read it";
    return NULL;
}

static const char *find_put_refusal(const pnc_netcdf4_storage *s)
{
    switch (s->obstacle) {
    case PNC_NETCDF4_IS_CONVERTED: return PNC_FILTER_NUMBER_REFUSAL;
    case PNC_NETCDF4_IS_NULL: return "its dataset has a null dataspace, which has no values: none can be put";
    case PNC_NETCDF4_IS_ALIAS: return "it is another link to the dataset of a variable: put the values into that one";
    default: return pnc_filter_chain_find_refusal(&s->filters);
    }
}

static void set_fill_values(const pnc_var *var, const pnc_netcdf4_storage *s, pnc_chunk_array *a)
{
    for (int i = 0; i < a->elem_size && s->has_fill; i++)
        a->fill[i] = s->fill[var->little == PNC_HOST_IS_LITTLE ? i : a->elem_size - 1 - i];
    if (s->has_fill)
        memcpy(a->beyond, a->fill, sizeof a->beyond);
    else if (a->elem_size > 0)
        pnc_convert_fill_get_external(var->type, (pnc_encoding){.little = var->little}, a->beyond);
}

void pnc_netcdf4_array_init(const pnc_var *var, const pnc_netcdf4_storage *s, pnc_chunk_array *a)
{
    *a = (pnc_chunk_array){.name = var->name,
                           .elem_size = (int)pnc_type_get_size(var->type),
                           .ndims = var->ndims,
                           .shape = var->shape,
                           .extent = s->extent,
                           .refusal = find_refusal(var, s),
                           .put_refusal = find_put_refusal(s),
                           .chunk = s->chunk,
                           .filters = s->filters,
                           .skips_partial = s->obstacle == PNC_NETCDF4_SKIPS_PARTIAL,
                           .contents = s->bytes};
    set_fill_values(var, s, a);
}
