/* JSON of documents: what json-c accepts, less what costs too much memory, and keys that occur twice. Of this folder
 * only. */
#ifndef PNC_ZARR_JSON_H
#define PNC_ZARR_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/region.h"
#include "host/json.h"

/* What all functions that read or write documents need. */
typedef struct pnc_zarr_context {
    const pnc_json_functions *json;
    pnc_region *region;
    pnc_error *error;
    const char *key;    /* of the document, for messages */
    int64_t json_bytes; /* of values that were parsed, as an estimate */
} pnc_zarr_context;

/* NC_ENOTBUILT if json-c is not installed. */
int pnc_zarr_json_check(const pnc_json_functions *json, pnc_error *error);

/* NC_ENCZARR, "KEY: WHAT", of a document. */
int pnc_zarr_damage_set(const pnc_zarr_context *c, const char *what, ...) PNC_PRINTF(2, 3);
int pnc_zarr_memory_fail(const pnc_zarr_context *c);
/* n items; *out stays as it is without memory: NC_ENOMEM. */
int pnc_zarr_memory_alloc(const pnc_zarr_context *c, int64_t n, size_t size, void *out);
int pnc_zarr_text_copy(const pnc_zarr_context *c, const char *text, int64_t n, const char **out);

/* The value of a document, which the caller frees by put. NC_ENCZARR: it is not JSON, nested too deeply, too large for
 * memory together with those before, or an object has a key twice. */
int pnc_zarr_json_parse(pnc_zarr_context *c, const char *bytes, int64_t n, void **out);

/* A member, or NULL: there is none, or it is null. */
void *pnc_zarr_member_get(const pnc_zarr_context *c, const void *object, const char *name);
/* The same, of a type. NC_ENCZARR: it has another type; or it is missing, unless `is_optional`: then *out is NULL. */
int pnc_zarr_member_find(const pnc_zarr_context *c, const void *object, const char *name, pnc_json_type type,
                         bool is_optional, void **out);
bool pnc_zarr_value_is(const pnc_zarr_context *c, const void *value, pnc_json_type type);
/* Whether a value is this text. */
bool pnc_zarr_text_is(const pnc_zarr_context *c, void *value, const char *text);
/* A text, or NULL: it is another value, or has a NUL. */
const char *pnc_zarr_text_get(const pnc_zarr_context *c, void *value);
/* An integer; false: it is another value, or out of range. */
bool pnc_zarr_integer_get(const pnc_zarr_context *c, const void *value, int64_t least, int64_t most, int64_t *out);
/* A list of integers, *n of them, at most `capacity`. NC_ENCZARR. */
int pnc_zarr_integers_get(const pnc_zarr_context *c, const void *list, const char *name, int64_t least, int64_t most,
                          int capacity, int *n, int64_t *out);

/* Loop over the members of an object. */
#define PNC_ZARR_EACH_MEMBER(c, object, at)                                              \
    for (pnc_json_iterator at = (c)->json->begin(object), end_ = (c)->json->end(object); \
         !(c)->json->is_at(&at, &end_); (c)->json->next(&at))

/* --- writing: a value is added to what has it, which takes it; without memory NC_ENOMEM, and it is freed --- */

int pnc_zarr_member_add(const pnc_zarr_context *c, void *object, const char *name, void *value, bool may_be_null);
int pnc_zarr_item_add(const pnc_zarr_context *c, void *list, void *value);
int pnc_zarr_text_add(const pnc_zarr_context *c, void *object, const char *name, const char *text);
int pnc_zarr_integer_add(const pnc_zarr_context *c, void *object, const char *name, int64_t number);
int pnc_zarr_integers_add(const pnc_zarr_context *c, void *object, const char *name, int n, const int64_t *numbers);
/* A new object or list, which stays the caller's to fill; NULL without memory. */
void *pnc_zarr_object_add(const pnc_zarr_context *c, void *object, const char *name);
void *pnc_zarr_list_add(const pnc_zarr_context *c, void *object, const char *name);
/* The text of a value, with a newline behind it. */
int pnc_zarr_json_print(const pnc_zarr_context *c, void *value, const char **bytes, int64_t *n);

#endif
