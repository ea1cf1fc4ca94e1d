/* A netCDF file of any format, read by one process without MPI: its header, and its data in bounded blocks. */
#ifndef PNC_TOOLS_COMMON_FILE_H
#define PNC_TOOLS_COMMON_FILE_H

#include "format/observe.h"
#include "format/shortage.h"
#include "formats/reader.h"

typedef struct tool_file {
    const char *path;   /* the caller's */
    int fd;             /* -1: not open */
    int64_t size;       /* 0: of a folder */
    bool is_folder;     /* as a Zarr store */
    pnc_model model;    /* of the header; empty until it is read. Attributes are big-endian in any format */
    pnc_reader *reader; /* NULL: a classic file, whose values are where its header says */
    pnc_error *error;   /* of the reader */
} tool_file;

/* All functions below return NC_NOERR, or a code after an error message that names file and cause. A file may be closed
 * after a failed open. */

int tool_file_open(const char *path, tool_file *file);       /* open, read and check the header */
int tool_file_open_bytes(const char *path, tool_file *file); /* open only */
/* The reader that an open file needs; NULL: none, as for classic files. */
const pnc_reader_ops *tool_file_find_reader(const tool_file *file);
/* Whether its values are those of objects, of a Zarr store or of references, and not at places in this file. */
bool tool_file_has_objects(const tool_file *file);
/* NC_ENOTSUPPORT for a file with a reader, after the message "FILE is a netCDF-4 file: WHY". */
int tool_file_check_classic(const tool_file *file, const char *why);
/* Read the header into *bytes, which the caller frees with pnc_memory_free, report it to an observer
 * (format/observe.h), and decode it into file->model. Violations return NC_NOERR unless observer is NULL. Of a file
 * with a reader, which no observer examines, the bytes are a description for tool_file_open_copy. */
int tool_file_read_header(tool_file *file, const pnc_observer *observer, char **bytes, int64_t *n);
/* What a classic file lacks that ends before the data that its header describes, after a warning; only_large: a warning
 * only if whole variables or records are missing, for a tool that reads no values. */
pnc_shortage_kind tool_file_report_short(const tool_file *file, bool only_large);
/* Open a file whose header another process has read: n bytes as above, when the file had `size` bytes. */
int tool_file_open_copy(const char *path, const char *header, int64_t n, int64_t size, tool_file *file);
void tool_file_close(tool_file *file);

/* n bytes from `offset`. NC_EREAD if the file ends before. */
int tool_file_read(const tool_file *file, int64_t offset, void *bytes, int64_t n);

/* Lengths of the variable's dimensions, with the number of records; shape has var->ndims elements. */
void tool_file_get_shape(const tool_file *file, const pnc_var *var, int64_t *shape);

/* The values of an attribute in the memory type that belongs to its type. */
void tool_att_load(const pnc_att *att, void *values);

/* A chunk of a variable in chunks, which begins at this index: its place, and its bytes without filters. */
int tool_file_find_chunk(const tool_file *file, int varid, const int64_t *index, pnc_chunk_place *place);
int tool_file_read_chunk(const tool_file *file, int varid, const int64_t *index, const pnc_chunk_place *place,
                         void *chunk);

/* A block of a variable of type NC_STRING: NULL where no string was written. `strings` owns them. */
int tool_file_read_strings(const tool_file *file, const pnc_var *var, const int64_t *start, const int64_t *count,
                           pnc_reader_strings *strings);
/* Read a block of a variable (see blocks.h): count elements from start; all dimensions but one are whole or have count
 * 1. values receives the bytes of the file or, with native, values in host byte order of the type
 * pnc_type_get_mem_type; its capacity is the same number of elements in both cases. Data beyond the end of a classic
 * file read as zeros. */
int tool_file_read_block(const tool_file *file, const pnc_var *var, const int64_t *start, const int64_t *count,
                         bool native, void *values);

#endif
