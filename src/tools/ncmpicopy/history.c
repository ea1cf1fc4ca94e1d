/* The attribute history (CF conventions, 2.6.2): a line for each program that changed the data. The newest line comes
 * first, as with NCO and CDO. */
#include "config.h" /* gmtime_r */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "tools/common/parallel.h"
#include "tools/ncmpicopy/copy.h"

enum { DATE_SIZE = 64 };

/* "Mon Nov 23 04:24:49 2026", in UTC, the same on all ranks. SOURCE_DATE_EPOCH, if it is set, is the time
 * (https://reproducible-builds.org/specs/source-date-epoch). */
static void get_date(char date[DATE_SIZE])
{
    const char *fixed = getenv("SOURCE_DATE_EPOCH");
    long long seconds = fixed != NULL ? strtoll(fixed, NULL, 10) : (long long)time(NULL);
    MPI_Bcast(&seconds, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD);
    time_t moment = (time_t)seconds;
    struct tm parts;
    if (gmtime_r(&moment, &parts) == NULL || strftime(date, DATE_SIZE, "%a %b %e %H:%M:%S %Y", &parts) == 0)
        date[0] = '\0';
}

/* The line of this program, and the text that the file has, which may contain zeros; to be freed. *total is its
 * length. NULL without memory. */
static char *compose(int ncid, const char *command, const char *date, MPI_Offset length, MPI_Offset *total)
{
    size_t line = strlen(date) + strlen(command) + 4;
    char *text = pnc_memory_alloc_zeroed((int64_t)line + (int64_t)length + 1, 1);
    if (text == NULL)
        return NULL;
    int used = snprintf(text, line, "%s: %s%s", date, command, length > 0 ? "\n" : "");
    if (length > 0 && ncmpi_get_att_text(ncid, NC_GLOBAL, "history", text + used) != NC_NOERR)
        length = 0;
    *total = used + length;
    while (*total > 0 && text[*total - 1] == '\0')
        --*total;
    return text;
}

int copy_history_append(const copy_plan *plan, int ncid)
{
    char date[DATE_SIZE];
    nc_type type = NC_CHAR;
    MPI_Offset length = 0, total = 0;
    get_date(date);
    if (ncmpi_inq_att(ncid, NC_GLOBAL, "history", &type, &length) == NC_NOERR && type != NC_CHAR)
        return NC_NOERR; /* nothing can be appended to numbers */
    char *text = compose(ncid, plan->options->command, date, length, &total);
    int err = tool_status_agree(text != NULL ? NC_NOERR : NC_ENOMEM);
    if (err == NC_NOERR)
        err = ncmpi_put_att_text(ncid, NC_GLOBAL, "history", total, text);
    pnc_memory_free(text);
    return err;
}
