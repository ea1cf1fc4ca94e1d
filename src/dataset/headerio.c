/* The header in the file: only rank 0 reads and writes it. */
#include "dataset/headerio.h"

#include <string.h>
#include <time.h>

#include "base/digest.h"
#include "base/memory.h"
#include "dataset/difference.h"
#include "dataset/file_end.h"
#include "dataset/growing.h"
#include "dataset/header_check.h"
#include "dataset/records.h"
#include "file/agree.h"
#include "format/codec.h"

enum {
    MARK_PAUSES = 10,
    MARK_PAUSE = 20000000, /* nanoseconds */
    MESSAGE_BYTES = 16 * 1024,
    ESTIMATE_LEAST = 2, /* times the bytes that were read */
    ESTIMATE_MOST = 64
};

typedef struct header_bytes {
    char *at;
    int64_t n; /* bytes of the file in memory */
    int64_t file_size;
    bool is_first;     /* the first attempt to read it, for several ranks */
    bool is_estimated; /* not decoded yet: n is an estimate of its size */
} header_bytes;

/* Add the path to a message of the decoder, which has only bytes. */
static int add_path(const pnc_file *file, int err)
{
    if (err != NC_NOERR) {
        pnc_error_set(file->error, err, "%s", pnc_error_get_text(err));
        pnc_error_add_context(file->error, "%s", file->path);
    }
    return err;
}

int pnc_dataset_header_memory_fail(pnc_dataset *ds, int64_t bytes)
{
    return pnc_error_set(&ds->error, NC_ENOMEM, "%s: no memory for %lld bytes of header", ds->file.path,
                         (long long)bytes);
}

static int read_more(pnc_file *file, header_bytes *header, int64_t upto)
{
    char *larger = pnc_memory_resize(header->at, upto, 1);

    if (larger == NULL) /* the caller adds the path */
        return pnc_error_set(file->error, NC_ENOMEM, "no memory for %lld bytes of header", (long long)upto);
    header->at = larger;
    PNC_TRY(pnc_file_range_read(file, (pnc_extent){header->n, upto - header->n}, header->at + header->n));
    header->n = upto;
    return NC_NOERR;
}

/* Whether all ranks decode the header at the same time, from as many bytes as the first n let expect. Without
 * variables in those, the estimate is 2 n and often too small. A damaged file can make it large: all ranks would
 * allocate memory for bytes that are not of the header. */
static bool is_worth_sharing(const header_bytes *header, int64_t estimate)
{
    return header->is_first && estimate > MESSAGE_BYTES && estimate > ESTIMATE_LEAST * header->n &&
           estimate / ESTIMATE_MOST <= header->n;
}

/* Rank 0: read more until the header is complete, or its size is estimated. */
static int read_whole(pnc_dataset *ds, header_bytes *header, pnc_model *out)
{
    int64_t need = ds->hints.header_read_chunk;
    int err;

    header->n = 0;
    header->is_estimated = false;
    PNC_TRY(pnc_file_get_size(&ds->file, &header->file_size));
    do {
        err = read_more(&ds->file, header, need < header->file_size ? need : header->file_size);
        if (err == NC_NOERR)
            err = pnc_format_header_decode(header->at, header->n, header->file_size, out, &need, &ds->error);
    } while (err == PNC_NEED_MORE_BYTES && !is_worth_sharing(header, need));
    if (err != PNC_NEED_MORE_BYTES)
        return err;
    PNC_TRY(read_more(&ds->file, header, need));
    header->is_estimated = true;
    return NC_NOERR;
}

/* A program that changes a header marks it for some milliseconds. A mark that remains is of one that has died, or moves
 * data. */
static int read_unmarked(pnc_dataset *ds, header_bytes *header)
{
    const struct timespec pause = {0, MARK_PAUSE};
    int err = read_whole(ds, header, &ds->model);

    for (int i = 0; err == NC_EINTERRUPTED && i < MARK_PAUSES; i++) {
        nanosleep(&pause, NULL);
        pnc_error_clear(&ds->error);
        err = read_whole(ds, header, &ds->model);
    }
    return err;
}

/* A reader finds the mark: its program may be running. */
static int explain_mark(pnc_dataset *ds)
{
    pnc_error decoded = ds->error;

    pnc_error_clear(&ds->error);
    PNC_TRY(pnc_dataset_growing_inquire(&ds->file));
    ds->error = decoded;
    return add_path(&ds->file, NC_EINTERRUPTED);
}

static int read_on_root(pnc_dataset *ds, header_bytes *header)
{
    int err = read_unmarked(ds, header);

    if (err == NC_EINTERRUPTED && ds->file.read_only)
        return explain_mark(ds);
    if (err == NC_EINTERRUPTED) {
        pnc_error_clear(&ds->error);
        PNC_TRY(pnc_dataset_growing_repair(&ds->file, ds->hints.assumes_dead != 0));
        err = read_whole(ds, header, &ds->model);
    }
    return add_path(&ds->file, err);
}

