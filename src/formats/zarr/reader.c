/* Reading a store without MPI: by its documents and its container, as the library does. */
#include "formats/zarr/reader.h"

#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "drivers/folder/folder.h"
#include "drivers/kerchunk/kerchunk.h"
#include "formats/zarr/strays.h"
#include "formats/zarr/zarr.h"
#include "host/codecs.h"

typedef struct zarr_reader {
    pnc_reader base;
    pnc_file file;
    pnc_folder folder;
    pnc_kerchunk references; /* or these */
    pnc_format_hints hints;
    pnc_zarr zarr;
    pnc_container *container;
    int64_t *numbers; /* of the array of each variable; -1: it has none */
    pnc_region region;
} zarr_reader;

static zarr_reader *zarr_reader_of(pnc_reader *base)
{
    return (zarr_reader *)base;
}

static bool is_store_folder(int fd)
{
    return pnc_folder_root_find(fd) != NULL;
}

/* The descriptor is the caller's, who may close it while the reader is open. */
static int open_store_folder(pnc_reader *base, int fd)
{
    zarr_reader *r = zarr_reader_of(base);
    struct stat facts;

    r->file = (pnc_file){.path = base->path, .error = base->error, .nprocs = 1, .read_only = true};
    r->folder.fd = -1;
    r->hints.groups = 1; /* listed, as the metadata of netCDF-4 files */
    r->zarr.format.hints = &r->hints;
    r->zarr.format.file = &r->file;
    if (fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode)) {
        r->zarr.objects = &r->references.objects;
        return pnc_kerchunk_file_open(&r->references, base->path, base->error);
    }
    r->zarr.objects = &r->folder.objects;
    return pnc_folder_root_open(&r->folder, base->path, base->error);
}

static void close_store_folder(pnc_reader *base)
{
    zarr_reader *r = zarr_reader_of(base);

    if (r->container != NULL)
        r->container->ops->free(r->container);
    pnc_zarr_documents_free(&r->zarr.documents);
    pnc_zarr_facts_free(&r->zarr.facts);
    pnc_region_free(&r->region);
    pnc_folder_root_close(&r->folder);
    pnc_kerchunk_references_free(&r->references);
}

static int load_documents_of_store(pnc_reader *base, char **bytes, int64_t *n)
{
    zarr_reader *r = zarr_reader_of(base);
    pnc_format_bytes joined = {.n = 0};
    int err = pnc_zarr_documents_load(&r->zarr, &r->zarr.documents);

    if (err == NC_NOERR)
        err = pnc_zarr_documents_join(&r->zarr, r->zarr.documents.at, r->zarr.documents.n, &joined);
    if (err != NC_NOERR)
        pnc_error_add_context(base->error, "%s", base->path);
    *bytes = joined.at;
    *n = joined.n;
    return err;
}

/* A variable without values has no array. */
static pnc_stored make_empty(const pnc_var *var)
{
    return (pnc_stored){.layout = NC_CONTIGUOUS,
                        .address = -1,
                        .array = {.name = var->name,
                                  .elem_size = (int)pnc_type_get_size(var->type),
                                  .ndims = var->ndims,
                                  .shape = var->shape,
                                  .extent = var->shape}};
}

static void make_stored_array(zarr_reader *r, int64_t number)
{
    const pnc_zarr_facts *facts = &r->zarr.facts;
    int varid = facts->varids[number];
    const pnc_zarr_array *a = &facts->store.arrays[varid];
    pnc_stored *stored = &r->base.stored[varid];

    r->numbers[varid] = number;
    *stored = (pnc_stored){.layout = a->refusal != NULL ? NC_UNKNOWN_STORAGE : NC_CHUNKED,
                           .address = -1,
                           .has_fill = a->has_fill,
                           .array = facts->arrays[number]};
    memcpy(stored->fill, a->fill, sizeof stored->fill);
}

static int make_all_stored(zarr_reader *r, const pnc_model *model)
{
    int64_t n = model->nvars + 1;

    r->base.stored = pnc_region_alloc(&r->region, n * (int64_t)sizeof *r->base.stored);
    r->numbers = pnc_region_alloc(&r->region, n * (int64_t)sizeof *r->numbers);
    if (r->base.stored == NULL || r->numbers == NULL)
        return pnc_error_set(r->base.error, NC_ENOMEM, "no memory to read metadata");
    for (int i = 0; i < model->nvars; i++) {
        r->numbers[i] = -1;
        r->base.stored[i] = make_empty(model->vars[i]);
    }
    for (int64_t i = 0; i < r->zarr.facts.narrays; i++)
        make_stored_array(r, i);
    return NC_NOERR;
}

