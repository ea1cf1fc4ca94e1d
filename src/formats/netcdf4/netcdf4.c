/* netCDF-4 files: the operations of the format. */
#include "formats/netcdf4/netcdf4.h"

#include <string.h>

#include "base/memory.h"
#include "file/agree.h"

/* Chunks whose places all ranks get when the file is opened; for others each rank asks libhdf5. A guess: 24 bytes each
 * in the broadcast, 0.3 to 3 us each to find. */
#define PLACES_MOST INT64_C(16384)

/* --- opening --- */

/* The signature is at byte 0, 512, 1024, 2048 ..: what is in front of it is the program's own. */
static bool is_netcdf4(const char *front, int64_t n)
{
    static const char signature[] = "\211HDF\r\n\032\n";
    const int64_t length = sizeof signature - 1;

    for (int64_t at = 0; at <= n - length; at = at == 0 ? 512 : 2 * at)
        if (memcmp(front + at, signature, (size_t)length) == 0)
            return true;
    return false;
}

static int refuse_change(pnc_format *f)
{
    return pnc_error_set(f->file->error, NC_ENOTSUPPORT,
                         "%s is a netCDF-4 file: this library reads such files, and does not change them: open it "
                         "without NC_WRITE",
                         f->file->path);
}

static int make_description(pnc_format *f, const pnc_format_bytes *found, pnc_netcdf4_writer *out)
{
    pnc_netcdf4 *n = pnc_netcdf4_state_get(f);

    PNC_TRY(pnc_netcdf4_metadata_open(f->file, found->file_size, false, &n->metadata));
    return pnc_netcdf4_metadata_describe(n->metadata, f->file->nprocs > 1 ? PLACES_MOST : 0, out);
}

static int load_description(pnc_format *f, pnc_format_bytes *found)
{
    pnc_netcdf4_writer out = {0};
    int err;

    if (!f->file->read_only)
        return refuse_change(f);
    err = make_description(f, found, &out);
    if (err != NC_NOERR) {
        pnc_memory_free(out.bytes);
        pnc_netcdf4_metadata_close(pnc_netcdf4_state_get(f)->metadata);
        pnc_netcdf4_state_get(f)->metadata = NULL;
        return err;
    }
    pnc_memory_free(found->at);
    found->at = out.bytes;
    found->n = out.n;
    found->is_estimated = false;
    return NC_NOERR;
}

/* The bytes become those of the format: storage points to them. */
static int keep_bytes(pnc_netcdf4 *n, pnc_format_bytes *found, const pnc_format_message *message)
{
    n->bytes = found->at;
    found->at = NULL;
    if (n->bytes != NULL)
        return NC_NOERR;
    n->bytes = pnc_memory_alloc(found->n, 1);
    if (n->bytes == NULL)
        return pnc_formats_memory_fail(&n->format, found->n);
    memcpy(n->bytes, message->bytes, (size_t)found->n);
    return NC_NOERR;
}

static int adopt_description(pnc_format *f, pnc_format_bytes *found, const pnc_format_message *message, int err)
{
    pnc_netcdf4 *n = pnc_netcdf4_state_get(f);

    if (f->file->nprocs > 1)
        err = pnc_formats_rest_broadcast(f, message, found, err);
    PNC_TRY(err);
    n->file_size = found->file_size;
    PNC_TRY(keep_bytes(n, found, message));
    PNC_TRY(pnc_formats_path_add(f, pnc_netcdf4_description_decode(n->bytes, found->n, found->file_size, f->model,
                                                                   &n->region, &n->storage, f->file->error)));
    f->file->store->end->least_size = found->file_size;
    f->file->store->end->refuses_short = true;
    PNC_TRY(pnc_netcdf4_properties_set(n));
    return pnc_netcdf4_store_attach(n);
}

static bool has_no_remark(pnc_format *f)
{
    (void)f;
    return false;
}

/* The store, which reads the arrays, is closed. */
static void free_netcdf4(pnc_format *f)
{
    pnc_netcdf4 *n = pnc_netcdf4_state_get(f);

    pnc_netcdf4_metadata_close(n->metadata);
    pnc_memory_free(n->arrays);
    pnc_memory_free(n->varids);
    pnc_region_free(&n->region);
    pnc_memory_free(n->bytes);
}

/* --- changes, which the modes of a dataset that is only read exclude --- */

static int refuse_create(pnc_format *f, int version)
{
    (void)version;
    return refuse_change(f);
}

static int refuse_redef(pnc_format *f, int err)
{
    return pnc_file_status_agree(f->file, err != NC_NOERR ? err : refuse_change(f));
}

