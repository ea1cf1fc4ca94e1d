/* The description of a netCDF-4 file: encoding and decoding. Numbers have 8 bytes in host order. */
#include "formats/netcdf4/description.h"

#include <string.h>

#include "base/memory.h"
#include "base/name.h"
#include "format/entries.h"
#include "format/groups.h"
#include "format/strings.h"

#define DESCRIPTION_MAGIC INT64_C(0x3466636e)

/* --- writing --- */

static bool reserve_written(pnc_netcdf4_writer *w, int64_t more)
{
    w->failed = w->failed || more > INT64_MAX - w->n || !pnc_memory_grow(&w->bytes, &w->capacity, w->n + more, 1);
    return !w->failed;
}

static void add_written(pnc_netcdf4_writer *w, const void *bytes, int64_t n)
{
    if (!reserve_written(w, n) || n == 0)
        return;
    memcpy(w->bytes + w->n, bytes, (size_t)n);
    w->n += n;
}

void pnc_netcdf4_number_write(pnc_netcdf4_writer *w, int64_t number)
{
    add_written(w, &number, sizeof number);
}

void pnc_netcdf4_numbers_write(pnc_netcdf4_writer *w, const int64_t *numbers, int64_t n)
{
    add_written(w, numbers, n * (int64_t)sizeof *numbers);
}

/* Padded, so that numbers stay aligned. */
void pnc_netcdf4_bytes_write(pnc_netcdf4_writer *w, const void *bytes, int64_t n)
{
    static const char zeros[8] = {0};

    pnc_netcdf4_number_write(w, n);
    add_written(w, bytes, n);
    add_written(w, zeros, (8 - n % 8) % 8);
}

void pnc_netcdf4_text_write(pnc_netcdf4_writer *w, const char *text)
{
    pnc_netcdf4_bytes_write(w, text, (int64_t)strlen(text));
}

void pnc_netcdf4_head_write(pnc_netcdf4_writer *w, int format, int64_t ndims, int64_t nvars, const pnc_groups *groups)
{
    const int64_t numbers[] = {DESCRIPTION_MAGIC, format, groups->exist, groups->are_listed, ndims,
                               groups->ndims,     nvars,  groups->nvars};

    pnc_netcdf4_numbers_write(w, numbers, 8);
    pnc_netcdf4_number_write(w, groups->n);
    for (int i = 0; i < groups->n; i++)
        pnc_netcdf4_text_write(w, groups->paths[i]);
}

void pnc_netcdf4_dim_write(pnc_netcdf4_writer *w, const char *name, int64_t length, bool is_unlimited)
{
    pnc_netcdf4_text_write(w, name);
    pnc_netcdf4_number_write(w, length);
    pnc_netcdf4_number_write(w, is_unlimited);
}

void pnc_netcdf4_count_write(pnc_netcdf4_writer *w, int64_t natts)
{
    pnc_netcdf4_number_write(w, natts);
}

/* Behind the values: whether they are strings, and the lengths of these. */
void pnc_netcdf4_att_write(pnc_netcdf4_writer *w, const char *name, const pnc_att *att)
{
    pnc_netcdf4_text_write(w, name);
    pnc_netcdf4_number_write(w, att->type);
    pnc_netcdf4_number_write(w, att->len);
    pnc_netcdf4_bytes_write(w, att->value, att->len * (int64_t)pnc_type_get_size(att->type));
    pnc_netcdf4_number_write(w, att->strings.lengths != NULL);
    if (att->strings.lengths != NULL)
        pnc_netcdf4_bytes_write(w, att->strings.lengths, att->strings.n * (int64_t)sizeof *att->strings.lengths);
}

void pnc_netcdf4_var_write(pnc_netcdf4_writer *w, const char *name, int type, int64_t ndims, const int64_t *dimids)
{
    pnc_netcdf4_text_write(w, name);
    pnc_netcdf4_number_write(w, type);
    pnc_netcdf4_number_write(w, ndims);
    pnc_netcdf4_numbers_write(w, dimids, ndims);
}

