/* Messages that all tools have in common: errors, in one line, and the version. */
#ifndef PNC_TOOLS_COMMON_MESSAGE_H
#define PNC_TOOLS_COMMON_MESSAGE_H

#include "base/error.h"

/* Must be called first. program: name of the tool, the prefix of its messages. Sets a buffer for stdout, and makes a
 * closed pipe an ordinary write error. Returns argv[0], the prefix that getopt uses. */
void tool_program_start(const char *program, char **argv);

/* Print "PROGRAM: ..." and a newline to stderr, after flushing stdout. Control characters, possible in names of files,
 * become '?'. */
void tool_error_print(const char *format, ...) PNC_PRINTF(1, 2);

/* Print to stdout. Control characters, possible in names of variables, would act on a terminal: they become '?'. */
void tool_text_print(const char *text);

/* Flush stdout. NC_NOERR, or NC_EWRITE after an error message (closed pipe, full disk). path: the file that the tool
 * reads, or NULL. */
int tool_output_flush(const char *path);

/* --version */
void tool_version_print(void);

#endif
