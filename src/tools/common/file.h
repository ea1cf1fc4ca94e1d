/* A netCDF file of a classic format, read by one process without MPI: its header, and its data in bounded blocks. */
#ifndef PNC_TOOLS_COMMON_FILE_H
#define PNC_TOOLS_COMMON_FILE_H

#include "format/observe.h"
#include "format/shortage.h"

typedef struct tool_file {
    const char *path; /* the caller's */
    int fd;           /* -1: not open */
    int64_t size;
    pnc_model model; /* of the header; empty until it is read */
} tool_file;

/* All functions below return NC_NOERR, or a code after an error message that names file and cause. A file may be closed
 * after a failed open. */

int tool_file_open(const char *path, tool_file *file);       /* open, read and check the header */
int tool_file_open_bytes(const char *path, tool_file *file); /* open only */
/* Read the header into *bytes, which the caller frees with pnc_memory_free, report it to an observer
 * (format/observe.h), and decode it into file->model. Violations return NC_NOERR unless observer is NULL. */
int tool_file_read_header(tool_file *file, const pnc_observer *observer, char **bytes, int64_t *n);
/* What the file lacks that ends before the data that its header describes, after a warning; only_large: a warning only
 * if whole variables or records are missing, for a tool that reads no values. */
pnc_shortage_kind tool_file_report_short(const tool_file *file, bool only_large);
/* Open a file whose header another process has read: n bytes of it, when the file had `size` bytes. */
int tool_file_open_copy(const char *path, const char *header, int64_t n, int64_t size, tool_file *file);
void tool_file_close(tool_file *file);

/* n bytes from `offset`. NC_EREAD if the file ends before. */
int tool_file_read(const tool_file *file, int64_t offset, void *bytes, int64_t n);

/* Lengths of the variable's dimensions, with the number of records; shape has var->ndims elements. */
void tool_file_get_shape(const tool_file *file, const pnc_var *var, int64_t *shape);

/* The values of an attribute in the memory type that belongs to its type. */
void tool_att_load(const pnc_att *att, void *values);

/* Read a block of a variable (see blocks.h): count elements from start; all dimensions but one are whole or have count
 * 1. values receives external bytes or, with native, values in host byte order of the type pnc_type_get_mem_type; its
 * capacity is the same number of elements in both cases. Data beyond the end of the file read as zeros. */
int tool_file_read_block(const tool_file *file, const pnc_var *var, const int64_t *start, const int64_t *count,
                         bool native, void *values);

#endif