static void write_filters(pnc_netcdf4_writer *w, const pnc_filter_chain *chain)
{
    pnc_netcdf4_number_write(w, chain->nfilters);
    for (const pnc_filter *f = chain->filters; f < chain->filters + chain->nfilters; f++) {
        pnc_netcdf4_number_write(w, f->id);
        pnc_netcdf4_number_write(w, f->is_optional);
        pnc_netcdf4_bytes_write(w, f->parameters, f->nparameters * (int64_t)sizeof *f->parameters);
    }
}

void pnc_netcdf4_storage_write(pnc_netcdf4_writer *w, const pnc_netcdf4_storage *s, int64_t ndims)
{
    const int64_t numbers[] = {s->layout, s->is_big_endian, s->obstacle, s->no_fill, s->has_fill, s->address};

    pnc_netcdf4_numbers_write(w, numbers, 6);
    add_written(w, s->fill, sizeof s->fill);
    pnc_netcdf4_text_write(w, s->path);
    pnc_netcdf4_numbers_write(w, s->extent, ndims);
    if (s->layout == PNC_NETCDF4_COMPACT)
        pnc_netcdf4_bytes_write(w, s->bytes, s->nbytes);
    if (s->layout == PNC_NETCDF4_STRINGS)
        pnc_netcdf4_number_write(w, s->chunk != NULL);
    if (s->layout == PNC_NETCDF4_CHUNKED || (s->layout == PNC_NETCDF4_STRINGS && s->chunk != NULL))
        pnc_netcdf4_numbers_write(w, s->chunk, ndims);
    if (s->layout != PNC_NETCDF4_CHUNKED)
        return;
    write_filters(w, &s->filters);
    pnc_netcdf4_bytes_write(w, s->places, s->nplaces * (int64_t)sizeof *s->places);
}

/* --- reading --- */

/* A decoder stops at the first error: then all that it reads is 0. */
typedef struct description_reader {
    const char *at;
    int64_t left;
    int64_t file_size;
    pnc_region *region;
    pnc_model *model;
    pnc_error *error;
    int err;
} description_reader;

static void damage(description_reader *r, const char *what, const char *name)
{
    if (r->err != NC_NOERR)
        return;
    r->err = pnc_error_set(r->error, NC_EHDFERR, name[0] == '\0' ? "%s" : "%s of \"%.100s\"", what, name);
    r->left = 0;
}

static void lack_memory(description_reader *r)
{
    if (r->err == NC_NOERR)
        r->err = pnc_error_set(r->error, NC_ENOMEM, "no memory for the definitions");
    r->left = 0;
}

static int64_t read_number(description_reader *r, int64_t least, int64_t most, const char *what, const char *name)
{
    int64_t number = 0;

    if (r->err == NC_NOERR && r->left < (int64_t)sizeof number)
        damage(r, "the description ends early", "");
    if (r->err != NC_NOERR)
        return least;
    memcpy(&number, r->at, sizeof number);
    r->at += sizeof number;
    r->left -= (int64_t)sizeof number;
    if (number >= least && number <= most)
        return number;
    damage(r, what, name);
    return least;
}

static bool read_flag(description_reader *r)
{
    return read_number(r, 0, 1, "a flag that is not 0 or 1", "") != 0;
}

/* How many entries follow, each of which takes at least `least` bytes. */
static int64_t read_count(description_reader *r, int64_t least, int64_t most, const char *what, const char *name)
{
    int64_t fit = r->left / least;

    return read_number(r, 0, fit < most ? fit : most, what, name);
}

static const int64_t *read_numbers(description_reader *r, int64_t n, int64_t least, int64_t most, const char *what,
                                   const char *name)
{
    int64_t *out = pnc_region_alloc(r->region, (n > 0 ? n : 1) * (int64_t)sizeof *out);

    if (out == NULL)
        lack_memory(r);
    for (int64_t i = 0; i < n && out != NULL; i++)
        out[i] = read_number(r, least, most, what, name);
    return out;
}

