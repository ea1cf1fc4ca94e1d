/* Bytes to header model, as in the NetCDF Classic Format Specification, in one pass.
 *
 * The bytes may come from anybody. No count is believed before it is held against the bytes that remain in the file,
 * and arrays grow with the entries that are really there, so that memory stays within a small multiple of the bytes at
 * hand. */
#include "format/codec.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "base/memory.h"
#include "format/layout.h"
#include "format/parts.h"

typedef struct reader {
    const unsigned char *p;
    int64_t n;         /* bytes at hand */
    int64_t file_size;
    int64_t pos;
    int64_t want;      /* bytes that must be at hand to go on, after PNC_MORE */
    bool streaming;    /* numrecs is to be found out from the file's size */
    bool odd_names;    /* some name ends in NUL bytes, so that we would write it differently */
    pnc_error *error;
    pnc_model *model;
} reader;

int pnc_format_identify(const void *bytes, size_t n)
{
    static const unsigned char hdf5[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    const unsigned char *p = bytes;

    if (n >= sizeof hdf5 && memcmp(p, hdf5, sizeof hdf5) == 0)
        return PNC_KIND_HDF5;
    if (n >= 4 && memcmp(p, "CDF", 3) == 0 && (p[3] == 1 || p[3] == 2 || p[3] == 5))
        return p[3];
    return PNC_KIND_UNKNOWN;
}

/* The next n bytes of the header, or NC_ENOTNC where the file has fewer, or PNC_MORE where only the buffer has. */
static int take(reader *r, int64_t n, const char *what, const unsigned char **out)
{
    if (n > r->file_size - r->pos)
        return pnc_fail(r->error, NC_ENOTNC, "the header is cut short: %s at byte %" PRId64 " needs %" PRId64
                        " bytes, and the file has %" PRId64 " in all", what, r->pos, n, r->file_size);
    if (n > r->n - r->pos) {
        r->want = r->pos + n;
        return PNC_MORE;
    }
    *out = r->p + r->pos;
    r->pos += n;
    return NC_NOERR;
}

static int take_word(reader *r, int bytes, const char *what, uint64_t *out)
{
    const unsigned char *p = NULL;
    int code = take(r, bytes, what, &p);

    if (code != NC_NOERR)
        return code;
    *out = 0;
    for (int i = 0; i < bytes; i++)
        *out = *out << 8 | p[i];
    return NC_NOERR;
}

/* A NON_NEG of the specification. 32-bit ones are taken as unsigned: CDF-2 dimensions and sizes go up to 2^32 - 4. */
static int take_count(reader *r, const char *what, int64_t *out)
{
    uint64_t word = 0;
    int64_t at = r->pos;
    int code = take_word(r, pnc_format_count_bytes(r->model->format), what, &word);

    if (code != NC_NOERR)
        return code;
    if (word > INT64_MAX)
        return pnc_fail(r->error, NC_ENOTNC, "%s at byte %" PRId64 " is negative (%" PRId64 ")", what, at,
                        (int64_t)word);
    *out = (int64_t)word;
    return NC_NOERR;
}

/* A count of items of at least item_bytes bytes each, which follow it. */
static int take_length(reader *r, const char *what, int64_t item_bytes, int64_t *out)
{
    int64_t at = r->pos;
    int code = take_count(r, what, out);

    if (code != NC_NOERR)
        return code;
    if (*out > (r->file_size - r->pos) / item_bytes)
        return pnc_fail(r->error, NC_ENOTNC, "%s at byte %" PRId64 ": a count of %" PRId64 " cannot fit in the %" PRId64
                        " bytes that follow in the file", what, at, *out, r->file_size - r->pos);
    return NC_NOERR;
}

/* n bytes and their padding, whose content does not matter: real files have other bytes than zeros there. */
static int take_padded(reader *r, int64_t n, const char *what, const unsigned char **out)
{
    int64_t padded;

    if (pnc_add(n, -n & 3, &padded) < 0)
        padded = INT64_MAX;
    return take(r, padded, what, out);
}

/* A name points into the bytes at hand. Some writers count the terminating NUL of C too. */
typedef struct name_ref {
    const char *bytes;
    int64_t n;
} name_ref;

static int take_name(reader *r, const char *what, name_ref *out)
{
    const unsigned char *p = NULL;
    int64_t at = r->pos, n;
    int code = take_length(r, what, 1, &n);

    if (code == NC_NOERR)
        code = take_padded(r, n, what, &p);
    if (code != NC_NOERR)
        return code;
    while (n > 0 && p[n - 1] == '\0') {
        n--;
        r->odd_names = true;
    }
    if (n > NC_MAX_NAME) /* callers have buffers of NC_MAX_NAME + 1 */
        return pnc_fail(r->error, NC_EMAXNAME, "%s at byte %" PRId64 " has %" PRId64 " bytes: at most %d are allowed",
                        what, at, n, NC_MAX_NAME);
    if (memchr(p, '\0', (size_t)n) != NULL)
        return pnc_fail(r->error, NC_ENOTNC, "%s at byte %" PRId64 " has a NUL byte within", what, at);
    out->bytes = (const char *)p;
    out->n = n;
    return NC_NOERR;
}

static int no_memory(reader *r, const char *what)
{
    return pnc_fail(r->error, NC_ENOMEM, "no memory for the %ss of the header at byte %" PRId64, what, r->pos);
}

static int duplicate(reader *r, const char *what, const char *name, int64_t at)
{
    return pnc_fail(r->error, NC_ENOTNC, "the %s at byte %" PRId64 " has the name \"%.80s\" of an earlier one", what,
                    at, name);
}

/* The head of a list: ABSENT, or its tag and the number of its entries, each of at least entry_bytes bytes. */
static int take_list(reader *r, int tag, const char *what, int64_t entry_bytes, int64_t *out)
{
    uint64_t found = 0;
    int64_t at = r->pos;
    int code = take_word(r, 4, what, &found);

    if (code == NC_NOERR && found != 0 && found != (uint64_t)tag)
        return pnc_fail(r->error, NC_ENOTNC, "%s at byte %" PRId64 " starts with tag 0x%08x: 0x%08x is expected there",
                        what, at, (unsigned)found, (unsigned)tag);
    if (code == NC_NOERR)
        code = take_length(r, what, entry_bytes, out);
    if (code != NC_NOERR)
        return code;
    if (found == 0 && *out != 0)
        return pnc_fail(r->error, NC_ENOTNC, "%s at byte %" PRId64 " has %" PRId64 " entries but no tag", what, at,
                        *out);
    if (*out >= INT_MAX)
        return pnc_fail(r->error, NC_ENOTNC, "%s at byte %" PRId64 " has %" PRId64 " entries: at most %d are supported",
                        what, at, *out, INT_MAX - 1);
    return NC_NOERR;
}

static int take_type(reader *r, int *out)
{
    uint64_t word = 0;
    int64_t at = r->pos;
    int code = take_word(r, 4, "a type", &word);

    if (code != NC_NOERR)
        return code;
    if (word > INT_MAX || !pnc_type_valid((int)word, r->model->format))
        return pnc_fail(r->error, NC_EBADTYPE,
                        "the type at byte %" PRId64 " is %" PRIu64 ", which CDF-%d does not have", at,
                        word, r->model->format);
    *out = (int)word;
    return NC_NOERR;
}

static int take_dim(reader *r)
{
    pnc_model *model = r->model;
    name_ref ref;
    int64_t at = r->pos, len = 0;
    char *name;
    int code = take_name(r, "a dimension's name", &ref);

    if (code == NC_NOERR)
        code = take_count(r, "a dimension's length", &len);
    if (code != NC_NOERR)
        return code;
    if (len == NC_UNLIMITED && model->recdim >= 0)
        return pnc_fail(r->error, NC_EUNLIMIT,
                        "the dimension at byte %" PRId64 " is unlimited, and so is dimension \"%.80s\": "
                        "only one may be", at, model->dims[model->recdim]->name);
    name = pnc_parts_name(ref.bytes, ref.n);
    if (name == NULL)
        return no_memory(r, "dimension");
    if (pnc_table_find(&model->dim_names, name) >= 0) {
        code = duplicate(r, "dimension", name, at);
        pnc_free(name);
        return code;
    }
    if (pnc_model_append_dim(model, name, len) != NC_NOERR)
        return no_memory(r, "dimension");
    model->dims[model->ndims - 1]->where = at;
    return NC_NOERR;
}

static int take_dims(reader *r)
{
    int width = pnc_format_count_bytes(r->model->format);
    int64_t n;
    int code = take_list(r, PNC_TAG_DIMENSION, "the list of dimensions", 2 * width, &n);

    for (int64_t i = 0; code == NC_NOERR && i < n; i++)
        code = take_dim(r);
    return code;
}

static int take_att(reader *r, pnc_atts *atts)
{
    const unsigned char *value = NULL;
    name_ref ref;
    int64_t at = r->pos, len, size;
    pnc_att *att;
    int type, code = take_name(r, "an attribute's name", &ref);

    if (code == NC_NOERR)
        code = take_type(r, &type);
    if (code != NC_NOERR)
        return code;
    size = (int64_t)pnc_type_size(type);
    code = take_length(r, "an attribute's length", size, &len);
    if (code == NC_NOERR)
        code = take_padded(r, len * size, "an attribute's value", &value);
    if (code != NC_NOERR)
        return code;
    att = pnc_att_new(ref.bytes, ref.n, type, len, value);
    if (att == NULL)
        return no_memory(r, "attribute");
    att->where = at;
    if (pnc_atts_find_exact(atts, att->name) >= 0) {
        code = duplicate(r, "attribute", att->name, at);
        pnc_free(att);
        return code;
    }
    return pnc_atts_append(atts, att) == NC_NOERR ? NC_NOERR : no_memory(r, "attribute");
}

static int take_atts(reader *r, pnc_atts *atts)
{
    int width = pnc_format_count_bytes(r->model->format);
    int64_t n;
    int code = take_list(r, PNC_TAG_ATTRIBUTE, "a list of attributes", 2 * width + 4, &n);

    for (int64_t i = 0; code == NC_NOERR && i < n; i++)
        code = take_att(r, atts);
    return code;
}

static int take_dimids(reader *r, pnc_var *var)
{
    const pnc_model *model = r->model;

    for (int i = 0; i < var->ndims; i++) {
        int64_t at = r->pos;
        uint64_t id = 0;
        int code = take_word(r, pnc_format_count_bytes(model->format), "a dimension id", &id);
        if (code != NC_NOERR)
            return code;
        if (id >= (uint64_t)model->ndims)
            return pnc_fail(r->error, NC_EBADDIM,
                            "variable \"%.80s\": dimension id %" PRId64 " at byte %" PRId64 " does not "
                            "exist: there are %d dimensions", var->name, (int64_t)id, at, model->ndims);
        var->dimids[i] = (int)id;
        if (i > 0 && var->dimids[i] == model->recdim)
            return pnc_fail(r->error, NC_EUNLIMPOS,
                            "variable \"%.80s\": the unlimited dimension stands at position %d (byte "
                            "%" PRId64 "); it must be the first", var->name, i, at);
    }
    return NC_NOERR;
}

/* What follows the dimension ids. vsize is redundant and wrong in files with large variables: it is passed over. */
static int take_var_tail(reader *r, pnc_var *var)
{
    int64_t at;
    uint64_t word = 0;
    int bytes = pnc_format_offset_bytes(r->model->format), code = take_atts(r, &var->atts);

    if (code == NC_NOERR)
        code = take_type(r, &var->type);
    if (code == NC_NOERR)
        code = take_word(r, pnc_format_count_bytes(r->model->format), "a variable's size", &word);
    at = r->pos;
    if (code == NC_NOERR)
        code = take_word(r, bytes, "a variable's offset", &word);
    if (code != NC_NOERR)
        return code;
    if (word > (bytes == 4 ? INT32_MAX : INT64_MAX))
        return pnc_fail(r->error, NC_ENOTNC,
                        "variable \"%.80s\": its offset at byte %" PRId64 " is negative (%" PRId64 ")",
                        var->name, at, bytes == 4 ? (int64_t)(int32_t)word : (int64_t)word);
    var->begin = (int64_t)word;
    if (pnc_var_derive(r->model, var) < 0)
        return pnc_fail(r->error, NC_ENOTNC, "variable \"%.80s\" (byte %" PRId64 ") has more than 2^63 bytes",
                        var->name, var->where);
    return NC_NOERR;
}

static int take_var(reader *r)
{
    pnc_model *model = r->model;
    name_ref ref;
    int64_t at = r->pos, ndims;
    pnc_var *var;
    int width = pnc_format_count_bytes(model->format), code = take_name(r, "a variable's name", &ref);

    if (code == NC_NOERR)
        code = take_length(r, "a variable's number of dimensions", width, &ndims);
    if (code != NC_NOERR)
        return code;
    if (ndims * width > r->n - r->pos) { /* before memory is taken for them */
        r->want = r->pos + ndims * width;
        return PNC_MORE;
    }
    if (ndims > INT_MAX)
        return pnc_fail(r->error, NC_ENOTNC, "the variable at byte %" PRId64 " has %" PRId64 " dimensions", at, ndims);
    var = pnc_var_new(pnc_parts_name(ref.bytes, ref.n), (int)ndims);
    if (var == NULL)
        return no_memory(r, "variable");
    var->where = at;
    code = take_dimids(r, var);
    if (code == NC_NOERR)
        code = take_var_tail(r, var);
    if (code == NC_NOERR && pnc_table_find(&model->var_names, var->name) >= 0)
        code = duplicate(r, "variable", var->name, at);
    if (code != NC_NOERR) {
        pnc_var_free(var);
        return code;
    }
    return pnc_model_append_var(model, var) == NC_NOERR ? NC_NOERR : no_memory(r, "variable");
}

static int take_vars(reader *r)
{
    int width = pnc_format_count_bytes(r->model->format);
    /* name, number of dimensions, tag and count of attributes, type, vsize, begin */
    int64_t n, least = 4 * width + 8 + pnc_format_offset_bytes(r->model->format);
    int code = take_list(r, PNC_TAG_VARIABLE, "the list of variables", least, &n);

    for (int64_t i = 0; code == NC_NOERR && i < n; i++)
        code = take_var(r);
    return code;
}

/* Magic and number of records. */
static int take_start(reader *r)
{
    const unsigned char *p = NULL;
    uint64_t word = 0, all_ones;
    int kind, width, code = take(r, 4, "the magic number", &p);

    if (code != NC_NOERR)
        return code;
    kind = pnc_format_identify(r->p, (size_t)(r->n < 8 ? r->n : 8));
    if (kind == PNC_KIND_UNKNOWN && r->n < 8 && r->file_size >= 8 && p[0] == 0x89) {
        r->want = 8;
        return PNC_MORE;
    }
    if (kind == PNC_KIND_HDF5)
        return pnc_fail(r->error, NC_ENOTNC, "this is HDF5 (or netCDF-4); this build reads CDF-1, CDF-2 and CDF-5");
    if (kind == PNC_KIND_UNKNOWN)
        return pnc_fail(r->error, NC_ENOTNC,
                        "this is no netCDF file: it starts with bytes %02x %02x %02x %02x, not with "
                        "\"CDF\" and 1, 2 or 5", p[0], p[1], p[2], p[3]);
    r->model->format = kind;
    width = pnc_format_count_bytes(kind);
    all_ones = width == 4 ? UINT32_MAX : UINT64_MAX;
    code = take_word(r, width, "the number of records", &word);
    if (code != NC_NOERR)
        return code;
    r->streaming = word == all_ones;
    if (!r->streaming && word > INT64_MAX)
        return pnc_fail(r->error, NC_ENOTNC, "the number of records at byte 4 is negative (%" PRId64 ")",
                        (int64_t)word);
    r->model->numrecs = r->streaming ? 0 : (int64_t)word;
    return NC_NOERR;
}

/* Byte of the header at which the offset of a variable stands: it is the last word of its entry. */
static int64_t begin_field(const pnc_model *model, int varid)
{
    int64_t end = varid + 1 < model->nvars ? model->vars[varid + 1]->where : model->header_size;

    return end - pnc_format_offset_bytes(model->format);
}

/* Fixed (or record) variables must lie behind `floor` and one behind the other, in order of definition. *floor becomes
 * the first byte behind them. */
static int check_order(const reader *r, bool records, int64_t *floor)
{
    const pnc_model *model = r->model;
    int previous = -1;

    for (int i = 0; i < model->nvars; i++) {
        const pnc_var *var = model->vars[i];
        if (var->is_record != records)
            continue;
        if (var->begin < model->header_size)
            return pnc_fail(r->error, NC_ENOTNC,
                            "variable \"%.80s\" begins at byte %" PRId64 " (so it says at byte %" PRId64
                            "), inside the header, which ends at byte %" PRId64, var->name, var->begin,
                            begin_field(model, i), model->header_size);
        if (var->begin < *floor)
            return pnc_fail(r->error, NC_ENOTNC,
                            "variable \"%.80s\" begins at byte %" PRId64 " (so it says at byte %" PRId64
                            "), but %s%.80s%s before it end%s at byte %" PRId64, var->name, var->begin,
                            begin_field(model, i), previous < 0 ? "the fixed-size variables" : "variable \"",
                            previous < 0 ? "" : model->vars[previous]->name, previous < 0 ? "" : "\"",
                            previous < 0 ? "" : "s", *floor);
        if (pnc_add(var->begin, var->size, floor) < 0)
            return pnc_fail(r->error, NC_ENOTNC,
                            "variable \"%.80s\" begins at byte %" PRId64 " (so it says at byte %" PRId64
                            ") and ends beyond byte 2^63", var->name, var->begin, begin_field(model, i));
        previous = i;
    }
    return NC_NOERR;
}

/* Bytes of a record, which may overflow in a hostile header. */
static int record_size(const pnc_model *model, int64_t *out)
{
    *out = 0;
    for (int i = 0; i < model->nvars; i++)
        if (model->vars[i]->is_record && pnc_add(*out, pnc_layout_record_bytes(model, model->vars[i]), out) < 0)
            return -1;
    return 0;
}

/* The pieces of one record must fit in the bytes from one record to the next, and all records in 64-bit offsets. */
static int check_records(reader *r, int64_t end_of_first)
{
    pnc_model *model = r->model;
    int64_t bytes, used = end_of_first - model->begin_rec;

    if (used > model->recsize)
        return pnc_fail(r->error, NC_ENOTNC,
                        "the variables of a record lie on %" PRId64 " bytes from byte %" PRId64 ", but "
                        "the next record begins after %" PRId64 ": they overlap", used, model->begin_rec,
                        model->recsize);
    if (r->streaming) /* padding behind the last variable of the last record may be missing */
        model->numrecs = r->file_size < end_of_first ? 0 : (r->file_size - end_of_first) / model->recsize + 1;
    if (pnc_mul(model->numrecs, model->recsize, &bytes) < 0 || pnc_add(bytes, model->begin_rec, &bytes) < 0)
        return pnc_fail(r->error, NC_ENOTNC, "%" PRId64 " records (byte 4) of %" PRId64 " bytes reach beyond byte 2^63",
                        model->numrecs, model->recsize);
    return NC_NOERR;
}

static int check_places(reader *r)
{
    pnc_model *model = r->model;
    int64_t floor = model->header_size, recsize;
    int code = check_order(r, false, &floor);

    if (code == NC_NOERR)
        code = check_order(r, true, &floor);
    if (code == NC_NOERR && record_size(model, &recsize) < 0)
        code = pnc_fail(r->error, NC_ENOTNC, "the variables of one record have more than 2^63 bytes together");
    if (code != NC_NOERR)
        return code;
    pnc_layout_derive(model);
    return model->nrecvars > 0 ? check_records(r, floor) : NC_NOERR;
}

/* Entries that we would encode with another length cannot be patched in place. */
static void forget_places(pnc_model *model)
{
    for (int i = 0; i < model->ndims; i++)
        model->dims[i]->where = -1;
    for (int i = 0; i < model->gatts.n; i++)
        model->gatts.at[i]->where = -1;
    for (int i = 0; i < model->nvars; i++) {
        model->vars[i]->where = -1;
        for (int j = 0; j < model->vars[i]->atts.n; j++)
            model->vars[i]->atts.at[j]->where = -1;
    }
}

static int take_header(reader *r)
{
    int code = take_start(r);

    if (code == NC_NOERR)
        code = take_dims(r);
    if (code == NC_NOERR)
        code = take_atts(r, &r->model->gatts);
    if (code == NC_NOERR)
        code = take_vars(r);
    if (code != NC_NOERR)
        return code;
    r->model->header_size = r->pos;
    code = check_places(r);
    if (code == NC_NOERR && r->odd_names)
        forget_places(r->model);
    return code;
}

int pnc_format_decode(const void *bytes, int64_t n, int64_t file_size, pnc_model *out, int64_t *need,
                      pnc_error *error)
{
    reader r = {.p = bytes, .n = n < file_size ? n : file_size, .file_size = file_size, .error = error, .model = out};
    int code;

    memset(out, 0, sizeof *out);
    out->recdim = -1;
    code = take_header(&r);
    if (code == NC_NOERR)
        return NC_NOERR;
    pnc_model_free(out);
    if (code == PNC_MORE) {
        int64_t twice = n > INT64_MAX / 2 ? INT64_MAX : 2 * n;
        *need = r.want > twice ? r.want : twice;
        if (*need > file_size)
            *need = file_size;
    }
    return code;
}