static int adopt_documents(pnc_reader *base, const char *bytes, int64_t n, pnc_model *model)
{
    zarr_reader *r = zarr_reader_of(base);
    const pnc_format_bytes joined = {.at = (char *)(uintptr_t)bytes, .n = n};

    r->zarr.format.model = model;
    PNC_TRY(
        pnc_zarr_facts_decode(&r->zarr, &joined, (pnc_zarr_groups)r->zarr.format.hints->groups, model, &r->zarr.facts));
    PNC_TRY(pnc_zarr_arrays_make(&r->zarr));
    PNC_TRY(make_all_stored(r, model));
    r->container = pnc_zarr_container_create(r->zarr.objects, 0, r->zarr.facts.chunks, NULL, NULL);
    return r->container != NULL ? NC_NOERR : pnc_error_set(base->error, NC_ENOMEM, "no memory to read metadata");
}

static pnc_chunk_item locate_item(const zarr_reader *r, int varid, const int64_t *index)
{
    int64_t array = r->numbers[varid], number = 0;
    const pnc_chunk_array *a = &r->zarr.facts.arrays[array];

    for (int d = 0; d < a->ndims; d++)
        number = number * r->zarr.facts.chunks[array].along[d] + index[d] / a->chunk[d];
    return (pnc_chunk_item){array, number, 0, NULL};
}

static int find_chunk_of_store(pnc_reader *base, int varid, const int64_t *index, pnc_chunk_place *out)
{
    zarr_reader *r = zarr_reader_of(base);
    const pnc_chunk_item item = locate_item(r, varid, index);

    return r->container->ops->find(r->container, &item, index, out, base->error);
}

static int read_chunk_of_store(pnc_reader *base, int varid, const int64_t *index, const pnc_chunk_place *place,
                               void *to)
{
    zarr_reader *r = zarr_reader_of(base);
    const pnc_chunk_item item = locate_item(r, varid, index);

    return r->container->ops->read(r->container, &item, place, to, base->error);
}

/* --- what programs have left that died --- */

static int complete_store(int fd, const char *path, int64_t size, bool *was_interrupted, pnc_error *error)
{
    struct stat facts;
    pnc_folder folder;
    int err;

    (void)size;
    *was_interrupted = false;
    if (fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode)) /* references */
        return NC_NOERR;
    PNC_TRY(pnc_folder_root_open(&folder, path, error));
    err = pnc_zarr_log_execute(&folder.objects, was_interrupted, error);
    pnc_folder_root_close(&folder);
    return err;
}

typedef struct stray_list {
    const pnc_objects *objects;
    bool deletes;
    pnc_reader_stray *each;
    void *own;
} stray_list;

static int pass_stray(void *own, const char *key, bool is_folder, const char *why, pnc_error *error)
{
    const stray_list *list = own;

    if (list->deletes && is_folder)
        PNC_TRY(list->objects->ops->remove_folder(list->objects, key, error));
    else if (list->deletes)
        PNC_TRY(list->objects->ops->remove(list->objects, key, error));
    list->each(list->own, key, why);
    return NC_NOERR;
}

static int find_strays_of_store(pnc_reader *base, bool deletes, pnc_reader_stray *each, void *own)
{
    zarr_reader *r = zarr_reader_of(base);
    stray_list list = {r->zarr.objects, deletes, each, own};
    int64_t size = -1;

    if (r->zarr.objects != &r->folder.objects) /* the files of references may have anything else */
        return NC_NOERR;
    if (!deletes) /* else they were made before */
        PNC_TRY(r->zarr.objects->ops->find(r->zarr.objects, PNC_ZARR_LOG, &size, base->error));
    if (size >= 0) { /* it may name objects that belong to nothing else */
        each(own, PNC_ZARR_LOG, "is the log of changes that a program has begun, and not ended: --repair makes them");
        return NC_NOERR;
    }
    return pnc_zarr_strays_find(r->zarr.objects, &r->zarr.facts.store, &list, pass_stray, base->error);
}

/* --- what stores do not have --- */

static int read_no_strings(pnc_reader *base, int varid, const int64_t *start, const int64_t *count,
                           pnc_reader_strings *out)
{
    (void)varid, (void)start, (void)count;
    *out = (pnc_reader_strings){0};
    return pnc_error_set(base->error, NC_EBADTYPE, "%s: a Zarr store has no strings that this library reads",
                         base->path);
}

static bool has_no_classic_model(pnc_reader *base)
{
    (void)base;
    return false;
}

static bool get_no_text(pnc_reader *base, const char *name, char *out, size_t capacity)
{
    (void)base, (void)name, (void)out, (void)capacity;
    return false;
}

static pnc_codecs get_host_codecs(void)
{
    return *pnc_host_codecs_get();
}

const pnc_reader_ops pnc_zarr_reader = {.name = "Zarr",
                                        .bytes = sizeof(zarr_reader),
                                        .has_objects = true,
                                        .is_format = pnc_kerchunk_front_is_json,
                                        .is_folder = is_store_folder,
                                        .repair = complete_store,
                                        .open = open_store_folder,
                                        .close = close_store_folder,
                                        .load = load_documents_of_store,
                                        .adopt = adopt_documents,
                                        .find_chunk = find_chunk_of_store,
                                        .read = read_chunk_of_store,
                                        .read_strings = read_no_strings,
                                        .is_classic = has_no_classic_model,
                                        .get_text = get_no_text,
                                        .get_codecs = get_host_codecs,
                                        .find_strays = find_strays_of_store};
