/* What is counted of an open file. The names are those of ncmpi_inq_stats and of the JSON report. */
#ifndef PNC_STATISTICS_COUNTERS_H
#define PNC_STATISTICS_COUNTERS_H

#include <stdint.h>
#include "spec/strategies.h"

/* Upper bounds of the classes of sizes, those of Darshan: ROW(suffix of the identifier, suffix of the name, bytes). */
/* clang-format off */
#define PNC_SIZE_CLASSES(ROW, TO) \
    ROW(100, "0_100", 100, TO) \
    ROW(1K, "100_1K", 1 << 10, TO) \
    ROW(10K, "1K_10K", 10 << 10, TO) \
    ROW(100K, "10K_100K", 100 << 10, TO) \
    ROW(1M, "100K_1M", 1 << 20, TO) \
    ROW(4M, "1M_4M", 4 << 20, TO) \
    ROW(10M, "4M_10M", 10 << 20, TO) \
    ROW(100M, "10M_100M", 100 << 20, TO) \
    ROW(1G, "100M_1G", 1 << 30, TO) \
    ROW(MORE, "1G_more", INT64_MAX, TO)

/* The strategies of a class of calls, in the order of pnc_strategy; independent calls have the first ones. */
#define PNC_BY_STRATEGY(id, strategy, CLASS, name, TO) \
    TO(CLASS##_##id, name "_" #strategy, CALLS, "calls of this class in which the rank had values, by their strategy")
#define PNC_NOT_COUNTED(id, strategy, CLASS, name, TO)

#define PNC_WRITE_CLASS(id, name, bytes, TO) \
    TO(WRITES_##id, "writes_" name, ACCESSES, "system writes of a size in this class")
#define PNC_BEHIND_CLASS(id, name, bytes, TO) \
    TO(BEHIND_WRITES_##id, "behind_writes_" name, ACCESSES, "writes of the worker of a size in this class")
#define PNC_AHEAD_CLASS(id, name, bytes, TO) \
    TO(AHEAD_READS_##id, "ahead_reads_" name, ACCESSES, "reads of the worker of a size in this class")
#define PNC_READ_CLASS(id, name, bytes, TO) \
    TO(READS_##id, "reads_" name, ACCESSES, "system reads of a size in this class")

/* ROW(identifier, name, unit, meaning) */
#define PNC_COUNTERS(ROW) \
    ROW(RANKS, "ranks", RANKS, "1 for each rank with statistics: a rank without memory has none") \
    ROW(PUTS_INDEPENDENT, "puts_independent", CALLS, "independent calls that put values") \
    ROW(GETS_INDEPENDENT, "gets_independent", CALLS, "independent calls that get values") \
    ROW(PUTS_COLLECTIVE, "puts_collective", CALLS, "collective calls that put values") \
    ROW(GETS_COLLECTIVE, "gets_collective", CALLS, "collective calls that get values") \
    ROW(POSTED, "posted", CALLS, "nonblocking calls: iput, bput, iget") \
    ROW(WAITS_INDEPENDENT, "waits_independent", CALLS, "calls of ncmpi_wait") \
    ROW(WAITS_COLLECTIVE, "waits_collective", CALLS, "calls of ncmpi_wait_all") \
    ROW(WAITED, "waited", REQUESTS, "nonblocking requests that these calls completed") \
    ROW(PUT_BYTES, "put_bytes", BYTES, "bytes of values that the program put, as they are in the file") \
    ROW(GET_BYTES, "get_bytes", BYTES, "bytes of values that the program got, as they are in the file") \
    ROW(COLLECTIVE_BYTES, "collective_bytes", BYTES, "those of both that blocking collective calls moved") \
    PNC_STRATEGY_ROWS(PNC_BY_STRATEGY, PNC_NOT_COUNTED, INDEPENDENT_PUTS, "independent_puts", ROW) \
    PNC_STRATEGY_ROWS(PNC_BY_STRATEGY, PNC_NOT_COUNTED, INDEPENDENT_GETS, "independent_gets", ROW) \
    PNC_STRATEGY_ROWS(PNC_BY_STRATEGY, PNC_BY_STRATEGY, COLLECTIVE_PUTS, "collective_puts", ROW) \
    PNC_STRATEGY_ROWS(PNC_BY_STRATEGY, PNC_BY_STRATEGY, COLLECTIVE_GETS, "collective_gets", ROW) \
    ROW(WRITES, "writes", ACCESSES, "system writes") \
    ROW(WRITE_BYTES, "write_bytes", BYTES, "bytes of them") \
    ROW(WRITES_ALIGNED, "writes_aligned", ACCESSES, "system writes that begin at a multiple of the striping unit") \
    ROW(WRITES_NEXT, "writes_next", ACCESSES, "system writes that begin where the one before has ended") \
    ROW(WRITES_BACK, "writes_back", ACCESSES, "system writes that begin before the end of the one before") \
    ROW(WRITE_GAP_BYTES, "write_gap_bytes", BYTES, "bytes between system writes and the ones before") \
    PNC_SIZE_CLASSES(PNC_WRITE_CLASS, ROW) \
    ROW(READS, "reads", ACCESSES, "system reads") \
    ROW(READ_BYTES, "read_bytes", BYTES, "bytes of them") \
    ROW(READS_ALIGNED, "reads_aligned", ACCESSES, "system reads that begin at a multiple of the striping unit") \
    ROW(READS_NEXT, "reads_next", ACCESSES, "system reads that begin where the one before has ended") \
    ROW(READS_BACK, "reads_back", ACCESSES, "system reads that begin before the end of the one before") \
    ROW(READ_GAP_BYTES, "read_gap_bytes", BYTES, "bytes between system reads and the ones before") \
    PNC_SIZE_CLASSES(PNC_READ_CLASS, ROW) \
    ROW(READS_OF_PUTS, "reads_of_puts", ACCESSES, "system reads of puts, which then write what they have read") \
    ROW(MPI_IO_CALLS, "mpi_io_calls", CALLS, "calls of MPI-IO with a file view, whose system accesses are not known") \
    ROW(MPI_IO_BYTES, "mpi_io_bytes", BYTES, "bytes of them") \
    ROW(HEADER_BYTES, "header_bytes", BYTES, "bytes read or written for the header and the number of records") \
    ROW(MOVED_BYTES, "moved_bytes", BYTES, "bytes of data that moved, as the header or variables grew") \
    ROW(CONVERTED_BYTES, "converted_bytes", BYTES, "bytes of the file that were converted from or to memory") \
    ROW(CHUNKS_WRITTEN, "chunks_written", CHUNKS, "chunks that were written, compressed if they have filters") \
    ROW(CHUNKS_WRITTEN_AGAIN, "chunks_written_again", CHUNKS, "of them, those that the rank had written before") \
    ROW(CHUNKS_MERGED, "chunks_merged", CHUNKS, "of them, those whose other values were read first") \
    ROW(CHUNK_BYTES_WRITTEN, "chunk_bytes_written", BYTES, "bytes of the written chunks before filters") \
    ROW(STORED_BYTES_WRITTEN, "stored_bytes_written", BYTES, "bytes of them after filters, as they are in the file") \
    ROW(CHUNKS_READ, "chunks_read", CHUNKS, "chunks that were read, and decompressed if they have filters") \
    ROW(CHUNKS_READ_AGAIN, "chunks_read_again", CHUNKS, "of them, those that the rank had read before") \
    ROW(CHUNK_BYTES_READ, "chunk_bytes_read", BYTES, "bytes of the read chunks after filters, as programs see them") \
    ROW(STORED_BYTES_READ, "stored_bytes_read", BYTES, "bytes of them as they are in the file") \
    ROW(SHARED_BYTES_READ, "shared_bytes_read", BYTES, \
        "bytes that a rank read for all, as all wanted the same in a collective get") \
    ROW(SHARED_BYTES_RECEIVED, "shared_bytes_received", BYTES, \
        "bytes that ranks received of these, which they would have read") \
    ROW(NODE_BYTES, "node_bytes", BYTES, "bytes that passed to or from an aggregator of the same node") \
    ROW(MESSAGES, "messages", MESSAGES, "messages with values to aggregators of other nodes") \
    ROW(MESSAGE_BYTES, "message_bytes", BYTES, "bytes of them") \
    ROW(ROUNDS, "rounds", ROUNDS, "rounds of two-phase I/O") \
    ROW(AGREEMENTS, "agreements", CALLS, "reductions and broadcasts of all ranks, in which they agree") \
    ROW(SYNCS, "syncs", CALLS, "flushes of the file to disk, each made by all ranks and counted by each") \
    ROW(TIME_DEFINE, "time_define", NANOSECONDS, "in ncmpi_enddef, ncmpi_open and other calls that access no values") \
    ROW(TIME_REQUESTS, "time_requests", NANOSECONDS, "in calls that access values, for all that has no row below") \
    ROW(TIME_CONVERT, "time_convert", NANOSECONDS, "to gather, convert and distribute values") \
    ROW(TIME_FILTERS, "time_filters", NANOSECONDS, "to compress and decompress chunks") \
    ROW(TIME_EXCHANGE, "time_exchange", NANOSECONDS, "to pass values between ranks and aggregators") \
    ROW(TIME_WRITE, "time_write", NANOSECONDS, "in writes and flushes") \
    ROW(TIME_READ, "time_read", NANOSECONDS, "in reads") \
    ROW(TIME_WAIT, "time_wait", NANOSECONDS, "in agreements, where a rank waits for the slowest one") \
    ROW(TIME_OPEN, "time_open", NANOSECONDS, "from the create or open of the file to its close") \
    ROW(TIME_MOVES, "time_moves", NANOSECONDS, "to move data, as the header or variables grew; also in rows above") \
    ROW(BEHIND_QUEUED, "behind_queued", BYTES, \
        "bytes of puts that returned before the file had them (nc_write_behind, nc_burst_buf)") \
    ROW(BEHIND_WRITES, "behind_writes", ACCESSES, \
        "system writes of them by the worker, a thread of the process; they are in no row above") \
    ROW(BEHIND_BYTES, "behind_bytes", BYTES, "bytes of these writes") \
    PNC_SIZE_CLASSES(PNC_BEHIND_CLASS, ROW) \
    ROW(BEHIND_BUSY, "behind_busy", NANOSECONDS, "for these writes, while the program continued or waited") \
    ROW(BEHIND_DELAY, "behind_delay", NANOSECONDS, "in which calls waited for these writes; also in rows above") \
    ROW(BEHIND_ENCODED, "behind_encoded", BYTES, \
        "bytes of values of chunks that threads compressed while the program continued or waited") \
    ROW(BEHIND_ENCODING, "behind_encoding", NANOSECONDS, "in which these threads compressed them; in no row above") \
    ROW(BEHIND_HIDDEN, "behind_hidden", NANOSECONDS, "for these writes, while no call waited for them") \
    ROW(BEHIND_FULL, "behind_full", CALLS, "how many times a put waited for memory, or for space in a log") \
    ROW(BEHIND_MEMORY, "behind_memory", BYTES, "most memory at once of what was put and not yet written") \
    ROW(LOG_WRITES, "log_writes", ACCESSES, "system writes to the logs (nc_burst_buf); they are in no row above") \
    ROW(LOG_BYTES, "log_bytes", BYTES, "bytes of them: values, and where each of them belongs") \
    ROW(LOG_SIZE, "log_size", BYTES, "most bytes of a log at once") \
    ROW(LOG_LAPS, "log_laps", CALLS, "how many times the file had all of a log, which began again") \
    ROW(AHEAD_READS, "ahead_reads", ACCESSES, \
        "system reads by the worker before a get needed their bytes (nc_prefetch); they are in no row above") \
    ROW(AHEAD_BYTES, "ahead_bytes", BYTES, "bytes of them") \
    PNC_SIZE_CLASSES(PNC_AHEAD_CLASS, ROW) \
    ROW(AHEAD_USED, "ahead_used", BYTES, "bytes of them that gets have used; no get used the others") \
    ROW(AHEAD_DECODED, "ahead_decoded", BYTES, \
        "values of chunks that gets have used, and that the worker had decompressed before") \
    ROW(AHEAD_LACKING, "ahead_lacking", BYTES, \
        "of chunks or records that the next get was to need, and for which nc_write_behind_memory had no space") \
    ROW(AHEAD_FAILED, "ahead_failed", CALLS, \
        "gets after which the next one was foreseen, but not what it reads, or of which nothing could be read ahead") \
    ROW(AHEAD_BUSY, "ahead_busy", NANOSECONDS, "for these reads, while the program continued or waited") \
    ROW(AHEAD_DELAY, "ahead_delay", NANOSECONDS, "in which gets waited for these reads") \
    ROW(AHEAD_HIDDEN, "ahead_hidden", NANOSECONDS, "for these reads, while no get waited for them") \
    ROW(DEFERRED_PUTS, "deferred_puts", CALLS, "collective puts that a later call has written (nc_defer_puts)") \
    ROW(DEFERRED_BYTES, "deferred_bytes", BYTES, "bytes of them, which were copied") \
    ROW(DEFERRED_WRITES, "deferred_writes", CALLS, "how many times such puts were written together") \
    ROW(PEAK_MEMORY, "peak_memory", BYTES, "largest memory of the process so far") \
    ROW(PEAK_MEMORY_OF_LIBRARY, "peak_memory_of_library", BYTES, \
        "most memory that the library had allocated at once so far, for all files of the process")
/* clang-format on */

#define PNC_COUNTER_ID(id, name, unit, meaning) PNC_COUNT_##id,
typedef enum pnc_counter { PNC_COUNTERS(PNC_COUNTER_ID) PNC_COUNTER_N } pnc_counter;
#undef PNC_COUNTER_ID

/* clang-format off */
typedef enum pnc_unit { PNC_IN_RANKS, PNC_IN_CALLS, PNC_IN_REQUESTS, PNC_IN_ACCESSES, PNC_IN_MESSAGES, PNC_IN_ROUNDS,
                        PNC_IN_CHUNKS, PNC_IN_BYTES, PNC_IN_NANOSECONDS } pnc_unit;
/* clang-format on */

typedef struct pnc_counter_row {
    const char *name;
    pnc_unit unit;
    const char *meaning;
} pnc_counter_row;
extern const pnc_counter_row pnc_counter_table[PNC_COUNTER_N];

/* Classes of sizes: that of a number of bytes, and the names of all. */
#define PNC_SIZE_CLASS_N 10
int pnc_counter_class_find(int64_t bytes);
extern const char *const pnc_size_class_names[PNC_SIZE_CLASS_N];

/* The counter of that name; -1: there is none. */
int pnc_counter_find(const char *name);

#endif
