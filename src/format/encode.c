/* Encode a header, as in the NetCDF Classic Format Specification. The same functions compute the size (without a
 * buffer) and write the bytes. */
#include "format/codec.h"

#include <assert.h>
#include <string.h>

#include "format/entries.h"

typedef struct writer {
    unsigned char *p; /* NULL: count only */
    int64_t pos;
    int format;
} writer;

/* 4 or 8 bytes. */
static inline void put_word(writer *w, uint64_t value, int bytes)
{
    if (w->p != NULL) {
        if (bytes == 8)
            pnc_format_word_store((uint32_t)(value >> 32), w->p + w->pos);
        pnc_format_word_store((uint32_t)value, w->p + w->pos + bytes - 4);
    }
    w->pos += bytes;
}

/* NON_NEG and NumberOfElements of the specification: 8 bytes in CDF-5, else 4. */
static void put_count(writer *w, int64_t value)
{
    put_word(w, (uint64_t)value, pnc_format_count_get_size(w->format));
}

static void put_padded(writer *w, const void *bytes, int64_t n)
{
    int64_t padding = pnc_format_size_get_padded(n) - n;

    if (w->p != NULL) {
        if (n > 0)
            memcpy(w->p + w->pos, bytes, (size_t)n);
        for (int64_t i = n; i < n + padding; i++)
            w->p[w->pos + i] = 0;
    }
    w->pos += n + padding;
}

static void put_name(writer *w, const char *name)
{
    int64_t n = (int64_t)strlen(name);

    put_count(w, n);
    put_padded(w, name, n);
}

/* An empty list is ABSENT: tag 0. */
static void put_list(writer *w, int tag, int n)
{
    put_word(w, n > 0 ? (uint64_t)tag : 0, 4);
    put_count(w, n);
}

static void put_dim(writer *w, const pnc_dim *dim)
{
    put_name(w, dim->name);
    put_count(w, dim->len);
}

static void put_att(writer *w, const pnc_att *att)
{
    put_name(w, att->name);
    put_word(w, (uint64_t)att->type, 4);
    put_count(w, att->len);
    put_padded(w, att->value, att->len * (int64_t)pnc_type_get_size(att->type));
}

static void put_atts(writer *w, const pnc_atts *atts)
{
    put_list(w, PNC_TAG_ATTRIBUTE, atts->n);
    for (int i = 0; i < atts->n; i++) {
        if (w->p != NULL)
            atts->at[i]->classic.where = w->pos;
        put_att(w, atts->at[i]);
    }
}

int64_t pnc_format_var_compute_vsize(const pnc_var *var, int format)
{
    int64_t padded = var->size > INT64_MAX - 3 ? INT64_MAX - 3 : pnc_format_size_get_padded(var->size);

    return format < 5 && padded > UINT32_MAX ? UINT32_MAX : padded;
}

static void put_var_head(writer *w, const pnc_var *var)
{
    put_name(w, var->name);
    put_count(w, var->ndims);
    for (int i = 0; i < var->ndims; i++)
        put_count(w, var->dimids[i]);
}

static void put_var_tail(writer *w, const pnc_var *var)
{
    put_word(w, (uint64_t)var->type, 4);
    put_count(w, pnc_format_var_compute_vsize(var, w->format));
    put_word(w, (uint64_t)var->classic.begin, pnc_format_offset_get_size(w->format));
}

/* "CDF", the version, and numrecs. */
static void put_magic(writer *w, const pnc_model *model)
{
    put_word(w, 0x43444600u | (unsigned)model->format, 4);
    put_count(w, model->numrecs);
}

