/* Functions of tools that run on several ranks. */
#ifndef PNC_TOOLS_COMMON_PARALLEL_H
#define PNC_TOOLS_COMMON_PARALLEL_H

#include <stdbool.h>

#include <mpi.h>
#include <pnetcdf.h>

#include "format/shortage.h"

/* MPI type of the memory type that holds values of an external type exactly. */
MPI_Datatype tool_type_get_mpi(int type);

/* The number of a NC_FORMAT_ constant after -k: 1, 2 or 5; 3: netCDF-4, 4: its classic model. */
int tool_format_get_version(int format);

/* The worst code of all ranks. Collective. */
int tool_status_agree(int err);

/* Print the last error message of the library, or the text of the code. To be called on one rank. */
void tool_error_print_last(const char *path, int code);

/* The size of an input that all ranks have open, and what it lacks, which rank 0 reports. INT64_MAX for a file that
 * only MPI-IO can see, and for a netCDF-4 file. Collective. */
int64_t tool_input_inspect(const char *path, pnc_shortage_kind *kind);
/* Elements of a variable up to the end of the file; those beyond it read as zeros. All of them if the size is
 * INT64_MAX, and with the hint nc_short_file=error, so that a get reports the first one. NC_NOERR or a code. */
int tool_var_count_present(int ncid, int varid, int64_t file_size, int64_t *elements);

/* Whether a launcher of MPI programs has started this process, of any kind: it has set variables of the environment.
 * Without one, a tool that needs no other rank need not initialise MPI. */
bool tool_launcher_is_used(void);

/* Runs parse(argc, argv, options) on rank 0, which reports errors of the command line, and then on the other ranks.
 * Returns the largest result of all ranks: -1 to continue, else the exit status. */
int tool_options_parse(int (*parse)(int argc, char **argv, void *options), int argc, char **argv, void *options);

#endif
