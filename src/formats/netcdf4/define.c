/* Definitions of a netCDF-4 file: rank 0 makes the file that of its model, and describes it to all ranks. */
#include <string.h>

#include "base/memory.h"
#include "file/agree.h"
#include "file/log.h"
#include "file/writer.h"
#include "format/storage.h"
#include "formats/arrays.h"
#include "formats/definitions.h"
#include "formats/netcdf4/netcdf4.h"

/* --- the model --- */

/* Rank 0 finds whether there is a libhdf5. */
int pnc_netcdf4_model_create(pnc_format *f, int version)
{
    pnc_netcdf4 *n = pnc_netcdf4_state_get(f);
    const char *path = f->file->store->full_path;

    pnc_format_model_init_rules(f->model, version, pnc_netcdf4_rules_get(version));
    if (f->asked != 0)
        f->model->rules = pnc_netcdf4_rules_get_asked(f->asked);
    f->model->little = PNC_HOST_IS_LITTLE;
    if (f->file->rank != 0)
        return NC_NOERR;
    PNC_TRY(pnc_file_writer_begin(f->file, path != NULL ? path : f->file->path));
    return pnc_netcdf4_metadata_create(f->file, version, &n->metadata);
}

/* --- the description of a model --- */

/* What only rank 0 knows of the variables. */
typedef struct defined_vars {
    pnc_region region;
    const char **paths;
    int64_t *addresses;
    pnc_filter_chain *filters; /* of new variables for which libhdf5 chooses their parameters; others have none */
} defined_vars;

static pnc_netcdf4_layout find_layout(const pnc_netcdf4 *n, int varid)
{
    const pnc_var *var = n->format.model->vars[varid];

    if (n->format.before != NULL && varid < n->format.before->nvars)
        return n->content.storage[varid].layout;
    if (var->type == NC_STRING)
        return PNC_NETCDF4_STRINGS;
    switch (var->storage->layout) {
    case NC_CHUNKED: return PNC_NETCDF4_CHUNKED;
    case NC_COMPACT: return PNC_NETCDF4_COMPACT;
    default: return PNC_NETCDF4_CONTIGUOUS;
    }
}

static void get_fill(const pnc_model *model, const pnc_var *var, unsigned char *out)
{
    unsigned char value[8] = {0};
    int size = (int)pnc_type_get_size(var->type);

    pnc_format_var_get_fill_value(model, var, value);
    for (int i = 0; i < size; i++)
        out[i] = value[var->little == PNC_HOST_IS_LITTLE ? i : size - 1 - i];
}

/* As libhdf5 has them: shuffle has the size of an element. */
static pnc_filter_chain complete_filters(const pnc_var *var, pnc_filter *filters, const uint32_t *elem_size)
{
    for (int i = 0; i < var->storage->nfilters; i++) {
        filters[i] = var->storage->filters[i];
        if (filters[i].id != PNC_FILTER_SHUFFLE)
            continue;
        filters[i].nparameters = 1;
        filters[i].parameters = elem_size;
    }
    return (pnc_filter_chain){var->storage->nfilters, filters};
}

/* The values of a new compact variable, in the byte order of the file. NULL without memory. */
static unsigned char *make_compact_values(const pnc_model *model, const pnc_var *var, pnc_region *region)
{
    int64_t size = pnc_type_get_size(var->type);
    unsigned char value[8], *values = pnc_region_alloc(region, var->size);

    pnc_format_var_get_fill_value(model, var, value);
    for (int64_t i = 0; values != NULL && i < var->size; i += size)
        memcpy(values + i, value, (size_t)size);
    return values;
}

