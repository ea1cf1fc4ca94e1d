/* Attributes and types of an HDF5 file. */
#include "formats/netcdf4/metadata_hdf5.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "format/strings.h"

/* --- types --- */

/* Bytes of the type in memory that libhdf5 takes for a type in a file, as netCDF-C does: that of an integer of 12 bits
 * has 2 bytes, whatever it has in the file. */
static size_t find_memory_size(const pnc_hdf5 *h, hid_t type)
{
    hid_t native = h->t_get_native_type(type, H5T_DIR_DEFAULT);
    size_t size = native < 0 ? 0 : h->t_get_size(native);

    if (native >= 0)
        h->t_close(native);
    return size;
}

static int identify_integer(const pnc_hdf5 *h, hid_t type)
{
    static const int types[2][4] = {{NC_UBYTE, NC_USHORT, NC_UINT, NC_UINT64}, {NC_BYTE, NC_SHORT, NC_INT, NC_INT64}};
    size_t size = find_memory_size(h, type);
    H5T_sign_t sign = h->t_get_sign(type);
    int log = 0;

    while (log < 3 && size > (size_t)1 << log)
        log++;
    if (size != (size_t)1 << log || h->t_get_size(type) > 8 || (sign != H5T_SGN_NONE && sign != H5T_SGN_2))
        return NC_OPAQUE;
    return types[sign == H5T_SGN_2][log];
}

/* By its integers: h5py stores truth values so. */
static int identify_enum(const pnc_hdf5 *h, hid_t type)
{
    hid_t integer = h->t_get_super(type);
    int nctype = integer < 0 ? NC_ENUM : identify_integer(h, integer);

    if (integer < 0 || nctype == NC_OPAQUE || !pnc_netcdf4_number_is_plain(h, integer, nctype))
        nctype = NC_ENUM;
    if (integer >= 0)
        h->t_close(integer);
    return nctype;
}

/* NC_FLOAT or NC_DOUBLE, if the type has the format of IEEE; NC_NAT: another one. */
static int find_ieee_type(const pnc_hdf5 *h, hid_t type)
{
    if (h->t_equal(type, h->f32be) > 0 || h->t_equal(type, h->f32le) > 0)
        return NC_FLOAT;
    return h->t_equal(type, h->f64be) > 0 || h->t_equal(type, h->f64le) > 0 ? NC_DOUBLE : NC_NAT;
}

/* Values of another format than those of IEEE must fit to double. */
static int identify_float(const pnc_hdf5 *h, hid_t type)
{
    uint32_t unused[PNC_NUMBER_PARAMETERS];
    int nctype = find_ieee_type(h, type);

    if (nctype != NC_NAT)
        return nctype;
    switch (h->t_get_size(type) <= 8 ? find_memory_size(h, type) : 0) {
    case sizeof(float) / 2: /* half precision: HDF5 2 has a type in memory for it */
    case sizeof(float): nctype = NC_FLOAT; break;
    case sizeof(double): nctype = NC_DOUBLE; break;
    default: return NC_OPAQUE;
    }
    return pnc_netcdf4_number_find(h, type, nctype, unused) ? nctype : NC_OPAQUE;
}

static bool is_number_class(H5T_class_t class)
{
    return class == H5T_INTEGER || class == H5T_FLOAT;
}

static bool find_float_fields(const pnc_hdf5 *h, hid_t type, uint32_t *out)
{
    size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0;
    H5T_norm_t norm = h->t_get_norm(type);

    if (h->t_get_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) < 0 ||
        (norm != H5T_NORM_IMPLIED && norm != H5T_NORM_MSBSET))
        return false;
    out[PNC_NUMBER_OFFSET] = (uint32_t)mantissa;
    out[PNC_NUMBER_PRECISION] = (uint32_t)mantissa_bits;
    out[PNC_NUMBER_SIGN_AT] = (uint32_t)sign;
    out[PNC_NUMBER_EXPONENT_AT] = (uint32_t)exponent;
    out[PNC_NUMBER_EXPONENT_BITS] = (uint32_t)exponent_bits;
    out[PNC_NUMBER_BIAS] = (uint32_t)h->t_get_ebias(type);
    out[PNC_NUMBER_HAS_FIRST_BIT] = norm == H5T_NORM_MSBSET;
    return true;
}

