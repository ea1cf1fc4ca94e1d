/* Attributes of an HDF5 file: written, replaced, removed. */
#include "formats/netcdf4/metadata_hdf5.h"

#include <string.h>

#include "base/memory.h"
#include "format/entries.h"
#include "format/strings.h"

hid_t pnc_netcdf4_type_get(const pnc_hdf5 *h, int type, bool is_big_endian)
{
    switch (type) {
    case NC_CHAR: return h->c_string;
    case NC_BYTE: return is_big_endian ? h->i8be : h->i8le;
    case NC_UBYTE: return is_big_endian ? h->u8be : h->u8le;
    case NC_SHORT: return is_big_endian ? h->i16be : h->i16le;
    case NC_USHORT: return is_big_endian ? h->u16be : h->u16le;
    case NC_INT: return is_big_endian ? h->i32be : h->i32le;
    case NC_UINT: return is_big_endian ? h->u32be : h->u32le;
    case NC_INT64: return is_big_endian ? h->i64be : h->i64le;
    case NC_UINT64: return is_big_endian ? h->u64be : h->u64le;
    case NC_FLOAT: return is_big_endian ? h->f32be : h->f32le;
    case NC_DOUBLE: return is_big_endian ? h->f64be : h->f64le;
    default: return -1;
    }
}

/* --- one attribute --- */

