/* Definitions of a Zarr store: rank 0 makes the documents of its model, from which all ranks have it. */
#include <string.h>

#include "base/memory.h"
#include "base/minmax.h"
#include "file/agree.h"
#include "file/writer.h"
#include "format/storage.h"
#include "formats/arrays.h"
#include "formats/definitions.h"
#include "formats/zarr/zarr.h"

int pnc_zarr_model_create(pnc_format *f, int version)
{
    pnc_zarr *z = pnc_zarr_state_get(f);

    z->objects = pnc_store_get_objects(f->file->store);
    if (f->file->rank == 0)
        PNC_TRY(pnc_file_writer_begin(f->file, f->file->path));
    z->id = pnc_objects_id_create(); /* that of rank 0 counts, which it broadcasts with documents */
    pnc_format_model_init_rules(f->model, version == PNC_VERSION_ZARR ? NC_FORMAT_NETCDF4 : NC_FORMAT_NETCDF4_CLASSIC,
                                &pnc_zarr_rules);
    f->model->little = PNC_HOST_IS_LITTLE;
    return NC_NOERR;
}

/* --- new definitions --- */

#define SHARD_CHUNKS_MOST 4096 /* an index of 64 KiB, which each flush writes. A guess */

/* The lengths of a shard: as many chunks as it may have, those that vary fastest first, and along a dimension parts of
 * nearly the same length. false: one chunk. */
static bool choose_shard(const pnc_format *f, const pnc_var *var, int64_t *shard)
{
    int64_t bytes = pnc_type_get_size(var->type), left, some;
    const int64_t *chunks = var->storage->chunks;
    bool has_several = false;

    for (int d = 0; d < var->ndims; d++)
        bytes *= chunks[d];
    left = pnc_min64(f->hints->shards / bytes, SHARD_CHUNKS_MOST);
    for (int d = var->ndims - 1; d >= 0; d--) {
        const pnc_dim *dim = f->model->dims[var->dimids[d]];
        int64_t along = dim->unlimited ? INT64_MAX : pnc_max64(1, (dim->len - 1) / chunks[d] + 1);

        some = pnc_max64(1, pnc_min64(along, left));
        if (some < along && !dim->unlimited)
            some = (along - 1) / ((along - 1) / some + 1) + 1;
        shard[d] = some * chunks[d];
        has_several = has_several || some > 1;
        left = some < along ? 1 : left / some;
    }
    return has_several;
}

/* Where the program has not. */
static int choose_all_shards(pnc_format *f, int varid)
{
    int64_t shard[PNC_STORAGE_DIMS_MOST];

    for (int i = varid; i < f->model->nvars; i++) {
        pnc_var *var = f->model->vars[i];

        if (!var->storage->chosen_shards && var->ndims > 0 && choose_shard(f, var, shard))
            PNC_TRY(pnc_format_storage_set_shards(f->model, var, shard, f->file->error));
    }
    return NC_NOERR;
}

/* Each variable has chunks. */
static int choose_all_chunks(pnc_zarr *z, int varid)
{
    pnc_format *f = &z->format;

    for (int i = varid; i < f->model->nvars; i++) {
        pnc_var *var = f->model->vars[i];

        if (var->ndims > 0 && var->storage->layout != NC_CHUNKED)
            PNC_TRY(pnc_format_storage_set_layout(f->model, var, NC_CHUNKED, NULL, f->file->error));
    }
    PNC_TRY(pnc_formats_chunks_choose(f->model, varid, f->file->error));
    return choose_all_shards(f, varid);
}

/* Definitions that others replace until the store has those, or cannot get them. */
typedef struct old_definitions {
    pnc_model model;
    pnc_zarr_facts facts;
    pnc_store *store; /* that of their chunks; NULL: none */
    bool exist;
} old_definitions;

static void install_new(pnc_zarr *z, pnc_model *model, pnc_zarr_facts *facts, old_definitions *old)
{
    pnc_file *file = z->format.file;

    for (int i = 0; i < model->nvars && i < z->format.model->nvars; i++) /* no document has it */
        model->vars[i]->no_fill = z->format.model->vars[i]->no_fill;
    pnc_formats_definitions_adopt(&z->format, model);
    old->model = *z->format.model;
    old->facts = z->facts;
    old->store = z->has_chunks ? file->store : NULL;
    old->exist = true;
    if (z->has_chunks)
        file->store = file->store->inner;
    z->has_chunks = false;
    *z->format.model = *model;
    z->facts = *facts;
}

static void put_back_old(pnc_zarr *z, old_definitions *old)
{
    if (!old->exist)
        return;
    pnc_zarr_store_detach(z);
    pnc_format_model_free(z->format.model);
    pnc_zarr_facts_free(&z->facts);
    *z->format.model = old->model;
    z->facts = old->facts;
    z->has_chunks = old->store != NULL;
    if (z->has_chunks)
        z->format.file->store = old->store;
    z->format.overruled = false;
}

