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
                pnc_convert_kernel_find(PNC_GET, att->type, pnc_type_get_mem_type(att->type), NC_FORMAT_CDF5, NULL);
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

/* Read the whole file. It may be a pipe: its size need not be known beforehand. */
static int read_text(const char *filename, char **text, int64_t *size)
{
    int64_t capacity = 1 << 16, used = 0;
    char *bytes;
    ssize_t n = 1;
    int fd, err = pnc_api_file_open(filename, &fd);

    if (err != NC_NOERR)
        return err;
    bytes = pnc_memory_alloc(capacity, 1);
    while (bytes != NULL && n > 0) {
        n = pnc_api_file_read(fd, bytes + used, (size_t)(capacity - used));
        used += n > 0 ? n : 0;
        if (used == capacity) {
            char *grown = pnc_memory_resize(bytes, capacity *= 2, 1);
            if (grown == NULL)
                pnc_memory_free(bytes);
            bytes = grown;
        }
    }
    close(fd);
    if (bytes == NULL)
        return NC_ENOMEM;
    if (n < 0) {
        pnc_memory_free(bytes);
        return (int)n;
    }
    *text = bytes;
    *size = used;
    return NC_NOERR;
}

static int parse(cdl_header *header, const char *filename, pnc_error *error)
{
    char *text = NULL;
    int64_t size = 0;
    int err = read_text(filename, &text, &size);

    if (err != NC_NOERR)
        return err;
    err = pnc_format_cdl_parse(text, size, &header->model, error);
    pnc_memory_free(text);
    return err;
}

int cdl_hdr_open(const char *filename, int *hid)
{
    pnc_error error = {0};
    cdl_header *header;
    int err;

    if (hid == NULL)
        return pnc_dataset_error_report_call(__func__, filename, pnc_error_set(&error, NC_EINVAL, "hid is NULL"),
                                             &error);
    header = pnc_memory_alloc_zeroed(1, sizeof *header);
    if (header == NULL)
        return pnc_dataset_error_report_call(__func__, filename, NC_ENOMEM, NULL);
    err = parse(header, filename, &error);
    if (err == NC_NOERR)
        err = make_values(header);
    if (err == NC_NOERR)
        err = add_header(header, hid);
    if (err != NC_NOERR)
        free_header(header);
    return pnc_dataset_error_report_call(__func__, filename, err, &error);
}

int cdl_hdr_close(int hid)
{
    cdl_header *header;
    int err = find_header(hid, true, &header);

    if (err == NC_NOERR)
        free_header(header);
    return err;
}

int cdl_hdr_inq_format(int hid, int *format)
{
    cdl_header *header;
    int err = find_header(hid, false, &header);

    if (err == NC_NOERR && format != NULL)
        *format = header->model.format; /* the constants are the version byte of the file */
    return err;
}

int cdl_hdr_inq_ndims(int hid, int *ndims)
{
    cdl_header *header;
    int err = find_header(hid, false, &header);

    if (err == NC_NOERR && ndims != NULL)
        *ndims = header->model.ndims;
    return err;
}

int cdl_hdr_inq_dim(int hid, int dimid, char **name, MPI_Offset *size)
{
    cdl_header *header;
    int err = find_header(hid, false, &header);

    if (err != NC_NOERR)
        return err;
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
    int err = find_header(hid, false, &header);

    if (err == NC_NOERR && nvars != NULL)
        *nvars = header->model.nvars;
    return err;
}

int cdl_hdr_inq_var(int hid, int varid, char **name, nc_type *xtype, int *ndims, int **dimids)
{
    cdl_header *header;
    pnc_var *var;
    int err = find_header(hid, false, &header);

    if (err != NC_NOERR)
        return err;
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
    int err = find_header(hid, false, &header);

    if (err != NC_NOERR)
        return err;
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
    int err = find_header(hid, false, &header);

    if (err != NC_NOERR)
        return err;
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