bool pnc_netcdf4_number_find(const pnc_hdf5 *h, hid_t type, int nctype, uint32_t *out)
{
    const uint32_t memory_size = (uint32_t)pnc_type_get_size(nctype);
    const bool is_float = h->t_get_class(type) == H5T_FLOAT;
    const pnc_filter filter = {PNC_FILTER_NUMBER, false, PNC_NUMBER_PARAMETERS, out};
    const pnc_filter_chain chain = {1, &filter};
    H5T_order_t order = h->t_get_order(type);

    memset(out, 0, PNC_NUMBER_PARAMETERS * sizeof *out);
    if (!is_number_class(h->t_get_class(type)) || memory_size == 0 ||
        (order != H5T_ORDER_LE && order != H5T_ORDER_BE && h->t_get_size(type) != 1))
        return false;
    out[PNC_NUMBER_SIZE] = (uint32_t)h->t_get_size(type);
    out[PNC_NUMBER_MEMORY_SIZE] = memory_size;
    out[PNC_NUMBER_ORDER] = order == H5T_ORDER_BE;
    out[PNC_NUMBER_IS_FLOAT] = is_float;
    out[PNC_NUMBER_IS_SIGNED] = !is_float && h->t_get_sign(type) == H5T_SGN_2;
    out[PNC_NUMBER_OFFSET] = (uint32_t)h->t_get_offset(type);
    out[PNC_NUMBER_PRECISION] = (uint32_t)h->t_get_precision(type);
    if (is_float && !find_float_fields(h, type, out))
        return false;
    return pnc_filter_chain_check(&chain, 0, NULL, NULL) == NC_NOERR;
}

bool pnc_netcdf4_number_is_plain(const pnc_hdf5 *h, hid_t type, int nctype)
{
    if (h->t_get_class(type) != H5T_INTEGER)
        return h->t_get_class(type) != H5T_FLOAT || find_ieee_type(h, type) != NC_NAT;
    return h->t_get_size(type) == pnc_type_get_size(nctype) && h->t_get_precision(type) == 8 * h->t_get_size(type) &&
           h->t_get_offset(type) == 0;
}

int pnc_netcdf4_type_identify(const pnc_hdf5 *h, hid_t type, bool *is_big_endian)
{
    H5T_class_t class = h->t_get_class(type);

    *is_big_endian = (is_number_class(class) || class == H5T_ENUM) && h->t_get_order(type) == H5T_ORDER_BE;
    switch (class) {
    case H5T_INTEGER: return identify_integer(h, type);
    case H5T_FLOAT: return identify_float(h, type);
    case H5T_STRING: return h->t_is_variable_str(type) > 0 || h->t_get_size(type) != 1 ? NC_STRING : NC_CHAR;
    case H5T_ENUM: return identify_enum(h, type);
    case H5T_COMPOUND: return NC_COMPOUND;
    case H5T_VLEN: return NC_VLEN;
    default: return NC_OPAQUE;
    }
}

hid_t pnc_netcdf4_type_get_native(const pnc_hdf5 *h, int type)
{
    switch (type) {
    case NC_BYTE: return h->schar;
    case NC_UBYTE: return h->uchar;
    case NC_SHORT: return h->sshort;
    case NC_USHORT: return h->ushort;
    case NC_INT: return h->sint;
    case NC_UINT: return h->uint;
    case NC_INT64: return h->llong;
    case NC_UINT64: return h->ullong;
    case NC_FLOAT: return h->flt;
    case NC_DOUBLE: return h->dbl;
    default: return -1;
    }
}

/* --- one attribute --- */

