/* Values that are strings. */
#include <string.h>

#include "base/memory.h"
#include "dataset/modes.h"
#include "dataset/same_file.h"
#include "dataset/united.h"
#include "file/agree.h"
#include "format/storage.h"

/* A put or get of strings; start and count NULL: of all. */
typedef struct string_access {
    int varid;
    const MPI_Offset *start, *count;
    bool is_single, is_whole, is_put, collective;
    char **strings; /* a put does not change them */
} string_access;

typedef struct string_region {
    int64_t start[PNC_STORAGE_DIMS_MOST], count[PNC_STORAGE_DIMS_MOST], n;
} string_region;

/* --- arguments --- */

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

/* The end of an unlimited dimension bounds gets only. */
static int check_string_bounds(pnc_dataset *ds, const pnc_var *var, int d, bool is_put, int64_t start, int64_t count)
{
    const pnc_dim *dim = ds->model.dims[var->dimids[d]];
    int64_t length = is_put && dim->unlimited ? INT64_MAX : pnc_format_var_get_length(&ds->model, var, d);

    if (count < 0)
        return pnc_error_set(&ds->error, NC_ENEGATIVECNT, "variable \"%s\": count[%d] = %lld is negative", var->name, d,
                             (long long)count);
    if (start < 0 || start > length || (start == length && count > 0))
        return pnc_error_set(&ds->error, NC_EINVALCOORDS,
                             "variable \"%s\": start[%d] = %lld, but dimension \"%s\" has length %lld", var->name, d,
                             (long long)start, dim->name, (long long)length);
    if (count > length - start)
        return pnc_error_set(&ds->error, NC_EEDGE,
                             "variable \"%s\": start[%d] = %lld and count[%d] = %lld, but dimension \"%s\" has length "
                             "%lld",
                             var->name, d, (long long)start, d, (long long)count, dim->name, (long long)length);
    return NC_NOERR;
}

static int make_string_region(pnc_dataset *ds, const string_access *a, string_region *r)
{
    const pnc_var *var = ds->model.vars[a->varid];

    r->n = 1;
    if (var->ndims > 0 && !a->is_whole && a->start == NULL)
        return pnc_error_set(&ds->error, NC_ENULLSTART, "variable \"%s\": start is NULL", var->name);
    if (var->ndims > 0 && !a->is_whole && !a->is_single && a->count == NULL)
        return pnc_error_set(&ds->error, NC_ENULLCOUNT, "variable \"%s\": count is NULL", var->name);
    for (int d = 0; d < var->ndims; d++) {
        int64_t whole = pnc_format_var_get_length(&ds->model, var, d), asked = a->count != NULL ? a->count[d] : 1;

        r->start[d] = a->is_whole ? 0 : a->start[d];
        r->count[d] = a->is_whole ? whole : asked;
        PNC_TRY(check_string_bounds(ds, var, d, a->is_put, r->start[d], r->count[d]));
        if (pnc_size_multiply(r->n, r->count[d], &r->n) < 0)
            return pnc_error_set(&ds->error, NC_ENOMEM, "variable \"%s\": so many strings have no place in memory",
                                 var->name);
    }
    if (r->n > 0 && a->strings == NULL)
        return pnc_error_set(&ds->error, NC_EINVAL, "variable \"%s\": the buffer is NULL", var->name);
    return NC_NOERR;
}

static int check_strings(pnc_dataset *ds, const string_access *a, string_region *r)
{
    r->n = 0;
    PNC_TRY(check_strings_var(ds, a->varid));
    return make_string_region(ds, a, r);
}

static int check_string_mode(pnc_dataset *ds, const string_access *a)
{
    if (a->is_put)
        PNC_TRY(pnc_dataset_mode_check_write(ds));
    return a->collective ? pnc_dataset_mode_check_collective(ds) : pnc_dataset_mode_check_independent(ds);
}

/* --- gets --- */

static void free_strings(const string_access *a, const string_region *r)
{
    for (int64_t i = 0; i < r->n; i++) {
        pnc_memory_free(a->strings[i]);
        a->strings[i] = NULL;
    }
}

static int get_strings_here(pnc_dataset *ds, const string_access *a, const string_region *r)
{
    if (r->n > 0)
        memset(a->strings, 0, (size_t)r->n * sizeof *a->strings);
    pnc_dataset_same_file_begin(ds, PNC_GET);
    return ds->format->ops->get_strings(ds->format, a->varid, r->start, r->count, a->collective, a->strings);
}

/* The ranks meet in an agreement, by which ranks in another call are found. Where strings that were put may have to be
 * written, all ranks get some or none does. After an error, also of another rank, there are no strings. */
