/* The log of a burst buffer as bytes: a front, which says where its rank stands, then records in the order of the calls
 * that put them. Pure; what is decoded may be damaged, and nothing in it is trusted.
 *
 *   | front | front | time | time | record, bytes | record, bytes | end of a call | record, bytes ..
 *
 * A rank appends the blocks that it writes in a call, and at the end of each collective put the end of that call, with
 * the number of records. For a netCDF-4 file these are values of variables, which have no place in the file yet. When
 * the file has all of them, the rank raises the lap in the front and begins behind it again: records of other laps are
 * old.
 * The front has two slots, which are written in turns, so that a torn write of one leaves the other. So has the time of
 * the file when this rank has last seen it, after a write: a file that was changed much later was changed by others.
 * Numbers are in the byte order of the machine, which the front says. */
#ifndef PNC_LOG_RECORD_H
#define PNC_LOG_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "select/selection.h"

typedef struct pnc_log_front {
    uint64_t stamp;       /* of the burst buffer: the mark beside the file and all its logs have it */
    int64_t rank, nranks; /* whose log it is; ranks that have one */
    int64_t lap;          /* at least 1 */
    int64_t call;         /* of all calls up to this one, the file has what this rank has put */
    int64_t numrecs;      /* number of records after it */
    int64_t node[2];      /* where its program runs: pnc_host_node_get */
    int64_t inode, birth; /* of the log itself, as in the mark: a copy has others */
} pnc_log_front;

/* The call in the front of a rank that logs no more: the file has all that it has put, and will. */
#define PNC_LOG_EVERYTHING INT64_MAX

typedef enum pnc_log_kind { PNC_LOG_BLOCK = 1, PNC_LOG_END, PNC_LOG_VALUES } pnc_log_kind;

typedef struct pnc_log_record {
    pnc_log_kind kind;
    int64_t call;
    pnc_extent extent; /* of a block: where its bytes belong in the file; of values: the variable, and bytes behind the
                        * record, which log/values.h describes */
    int64_t numrecs;   /* of an end */
} pnc_log_record;

enum {
    PNC_LOG_SLOT_BYTES = 128,
    PNC_LOG_TIMES_AT = 2 * PNC_LOG_SLOT_BYTES,    /* behind the slots of the front */
    PNC_LOG_FRONT_BYTES = 4 * PNC_LOG_SLOT_BYTES, /* up to the records */
    PNC_LOG_RECORD_BYTES = 64
};

/* Seconds. A rank records the time of the file when so many have passed since the last one, as each costs a write; a
 * file that is newer than the last one by more than the other was written by another program. Guesses. */
enum { PNC_LOG_TIME_INTERVAL = 10, PNC_LOG_TIME_TOLERANCE = 60 };

void pnc_log_front_encode(const pnc_log_front *front, char slot[PNC_LOG_SLOT_BYTES]);
/* The later one of both slots. False: it is not the front of a log, or damaged. */
bool pnc_log_front_decode(const char bytes[PNC_LOG_FRONT_BYTES], pnc_log_front *out);

/* A time of the file, in nanoseconds. */
void pnc_log_time_encode(const pnc_log_front *front, int64_t time, char slot[PNC_LOG_SLOT_BYTES]);
/* The later one of both slots; 0: neither has one. */
int64_t pnc_log_time_decode(const pnc_log_front *front, const char bytes[PNC_LOG_FRONT_BYTES]);

/* The record of a log with this front; bytes: those of a block. */
void pnc_log_record_encode(const pnc_log_front *front, const pnc_log_record *record, const char *bytes,
                           char out[PNC_LOG_RECORD_BYTES]);
/* False: it is no record of this log and lap, or its numbers make no sense. *digest: of all its bytes. */
bool pnc_log_record_decode(const pnc_log_front *front, const char bytes[PNC_LOG_RECORD_BYTES], pnc_log_record *out,
                           uint64_t *digest);
/* The digest of a record before its bytes, which are added with pnc_digest_add in portions of multiples of 8. */
uint64_t pnc_log_record_digest_begin(const pnc_log_front *front, const pnc_log_record *record);

/* The name of the log of a rank, without its folder, for a file with this name. */
#define PNC_LOG_NAME_BYTES 160
void pnc_log_name_format(const char *file, uint64_t stamp, int64_t rank, char out[PNC_LOG_NAME_BYTES]);

#endif