/* An attribute that is open. */
typedef struct open_att {
    hid_t id, type, space;
    int64_t n;        /* elements */
    size_t size;      /* of each in the file */
    bool is_variable; /* strings of variable length */
} open_att;

static void close_att(const pnc_hdf5 *h, open_att *a)
{
    if (a->space >= 0)
        h->s_close(a->space);
    if (a->type >= 0)
        h->t_close(a->type);
    if (a->id >= 0)
        h->a_close(a->id);
}

/* False after an error of HDF5, or if the attribute claims more bytes than the file has. */
static bool open_att_of(pnc_netcdf4_metadata *m, hid_t object, const char *name, open_att *a)
{
    const pnc_hdf5 *h = m->h;
    int64_t bytes;

    *a = (open_att){.id = h->a_open(object, name, H5P_DEFAULT), .type = -1, .space = -1};
    if (a->id < 0)
        return false;
    a->type = h->a_get_type(a->id);
    a->space = h->a_get_space(a->id);
    if (a->type < 0 || a->space < 0)
        return false;
    a->n = (int64_t)h->s_get_simple_extent_npoints(a->space);
    a->size = h->t_get_size(a->type);
    a->is_variable = h->t_get_class(a->type) == H5T_STRING && h->t_is_variable_str(a->type) > 0;
    if (h->s_get_simple_extent_type(a->space) == H5S_NULL)
        a->n = 0;
    return a->n >= 0 && a->size > 0 && pnc_size_multiply(a->n, (int64_t)a->size, &bytes) == 0 &&
           bytes <= pnc_netcdf4_source_get_end(&m->source);
}

/* --- strings --- */

static int lack_att_memory(pnc_netcdf4_metadata *m, const char *name)
{
    return pnc_error_set(m->source.file->error, NC_ENOMEM, "%s: no memory for attribute \"%s\"", m->source.file->path,
                         name);
}

static int write_joined_strings(pnc_netcdf4_metadata *m, char *const *strings, int64_t n, const char *name,
                                pnc_netcdf4_writer *out)
{
    const char *const *from = (const char *const *)strings;
    int64_t *lengths = pnc_memory_alloc(n + 1, sizeof *lengths), total = pnc_format_strings_join(from, n, NULL, NULL);
    char *joined = pnc_memory_alloc(total + 1, 1);
    bool has_memory = lengths != NULL && joined != NULL;

    if (has_memory) {
        (void)pnc_format_strings_join(from, n, lengths, joined);
        pnc_netcdf4_att_write(out, name,
                              &(pnc_att){.type = NC_CHAR, .len = total, .value = joined, .strings = {n, lengths}});
    }
    pnc_memory_free(joined);
    pnc_memory_free(lengths);
    return has_memory ? NC_NOERR : lack_att_memory(m, name);
}

/* Strings of one length, which have zeros at their ends: several are strings, a single one is a text. */
static int describe_fixed_strings(pnc_netcdf4_metadata *m, const open_att *a, const char *name, pnc_netcdf4_writer *out)
{
    const int64_t bytes = a->n * (int64_t)a->size;
    const bool are_strings = a->n > 1 && a->size > 1;
    char *values = pnc_memory_alloc(bytes + 1, 1), *copy = are_strings ? pnc_memory_alloc(bytes + a->n, 1) : NULL;
    char **strings = are_strings ? pnc_memory_alloc(a->n, sizeof *strings) : NULL;
    int err = NC_NOERR;

    if (values == NULL || (are_strings && (copy == NULL || strings == NULL)))
        err = lack_att_memory(m, name);
    else if (a->n > 0 && m->h->a_read(a->id, a->type, values) < 0)
        err = pnc_netcdf4_metadata_fail(m, "read attribute", name);
    else if (!are_strings)
        pnc_netcdf4_att_write(out, name, &(pnc_att){.type = NC_CHAR, .len = bytes, .value = values});
    for (int64_t i = 0; are_strings && err == NC_NOERR && i < a->n; i++) {
        strings[i] = copy + i * ((int64_t)a->size + 1);
        memcpy(strings[i], values + i * (int64_t)a->size, a->size);
        strings[i][a->size] = '\0';
    }
    if (are_strings && err == NC_NOERR)
        err = write_joined_strings(m, strings, a->n, name, out);
    pnc_memory_free(strings);
    pnc_memory_free(copy);
    pnc_memory_free(values);
    return err;
}

