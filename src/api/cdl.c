/* cdl_hdr_*: open a header in CDL, which reads it once, and inquire about its contents. */
#include "api/api.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "convert/convert.h"
#include "format/cdl.h"

/* The model holds attribute values in external form; the caller receives them in memory form. */
typedef struct cdl_header {
    pnc_model model;
    int *first;     /* index into values: first[0] for global attributes, first[v + 1] for those of variable v */
    void **values;  /* of all attributes, NULL where there are no elements */
    char *elements; /* what `values` points into */
} cdl_header;

/* As for datasets: threads may open and close different headers at once. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cdl_header *open_headers[NC_MAX_NFILES];

static int add_header(cdl_header *header, int *hid)
{
    int err = NC_ENFILE;

    pthread_mutex_lock(&lock);
    for (int i = 0; i < NC_MAX_NFILES && err != NC_NOERR; i++) {
        if (open_headers[i] == NULL) {
            open_headers[i] = header;
            *hid = i;
            err = NC_NOERR;
        }
    }
    pthread_mutex_unlock(&lock);
    return err;
}

static int find_header(int hid, bool remove, cdl_header **out)
{
    if (hid < 0 || hid >= NC_MAX_NFILES)
        return NC_EBADID;
    pthread_mutex_lock(&lock);
    *out = open_headers[hid];
    if (remove)
        open_headers[hid] = NULL;
    pthread_mutex_unlock(&lock);
    return *out != NULL ? NC_NOERR : NC_EBADID;
}

static void free_header(cdl_header *header)
{
    pnc_format_model_free(&header->model);
    pnc_memory_free(header->first);
    pnc_memory_free(header->values);
    pnc_memory_free(header->elements);
    pnc_memory_free(header);
}

/* Bytes of an attribute's elements, rounded up so that the next one's are aligned. */
static int64_t elements_for(const pnc_att *att)
{
    return (att->len * (int64_t)pnc_type_get_size(att->type) + 7) / 8 * 8;
}

static void to_native(cdl_header *header)
{
    static const char unused[8]; /* fill value: the types are the same, so no value is out of range */
    char *elements = header->elements;
    int n = 0;

    for (int v = NC_GLOBAL; v < header->model.nvars; v++) {
        const pnc_atts *atts = pnc_format_atts_get(&header->model, v);
        header->first[v + 1] = n;
        for (int i = 0; i < atts->n; i++, n++) {
            const pnc_att *att = atts->at[i];
            pnc_kernel load =
                pnc_convert_kernel_find(PNC_GET, att->type, pnc_type_get_mem_type(att->type), PNC_ENCODING_CDF5, NULL);
            header->values[n] = att->len > 0 ? elements : NULL;
            if (att->len > 0)
                load(elements, att->value, att->len, unused);
            elements += elements_for(att);
        }
    }
}

static int make_values(cdl_header *header)
{
    int64_t natts = 0, bytes = 0;

    for (int v = NC_GLOBAL; v < header->model.nvars; v++) {
        const pnc_atts *atts = pnc_format_atts_get(&header->model, v);
        natts += atts->n;
        for (int i = 0; i < atts->n; i++)
            bytes += elements_for(atts->at[i]);
    }
    header->first = pnc_memory_alloc((int64_t)header->model.nvars + 1, sizeof *header->first);
    header->values = pnc_memory_alloc(natts, sizeof *header->values);
    header->elements = pnc_memory_alloc(bytes, 1);
    if (natts > INT32_MAX || header->first == NULL || header->values == NULL || header->elements == NULL)
        return NC_ENOMEM;
    to_native(header);
    return NC_NOERR;
}

/* Bytes of a file that is read. */
typedef struct text {
    char *bytes;
    int64_t size, capacity;
} text;

#define PIECE (1 << 14) /* bytes of a read, at least */

/* Read the rest of the file. It may be a pipe: its size need not be known beforehand. */
static int read_rest(int fd, text *to)
{
    for (;;) {
        ssize_t n;

        if (!pnc_memory_grow(&to->bytes, &to->capacity, to->size + PIECE, 1))
            return NC_ENOMEM;
        n = pnc_api_file_read(fd, to->bytes + to->size, (size_t)(to->capacity - to->size));
        if (n <= 0)
            return (int)n;
        to->size += n;
    }
}

