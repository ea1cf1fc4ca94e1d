/* A netCDF file of a classic format, read by one process without MPI: its header, and its data in bounded pieces. */
#ifndef PNC_TOOLS_COMMON_FILE_H
#define PNC_TOOLS_COMMON_FILE_H

#include "format/observe.h"

typedef struct tool_file {
    const char *path; /* the caller's */
    int fd;           /* -1: not open */
    int64_t size;
    pnc_model model;  /* of the header; empty until it is read */
} tool_file;

/* All functions below return NC_NOERR or a code, after a complaint that names file and cause. A file that failed to
 * open may be closed too. */

int tool_file_open(const char *path, tool_file *file);        /* open, read and check the header */
int tool_file_open_bytes(const char *path, tool_file *file);  /* open only, for a look at the bytes */
/* Read as much as the header needs, for somebody who looks on (format/observe.h), into *bytes, which the caller frees
 * with pnc_memory_free, and what it holds into file->model. NC_NOERR also where there are violations, unless
 * observer is NULL. */
int tool_file_read_header(tool_file *file, const pnc_observer *observer, char **bytes, int64_t *n);
void tool_file_close(tool_file *file);

/* n bytes from offset on. NC_EREAD where the file ends before. */
int tool_file_read(const tool_file *file, int64_t offset, void *bytes, int64_t n);

/* Lengths of the variable's dimensions, the number of records among them; shape has room for var->ndims. */
void tool_file_get_shape(const tool_file *file, const pnc_var *var, int64_t *shape);

/* A block of a variable (see blocks.h): count elements from start on, of which all but those along one dimension are
 * whole or single. values: external bytes, or, where native is set, values of this machine in the type that
 * pnc_type_get_mem_type tells; room for as many elements in both cases. What lies beyond the end of the file reads as
 * zeros. */
int tool_file_read_block(const tool_file *file, const pnc_var *var, const int64_t *start, const int64_t *count,
                         bool native, void *values);

#endif