static void put_header(writer *w, const pnc_model *model)
{
    put_magic(w, model);
    put_list(w, PNC_TAG_DIMENSION, model->ndims);
    for (int i = 0; i < model->ndims; i++) {
        if (w->p != NULL)
            model->dims[i]->classic.where = w->pos;
        put_dim(w, model->dims[i]);
    }
    put_atts(w, &model->gatts);
    put_list(w, PNC_TAG_VARIABLE, model->nvars);
    for (int i = 0; i < model->nvars; i++) {
        pnc_var *var = model->vars[i];
        if (w->p != NULL)
            var->classic.where = w->pos;
        put_var_head(w, var);
        put_atts(w, &var->atts);
        put_var_tail(w, var);
    }
}

int64_t pnc_format_header_get_size(const pnc_model *model)
{
    writer w = {NULL, 0, model->format};

    put_header(&w, model);
    return w.pos;
}

void pnc_format_header_encode(pnc_model *model, void *buf)
{
    writer w = {buf, 0, model->format};

    put_header(&w, model);
    assert(w.pos == pnc_format_header_get_size(model));
}

int64_t pnc_format_att_encode(const pnc_model *model, const pnc_att *att, void *buf)
{
    writer w = {buf, 0, model->format};

    put_att(&w, att);
    return w.pos;
}

int64_t pnc_format_name_encode(const pnc_model *model, const char *name, void *buf)
{
    writer w = {buf, 0, model->format};

    put_name(&w, name);
    return w.pos;
}

/* --- up to an entry --- */

static void put_first_atts(writer *w, const pnc_atts *atts, int n)
{
    put_list(w, PNC_TAG_ATTRIBUTE, atts->n);
    for (int i = 0; i < n; i++)
        put_att(w, atts->at[i]);
}

static void put_front(writer *w, const pnc_model *model, int ndims)
{
    put_magic(w, model);
    put_list(w, PNC_TAG_DIMENSION, model->ndims);
    for (int i = 0; i < ndims; i++)
        put_dim(w, model->dims[i]);
}

static bool is_in_var(pnc_entry entry)
{
    return entry.dimid < 0 && entry.varid != NC_GLOBAL;
}

int64_t pnc_format_entry_get_anchor(const pnc_model *model, pnc_entry entry)
{
    return is_in_var(entry) ? model->vars[entry.varid]->classic.where : 0;
}

int64_t pnc_format_entry_encode(const pnc_model *model, pnc_entry entry, void *buf)
{
    writer w = {buf, 0, model->format};

    if (is_in_var(entry))
        put_var_head(&w, model->vars[entry.varid]);
    else
        put_front(&w, model, entry.dimid >= 0 ? entry.dimid + 1 : model->ndims);
    if (entry.att >= 0)
        put_first_atts(&w, pnc_format_atts_get(model, entry.varid), entry.att + 1);
    return w.pos;
}

static bool is_same_att(const pnc_att *a, const pnc_att *b)
{
    return a->classic.where == b->classic.where && a->type == b->type && a->len == b->len &&
           strcmp(a->name, b->name) == 0;
}

bool pnc_format_entry_is_same(const pnc_model *a, const pnc_model *b, pnc_entry entry)
{
    const pnc_atts *of_a, *of_b;
    int varid = entry.varid, dimid = entry.dimid;

    if (a->format != b->format)
        return false;
    if (dimid >= 0)
        return dimid < b->ndims && a->dims[dimid]->classic.where == b->dims[dimid]->classic.where &&
               strcmp(a->dims[dimid]->name, b->dims[dimid]->name) == 0;
    if (varid != NC_GLOBAL && (varid >= b->nvars || a->vars[varid]->classic.where != b->vars[varid]->classic.where ||
                               strcmp(a->vars[varid]->name, b->vars[varid]->name) != 0))
        return false;
    if (entry.att < 0)
        return true;
    of_a = pnc_format_atts_get(a, varid);
    of_b = pnc_format_atts_get(b, varid);
    return entry.att < of_b->n && is_same_att(of_a->at[entry.att], of_b->at[entry.att]);
}

int pnc_format_numrecs_encode(const pnc_model *model, void *buf)
{
    writer w = {buf, 0, model->format};

    put_count(&w, model->numrecs);
    return (int)w.pos;
}
