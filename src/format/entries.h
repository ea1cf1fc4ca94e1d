/* Pieces of the header model shared by the files of this room: making entries and appending them, without the checks
 * that a user's call needs and a decoded file has its own of. */
#ifndef PNC_FORMAT_ENTRIES_H
#define PNC_FORMAT_ENTRIES_H

#include "format/model.h"

/* Tags of the lists, and the widths of the words that differ between the formats. */
enum { PNC_TAG_DIMENSION = 0x0a, PNC_TAG_VARIABLE = 0x0b, PNC_TAG_ATTRIBUTE = 0x0c };

static inline int pnc_format_count_get_size(int format)
{
    return format == 5 ? 8 : 4;
}

static inline int pnc_format_offset_get_size(int format)
{
    return format == 1 ? 4 : 8;
}

/* Make room for one more pointer in *at, which holds n and has *room. NC_NOERR or NC_ENOMEM. */
int pnc_format_list_grow(void ***at, int n, int *capacity);

/* A name of n bytes as a string of its own; NULL without memory. */
char *pnc_format_name_copy(const char *bytes, int64_t n);

/* The n bytes of a value of this machine, most significant first, as in the file. */
void pnc_format_value_encode(const void *value, size_t n, void *out);

/* The appending functions take ownership of what they are given, also when they fail with NC_ENOMEM. */
int pnc_format_dim_append(pnc_model *model, char *name, int64_t len);
int pnc_format_var_append(pnc_model *model, pnc_var *var);

/* A variable with room for dimids and shape; name (which it takes over) may be NULL after a failed allocation, and then
 * the result is NULL too. */
pnc_var *pnc_format_var_create(char *name, int ndims);
void pnc_format_var_free(pnc_var *var);
/* Fill shape, is_record and size from type and dimids. -1 if the bytes of the variable are beyond 64 bits. */
int pnc_format_var_derive(const pnc_model *model, pnc_var *var);

/* An attribute is one block that holds its name and value too: headers have many more of them than of anything else.
 * value may be NULL: then the bytes are left to the caller. */
pnc_att *pnc_format_att_create(const char *name, int64_t name_len, int type, int64_t len, const void *value);
int pnc_format_atts_append(pnc_atts *atts, pnc_att *att);
int pnc_format_atts_copy(pnc_atts *out, const pnc_atts *from);

/* The index of an attribute by the exact bytes of its name, or -1. */
int pnc_format_atts_find_exact(const pnc_atts *atts, const char *name);

#endif
