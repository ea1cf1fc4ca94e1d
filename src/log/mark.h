/* The mark of a burst buffer: a text beside the file, FILE.burst, while values that programs have put may be in logs
 * only. It says of which file they are, and where the logs were made. Pure; what is decoded may be damaged. */
#ifndef PNC_LOG_MARK_H
#define PNC_LOG_MARK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define PNC_LOG_MARK_SUFFIX ".burst"
#define PNC_LOG_NODE_BYTES 64 /* of the name of a node, with its null character */

typedef struct pnc_log_mark {
    uint64_t stamp;
    int64_t inode, birth; /* of the file; birth: in nanoseconds, 0: unknown */
    uint64_t header;      /* digest of its header: another dataset in the same file has another one */
    int64_t nranks;
    const char *file;                  /* its name, without a folder, when the logs were made: that of the logs */
    const char *folder;                /* of the logs of rank 0 */
    const char *job;                   /* of the batch system, or empty */
    char (*nodes)[PNC_LOG_NODE_BYTES]; /* of the ranks */
    char *text;                        /* of a mark that was decoded */
} pnc_log_mark;

/* A text of *n bytes, which pnc_memory_free frees; NULL without memory. */
char *pnc_log_mark_encode(const pnc_log_mark *mark, int64_t *n);
/* NC_NOERR, NC_ENOMEM, or NC_EBADLOG with a message, which does not name the mark. */
int pnc_log_mark_decode(const char *text, int64_t n, pnc_log_mark *out, pnc_error *error);
/* Of a mark that was decoded, also after an error. */
void pnc_log_mark_free(pnc_log_mark *mark);
/* Add bytes of a header to its digest, which begins as PNC_DIGEST_START: from its byte `at` on, in portions of
 * multiples of 8 bytes. The number of records, which may change, becomes zeros in `bytes`. */
uint64_t pnc_log_header_add(uint64_t digest, int64_t at, char *bytes, int64_t n);
/* What a mark with this stamp begins with, as a string. */
enum { PNC_LOG_BEGIN_BYTES = 55 };
bool pnc_log_mark_format_begin(uint64_t stamp, char out[PNC_LOG_BEGIN_BYTES + 1]);
/* Whether a text begins as a mark does. */
bool pnc_log_mark_is_begin(const char *text, int64_t n);

#endif