/* They stay in the description. */
static const char *read_bytes(description_reader *r, int64_t *n)
{
    const char *bytes;
    int64_t padded;

    *n = read_count(r, 1, INT64_MAX / 2, "a length that exceeds the description", "");
    bytes = r->at;
    padded = *n + (8 - *n % 8) % 8;
    if (r->err == NC_NOERR && padded > r->left)
        damage(r, "the description ends early", "");
    if (r->err != NC_NOERR) {
        *n = 0;
        return "";
    }
    r->at += padded;
    r->left -= padded;
    return bytes;
}

/* A copy, or an empty text after an error. */
static const char *read_text(description_reader *r, int64_t most, int64_t *n)
{
    const char *bytes = read_bytes(r, n);
    char *copy;

    if (*n > most || memchr(bytes, '\0', (size_t)*n) != NULL)
        damage(r, "a name that is too long, or has a zero", "");
    copy = r->err == NC_NOERR ? pnc_region_text_copy(r->region, bytes, *n) : NULL;
    if (copy == NULL && r->err == NC_NOERR)
        lack_memory(r);
    if (copy == NULL)
        *n = 0;
    return copy != NULL ? copy : "";
}

static const char *read_name(description_reader *r, int64_t *n)
{
    const char *name = read_text(r, NC_MAX_NAME, n);

    if (r->err == NC_NOERR && !pnc_name_is_text(name, (size_t)*n))
        r->model->has_bad_names = true;
    return name;
}

/* Entries of the same name keep their ids. */
static void check_append(description_reader *r, int code)
{
    if (code == NC_ENOMEM)
        lack_memory(r);
}

static void read_dim(description_reader *r, int64_t *lengths, int64_t id)
{
    int64_t n, length;
    const char *name = read_name(r, &n);
    bool is_unlimited;

    length = read_number(r, 0, INT64_MAX, "a negative length", name);
    is_unlimited = read_flag(r);
    if (r->err != NC_NOERR)
        return;
    lengths[id] = length;
    check_append(r, pnc_format_dim_append(r->model, name, n, is_unlimited ? NC_UNLIMITED : length, is_unlimited));
    if (is_unlimited && r->err == NC_NOERR)
        (void)pnc_format_dim_grow(r->model, (int)id, length);
}

/* They are in the memory of the model. */
static void read_att_strings(description_reader *r, pnc_att *att)
{
    int64_t bytes;
    pnc_strings found = {.lengths = (const int64_t *)(const void *)read_bytes(r, &bytes)};

    found.n = bytes / (int64_t)sizeof *found.lengths;
    if (bytes % (int64_t)sizeof *found.lengths != 0 || att->type != NC_CHAR ||
        pnc_format_strings_get_length(&found) != att->len)
        damage(r, "the strings of attribute", att->name);
    if (r->err == NC_NOERR && pnc_format_strings_copy(&r->model->region, &found, &att->strings) != NC_NOERR)
        lack_memory(r);
}

static void read_att(description_reader *r, pnc_atts *atts)
{
    int64_t name_len, len, n, size;
    const char *name = read_name(r, &name_len), *value;
    int type = (int)read_number(r, NC_BYTE, NC_UINT64, "the type of attribute", name);
    pnc_att *att;
    bool has_strings;

    size = (int64_t)pnc_type_get_size(type);
    len = read_count(r, size, INT64_MAX / 8, "the length of attribute", name);
    value = read_bytes(r, &n);
    if (r->err == NC_NOERR && n != len * size)
        damage(r, "the number of bytes of attribute", name);
    has_strings = read_flag(r);
    if (r->err != NC_NOERR)
        return;
    att = pnc_format_att_create(&r->model->region, name, name_len, type, len, value);
    check_append(r, pnc_format_atts_append(&r->model->region, atts, att));
    if (has_strings && att != NULL)
        read_att_strings(r, att);
}

