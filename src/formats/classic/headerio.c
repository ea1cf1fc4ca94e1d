/* The header in the file: only rank 0 reads and writes it. */
#include "formats/classic/headerio.h"

#include <string.h>
#include <time.h>

#include "base/digest.h"
#include "base/memory.h"
#include "base/minmax.h"
#include "file/agree.h"
#include "format/codec.h"
#include "format/layout.h"
#include "formats/classic/file_end.h"
#include "formats/classic/growing.h"
#include "formats/classic/header_check.h"
#include "formats/classic/records.h"
#include "formats/difference.h"

enum {
    MARK_PAUSES = 10,
    MARK_PAUSE = 20000000, /* nanoseconds */
    ESTIMATE_LEAST = 2,    /* times the bytes that were read */
    ESTIMATE_MOST = 64
};

/* Whether all ranks decode the header at the same time, from as many bytes as the first n let expect. Without
 * variables in those, the estimate is 2 n and often too small. A damaged file can make it large: all ranks would
 * allocate memory for bytes that are not of the header. */
static bool is_worth_sharing(const pnc_format_bytes *header, int64_t estimate)
{
    return header->is_first && estimate > PNC_FORMAT_MESSAGE_BYTES && estimate > ESTIMATE_LEAST * header->n &&
           estimate / ESTIMATE_MOST <= header->n;
}

/* Rank 0, which has the first bytes: read more until the header is complete, or its size is estimated. */
static int complete_header(pnc_format *f, pnc_format_bytes *header, pnc_model *out)
{
    int64_t need = header->n;
    int err;

    header->is_estimated = false;
    do {
        err = pnc_formats_bytes_extend(f, header, need);
        if (err == NC_NOERR)
            err = pnc_format_header_decode(header->at, header->n, header->file_size, out, &need, f->file->error);
    } while (err == PNC_NEED_MORE_BYTES && !is_worth_sharing(header, need));
    if (err != PNC_NEED_MORE_BYTES)
        return err;
    PNC_TRY(pnc_formats_bytes_extend(f, header, need));
    header->is_estimated = true;
    return NC_NOERR;
}

static int read_whole_header(pnc_format *f, pnc_format_bytes *header, pnc_model *out)
{
    PNC_TRY(pnc_formats_bytes_begin(f, header));
    return complete_header(f, header, out);
}

/* A program that changes a header marks it for some milliseconds. A mark that remains is of one that has died, or moves
 * data. */
static int read_unmarked(pnc_format *f, pnc_format_bytes *header)
{
    const struct timespec pause = {0, MARK_PAUSE};
    int err = complete_header(f, header, f->model);

    for (int i = 0; err == NC_EINTERRUPTED && i < MARK_PAUSES; i++) {
        nanosleep(&pause, NULL);
        pnc_error_clear(f->file->error);
        err = read_whole_header(f, header, f->model);
    }
    return err;
}

/* A reader finds the mark: its program may be running. */
static int explain_mark(pnc_format *f)
{
    pnc_error decoded = *f->file->error;

    pnc_error_clear(f->file->error);
    PNC_TRY(pnc_classic_growing_inquire(f->file));
    *f->file->error = decoded;
    return pnc_formats_path_add(f, NC_EINTERRUPTED);
}

int pnc_classic_header_load(pnc_format *f, pnc_format_bytes *header)
{
    int err = read_unmarked(f, header);

    if (err == NC_EINTERRUPTED && f->file->read_only)
        return explain_mark(f);
    if (err == NC_EINTERRUPTED) {
        pnc_error_clear(f->file->error);
        PNC_TRY(pnc_classic_growing_repair(f->file, f->hints->assumes_dead != 0));
        err = read_whole_header(f, header, f->model);
    }
    if (err == NC_NOERR && !header->is_estimated)
        header->n = f->model->classic.header_size; /* it may have read beyond the header */
    return pnc_formats_path_add(f, err);
}

