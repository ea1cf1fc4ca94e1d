/* The address space of an open netCDF-4 file: the file, and behind it the values of each variable. */
#include "formats/netcdf4/netcdf4.h"

#include <string.h>

#include "base/memory.h"
#include "convert/convert.h"
#include "host/codecs.h"

#define ALIGNMENT INT64_C(4096)                 /* of addresses behind the file: a page */
#define CACHE_BYTES (INT64_C(32) * 1024 * 1024) /* a guess: some chunks of 1 to 4 MiB */

/* A chunk whose place was not in the description: this rank asks libhdf5. */
static int find_chunk_place(void *own, int64_t array, const int64_t *index, pnc_chunk_place *out, pnc_error *error)
{
    pnc_netcdf4 *n = own;
    int varid = n->varids[array];

    (void)error; /* that of the file */
    if (n->metadata == NULL)
        PNC_TRY(pnc_netcdf4_metadata_open(n->format.file, n->file_size, false, &n->metadata));
    return pnc_netcdf4_metadata_find_chunk(n->metadata, n->storage[varid].path, index,
                                           n->format.model->vars[varid]->ndims, out);
}

/* Before the store of the file is closed. */
static void close_metadata(void *own)
{
    pnc_netcdf4 *n = own;

    pnc_netcdf4_metadata_close(n->metadata);
    n->metadata = NULL;
}

static bool has_shape(const pnc_var *var, const pnc_netcdf4_storage *s)
{
    return var->ndims == 0 || memcmp(var->shape, s->extent, (size_t)var->ndims * sizeof *var->shape) == 0;
}

static const char *find_refusal(const pnc_var *var, const pnc_netcdf4_storage *s)
{
    if (s->layout == PNC_NETCDF4_UNREADABLE)
        return "its values are in other files, or stored in a way that this library does not read";
    if (s->layout != PNC_NETCDF4_CHUNKED && !has_shape(var, s))
        return "it is shorter than its dimensions, and not stored in chunks: this library does not read it";
    return NULL;
}

static void set_fill_values(const pnc_var *var, const pnc_netcdf4_storage *s, pnc_chunk_array *a)
{
    for (int i = 0; i < a->elem_size && s->has_fill; i++)
        a->fill[i] = s->fill[var->little == PNC_HOST_IS_LITTLE ? i : a->elem_size - 1 - i];
    if (s->has_fill)
        memcpy(a->beyond, a->fill, sizeof a->beyond);
    else
        pnc_convert_fill_get_external(var->type, (pnc_encoding){.little = var->little}, a->beyond);
}

static void make_array(const pnc_var *var, const pnc_netcdf4_storage *s, int64_t begin, pnc_chunk_array *a)
{
    *a = (pnc_chunk_array){.name = var->name,
                           .begin = begin,
                           .bytes = var->size,
                           .elem_size = (int)pnc_type_get_size(var->type),
                           .ndims = var->ndims,
                           .shape = var->shape,
                           .extent = s->extent,
                           .refusal = find_refusal(var, s),
                           .chunk = s->chunk,
                           .filters = s->filters,
                           .skips_partial = s->skips_partial,
                           .places = s->places,
                           .contents = s->bytes};
    set_fill_values(var, s, a);
}

/* Values that are adjacent in the file are read there. */
static bool is_plain(const pnc_var *var, const pnc_netcdf4_storage *s)
{
    return s->layout == PNC_NETCDF4_CONTIGUOUS && s->address >= 0 && has_shape(var, s);
}

static int make_arrays(pnc_netcdf4 *n, int64_t *narrays)
{
    int64_t begin = (n->file_size / ALIGNMENT + 1) * ALIGNMENT;

    *narrays = 0;
    for (int i = 0; i < n->format.model->nvars; i++) {
        pnc_var *var = n->format.model->vars[i];

        var->netcdf4.address = is_plain(var, &n->storage[i]) ? n->storage[i].address : begin;
        if (is_plain(var, &n->storage[i]) || var->size == 0)
            continue;
        make_array(var, &n->storage[i], begin, &n->arrays[*narrays]);
        n->varids[(*narrays)++] = i;
        if (var->size > INT64_MAX / 2 - begin)
            return pnc_error_set(n->format.file->error, NC_EVARSIZE,
                                 "%s: variable \"%s\" and those before it have more than 2^62 bytes",
                                 n->format.file->path, var->name);
        begin += (var->size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    return NC_NOERR;
}

int pnc_netcdf4_store_attach(pnc_netcdf4 *n)
{
    pnc_chunk_source source = {.cache_bytes = CACHE_BYTES,
                               .codecs = pnc_host_codecs_get(),
                               .own = n,
                               .find = find_chunk_place,
                               .release = close_metadata};
    int nvars = n->format.model->nvars;
    pnc_store *store = NULL;

    n->arrays = pnc_memory_alloc(nvars, sizeof *n->arrays);
    n->varids = pnc_memory_alloc(nvars, sizeof *n->varids);
    if (n->arrays != NULL && n->varids != NULL) {
        PNC_TRY(make_arrays(n, &source.narrays));
        source.arrays = n->arrays;
        store = pnc_chunks_store_create(n->format.file->store, &source);
    }
    if (store == NULL)
        return pnc_error_set(n->format.file->error, NC_ENOMEM, "%s: no memory for the storage of %d variables",
                             n->format.file->path, nvars);
    n->format.file->store = store;
    return NC_NOERR;
}
