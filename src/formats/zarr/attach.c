/* The store of chunks in front of the folder. */
#include "base/memory.h"
#include "base/minmax.h"
#include "file/agree.h"
#include "formats/arrays.h"
#include "formats/zarr/zarr.h"
#include "host/codecs.h"

void pnc_zarr_facts_extend(pnc_zarr *z)
{
    for (int64_t i = 0; i < z->facts.narrays; i++) {
        const pnc_var *var = z->format.model->vars[z->facts.varids[i]];
        int64_t *extent = (int64_t *)z->facts.arrays[i].extent;

        for (int d = 0; d < var->ndims && z->facts.arrays[i].chunk != NULL; d++)
            extent[d] = pnc_max64(extent[d], pnc_format_var_get_length(z->format.model, var, d));
    }
    if (z->has_chunks)
        pnc_chunks_store_update(z->format.file->store);
}

/* --- the store of chunks --- */

static int fail_attach(const pnc_zarr *z)
{
    return pnc_error_set(z->format.file->error, NC_ENOMEM, "%s: no memory for the store of its chunks",
                         z->format.file->path);
}

/* Also whether the store may be written. */
static int agree_rounds(void *own, bool *more, pnc_error *error)
{
    pnc_zarr *z = own;
    const pnc_file *file = z->format.file;
    int err = file->rank == 0 ? pnc_zarr_seen_check(z) : NC_NOERR;
    int64_t most[] = {*more, -err}; /* codes are negative */
    int code = MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_INT64_T, MPI_MAX, file->comm);

    *more = most[0] != 0;
    if (code != MPI_SUCCESS)
        return pnc_error_set(error, NC_EMPI, "MPI_Allreduce of the rounds failed");
    if (most[1] == 0 || err != NC_NOERR)
        return err;
    return pnc_error_set_remote(error, (int)-most[1], "%s: rank 0 has not found the store as it was", file->path);
}

static int create_store(pnc_zarr *z, pnc_chunk_source *source)
{
    pnc_file *file = z->format.file;
    pnc_store *store;

    source->narrays = z->facts.narrays;
    source->arrays = z->facts.arrays;
    source->container = pnc_zarr_container_create(z->objects, z->id, z->facts.chunks,
                                                  z->format.file->read_only ? NULL : agree_rounds, z);
    if (source->container == NULL)
        return fail_attach(z);
    store = pnc_chunks_store_create(file->store, source);
    if (store == NULL) {
        source->container->ops->free(source->container);
        return fail_attach(z);
    }
    file->store = store;
    z->has_chunks = true;
    return NC_NOERR;
}

int pnc_zarr_store_attach(pnc_zarr *z)
{
    pnc_file *file = z->format.file;
    int nidle = file->nodes->nidle;
    pnc_chunk_source source = {.cache_bytes = z->format.hints->chunk_cache,
                               .codecs = &z->codecs,
                               .nthreads = pnc_formats_threads_count(z->format.hints, nidle),
                               .nbehind = pnc_formats_threads_behind_count(z->format.hints, nidle),
                               .is_writable = !file->read_only,
                               .own = z};

    z->codecs = *pnc_host_codecs_get();
    if (source.is_writable && file->nprocs > 1) {
        source.spill_folder = pnc_formats_spill_folder_find(file, &z->facts.region);
        if (source.spill_folder == NULL)
            return fail_attach(z);
    }
    PNC_TRY(pnc_zarr_arrays_make(z));
    return create_store(z, &source);
}

void pnc_zarr_store_detach(pnc_zarr *z)
{
    if (!z->has_chunks)
        return;
    z->format.file->store = pnc_chunks_store_detach(z->format.file->store);
    z->has_chunks = false;
}

pnc_container *pnc_zarr_container_get(const pnc_zarr *z)
{
    return pnc_chunks_store_get_container(z->format.file->store);
}
