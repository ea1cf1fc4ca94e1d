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

/* 4 bytes, most significant byte first. */
static inline uint32_t pnc_format_word_load(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline void pnc_format_word_store(uint32_t word, unsigned char *p)
{
    p[0] = (unsigned char)(word >> 24);
    p[1] = (unsigned char)(word >> 16);
    p[2] = (unsigned char)(word >> 8);
    p[3] = (unsigned char)word;
}

/* Increase the capacity of *at, which holds n pointers, to at least `wanted`. NC_NOERR or NC_ENOMEM. */
int pnc_format_list_reserve(pnc_region *region, void ***at, int n, int *capacity, int wanted);

int pnc_format_list_grow(pnc_region *region, void ***at, int n, int *capacity); /* to at least n + 1 */

/* Memory for n dimensions or variables in total, if their number is known. NC_NOERR or NC_ENOMEM. */
int pnc_format_dims_reserve(pnc_model *model, int n);
int pnc_format_vars_reserve(pnc_model *model, int n);

/* Rename the entry with this index, and its key in the table. NC_NOERR, or NC_ENOMEM and nothing has changed. */
int pnc_format_name_replace(pnc_model *model, pnc_table *names, int index, char **name, const char *to);

/* Index of a name or path, or -1. */
int pnc_format_path_find(const pnc_model *model, const pnc_table *names, const char *name);

/* vsize of the specification: bytes of the variable, or of one record of it, rounded up to a multiple of 4 (also for a
 * single record variable, whose records are packed). CDF-1, CDF-2: 2^32 - 1 if it does not fit in 32 bits. */
int64_t pnc_format_var_compute_vsize(const pnc_var *var, int format);

/* Encode a value of n bytes, in host byte order, most significant byte first. */
void pnc_format_value_encode(const void *value, size_t n, void *out);

/* Entries that are created or appended have their memory in the region of the model. Append returns NC_NOERR,
 * NC_ENOMEM, or NC_ENAMEINUSE if an earlier entry has the same name: searches find that one. */
int pnc_format_dim_append(pnc_model *model, const char *name, int64_t name_len, int64_t len, bool unlimited);
int pnc_format_var_append(pnc_model *model, pnc_var *var);

/* A variable with memory for dimids and shape; NULL without memory. */
pnc_var *pnc_format_var_create(pnc_model *model, const char *name, int64_t name_len, int ndims);
/* Set shape, is_record and size from type and dimids. -1 if the size exceeds 64 bits. */
int pnc_format_var_derive(const pnc_model *model, pnc_var *var);

/* One allocation for attribute, name and value: a header has more attributes than other entries. */
pnc_att *pnc_format_att_create(pnc_region *region, const char *name, int64_t name_len, int type, int64_t len,
                               const void *value);
int pnc_format_atts_append(pnc_region *region, pnc_atts *atts, pnc_att *att);
int pnc_format_atts_copy(pnc_region *region, pnc_atts *out, const pnc_atts *from);
void pnc_format_atts_free(pnc_atts *atts); /* what is not in the region */

/* Index of the attribute whose name has exactly these bytes, or -1. */
int pnc_format_atts_find_exact(const pnc_atts *atts, const char *name);

#endif