int pnc_dataset_header_load(pnc_dataset *ds, pnc_model *out)
{
    header_bytes header = {0};
    int err = read_whole(ds, &header, out);

    pnc_memory_free(header.at);
    return add_path(&ds->file, err);
}

/* The result of rank 0, and the beginning of its header. A header that fits takes one broadcast. */
typedef struct header_message {
    pnc_error error;
    int64_t n, file_size;
    bool is_estimated;
    char bytes[MESSAGE_BYTES];
} header_message;

static void fill_message(const pnc_dataset *ds, const header_bytes *header, int err, header_message *message)
{
    size_t some = header->n < (int64_t)sizeof message->bytes ? (size_t)header->n : sizeof message->bytes;

    message->n = header->n;
    message->file_size = header->file_size;
    message->is_estimated = header->is_estimated;
    message->error.code = err;
    memcpy(message->error.text, ds->error.text, sizeof message->error.text);
    if (err == NC_NOERR)
        memcpy(message->bytes, header->at, some);
}

/* The rest of a large header. Collective; all ranks return an error, or none does. */
static int share_rest(pnc_dataset *ds, const header_message *message, header_bytes *header, int err)
{
    const int64_t some = sizeof message->bytes;

    if (ds->file.rank != 0 && err == NC_NOERR) {
        header->at = pnc_memory_alloc(message->n, 1);
        if (header->at == NULL)
            err = pnc_dataset_header_memory_fail(ds, message->n);
        else
            memcpy(header->at, message->bytes, (size_t)some);
    }
    PNC_TRY(pnc_file_status_agree(&ds->file, err));
    pnc_file_bytes_broadcast(&ds->file, header->at + some, message->n - some, "the header");
    return NC_NOERR;
}

/* Broadcast the bytes of rank 0's header, or its error. err is the result so far of this rank; returns that of this
 * rank. A header that fits is in the message only. */
static int share_bytes(pnc_dataset *ds, header_bytes *header, header_message *message, int err)
{
    memset(message, 0, sizeof *message);
    if (ds->file.rank == 0)
        fill_message(ds, header, err, message);
    pnc_file_bytes_broadcast(&ds->file, message, sizeof *message, "the header");
    if (ds->file.rank != 0 && err == NC_NOERR)
        err = pnc_error_copy(&ds->error, &message->error, true);
    if (message->error.code == NC_NOERR && message->n > (int64_t)sizeof message->bytes)
        err = share_rest(ds, message, header, err);
    header->n = message->n;
    header->file_size = message->file_size;
    header->is_estimated = message->is_estimated;
    return err;
}

/* Broadcast rank 0's header; the other ranks replace their model by it. err is the result so far of this rank; returns
 * that of this rank. */
static int share_header(pnc_dataset *ds, header_bytes *header, int err)
{
    header_message message;
    int64_t need;

    err = share_bytes(ds, header, &message, err);
    if (ds->file.rank == 0 || header->is_estimated || err != NC_NOERR)
        return err;
    pnc_format_model_free(&ds->model);
    return add_path(&ds->file, pnc_format_header_decode(header->at != NULL ? header->at : message.bytes, header->n,
                                                        header->file_size, &ds->model, &need, &ds->error));
}

/* Rank 0 reads the header, and broadcasts it. Collective; err is the result so far of this rank; returns that of this
 * rank. */
static int read_and_share(pnc_dataset *ds, header_bytes *header, int err)
{
    if (ds->file.rank == 0 && err == NC_NOERR)
        err = read_on_root(ds, header);
    if (!header->is_estimated)
        header->n = ds->model.header_size; /* rank 0 may have read beyond the header */
    if (ds->file.nprocs > 1)
        err = share_header(ds, header, err);
    return err;
}

/* All ranks decode the same bytes. If one cannot, as bytes are missing or wrong, or for lack of memory, rank 0 reads
 * the header again, repairs it if possible, and broadcasts it after it has decoded it: errors are found there.
 * Collective. */
static int decode_on_all(pnc_dataset *ds, header_bytes *header)
{
    int64_t need;
    int err = pnc_format_header_decode(header->at, header->n, header->file_size, &ds->model, &need, NULL);
    int64_t failed = err != NC_NOERR;

    PNC_TRY(pnc_file_maxima_agree(&ds->file, &failed, 1, "whether the header could be decoded"));
    if (failed == 0)
        return NC_NOERR;
    pnc_format_model_free(&ds->model);
    pnc_memory_free(header->at);
    *header = (header_bytes){0};
    return read_and_share(ds, header, NC_NOERR);
}

int pnc_dataset_header_read(pnc_dataset *ds, int err)
{
    header_bytes header = {.is_first = ds->file.nprocs > 1};

    err = read_and_share(ds, &header, err);
    if (header.is_estimated && err == NC_NOERR)
        err = decode_on_all(ds, &header);
    pnc_memory_free(header.at);
    ds->file.store->end->least_size = header.file_size;
    if (err == NC_NOERR) { /* what is behind the data, such as the rest of a journal, may be cut off */
        int64_t end = pnc_format_layout_get_file_end(&ds->model);

        ds->file.store->end->least_size = header.file_size < end ? header.file_size : end;
    }
    ds->file.store->end->refuses_short = ds->hints.short_file != 0;
    return err;
}

