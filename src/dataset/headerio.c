/* The header in the file: only rank 0 reads and writes it. */
#include "dataset/headerio.h"

#include "base/memory.h"
#include "dataset/records.h"
#include "file/agree.h"
#include "format/codec.h"

typedef struct header_bytes {
    char *at;
    int64_t n; /* bytes of the file in memory */
    int64_t file_size;
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

static int no_memory(const pnc_file *file, int64_t bytes)
{
    return pnc_error_set(file->error, NC_ENOMEM, "no memory for %lld bytes of header", (long long)bytes);
}

static int read_more(pnc_file *file, header_bytes *header, int64_t upto)
{
    char *larger = pnc_memory_resize(header->at, upto, 1);

    if (larger == NULL)
        return no_memory(file, upto);
    header->at = larger;
    PNC_TRY(pnc_file_range_read(file, (pnc_extent){header->n, upto - header->n}, header->at + header->n));
    header->n = upto;
    return NC_NOERR;
}

/* Rank 0: read in chunks until the header is complete. */
static int read_on_root(pnc_dataset *ds, header_bytes *header)
{
    int64_t need = ds->hints.header_read_chunk;
    int err;

    PNC_TRY(pnc_file_get_size(&ds->file, &header->file_size));
    ds->file.store->end->least_size = header->file_size;
    do {
        err = read_more(&ds->file, header, need < header->file_size ? need : header->file_size);
        if (err == NC_NOERR)
            err = pnc_format_header_decode(header->at, header->n, header->file_size, &ds->model, &need, &ds->error);
    } while (err == PNC_NEED_MORE_BYTES);
    return add_path(&ds->file, err);
}

/* Broadcast rank 0's encoded header; the other ranks replace their model by it. */
static int share_header(pnc_dataset *ds, header_bytes *header)
{
    int64_t sizes[2] = {header->n, header->file_size}, need;
    int err = pnc_file_bytes_broadcast(&ds->file, sizes, sizeof sizes, "the size of the header");

    if (ds->file.rank != 0 && err == NC_NOERR) {
        header->at = pnc_memory_alloc(sizes[0], 1);
        if (header->at == NULL)
            err = no_memory(&ds->file, sizes[0]);
    }
    header->file_size = sizes[1];
    err = pnc_file_status_agree(&ds->file, err);
    if (err == NC_NOERR)
        err = pnc_file_bytes_broadcast(&ds->file, header->at, sizes[0], "the header");
    if (err == NC_NOERR && ds->file.rank != 0) {
        pnc_format_model_free(&ds->model);
        err = add_path(&ds->file,
                       pnc_format_header_decode(header->at, sizes[0], sizes[1], &ds->model, &need, &ds->error));
    }
    return pnc_file_status_agree(&ds->file, err);
}

int pnc_dataset_header_read(pnc_dataset *ds)
{
    header_bytes header = {NULL, 0, 0};
    int err = NC_NOERR;

    if (ds->file.rank == 0)
        err = read_on_root(ds, &header);
    err = pnc_file_status_broadcast(&ds->file, err);
    header.n = ds->model.header_size; /* rank 0 may have read beyond the header */
    if (err == NC_NOERR && ds->file.nprocs > 1)
        err = share_header(ds, &header);
    pnc_memory_free(header.at);
    ds->file.store->end->least_size = header.file_size;
    ds->file.store->end->refuses_short = ds->hints.short_file != 0;
    return err;
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
        err =
            pnc_error_set(&ds->error, NC_ENOMEM, "%s: no memory for the fill modes of %d variables", ds->file.path, n);
    err = pnc_file_status_agree(&ds->file, err);
    if (err == NC_NOERR) {
        for (int i = 0; i < n; i++)
            modes[i] = ds->model.vars[i]->no_fill;
        err = pnc_file_bytes_broadcast(&ds->file, modes, n, "the fill modes");
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
    int64_t differs;

    PNC_TRY(pnc_file_bytes_broadcast(&ds->file, &root, sizeof root, "the digest of the header"));
    differs = ds->overruled = own != root;
    PNC_TRY(pnc_file_maxima_agree(&ds->file, &differs, 1, "the comparison of headers"));
    if (!differs)
        return NC_NOERR;
    if (ds->file.rank != 0) {
        pnc_memory_free(header->at);
        header->at = NULL;
    }
    header->file_size = pnc_format_layout_get_data_end(&ds->model);
    PNC_TRY(share_header(ds, header));
    return share_fill_modes(ds);
}

int pnc_dataset_header_agree(pnc_dataset *ds, char **bytes, int64_t *n)
{
    header_bytes header = {NULL, pnc_format_header_get_size(&ds->model), 0};
    /* before encoding: the number of records is in the header */
    int err = pnc_dataset_numrecs_agree(ds);

    header.at = pnc_memory_alloc(header.n, 1);
    if (header.at == NULL && err == NC_NOERR)
        err = no_memory(&ds->file, header.n);
    err = pnc_file_status_agree(&ds->file, err);
    if (err == NC_NOERR) {
        pnc_format_header_encode(&ds->model, header.at);
        ds->model.header_size = header.n;
    }
    if (err == NC_NOERR && ds->file.nprocs > 1)
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

    PNC_TRY(pnc_file_range_write(&ds->file, (pnc_extent){first, n - first}, bytes + first));
    return pnc_file_range_write(&ds->file, (pnc_extent){0, first}, bytes);
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
        err = pnc_file_range_write(&ds->file, (pnc_extent){0, n}, old);
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
    int err = NC_NOERR;

    if (ds->file.rank == 0)
        err = replace(ds, bytes, n);
    if (err != NC_NOERR && ds->before != NULL)
        restore(ds);
    PNC_TRY(pnc_file_status_broadcast(&ds->file, err));
    pnc_dataset_numrecs_commit(ds);
    return NC_NOERR;
}

int pnc_dataset_header_write(pnc_dataset *ds)
{
    char *bytes;
    int64_t n;
    int err;

    PNC_TRY(pnc_dataset_header_agree(ds, &bytes, &n));
    err = pnc_dataset_header_replace(ds, bytes, n);
    pnc_memory_free(bytes);
    return err;
}

static int64_t encode_entry(const pnc_dataset *ds, const char *name, const pnc_att *att, char *bytes)
{
    return att != NULL ? pnc_format_att_encode(&ds->model, att, bytes)
                       : pnc_format_name_encode(&ds->model, name, bytes);
}

int pnc_dataset_header_update(pnc_dataset *ds, pnc_extent old, const char *name, const pnc_att *att)
{
    int64_t n = encode_entry(ds, name, att, NULL);
    char *bytes;
    int err = NC_NOERR;

    if (n != old.length || old.offset < 0)
        return pnc_dataset_header_write(ds);
    bytes = pnc_memory_alloc(n, 1);
    if (bytes == NULL)
        err = no_memory(&ds->file, n);
    err = pnc_file_status_agree(&ds->file, err);
    if (err == NC_NOERR) {
        encode_entry(ds, name, att, bytes);
        if (ds->file.rank == 0)
            err = pnc_file_range_write(&ds->file, old, bytes);
        err = pnc_file_status_broadcast(&ds->file, err);
    }
    pnc_memory_free(bytes);
    return err;
}
