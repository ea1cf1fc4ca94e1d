/* Reading the log of a burst buffer after its program has died: record by record, up to the first one that is not
 * complete. Pure: the bytes come from a function of the caller. */
#ifndef PNC_LOG_READER_H
#define PNC_LOG_READER_H

#include "log/record.h"

typedef struct pnc_log_reader {
    void *file; /* passed to read */
    /* Read n bytes at this offset of the log; false: it has fewer, or cannot be read. */
    bool (*read)(void *file, int64_t at, void *bytes, int64_t n);
    int64_t size; /* of the log */
    pnc_log_front front;
    int64_t time;          /* of the file, when the rank has last seen it; 0: unknown */
    pnc_log_record record; /* the current one */
    int64_t bytes_at;      /* offset of its bytes */
    int64_t next;          /* offset of the next one */
    int64_t call;          /* of the current one */
} pnc_log_reader;

/* What a log has. */
typedef struct pnc_log_summary {
    int64_t blocks, bytes; /* of the file that wait in it */
    int64_t first, last;   /* calls that put them; 0: none */
    int64_t call, numrecs; /* the last call that is complete, and the number of records after it */
    int64_t end;           /* offset behind the last record */
    bool is_damaged;       /* there are records of this lap behind others that are damaged or missing */
} pnc_log_summary;

/* Decode the front; file, read and size are set. False: it is not a log. */
bool pnc_log_reader_begin(pnc_log_reader *reader);
/* The next record, whose bytes have its digest; false: there is none. */
bool pnc_log_reader_find_next(pnc_log_reader *reader);
/* Read all of it, after begin; the reader must be begun again. */
void pnc_log_reader_examine(pnc_log_reader *reader, pnc_log_summary *out);

#endif
