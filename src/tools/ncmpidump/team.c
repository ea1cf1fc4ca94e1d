/* Messages between the ranks that dump a file. For each of its blocks a rank other than 0 sends the size, or an error
 * code. Rank 0 replies with a request for the bytes, or with 0 after an error; the other rank sends the bytes only on
 * request. So an error on any rank ends the exchange with matching sends and receives. */
#include "config.h" /* system extensions */

#include "tools/ncmpidump/team.h"

#include <stdlib.h>

#include "base/memory.h"
#include "tools/common/message.h"
#include "tools/common/parallel.h"
#include "tools/ncmpidump/reader.h"

enum { SIZE_TAG = 1, WANTED_TAG, BYTES_TAG };

int dump_team_agree(const dump_file *file, int err)
{
    int worst = err;
    if (file->team->nprocs == 1 || file->team->ended)
        return err;
    worst = tool_status_agree(err);
    file->team->ended = worst != NC_NOERR;
    return worst;
}

/* In portions that the count of MPI_Bcast can hold. */
int dump_team_share(const dump_file *file, char **bytes, int64_t *n, int64_t *size)
{
    const int64_t most = 1 << 30;
    int64_t numbers[] = {*n, *size};
    int err = NC_NOERR;
    if (file->team->nprocs == 1)
        return NC_NOERR;
    MPI_Bcast(numbers, 2, MPI_INT64_T, 0, MPI_COMM_WORLD);
    *n = numbers[0];
    *size = numbers[1];
    if (file->team->rank > 0)
        *bytes = pnc_memory_alloc(*n, 1);
    if (*bytes == NULL)
        err = dump_memory_report(file, "header");
    err = dump_team_agree(file, err);
    for (int64_t at = 0; at < *n && err == NC_NOERR; at += most)
        MPI_Bcast(*bytes + at, (int)(*n - at < most ? *n - at : most), MPI_BYTE, 0, MPI_COMM_WORLD);
    return err;
}

/* --- ranks other than 0 --- */

/* Read and format the block that is sent to rank 0. Returns NC_NOERR or a code. */
static int prepare_block(const dump_file *file, dump_reader *reader, const dump_formatter *formatter,
                         const char **bytes, int64_t *n)
{
    int err = dump_reader_read(reader);
    *bytes = reader->block;
    *n = (int64_t)reader->length * (int64_t)reader->variable->type->size;
    if (err != NC_NOERR || formatter->prepare == NULL)
        return err;
    rewind(file->out);
    formatter->prepare(formatter->with, &reader->blocks, reader->block);
    if (fflush(file->out) != 0 || ferror(file->out))
        return dump_memory_report(file, reader->variable->name);
    *bytes = file->team->text;
    *n = (int64_t)file->team->size;
    return NC_NOERR;
}