/* Storage of an existing variable is that of the file; its path may be another one. */
static void describe_storage(const pnc_netcdf4 *n, int varid, defined_vars *d, pnc_netcdf4_writer *out)
{
    const pnc_model *model = n->format.model;
    const pnc_var *var = model->vars[varid];
    pnc_netcdf4_storage s = {.address = -1};
    const uint32_t elem_size = (uint32_t)pnc_type_get_size(var->type);
    pnc_filter filters[PNC_FILTER_MOST];
    int64_t extent[PNC_STORAGE_DIMS_MOST];

    if (n->format.before != NULL && varid < n->format.before->nvars) {
        s = n->content.storage[varid];
    } else {
        for (int i = 0; i < var->ndims; i++)
            extent[i] = pnc_format_var_get_length(model, var, i);
        s.extent = extent;
        s.chunk = var->storage->layout == NC_CHUNKED ? var->storage->chunks : NULL;
        s.filters = d->filters[varid];
        if (s.filters.filters == NULL)
            s.filters = complete_filters(var, filters, &elem_size);
        s.has_fill = !var->storage->no_fill_value;
        if (s.has_fill)
            get_fill(model, var, s.fill);
        if (find_layout(n, varid) == PNC_NETCDF4_COMPACT) {
            s.bytes = make_compact_values(model, var, &d->region);
            s.nbytes = var->size;
            out->failed = out->failed || s.bytes == NULL;
        }
    }
    s.layout = find_layout(n, varid);
    s.is_big_endian = !var->little;
    s.no_fill = var->no_fill;
    s.path = d->paths[varid];
    s.address = d->addresses[varid];
    s.nplaces = 0;
    pnc_netcdf4_storage_write(out, &s, var->ndims);
}

static void describe_atts(const pnc_atts *atts, pnc_netcdf4_writer *out)
{
    pnc_netcdf4_count_write(out, atts->n);
    for (int i = 0; i < atts->n; i++)
        pnc_netcdf4_att_write(out, atts->at[i]->name, atts->at[i]);
}

static int describe_model(const pnc_netcdf4 *n, defined_vars *d, pnc_netcdf4_writer *out)
{
    const pnc_model *model = n->format.model;

    pnc_netcdf4_head_write(out, model->format, model->ndims, model->nvars, &model->groups);
    for (int i = 0; i < model->ndims; i++)
        pnc_netcdf4_dim_write(out, model->dims[i]->name, pnc_format_dim_get_length(model, i),
                              model->dims[i]->unlimited);
    describe_atts(&model->gatts, out);
    for (int i = 0; i < model->nvars; i++) {
        const pnc_var *var = model->vars[i];
        int64_t dimids[PNC_STORAGE_DIMS_MOST];

        for (int k = 0; k < var->ndims; k++)
            dimids[k] = var->dimids[k];
        pnc_netcdf4_var_write(out, var->name, var->type, var->ndims, dimids);
        describe_atts(&var->atts, out);
        describe_storage(n, i, d, out);
    }
    return out->failed ? pnc_formats_memory_fail(&n->format, out->n) : NC_NOERR;
}

/* --- rank 0 --- */

static int allocate_vars(pnc_netcdf4 *n, defined_vars *d)
{
    int nvars = n->format.model->nvars;

    d->paths = pnc_memory_alloc_zeroed(nvars, sizeof *d->paths);
    d->addresses = pnc_memory_alloc(nvars, sizeof *d->addresses);
    d->filters = pnc_memory_alloc_zeroed(nvars, sizeof *d->filters);
    if (d->paths == NULL || d->addresses == NULL || d->filters == NULL)
        return pnc_formats_memory_fail(&n->format, nvars * 32);
    for (int i = 0; n->format.before != NULL && i < n->format.before->nvars; i++)
        d->paths[i] = n->content.storage[i].path;
    return NC_NOERR;
}

/* szip, lzf and plugins choose parameters when libhdf5 creates a dataset. */
static bool has_chosen_parameters(const pnc_storage *s)
{
    bool has = false;

    for (int i = 0; i < s->nfilters && !has; i++) {
        int id = s->filters[i].id;

        has = id == PNC_FILTER_SZIP || id == PNC_FILTER_LZF || !pnc_filter_is_own(id);
    }
    return has;
}

