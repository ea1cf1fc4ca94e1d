/* The header in the file: only rank 0 reads and writes it. */
#include "dataset/dataset.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "format/codec.h"

#define LARGEST_PIECE ((int64_t)1 << 29) /* bytes per operation of the store */

typedef struct header_bytes {
    char *at;
    int64_t n; /* bytes of the file in memory */
    int64_t file_size;
} header_bytes;

/* Add the path to a message of the decoder, which has only bytes. */
static int name_file(pnc_dataset *ds, int err)
{
    pnc_error cause = ds->error;

    if (err == NC_NOERR)
        return err;
    pnc_error_clear(&ds->error);
    return pnc_error_set(&ds->error, err, "%s: %s", ds->path, cause.text[0] ? cause.text : pnc_error_get_text(err));
}

static int read_bytes(pnc_dataset *ds, header_bytes *header, int64_t upto)
{
    char *larger = pnc_memory_resize(header->at, upto, 1);

    if (larger == NULL)
        return pnc_error_set(&ds->error, NC_ENOMEM, "no memory for %lld bytes of header", (long long)upto);
    header->at = larger;
    while (header->n < upto) {
        int64_t rest = upto - header->n;
        pnc_extent piece = {header->n, rest < LARGEST_PIECE ? rest : LARGEST_PIECE};
        int err = ds->store->ops->read(ds->store, &piece, 1, header->at + header->n, NULL, &ds->error);

        if (err != NC_NOERR)
            return err;
        header->n += piece.length;
        ds->get_size += piece.length;
    }
    return NC_NOERR;
}

/* Rank 0: read in chunks until the header is complete. */
static int read_on_root(pnc_dataset *ds, header_bytes *header)
{
    int64_t need = ds->hints.header_read_chunk;
    int err = ds->store->ops->size(ds->store, &header->file_size, &ds->error);

    if (err != NC_NOERR)
        return err;
    ds->store->end->least_size = header->file_size;
    do {
        err = read_bytes(ds, header, need < header->file_size ? need : header->file_size);
        if (err == NC_NOERR)
            err = pnc_format_header_decode(header->at, header->n, header->file_size, &ds->model, &need, &ds->error);
    } while (err == PNC_NEED_MORE_BYTES);
    return name_file(ds, err);
}

/* Broadcast rank 0's encoded header; the other ranks replace their model by it. */
static int share_header(pnc_dataset *ds, header_bytes *header)
{
    int64_t sizes[2] = {header->n, header->file_size}, need;
    int err = NC_NOERR;

    if (MPI_Bcast(sizes, 2, MPI_INT64_T, 0, ds->comm) != MPI_SUCCESS)
        err = pnc_error_set(&ds->error, NC_EMPI, "%s: MPI_Bcast of the size of the header failed", ds->path);
    if (ds->rank != 0 && err == NC_NOERR) {
        header->at = pnc_memory_alloc(sizes[0], 1);
        if (header->at == NULL)
            err = pnc_error_set(&ds->error, NC_ENOMEM, "%s: no memory for %lld bytes of header", ds->path,
                                (long long)sizes[0]);
    }
    header->file_size = sizes[1];
    err = pnc_dataset_status_agree(ds, err);
    if (err == NC_NOERR)
        err = pnc_dataset_bytes_broadcast(ds, header->at, sizes[0]);
    if (err == NC_NOERR && ds->rank != 0) {
        pnc_format_model_free(&ds->model);
        err = name_file(ds, pnc_format_header_decode(header->at, sizes[0], sizes[1], &ds->model, &need, &ds->error));
    }
    return pnc_dataset_status_agree(ds, err);
}

int pnc_dataset_header_read(pnc_dataset *ds)
{
    header_bytes header = {NULL, 0, 0};
    int err = pnc_dataset_status_broadcast(ds, ds->rank == 0 ? read_on_root(ds, &header) : NC_NOERR);

    header.n = ds->model.header_size; /* rank 0 may have read beyond the header */
    if (err == NC_NOERR && ds->nprocs > 1)
        err = share_header(ds, &header);
    pnc_memory_free(header.at);
    ds->store->end->least_size = header.file_size;
    ds->store->end->refuses_short = ds->hints.short_file != 0;
    return err;
}