static void read_atts(description_reader *r, pnc_atts *atts)
{
    int64_t n = read_count(r, 24, INT32_MAX, "the number of attributes", "");

    for (int64_t i = 0; i < n && r->err == NC_NOERR; i++)
        read_att(r, atts);
}

/* --- storage --- */

static void read_filters(description_reader *r, const char *name, pnc_filter_chain *out)
{
    int64_t n = read_count(r, 24, PNC_FILTER_MOST, "the number of filters", name), bytes;
    pnc_filter *filters = pnc_region_alloc(r->region, (n + 1) * (int64_t)sizeof *filters);

    *out = (pnc_filter_chain){0, filters};
    if (filters == NULL)
        lack_memory(r);
    for (int64_t i = 0; i < n && r->err == NC_NOERR; i++) {
        filters[i].id = (int)read_number(r, 0, 65535, "the id of a filter", name);
        filters[i].is_optional = read_flag(r);
        filters[i].parameters = (const uint32_t *)(const void *)read_bytes(r, &bytes);
        filters[i].nparameters = (int)(bytes / 4);
        if (bytes % 4 != 0 || bytes > 4 * INT16_MAX || (filters[i].id == PNC_FILTER_NUMBER && i > 0))
            damage(r, "the parameters of a filter", name);
        out->nfilters = (int)i + 1;
    }
}

/* Numbers of other bits become values of the variable. */
static void check_numbers(description_reader *r, const pnc_var *var, const pnc_filter_chain *chain)
{
    const pnc_filter *f = chain->filters;
    const pnc_filter_chain converts = {1, f};

    if (r->err != NC_NOERR || chain->nfilters == 0 || f->id != PNC_FILTER_NUMBER)
        return;
    if (pnc_filter_chain_check(&converts, 0, NULL, NULL) != NC_NOERR ||
        f->parameters[PNC_NUMBER_MEMORY_SIZE] != (uint32_t)pnc_type_get_size(var->type))
        damage(r, "numbers of other bits", var->name);
}

/* Bytes of a chunk, and the number of chunks; -1 if they are too large. */
static int64_t measure_chunk(const pnc_netcdf4_storage *s, int ndims, int64_t elem_size, int64_t *nchunks)
{
    int64_t bytes = elem_size;

    *nchunks = 1;
    for (int i = 0; i < ndims; i++) {
        int64_t along = s->extent[i] / s->chunk[i] + (s->extent[i] % s->chunk[i] != 0);

        if (pnc_size_multiply(bytes, s->chunk[i], &bytes) < 0 || pnc_size_multiply(*nchunks, along, nchunks) < 0)
            return -1;
    }
    return bytes <= PNC_FILTER_CHUNK_MOST ? bytes : -1;
}

static void read_places(description_reader *r, const char *name, int64_t nchunks, pnc_netcdf4_storage *s)
{
    int64_t bytes;

    s->places = (const pnc_chunk_place *)(const void *)read_bytes(r, &bytes);
    s->nplaces = bytes / (int64_t)sizeof *s->places;
    if (bytes % (int64_t)sizeof *s->places != 0 || (s->nplaces != 0 && s->nplaces != nchunks))
        damage(r, "the number of chunks", name);
    for (int64_t i = 0; i < s->nplaces && r->err == NC_NOERR; i++) {
        const pnc_chunk_place *p = &s->places[i];

        if (p->offset < -1 || p->offset > r->file_size || p->bytes < 0 || p->mask < 0 || p->mask > UINT32_MAX ||
            (p->offset >= 0 && p->bytes > r->file_size - p->offset))
            damage(r, "a chunk outside the file", name);
    }
    if (s->nplaces == 0)
        s->places = NULL;
}

static const int64_t *read_chunk_shape(description_reader *r, const pnc_var *var)
{
    if (var->ndims == 0)
        damage(r, "chunks, but no dimensions", var->name);
    return read_numbers(r, var->ndims, 1, UINT32_MAX, "the length of a chunk", var->name);
}

