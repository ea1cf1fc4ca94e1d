/* See team.h. */
#include "config.h" /* system extensions */

#include "tools/ncmpidump/team.h"

#include <stdlib.h>

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
    if (worst != NC_NOERR && err == NC_NOERR)
        dump_error_print(file, worst, "another rank");
    return worst;
}

/* --- the ranks that prepare --- */

/* What goes to rank 0: how much it is, or a code. */
static int prepare_block(const dump_file *file, dump_reader *reader, const dump_formatter *formatter,
                         const char **bytes, int64_t *n)
{
    int err = dump_reader_read(reader);
    *bytes = reader->block;
    *n = (int64_t)reader->length * (int64_t)reader->type->size;
    if (err != NC_NOERR || !formatter->prepare)
        return err;
    rewind(file->out);
    formatter->prepare(formatter->with, &reader->blocks, reader->block);
    if (fflush(file->out) != 0 || ferror(file->out))
        return NC_ENOMEM;
    *bytes = file->team->text;
    *n = (int64_t)file->team->size;
    return NC_NOERR;
}

/* The size of a block fits in an int. Rank 0 requests a block, or ends the work after an error. */
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

/* What another rank prepared, in bytes that grow. */
static int fetch(int rank, char **bytes, int64_t *capacity, int64_t *n)
{
    const int wanted = 1;
    MPI_Recv(n, 1, MPI_INT64_T, rank, SIZE_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (*n < 0)
        return (int)*n;
    if (*n > *capacity) {
        int64_t more = *n + *n / 4; /* blocks are of similar length */
        char *grown = realloc(*bytes, (size_t)more);
        if (grown == NULL)
            return NC_ENOMEM;
        *bytes = grown;
        *capacity = more;
    }
    MPI_Send(&wanted, 1, MPI_INT, rank, WANTED_TAG, MPI_COMM_WORLD);
    MPI_Recv(*bytes, (int)*n, MPI_BYTE, rank, BYTES_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NC_NOERR;
}

/* From block number b on nothing is wanted; told: its rank has said its size already. */
static void dismiss(const dump_file *file, int64_t b, int64_t total, bool informed)
{
    const int wanted = 0, nprocs = file->team->nprocs;
    for (int64_t end = b + nprocs; b < end && b < total; b++, informed = false) {
        int rank = (int)(b % nprocs);
        int64_t n;
        if (rank == 0)
            continue;
        if (!informed)
            MPI_Recv(&n, 1, MPI_INT64_T, rank, SIZE_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&wanted, 1, MPI_INT, rank, WANTED_TAG, MPI_COMM_WORLD);
    }
}

/* Block number b, by whomever it was read. *told: its rank has said its size, and waits. */
static int write_block(const dump_file *file, dump_reader *reader, const dump_formatter *formatter, char **bytes,
                       int64_t *capacity, bool *informed)
{
    int rank = (int)(reader->blocks.number % file->team->nprocs);
    int64_t n = 0;
    int err = rank == 0 ? dump_reader_read(reader) : fetch(rank, bytes, capacity, &n);
    *informed = rank > 0 && err != NC_NOERR;
    if (err != NC_NOERR)
        return err;
    if (rank == 0 || !formatter->prepare)
        formatter->write(formatter->with, &reader->blocks, rank == 0 ? reader->block : *bytes);
    else
        formatter->finish(formatter->with, &reader->blocks, *bytes, n);
    return NC_NOERR;
}

static int print(const dump_file *file, const char *name, dump_reader *reader, const dump_formatter *formatter)
{
    char *bytes = NULL;
    int64_t capacity = 0, b = 0;
    bool informed = false;
    int err = NC_NOERR;
    for (; err == NC_NOERR && tool_blocks_seek(&reader->blocks, b); b++) {
        err = write_block(file, reader, formatter, &bytes, &capacity, &informed);
        if (err != NC_NOERR) {
            dump_error_print(file, err, name);
            break;
        }
        err = tool_output_flush(file->options->path);
    }
    if (err != NC_NOERR)
        dismiss(file, b, reader->blocks.total, informed);
    free(bytes);
    return err;
}

/* --- all --- */

int dump_team_write(const dump_file *file, const dump_variable *variable, const int64_t *shape,
                    dump_formatter (*choose)(void *with, const tool_blocks *blocks), void *with)
{
    dump_reader reader;
    int rank = file->team->rank, err = dump_reader_init(file, variable, shape, &reader);
    bool shared = file->team->nprocs > 1 && reader.blocks.total > 1;
    if (err != NC_NOERR)
        dump_error_print(file, err, variable->name);
    if (shared)
        err = dump_team_agree(file, err); /* all have memory, or none goes on */
    if (err == NC_NOERR) {
        dump_formatter formatter = choose(with, &reader.blocks);
        if (rank == 0)
            err = print(file, variable->name, &reader, &formatter);
        else if (shared)
            send_blocks(file, &reader, &formatter);
        if (shared)
            err = dump_team_agree(file, err);
    }
    dump_reader_free(&reader);
    return err;
}