static int describe_variable_strings(pnc_netcdf4_metadata *m, const open_att *a, const char *name,
                                     pnc_netcdf4_writer *out)
{
    char **strings = pnc_memory_alloc_zeroed(a->n + 1, sizeof *strings);
    int err;

    if (strings == NULL)
        return lack_att_memory(m, name);
    if (a->n > 0 && m->h->a_read(a->id, a->type, strings) < 0) {
        pnc_memory_free(strings);
        return pnc_netcdf4_metadata_fail(m, "read attribute", name);
    }
    err = write_joined_strings(m, strings, a->n, name, out);
    if (a->n > 0)
        m->h->d_vlen_reclaim(a->type, a->space, H5P_DEFAULT, strings);
    pnc_memory_free(strings);
    return err;
}

/* --- the attributes of an object --- */

static int describe_numbers(pnc_netcdf4_metadata *m, const open_att *a, int type, const char *name,
                            pnc_netcdf4_writer *out)
{
    char *values = pnc_memory_alloc(a->n, pnc_type_get_size(type));
    int err = NC_NOERR;

    if (values == NULL)
        return lack_att_memory(m, name);
    if (a->n > 0 && m->h->a_read(a->id, pnc_netcdf4_type_get_native(m->h, type), values) < 0)
        err = pnc_netcdf4_metadata_fail(m, "read attribute", name);
    else
        pnc_netcdf4_att_write(out, name, &(pnc_att){.type = type, .len = a->n, .value = values});
    pnc_memory_free(values);
    return err;
}

/* shown: its name with a path. Attributes of types that are not atomic are left out. */
static int describe_att(pnc_netcdf4_metadata *m, hid_t object, const char *name, const char *shown,
                        pnc_netcdf4_writer *out, int64_t *n)
{
    open_att a;
    bool is_big_endian;
    int type, err = NC_NOERR;

    if (!open_att_of(m, object, name, &a)) {
        err = pnc_netcdf4_metadata_fail(m, "open attribute", name);
    } else {
        type = pnc_netcdf4_type_identify(m->h, a.type, &is_big_endian);
        *n += type <= NC_STRING;
        if (type == NC_CHAR || (type == NC_STRING && !a.is_variable))
            err = describe_fixed_strings(m, &a, shown, out);
        else if (type == NC_STRING)
            err = describe_variable_strings(m, &a, shown, out);
        else if (type < NC_STRING)
            err = describe_numbers(m, &a, type, shown, out);
    }
    close_att(m->h, &a);
    return err;
}

typedef struct att_walk {
    pnc_netcdf4_metadata *m;
    pnc_netcdf4_writer *out;
    const char *path;
    int64_t *n;
    int err;
} att_walk;

/* Names that are longer than NC_MAX_NAME with the path of their group are left out. */
static herr_t visit_att(hid_t object, const char *name, const H5A_info_t *info, void *data)
{
    att_walk *walk = data;
    char shown[NC_MAX_NAME + 1];
    size_t path = strlen(walk->path), length = strlen(name);

    (void)info;
    if (pnc_format_att_name_is_hidden(pnc_netcdf4_rules_get(NC_FORMAT_NETCDF4), name) || length > NC_MAX_NAME ||
        (path > 0 && path + 1 + length > NC_MAX_NAME))
        return 0;
    if (path > 0) {
        memcpy(shown, walk->path, path);
        shown[path] = '/';
        memcpy(shown + path + 1, name, length + 1);
    }
    walk->err = describe_att(walk->m, object, name, path > 0 ? shown : name, walk->out, walk->n);
    return walk->err == NC_NOERR ? 0 : -1;
}

