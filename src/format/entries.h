/* Entries of the header model: create and append, without checks. The callers check: arguments of a user's call, or a
 * header that is decoded. */
#ifndef PNC_FORMAT_ENTRIES_H
#define PNC_FORMAT_ENTRIES_H

#include "format/model.h"

/* Tags of the lists, and sizes of the words that differ between the formats. */
enum { PNC_TAG_DIMENSION = 0x0a, PNC_TAG_VARIABLE = 0x0b, PNC_TAG_ATTRIBUTE = 0x0c };

static inline int pnc_format_count_get_size(int format)
{
    return format == 5 ? 8 : 4;
}

static inline int pnc_format_offset_get_size(int format)
{
    return format == 1 ? 4 : 8;
}

/* Increase the capacity of *at, which holds n pointers, by at least 1. NC_NOERR or NC_ENOMEM. */
int pnc_format_list_grow(void ***at, int n, int *capacity);

/* Copy a name of n bytes to a string; NULL without memory. */
char *pnc_format_name_copy(const char *bytes, int64_t n);

/* vsize of the specification: bytes of the variable, or of one record of it, rounded up to a multiple of 4 (also for a
 * single record variable, whose records are packed). CDF-1, CDF-2: 2^32 - 1 if it does not fit in 32 bits. */
int64_t pnc_format_var_compute_vsize(const pnc_var *var, int format);

/* Encode a value of n bytes, in host byte order, most significant byte first. */
void pnc_format_value_encode(const void *value, size_t n, void *out);

/* The append functions take ownership of their arguments, also after NC_ENOMEM. */
int pnc_format_dim_append(pnc_model *model, char *name, int64_t len);
int pnc_format_var_append(pnc_model *model, pnc_var *var);

/* A variable with memory for dimids and shape. Takes ownership of name; name NULL (failed allocation) returns NULL. */
pnc_var *pnc_format_var_create(char *name, int ndims);
void pnc_format_var_free(pnc_var *var);
/* Set shape, is_record and size from type and dimids. -1 if the size exceeds 64 bits. */
int pnc_format_var_derive(const pnc_model *model, pnc_var *var);

/* One block of memory for attribute, name and value: a header has more attributes than other entries. value NULL: the
 * caller sets the bytes. */
pnc_att *pnc_format_att_create(const char *name, int64_t name_len, int type, int64_t len, const void *value);
int pnc_format_atts_append(pnc_atts *atts, pnc_att *att);
int pnc_format_atts_copy(pnc_atts *out, const pnc_atts *from);

/* Index of the attribute whose name has exactly these bytes, or -1. */
int pnc_format_atts_find_exact(const pnc_atts *atts, const char *name);

#endif