static void read_chunks(description_reader *r, const pnc_var *var, pnc_netcdf4_storage *s)
{
    int64_t nchunks;

    s->chunk = read_chunk_shape(r, var);
    if (r->err == NC_NOERR && measure_chunk(s, var->ndims, (int64_t)pnc_type_get_size(var->type), &nchunks) < 0)
        damage(r, "chunks that are too large", var->name);
    read_filters(r, var->name, &s->filters);
    check_numbers(r, var, &s->filters);
    if (r->err == NC_NOERR)
        read_places(r, var->name, nchunks, s);
}

/* Bytes of what is stored; -1: more than a file can have. */
static int64_t measure_stored(const pnc_var *var, const pnc_netcdf4_storage *s)
{
    int64_t bytes = (int64_t)pnc_type_get_size(var->type);

    for (int i = 0; i < var->ndims; i++)
        if (pnc_size_multiply(bytes, s->extent[i], &bytes) < 0)
            return -1;
    return bytes;
}

static void check_stored(description_reader *r, const pnc_var *var, const pnc_netcdf4_storage *s)
{
    int64_t bytes = measure_stored(var, s);

    for (int i = 0; i < var->ndims; i++)
        if (s->extent[i] > var->shape[i])
            damage(r, "a dataset that is longer than the dimensions", var->name);
    if (bytes < 0)
        damage(r, "the size", var->name);
    if (s->layout == PNC_NETCDF4_CONTIGUOUS && s->address >= 0 &&
        (s->address > r->file_size || bytes > r->file_size - s->address))
        damage(r, "data beyond the end of the file", var->name);
    if (s->layout == PNC_NETCDF4_COMPACT && s->nbytes != bytes)
        damage(r, "the number of bytes", var->name);
}

static void read_storage(description_reader *r, pnc_var *var, pnc_netcdf4_storage *s)
{
    int64_t n;

    s->layout = (pnc_netcdf4_layout)read_number(r, 0, PNC_NETCDF4_LAYOUTS - 1, "the layout", var->name);
    var->little = !read_flag(r);
    s->obstacle = (pnc_netcdf4_obstacle)read_number(r, 0, PNC_NETCDF4_OBSTACLES - 1, "the obstacle", var->name);
    s->no_fill = read_flag(r);
    s->has_fill = read_flag(r);
    s->address = read_number(r, -1, INT64_MAX, "the address", var->name);
    n = read_number(r, INT64_MIN, INT64_MAX, "", "");
    memcpy(s->fill, &n, sizeof s->fill);
    s->path = read_text(r, INT32_MAX, &n);
    s->extent = read_numbers(r, var->ndims, 0, INT64_MAX, "the extent", var->name);
    if (s->layout == PNC_NETCDF4_COMPACT)
        s->bytes = (const unsigned char *)read_bytes(r, &s->nbytes);
    if (s->layout == PNC_NETCDF4_STRINGS ? var->type != NC_STRING
                                         : s->layout != PNC_NETCDF4_UNREADABLE && pnc_type_get_size(var->type) == 0)
        damage(r, "the type", var->name);
    if (s->layout == PNC_NETCDF4_CHUNKED)
        read_chunks(r, var, s);
    if (s->layout == PNC_NETCDF4_STRINGS && read_flag(r))
        s->chunk = read_chunk_shape(r, var);
    if (r->err == NC_NOERR && s->layout != PNC_NETCDF4_UNREADABLE)
        check_stored(r, var, s);
}

/* --- variables --- */

static void derive_size(description_reader *r, const int64_t *lengths, pnc_var *var)
{
    bool is_unlimited = false;

    var->size = (int64_t)pnc_type_get_size(var->type);
    for (int i = 0; i < var->ndims; i++) {
        var->shape[i] = lengths[var->dimids[i]];
        is_unlimited = is_unlimited || r->model->dims[var->dimids[i]]->unlimited;
        if (pnc_size_multiply(var->size, var->shape[i], &var->size) < 0)
            damage(r, "the size", var->name);
    }
    r->model->nrecvars += is_unlimited;
}

