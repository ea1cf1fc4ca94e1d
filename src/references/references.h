/* References: JSON by which readers of Zarr find the data in netCDF files (kerchunk's reference files, version 1;
 * https://fsspec.github.io/kerchunk/spec.html). Written as a stream: memory does not grow with the number of chunks.
 *
 * Functions that can fail return NC_NOERR, or a code with a message in `error`. Errors of `out` are the caller's. */
#ifndef PNC_REFERENCES_REFERENCES_H
#define PNC_REFERENCES_REFERENCES_H

#include <stdio.h>

#include "base/error.h"
#include "format/model.h"
#include "formats/reader.h"

#define PNC_REFERENCES_CHUNK (16 << 20) /* bytes: large enough for object stores, small enough for memory of a task */

typedef struct pnc_references {
    FILE *out;
    const char *path;       /* of the file, for messages */
    const char *url;        /* of the file in the references; may change between files */
    const pnc_model *model; /* of several files that of the first one */
    int64_t numrecs;        /* of the files so far */
    const bool *within;     /* of a file with a reader: variables whose values are in the references; NULL: none */
    int64_t chunk;          /* bytes of a chunk at most, where the file has no chunks */
    bool (*selects)(const void *with, const char *variable);                    /* NULL: all */
    void (*leave_out)(const void *with, const char *variable, const char *why); /* report a variable; NULL: do not */
    const void *with;
    pnc_error *error;
} pnc_references;

void pnc_references_list_begin(const pnc_references *r);
void pnc_references_list_end(const pnc_references *r);
bool pnc_references_var_is_listed(const pnc_references *r, const pnc_var *var);

/* Between these, of classic files: the fixed-size variables of the first one, the records of each, whose number is
 * added; then the attributes. Records are in the order of the model. */
void pnc_references_fixed_write(const pnc_references *r);
void pnc_references_records_write(pnc_references *r, const pnc_model *model);
int pnc_references_metadata_write(const pnc_references *r);
/* The same of files with readers, whose `error` is that of r: all chunks of the first one, which stays open; the chunks
 * of the record variables of each other one, which are stored alike; then all documents. Each file but the last has
 * whole chunks of records. End frees s also after an error, without documents then. */
typedef struct pnc_stored_references pnc_stored_references;
/* Why a variable of a file with a reader is left out; NULL: it is not. */
const char *pnc_references_obstacle_find(const pnc_var *var, const pnc_stored *storage);
int pnc_references_stored_begin(pnc_references *r, pnc_reader *reader, pnc_stored_references **s);
int pnc_references_stored_add(pnc_stored_references *s, pnc_reader *reader, const pnc_model *model);
int pnc_references_stored_end(pnc_stored_references *s, int err);
/* All of one file. */
int pnc_references_stored_write(pnc_references *r, pnc_reader *reader);

/* All references of one file, which is closed. model: its definitions if it is a classic file. The path
 * has no prefix; the URL is its absolute path. */
int pnc_references_file_write(pnc_references *r);

/* NC_ENOTNC if a classic file ends before its data. */
int pnc_references_size_check(const pnc_references *r, const pnc_model *model, int64_t size);

/* --- for the functions above --- */

/* ,"variable/ or ," */
void pnc_references_key_begin(const pnc_references *r, const pnc_var *var);
/* Behind a key: where its bytes are in the file. */
void pnc_references_extent_write(const pnc_references *r, int64_t offset, int64_t bytes);
/* .zarray of a variable, which `array` writes; without it .zattrs, of the file if there is no variable. */
typedef void pnc_references_array(FILE *out, const pnc_references *r, const pnc_var *var, const void *with);
int pnc_references_document_write(const pnc_references *r, const pnc_var *var, pnc_references_array *array,
                                  const void *with);

#endif
