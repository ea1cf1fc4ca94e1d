/* Lines on stderr that are no errors of a call. */
#include "dataset/message.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"
#include "dataset/environment.h"

enum { MOST_BYTES = 6000 }; /* of a line: a path has 4096 at most */

static void print_line(const char *prefix, const char *call, const pnc_file *file, const char *format, va_list args)
{
    char text[MOST_BYTES], line[2 * MOST_BYTES], translated[1000];

    vsnprintf(text, sizeof text, pnc_language_translate(file->error->language, format, translated, sizeof translated),
              args);
    snprintf(line, sizeof line, "%s%s: %s: %s", prefix, call, file->path, text);
    pnc_text_make_plain(line);
    fprintf(stderr, "%s\n", line);
}

void pnc_dataset_warning_print(const pnc_dataset *ds, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    print_line("PnetCDF warning", "", &ds->file, format, args);
    va_end(args);
}

void pnc_dataset_message_print(const pnc_file *file, const char *format, ...)
{
    va_list args;

    if (file->rank != 0 || !pnc_dataset_environment_is_on("PNETCDF_VERBOSE", false))
        return;
    va_start(args, format);
    print_line("PnetCDF: ", file->call.name, file, format, args);
    va_end(args);
}
