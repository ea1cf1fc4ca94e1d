/* The header model: the contents of a classic header as plain data that can be copied and compared.
 *
 * Functions that add, rename and delete entries check the rules of the format (names, types, lengths, record
 * dimension). Define mode and agreement between ranks are checked in src/dataset. */
#ifndef PNC_FORMAT_MODEL_H
#define PNC_FORMAT_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include "base/error.h"
#include "base/region.h"
#include "base/table.h"
#include "base/types.h"

/* What a format allows in definitions; of classic files, each version has its own. */
typedef struct pnc_rules {
    const char *name;        /* for messages: "CDF-1" */
    int last_type;           /* external types are 1 to this one */
    int type_error;          /* the code for a type that only `wider` has; messages say what to do */
    const char *wider;       /* the format with more types and longer dimensions; NULL: none */
    const char *cure;        /* how to create such a file */
    int64_t most_dim_length; /* of a dimension of fixed length */
    int64_t most_att_length; /* elements of an attribute */
    int most_var_dims;       /* of a variable */
    bool one_unlimited;      /* at most one dimension is unlimited, and it is the first one of its variables */
    bool has_paths;          /* a name may begin with the /, as that of a variable of a group */
    bool is_enhanced;        /* there may be groups, and attributes of NC_STRING */
    bool has_strings;        /* variables of NC_STRING may be defined */
    bool renames_groups;     /* groups may get other names */
    /* names of attributes that the format keeps for itself, NULL behind; NULL: none */
    const char *const *hidden_atts;
} pnc_rules;

/* What only a classic file has of a definition is in a member `classic`, which other formats do not use. */
typedef struct pnc_classic_entry {
    int64_t where; /* byte offset of this entry in the encoded header; set by encode and decode, else -1 */
} pnc_classic_entry;

typedef struct pnc_dim {
    char *name;
    int64_t len;    /* of fixed length; 0: an unlimited one */
    int64_t length; /* current length of an unlimited one but the first, which has the number of records */
    bool unlimited;
    pnc_classic_entry classic;
} pnc_dim;

/* The strings of an attribute of NC_STRING, whose text has them with newlines between them (format/strings.h). */
typedef struct pnc_strings {
    int64_t n;
    const int64_t *lengths; /* bytes of each, -1: NULL in its place; NULL: the attribute has no strings */
} pnc_strings;

typedef struct pnc_att {
    char *name;
    int type;
    int64_t len; /* number of elements */
    /* in the encoding of the model; len * pnc_type_get_size(type) bytes, without padding; NULL if len is 0 */
    void *value;
    pnc_strings strings; /* then the type is NC_CHAR */
    pnc_classic_entry classic;
} pnc_att;

typedef struct pnc_atts {
    int n, capacity;
    pnc_att **at;
    pnc_table names;
} pnc_atts;

typedef struct pnc_classic_var {
    int64_t where; /* as in pnc_classic_entry */
    int64_t begin; /* file offset of the first byte (of the first record) */
} pnc_classic_var;

/* What only a netCDF-4 file has. */
typedef struct pnc_netcdf4_var {
    int64_t address;      /* of its values in the file, if they are one part of it; else 0 */
    const int64_t *shape; /* in the memory of the format: of unlimited dimensions, the most */
    bool lacks_space;     /* contiguous, and without an address in the file: see add_space */
} pnc_netcdf4_var;

typedef struct pnc_var {
    char *name;
    int type;
    int ndims;
    int *dimids;
    pnc_atts atts;
    struct pnc_storage *storage; /* format/storage.h; NULL: the format leaves no choice */
    bool no_fill;                /* not in the file: filling is off for this variable */
    int quantize_mode, nsd;      /* of what is put: NC_NOQUANTIZE .., and the number of digits or bits */
    int error_mode;              /* likewise, with a bound instead: a pnc_quantization; 0: none */
    double error_bound;          /* likewise: above 0 */
    bool little;                 /* its values are little-endian */
    /* derived from dimids when the variable is added or decoded */
    bool is_record;       /* its first dimension is unlimited */
    bool inner_unlimited; /* another one is: not in a classic file */
    int64_t *shape;       /* dimension lengths, 0 for an unlimited dimension */
    int64_t size;         /* bytes of the whole variable, or of one record, without padding; 0 if inner_unlimited */
    pnc_classic_var classic;
    pnc_netcdf4_var netcdf4;
} pnc_var;