static int read_new_filters(pnc_netcdf4 *n, defined_vars *d)
{
    for (int i = n->format.before != NULL ? n->format.before->nvars : 0; i < n->format.model->nvars; i++) {
        if (has_chosen_parameters(n->format.model->vars[i]->storage))
            PNC_TRY(pnc_netcdf4_metadata_read_filters(n->metadata, d->paths[i], &d->region, &d->filters[i]));
    }
    return NC_NOERR;
}

static int define_on_root(pnc_netcdf4 *n, defined_vars *d)
{
    const pnc_model *model = n->format.model;

    PNC_TRY(allocate_vars(n, d));
    if (n->metadata == NULL && n->format.is_new)
        PNC_TRY(pnc_netcdf4_metadata_create(n->format.file, model->format, &n->metadata));
    PNC_TRY(pnc_netcdf4_handle_get(n));
    pnc_netcdf4_metadata_raise_end(n->metadata, n->end);
    PNC_TRY(pnc_netcdf4_metadata_define(n->metadata, n->format.before, model, &d->region, d->paths));
    for (int i = 0; i < model->nvars; i++) {
        d->addresses[i] = -1;
        if (find_layout(n, i) == PNC_NETCDF4_CONTIGUOUS)
            PNC_TRY(pnc_netcdf4_metadata_get_address(n->metadata, d->paths[i], &d->addresses[i]));
    }
    return read_new_filters(n, d);
}

/* --- all ranks --- */

/* Fill modes, which are not in the file, are those of rank 0. */
static void adopt_fill_modes(const pnc_netcdf4_content *content, pnc_model *model)
{
    for (int i = 0; i < model->nvars; i++)
        model->vars[i]->no_fill = content->storage[i].no_fill;
}

/* Definitions that others replace until the file has those, or cannot get them. */
typedef struct replaced_definitions {
    pnc_model model;
    pnc_netcdf4_content content;
    pnc_store *store; /* that of their chunks; NULL: none */
    int64_t end;
    bool exist;
} replaced_definitions;

static void install_definitions(pnc_netcdf4 *n, pnc_model *model, pnc_netcdf4_content *content,
                                replaced_definitions *old)
{
    pnc_file *file = n->format.file;

    adopt_fill_modes(content, model);
    pnc_formats_definitions_adopt(&n->format, model);
    old->model = *n->format.model;
    old->content = n->content;
    old->store = n->has_chunks ? file->store : NULL;
    old->exist = true;
    if (n->has_chunks)
        file->store = file->store->inner;
    n->has_chunks = false;
    *n->format.model = *model;
    n->content = *content;
}

static void put_back_definitions(pnc_netcdf4 *n, replaced_definitions *old)
{
    n->end = old->end;
    if (!old->exist)
        return;
    pnc_netcdf4_store_detach(n);
    pnc_format_model_free(n->format.model);
    pnc_netcdf4_content_free(&n->content);
    *n->format.model = old->model;
    n->content = old->content;
    n->has_chunks = old->store != NULL;
    if (n->has_chunks)
        n->format.file->store = old->store;
    n->format.overruled = false;
}

static void forget_definitions(pnc_netcdf4 *n, replaced_definitions *old)
{
    if (old->store != NULL)
        (void)pnc_chunks_store_detach(old->store);
    pnc_format_model_free(&old->model);
    pnc_formats_before_free(&n->format); /* its chunks are those of the old content */
    pnc_netcdf4_content_free(&old->content);
    pnc_netcdf4_index_adopt(n);
}