static int parse_file(cdl_header *header, const char *filename, pnc_error *error)
{
    text cdl = {NULL, 0, 0};
    int fd, err;

    PNC_TRY(pnc_api_file_open(filename, &fd));
    err = read_rest(fd, &cdl);
    close(fd);
    if (err == NC_NOERR)
        err = pnc_format_cdl_parse(cdl.bytes, cdl.size, &header->model, error);
    pnc_memory_free(cdl.bytes);
    return err;
}

static int open_header(const char *filename, int *hid, pnc_error *error)
{
    cdl_header *header;
    int err;

    if (hid == NULL)
        return pnc_error_set(error, NC_EINVAL, "hid is NULL");
    header = pnc_memory_alloc_zeroed(1, sizeof *header);
    if (header == NULL)
        return NC_ENOMEM;
    err = parse_file(header, filename, error);
    if (err == NC_NOERR)
        err = make_values(header);
    if (err == NC_NOERR)
        err = add_header(header, hid);
    if (err != NC_NOERR)
        free_header(header);
    return err;
}

int cdl_hdr_open(const char *filename, int *hid)
{
    pnc_error error = {0};
    int err = open_header(filename, hid, &error);

    return pnc_dataset_error_report_call(__func__, filename, err, &error);
}

int cdl_hdr_close(int hid)
{
    cdl_header *header;

    PNC_TRY(find_header(hid, true, &header));
    free_header(header);
    return NC_NOERR;
}

int cdl_hdr_inq_format(int hid, int *format)
{
    cdl_header *header;

    PNC_TRY(find_header(hid, false, &header));
    if (format != NULL)
        *format = header->model.format; /* the constants are the version byte of the file */
    return NC_NOERR;
}

int cdl_hdr_inq_ndims(int hid, int *ndims)
{
    cdl_header *header;

    PNC_TRY(find_header(hid, false, &header));
    if (ndims != NULL)
        *ndims = header->model.ndims;
    return NC_NOERR;
}

int cdl_hdr_inq_dim(int hid, int dimid, char **name, MPI_Offset *size)
{
    cdl_header *header;

    PNC_TRY(find_header(hid, false, &header));
    if (dimid < 0 || dimid >= header->model.ndims)
        return NC_EBADDIM;
    if (name != NULL)
        *name = header->model.dims[dimid]->name;
    if (size != NULL)
        *size = header->model.dims[dimid]->len;
    return NC_NOERR;
}

int cdl_hdr_inq_nvars(int hid, int *nvars)
{
    cdl_header *header;

    PNC_TRY(find_header(hid, false, &header));
    if (nvars != NULL)
        *nvars = header->model.nvars;
    return NC_NOERR;
}

int cdl_hdr_inq_var(int hid, int varid, char **name, nc_type *xtype, int *ndims, int **dimids)
{
    cdl_header *header;
    pnc_var *var;

    PNC_TRY(find_header(hid, false, &header));
    if (varid < 0 || varid >= header->model.nvars)
        return NC_ENOTVAR;
    var = header->model.vars[varid];
    if (name != NULL)
        *name = var->name;
    if (xtype != NULL)
        *xtype = var->type;
    if (ndims != NULL)
        *ndims = var->ndims;
    if (dimids != NULL)
        *dimids = var->ndims > 0 ? var->dimids : NULL;
    return NC_NOERR;
}

int cdl_hdr_inq_nattrs(int hid, int varid, int *nattrs)
{
    cdl_header *header;
    const pnc_atts *atts;

    PNC_TRY(find_header(hid, false, &header));
    atts = pnc_format_atts_get(&header->model, varid);
    if (atts == NULL)
        return NC_ENOTVAR;
    if (nattrs != NULL)
        *nattrs = atts->n;
    return NC_NOERR;
}

int cdl_hdr_inq_attr(int hid, int varid, int attrid, char **name, nc_type *xtype, MPI_Offset *nelems, void **value)
{
    cdl_header *header;
    const pnc_atts *atts;

    PNC_TRY(find_header(hid, false, &header));
    atts = pnc_format_atts_get(&header->model, varid);
    if (atts == NULL)
        return NC_ENOTVAR;
    if (attrid < 0 || attrid >= atts->n)
        return NC_ENOTATT;
    if (name != NULL)
        *name = atts->at[attrid]->name;
    if (xtype != NULL)
        *xtype = atts->at[attrid]->type;
    if (nelems != NULL)
        *nelems = atts->at[attrid]->len;
    if (value != NULL)
        *value = header->values[header->first[varid + 1] + attrid];
    return NC_NOERR;
}