/* Set by pnc_format_layout_compute or decode. */
typedef struct pnc_classic_model {
    int64_t header_size;   /* bytes of the encoded header */
    int64_t header_extent; /* offset of the first variable (begin_rec without fixed-size variables) */
    int64_t begin_rec;     /* offset of the record section */
    int64_t recsize;       /* bytes from one record to the next */
} pnc_classic_model;

/* Dimensions and variables of groups have paths as names (format/groups.h). Listed: inquiries count them, and their
 * attributes are among the global ones, with paths too. Otherwise they follow those of the root group, the model has no
 * attributes of groups, and none is added or renamed. */
typedef struct pnc_groups {
    bool exist, are_listed;
    int ndims, nvars; /* of groups; 0 if they are listed */
    int n, capacity;
    char **paths; /* of groups, each behind its parent, without the root group */
} pnc_groups;

/* Entries, names, values and lists are in one region of memory, which is freed with the model. What is replaced or
 * deleted stays there until then; ncmpi_redef begins with a copy. */
typedef struct pnc_model {
    pnc_region region;
    int format;             /* the version: NC_FORMAT_CLASSIC .. */
    const pnc_rules *rules; /* NULL: those of the classic version */
    int64_t numrecs;        /* number of records: the length of `recdim`; a classic header has it in any case */
    int recdim;             /* id of the first unlimited dimension, or -1; the only one of a classic file */
    int nunlimited;         /* unlimited dimensions */
    int ndims, dims_capacity;
    pnc_dim **dims;
    pnc_table dim_names;
    int nvars, vars_capacity;
    pnc_var **vars;
    pnc_table var_names;
    int nrecvars;
    pnc_atts gatts;
    pnc_groups groups;
    bool little;        /* values of attributes are little-endian */
    bool casts;         /* as in pnc_encoding */
    bool has_bad_names; /* the file had names that are empty or invalid UTF-8; by renaming they may have gone since */
    pnc_classic_model classic;
} pnc_model;

int pnc_format_model_init(pnc_model *model, int format, pnc_error *error);              /* of a classic file */
void pnc_format_model_init_rules(pnc_model *model, int format, const pnc_rules *rules); /* of another one */
const pnc_rules *pnc_format_model_get_rules(const pnc_model *model);
void pnc_format_model_free(pnc_model *model);                     /* leaves an empty, reusable struct */
int pnc_format_model_copy(pnc_model *out, const pnc_model *from); /* deep; NC_NOERR or NC_ENOMEM */

/* CDF-1, CDF-2 and the classic model have one type of bytes, which programs take as they like: as in netCDF. */
static inline bool pnc_format_model_has_signless_bytes(const pnc_model *model)
{
    return model->format <= NC_FORMAT_CDF2 || model->format == NC_FORMAT_NETCDF4_CLASSIC;
}

/* How values of attributes are stored in the model. */
static inline pnc_encoding pnc_format_model_get_encoding(const pnc_model *model)
{
    return (pnc_encoding){
        .little = model->little, .signless_bytes = pnc_format_model_has_signless_bytes(model), .casts = model->casts};
}

/* How values of a variable are stored in the file. */
static inline pnc_encoding pnc_format_var_get_encoding(const pnc_model *model, const pnc_var *var)
{
    return (pnc_encoding){
        .little = var->little, .signless_bytes = pnc_format_model_has_signless_bytes(model), .casts = model->casts};
}

/* NC_EBADNAME if a name is empty or invalid UTF-8. Such a model can be read from a file, but not written. */
int pnc_format_names_check(const pnc_model *model, pnc_error *error);

/* Dimensions; a new one gets the next id, ndims. len 0 = NC_UNLIMITED. NC_EBADNAME NC_EMAXNAME NC_EDIMSIZE NC_EUNLIMIT
 * NC_ENAMEINUSE NC_ENOMEM */
int pnc_format_dim_add(pnc_model *model, const char *name, int64_t len, pnc_error *error);
/* Id or -1; name need not be NFC, and may be a path. */
int pnc_format_dim_find(const pnc_model *model, const char *name);
int pnc_format_dim_rename(pnc_model *model, int dimid, const char *name, pnc_error *error);
int64_t pnc_format_dim_get_max_length(int format); /* of fixed length, in a classic file */
/* The current length. */
int64_t pnc_format_dim_get_length(const pnc_model *model, int dimid);
/* Raise that of an unlimited dimension; true if it was less. */
bool pnc_format_dim_grow(pnc_model *model, int dimid, int64_t length);