int pnc_classic_header_read(pnc_format *f, pnc_model *out)
{
    pnc_format_bytes header = {0};
    int err = read_whole_header(f, &header, out);

    pnc_memory_free(header.at);
    return pnc_formats_path_add(f, err);
}

/* After the broadcast of the message: the other ranks replace their model. Collective; err is the result so far of this
 * rank; returns that of this rank. */
static int adopt_message(pnc_format *f, pnc_format_bytes *header, const pnc_format_message *message, int err)
{
    int64_t need;

    if (message->error.code == NC_NOERR)
        err = pnc_formats_rest_broadcast(f, message, header, err);
    if (f->file->rank == 0 || header->is_estimated || err != NC_NOERR)
        return err;
    pnc_format_model_free(f->model);
    return pnc_formats_path_add(f, pnc_format_header_decode(header->at != NULL ? header->at : message->bytes, header->n,
                                                            header->file_size, f->model, &need, f->file->error));
}

/* Broadcast rank 0's header, or its error. As above. */
static int share_header(pnc_format *f, pnc_format_bytes *header, int err)
{
    pnc_format_message message;

    err = pnc_formats_message_broadcast(f, header, &message, err);
    return adopt_message(f, header, &message, err);
}

/* Rank 0 reads the header once more, repairs it if possible, and broadcasts it after it has decoded it. As above. */
static int read_again(pnc_format *f, pnc_format_bytes *header)
{
    int err = NC_NOERR;

    pnc_memory_free(header->at);
    *header = (pnc_format_bytes){0};
    if (f->file->rank == 0)
        err = pnc_formats_path_add(f, pnc_formats_bytes_begin(f, header));
    if (f->file->rank == 0 && err == NC_NOERR)
        err = pnc_classic_header_load(f, header);
    return share_header(f, header, err);
}

/* All ranks decode the same bytes. If one cannot, as bytes are missing or wrong, or for lack of memory, rank 0 reads
 * them again: errors are found there. Collective. */
static int decode_on_all(pnc_format *f, pnc_format_bytes *header)
{
    int64_t need;
    int err = pnc_format_header_decode(header->at, header->n, header->file_size, f->model, &need, NULL);
    int64_t failed = err != NC_NOERR;

    PNC_TRY(pnc_file_maxima_agree(f->file, &failed, 1, "whether the header could be decoded"));
    if (failed == 0)
        return NC_NOERR;
    pnc_format_model_free(f->model);
    return read_again(f, header);
}

int pnc_classic_header_adopt(pnc_format *f, pnc_format_bytes *header, const pnc_format_message *message, int err)
{
    pnc_store_end *end = f->file->store->end;

    if (f->file->nprocs > 1)
        err = adopt_message(f, header, message, err);
    if (header->is_estimated && err == NC_NOERR)
        err = decode_on_all(f, header);
    end->least_size = header->file_size;
    if (err == NC_NOERR) /* what is behind the data, such as the rest of a journal, may be cut off */
        end->least_size = pnc_min64(header->file_size, pnc_format_layout_get_file_end(f->model));
    end->refuses_short = f->hints->short_file != 0;
    return err;
}

/* Fill modes are added, as the header does not contain them. */
static uint64_t digest_header(const pnc_model *model, const char *bytes, int64_t n)
{
    uint64_t hash = pnc_digest_add(PNC_DIGEST_START, bytes, n);

    for (int i = 0; i < model->nvars; i++)
        hash = pnc_digest_add(hash, &(unsigned char){model->vars[i]->no_fill}, 1);
    return hash;
}

static int share_fill_modes(pnc_format *f)
{
    int n = f->model->nvars, err = NC_NOERR;
    char *modes = pnc_memory_alloc(n, 1);

    if (modes == NULL)
        err = pnc_error_set(f->file->error, NC_ENOMEM, "%s: no memory for the fill modes of %d variables",
                            f->file->path, n);
    err = pnc_file_status_agree(f->file, err);
    if (err == NC_NOERR) {
        for (int i = 0; i < n; i++)
            modes[i] = f->model->vars[i]->no_fill;
        pnc_file_bytes_broadcast(f->file, modes, n, "the fill modes");
    }
    for (int i = 0; i < n && err == NC_NOERR; i++)
        f->model->vars[i]->no_fill = modes[i];
    pnc_memory_free(modes);
    return err;
}