/* Rank 0 only. */
static int write_bytes(pnc_dataset *ds, int64_t where, const char *bytes, int64_t n)
{
    for (int64_t at = 0; at < n; at += LARGEST_PIECE) {
        pnc_extent piece = {where + at, n - at < LARGEST_PIECE ? n - at : LARGEST_PIECE};
        int err = ds->store->ops->write(ds->store, &piece, 1, bytes + at, &ds->error);

        if (err != NC_NOERR)
            return err;
        ds->put_size += piece.length;
    }
    return NC_NOERR;
}

/* FNV-1a: sufficient to detect definitions that differ by mistake. Fill modes are added, as the header does not contain
 * them. */
static uint64_t digest(const pnc_model *model, const char *bytes, int64_t n)
{
    const uint64_t prime = 1099511628211u;
    uint64_t hash = 14695981039346656037u;

    for (int64_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * prime;
    for (int i = 0; i < model->nvars; i++)
        hash = (hash ^ model->vars[i]->no_fill) * prime;
    return hash;
}

static int share_fill_modes(pnc_dataset *ds)
{
    int n = ds->model.nvars, err = NC_NOERR;
    char *modes = pnc_memory_alloc(n, 1);

    if (modes == NULL)
        err = pnc_error_set(&ds->error, NC_ENOMEM, "%s: no memory for the fill modes of %d variables", ds->path, n);
    err = pnc_dataset_status_agree(ds, err);
    if (err == NC_NOERR) {
        for (int i = 0; i < n; i++)
            modes[i] = ds->model.vars[i]->no_fill;
        err = pnc_dataset_bytes_broadcast(ds, modes, n);
    }
    for (int i = 0; i < n && err == NC_NOERR; i++)
        ds->model.vars[i]->no_fill = modes[i];
    pnc_memory_free(modes);
    return err;
}

/* The file contains rank 0's definitions. A rank whose definitions differ adopts them; otherwise it would write data to
 * wrong offsets. */
static int adopt_root_header(pnc_dataset *ds, header_bytes *header)
{
    uint64_t own = digest(&ds->model, header->at, header->n), root = own;
    int differs, err;

    if (MPI_Bcast(&root, 1, MPI_UINT64_T, 0, ds->comm) != MPI_SUCCESS)
        return pnc_error_set(&ds->error, NC_EMPI, "%s: MPI_Bcast failed in the comparison of headers", ds->path);
    differs = ds->overruled = own != root;
    if (MPI_Allreduce(MPI_IN_PLACE, &differs, 1, MPI_INT, MPI_MAX, ds->comm) != MPI_SUCCESS)
        return pnc_error_set(&ds->error, NC_EMPI, "%s: MPI_Allreduce failed in the comparison of headers", ds->path);
    if (!differs)
        return NC_NOERR;
    if (ds->rank != 0) {
        pnc_memory_free(header->at);
        header->at = NULL;
    }
    header->file_size = pnc_format_layout_get_data_end(&ds->model);
    err = share_header(ds, header);
    return err != NC_NOERR ? err : share_fill_modes(ds);
}

int pnc_dataset_header_agree(pnc_dataset *ds, char **bytes, int64_t *n)
{
    header_bytes header = {NULL, pnc_format_header_get_size(&ds->model), 0};
    /* before encoding: the number of records is in the header */
    int err = pnc_dataset_numrecs_agree(ds);

    header.at = pnc_memory_alloc(header.n, 1);
    if (header.at == NULL && err == NC_NOERR)
        err = pnc_error_set(&ds->error, NC_ENOMEM, "%s: no memory for %lld bytes of header", ds->path,
                            (long long)header.n);
    err = pnc_dataset_status_agree(ds, err);
    if (err == NC_NOERR) {
        pnc_format_header_encode(&ds->model, header.at);
        ds->model.header_size = header.n;
    }
    if (err == NC_NOERR && ds->nprocs > 1)
        err = adopt_root_header(ds, &header);
    if (err != NC_NOERR) {
        pnc_memory_free(header.at);
        return err;
    }
    *bytes = header.at;
    *n = header.n;
    return NC_NOERR;
}

/* Rank 0. Bytes beyond the old header are written first: if that fails, the old header is intact. */
static int replace(pnc_dataset *ds, const char *bytes, int64_t n)
{
    int64_t first = ds->before != NULL && ds->before->header_size < n ? ds->before->header_size : n;
    int err = write_bytes(ds, first, bytes + first, n - first);

    return err != NC_NOERR ? err : write_bytes(ds, 0, bytes, first);
}

/* Rank 0, after a failure: write the old header again. */
static void restore(pnc_dataset *ds)
{
    pnc_error cause = ds->error;
    int64_t n = pnc_format_header_get_size(ds->before);
    char *old = pnc_memory_alloc(n, 1);
    int err = old == NULL ? NC_ENOMEM : NC_NOERR;

    if (err == NC_NOERR) {
        pnc_format_header_encode(ds->before, old);
        err = write_bytes(ds, 0, old, n);
    }
    pnc_memory_free(old);
    if (err == NC_NOERR)
        return;
    pnc_error_clear(&ds->error);
    pnc_error_set(&ds->error, cause.code, "%.300s; writing the old header again failed too: the file is damaged",
                  cause.text);
}

int pnc_dataset_header_replace(pnc_dataset *ds, const char *bytes, int64_t n)
{
    int err = ds->rank == 0 ? replace(ds, bytes, n) : NC_NOERR;

    if (err != NC_NOERR && ds->before != NULL)
        restore(ds);
    err = pnc_dataset_status_broadcast(ds, err);
    if (err == NC_NOERR)
        ds->numrecs_dirty = false;
    return err;
}

int pnc_dataset_header_write(pnc_dataset *ds)
{
    char *bytes = NULL;
    int64_t n;
    int err = pnc_dataset_header_agree(ds, &bytes, &n);

    if (err == NC_NOERR)
        err = pnc_dataset_header_replace(ds, bytes, n);
    pnc_memory_free(bytes);
    return err;
}

static int64_t encode_entry(const pnc_dataset *ds, const char *name, const pnc_att *att, char *bytes)
{
    return att != NULL ? pnc_format_att_encode(&ds->model, att, bytes)
                       : pnc_format_name_encode(&ds->model, name, bytes);
}

int pnc_dataset_header_update(pnc_dataset *ds, int64_t where, int64_t old_size, const char *name, const pnc_att *att)
{
    int64_t n = encode_entry(ds, name, att, NULL);
    char *bytes;
    int err;

    if (n != old_size || where < 0)
        return pnc_dataset_header_write(ds);
    bytes = pnc_memory_alloc(n, 1);
    err = pnc_dataset_status_agree(
        ds, bytes == NULL ? pnc_error_set(&ds->error, NC_ENOMEM, "no memory for %lld bytes of header", (long long)n)
                          : NC_NOERR);
    if (err == NC_NOERR) {
        encode_entry(ds, name, att, bytes);
        err = pnc_dataset_status_broadcast(ds, ds->rank == 0 ? write_bytes(ds, where, bytes, n) : NC_NOERR);
    }
    pnc_memory_free(bytes);
    return err;
}

/* Rank 0: extend the file to the end of its data. Other tools fail on shorter files, even if the data beyond their end
 * was never written. */
static int reach_end(pnc_dataset *ds)
{
    int64_t size, end = pnc_format_layout_get_file_end(&ds->model);
    pnc_extent last = {end - 1, 1};
    int err = ds->store->ops->size(ds->store, &size, &ds->error);

    if (err != NC_NOERR || size >= end)
        return err;
    return ds->store->ops->write(ds->store, &last, 1, "", &ds->error);
}

/* From then on all ranks can detect that the file was truncated. */
static void note_end(pnc_dataset *ds)
{
    int64_t end = pnc_format_layout_get_file_end(&ds->model);

    if (end > ds->store->end->least_size)
        ds->store->end->least_size = end;
}

int pnc_dataset_file_extend(pnc_dataset *ds)
{
    int err = pnc_dataset_status_broadcast(ds, ds->rank == 0 ? reach_end(ds) : NC_NOERR);

    if (err == NC_NOERR)
        note_end(ds);
    return err;
}

/* Rank 0. */
static int write_numrecs(pnc_dataset *ds)
{
    char bytes[8];
    int n = pnc_format_numrecs_encode(&ds->model, bytes);
    int err = reach_end(ds);

    return err != NC_NOERR ? err : write_bytes(ds, 4, bytes, n); /* numrecs follows the 4 bytes of magic */
}

int pnc_dataset_numrecs_write(pnc_dataset *ds)
{
    int err = pnc_dataset_status_broadcast(ds, ds->rank == 0 ? write_numrecs(ds) : NC_NOERR);

    if (err != NC_NOERR)
        return err;
    ds->numrecs_dirty = false;
    note_end(ds);
    return NC_NOERR;
}