/* Largest number of dimensions of a defined variable. The format has no bound; this one rejects a wrong number before
 * it is used as the length of the caller's array. netCDF-C opens files with up to 1024. */
#define PNC_VAR_DIMS_MAX (1 << 20)

/* Variables; a new one gets the next id, nvars. NC_EBADNAME NC_EBADTYPE NC_ESTRICTCDF2 NC_EMAXDIMS NC_EINVAL NC_EBADDIM
 * NC_EUNLIMPOS NC_ENAMEINUSE NC_EVARSIZE.. */
int pnc_format_var_add(pnc_model *model, const char *name, int type, int ndims, const int *dimids, pnc_error *error);
int pnc_format_var_find(const pnc_model *model, const char *name);
/* The current length of a dimension of the variable. */
int64_t pnc_format_var_get_length(const pnc_model *model, const pnc_var *var, int dim);
/* The current length of the first dimension, if that is unlimited, else 0. */
static inline int64_t pnc_format_var_get_records(const pnc_model *model, const pnc_var *var)
{
    return var->is_record ? pnc_format_var_get_length(model, var, 0) : 0;
}

int pnc_format_var_rename(pnc_model *model, int varid, const char *name, pnc_error *error);

/* A digest of what hyperslabs rely on: dimensions, but for the lengths of those that grow, and variables. */
uint64_t pnc_format_model_get_digest(const pnc_model *model);

/* Ids that callers pass. */
int pnc_format_dim_check(const pnc_model *model, int dimid, pnc_error *error);         /* NC_EBADDIM */
int pnc_format_var_reject(const pnc_model *model, int varid, pnc_error *error);        /* always NC_ENOTVAR */
int pnc_format_var_reject_global(const pnc_model *model, int varid, pnc_error *error); /* or NC_EGLOBAL */

/* NC_EGLOBAL NC_ENOTVAR */
static inline int pnc_format_var_check(const pnc_model *model, int varid, pnc_error *error)
{
    return varid >= 0 && varid < model->nvars ? NC_NOERR : pnc_format_var_reject_global(model, varid, error);
}

/* Attributes of the file (varid NC_GLOBAL) or of a variable; NULL for an unknown varid. */
pnc_atts *pnc_format_atts_get(const pnc_model *model, int varid);
int pnc_format_atts_find(const pnc_atts *atts, const char *name); /* index or -1 */
/* Whether the format keeps a name for itself; NC_ENAMEINUSE for one. */
bool pnc_format_att_name_is_hidden(const pnc_rules *rules, const char *name);
int pnc_format_att_name_check(const pnc_rules *rules, const char *name, pnc_error *error);
/* Whether two attributes of models with the same encoding have the same type and values. */
bool pnc_format_att_is_same(const pnc_att *a, const pnc_att *b);
/* Create or replace. value has the encoding of the model, and is copied. */
int pnc_format_atts_put(pnc_model *model, pnc_atts *atts, const char *name, int type, int64_t len, const void *value,
                        pnc_error *error);
int pnc_format_atts_rename(pnc_model *model, pnc_atts *atts, int index, const char *name, pnc_error *error);
int pnc_format_atts_delete(pnc_atts *atts, int index);

/* A dimension, a variable, or an attribute. */
typedef struct pnc_entry {
    int dimid; /* -1: no dimension */
    int varid; /* of the variable, or NC_GLOBAL */
    int att;   /* index of the attribute; -1: the dimension or variable itself */
} pnc_entry;

int pnc_format_entry_rename(pnc_model *model, pnc_entry entry, const char *name, pnc_error *error);
/* Undo a rename of the entry with this index; `old` is the name that it had, in the memory of the model. */
void pnc_format_name_undo(pnc_table *names, int index, char **name, char *old);

/* The fill value of a variable: its attribute _FillValue if that has the type of the variable and length 1, else the
 * default of the type. out receives pnc_type_get_size(type) bytes in the encoding of the variable. */
void pnc_format_var_get_fill_value(const pnc_model *model, const pnc_var *var, void *out);

#endif