/* After an error the rank keeps its definitions. */
static void finish_adoption(pnc_format *f, pnc_model *replaced, int err)
{
    if (err == NC_NOERR) {
        if (f->difference[0] == '\0')
            pnc_formats_difference_explain(replaced, f->model, f->difference, sizeof f->difference);
        f->model->casts = replaced->casts;
        pnc_format_model_free(replaced);
    } else {
        pnc_format_model_free(f->model);
        *f->model = *replaced;
    }
}

/* The file contains rank 0's definitions. A rank whose definitions differ adopts them; otherwise it would write data to
 * wrong offsets. */
static int adopt_root_header(pnc_format *f, pnc_format_bytes *header, int64_t own)
{
    int64_t root = own;
    pnc_model replaced;
    int err;

    pnc_file_bytes_broadcast(f->file, &root, sizeof root, "the digest of the header");
    f->overruled = f->overruled || own != root; /* an enddef that failed may have replaced them before */
    if (f->file->rank != 0) {
        pnc_memory_free(header->at);
        header->at = NULL;
    }
    header->file_size = pnc_format_layout_get_data_end(f->model);
    replaced = *f->model;
    if (f->file->rank != 0)
        *f->model = (pnc_model){0};
    err = share_header(f, header, NC_NOERR);
    if (f->file->rank != 0)
        finish_adoption(f, &replaced, err);
    PNC_TRY(pnc_file_status_agree(f->file, err));
    return share_fill_modes(f);
}

/* Agree on the results of the ranks, and on the header. Collective, on several ranks. */
static int agree_header(pnc_format *f, pnc_format_bytes *header, int err)
{
    int64_t own, values[3];
    int mismatch;

    err = pnc_file_late_take(f->file, err);
    own = err != NC_NOERR ? 0 : (int64_t)(digest_header(f->model, header->at, header->n) >> 1);
    values[0] = own;
    values[1] = -own;
    values[2] = err != NC_NOERR;
    mismatch = pnc_file_maxima_agree(f->file, values, 3, "the digests of the headers");
    if (mismatch != NC_NOERR)
        return pnc_error_keep_first(err, mismatch);
    if (values[2] != 0)
        return pnc_file_status_agree(f->file, err);
    return values[0] == -values[1] ? NC_NOERR : adopt_root_header(f, header, own);
}

/* The header has the number of records. A new file has none: its ranks do not agree here. Otherwise all ranks return an
 * error, or none does. */
static int complete_model(pnc_format *f, int err)
{
    return f->is_new ? err : pnc_classic_numrecs_merge(f, err);
}

int pnc_classic_header_agree(pnc_format *f, int err, char **bytes, int64_t *n)
{
    pnc_format_bytes header = {.n = f->model->classic.header_size};

    if (err == NC_NOERR)
        err = pnc_formats_path_add(f, pnc_format_names_check(f->model, f->file->error));
    if (err == NC_NOERR)
        header.at = pnc_memory_alloc(header.n, 1);
    if (header.at == NULL && err == NC_NOERR)
        err = pnc_formats_memory_fail(f, header.n);
    err = complete_model(f, err);
    if (err == NC_NOERR)
        pnc_format_header_encode(f->model, header.at);
    if (f->file->nprocs > 1 && (err == NC_NOERR || f->is_new))
        err = agree_header(f, &header, err);
    if (err != NC_NOERR || f->file->rank != 0) { /* rank 0 writes it */
        pnc_memory_free(header.at);
        header.at = NULL;
    }
    PNC_TRY(err);
    *bytes = header.at;
    *n = header.n;
    return NC_NOERR;
}
