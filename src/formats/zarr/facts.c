/* What all ranks know of a store, and the arrays of the store of chunks that its variables are. */
#include <string.h>

#include "array/walk.h"
#include "base/memory.h"
#include "base/minmax.h"
#include "convert/convert.h"
#include "formats/arrays.h"
#include "formats/zarr/zarr.h"
#include "host/codecs.h"

void pnc_zarr_facts_free(pnc_zarr_facts *facts)
{
    pnc_memory_free(facts->arrays);
    pnc_memory_free(facts->chunks);
    pnc_memory_free(facts->varids);
    pnc_region_free(&facts->region);
    memset(facts, 0, sizeof *facts);
}

int pnc_zarr_bytes_take(pnc_zarr *z, pnc_format_bytes *found, const pnc_format_message *message)
{
    if (found->at != NULL)
        return NC_NOERR;
    found->at = pnc_memory_alloc(found->n, 1);
    if (found->at == NULL)
        return pnc_error_set(z->format.file->error, NC_ENOMEM, "%s: no memory for its documents", z->format.file->path);
    memcpy(found->at, message->bytes, (size_t)found->n);
    return NC_NOERR;
}

int pnc_zarr_facts_decode(pnc_zarr *z, const pnc_format_bytes *bytes, pnc_zarr_groups groups, pnc_model *model,
                          pnc_zarr_facts *facts)
{
    pnc_error *error = z->format.file->error;
    pnc_zarr_documents documents = {.n = 0};
    int err;

    memset(facts, 0, sizeof *facts);
    memset(model, 0, sizeof *model);
    err = pnc_zarr_documents_divide(z, bytes, &documents);
    facts->groups = groups;
    if (err == NC_NOERR)
        err = pnc_zarr_store_decode(pnc_host_json_get(), documents.at, documents.n, groups, &facts->region,
                                    &facts->store, error);
    if (err == NC_NOERR)
        err =
            pnc_zarr_model_make(&facts->store, facts->store.is_classic ? NC_FORMAT_NETCDF4_CLASSIC : NC_FORMAT_NETCDF4,
                                groups, model, error);
    pnc_zarr_documents_free(&documents);
    if (err == NC_NOERR)
        return NC_NOERR;
    pnc_zarr_facts_free(facts);
    pnc_error_add_context(error, "%s", z->format.file->path);
    return err;
}

/* --- arrays --- */

static void set_fill_of_array(const pnc_var *var, const pnc_zarr_array *a, pnc_chunk_array *out)
{
    for (int i = 0; i < out->elem_size && a->has_fill; i++)
        out->fill[i] = a->fill[var->little == PNC_HOST_IS_LITTLE ? i : out->elem_size - 1 - i];
    memcpy(out->beyond, out->fill, sizeof out->beyond);
}

/* Without chunks: its values cannot be read. */
static void init_refused(const pnc_var *var, const pnc_zarr_array *a, pnc_chunk_array *out)
{
    out->refusal = out->put_refusal = a->refusal;
    out->refusal_code = a->refusal_code != 0 ? a->refusal_code : NC_ENOTSUPPORT;
    out->shape = out->extent = var->netcdf4.shape;
    out->growing = 0;
}

static int fail_store(const pnc_zarr *z)
{
    return pnc_error_set(z->format.file->error, NC_ENOMEM, "%s: no memory for the storage of %d variables",
                         z->format.file->path, z->format.model->nvars);
}

static int init_array(pnc_zarr *z, pnc_var *var, const pnc_zarr_array *a, pnc_chunk_array *out, pnc_zarr_chunks *chunks)
{
    const pnc_model *model = z->format.model;
    int64_t bytes = (var->ndims + 1) * (int64_t)sizeof(int64_t);
    int64_t *shape = pnc_region_alloc(&z->facts.region, bytes), *extent = pnc_region_alloc(&z->facts.region, bytes);
    int64_t *along = pnc_region_alloc(&z->facts.region, bytes), *shard = pnc_region_alloc(&z->facts.region, bytes);

    if (shape == NULL || extent == NULL || along == NULL || shard == NULL)
        return fail_store(z);
    if (!pnc_formats_array_shape_choose(model, var, shape))
        return pnc_error_set(z->format.file->error, NC_EVARSIZE, "%s: variable \"%s\" has more than 2^62 bytes",
                             z->format.file->path, var->name);
    for (int d = 0; d < var->ndims; d++) {
        extent[d] = pnc_format_var_get_length(model, var, d);
        shard[d] = a->refusal == NULL && a->inner != NULL ? a->chunks[d] / a->inner[d] : 1;
    }
    *out = (pnc_chunk_array){.name = var->name,
                             .elem_size = (int)pnc_type_get_size(var->type),
                             .ndims = var->ndims,
                             .shape = shape,
                             .extent = extent,
                             .growing = pnc_formats_array_growing_find(model, var),
                             .put_refusal = pnc_filter_chain_find_refusal(&a->filters),
                             .chunk = a->inner != NULL ? a->inner : a->chunks,
                             .shard = a->inner != NULL ? shard : NULL,
                             .filters = a->filters};
    set_fill_of_array(var, a, out);
    var->netcdf4.shape = shape;
    *chunks = (pnc_zarr_chunks){var->name, a, along};
    if (a->refusal != NULL)
        init_refused(var, a, out);
    else
        (void)pnc_array_chunks_count(var->ndims, shape, out->chunk, along);
    return NC_NOERR;
}

/* A fixed dimension has a length of 0. What grows has records without values. */
static bool may_have_values(const pnc_var *var)
{
    return var->size != 0 || var->inner_unlimited || var->is_record;
}

int pnc_zarr_arrays_make(pnc_zarr *z)
{
    pnc_zarr_facts *facts = &z->facts;
    int nvars = z->format.model->nvars;

    facts->narrays = 0;
    facts->arrays = pnc_memory_alloc(nvars, sizeof *facts->arrays);
    facts->chunks = pnc_memory_alloc(nvars, sizeof *facts->chunks);
    facts->varids = pnc_memory_alloc(nvars, sizeof *facts->varids);
    if (facts->arrays == NULL || facts->chunks == NULL || facts->varids == NULL)
        return fail_store(z);
    for (int i = 0; i < nvars; i++) {
        pnc_var *var = z->format.model->vars[i];
        pnc_chunk_array *a = &facts->arrays[facts->narrays];

        var->netcdf4 = (pnc_netcdf4_var){.shape = var->shape};
        if (!may_have_values(var))
            continue;
        PNC_TRY(init_array(z, var, &facts->store.arrays[i], a, &facts->chunks[facts->narrays]));
        a->first = facts->narrays;
        a->varid = i;
        facts->varids[facts->narrays++] = i;
    }
    return NC_NOERR;
}