static void forget_old(pnc_zarr *z, old_definitions *old)
{
    if (old->store != NULL)
        (void)pnc_chunks_store_detach(old->store);
    pnc_format_model_free(&old->model);
    pnc_formats_before_free(&z->format);
    pnc_zarr_facts_free(&old->facts);
}

/* The documents for a broadcast: that of the root has all, unless a store of version 2 has none of that kind. */
static int join_made(pnc_zarr *z, const pnc_zarr_documents *documents, pnc_format_bytes *found)
{
    int64_t n = documents->n;
    const pnc_zarr_document *root = &documents->at[n - 1];

    return pnc_zarr_root_is_consolidated(pnc_host_json_get(), root)
               ? pnc_zarr_documents_join(z, root, 1, found)
               : pnc_zarr_documents_join(z, documents->at, n, found);
}

/* Until the store is closed: groups of a store that had none are listed. */
static pnc_zarr_groups choose_groups(const pnc_zarr *z)
{
    return z->format.is_new || z->facts.store.ngroups <= 1 ? PNC_ZARR_GROUPS_LISTED : z->facts.groups;
}

/* Every rank decodes what rank 0 will write, also rank 0. Collective; err is the result so far of this rank. */
static int share_documents(pnc_zarr *z, const pnc_zarr_documents *documents, old_definitions *old, int err)
{
    pnc_format_bytes found = {.at = NULL};
    pnc_format_message message = {.n = 0};
    pnc_zarr_facts facts;
    pnc_model model;

    if (err == NC_NOERR && z->format.file->rank == 0)
        err = join_made(z, documents, &found);
    if (z->format.file->nprocs > 1) {
        err = pnc_formats_message_broadcast(&z->format, &found, &message, err);
        if (message.error.code == NC_NOERR)
            err = pnc_formats_rest_broadcast(&z->format, &message, &found, err);
    }
    if (err == NC_NOERR)
        err = pnc_zarr_bytes_take(z, &found, &message);
    if (err == NC_NOERR)
        err = pnc_zarr_facts_decode(z, &found, choose_groups(z), &model, &facts);
    pnc_memory_free(found.at);
    if (err == NC_NOERR) {
        install_new(z, &model, &facts, old);
        err = pnc_zarr_store_attach(z);
    }
    return pnc_file_status_agree(z->format.file, err);
}

/* Make the store that of the model of rank 0; all ranks have its definitions then. Collective; err as above. */
static int apply_documents(pnc_zarr *z, int err)
{
    pnc_file *file = z->format.file;
    pnc_zarr_documents documents = {.n = 0};
    old_definitions old = {.exist = false};

    PNC_TRY(pnc_file_status_agree(file, err));
    if (file->rank == 0)
        err = pnc_zarr_documents_make(z, &documents);
    err = pnc_file_status_broadcast(file, err);
    if (err == NC_NOERR)
        err = share_documents(z, &documents, &old, err);
    if (err == NC_NOERR) {
        if (file->rank == 0)
            err = pnc_zarr_documents_write(z, &documents);
        err = pnc_file_status_broadcast(file, err);
        z->is_unfinished = err != NC_NOERR && err != NC_ESTALE && !z->format.is_new;
    }
    if (err == NC_NOERR)
        forget_old(z, &old);
    else
        put_back_old(z, &old);
    pnc_zarr_documents_free(&documents);
    return err;
}

/* --- operations --- */

/* Chunks that are not complete are written before definitions change. */
int pnc_zarr_definitions_begin(pnc_format *f, int err)
{
    PNC_TRY(pnc_zarr_chunks_flush(f, err, NULL));
    f->before->numrecs = f->model->numrecs;
    for (int i = 0; i < f->model->ndims; i++)
        f->before->dims[i]->length = f->model->dims[i]->length;
    return NC_NOERR;
}

int pnc_zarr_definitions_end(pnc_format *f, pnc_layout_hints *hints, int err)
{
    pnc_zarr *z = pnc_zarr_state_get(f);

    (void)hints;
    if (err == NC_NOERR)
        err = choose_all_chunks(z, f->before == NULL ? 0 : f->before->nvars);
    PNC_TRY(apply_documents(z, err));
    f->is_new = false;
    return NC_NOERR;
}

int pnc_zarr_change_execute(pnc_format *f, const pnc_format_change *change)
{
    int err = pnc_zarr_chunks_flush(f, NC_NOERR, NULL);

    if (err == NC_NOERR)
        err = pnc_formats_before_keep(f);
    if (err == NC_NOERR)
        err = pnc_formats_change_apply(f, change);
    err = apply_documents(pnc_zarr_state_get(f), err);
    if (err != NC_NOERR)
        pnc_formats_before_restore(f);
    return err;
}