static void read_var(description_reader *r, const int64_t *lengths, pnc_netcdf4_storage *storage)
{
    int64_t n, ndims;
    const char *name = read_name(r, &n);
    int type = (int)read_number(r, NC_BYTE, NC_COMPOUND, "the type of variable", name);
    pnc_var *var = NULL;

    ndims = read_count(r, 8, PNC_STORAGE_DIMS_MOST, "the number of dimensions", name);
    if (r->err == NC_NOERR) {
        var = pnc_format_var_create(r->model, name, n, (int)ndims);
        if (var == NULL)
            lack_memory(r);
    }
    if (var == NULL)
        return;
    var->type = type;
    for (int64_t i = 0; i < ndims; i++)
        var->dimids[i] = (int)read_number(r, 0, r->model->ndims - 1, "the id of a dimension", name);
    if (r->err == NC_NOERR)
        derive_size(r, lengths, var);
    if (r->err == NC_NOERR)
        check_append(r, pnc_format_var_append(r->model, var));
    read_atts(r, &var->atts);
    read_storage(r, var, storage);
}

static void read_groups(description_reader *r)
{
    int64_t n = read_count(r, 16, INT32_MAX, "the number of groups", ""), length;

    for (int64_t i = 0; i < n && r->err == NC_NOERR; i++) {
        const char *path = read_name(r, &length);

        check_append(r, pnc_format_group_append(r->model, path, length));
    }
}

static void read_head(description_reader *r, int64_t *ndims, int64_t *nvars)
{
    pnc_groups *groups = &r->model->groups;

    (void)read_number(r, DESCRIPTION_MAGIC, DESCRIPTION_MAGIC, "not a description", "");
    r->model->format = (int)read_number(r, NC_FORMAT_NETCDF4, NC_FORMAT_NETCDF4_CLASSIC, "the format", "");
    r->model->rules = pnc_netcdf4_rules_get(r->model->format);
    groups->exist = read_flag(r);
    groups->are_listed = read_flag(r);
    *ndims = read_count(r, 24, INT32_MAX, "the number of dimensions", "");
    groups->ndims = (int)read_number(r, 0, *ndims, "the number of dimensions of groups", "");
    *nvars = read_count(r, 40, INT32_MAX, "the number of variables", "");
    groups->nvars = (int)read_number(r, 0, *nvars, "the number of variables of groups", "");
    read_groups(r);
}

static void read_description(description_reader *r, pnc_netcdf4_storage **storage)
{
    int64_t ndims, nvars, *lengths;

    read_head(r, &ndims, &nvars);
    lengths = pnc_region_alloc(r->region, (ndims + 1) * (int64_t)sizeof *lengths);
    *storage = pnc_region_alloc(r->region, (nvars + 1) * (int64_t)sizeof **storage);
    if (lengths == NULL || *storage == NULL) {
        lack_memory(r);
        return;
    }
    memset(*storage, 0, (size_t)(nvars + 1) * sizeof **storage);
    check_append(r, pnc_format_dims_reserve(r->model, (int)ndims));
    check_append(r, pnc_format_vars_reserve(r->model, (int)nvars));
    for (int64_t i = 0; i < ndims && r->err == NC_NOERR; i++)
        read_dim(r, lengths, i);
    read_atts(r, &r->model->gatts);
    for (int64_t i = 0; i < nvars && r->err == NC_NOERR; i++)
        read_var(r, lengths, *storage + i);
    if (r->left != 0)
        damage(r, "bytes after the description", "");
}

int pnc_netcdf4_description_decode(const char *bytes, int64_t n, int64_t file_size, pnc_model *model,
                                   pnc_region *region, pnc_netcdf4_storage **storage, pnc_error *error)
{
    description_reader r = {
        .at = bytes, .left = n, .file_size = file_size, .region = region, .model = model, .error = error};

    pnc_format_model_free(model);
    model->little = PNC_HOST_IS_LITTLE;
    *storage = NULL;
    read_description(&r, storage);
    return r.err;
}
