/* Numbers and attributes of documents: values of JSON to values of netCDF types in host order, and back. Of this folder
 * only. */
#ifndef PNC_ZARR_VALUE_H
#define PNC_ZARR_VALUE_H

#include "format/model.h"
#include "formats/zarr/json.h"

/* A number, or "NaN", "Infinity", "-Infinity", or "0x.." of its bits (floating-point numbers), as one of a type.
 * False: it is something else, or the type does not have it. */
bool pnc_zarr_number_read(const pnc_zarr_context *c, int type, void *value, void *out);
/* JSON knows finite numbers only: others are texts. NULL without memory. is_exact: bits of a NaN other than the usual
 * one are "0x..". */
void *pnc_zarr_number_make(const pnc_zarr_context *c, int type, const void *number, bool is_exact);

/* Base64 (RFC 4648). encode: n bytes to a text with NUL, of 4 * (n / 3 + 1) + 1 characters. decode: exactly n bytes;
 * false: it is not the text of so many. */
void pnc_zarr_base64_encode(const void *bytes, int n, char *text);
bool pnc_zarr_base64_decode(const char *text, int n, void *bytes);

/* The word for the type of an attribute that document.h's rules would not find; NULL for 0. */
typedef struct pnc_zarr_att_type {
    int type;        /* 0: by the rules */
    bool is_latin1;  /* bytes that are not UTF-8: each is the character of its number */
    bool is_strings; /* one string, which would be a text */
} pnc_zarr_att_type;
bool pnc_zarr_att_type_parse(const char *word, pnc_zarr_att_type *out);
const char *pnc_zarr_att_type_get_word(const pnc_zarr_att_type *type);

/* An attribute; var_type: that of its variable, for _FillValue as xarray encodes it; 0: of a group. A type that does
 * not suit the value is not used. NC_ENOMEM. */
int pnc_zarr_att_read(const pnc_zarr_context *c, const char *name, void *value, int var_type,
                      const pnc_zarr_att_type *type, pnc_att *out);
/* Its value, and the type that must be known to read it. NC_ENOMEM */
int pnc_zarr_att_make(const pnc_zarr_context *c, const pnc_att *att, int var_type, void **value,
                      pnc_zarr_att_type *type);
/* Whether xarray does not open a store with this attribute of a variable of the type: a _FillValue of another. */
bool pnc_zarr_att_is_odd(const pnc_att *att, int var_type);
/* Whether type and values, in the same order of bytes, are the same. */
bool pnc_zarr_att_is_same(const pnc_att *a, const pnc_att *b);

#endif
