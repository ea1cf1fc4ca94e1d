/* What a netCDF-4 file is, as bytes: rank 0 writes them from what libhdf5 answers, one broadcast shares them, and all
 * ranks decode them to definitions and storage. Decoding trusts nothing: counts, lengths and addresses are checked
 * against the bytes that remain, and against the file. Pure. */
#ifndef PNC_NETCDF4_DESCRIPTION_H
#define PNC_NETCDF4_DESCRIPTION_H

#include <stdbool.h>
#include <stdint.h>
#include "base/region.h"
#include "drivers/chunks/chunks.h"
#include "filter/filter.h"
#include "format/model.h"
#include "format/storage.h"

typedef enum pnc_netcdf4_layout {
    PNC_NETCDF4_CONTIGUOUS, /* at an address of the file; -1: nothing was written */
    PNC_NETCDF4_COMPACT,    /* in the metadata */
    PNC_NETCDF4_CHUNKED,
    PNC_NETCDF4_UNREADABLE, /* a type or a storage that this library does not read */
    PNC_NETCDF4_STRINGS,    /* of NC_STRING: libhdf5 reads and writes the values; chunk is NULL if there are none */
    PNC_NETCDF4_LAYOUTS
} pnc_netcdf4_layout;

/* Why values cannot be put, though they can be read. */
typedef enum pnc_netcdf4_obstacle {
    PNC_NETCDF4_NO_OBSTACLE,
    PNC_NETCDF4_SKIPS_PARTIAL, /* chunks that extend beyond the dataset are stored without filters */
    PNC_NETCDF4_IS_CONVERTED,  /* a compact one: libhdf5 has converted its values to the type of the variable */
    PNC_NETCDF4_IS_NULL,       /* it has a null dataspace, and no values */
    PNC_NETCDF4_IS_ALIAS,      /* another variable has the same dataset */
    PNC_NETCDF4_HAS_LENGTH,    /* strings of one length */
    PNC_NETCDF4_OBSTACLES
} pnc_netcdf4_obstacle;

/* How the values of a variable are stored. */
typedef struct pnc_netcdf4_storage {
    pnc_netcdf4_layout layout;
    bool is_big_endian; /* for writing; what is read is in the variable */
    pnc_netcdf4_obstacle obstacle;
    bool no_fill;          /* filling is off: of a file that was defined, since the file does not have it */
    bool has_fill;         /* the dataset defines a fill value */
    unsigned char fill[8]; /* host order; that of values that were never written */
    const char *path;      /* of the dataset in the file */
    const int64_t *extent; /* of the dataset, which may be shorter than the variable; as many as dimensions */
    int64_t address;
    int64_t nbytes; /* of a compact one */
    const unsigned char *bytes;
    const int64_t *chunk; /* its lengths */
    pnc_filter_chain filters;
    int64_t nplaces; /* chunks whose places are known: all or none */
    const pnc_chunk_place *places;
} pnc_netcdf4_storage;

/* What definitions of this version may have. */
const pnc_rules *pnc_netcdf4_rules_get(int format);
/* Those of a file with the classic model whose program has asked for NC_FORMAT_CLASSIC or NC_FORMAT_CDF2. */
const pnc_rules *pnc_netcdf4_rules_get_asked(int asked);

/* --- writing; after an allocation that has failed nothing is written --- */

typedef struct pnc_netcdf4_writer {
    char *bytes;
    int64_t n, capacity;
    bool failed;
} pnc_netcdf4_writer;

void pnc_netcdf4_number_write(pnc_netcdf4_writer *w, int64_t number);
void pnc_netcdf4_numbers_write(pnc_netcdf4_writer *w, const int64_t *numbers, int64_t n);
void pnc_netcdf4_bytes_write(pnc_netcdf4_writer *w, const void *bytes, int64_t n); /* with their number */
void pnc_netcdf4_text_write(pnc_netcdf4_writer *w, const char *text);

/* In this order: the head, with the paths of groups; each dimension; the global attributes; each variable, its
 * attributes and its storage. */
void pnc_netcdf4_head_write(pnc_netcdf4_writer *w, int format, int64_t ndims, int64_t nvars, const pnc_groups *groups);
void pnc_netcdf4_dim_write(pnc_netcdf4_writer *w, const char *name, int64_t length, bool is_unlimited);
/* Before the attributes of the file or of a variable. */
void pnc_netcdf4_count_write(pnc_netcdf4_writer *w, int64_t natts);
/* The values of att, whose name is ignored, are in host order. */
void pnc_netcdf4_att_write(pnc_netcdf4_writer *w, const char *name, const pnc_att *att);
void pnc_netcdf4_var_write(pnc_netcdf4_writer *w, const char *name, int type, int64_t ndims, const int64_t *dimids);
void pnc_netcdf4_storage_write(pnc_netcdf4_writer *w, const pnc_netcdf4_storage *storage, int64_t ndims);

/* --- reading --- */

/* The definitions, and the storage of each variable, in memory of `region`; the bytes must outlive both. model is
 * replaced. NC_EHDFERR or NC_ENOMEM with a message; then model and region have what can be freed. */
int pnc_netcdf4_description_decode(const char *bytes, int64_t n, int64_t file_size, pnc_model *model,
                                   pnc_region *region, pnc_netcdf4_storage **storage, pnc_error *error);

#endif
