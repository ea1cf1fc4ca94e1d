/* Files: creating, opening, modes, closing. netCDF-4 begins and ends define mode by itself; a classic file does not. */
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binding/netcdf/door.h"
#include "binding/netcdf/opening.h"

/* The upper half of an ncid says which file of netCDF-C it is. */
#define FILES_MOST 65536
static pnc_door_file *door_files[FILES_MOST];

static unsigned number_of_file(int ncid)
{
    return (unsigned)ncid >> 16 & (FILES_MOST - 1);
}

/* The lower half says which group. */
pnc_door_file *pnc_door_file_find(int ncid)
{
    pnc_door_file *f = door_files[number_of_file(ncid)];

    return f == NULL || (ncid & (FILES_MOST - 1)) == 0 || (ncid & (FILES_MOST - 1)) < f->ngroups ? f : NULL;
}

pnc_door_var *pnc_door_var_find(pnc_door_file *f, int varid)
{
    return varid >= 0 && varid < f->nvars ? &f->vars[varid] : NULL;
}

int pnc_door_failure_report(int code, const char *name, const char *format, ...)
{
    const char *verbose = getenv("PNETCDF_VERBOSE");
    va_list arguments;
    int rank = 0;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (verbose == NULL || verbose[0] == '0' || rank != 0)
        return code;
    va_start(arguments, format);
    fprintf(stderr, "PnetCDF: %s: ", name);
    vfprintf(stderr, format, arguments); /* NOLINT: the callers' formats are checked */
    fprintf(stderr, " (%s)\n", ncmpi_strerrno(code));
    va_end(arguments);
    return code;
}

/* --- variables --- */

static bool is_over_records(const pnc_door_file *f, int ndims, const int *dimids)
{
    int recdim = -1;

    if (f->is_netcdf4 || ndims == 0 || ncmpi_inq_unlimdim(f->id, &recdim) != NC_NOERR)
        return false;
    return dimids[0] == recdim;
}

int pnc_door_var_add(pnc_door_file *f, int varid)
{
    pnc_door_var *more = realloc(f->vars, (size_t)(varid + 1) * sizeof *more);
    int dimids[NC_MAX_VAR_DIMS];

    if (more == NULL)
        return NC_ENOMEM;
    f->vars = more;
    for (; f->nvars <= varid; f->nvars++) {
        pnc_door_var *v = &f->vars[f->nvars];
        nc_type type;

        *v = (pnc_door_var){0};
        PNC_DOOR_TRY(ncmpi_inq_vartype(f->id, f->nvars, &type));
        v->is_text = type == NC_CHAR;
        v->has_strings = v->is_native = type == NC_STRING;
        PNC_DOOR_TRY(ncmpi_inq_varndims(f->id, f->nvars, &v->ndims));
        PNC_DOOR_TRY(ncmpi_inq_vardimid(f->id, f->nvars, dimids));
        v->is_record = is_over_records(f, v->ndims, dimids);
        PNC_DOOR_TRY(pnc_door_number_add(f, f->nvars));
    }
    return NC_NOERR;
}

/* --- creating and opening --- */

/* Rules of netCDF-C: NC_FILL is the default; a classic file of several ranks has no fill values unless the program asks
 * for them, as with PnetCDF, through which netCDF-C writes such files. */
static int get_first_fill(const pnc_door_file *f)
{
    return f->is_netcdf4 || f->nprocs == 1 ? NC_FILL : NC_NOFILL;
}

/* Also those that a hint adds when define mode ends. */
static int add_entries(pnc_door_file *f)
{
    int ndims = 0, nvars = 0;

    PNC_DOOR_TRY(ncmpi_inq(f->id, &ndims, &nvars, NULL, NULL));
    PNC_DOOR_TRY(pnc_door_dims_add(f, ndims));
    f->att_group = -1;
    return nvars > f->nvars ? pnc_door_var_add(f, nvars - 1) : NC_NOERR;
}

static int describe_door_file(pnc_door_file *f)
{
    PNC_DOOR_TRY(pncnc_modes_unite(f->id));
    PNC_DOOR_TRY(ncmpi_inq_format(f->id, &f->format));
    f->is_netcdf4 = f->format == NC_FORMAT_NETCDF4 || f->format == NC_FORMAT_NETCDF4_CLASSIC;
    f->is_strict = f->format != NC_FORMAT_NETCDF4;
    f->fill_mode = get_first_fill(f);
    PNC_DOOR_TRY(pnc_door_groups_add(f));
    return add_entries(f);
}

/* netCDF-C returns the code of the system where a file cannot be opened. */
static int translate_code(int err)
{
    if (err == NC_ENOENT)
        return ENOENT;
    return err == NC_EACCESS ? EACCES : err;
}

static void free_door_file(int ncid)
{
    pnc_door_file *f = pnc_door_file_find(ncid);

    door_files[number_of_file(ncid)] = NULL;
    if (f == NULL)
        return;
    pnc_door_groups_free(f);
    free(f->vars);
    free(f);
}