/* Send the blocks of this rank until rank 0 replies that it needs no more. The size of a block fits in an int. */
static void send_blocks(const dump_file *file, dump_reader *reader, const dump_formatter *formatter)
{
    int wanted = 1;
    for (int64_t b = file->team->rank; wanted && tool_blocks_seek(&reader->blocks, b); b += file->team->nprocs) {
        const char *bytes;
        int64_t n;
        int err = prepare_block(file, reader, formatter, &bytes, &n);
        if (err != NC_NOERR)
            n = err;
        MPI_Send(&n, 1, MPI_INT64_T, 0, SIZE_TAG, MPI_COMM_WORLD);
        MPI_Recv(&wanted, 1, MPI_INT, 0, WANTED_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (wanted)
            MPI_Send(bytes, (int)n, MPI_BYTE, 0, BYTES_TAG, MPI_COMM_WORLD);
    }
}

/* --- rank 0 --- */

/* A block received from another rank. */
typedef struct received_block {
    char *bytes;
    int64_t n, capacity;
    bool unanswered; /* its size was received, and its rank blocks until rank 0 replies */
} received_block;

static int receive_block(const dump_file *file, int rank, received_block *received)
{
    const int wanted = 1;
    MPI_Recv(&received->n, 1, MPI_INT64_T, rank, SIZE_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    received->unanswered = true;
    if (received->n < 0)
        return (int)received->n;
    if (received->n > received->capacity) {
        int64_t capacity = received->n + received->n / 4; /* blocks have similar lengths */
        char *larger = realloc(received->bytes, (size_t)capacity);
        if (larger == NULL)
            return dump_memory_report(file, "data of another rank");
        received->bytes = larger;
        received->capacity = capacity;
    }
    MPI_Send(&wanted, 1, MPI_INT, rank, WANTED_TAG, MPI_COMM_WORLD);
    received->unanswered = false;
    MPI_Recv(received->bytes, (int)received->n, MPI_BYTE, rank, BYTES_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NC_NOERR;
}

/* After an error: reply to each rank that has a block from number b on that no more blocks are needed. unanswered: the
 * size of block b was already received. */
static void stop_senders(const dump_file *file, int64_t b, int64_t total, bool unanswered)
{
    const int wanted = 0, nprocs = file->team->nprocs;
    for (int64_t end = b + nprocs; b < end && b < total; b++, unanswered = false) {
        int rank = (int)(b % nprocs);
        int64_t n;
        if (rank == 0)
            continue;
        if (!unanswered)
            MPI_Recv(&n, 1, MPI_INT64_T, rank, SIZE_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&wanted, 1, MPI_INT, rank, WANTED_TAG, MPI_COMM_WORLD);
    }
}

/* Read or receive the current block, and print it. */
static int print_block(const dump_file *file, dump_reader *reader, const dump_formatter *formatter,
                       received_block *received)
{
    int rank = (int)(reader->blocks.number % file->team->nprocs);
    if (rank == 0) {
        PNC_TRY(dump_reader_read(reader));
        formatter->write(formatter->with, &reader->blocks, reader->block);
        return NC_NOERR;
    }
    PNC_TRY(receive_block(file, rank, received));
    if (formatter->prepare != NULL)
        formatter->finish(formatter->with, &reader->blocks, received->bytes, received->n);
    else
        formatter->write(formatter->with, &reader->blocks, received->bytes);
    return NC_NOERR;
}

static int print_blocks(const dump_file *file, dump_reader *reader, const dump_formatter *formatter)
{
    received_block received = {.bytes = NULL};
    int64_t b = 0;
    int err = NC_NOERR;
    while (err == NC_NOERR && tool_blocks_seek(&reader->blocks, b)) {
        err = print_block(file, reader, formatter, &received);
        if (err != NC_NOERR)
            break;
        err = tool_output_flush(file->options->path);
        file->team->done += reader->blocks.length * (int64_t)reader->variable->type->size;
        tool_progress_update(&file->team->progress, file->team->done);
        b++;
    }
    if (err != NC_NOERR)
        stop_senders(file, b, reader->blocks.total, received.unanswered);
    free(received.bytes);
    return err;
}

/* --- all ranks --- */

/* The bytes of a variable, and the offset where it ends; both INT64_MAX if they exceed 64 bits. */
static void get_size(const dump_file *file, const dump_variable *variable, const int64_t *shape, int64_t *bytes,
                     int64_t *end)
{
    bool has_records = variable->ndims > 0 && variable->dimids[0] == file->unlimited;
    int64_t span, size = (int64_t)variable->type->size;

    for (int i = 0; i < variable->ndims; i++)
        if (pnc_size_multiply(size, shape[i], &size) < 0)
            size = INT64_MAX;
    *bytes = size;
    if (!has_records)
        span = size;
    else if (pnc_size_multiply(shape[0], file->input.model.classic.recsize, &span) < 0)
        span = INT64_MAX;
    if (pnc_size_add(variable->var->classic.begin, span, end) < 0)
        *end = INT64_MAX;
}

/* The same of chunks that were never written. The largest ratio of zstd is a few ten thousands. */
static int check_ratio(const dump_file *file, const dump_variable *variable, int64_t bytes)
{
    const int64_t most = INT64_C(1) << 30, ratio = 65536;

    if (bytes <= most || bytes / ratio <= file->input.size)
        return NC_NOERR;
    if (file->team->rank == 0)
        tool_error_print(
            "%s: variable %s has %lld bytes, more than %lld times those of the file: -h prints the header, "
            "-v other variables",
            file->options->path, variable->name, (long long)bytes, (long long)ratio);
    return NC_EREAD;
}

/* Values beyond the end of a file read as zeros, without limit: a few damaged bytes of a small file would be years of
 * output. */
static int check_size(const dump_file *file, const dump_variable *variable, const int64_t *shape)
{
    const int64_t most = INT64_C(1) << 30;
    int64_t bytes, end, missing;

    get_size(file, variable, shape, &bytes, &end);
    if (file->input.reader != NULL)
        return check_ratio(file, variable, bytes);
    missing = end - file->input.size < bytes ? end - file->input.size : bytes;
    if (missing <= most)
        return NC_NOERR;
    if (file->team->rank == 0)
        tool_error_print(
            "%s: variable %s: %lld of its %lld bytes are beyond the end of the file, which has %lld: -h "
            "prints the header, -v other variables",
            file->options->path, variable->name, (long long)missing, (long long)bytes, (long long)file->input.size);
    return NC_EREAD;
}

/* Rank 0 reads and prints all strings, whose lengths other ranks do not know. */
static int print_strings(const dump_file *file, dump_reader *reader, const dump_formatter *formatter)
{
    int err = NC_NOERR;

    for (int64_t b = 0; err == NC_NOERR && tool_blocks_seek(&reader->blocks, b); b++) {
        err = dump_reader_read(reader);
        if (err == NC_NOERR) {
            formatter->write(formatter->with, &reader->blocks, reader->block);
            err = tool_output_flush(file->options->path);
        }
    }
    return err;
}

int dump_team_write(const dump_file *file, const dump_variable *variable, const int64_t *shape,
                    dump_formatter (*choose)(void *with, const tool_blocks *blocks), void *with)
{
    dump_reader reader;
    int rank = file->team->rank, err = dump_reader_init(file, variable, shape, &reader);
    bool strings = variable->type->class == CDL_STRING;
    bool shared = file->team->nprocs > 1 && reader.blocks.total > 1 && !strings;
    if (err != NC_NOERR)
        dump_memory_report(file, variable->name);
    else
        err = check_size(file, variable, shape);
    if (shared)
        err = dump_team_agree(file, err); /* continue only if all ranks have memory */
    if (err == NC_NOERR) {
        dump_formatter formatter = choose(with, &reader.blocks);
        if (rank == 0)
            err = strings ? print_strings(file, &reader, &formatter) : print_blocks(file, &reader, &formatter);
        else if (shared)
            send_blocks(file, &reader, &formatter);
        if (shared)
            err = dump_team_agree(file, err);
    }
    dump_reader_free(&reader);
    return err;
}
