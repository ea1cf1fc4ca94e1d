/* Reading without MPI: libhdf5 reads the metadata through a store of one process, as it does for the library. */
#include "formats/netcdf4/reader.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "array/walk.h"
#include "base/memory.h"
#include "base/minmax.h"
#include "format/strings.h"
#include "formats/netcdf4/array.h"
#include "formats/netcdf4/descriptor.h"
#include "formats/netcdf4/netcdf4.h"
#include "formats/netcdf4/plugins.h"

typedef struct netcdf4_reader {
    pnc_reader base;
    pnc_file file;
    pnc_netcdf4_descriptor store;
    pnc_netcdf4_metadata *metadata; /* NULL until it is needed */
    pnc_region region;              /* of storage and base.stored */
    pnc_netcdf4_storage *storage;   /* of each variable */
} netcdf4_reader;

/* --- opening --- */

/* Whether the file has the mark of metadata that are not complete. */
static int find_mark(pnc_file *file, int64_t size, bool *found, int64_t *superblock)
{
    int64_t n = pnc_min64(size, 64 * 1024);
    char *front = pnc_memory_alloc(n, 1);
    int err;

    if (front == NULL)
        return pnc_error_set(file->error, NC_ENOMEM, "%s: no memory to read metadata", file->path);
    err = pnc_file_range_read(file, (pnc_extent){0, n}, front);
    *found = err == NC_NOERR && pnc_netcdf4_redo_find(front, n, superblock);
    pnc_memory_free(front);
    return err;
}

static int check_completeness(netcdf4_reader *r)
{
    int64_t superblock;
    bool found;

    PNC_TRY(find_mark(&r->file, r->base.size, &found, &superblock));
    if (!found)
        return NC_NOERR;
    return pnc_error_set(r->file.error, NC_EINTERRUPTED,
                         "%s: a program has died while it wrote the metadata of this file: ncvalidator --repair "
                         "completes them",
                         r->base.path);
}

static int flush_descriptor(const pnc_netcdf4_descriptor *s, pnc_error *error)
{
    if (fsync(s->fd) == 0 || errno == EINVAL)
        return NC_NOERR;
    return pnc_error_set(error, NC_EWRITE, "%s: cannot be written: %s", s->path, strerror(errno));
}

/* The superblock becomes valid when the rest is on the disk. */
static int complete_marked(pnc_redo *redo, pnc_file *file)
{
    const pnc_netcdf4_descriptor *store = (const pnc_netcdf4_descriptor *)file->store;

    PNC_TRY(pnc_netcdf4_redo_write(redo, file));
    PNC_TRY(flush_descriptor(store, file->error));
    PNC_TRY(pnc_netcdf4_redo_finish(redo, file));
    return flush_descriptor(store, file->error);
}

static int repair_interrupted(int fd, const char *path, int64_t size, bool *was_interrupted, pnc_error *error)
{
    char *copy = pnc_string_copy(path);
    pnc_netcdf4_descriptor store;
    pnc_file file;
    pnc_redo redo;
    int64_t superblock;
    int err;

    *was_interrupted = false;
    if (copy == NULL)
        return pnc_error_set(error, NC_ENOMEM, "%s: no memory for its name", path);
    pnc_netcdf4_descriptor_init(&store, &file, fd, copy, error);
    err = find_mark(&file, size, was_interrupted, &superblock);
    if (err == NC_NOERR && *was_interrupted) {
        err = pnc_netcdf4_redo_load(&redo, &file, size, superblock);
        if (err == NC_NOERR) {
            err = complete_marked(&redo, &file);
            pnc_netcdf4_redo_free(&redo);
        }
    }
    pnc_memory_free(copy);
    return err;
}

static int open_descriptor(pnc_reader *base, int fd)
{
    netcdf4_reader *r = (netcdf4_reader *)base;

    pnc_netcdf4_descriptor_init(&r->store, &r->file, fd, base->path, base->error);
    return check_completeness(r);
}

static void close_descriptor(pnc_reader *base)
{
    netcdf4_reader *r = (netcdf4_reader *)base;

    pnc_netcdf4_metadata_close(r->metadata);
    pnc_region_free(&r->region);
}

static int need_metadata(netcdf4_reader *r)
{
    return r->metadata != NULL ? NC_NOERR : pnc_netcdf4_metadata_open(&r->file, r->base.size, false, &r->metadata);
}

static int describe_metadata(pnc_reader *base, char **bytes, int64_t *n)
{
    netcdf4_reader *r = (netcdf4_reader *)base;
    pnc_netcdf4_writer out = {0};
    int err = need_metadata(r);

    if (err == NC_NOERR)
        err = pnc_netcdf4_metadata_describe(r->metadata, PNC_NETCDF4_LISTED, 0, &out);
    if (err == NC_NOERR && out.failed)
        err = pnc_error_set(base->error, NC_ENOMEM, "%s: no memory to read metadata", base->path);
    *bytes = out.bytes;
    *n = out.n;
    return err;
}

