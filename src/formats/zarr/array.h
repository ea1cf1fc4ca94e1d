/* The parts of an array's document. Of this folder only. */
#ifndef PNC_ZARR_ARRAY_H
#define PNC_ZARR_ARRAY_H

#include "formats/zarr/document.h"
#include "formats/zarr/value.h"

/* --- types of elements, and fill values (elements.c) --- */

/* Sets type, content, byte order of version 2, and what refuses them. NC_ENCZARR */
int pnc_zarr_elements_read(const pnc_zarr_context *c, void *value, pnc_zarr_array *array);
int pnc_zarr_fill_read(const pnc_zarr_context *c, void *value, pnc_zarr_array *array);
/* The type of netCDF that version 2 calls so, without its order: "f4". 0: there is none. */
int pnc_zarr_elements_find_type(const char *name);
/* Values of JSON; NULL without memory. */
void *pnc_zarr_elements_make(const pnc_zarr_context *c, const pnc_zarr_array *array);
void *pnc_zarr_fill_make(const pnc_zarr_context *c, const pnc_zarr_array *array);

/* --- codecs (codecs.c): of version 3 and 2; shape, chunks and type are known --- */

int pnc_zarr_codecs_read(const pnc_zarr_context *c, void *list, pnc_zarr_array *array);
int pnc_zarr_codecs_read_v2(const pnc_zarr_context *c, void *document, pnc_zarr_array *array);
/* Add the member "codecs" of version 3. */
int pnc_zarr_codecs_add(const pnc_zarr_context *c, void *document, const pnc_zarr_array *array);

/* Keep the first reason why values cannot be accessed. */
int pnc_zarr_array_reject(const pnc_zarr_context *c, pnc_zarr_array *array, const char *why, ...) PNC_PRINTF(3, 4);

/* --- documents (array.c) --- */

/* All but attributes and dimids. `document` is the value of zarr.json, or of .zarray; own: what NCZarr says of the
 * array (nczarr.h), or NULL. */
int pnc_zarr_array_read(const pnc_zarr_context *c, void *document, void *own, pnc_zarr_array *array);
/* Dimension names of version 2, from attributes. */
int pnc_zarr_names_read(const pnc_zarr_context *c, void *list, pnc_zarr_array *array);
/* The list of names of dimensions: a member of the document, or an attribute of version 2. */
#define PNC_ZARR_NAMES "dimension_names"
#define PNC_ZARR_NAMES_V2 "_ARRAY_DIMENSIONS"
int pnc_zarr_names_add(const pnc_zarr_context *c, void *object, const char *member, const pnc_zarr_array *array);
/* Set the members of a new document of version 3, but for the attributes. */
int pnc_zarr_array_write(const pnc_zarr_context *c, void *document, const pnc_zarr_array *array);

#endif