int64_t pnc_netcdf4_atts_begin(pnc_netcdf4_writer *out)
{
    pnc_netcdf4_count_write(out, 0);
    return out->n - (int64_t)sizeof(int64_t);
}

void pnc_netcdf4_atts_end(pnc_netcdf4_writer *out, int64_t at, int64_t n)
{
    if (!out->failed)
        memcpy(out->bytes + at, &n, sizeof n);
}

int pnc_netcdf4_atts_add(pnc_netcdf4_metadata *m, hid_t object, bool is_ordered, const char *path, int64_t *n,
                         pnc_netcdf4_writer *out)
{
    att_walk walk = {.m = m, .out = out, .path = path, .n = n};
    hsize_t from = 0;
    /* Without an order of creation that in which libhdf5 finds them first, as netCDF-C. */
    herr_t done = m->h->a_iterate(object, is_ordered ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME,
                                  is_ordered ? H5_ITER_INC : H5_ITER_NATIVE, &from, visit_att, &walk);

    PNC_TRY(walk.err);
    return done < 0 ? pnc_netcdf4_metadata_fail(m, "read the attributes of", path) : NC_NOERR;
}

/* --- hidden attributes --- */

static bool has_att(pnc_netcdf4_metadata *m, hid_t object, const char *name)
{
    return m->h->a_exists(object, name) > 0;
}

int64_t pnc_netcdf4_atts_get_integers(pnc_netcdf4_metadata *m, hid_t object, const char *name, int64_t *out,
                                      int64_t most)
{
    open_att a;
    int64_t n = 0;

    if (!has_att(m, object, name))
        return 0;
    if (open_att_of(m, object, name, &a) && m->h->t_get_class(a.type) == H5T_INTEGER && a.n <= most &&
        m->h->a_read(a.id, m->h->llong, out) >= 0)
        n = a.n;
    close_att(m->h, &a);
    return n;
}

bool pnc_netcdf4_atts_get_text(pnc_netcdf4_metadata *m, hid_t object, const char *name, char *out, size_t capacity)
{
    open_att a;
    bool found = false;

    if (!has_att(m, object, name))
        return false;
    if (open_att_of(m, object, name, &a) && m->h->t_get_class(a.type) == H5T_STRING && !a.is_variable && a.n == 1 &&
        a.size < capacity && m->h->a_read(a.id, a.type, out) >= 0) {
        out[a.size] = '\0';
        found = true;
    }
    close_att(m->h, &a);
    return found;
}

bool pnc_netcdf4_metadata_get_text(pnc_netcdf4_metadata *m, const char *name, char *out, size_t capacity)
{
    pnc_hdf5_visit visit;
    bool found;

    if (pnc_netcdf4_library_begin(&visit, m->source.file->error) == NULL)
        return false;
    found = pnc_netcdf4_atts_get_text(m, m->root, name, out, capacity);
    pnc_netcdf4_library_end(&visit);
    return found;
}

bool pnc_netcdf4_atts_get_references(pnc_netcdf4_metadata *m, hid_t object, const char *name, int n, hobj_ref_t *out)
{
    const pnc_hdf5 *h = m->h;
    hvl_t lists[PNC_STORAGE_DIMS_MOST] = {{0, NULL}};
    open_att a;
    hid_t element = -1;
    bool found = false;

    if (!has_att(m, object, name))
        return false;
    if (open_att_of(m, object, name, &a) && h->t_get_class(a.type) == H5T_VLEN && a.n == n)
        element = h->t_get_super(a.type);
    if (element >= 0 && h->t_equal(element, h->reference) > 0 && h->a_read(a.id, a.type, lists) >= 0) {
        found = true;
        for (int i = 0; i < n; i++)
            out[i] = lists[i].len > 0 && lists[i].p != NULL ? *(const hobj_ref_t *)lists[i].p : 0;
        h->d_vlen_reclaim(a.type, a.space, H5P_DEFAULT, lists);
    }
    if (element >= 0)
        h->t_close(element);
    close_att(h, &a);
    return found;
}
