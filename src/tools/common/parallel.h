/* What tools that use the library on several ranks have in common. */
#ifndef PNC_TOOLS_COMMON_PARALLEL_H
#define PNC_TOOLS_COMMON_PARALLEL_H

#include <mpi.h>
#include <pnetcdf.h>

/* Of the memory type that holds values of an external type exactly. */
MPI_Datatype tool_type_get_mpi(int type);

/* The worst code of all ranks. */
int tool_status_agree(int err);

/* What the library says of its last failure, or what there is to say about the code. For one rank. */
void tool_error_print_last(const char *path, int code);

/* Runs parse(argc, argv, options) on rank 0, which says what is wrong with the command line, then on the others, which
 * read what is known to be right. Returns its result, the largest of all ranks: -1 to go on, else the exit status. */
int tool_options_parse(int (*parse)(int argc, char **argv, void *options), int argc, char **argv, void *options);

#endif