/* Without memory the other ranks block in ncmpi_create: then this one must not return before it. */
static pnc_door_file *add_door_file(int ncid, MPI_Comm comm)
{
    pnc_door_file *f = calloc(1, sizeof *f);

    if (f == NULL) {
        fprintf(stderr, "libpnetcdf-netcdf: no memory for an open file\n");
        MPI_Abort(comm, 1);
        return NULL;
    }
    MPI_Comm_size(comm, &f->nprocs);
    door_files[number_of_file(ncid)] = f;
    return f;
}

int pnc_door_file_create(const char *path, int mode, size_t initial_size, int base_pe, size_t *chunk_hint,
                         void *parameters, const NC_Dispatch *table, int ncid)
{
    const int passed = NC_NOCLOBBER | NC_NETCDF4 | NC_CLASSIC_MODEL | NC_64BIT_OFFSET | NC_64BIT_DATA | NC_SHARE;
    pnc_door_opening *o = pnc_door_opening_take(mode);
    pnc_door_file *f = add_door_file(ncid, o->comm);
    int err;

    (void)initial_size, (void)base_pe, (void)chunk_hint, (void)parameters, (void)table;
    if (f == NULL)
        return NC_ENOMEM;
    f->defines = true;
    pncnc_call_begin(o->name, "ncmpi_create", -1);
    err = pncnc_call_end(ncmpi_create(o->comm, path, o->mode & passed, o->info, &f->id));
    if (err != NC_NOERR) {
        free_door_file(ncid);
        return translate_code(err);
    }
    err = describe_door_file(f);
    f->open_mode = f->is_netcdf4 && f->is_strict ? NC_CLASSIC_MODEL : 0;
    if (err != NC_NOERR) {
        ncmpi_abort(f->id);
        free_door_file(ncid);
    }
    return err;
}

int pnc_door_file_open(const char *path, int mode, int base_pe, size_t *chunk_hint, void *parameters,
                       const NC_Dispatch *table, int ncid)
{
    pnc_door_opening *o = pnc_door_opening_take(mode);
    pnc_door_file *f = add_door_file(ncid, o->comm);
    MPI_Info info;
    int err;

    (void)base_pe, (void)chunk_hint, (void)parameters, (void)table;
    if (f == NULL)
        return NC_ENOMEM;
    f->is_read_only = (o->mode & NC_WRITE) == 0;
    f->open_mode = o->mode & NC_WRITE;
    info = pnc_door_opening_info_create(o);
    pncnc_call_begin(o->name, "ncmpi_open", -1);
    err = pncnc_call_end(ncmpi_open(o->comm, path, o->mode & (NC_WRITE | NC_SHARE), info, &f->id));
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    if (err == NC_NOERR) {
        err = pnc_door_content_check(f, o, path);
        if (err == NC_NOERR)
            err = describe_door_file(f);
        if (err != NC_NOERR)
            ncmpi_close(f->id);
    } else if (err == NC_ENOTNC) {
        o->passes = pnc_door_opening_check_pass(f, o);
    }
    if (err != NC_NOERR)
        free_door_file(ncid);
    return translate_code(err);
}

/* --- define mode --- */

static int enter_define_mode(pnc_door_file *f)
{
    int err = PNC_DOOR_CALL_PLAIN(f, "nc_redef", ncmpi_redef);

    f->defines = err == NC_NOERR;
    f->nvars_before = f->nvars;
    return err;
}

int pnc_door_define_begin(pnc_door_file *f)
{
    if (f->defines)
        return NC_NOERR;
    if (f->is_strict)
        return NC_ENOTINDEFINE;
    return f->is_read_only ? NC_EPERM : enter_define_mode(f);
}

/* Where the ranks differ, define mode ends with the definitions of rank 0, and an error. */
static bool stays_in_define_mode(int err)
{
    return err != NC_NOERR && (err > NC_EMULTIDEFINE || err < NC_EMULTIDEFINE_LAST);
}

static int leave_define_mode(pnc_door_file *f, int err)
{
    f->defines = stays_in_define_mode(err);
    return err == NC_NOERR ? add_entries(f) : err;
}

int pnc_door_define_end(pnc_door_file *f)
{
    int err;

    if (!f->defines)
        return NC_NOERR;
    if (f->is_strict)
        return NC_EINDEFINE;
    err = PNC_DOOR_CALL_PLAIN(f, "nc_enddef", ncmpi_enddef);
    return leave_define_mode(f, err);
}

int pnc_door_redef(int ncid)
{
    pnc_door_file *f = pnc_door_file_find(ncid);

    if (f == NULL)
        return NC_EBADID;
    if (f->defines)
        return f->is_strict ? NC_EINDEFINE : NC_NOERR;
    return enter_define_mode(f);
}

