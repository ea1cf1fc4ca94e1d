/* Hints for the storage of variables: nc_compression, nc_shuffle, nc_chunks, nc_quantize, nc_error, also for the
 * variables that a pattern names: nc_compression@T*. */
#ifndef PNC_DATASET_STORAGE_HINTS_H
#define PNC_DATASET_STORAGE_HINTS_H

#include "dataset/dataset.h"

/* Whether a text is a value of the hint; readers of rows of src/spec/hints.m4. */
bool pnc_dataset_compression_parse(const char *text, pnc_hints *out);
bool pnc_dataset_shuffle_parse(const char *text, pnc_hints *out);
bool pnc_dataset_threads_parse(const char *text, pnc_hints *out);
bool pnc_dataset_chunks_parse(const char *text, pnc_hints *out);
bool pnc_dataset_quantize_parse(const char *text, pnc_hints *out);
bool pnc_dataset_error_parse(const char *text, pnc_hints *out);

/* The name of the hint that stands before the pattern of a key: "nc_chunks" of "nc_chunks@T*"; NULL if the key is no
 * such hint with an @. */
const char *pnc_dataset_storage_hint_find(const char *key);
/* Whether a key with an @ has a pattern, and its hint can have the value. */
bool pnc_dataset_storage_pattern_is_valid(const char *key, const char *value);
/* How many variables the pattern of such a key matches. */
int pnc_dataset_storage_pattern_count_vars(const pnc_dataset *ds, const char *key);

/* Why the value of such a hint, with a pattern or without, is ignored; empty for another hint. */
void pnc_dataset_storage_hint_explain(const char *key, const char *value, char *out, size_t capacity);

/* On rank 0: the valid ones of ds->environment and ds->info as ds->storage_hints. NC_ENOMEM */
int pnc_dataset_storage_hints_read(pnc_dataset *ds);
/* On rank 0, which has chosen the driver of this name: the default of the format. NC_ENOMEM */
int pnc_dataset_storage_hints_add_default(pnc_dataset *ds, const char *driver);
/* Collective, if `length` is not 0, which all ranks know: the other ranks receive them. */
int pnc_dataset_storage_hints_share(pnc_dataset *ds, int64_t length);

/* Apply them to the variables that are defined since `before`, where the program has not chosen, and report hints
 * that are for no variable. Local, the same on all ranks that have the same definitions. NC_ENOMEM */
int pnc_dataset_storage_hints_apply(pnc_dataset *ds);
/* After opening a file, or enddef. A classic file does not say that puts are quantized, and no file that they have a
 * bound of the error: the hint and the attribute of a variable must agree. Of netCDF-4 files only definitions that
 * rank 0 has overruled are quantized as the attributes say. */
void pnc_dataset_storage_hints_adopt(pnc_dataset *ds);

#endif