static int get_string_values(pnc_dataset *ds, const string_access *a)
{
    string_region r;
    bool has;
    int err;

    PNC_TRY(check_string_mode(ds, a));
    PNC_TRY(pnc_dataset_united_begin(ds, a->collective));
    err = check_strings(ds, a, &r);
    if (a->collective && ds->file.nprocs > 1 && !ds->file.read_only)
        PNC_TRY(pnc_file_status_agree(&ds->file, err));
    if (err == NC_NOERR && !a->collective && r.n > 0)
        err = pnc_dataset_united_check_var(ds, a->varid);
    has = err == NC_NOERR;
    if (has)
        err = get_strings_here(ds, a, &r);
    if (a->collective && ds->file.nprocs > 1)
        err = pnc_file_status_agree(&ds->file, err);
    if (err != NC_NOERR && has)
        free_strings(a, &r);
    return err;
}

/* --- puts --- */

static int put_string_values(pnc_dataset *ds, const string_access *a)
{
    string_region r;
    pnc_format_string_put put = {.varid = a->varid, .start = r.start, .count = r.count, .strings = a->strings};
    int err;

    PNC_TRY(check_string_mode(ds, a));
    PNC_TRY(pnc_dataset_united_begin(ds, a->collective));
    err = check_strings(ds, a, &r);
    put.n = err == NC_NOERR ? r.n : 0;
    if (!a->collective && put.n == 0)
        return err;
    if (ds->format->ops->put_strings == NULL) /* of no variable of the file, which all ranks know */
        return a->collective ? pnc_file_status_agree(&ds->file, err) : err;
    pnc_dataset_same_file_begin(ds, PNC_PUT);
    err = ds->format->ops->put_strings(ds->format, &put, a->collective, err);
    pnc_file_change_add(&ds->file);
    pnc_dataset_united_add_var(ds, a->collective, err == NC_NOERR ? a->varid : -1);
    return err;
}

/* --- calls --- */

int pnc_dataset_get_var_string_all(pnc_dataset *ds, int varid, char **values)
{
    return get_string_values(ds,
                             &(string_access){.varid = varid, .is_whole = true, .collective = true, .strings = values});
}

int pnc_dataset_get_vara_string_all(pnc_dataset *ds, int varid, const MPI_Offset *start, const MPI_Offset *count,
                                    char **values)
{
    return get_string_values(ds, &(string_access){varid, start, count, .collective = true, .strings = values});
}

int pnc_dataset_get_var1_string_all(pnc_dataset *ds, int varid, const MPI_Offset *start, char **values)
{
    return get_string_values(ds,
                             &(string_access){varid, start, .is_single = true, .collective = true, .strings = values});
}

int pnc_dataset_get_var_string(pnc_dataset *ds, int varid, char **values)
{
    return get_string_values(ds, &(string_access){.varid = varid, .is_whole = true, .strings = values});
}

int pnc_dataset_get_vara_string(pnc_dataset *ds, int varid, const MPI_Offset *start, const MPI_Offset *count,
                                char **values)
{
    return get_string_values(ds, &(string_access){varid, start, count, .strings = values});
}

int pnc_dataset_get_var1_string(pnc_dataset *ds, int varid, const MPI_Offset *start, char **values)
{
    return get_string_values(ds, &(string_access){varid, start, .is_single = true, .strings = values});
}

int pnc_dataset_put_var_string_all(pnc_dataset *ds, int varid, const char *const *values)
{
    return put_string_values(
        ds, &(string_access){
                .varid = varid, .is_whole = true, .is_put = true, .collective = true, .strings = (char **)values});
}

int pnc_dataset_put_vara_string_all(pnc_dataset *ds, int varid, const MPI_Offset *start, const MPI_Offset *count,
                                    const char *const *values)
{
    return put_string_values(
        ds, &(string_access){varid, start, count, .is_put = true, .collective = true, .strings = (char **)values});
}

int pnc_dataset_put_var1_string_all(pnc_dataset *ds, int varid, const MPI_Offset *start, const char *const *values)
{
    return put_string_values(ds, &(string_access){varid, start, .is_single = true, .is_put = true, .collective = true,
                                                  .strings = (char **)values});
}

int pnc_dataset_put_var_string(pnc_dataset *ds, int varid, const char *const *values)
{
    return put_string_values(
        ds, &(string_access){.varid = varid, .is_whole = true, .is_put = true, .strings = (char **)values});
}

int pnc_dataset_put_vara_string(pnc_dataset *ds, int varid, const MPI_Offset *start, const MPI_Offset *count,
                                const char *const *values)
{
    return put_string_values(ds, &(string_access){varid, start, count, .is_put = true, .strings = (char **)values});
}

int pnc_dataset_put_var1_string(pnc_dataset *ds, int varid, const MPI_Offset *start, const char *const *values)
{
    return put_string_values(
        ds, &(string_access){varid, start, .is_single = true, .is_put = true, .strings = (char **)values});
}