int pnc_door__enddef(int ncid, size_t h_minfree, size_t v_align, size_t v_minfree, size_t r_align)
{
    pnc_door_file *f = pnc_door_file_find(ncid);
    bool is_plain = h_minfree == 0 && v_align <= 4 && v_minfree == 0 && r_align <= 4; /* those of nc_enddef */
    int err;

    if (f == NULL)
        return NC_EBADID;
    if (!f->defines)
        return NC_ENOTINDEFINE;
    if (is_plain || f->is_netcdf4)
        err = PNC_DOOR_CALL_PLAIN(f, "nc_enddef", ncmpi_enddef);
    else
        err = PNC_DOOR_CALL(f, "nc__enddef", ncmpi__enddef, (MPI_Offset)h_minfree, (MPI_Offset)v_align,
                            (MPI_Offset)v_minfree, (MPI_Offset)r_align);
    return leave_define_mode(f, err);
}

int pnc_door_sync(int ncid)
{
    pnc_door_file *f = pnc_door_file_find(ncid);

    if (f == NULL)
        return NC_EBADID;
    PNC_DOOR_TRY(pnc_door_define_end(f));
    return PNC_DOOR_CALL_PLAIN(f, "nc_sync", ncmpi_sync);
}

/* A group is not closed. */
static int find_closable(int ncid, pnc_door_file **f)
{
    pnc_door_place at;

    PNC_DOOR_TRY(pnc_door_place_find(ncid, &at));
    *f = at.f;
    return at.group == 0 ? NC_NOERR : NC_EBADGRPID;
}

int pnc_door_abort(int ncid)
{
    pnc_door_file *f;
    int err;

    PNC_DOOR_TRY(find_closable(ncid, &f));
    err = PNC_DOOR_CALL_PLAIN(f, "nc_abort", ncmpi_abort);
    free_door_file(ncid);
    return err;
}

int pnc_door_close(int ncid, void *parameters)
{
    pnc_door_file *f;
    int err;

    (void)parameters;
    PNC_DOOR_TRY(find_closable(ncid, &f));
    err = PNC_DOOR_CALL_PLAIN(f, "nc_close", ncmpi_close);
    free_door_file(ncid);
    return err;
}

/* For variables that are defined later; in a classic file also for those that this define mode has defined. */
int pnc_door_set_fill(int ncid, int mode, int *old)
{
    pnc_door_file *f = pnc_door_file_find(ncid);

    if (f == NULL)
        return NC_EBADID;
    if (f->is_read_only)
        return NC_EPERM;
    if (mode != NC_FILL && mode != NC_NOFILL)
        return NC_EINVAL;
    for (int i = f->nvars_before; f->defines && !f->is_netcdf4 && i < f->nvars; i++)
        PNC_DOOR_TRY(PNC_DOOR_CALL(f, "nc_set_fill", ncmpi_def_var_fill, i, mode == NC_NOFILL, NULL));
    if (old != NULL)
        *old = f->fill_mode;
    f->fill_mode = mode;
    return NC_NOERR;
}

/* --- inquiries --- */

int pnc_door_inq_format(int ncid, int *format)
{
    pnc_door_file *f = pnc_door_file_find(ncid);

    if (f == NULL)
        return NC_EBADID;
    if (format != NULL)
        *format = f->format;
    return NC_NOERR;
}

/* As netCDF-C answers for such a file that it has opened itself. */
int pnc_door_inq_format_extended(int ncid, int *format, int *mode)
{
    pnc_door_file *f = pnc_door_file_find(ncid);
    int flags = 0;

    if (f == NULL)
        return NC_EBADID;
    if (f->is_netcdf4)
        flags = NC_NETCDF4;
    else if (f->format == NC_FORMAT_64BIT_OFFSET)
        flags = NC_64BIT_OFFSET;
    else if (f->format == NC_FORMAT_64BIT_DATA)
        flags = NC_64BIT_DATA;
    if (format != NULL)
        *format = f->is_netcdf4 ? NC_FORMATX_NC4 : NC_FORMATX_NC3;
    if (mode != NULL)
        *mode = flags | f->open_mode;
    return NC_NOERR;
}

int pnc_door_inq(int ncid, int *ndims, int *nvars, int *natts, int *unlimdim)
{
    pnc_door_place at;

    PNC_DOOR_TRY(pnc_door_place_find(ncid, &at));
    if (at.f->ngroups == 1)
        return PNC_DOOR_CALL(at.f, "nc_inq", ncmpi_inq, ndims, nvars, natts, unlimdim);
    if (natts != NULL) {
        PNC_DOOR_TRY(pnc_door_atts_list(&at));
        *natts = at.f->natts;
    }
    if (nvars != NULL)
        *nvars = at.f->groups[at.group].nvars;
    PNC_DOOR_TRY(pnc_door_inq_dimids(ncid, ndims, NULL, 0));
    return unlimdim != NULL ? pnc_door_inq_unlimdim(ncid, unlimdim) : NC_NOERR;
}

int pnc_door_show_metadata(int ncid)
{
    return pnc_door_file_find(ncid) == NULL ? NC_EBADID : NC_NOERR;
}
