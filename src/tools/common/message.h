/* Messages that all tools have in common: errors, in one line, and the version. */
#ifndef PNC_TOOLS_COMMON_MESSAGE_H
#define PNC_TOOLS_COMMON_MESSAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

/* Must be called first. program: name of the tool, the prefix of its messages. Sets a buffer for stdout, argv[0], which
 * is the prefix that getopt uses, and makes a closed pipe an ordinary write error until the end. */
void tool_program_start(const char *program, char **argv);

/* Must be called last, for the status that main returns. If stdout is a pipe without a reader, as after `tool | head`,
 * the program ends by SIGPIPE, like other filters. */
int tool_program_end(int status);
/* A write to stdout failed, because it is a pipe without a reader: this is not reported as an error. */
bool tool_pipe_is_closed(void);

/* Print "PROGRAM: ..." and a newline to stderr, after flushing stdout. Control characters, possible in names of files,
 * become '?'. */
void tool_error_print(const char *format, ...) PNC_PRINTF(1, 2);

/* Like tool_error_print. Of many warnings with the same format only the first ones are printed; tool_warnings_finish,
 * which must be called last, prints "and 51 more like it" for the others. */
void tool_warning_print(const char *format, ...) PNC_PRINTF(1, 2);
void tool_warnings_finish(void);
enum { TOOL_WARNINGS_SHOWN = 3 };

/* Print to stdout, or to a file. Control characters, possible in names of variables, would act on a terminal: they
 * become '?'. */
void tool_text_print(const char *text);
void tool_text_write(FILE *out, const char *text);

/* Flush stdout. NC_NOERR, or NC_EWRITE after an error message (full disk), which is left out for a closed pipe. path:
 * the file that the tool reads, or NULL. */
int tool_output_flush(const char *path);

/* --version */
void tool_version_print(void);

#endif
