/* Finds the values of a request that do not fit, after its conversion has found that there are some. Conversion itself
 * does not count them, which would make it slower. */
#include "io/request/out_of_range.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "convert/misfit.h"
#include "io/request/request.h"
#include "mapping/cursor.h"

/* Some programs expect such values, and repeat the call for each record. */
#define MOST_SEARCHED (1 << 18) /* elements */
#define MOST_READS 64           /* of a get, of at most MOST_EXTENTS extents each */
#define PORTION 4096
#define MOST_EXTENTS 64

typedef struct search {
    pnc_io_context *io;
    const pnc_request *request;
    const pnc_var *var;

    /* a put: its values in the type of the file, and in the largest type of their kind */
    pnc_packer packer, exact;
    /* a get */
    pnc_kernel kernel;

    int64_t searched, found;
    bool is_partial; /* there are more than were searched */
    int64_t offset;  /* in the file, of the first one that was found */
    int value_type;  /* external */
    char value[8];
} search;

/* --- search --- */

static int start_search(search *s)
{
    const pnc_request *r = s->request;
    pnc_encoding encoding = pnc_format_var_get_encoding(s->io->model, s->var);
    pnc_conversion exact = {PNC_PUT, pnc_convert_misfit_get_type((pnc_mem_type)r->mem), (pnc_mem_type)r->mem, encoding,
                            NULL};

    if (r->direction == PNC_GET) {
        s->value_type = s->var->type;
        s->kernel = pnc_convert_kernel_find(PNC_GET, s->var->type, (pnc_mem_type)r->mem, encoding, NULL);
        return s->kernel == NULL ? NC_EINTERNAL : NC_NOERR;
    }
    s->value_type = exact.xtype;
    PNC_TRY(pnc_io_request_init_converter(s->io, r, &s->packer));
    return pnc_convert_packer_init(&s->exact, &exact, r->flat, r->memory);
}

/* The next value of the request. `bytes`: of the file, for a get. */
static bool fits_in_memory(search *s, const char *bytes)
{
    char converted[8];
    const unsigned char fill[8] = {0};
    bool result;

    if (s->request->direction == PNC_GET)
        return s->kernel(converted, bytes, 1, fill) == NC_NOERR;
    pnc_convert_packer_pack(&s->packer, converted, 1);
    result = s->packer.status == NC_NOERR;
    s->packer.status = NC_NOERR;
    return result;
}

/* Values at one extent of the file. */
static void search_extent(search *s, pnc_extent extent, const char *bytes)
{
    int size = (int)s->request->elements.elem_size;
    bool puts = s->request->direction == PNC_PUT;

    for (int64_t at = 0; at + size <= extent.length; at += size) {
        char exact[8];
        bool odd = !fits_in_memory(s, bytes + at);

        if (puts && s->found == 0)
            pnc_convert_packer_pack(&s->exact, exact, 1);
        if (odd && s->found++ == 0) {
            s->offset = extent.offset + at;
            memcpy(s->value, puts ? exact : bytes + at, puts ? sizeof exact : (size_t)size);
        }
        s->searched++;
    }
}

/* All values of a put, in define mode: its variable has no extents yet, or will have other ones. */
static void search_values(search *s)
{
    const char bytes[PORTION] = {0};
    int size = (int)s->request->elements.elem_size;
    int64_t left = s->request->elements.count;

    for (int64_t n; left > 0 && s->searched < MOST_SEARCHED; left -= n) {
        n = left < PORTION / size ? left : PORTION / size;
        search_extent(s, (pnc_extent){0, n * size}, bytes);
    }
    s->is_partial = left > 0;
}