/* Fill modes are added, as the header does not contain them. */
static uint64_t digest(const pnc_model *model, const char *bytes, int64_t n)
{
    uint64_t hash = pnc_digest_add(PNC_DIGEST_START, bytes, n);

    for (int i = 0; i < model->nvars; i++)
        hash = pnc_digest_add(hash, &(unsigned char){model->vars[i]->no_fill}, 1);
    return hash;
}

static int share_fill_modes(pnc_dataset *ds)
{
    int n = ds->model.nvars, err = NC_NOERR;
    char *modes = pnc_memory_alloc(n, 1);

    if (modes == NULL)
        err =
            pnc_error_set(&ds->error, NC_ENOMEM, "%s: no memory for the fill modes of %d variables", ds->file.path, n);
    err = pnc_file_status_agree(&ds->file, err);
    if (err == NC_NOERR) {
        for (int i = 0; i < n; i++)
            modes[i] = ds->model.vars[i]->no_fill;
        pnc_file_bytes_broadcast(&ds->file, modes, n, "the fill modes");
    }
    for (int i = 0; i < n && err == NC_NOERR; i++)
        ds->model.vars[i]->no_fill = modes[i];
    pnc_memory_free(modes);
    return err;
}

/* After an error the rank keeps its definitions. */
static void finish_adoption(pnc_dataset *ds, pnc_model *replaced, int err)
{
    if (err == NC_NOERR) {
        if (ds->difference[0] == '\0')
            pnc_dataset_difference_explain(replaced, &ds->model, ds->difference, sizeof ds->difference);
        pnc_format_model_free(replaced);
    } else {
        pnc_format_model_free(&ds->model);
        ds->model = *replaced;
    }
}

/* The file contains rank 0's definitions. A rank whose definitions differ adopts them; otherwise it would write data to
 * wrong offsets. */
static int adopt_root_header(pnc_dataset *ds, header_bytes *header, int64_t own)
{
    int64_t root = own;
    pnc_model replaced;
    int err;

    pnc_file_bytes_broadcast(&ds->file, &root, sizeof root, "the digest of the header");
    ds->overruled = ds->overruled || own != root; /* an enddef that failed may have replaced them before */
    if (ds->file.rank != 0) {
        pnc_memory_free(header->at);
        header->at = NULL;
    }
    header->file_size = pnc_format_layout_get_data_end(&ds->model);
    replaced = ds->model;
    if (ds->file.rank != 0)
        ds->model = (pnc_model){0};
    err = share_header(ds, header, NC_NOERR);
    if (ds->file.rank != 0)
        finish_adoption(ds, &replaced, err);
    PNC_TRY(pnc_file_status_agree(&ds->file, err));
    return share_fill_modes(ds);
}

/* Agree on the results of the ranks, and on the header. Collective, on several ranks. */
static int agree_header(pnc_dataset *ds, header_bytes *header, int err)
{
    int64_t own, values[3];
    int mismatch;

    err = pnc_file_late_take(&ds->file, err);
    own = err != NC_NOERR ? 0 : (int64_t)(digest(&ds->model, header->at, header->n) >> 1);
    values[0] = own;
    values[1] = -own;
    values[2] = err != NC_NOERR;
    mismatch = pnc_file_maxima_agree(&ds->file, values, 3, "the digests of the headers");
    if (mismatch != NC_NOERR)
        return pnc_error_keep_first(err, mismatch);
    if (values[2] != 0)
        return pnc_file_status_agree(&ds->file, err);
    return values[0] == -values[1] ? NC_NOERR : adopt_root_header(ds, header, own);
}

/* The header has the number of records. A new file has none: its ranks do not agree here. Otherwise all ranks return an
 * error, or none does. */
static int complete_model(pnc_dataset *ds, int err)
{
    return ds->is_new ? err : pnc_dataset_numrecs_merge(ds, err);
}

int pnc_dataset_header_agree(pnc_dataset *ds, int err, char **bytes, int64_t *n)
{
    header_bytes header = {.n = pnc_format_header_get_size(&ds->model)};

    if (err == NC_NOERR)
        err = add_path(&ds->file, pnc_format_names_check(&ds->model, &ds->error));
    if (err == NC_NOERR)
        header.at = pnc_memory_alloc(header.n, 1);
    if (header.at == NULL && err == NC_NOERR)
        err = pnc_dataset_header_memory_fail(ds, header.n);
    err = complete_model(ds, err);
    if (err == NC_NOERR) {
        pnc_format_header_encode(&ds->model, header.at);
        ds->model.header_size = header.n;
    }
    if (ds->file.nprocs > 1 && (err == NC_NOERR || ds->is_new))
        err = agree_header(ds, &header, err);
    if (err != NC_NOERR || ds->file.rank != 0) { /* rank 0 writes it */
        pnc_memory_free(header.at);
        header.at = NULL;
    }
    PNC_TRY(err);
    *bytes = header.at;
    *n = header.n;
    return NC_NOERR;
}
