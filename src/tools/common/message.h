/* What every tool says in the same way: what went wrong, in one line, and which version it is. */
#ifndef PNC_TOOLS_COMMON_MESSAGE_H
#define PNC_TOOLS_COMMON_MESSAGE_H

#include "base/error.h"

/* Called first. program: the tool's name before its messages. Gives stdout a buffer of its own, and makes a closed pipe
 * a write error like others: message and exit status. Returns argv[0] for getopt to write before its messages. */
void tool_program_start(const char *program, char **argv);

/* "PROGRAM: ..." and a newline on stderr, behind all that was printed so far. Control characters, which names in a
 * hostile file may have, become '?'. */
void tool_error_print(const char *format, ...) PNC_PRINTF(1, 2);

/* Has everything printed so far reached stdout? NC_NOERR, or NC_EWRITE after a complaint: a closed pipe or a full disk.
 * path: the file that the tool reads, NULL where there is none. */
int tool_output_flush(const char *path);

/* --version */
void tool_version_print(void);

#endif
