/* Decode a header, as in the NetCDF Classic Format Specification, in one pass.
 *
 * Headers are not trusted: every count is checked against the bytes that remain in the file, and arrays are reserved
 * for no more entries than the buffer can have. Memory is bounded by a small multiple of the bytes in the buffer. */
#include "format/codec.h"

#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "base/memory.h"
#include "base/name.h"
#include "format/checker.h"
#include "format/entries.h"
#include "format/foreign.h"

typedef struct reader {
    const unsigned char *p;
    int64_t n; /* bytes in the buffer */
    int64_t file_size;
    int64_t pos;
    int64_t needed; /* bytes that the buffer must have, after PNC_NEED_MORE_BYTES */
    int64_t nvars;  /* in the list of variables, as counted by the file */
    bool streaming; /* numrecs follows from the size of the file */
    bool odd_names; /* a name ends in NUL bytes: it is encoded with another length */
    pnc_model *model;
    pnc_checker checker;
} reader;

int pnc_format_kind_identify(const void *bytes, size_t n)
{
    static const unsigned char hdf5[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    const unsigned char *p = bytes;

    if (n >= sizeof hdf5 && memcmp(p, hdf5, sizeof hdf5) == 0)
        return PNC_KIND_HDF5;
    if (n >= 4 && memcmp(p, "CDF", 3) == 0 && (p[3] == 1 || p[3] == 2 || p[3] == 5))
        return p[3];
    return PNC_KIND_UNKNOWN;
}

bool pnc_format_magic_is_marked(const char *magic)
{
    unsigned char plain[PNC_MAGIC_BYTES];

    memcpy(plain, magic, sizeof plain);
    plain[PNC_MAGIC_BYTES - 1] ^= PNC_MAGIC_MARK;
    return pnc_format_kind_identify(plain, sizeof plain) != PNC_KIND_UNKNOWN;
}

/* The buffer has less than n more bytes. NC_ENOTNC: the file too; else PNC_NEED_MORE_BYTES. */
static int reject_length(reader *r, int64_t n, const char *what)
{
    if (n > r->file_size - r->pos)
        return pnc_format_violation_fail(&r->checker, r->pos, NC_ENOTNC, "a complete header",
                                         "the header is truncated: %s at byte %" PRId64 " needs %" PRId64
                                         " bytes, but the file has %" PRId64,
                                         what, r->pos, n, r->file_size);
    r->needed = r->pos + n;
    return PNC_NEED_MORE_BYTES;
}

/* The next n bytes of the header. */
static inline int take_bytes(reader *r, int64_t n, const char *what, const unsigned char **out)
{
    assert(n >= 0 && r->pos <= r->n && r->n <= r->file_size);
    if (n > r->n - r->pos)
        return reject_length(r, n, what);
    *out = r->p + r->pos;
    r->pos += n;
    return NC_NOERR;
}

/* A number of 4 or 8 bytes, most significant byte first. */
static inline int take_word(reader *r, int bytes, const char *what, uint64_t *out)
{
    const unsigned char *p = NULL;

    PNC_TRY(take_bytes(r, bytes, what, &p));
    *out = pnc_format_word_load(p);
    if (bytes == 8)
        *out = *out << 32 | pnc_format_word_load(p + 4);
    return NC_NOERR;
}

/* A NON_NEG of the specification, or code_if_negative. Words of 32 bits are unsigned: dimensions and sizes in CDF-2 are
 * at most 2^32 - 4. */
static int take_count(reader *r, const char *what, int code_if_negative, int64_t *out)
{
    uint64_t word = 0;
    int64_t at = r->pos;

    PNC_TRY(take_word(r, pnc_format_count_get_size(r->model->format), what, &word));
    if (word > INT64_MAX)
        return pnc_format_violation_fail(&r->checker, at, code_if_negative, "0 or more",
                                         "%s at byte %" PRId64 " is negative (%" PRId64 ")", what, at, (int64_t)word);
    *out = (int64_t)word;
    pnc_format_field_report(&r->checker, at, r->pos - at, what, "%" PRId64, *out);
    return NC_NOERR;
}

/* The largest count that a format allows, and the code for a larger one. */
typedef struct limit {
    int64_t most;
    int code;
} limit;

static const limit max_name = {NC_MAX_NAME, NC_EMAXNAME}, max_dims = {NC_MAX_DIMS, NC_EMAXDIMS},
                   max_atts = {NC_MAX_ATTRS, NC_EMAXATTS}, max_vars = {NC_MAX_VARS, NC_EMAXVARS},
                   max_var_dims = {NC_MAX_VAR_DIMS, NC_EMAXDIMS}, no_limit = {INT64_MAX, NC_ENOTNC};

/* A count of items that follow it, each of at least item_bytes bytes. */
static int take_length(reader *r, const char *what, int64_t item_bytes, limit max, int64_t *out)
{
    int64_t at = r->pos;

    PNC_TRY(take_count(r, what, max.code, out));
    if (*out > (r->file_size - r->pos) / item_bytes)
        return pnc_format_violation_fail(&r->checker, at, *out > max.most ? max.code : NC_ENOTNC,
                                         "a count of items that are in the file",
                                         "%s at byte %" PRId64 ": a count of %" PRId64 " cannot fit in the %" PRId64
                                         " bytes that follow in the file",
                                         what, at, *out, r->file_size - r->pos);
    return NC_NOERR;
}

/* "header padding bytes shall be null" */
static void check_padding(reader *r, const unsigned char *padding, int64_t n, const char *what)
{
    static const unsigned char nulls[3];

    if (n > 0 && memcmp(padding, nulls, (size_t)n) != 0)
        pnc_format_warning_report(&r->checker, r->pos - n, PNC_RULE_PADDING,
                                  "%s is followed by padding that is not null: 0x%02x first, %d byte%s in all", what,
                                  padding[0], (int)n, n > 1 ? "s" : "");
}

/* n bytes and their padding, which may have any values: files of some writers have other bytes than zeros there. */
static int take_padded(reader *r, int64_t n, const char *what, const unsigned char **out)
{
    PNC_TRY(take_bytes(r, n > INT64_MAX - 3 ? n : pnc_format_size_get_padded(n), what, out));
    check_padding(r, *out + n, pnc_format_size_get_padded(n) - n, what);
    return NC_NOERR;
}

/* A name in the buffer. Some writers count its terminating NUL. */
typedef struct name_ref {
    const char *bytes;
    int64_t n;
} name_ref;

static int take_name(reader *r, const char *what, name_ref *out)
{
    const unsigned char *p = NULL;
    int64_t at = r->pos, n, raw;
    int width = pnc_format_count_get_size(r->model->format);

    PNC_TRY(take_length(r, what, 1, max_name, &n));
    PNC_TRY(take_padded(r, n, what, &p));
    raw = n;
    while (n > 0 && p[n - 1] == '\0') {
        n--;
        r->odd_names = true;
    }
    if (n < raw)
        pnc_format_warning_report(&r->checker, at, "a name without NUL bytes",
                                  "%s at byte %" PRId64 " counts %" PRId64 " NUL byte%s at its end", what, at, raw - n,
                                  raw - n == 1 ? "" : "s");
    out->bytes = (const char *)p;
    out->n = n;
    pnc_format_field_report(&r->checker, at + width, r->pos - at - width, what, "\"%.*s\"", n < 256 ? (int)n : 256,
                            out->bytes);
    if (n > NC_MAX_NAME) /* callers have buffers of NC_MAX_NAME + 1 bytes */
        return pnc_format_violation_report(&r->checker, at, NC_EMAXNAME, "a name of at most 256 bytes",
                                           "%s at byte %" PRId64 " has %" PRId64 " bytes: at most %d are allowed", what,
                                           at, n, NC_MAX_NAME);
    if (!pnc_name_is_text((const char *)p, (size_t)n))
        r->model->has_bad_names = true;
    if (memchr(p, '\0', (size_t)n) != NULL)
        return pnc_format_violation_report(&r->checker, at, NC_ENOTNC, "a name without NUL bytes",
                                           "%s at byte %" PRId64 " contains a NUL byte", what, at);
    return NC_NOERR;
}

static int fail_no_memory(reader *r, const char *what)
{
    return pnc_format_violation_fail(&r->checker, r->pos, NC_ENOMEM, "memory",
                                     "no memory for the %ss of the header at byte %" PRId64, what, r->pos);
}

static int report_duplicate(reader *r, const char *what, const char *name, int64_t at)
{
    return pnc_format_violation_report(&r->checker, at, NC_ENOTNC, "names that differ",
                                       "the %s at byte %" PRId64 " has the name \"%.80s\" of an earlier one", what, at,
                                       name);
}

/* The head of a list: ABSENT, or the tag and the number of entries, each of at least entry_bytes bytes. */
static int take_list(reader *r, int tag, const char *what, int64_t entry_bytes, limit max, int64_t *out)
{
    uint64_t found = 0;
    int64_t at = r->pos;

    PNC_TRY(take_word(r, 4, what, &found));
    pnc_format_field_report(&r->checker, at, 4, "tag", "0x%08x", (unsigned)found);
    if (found != 0 && found != (uint64_t)tag)
        return pnc_format_violation_fail(&r->checker, at, NC_ENOTNC,
                                         "the tag of this list, or 0 where the list is "
                                         "absent",
                                         "%s at byte %" PRId64 " starts with tag 0x%08x: 0x%08x is expected", what, at,
                                         (unsigned)found, (unsigned)tag);
    PNC_TRY(take_length(r, what, entry_bytes, max, out));
    if (found == 0 && *out != 0)
        return pnc_format_violation_fail(&r->checker, at, NC_ENOTNC, "a tag before entries",
                                         "%s at byte %" PRId64 " has %" PRId64 " entries but no tag", what, at, *out);
    if (*out >= INT_MAX)
        return pnc_format_violation_fail(&r->checker, at, max.code, "less than 2^31 - 1 entries",
                                         "%s at byte %" PRId64 " has %" PRId64 " entries: at most %d are supported",
                                         what, at, *out, INT_MAX - 1);
    return NC_NOERR;
}

/* The number of entries, each of at least entry_bytes bytes, that the bytes of the buffer can have: memory is reserved
 * for no more, whatever the file counts. */
static int bounded(const reader *r, int64_t entries, int64_t entry_bytes)
{
    int64_t most = (r->n - r->pos) / entry_bytes;

    return (int)(entries < most ? entries : most);
}

/* *out is 0 after a violation: the type of a variable is not needed for the next entry, that of an attribute is. */
static int take_type(reader *r, int *out)
{
    uint64_t word = 0;
    int64_t at = r->pos;

    *out = 0;
    PNC_TRY(take_word(r, 4, "a type", &word));
    if (word > INT_MAX || !pnc_type_is_valid((int)word, r->model->format))
        return pnc_format_violation_report(
            &r->checker, at, NC_EBADTYPE, "a type of this format: 1 to 6, in CDF-5 to 11",
            "the type at byte %" PRId64 " is %" PRIu64 ", which CDF-%d does not have", at, word, r->model->format);
    *out = (int)word;
    pnc_format_field_report(&r->checker, at, 4, "type", "%s", pnc_type_get_name(*out));
    return NC_NOERR;
}

static int take_dim(reader *r)
{
    pnc_model *model = r->model;
    name_ref ref;
    int64_t at = r->pos, len = 0;
    int recdim = model->recdim, code;
    pnc_dim *dim;

    PNC_TRY(take_name(r, "a dimension's name", &ref));
    PNC_TRY(take_count(r, "a dimension's length", NC_ENOTNC, &len));
    if (len == NC_UNLIMITED && recdim >= 0)
        PNC_TRY(pnc_format_violation_report(&r->checker, at, NC_EUNLIMIT, "at most one unlimited dimension",
                                            "the dimension at byte %" PRId64 " is unlimited, as is dimension "
                                            "\"%.80s\": only one is allowed",
                                            at, model->dims[recdim]->name));
    code = pnc_format_dim_append(model, ref.bytes, ref.n, len, len == NC_UNLIMITED && recdim < 0);
    if (code == NC_ENOMEM)
        return fail_no_memory(r, "dimension");
    dim = model->dims[model->ndims - 1];
    dim->classic.where = at;
    if (code != NC_NOERR)
        PNC_TRY(report_duplicate(r, "dimension", dim->name, at));
    return NC_NOERR;
}

static int take_dims(reader *r)
{
    int width = pnc_format_count_get_size(r->model->format);
    int64_t n;

    PNC_TRY(take_list(r, PNC_TAG_DIMENSION, "the list of dimensions", 2 * width, max_dims, &n));
    if (pnc_format_dims_reserve(r->model, bounded(r, n, 2 * width)) != NC_NOERR)
        return fail_no_memory(r, "dimension");
    for (int64_t i = 0; i < n; i++)
        PNC_TRY(take_dim(r));
    return NC_NOERR;
}

/* Append an attribute to the list, which may be that of a variable that is not in the model yet. */
static int take_att(reader *r, pnc_atts *atts)
{
    const unsigned char *value = NULL;
    name_ref ref;
    int64_t at = r->pos, len, size;
    pnc_region *region = &r->model->region;
    pnc_att *att;
    int type;

    PNC_TRY(take_name(r, "an attribute's name", &ref));
    PNC_TRY(take_type(r, &type));
    if (type == 0) /* reported; the size of the value is unknown */
        return NC_EBADTYPE;
    size = (int64_t)pnc_type_get_size(type);
    PNC_TRY(take_length(r, "an attribute's length", size, no_limit, &len));
    PNC_TRY(take_padded(r, len * size, "an attribute's value", &value));
    pnc_format_field_report(&r->checker, r->pos - pnc_format_size_get_padded(len * size), len * size,
                            "an attribute's value", "%" PRId64 " of %s", len, pnc_type_get_name(type));
    att = pnc_format_att_create(region, ref.bytes, ref.n, type, len, value);
    if (att == NULL)
        return fail_no_memory(r, "attribute");
    att->classic.where = at;
    if (pnc_format_atts_find_exact(atts, att->name) >= 0)
        PNC_TRY(report_duplicate(r, "attribute", att->name, at));
    return pnc_format_atts_append(region, atts, att) == NC_NOERR ? NC_NOERR : fail_no_memory(r, "attribute");
}

static int take_atts(reader *r, pnc_atts *atts)
{
    int width = pnc_format_count_get_size(r->model->format);
    int64_t n;

    PNC_TRY(take_list(r, PNC_TAG_ATTRIBUTE, "a list of attributes", 2 * width + 4, max_atts, &n));
    if (pnc_format_list_reserve(&r->model->region, (void ***)&atts->at, 0, &atts->capacity,
                                bounded(r, n, 2 * width + 4)) != NC_NOERR)
        return fail_no_memory(r, "attribute");
    for (int64_t i = 0; i < n; i++)
        PNC_TRY(take_att(r, atts));
    return NC_NOERR;
}

/* Decode dimension id i of a variable. *bad: it is not that of a dimension. */
static int take_dimid(reader *r, pnc_var *var, int i, bool *bad)
{
    const pnc_model *model = r->model;
    int64_t at = r->pos;
    uint64_t id = 0;

    PNC_TRY(take_word(r, pnc_format_count_get_size(model->format), "a dimension id", &id));
    var->dimids[i] = 0;
    if (id >= (uint64_t)model->ndims) {
        *bad = true;
        return pnc_format_violation_report(&r->checker, at, NC_EBADDIM, "the id of an existing dimension",
                                           "variable \"%.80s\": dimension id %" PRId64 " at byte %" PRId64
                                           " does not exist: there are %d dimensions",
                                           var->name, (int64_t)id, at, model->ndims);
    }
    var->dimids[i] = (int)id;
    if (i > 0 && (int)id == model->recdim)
        return pnc_format_violation_report(&r->checker, at, NC_EUNLIMPOS, "the unlimited dimension at position 0",
                                           "variable \"%.80s\": the unlimited dimension is at position %d "
                                           "(byte %" PRId64 "); it must be the first",
                                           var->name, i, at);
    pnc_format_field_report(&r->checker, at, r->pos - at, "a dimension id", "%d", (int)id);
    return NC_NOERR;
}

static void check_vsize(reader *r, const pnc_var *var, int64_t at, uint64_t vsize)
{
    uint64_t right = (uint64_t)pnc_format_var_compute_vsize(var, r->model->format);

    /* Before the specification defined this value, writers stored the lower 32 bits, or 2^32 - 4. */
    if (vsize != right)
        pnc_format_warning_report(&r->checker, at, PNC_RULE_VSIZE,
                                  "variable \"%.80s\": its size at byte %" PRId64 " is %" PRIu64
                                  ", but its type and dimensions give %" PRIu64,
                                  var->name, at, vsize, right);
}

/* Decode the fields after the dimension ids. vsize is redundant, and wrong in files with large variables: it is
 * skipped. */
static int take_var_tail(reader *r, pnc_var *var, bool bad)
{
    int64_t at, vsize_at;
    uint64_t word = 0, vsize = 0;
    int bytes = pnc_format_offset_get_size(r->model->format);

    PNC_TRY(take_atts(r, &var->atts));
    PNC_TRY(take_type(r, &var->type));
    vsize_at = r->pos;
    PNC_TRY(take_word(r, pnc_format_count_get_size(r->model->format), "a variable's size", &vsize));
    at = r->pos;
    PNC_TRY(take_word(r, bytes, "a variable's offset", &word));
    pnc_format_field_report(&r->checker, vsize_at, at - vsize_at, "a variable's size", "%" PRIu64, vsize);
    pnc_format_field_report(&r->checker, at, bytes, "a variable's offset", "%" PRIu64, word);
    var->classic.begin = bytes == 4 ? (int32_t)word : (int64_t)word;
    if (pnc_format_var_derive(r->model, var) < 0)
        return pnc_format_violation_fail(
            &r->checker, var->classic.where, NC_EVARSIZE, "a variable of less than 2^63 bytes",
            "variable \"%.80s\" (byte %" PRId64 ") has more than 2^63 bytes", var->name, var->classic.where);
    if (!bad && var->type != 0)
        check_vsize(r, var, vsize_at, vsize);
    return NC_NOERR;
}

static int take_var(reader *r)
{
    pnc_model *model = r->model;
    name_ref ref;
    int64_t at = r->pos, ndims;
    bool bad = false;
    pnc_var *var;
    int width = pnc_format_count_get_size(model->format), code = NC_NOERR;

    PNC_TRY(take_name(r, "a variable's name", &ref));
    PNC_TRY(take_length(r, "a variable's number of dimensions", width, max_var_dims, &ndims));
    if (ndims * width > r->n - r->pos) { /* before memory is allocated for them */
        r->needed = r->pos + ndims * width;
        return PNC_NEED_MORE_BYTES;
    }
    if (ndims > INT_MAX)
        return pnc_format_violation_fail(&r->checker, at, max_var_dims.code, "less than 2^31 dimensions",
                                         "the variable at byte %" PRId64 " has %" PRId64 " dimensions", at, ndims);
    var = pnc_format_var_create(model, ref.bytes, ref.n, (int)ndims);
    if (var == NULL)
        return fail_no_memory(r, "variable");
    var->classic.where = at;
    for (int i = 0; code == NC_NOERR && i < var->ndims; i++)
        code = take_dimid(r, var, i, &bad);
    if (bad) /* reached with an observer only: the shape is unknown */
        var->ndims = 0;
    if (code == NC_NOERR)
        code = take_var_tail(r, var, bad);
    if (code == NC_NOERR) {
        code = pnc_format_var_append(model, var);
        if (code == NC_ENAMEINUSE)
            return report_duplicate(r, "variable", var->name, at);
        if (code == NC_NOERR)
            return NC_NOERR;
        code = fail_no_memory(r, "variable");
    }
    pnc_format_atts_free(&var->atts);
    return code;
}

static int take_vars(reader *r)
{
    int width = pnc_format_count_get_size(r->model->format);
    /* name, number of dimensions, tag and count of attributes, type, vsize, begin */
    int64_t n, least = 4 * width + 8 + pnc_format_offset_get_size(r->model->format);

    PNC_TRY(take_list(r, PNC_TAG_VARIABLE, "the list of variables", least, max_vars, &n));
    r->nvars = n;
    if (pnc_format_vars_reserve(r->model, bounded(r, n, least)) != NC_NOERR)
        return fail_no_memory(r, "variable");
    for (int64_t i = 0; i < n; i++)
        PNC_TRY(take_var(r));
    return NC_NOERR;
}

/* Not a netCDF file, or one whose bytes were converted as if it were text. */
static int reject_foreign(reader *r, const unsigned char *front)
{
    const char *meaning = pnc_format_foreign_explain(front, (size_t)r->n);

    if (meaning != NULL)
        return pnc_format_violation_fail(&r->checker, 0, NC_ENOTNC, PNC_RULE_MAGIC, "this is not a netCDF file: %s",
                                         meaning);
    return pnc_format_violation_fail(&r->checker, 0, NC_ENOTNC, PNC_RULE_MAGIC,
                                     "this is not a netCDF file: it starts with bytes %02x %02x %02x %02x, not "
                                     "with \"CDF\" and 1, 2 or 5",
                                     front[0], front[1], front[2], front[3]);
}

/* The magic number: the format. */
static int take_magic(reader *r)
{
    const unsigned char *p = NULL;
    int kind;

    PNC_TRY(take_bytes(r, 4, "the magic number", &p));
    kind = pnc_format_kind_identify(r->p, (size_t)(r->n < 8 ? r->n : 8));
    if (kind == PNC_KIND_UNKNOWN && r->n < 8 && r->file_size >= 8 && p[0] == 0x89) {
        r->needed = 8;
        return PNC_NEED_MORE_BYTES;
    }
    if (kind == PNC_KIND_HDF5)
        return pnc_format_violation_fail(&r->checker, 0, NC_ENOTBUILT, PNC_RULE_MAGIC,
                                         "this is HDF5 (or netCDF-4), and this library reads CDF-1, CDF-2 and CDF-5: "
                                         "convert it by nccopy -k cdf5");
    if (pnc_format_magic_is_marked((const char *)p))
        return pnc_format_violation_fail(&r->checker, 0, NC_EINTERRUPTED, PNC_RULE_MAGIC,
                                         "a program that changes the header has not completed that yet, or ended "
                                         "before: if none is running, open the file for writing (NC_WRITE) or run "
                                         "ncvalidator --repair, which complete the change");
    if (kind == PNC_KIND_UNKNOWN)
        return reject_foreign(r, p);
    if (pnc_format_foreign_is_converted(p, (size_t)r->n, PNC_MAGIC_BYTES + (size_t)pnc_format_count_get_size(kind)))
        return pnc_format_violation_fail(&r->checker, 0, NC_ENOTNC, PNC_RULE_MAGIC,
                                         "the line ends in this file were converted, as if it were text: transfer it "
                                         "again, as binary");
    r->model->format = kind;
    pnc_format_field_report(&r->checker, 0, 4, "the magic number", "CDF-%d", kind);
    return NC_NOERR;
}

/* The number of records; all bits set while a program appends records (STREAMING of the specification). */
static int take_numrecs(reader *r)
{
    static const char what[] = "the number of records";
    int width = pnc_format_count_get_size(r->model->format);
    uint64_t word = 0;

    PNC_TRY(take_word(r, width, what, &word));
    r->streaming = word == (width == 4 ? UINT32_MAX : UINT64_MAX);
    if (r->streaming) {
        pnc_format_field_report(&r->checker, 4, width, what, "computed from the size of the file");
        return NC_NOERR;
    }
    if (word > INT64_MAX) {
        PNC_TRY(pnc_format_violation_report(&r->checker, 4, NC_ENOTNC, "a number of records, or all bits set",
                                            "the number of records at byte 4 is negative (%" PRId64 ")",
                                            (int64_t)word));
        word = 0;
    }
    pnc_format_field_report(&r->checker, 4, width, what, "%" PRIu64, word);
    r->model->numrecs = (int64_t)word;
    return NC_NOERR;
}

int64_t pnc_format_numrecs_decode(const void *front, int format)
{
    pnc_model model = {.format = format};
    reader r = {
        .p = front, .n = PNC_FRONT_BYTES, .file_size = PNC_FRONT_BYTES, .pos = PNC_MAGIC_BYTES, .model = &model};

    if (pnc_format_kind_identify(front, PNC_FRONT_BYTES) != format || take_numrecs(&r) != NC_NOERR)
        return 0;
    return model.numrecs;
}

/* An entry that would be encoded with another length cannot be patched in place. */
static void clear_offsets_of_entries(pnc_model *model)
{
    for (int i = 0; i < model->ndims; i++)
        model->dims[i]->classic.where = -1;
    for (int i = 0; i < model->gatts.n; i++)
        model->gatts.at[i]->classic.where = -1;
    for (int i = 0; i < model->nvars; i++) {
        model->vars[i]->classic.where = -1;
        for (int j = 0; j < model->vars[i]->atts.n; j++)
            model->vars[i]->atts.at[j]->classic.where = -1;
    }
}

static int take_header(reader *r)
{
    PNC_TRY(take_magic(r));
    PNC_TRY(take_numrecs(r));
    PNC_TRY(take_dims(r));
    PNC_TRY(take_atts(r, &r->model->gatts));
    PNC_TRY(take_vars(r));
    r->model->classic.header_size = r->pos;
    PNC_TRY(pnc_format_offsets_check(&r->checker, r->model, r->file_size, r->streaming));
    if (r->checker.observer != NULL)
        pnc_format_rules_check(&r->checker, r->model, r->file_size);
    if (r->odd_names)
        clear_offsets_of_entries(r->model);
    return r->checker.code;
}

/* Bytes that the header has if all variables take as many as those that were decoded; 0 if unknown. The first variable
 * begins after the header. */
static int64_t estimate_size(const reader *r)
{
    const pnc_model *model = r->model;
    int64_t first, last, bytes;

    if (model->nvars < 2)
        return 0;
    first = model->vars[0]->classic.where;
    last = model->vars[model->nvars - 1]->classic.where;
    if (pnc_size_multiply((last - first) / (model->nvars - 1) + 1, r->nvars, &bytes) < 0)
        return 0;
    bytes = bytes > INT64_MAX / 2 - first ? INT64_MAX / 2 : first + bytes;
    bytes += bytes / 16; /* the last ones are a little longer */
    return model->vars[0]->classic.begin > r->n && model->vars[0]->classic.begin < bytes ? model->vars[0]->classic.begin
                                                                                         : bytes;
}

/* With how many bytes to decode from the start again: the estimate, which a file can make wrong, within bounds. */
static int64_t choose_need(const reader *r)
{
    int64_t estimate = estimate_size(r), n = r->n < INT64_MAX / 512 ? r->n : INT64_MAX / 512;

    if (estimate == 0)
        estimate = 2 * n;
    if (estimate < n + n / 4)
        estimate = n + n / 4;
    if (estimate > 256 * n)
        estimate = 256 * n;
    if (estimate < r->needed)
        estimate = r->needed;
    return estimate < r->file_size ? estimate : r->file_size;
}

/* Decode into an empty model. */
static int decode_header(reader *r, pnc_model *out, int64_t *need)
{
    int code;

    memset(out, 0, sizeof *out);
    out->recdim = -1;
    r->model = out;
    code = take_header(r);
    if (code == PNC_NEED_MORE_BYTES)
        *need = choose_need(r);
    return code;
}

static reader reader_of(const void *bytes, int64_t n, int64_t file_size)
{
    return (reader){.p = bytes, .n = n < file_size ? n : file_size, .file_size = file_size};
}

int pnc_format_header_examine(const void *bytes, int64_t n, int64_t file_size, const pnc_observer *observer,
                              pnc_model *out, int64_t *need)
{
    reader r = reader_of(bytes, n, file_size);

    r.checker.observer = observer;
    return decode_header(&r, out, need);
}

int pnc_format_header_decode(const void *bytes, int64_t n, int64_t file_size, pnc_model *out, int64_t *need,
                             pnc_error *error)
{
    reader r = reader_of(bytes, n, file_size);
    int code;

    r.checker.error = error;
    code = decode_header(&r, out, need);
    if (code != NC_NOERR)
        pnc_format_model_free(out);
    return code;
}