/* Every rank decodes what rank 0 has described, also rank 0, and has what the new definitions need. Collective. */
static int share_description(pnc_netcdf4 *n, pnc_netcdf4_writer *out, replaced_definitions *old, int err)
{
    pnc_format_bytes found = {.at = out->bytes, .n = out->n};
    pnc_format_message message = {.n = 0};
    pnc_netcdf4_content content = {0};
    pnc_model model = {0};

    out->bytes = NULL;
    if (n->format.file->rank == 0)
        found.file_size = pnc_netcdf4_metadata_get_end(n->metadata);
    if (n->format.file->nprocs > 1) {
        err = pnc_formats_message_broadcast(&n->format, &found, &message, err);
        if (message.error.code == NC_NOERR)
            err = pnc_formats_rest_broadcast(&n->format, &message, &found, err);
    }
    n->end = found.file_size;
    if (err == NC_NOERR)
        err = pnc_netcdf4_description_take(n, &found, &message);
    if (err == NC_NOERR)
        err = pnc_netcdf4_content_adopt(n, &found.at, found.n, &model, &content);
    pnc_memory_free(found.at);
    if (err == NC_NOERR) {
        install_definitions(n, &model, &content, old);
        err = pnc_netcdf4_store_attach(n);
    }
    return pnc_file_status_agree(n->format.file, err);
}

/* Make the file that of the model of rank 0; all ranks have its definitions then. What can fail for want of memory
 * comes before the file changes. Collective; err is the result so far of this rank. */
static int apply_definitions(pnc_netcdf4 *n, int err)
{
    pnc_netcdf4_writer out = {0};
    defined_vars d = {.paths = NULL};
    replaced_definitions old = {.end = n->end};
    bool is_root = n->format.file->rank == 0;

    PNC_TRY(pnc_file_status_agree(n->format.file, err));
    if (is_root)
        err = define_on_root(n, &d);
    if (err == NC_NOERR && is_root)
        err = describe_model(n, &d, &out);
    err = pnc_file_status_broadcast(n->format.file, err);
    if (err == NC_NOERR)
        err = share_description(n, &out, &old, err);
    err = pnc_netcdf4_metadata_update(n, err);
    if (err != NC_NOERR && is_root && !n->is_unfinished)
        pnc_netcdf4_handle_release(n); /* it has the definitions that failed */
    if (err == NC_NOERR)
        forget_definitions(n, &old);
    else
        put_back_definitions(n, &old);
    pnc_memory_free(out.bytes);
    pnc_memory_free(d.paths);
    pnc_memory_free(d.addresses);
    pnc_memory_free(d.filters);
    pnc_region_free(&d.region);
    return err;
}

/* --- operations --- */

/* Chunks that are not complete are written before definitions change. */
int pnc_netcdf4_definitions_begin(pnc_format *f, int err)
{
    PNC_TRY(pnc_netcdf4_chunks_flush(f, err, NULL));
    f->before->numrecs = f->model->numrecs;
    for (int i = 0; i < f->model->ndims; i++)
        f->before->dims[i]->length = f->model->dims[i]->length;
    return NC_NOERR;
}

int pnc_netcdf4_definitions_end(pnc_format *f, pnc_layout_hints *hints, int err)
{
    pnc_netcdf4 *n = pnc_netcdf4_state_get(f);
    int nold = f->before == NULL ? 0 : f->before->nvars, later = pnc_file_log_discard(f->file);

    (void)hints;
    err = pnc_error_keep_first(err, later);
    if (err == NC_NOERR)
        err = pnc_formats_chunks_choose(f->model, nold, f->file->error);
    PNC_TRY(apply_definitions(n, err));
    f->is_new = false;
    return pnc_netcdf4_vars_fill(n, nold);
}

int pnc_netcdf4_change_execute(pnc_format *f, const pnc_format_change *change)
{
    int err = pnc_netcdf4_chunks_flush(f, NC_NOERR, NULL);

    if (err == NC_NOERR)
        err = pnc_file_log_discard(f->file);
    if (err == NC_NOERR)
        err = pnc_formats_before_keep(f); /* after a failure the state is that of the old model */
    if (err == NC_NOERR)
        err = pnc_formats_change_apply(f, change);
    err = apply_definitions(pnc_netcdf4_state_get(f), err);
    if (err != NC_NOERR)
        pnc_formats_before_restore(f);
    return err;
}
