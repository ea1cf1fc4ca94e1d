/* One file being dumped: what its header says, in the terms of the public API, and the two parts of the text. */
#ifndef PNC_TOOLS_NCMPIDUMP_DUMP_H
#define PNC_TOOLS_NCMPIDUMP_DUMP_H

#include <stdbool.h>
#include <stdio.h>

#include <mpi.h>
#include <pnetcdf.h>

#include "tools/common/number.h"
#include "tools/ncmpidump/options.h"

typedef struct dump_dimension {
    char *name; /* escaped */
    MPI_Offset length;
} dump_dimension;

typedef struct dump_variable {
    int id;
    char name[NC_MAX_NAME + 1];
    char *escaped; /* name as CDL writes it */
    const cdl_type *type;
    int ndims, natts;
    int *dimids;
} dump_variable;

/* The ranks that dump a file. */
typedef struct dump_team {
    int rank, nprocs;
    bool ended; /* all ranks know of an error, or no work is left */
    char *text; /* what this rank wrote, size bytes, where it is not the one that prints */
    size_t size;
} dump_team;

typedef struct dump_file {
    const dump_options *options;
    dump_team *team;
    FILE *out; /* stdout, or the team's text */
    int ncid;
    int format; /* NC_FORMAT_* */
    int ndims, nvars, natts, unlimited;
    dump_dimension *dimensions;
} dump_file;

/* All functions below are collective, and return NC_NOERR or a code after an error message. Rank 0 prints. */

/* "ncmpidump: FILE: WHAT: cause"; what may be NULL. Returns code. */
int dump_error_print(const dump_file *file, int code, const char *what);

/* The file may be closed after a failure too. */
int dump_file_open(const dump_options *options, dump_team *team, dump_file *file);
void dump_file_close(dump_file *file);

/* variable may be freed after a failure too. */
int dump_variable_load(const dump_file *file, int varid, dump_variable *variable);
void dump_variable_free(dump_variable *variable);

/* The attribute's values in the memory type that belongs to *type, to be freed by the caller. */
int dump_attribute_load(const dump_file *file, int varid, const char *name, const cdl_type **type, size_t *length,
                        void **values);
void dump_format_choose(const dump_file *file, const cdl_type *type, cdl_format *format);

int dump_header_print(const dump_file *file);
/* One line: the name and the format, as in the second line of a dump. */
int dump_version_print(const dump_file *file);
int dump_data_print(const dump_file *file);

/* Do the options ask for its data? */
bool dump_variable_is_wanted(const dump_file *file, const dump_variable *variable);
/* The value of elements that were never written; *has_fill: there is one. */
int dump_fill_choose(const dump_file *file, const dump_variable *variable, bool *has_fill, cdl_value *fill);
/* The name after "netcdf", to be freed, without escapes; NULL without memory. */
char *dump_name_make(const dump_options *options);

/* What -k prints. */
const char *dump_kind_get_name(int format);
/* The value of the attribute _Format, which -s adds. */
const char *dump_format_get_name(int format);

/* The whole as JSON instead. */
int dump_json_print(const dump_file *file);

#endif