static void make_stored(const pnc_var *var, const pnc_netcdf4_storage *s, pnc_stored *stored)
{
    *stored = (pnc_stored){.layout = s->layout == PNC_NETCDF4_STRINGS ? NC_UNKNOWN_STORAGE : var->storage->layout,
                           .address = s->address,
                           .nbytes = s->nbytes,
                           .is_alias = s->obstacle == PNC_NETCDF4_IS_ALIAS,
                           .has_fill = s->has_fill};
    memcpy(stored->fill, s->fill, sizeof stored->fill);
    pnc_netcdf4_array_init(var, s, &stored->array);
}

static int decode_description(pnc_reader *base, const char *bytes, int64_t n, pnc_model *model)
{
    netcdf4_reader *r = (netcdf4_reader *)base;

    PNC_TRY(pnc_netcdf4_description_decode(bytes, n, base->size, model, &r->region, &r->storage, base->error));
    PNC_TRY(pnc_netcdf4_properties_set(model, r->storage, base->error));
    base->stored = pnc_region_alloc(&r->region, (model->nvars + 1) * (int64_t)sizeof *base->stored);
    if (base->stored == NULL)
        return pnc_error_set(base->error, NC_ENOMEM, "no memory to read metadata");
    for (int i = 0; i < model->nvars; i++)
        make_stored(model->vars[i], &r->storage[i], &base->stored[i]);
    return NC_NOERR;
}

/* --- what is asked about a file --- */

static int find_indexed_chunk(pnc_reader *base, int varid, const int64_t *index, pnc_chunk_place *out)
{
    netcdf4_reader *r = (netcdf4_reader *)base;

    PNC_TRY(need_metadata(r));
    return pnc_netcdf4_metadata_find_chunk(r->metadata, r->storage[varid].path, index, base->model->vars[varid]->ndims,
                                           out);
}

static int read_range_of_file(pnc_reader *base, int varid, const int64_t *index, const pnc_chunk_place *place, void *to)
{
    netcdf4_reader *r = (netcdf4_reader *)base;

    (void)varid, (void)index;
    return pnc_file_range_read(&r->file, (pnc_extent){place->offset, place->bytes}, to);
}

static bool is_classic_model(pnc_reader *base)
{
    netcdf4_reader *r = (netcdf4_reader *)base;

    return need_metadata(r) == NC_NOERR && pnc_netcdf4_metadata_is_classic(r->metadata);
}

static bool get_hidden_text(pnc_reader *base, const char *name, char *out, size_t capacity)
{
    netcdf4_reader *r = (netcdf4_reader *)base;

    return need_metadata(r) == NC_NOERR && pnc_netcdf4_metadata_get_text(r->metadata, name, out, capacity);
}

/* --- strings --- */

/* Put those of the extent, one behind the other, at their positions among all; others are fill values. */
static void place_strings(int ndims, const pnc_array_slab *slab, pnc_reader_strings *from, pnc_reader_strings *to)
{
    pnc_box_run run;
    pnc_box box;

    pnc_formats_box_find(ndims, slab->count, slab, &box);
    run = pnc_array_run_begin(&box);
    do
        for (int64_t i = 0; i < box.run; i++) {
            pnc_memory_free(to->at[run.value + i]);
            to->at[run.value + i] = from->at[run.at + i];
            from->at[run.at + i] = NULL;
        }
    while (pnc_array_run_next(&box, &run));
}

static int read_string_values(pnc_reader *base, int varid, const int64_t *start, const int64_t *count,
                              pnc_reader_strings *out)
{
    netcdf4_reader *r = (netcdf4_reader *)base;
    const pnc_chunk_array *a = &base->stored[varid].array;
    static const int64_t begin[PNC_ARRAY_DIMS];
    int64_t inside[PNC_ARRAY_DIMS];
    const pnc_array_slab slab = {.start = begin, .count = inside, .values = count};
    pnc_reader_strings found;
    int64_t has;
    int err;

    *out = (pnc_reader_strings){.n = pnc_array_elements_count(a->ndims, count)};
    PNC_TRY(need_metadata(r));
    out->at = pnc_memory_alloc_zeroed(out->n + 1, sizeof *out->at);
    has = pnc_formats_count_clip(a, start, count, inside);
    if (out->at == NULL || (has < out->n && !pnc_format_strings_fill(base->model->vars[varid], out->n, out->at)))
        return pnc_error_set(base->error, NC_ENOMEM, "%s: no memory for strings", base->path);
    if (has == 0)
        return NC_NOERR;
    err = pnc_netcdf4_metadata_read_strings(r->metadata, r->storage[varid].path, a->ndims, start, inside, &found);
    if (err == NC_NOERR)
        place_strings(a->ndims, &slab, &found, out);
    pnc_formats_strings_free(&found);
    return err;
}

const pnc_reader_ops pnc_netcdf4_reader = {.name = "netCDF-4",
                                           .bytes = sizeof(netcdf4_reader),
                                           .is_format = pnc_netcdf4_front_is_known,
                                           .repair = repair_interrupted,
                                           .open = open_descriptor,
                                           .close = close_descriptor,
                                           .load = describe_metadata,
                                           .adopt = decode_description,
                                           .find_chunk = find_indexed_chunk,
                                           .read = read_range_of_file,
                                           .read_strings = read_string_values,
                                           .is_classic = is_classic_model,
                                           .get_text = get_hidden_text,
                                           .get_codecs = pnc_netcdf4_codecs_get};