static int refuse_enddef(pnc_format *f, pnc_layout_hints *hints, int err)
{
    (void)hints;
    return refuse_redef(f, err);
}

static int refuse_att(pnc_format *f, const pnc_format_change *change)
{
    (void)change;
    return refuse_change(f);
}

static void ignore_length(pnc_format *f, int dimid, int64_t length)
{
    (void)f, (void)dimid, (void)length;
}

static int refuse_length(pnc_format *f, int dimid, int64_t length)
{
    (void)dimid, (void)length;
    return refuse_change(f);
}

static int refuse_records(pnc_format *f, int64_t numrecs)
{
    (void)numrecs;
    return refuse_change(f);
}

static int refuse_fill(pnc_format *f, int varid, int64_t record)
{
    (void)varid, (void)record;
    return refuse_change(f);
}

static int flush_nothing(pnc_format *f, int err, bool *unsynced)
{
    PNC_TRY(pnc_file_status_agree(f->file, err));
    if (unsynced != NULL)
        *unsynced = false;
    return NC_NOERR;
}

static void abandon_nothing(pnc_format *f)
{
    (void)f;
}

static int restore_nothing(pnc_format *f)
{
    (void)f;
    return NC_NOERR;
}

static int refuse_put(pnc_format *f, bool collective)
{
    (void)collective;
    return refuse_change(f);
}

/* --- inquiries --- */

static void get_no_layout(const pnc_format *f, pnc_format_layout *out)
{
    (void)f;
    *out = (pnc_format_layout){0};
}

static int64_t get_address(const pnc_format *f, int varid)
{
    const pnc_netcdf4_storage *s = &((const pnc_netcdf4 *)f)->storage[varid];

    return s->layout == PNC_NETCDF4_CONTIGUOUS && s->address >= 0 ? s->address : 0;
}

static void explain_nothing(const pnc_format *f, char *out, size_t capacity)
{
    (void)f;
    if (capacity > 0)
        out[0] = '\0';
}

/* --- requests --- */

/* Lengths are those that the dimensions had when the file was opened, also of unlimited ones. */
static pnc_mapping get_array_mapping(const pnc_model *model, const pnc_var *var)
{
    (void)model;
    return (pnc_mapping){.array = {.name = var->name,
                                   .begin = var->netcdf4.address,
                                   .elem_size = (int)pnc_type_get_size(var->type),
                                   .ndims = var->ndims,
                                   .shape = var->shape},
                         .part = var->size};
}

static int64_t get_any_records(const pnc_model *model)
{
    (void)model;
    return INT64_MAX;
}

static int allow_records(const pnc_model *model, const pnc_var *var, int64_t first, int64_t records, pnc_error *error)
{
    (void)model, (void)var, (void)first, (void)records, (void)error;
    return NC_NOERR;
}

static int check_within_var(const pnc_model *model, const pnc_var *var, int64_t first, int64_t end, bool is_put,
                            int64_t *numrecs, pnc_error *error)
{
    (void)model, (void)is_put, (void)numrecs;
    if (first >= 0 && end <= var->size)
        return NC_NOERR;
    return pnc_error_set(error, NC_ETYPESIZE,
                         "variable \"%s\" of a netCDF-4 file has %lld bytes, and the filetype covers bytes %lld to "
                         "%lld: must be inside the variable",
                         var->name, (long long)var->size, (long long)first, (long long)end);
}

static const pnc_addressing netcdf4_addressing = {.get_mapping = get_array_mapping,
                                                  .get_most_records = get_any_records,
                                                  .check_records = allow_records,
                                                  .check_reach = check_within_var};

const pnc_format_ops pnc_netcdf4_format = {
    .name = "netCDF-4",
    .bytes = sizeof(pnc_netcdf4),
    .addressing = &netcdf4_addressing,
    .has_storage = true,
    .versions = {{NC_FORMAT_NETCDF4_CLASSIC, NC_NETCDF4 | NC_CLASSIC_MODEL, NULL},
                 {NC_FORMAT_NETCDF4, NC_NETCDF4, NULL}},
    .is_format = is_netcdf4,
    .create = refuse_create,
    .load = load_description,
    .adopt = adopt_description,
    .remark = has_no_remark,
    .free = free_netcdf4,
    .redef = refuse_redef,
    .enddef = refuse_enddef,
    .check_change = refuse_att,
    .change = refuse_att,
    .add_length = ignore_length,
    .write_length = refuse_length,
    .check_record = refuse_records,
    .fill_record = refuse_fill,
    .flush = flush_nothing,
    .abandon = abandon_nothing,
    .restore = restore_nothing,
    .restore_before_put = refuse_put,
    .get_layout = get_no_layout,
    .get_offset = get_address,
    .explain_moves = explain_nothing};
