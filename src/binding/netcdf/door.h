/* A door for programs that call netCDF-C or netCDF-Fortran: a user-defined format of netCDF-C (its dispatch table),
 * whose functions call ncmpi_*. netcdf.h and netcdf_dispatch.h are the interface; docs/netcdf.md says what programs
 * see.
 *
 * The program's calls pass through libnetcdf, which finds the table by the ncid. A file is in the table if it was
 * created or opened by nc_create_par, nc_open_par, or as PNETCDF_NETCDF says (files.c, preload.c). */
#ifndef PNC_BINDING_NETCDF_DOOR_H
#define PNC_BINDING_NETCDF_DOOR_H

#include <mpi.h>
#include <netcdf.h>
#include <netcdf_dispatch.h>
#include <stdbool.h>
#include <stddef.h>

#include "api/door.h"
#include "pnetcdf.h"

/* As in netcdf_par.h, which a serial netCDF-C does not install. */
enum { PNC_DOOR_INDEPENDENT, PNC_DOOR_COLLECTIVE };

typedef struct pnc_door_var {
    int ndims;
    int group, number; /* its id in the group */
    bool is_record;    /* over the unlimited dimension of a classic file */
    bool is_text;      /* of NC_CHAR */
    bool has_strings;  /* values of NC_STRING */
    bool is_collective;
    bool is_chosen; /* by nc_var_par_access; otherwise filters make it collective */
    bool is_native; /* defined here, and no byte order was chosen: netCDF-C then says so */
    bool has_cache; /* nc_set_var_chunk_cache: kept for inquiries only */
    size_t cache_bytes, cache_slots;
    float cache_preemption;
} pnc_door_var;

/* A group: netCDF numbers its variables and attributes from 0. In libpnetcdf they have ids of the file. */
typedef struct pnc_door_group {
    int parent; /* -1: the root group, which is the first one */
    char *path; /* as in names of libpnetcdf: "" for the root group */
    int nvars;
    int *varids; /* of the file */
} pnc_door_group;

typedef struct pnc_door_file {
    int id; /* of ncmpi_ functions */
    int format, nprocs;
    bool is_netcdf4;
    bool is_strict; /* classic, or NC_CLASSIC_MODEL: define mode begins with nc_redef and ends with nc_enddef */
    int open_mode;  /* NC_WRITE if it was opened so, NC_CLASSIC_MODEL if created so */
    bool is_read_only;
    bool defines; /* in define mode */
    int fill_mode;
    int nvars, nvars_before; /* before: when define mode began */
    pnc_door_var *vars;
    int ngroups;
    pnc_door_group *groups;
    int ndims;
    int *dim_groups; /* the group of each dimension */
    int att_group;   /* whose attributes `atts` lists; -1: none */
    int natts;
    int *atts; /* their numbers among the global ones of libpnetcdf */
} pnc_door_file;

/* What an ncid says: the file and a group of it, 0 being the root group. */
typedef struct pnc_door_place {
    pnc_door_file *f;
    int group;
} pnc_door_place;

/* A name in a group as libpnetcdf has it. */
typedef struct pnc_door_name {
    char bytes[2 * NC_MAX_NAME + 2];
    const char *text; /* NULL stays NULL */
} pnc_door_name;

