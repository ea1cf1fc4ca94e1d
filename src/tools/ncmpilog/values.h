/* Values of variables in the logs of a netCDF-4 file: put into the file by the library, which passes them through the
 * filters of their variables. */
#ifndef PNC_TOOLS_NCMPILOG_VALUES_H
#define PNC_TOOLS_NCMPILOG_VALUES_H

#include "format/model.h"
#include "tools/ncmpilog/source.h"

typedef struct log_values_put {
    const char *path; /* of the file */
    uint64_t stamp;   /* of the mark */
    const pnc_model *model;
    log_source *logs; /* of this process, at their first records */
    int64_t nlogs;
    int64_t last; /* the last call */
    /* Before a part is put: the file will be changed. NC_NOERR, or a code after a message. */
    int (*prepare)(void *caller);
    void *caller;

    int64_t records, bytes, numrecs; /* what this process has put, and the number of records after it */
    char *buffer;                    /* of the values on their way */
    int64_t used;
    int ncid;
} log_values_put;

/* Whether the current record of a log has values of a variable, and of a place that it has. */
bool log_values_check(const pnc_model *model, log_source *log);
/* Put the values of all calls up to the last one, in their order, and close the file. A code after a message.
 * Collective. */
int log_values_execute(log_values_put *put);

#endif