static int search_extents(search *s)
{
    const pnc_elements *elements = &s->request->elements;
    const pnc_mapping mapping = pnc_io_context_get_mapping(s->io, elements->varid);
    pnc_extent extents[MOST_EXTENTS];
    pnc_elements_cursor cursor;
    char bytes[PORTION];
    int64_t n, total;
    int reads = 0, err;

    pnc_mapping_cursor_init(&cursor, &mapping, elements, 0, pnc_mapping_elements_get_end(elements));
    for (;;) {
        const char *at = bytes;

        err = pnc_mapping_cursor_take(&cursor, PORTION, extents, MOST_EXTENTS, &n, &total);
        if (err != NC_NOERR || n == 0)
            break;
        s->is_partial = s->searched >= MOST_SEARCHED || reads == MOST_READS;
        if (s->is_partial)
            break;
        memset(bytes, 0, sizeof bytes);
        reads += s->request->direction == PNC_GET;
        if (s->request->direction == PNC_GET)
            err = pnc_file_extents_peek(s->io->file, extents, n, bytes);
        for (int64_t i = 0; err == NC_NOERR && i < n; at += extents[i++].length)
            search_extent(s, extents[i], at);
        if (err != NC_NOERR)
            break;
    }
    pnc_mapping_cursor_free(&cursor);
    return err;
}

/* --- message --- */

/* " at lat = 3, lon = 7", in the order of the program; nothing for a scalar. Many dimensions: as many as fit. */
static void print_index(const search *s, const pnc_error *error, char *out, size_t capacity)
{
    const pnc_mapping mapping = pnc_io_context_get_mapping(s->io, s->request->elements.varid);
    int64_t index[16];
    int ndims = s->var->ndims, most = (int)(sizeof index / sizeof *index);
    size_t used = 0;

    out[0] = '\0';
    if (ndims > most)
        return;
    pnc_mapping_index_find(&mapping, s->offset, index);
    for (int i = 0; i < ndims && used < capacity; i++) {
        int dim = error->language == PNC_LANGUAGE_C ? i : ndims - 1 - i;

        used += (size_t)snprintf(out + used, capacity - used, "%s%s = %" PRId64, i == 0 ? " at " : ", ",
                                 s->io->model->dims[s->var->dimids[dim]]->name, pnc_error_get_index(error, index[dim]));
    }
}

int pnc_io_out_of_range_report(pnc_io_context *io, const pnc_request *r)
{
    search s = {.io = io, .request = r, .var = io->model->vars[r->elements.varid]};
    const char *file = pnc_type_get_name(s.var->type), *memory = pnc_mem_type_get_name((pnc_mem_type)r->mem);
    const char *from = r->direction == PNC_PUT ? memory : file, *to = r->direction == PNC_PUT ? file : memory;
    pnc_encoding encoding = pnc_format_var_get_encoding(io->model, s.var);
    const char *became = encoding.casts ? "became other numbers" : "became the fill value";
    char index[200] = "";
    int err = r->external ? NC_EINVAL : start_search(&s);

    if (err == NC_NOERR && io->defines)
        search_values(&s);
    else if (err == NC_NOERR)
        err = search_extents(&s);
    pnc_convert_packer_free(&s.packer);
    pnc_convert_packer_free(&s.exact);
    if (err != NC_NOERR || s.found == 0) /* the file has changed since, or cannot be read */
        return pnc_error_set(io->file->error, NC_ERANGE,
                             "variable \"%s\": some values of type %s do not fit type %s and %s", s.var->name, from, to,
                             became);
    if (!io->defines && r->elements.form != PNC_FILETYPE) /* which may lead out of the variable */
        print_index(&s, io->file->error, index, sizeof index);
    return pnc_error_set(
        io->file->error, NC_ERANGE,
        "variable \"%s\": %s%" PRId64 " value%s of type %s do%s not fit type %s and %s; the first one is %s%s",
        s.var->name, s.is_partial ? "at least " : "", s.found, s.found == 1 ? "" : "s", from, s.found == 1 ? "es" : "",
        to, became, pnc_convert_misfit_print(s.value_type, encoding, s.value).text, index);
}

int pnc_io_requests_report_status(pnc_io_context *io, const pnc_request_list *list)
{
    int err;

    if (list->out_of_range == NULL)
        return NC_NOERR;
    err = pnc_io_out_of_range_report(io, list->out_of_range);
    pnc_error_share(io->file->error, list->others);
    return err;
}