/* A function of the public interface, whose messages have the name of the call of netCDF. */
#define PNC_DOOR_CALL(file, name, function, ...) \
    (pncnc_call_begin(name, #function, (file)->id), pncnc_call_end(function((file)->id, __VA_ARGS__)))
#define PNC_DOOR_CALL_PLAIN(file, name, function) \
    (pncnc_call_begin(name, #function, (file)->id), pncnc_call_end(function((file)->id)))

#define PNC_DOOR_TRY(call)    \
    do {                      \
        int err_ = (call);    \
        if (err_ != NC_NOERR) \
            return err_;      \
    } while (0)

/* --- files.c: open files, define mode --- */

/* NULL: the file is not one of the table, or has no such group. */
pnc_door_file *pnc_door_file_find(int ncid);
/* NC_EBADID: as above. */
int pnc_door_place_find(int ncid, pnc_door_place *at);
/* The same, and the id in the file of a variable of the group: pnc_door_varid_get. */
int pnc_door_var_place_find(int ncid, int *varid, pnc_door_file **f);
/* By the id in the file. NULL: there is none with this id. */
pnc_door_var *pnc_door_var_find(pnc_door_file *f, int varid);
/* A variable that was just defined. */
int pnc_door_var_add(pnc_door_file *f, int varid);
/* Collective. Enter define mode, which netCDF-4 does by itself. Otherwise NC_ENOTINDEFINE. */
int pnc_door_define_begin(pnc_door_file *f);
/* Collective. End define mode, which netCDF-4 does by itself. Otherwise NC_EINDEFINE. */
int pnc_door_define_end(pnc_door_file *f);
/* A sentence of rank 0 for users, with PNETCDF_VERBOSE. Returns the code. */
int pnc_door_failure_report(int code, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The communicator of the next file that this thread creates or opens through netCDF-C, and its mode. */
void pnc_door_opening_set(MPI_Comm comm, MPI_Info info, int mode);

int pnc_door_file_create(const char *path, int mode, size_t initial_size, int base_pe, size_t *chunk_hint,
                         void *parameters, const NC_Dispatch *table, int ncid);
int pnc_door_file_open(const char *path, int mode, int base_pe, size_t *chunk_hint, void *parameters,
                       const NC_Dispatch *table, int ncid);
int pnc_door_redef(int ncid);
int pnc_door__enddef(int ncid, size_t h_minfree, size_t v_align, size_t v_minfree, size_t r_align);
int pnc_door_sync(int ncid);
int pnc_door_abort(int ncid);
int pnc_door_close(int ncid, void *parameters);
int pnc_door_set_fill(int ncid, int mode, int *old);
int pnc_door_inq_format(int ncid, int *format);
int pnc_door_inq_format_extended(int ncid, int *format, int *mode);
int pnc_door_inq(int ncid, int *ndims, int *nvars, int *natts, int *unlimdim);
int pnc_door_show_metadata(int ncid);

/* --- define.c: dimensions, lists --- */

int pnc_door_def_dim(int ncid, const char *name, size_t length, int *dimid);
int pnc_door_inq_dimid(int ncid, const char *name, int *dimid);
int pnc_door_inq_dim(int ncid, int dimid, char *name, size_t *length);
int pnc_door_inq_unlimdim(int ncid, int *dimid);
int pnc_door_inq_unlimdims(int ncid, int *n, int *dimids);
int pnc_door_rename_dim(int ncid, int dimid, const char *name);
int pnc_door_inq_dimids(int ncid, int *n, int *dimids, int with_parents);
int pnc_door_inq_varids(int ncid, int *n, int *varids);

/* --- groups.c --- */

/* The groups of a file that was created or opened. NC_ENOMEM */
int pnc_door_groups_add(pnc_door_file *f);
void pnc_door_groups_free(pnc_door_file *f);
/* The group of a name of libpnetcdf. */
int pnc_door_group_find(const pnc_door_file *f, const char *name);
/* Dimension i of the file, which is new here, and all before it. NC_ENOMEM */
int pnc_door_dims_add(pnc_door_file *f, int ndims);
/* The number of a new variable in its group, whose id in the file is varid. NC_ENOMEM */
int pnc_door_number_add(pnc_door_file *f, int varid);
/* The id in the file of a variable of the group. Without such a variable, one that no variable has; NC_GLOBAL stays. */
int pnc_door_varid_get(const pnc_door_place *at, int varid);
/* The name without the path of its group. */
void pnc_door_name_truncate(const pnc_door_file *f, int group, char *name);
/* The opposite. A name with a slash is not one in a group: returns `code`, or NC_NOERR. */
int pnc_door_name_make(const pnc_door_place *at, const char *name, int code, pnc_door_name *out);
/* The same for an attribute, whose name has a path only if varid is NC_GLOBAL. */
int pnc_door_att_name_make(const pnc_door_place *at, int varid, const char *name, int code, pnc_door_name *out);
/* The attributes of a group, as the file has them until the next change: f->natts, f->atts. NC_ENOMEM */
int pnc_door_atts_list(pnc_door_place *at);

int pnc_door_inq_ncid(int ncid, const char *name, int *group);
int pnc_door_inq_grps(int ncid, int *n, int *groups);
int pnc_door_inq_grpname(int ncid, char *name);
int pnc_door_inq_grpname_full(int ncid, size_t *length, char *name);
int pnc_door_inq_grp_parent(int ncid, int *parent);
int pnc_door_inq_grp_full_ncid(int ncid, const char *name, int *group);
int pnc_door_def_grp(int ncid, const char *name, int *group);
int pnc_door_rename_grp(int ncid, const char *name);

/* --- types.c: atomic types; there are no others --- */

/* MPI_DATATYPE_NULL: not a type of values in memory. */
MPI_Datatype pnc_door_type_get_mpi(nc_type type);
int pnc_door_inq_type(int ncid, nc_type type, char *name, size_t *size);
/* Fill in the functions of user-defined types. */
void pnc_door_types_add(NC_Dispatch *table);

/* --- attributes.c --- */

int pnc_door_inq_att(int ncid, int varid, const char *name, nc_type *type, size_t *length);
int pnc_door_inq_attid(int ncid, int varid, const char *name, int *number);
int pnc_door_inq_attname(int ncid, int varid, int number, char *name);
int pnc_door_rename_att(int ncid, int varid, const char *name, const char *to);
int pnc_door_del_att(int ncid, int varid, const char *name);
int pnc_door_get_att(int ncid, int varid, const char *name, void *values, nc_type memory);
int pnc_door_put_att(int ncid, int varid, const char *name, nc_type type, size_t length, const void *values,
                     nc_type memory);

/* --- strings.c --- */

/* n strings of libpnetcdf become such that the program passes to nc_free_string. NC_ENOMEM: there are none. */
int pnc_door_strings_convert(MPI_Offset n, char **strings);
/* The fill value of a variable of strings, which the program passes to nc_free_string. */
int pnc_door_strings_fill(const pnc_door_file *f, int varid, char **fill_value);
/* Put strings of a variable, which do not change, or get some for nc_free_string. stride and imap may be NULL. */
int pnc_door_strings_transfer(const pnc_door_file *f, int varid, bool is_put, const MPI_Offset *start,
                              const MPI_Offset *count, const MPI_Offset *stride, const MPI_Offset *imap,
                              char **strings);

/* --- variables.c --- */

int pnc_door_def_var(int ncid, const char *name, nc_type type, int ndims, const int *dimids, int *varid);
int pnc_door_inq_varid(int ncid, const char *name, int *varid);
int pnc_door_rename_var(int ncid, int varid, const char *name);
int pnc_door_var_par_access(int ncid, int varid, int access);
int pnc_door_def_var_fill(int ncid, int varid, int no_fill, const void *value);
int pnc_door_def_var_deflate(int ncid, int varid, int shuffle, int deflate, int level);
int pnc_door_def_var_fletcher32(int ncid, int varid, int fletcher32);
int pnc_door_def_var_chunking(int ncid, int varid, int storage, const size_t *lengths);
int pnc_door_def_var_endian(int ncid, int varid, int endian);
int pnc_door_def_var_filter(int ncid, int varid, unsigned id, size_t n, const unsigned *parameters);
int pnc_door_def_var_quantize(int ncid, int varid, int mode, int digits);
int pnc_door_set_var_chunk_cache(int ncid, int varid, size_t bytes, size_t slots, float preemption);

/* --- inquire.c --- */

int pnc_door_inq_var_all(int ncid, int varid, char *name, nc_type *type, int *ndims, int *dimids, int *natts,
                         int *shuffle, int *deflate, int *level, int *fletcher32, int *storage, size_t *chunk,
                         int *no_fill, void *fill_value, int *endian, unsigned *id, size_t *nparameters,
                         unsigned *parameters);
int pnc_door_inq_var_filter_ids(int ncid, int varid, size_t *n, unsigned *ids);
int pnc_door_inq_var_filter_info(int ncid, int varid, unsigned id, size_t *n, unsigned *parameters);
int pnc_door_inq_var_quantize(int ncid, int varid, int *mode, int *digits);
int pnc_door_inq_filter_avail(int ncid, unsigned id);
int pnc_door_get_var_chunk_cache(int ncid, int varid, size_t *bytes, size_t *slots, float *preemption);

/* --- access.c --- */

int pnc_door_get_vara(int ncid, int varid, const size_t *start, const size_t *count, void *values, nc_type memory);
int pnc_door_put_vara(int ncid, int varid, const size_t *start, const size_t *count, const void *values,
                      nc_type memory);
int pnc_door_get_vars(int ncid, int varid, const size_t *start, const size_t *count, const ptrdiff_t *stride,
                      void *values, nc_type memory);
int pnc_door_put_vars(int ncid, int varid, const size_t *start, const size_t *count, const ptrdiff_t *stride,
                      const void *values, nc_type memory);
int pnc_door_get_varm(int ncid, int varid, const size_t *start, const size_t *count, const ptrdiff_t *stride,
                      const ptrdiff_t *imap, void *values, nc_type memory);
int pnc_door_put_varm(int ncid, int varid, const size_t *start, const size_t *count, const ptrdiff_t *stride,
                      const ptrdiff_t *imap, const void *values, nc_type memory);

/* --- table.c --- */

/* The flag of the slot at which netCDF-C has the table, for the mode of nc_create and nc_open; 0: netCDF-C has refused
 * it, which was said once. */
int pnc_door_table_register(void);

/* --- real.c: libnetcdf, which the program has loaded --- */

/* A function of libnetcdf itself, behind the one of the same name here; NULL: it has none. */
typedef void (*pnc_door_function)(void);
pnc_door_function pnc_door_real_find(const char *name);
#define PNC_DOOR_REAL_TYPE(name) __typeof__(&name)
#define PNC_DOOR_REAL(name) ((__typeof__(&name))pnc_door_real_find(#name))

#endif