/* A new one. space and type may be invalid after an error, which is reported here. values NULL: it has none. */
static int create_att(pnc_netcdf4_metadata *m, hid_t object, const char *name, hid_t type, hid_t memory_type,
                      hid_t space, const void *values)
{
    const pnc_hdf5 *h = m->h;
    hid_t att = type < 0 || space < 0 ? -1 : h->a_create(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool is_written = att >= 0 && (values == NULL || h->a_write(att, memory_type, values) >= 0);

    if (att >= 0)
        h->a_close(att);
    return is_written ? NC_NOERR : pnc_netcdf4_metadata_fail(m, "write attribute", name);
}

int pnc_netcdf4_atts_remove(pnc_netcdf4_metadata *m, hid_t object, const char *name)
{
    htri_t exists = m->h->a_exists(object, name);

    if (exists == 0 || (exists > 0 && m->h->a_delete(object, name) >= 0))
        return NC_NOERR;
    return pnc_netcdf4_metadata_fail(m, "delete attribute", name);
}

/* Text is one string; without characters it has no value, as in netCDF-C. */
static int create_text(pnc_netcdf4_metadata *m, hid_t object, const char *name, const char *text, int64_t bytes)
{
    const pnc_hdf5 *h = m->h;
    hid_t type = h->t_copy(h->c_string), space = h->s_create(bytes > 0 ? H5S_SCALAR : H5S_NULL);
    int err;

    if (type >= 0 && bytes > 0 && h->t_set_size(type, (size_t)bytes) < 0)
        err = pnc_netcdf4_metadata_fail(m, "write attribute", name);
    else
        err = create_att(m, object, name, type, type, space, bytes > 0 ? text : NULL);
    if (space >= 0)
        h->s_close(space);
    if (type >= 0)
        h->t_close(type);
    return err;
}

hid_t pnc_netcdf4_string_type_create(const pnc_hdf5 *h)
{
    hid_t type = h->t_copy(h->c_string);

    if (type >= 0 && h->t_set_size(type, H5T_VARIABLE) >= 0 && h->t_set_cset(type, H5T_CSET_UTF8) >= 0)
        return type;
    if (type >= 0)
        h->t_close(type);
    return -1;
}

/* A single string is a scalar, as netCDF-C and h5py write it. */
static int write_string_att(pnc_netcdf4_metadata *m, hid_t object, const char *name, char *const *strings, int64_t n)
{
    const pnc_hdf5 *h = m->h;
    hsize_t length = (hsize_t)n;
    hid_t type = pnc_netcdf4_string_type_create(h), space;
    int err;

    if (n > 1)
        space = h->s_create_simple(1, &length, NULL);
    else
        space = h->s_create(n == 1 ? H5S_SCALAR : H5S_NULL);
    err = create_att(m, object, name, type, type, space, n > 0 ? strings : NULL);
    if (space >= 0)
        h->s_close(space);
    if (type >= 0)
        h->t_close(type);
    return err;
}

static int create_strings(pnc_netcdf4_metadata *m, hid_t object, const pnc_att *att)
{
    char *text = pnc_memory_alloc(att->len + 1, 1);
    char **strings = pnc_memory_alloc(att->strings.n, sizeof *strings);
    int err;

    if (text == NULL || strings == NULL) {
        err = pnc_error_set(m->source.file->error, NC_ENOMEM, "%s: no memory for attribute \"%s\"",
                            m->source.file->path, att->name);
    } else {
        if (att->len > 0)
            memcpy(text, att->value, (size_t)att->len);
        pnc_format_strings_divide(&att->strings, text, strings);
        err = write_string_att(m, object, att->name, strings, att->strings.n);
    }
    pnc_memory_free(strings);
    pnc_memory_free(text);
    return err;
}

static int create_numbers(pnc_netcdf4_metadata *m, hid_t object, const char *name, int type, bool is_big_endian,
                          int64_t n, const void *values)
{
    const pnc_hdf5 *h = m->h;
    hsize_t length = (hsize_t)n;
    hid_t space = n > 0 ? h->s_create_simple(1, &length, NULL) : h->s_create(H5S_NULL);
    int err = create_att(m, object, name, pnc_netcdf4_type_get(h, type, false),
                         pnc_netcdf4_type_get(h, type, is_big_endian), space, n > 0 ? values : NULL);

    if (space >= 0)
        h->s_close(space);
    return err;
}

int pnc_netcdf4_atts_put_text(pnc_netcdf4_metadata *m, hid_t object, const char *name, const char *text, int64_t bytes)
{
    PNC_TRY(pnc_netcdf4_atts_remove(m, object, name));
    return create_text(m, object, name, text, bytes);
}

int pnc_netcdf4_atts_put_integers(pnc_netcdf4_metadata *m, hid_t object, const char *name, const int *values, int n,
                                  bool is_scalar)
{
    const pnc_hdf5 *h = m->h;
    hsize_t length = (hsize_t)n;
    hid_t space;
    int err;

    PNC_TRY(pnc_netcdf4_atts_remove(m, object, name));
    space = is_scalar ? h->s_create(H5S_SCALAR) : h->s_create_simple(1, &length, NULL);
    err = create_att(m, object, name, h->i32le, h->sint, space, values);
    if (space >= 0)
        h->s_close(space);
    return err;
}

/* --- the attributes of an object --- */

static int write_att(pnc_netcdf4_metadata *m, hid_t object, const pnc_att *att, bool is_little)
{
    PNC_TRY(pnc_netcdf4_atts_remove(m, object, att->name));
    if (att->strings.lengths != NULL)
        return create_strings(m, object, att);
    if (att->type == NC_CHAR)
        return create_text(m, object, att->name, att->value, att->len);
    return create_numbers(m, object, att->name, att->type, !is_little, att->len, att->value);
}

/* Write an attribute once more, behind the others, as it is: its type may be one that the model does not have. */
static int append_again(pnc_netcdf4_metadata *m, hid_t object, const char *name)
{
    const pnc_hdf5 *h = m->h;
    hid_t att = h->a_open(object, name, H5P_DEFAULT);
    hid_t type = att < 0 ? -1 : h->a_get_type(att), space = att < 0 ? -1 : h->a_get_space(att);
    int64_t n = space < 0 ? -1 : (int64_t)h->s_get_simple_extent_npoints(space), bytes = -1;
    char *values = NULL;
    int err = NC_NOERR;

    if (type >= 0 && n >= 0 &&
        (pnc_size_multiply(n, (int64_t)h->t_get_size(type), &bytes) < 0 ||
         bytes > pnc_netcdf4_source_get_end(&m->source)))
        bytes = -1;
    if (bytes >= 0)
        values = pnc_memory_alloc(bytes + 1, 1);
    if (values == NULL && bytes >= 0)
        err = pnc_error_set(m->source.file->error, NC_ENOMEM, "%s: no memory for attribute \"%s\"",
                            m->source.file->path, name);
    else if (values == NULL || (n > 0 && h->a_read(att, type, values) < 0))
        err = pnc_netcdf4_metadata_fail(m, "read attribute", name);
    if (att >= 0)
        h->a_close(att);
    if (err == NC_NOERR)
        err = pnc_netcdf4_atts_remove(m, object, name);
    if (err == NC_NOERR) {
        err = create_att(m, object, name, type, type, space, n > 0 ? values : NULL);
        if (n > 0)
            h->d_vlen_reclaim(type, space, H5P_DEFAULT, values);
    }
    if (space >= 0)
        h->s_close(space);
    if (type >= 0)
        h->t_close(type);
    pnc_memory_free(values);
    return err;
}

/* Attributes are ordered by their creation: from the first one that differs on, all are created again. */
int pnc_netcdf4_atts_update(pnc_netcdf4_metadata *m, hid_t object, const pnc_atts *before, const pnc_atts *now,
                            bool before_is_little, bool now_is_little)
{
    int same = 0, had = before == NULL ? 0 : before->n;
    bool may_be_same = before_is_little == now_is_little;

    while (same < had && same < now->n && may_be_same && strcmp(before->at[same]->name, now->at[same]->name) == 0 &&
           pnc_format_att_is_same(before->at[same], now->at[same]))
        same++;
    for (int i = same; i < had; i++)
        if (pnc_format_atts_find_exact(now, before->at[i]->name) < 0)
            PNC_TRY(pnc_netcdf4_atts_remove(m, object, before->at[i]->name));
    for (int i = same; i < now->n; i++) {
        const pnc_att *att = now->at[i];
        int at = before == NULL ? -1 : pnc_format_atts_find_exact(before, att->name);

        if (at >= 0 && may_be_same && pnc_format_att_is_same(before->at[at], att))
            PNC_TRY(append_again(m, object, att->name));
        else
            PNC_TRY(write_att(m, object, att, now_is_little));
    }
    return NC_NOERR;
}
