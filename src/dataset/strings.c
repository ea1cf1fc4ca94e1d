/* Values that are strings. */
#include <string.h>

#include "base/memory.h"
#include "dataset/deferred.h"
#include "dataset/modes.h"
#include "dataset/united.h"
#include "file/agree.h"
#include "format/storage.h"

/* A get of strings; start and count NULL: of all. */
typedef struct string_get {
    int varid;
    const MPI_Offset *start, *count;
    bool is_single, is_whole;
    char **out;
} string_get;

typedef struct string_region {
    int64_t start[PNC_STORAGE_DIMS_MOST], count[PNC_STORAGE_DIMS_MOST], n;
} string_region;

static int check_strings_var(pnc_dataset *ds, int varid)
{
    const pnc_var *var;

    PNC_TRY(pnc_format_var_check(&ds->model, varid, &ds->error));
    var = ds->model.vars[varid];
    if (var->type != NC_STRING || ds->format->ops->get_strings == NULL || var->ndims > PNC_STORAGE_DIMS_MOST)
        return pnc_error_set(&ds->error, NC_EBADTYPE, "%s: variable \"%s\" has type %s, and no strings", ds->file.path,
                             var->name, pnc_type_get_name(var->type));
    return NC_NOERR;
}

static int check_string_bounds(pnc_dataset *ds, const pnc_var *var, int d, int64_t start, int64_t count)
{
    int64_t length = pnc_format_var_get_length(&ds->model, var, d);

    if (count < 0)
        return pnc_error_set(&ds->error, NC_ENEGATIVECNT, "variable \"%s\": count[%d] = %lld is negative", var->name, d,
                             (long long)count);
    if (start < 0 || start > length || (start == length && count > 0))
        return pnc_error_set(&ds->error, NC_EINVALCOORDS,
                             "variable \"%s\": start[%d] = %lld, but dimension \"%s\" has length %lld", var->name, d,
                             (long long)start, ds->model.dims[var->dimids[d]]->name, (long long)length);
    if (count > length - start)
        return pnc_error_set(&ds->error, NC_EEDGE,
                             "variable \"%s\": start[%d] = %lld and count[%d] = %lld, but dimension \"%s\" has length "
                             "%lld",
                             var->name, d, (long long)start, d, (long long)count, ds->model.dims[var->dimids[d]]->name,
                             (long long)length);
    return NC_NOERR;
}

static int make_string_region(pnc_dataset *ds, const string_get *get, string_region *r)
{
    const pnc_var *var = ds->model.vars[get->varid];

    r->n = 1;
    if (var->ndims > 0 && !get->is_whole && get->start == NULL)
        return pnc_error_set(&ds->error, NC_ENULLSTART, "variable \"%s\": start is NULL", var->name);
    if (var->ndims > 0 && !get->is_whole && !get->is_single && get->count == NULL)
        return pnc_error_set(&ds->error, NC_ENULLCOUNT, "variable \"%s\": count is NULL", var->name);
    for (int d = 0; d < var->ndims; d++) {
        int64_t whole = pnc_format_var_get_length(&ds->model, var, d), asked = get->count != NULL ? get->count[d] : 1;

        r->start[d] = get->is_whole ? 0 : get->start[d];
        r->count[d] = get->is_whole ? whole : asked;
        PNC_TRY(check_string_bounds(ds, var, d, r->start[d], r->count[d]));
        if (pnc_size_multiply(r->n, r->count[d], &r->n) < 0)
            return pnc_error_set(&ds->error, NC_ENOMEM, "variable \"%s\": so many strings have no place in memory",
                                 var->name);
    }
    if (r->n > 0 && get->out == NULL)
        return pnc_error_set(&ds->error, NC_EINVAL, "variable \"%s\": the buffer is NULL", var->name);
    return NC_NOERR;
}

/* After an error there are no strings. */
static int get_strings_here(pnc_dataset *ds, const string_get *get)
{
    string_region r;
    int err;

    PNC_TRY(check_strings_var(ds, get->varid));
    PNC_TRY(make_string_region(ds, get, &r));
    if (r.n == 0)
        return NC_NOERR;
    memset(get->out, 0, (size_t)r.n * sizeof *get->out);
    err = ds->format->ops->get_strings(ds->format, get->varid, r.start, r.count, get->out);
    for (int64_t i = 0; err != NC_NOERR && i < r.n; i++) {
        pnc_memory_free(get->out[i]);
        get->out[i] = NULL;
    }
    return err;
}

/* The ranks meet in an agreement, by which ranks in another call are found. */
static int get_strings_collectively(pnc_dataset *ds, const string_get *get)
{
    int err;

    PNC_TRY(pnc_dataset_mode_check_collective(ds));
    PNC_TRY(pnc_dataset_united_begin(ds, true));
    err = get_strings_here(ds, get);
    return ds->file.nprocs > 1 ? pnc_file_status_agree(&ds->file, err) : err;
}

static int get_strings_independently(pnc_dataset *ds, const string_get *get)
{
    PNC_TRY(pnc_dataset_mode_check_independent(ds));
    return get_strings_here(ds, get);
}

int pnc_dataset_get_var_string_all(pnc_dataset *ds, int varid, char **values)
{
    return get_strings_collectively(ds, &(string_get){.varid = varid, .is_whole = true, .out = values});
}

int pnc_dataset_get_vara_string_all(pnc_dataset *ds, int varid, const MPI_Offset *start, const MPI_Offset *count,
                                    char **values)
{
    return get_strings_collectively(ds, &(string_get){.varid = varid, .start = start, .count = count, .out = values});
}

int pnc_dataset_get_var1_string_all(pnc_dataset *ds, int varid, const MPI_Offset *start, char **values)
{
    return get_strings_collectively(ds,
                                    &(string_get){.varid = varid, .start = start, .is_single = true, .out = values});
}

int pnc_dataset_get_var_string(pnc_dataset *ds, int varid, char **values)
{
    return get_strings_independently(ds, &(string_get){.varid = varid, .is_whole = true, .out = values});
}

int pnc_dataset_get_vara_string(pnc_dataset *ds, int varid, const MPI_Offset *start, const MPI_Offset *count,
                                char **values)
{
    return get_strings_independently(ds, &(string_get){.varid = varid, .start = start, .count = count, .out = values});
}

int pnc_dataset_get_var1_string(pnc_dataset *ds, int varid, const MPI_Offset *start, char **values)
{
    return get_strings_independently(ds,
                                     &(string_get){.varid = varid, .start = start, .is_single = true, .out = values});
}
