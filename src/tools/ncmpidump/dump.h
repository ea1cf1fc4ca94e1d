/* The file that is dumped, and the functions that print header and data. Each rank reads it without the library and
 * without MPI, so that a single process starts at once. */
#ifndef PNC_TOOLS_NCMPIDUMP_DUMP_H
#define PNC_TOOLS_NCMPIDUMP_DUMP_H

#include <stdbool.h>
#include <stdio.h>

#include "tools/common/file.h"
#include "tools/common/number.h"
#include "tools/common/progress.h"
#include "tools/ncmpidump/options.h"

typedef struct dump_dimension {
    char *name; /* escaped */
    int64_t length;
    bool unlimited;
} dump_dimension;

typedef struct dump_variable {
    int id;
    const pnc_var *var; /* in the header; so are name and dimids */
    const char *name;
    char *escaped; /* name as CDL writes it */
    const cdl_type *type;
    int ndims, natts;
    const int *dimids;
    const pnc_att *fill_string; /* _FillValue of a variable of strings; NULL: it has none */
} dump_variable;

/* The ranks that dump a file. */
typedef struct dump_team {
    int rank, nprocs;
    bool ended; /* the ranks have agreed on an error */
    char *text; /* on ranks other than 0: the text of this rank, size bytes, to be sent to rank 0 */
    size_t size;
    tool_progress progress; /* of rank 0 */
    int64_t done;           /* bytes of data that were printed */
} dump_team;

enum { DUMP_FORMAT_ZARR = 100 }; /* beside NC_FORMAT_CLASSIC .. */

typedef struct dump_file {
    const dump_options *options;
    dump_team *team;
    FILE *out; /* rank 0: stdout; other ranks: team->text */
    tool_file input;
    int format; /* NC_FORMAT_CLASSIC .. */
    int ndims, nvars, natts, unlimited;
    dump_dimension *dimensions;
} dump_file;

/* All functions below return NC_NOERR, or a code after an error message of the rank that has failed. */

/* "ncmpidump: FILE: WHAT: not enough memory"; what may be NULL. Returns NC_ENOMEM. */
int dump_memory_report(const dump_file *file, const char *what);

/* Collective. The file may be closed after a failed open. */
int dump_file_open(const dump_options *options, dump_team *team, dump_file *file);
void dump_file_close(dump_file *file);

/* variable may be freed after a failed load. */
int dump_variable_load(const dump_file *file, int varid, dump_variable *variable);
void dump_variable_free(dump_variable *variable);

/* A string that is not there, or is the fill value of the attribute. */
bool dump_string_is_missing(const dump_variable *variable, const char *text);

/* An attribute of a variable, or with NC_GLOBAL of the file; NULL if there is none of this name. */
const pnc_att *dump_attribute_find(const dump_file *file, int varid, const char *name);
/* The values of an attribute in the memory type that belongs to its type. The caller frees them; their buffer has one
 * more byte, for a null character. */
int dump_attribute_load(const dump_file *file, const pnc_att *att, void **values);
void dump_format_choose(const dump_file *file, const cdl_type *type, cdl_format *format);

int dump_header_print(const dump_file *file);
/* Print one line with the name and the format. */
int dump_version_print(const dump_file *file);
int dump_data_print(const dump_file *file);
/* One record of a variable whose first dimension has them. By one process. */
int dump_record_print(const dump_file *file, const dump_variable *variable, int64_t record);

/* True if the options select the data of this variable. */
bool dump_variable_is_wanted(const dump_file *file, const dump_variable *variable);
/* The value of elements that were never written. *has_fill is false if there is no such value. */
void dump_fill_choose(const dump_file *file, const dump_variable *variable, bool *has_fill, cdl_value *fill);
/* The name after "netcdf", without escapes, to be freed by the caller. NULL if there is not enough memory. */
char *dump_name_make(const dump_options *options);

/* The output of -k. */
const char *dump_kind_get_name(int format);
/* The value of the attribute _Format, which -s adds. */
const char *dump_format_get_name(int format);

/* The special attributes, which -s adds: of a variable; NULL: of the file. */
void dump_special_print(const dump_file *file, const dump_variable *variable);

/* Print header and data as JSON. */
int dump_json_print(const dump_file *file);

#endif
