/* Names and attributes that change in data mode. Programs rename many variables one by one, and overwrite attributes
 * again and again: what takes as many bytes as before is written over the old bytes, without a copy of all definitions.
 * Otherwise the file gets a whole new header, which is not longer than the old one. */
#include <string.h>

#include "base/memory.h"
#include "file/agree.h"
#include "format/codec.h"
#include "formats/classic/classic.h"
#include "formats/classic/header_change.h"
#include "formats/classic/header_check.h"
#include "formats/classic/headerio.h"
#include "formats/classic/records.h"

static pnc_att *get_att(const pnc_format *f, pnc_entry entry)
{
    return pnc_format_atts_get(f->model, entry.varid)->at[entry.att];
}

static int64_t measure_value(const pnc_att *att)
{
    return att->len * (int64_t)pnc_type_get_size(att->type);
}

/* --- where it is --- */

/* The name of an entry in the model. In the header, the entry begins with it. */
typedef struct entry_name {
    char **at;
    pnc_table *names; /* of all such entries */
    int index;
    int64_t where; /* -1: unknown */
} entry_name;

static entry_name find_name(const pnc_format *f, pnc_entry entry)
{
    pnc_model *model = f->model;
    pnc_att *att;

    if (entry.dimid >= 0)
        return (entry_name){&model->dims[entry.dimid]->name, &model->dim_names, entry.dimid,
                            model->dims[entry.dimid]->classic.where};
    if (entry.att < 0)
        return (entry_name){&model->vars[entry.varid]->name, &model->var_names, entry.varid,
                            model->vars[entry.varid]->classic.where};
    att = get_att(f, entry);
    return (entry_name){&att->name, &pnc_format_atts_get(model, entry.varid)->names, entry.att, att->classic.where};
}

/* The bytes that change: a name, or an attribute. *length: how many there will be. */
static pnc_extent locate_change(const pnc_format *f, const pnc_format_change *change, int64_t *length)
{
    pnc_att changed;
    entry_name name = find_name(f, change->entry);

    if (change->name != NULL) {
        *length = pnc_format_name_encode(f->model, change->name, NULL);
        return (pnc_extent){name.where, pnc_format_name_encode(f->model, *name.at, NULL)};
    }
    changed = *get_att(f, change->entry);
    changed.type = change->type;
    changed.len = change->len;
    *length = pnc_format_att_encode(f->model, &changed, NULL);
    return (pnc_extent){name.where, pnc_format_att_encode(f->model, get_att(f, change->entry), NULL)};
}

/* The same on all ranks. */
static bool find_change_place(const pnc_format *f, const pnc_format_change *change, pnc_extent *where)
{
    int64_t length;

    *where = locate_change(f, change, &length);
    if (change->name == NULL && measure_value(get_att(f, change->entry)) > PNC_HEADER_PAGE)
        return false;
    return where->offset >= 0 && where->length == length;
}

static int check_value_size(const pnc_format *f, const pnc_format_change *change)
{
    const pnc_att *att = get_att(f, change->entry);
    int varid = change->entry.varid;

    if (pnc_format_size_get_padded(change->len * (int64_t)pnc_type_get_size(change->type)) <=
        pnc_format_size_get_padded(measure_value(att)))
        return NC_NOERR;
    return pnc_error_set(f->file->error, NC_ENOTINDEFINE, "attribute \"%.*s:%.*s\" would grow: call ncmpi_redef first",
                         NC_MAX_NAME, varid == NC_GLOBAL ? "" : f->model->vars[varid]->name, NC_MAX_NAME, att->name);
}

int pnc_classic_change_check(pnc_format *f, const pnc_format_change *change)
{
    pnc_extent where;

    if (change->name == NULL)
        PNC_TRY(check_value_size(f, change));
    else if (find_change_place(f, change, &where))
        return NC_NOERR;
    return pnc_format_names_check(f->model, f->file->error); /* the whole header may be written */
}

/* --- in place --- */

/* An attribute before it is overwritten. */
typedef struct kept_att {
    pnc_att *at, was;
    char bytes[PNC_HEADER_PAGE]; /* of its values */
} kept_att;

static void keep_att(pnc_att *att, kept_att *out)
{
    out->at = att;
    out->was = *att;
    if (measure_value(att) > 0)
        memcpy(out->bytes, att->value, (size_t)measure_value(att));
}

/* Its memory is still there, as the model owns it. */
static void restore_att(pnc_atts *atts, int index, const kept_att *kept)
{
    atts->at[index] = kept->at;
    *kept->at = kept->was;
    if (measure_value(kept->at) > 0)
        memcpy(kept->at->value, kept->bytes, (size_t)measure_value(kept->at));
}

/* The change of the model. */
static int apply_value(pnc_format *f, const pnc_format_change *change)
{
    return pnc_format_atts_put(f->model, pnc_format_atts_get(f->model, change->entry.varid),
                               get_att(f, change->entry)->name, change->type, change->len, change->value,
                               f->file->error);
}

static int apply_name(pnc_format *f, const pnc_format_change *change)
{
    return pnc_format_entry_rename(f->model, change->entry, change->name, f->file->error);
}

static int overwrite_value(pnc_format *f, const pnc_format_change *change, pnc_extent where)
{
    pnc_atts *atts = pnc_format_atts_get(f->model, change->entry.varid);
    int index = change->entry.att;
    kept_att kept;
    pnc_att old;
    pnc_rewrite rewrite = {.where = where, .old_att = &old};
    int err = pnc_classic_header_entry_check(f, change->entry, &rewrite.is_known);

    keep_att(atts->at[index], &kept);
    old = kept.was;
    old.value = kept.bytes;
    if (err == NC_NOERR)
        err = apply_value(f, change);
    rewrite.att = atts->at[index];
    err = pnc_classic_header_entry_write(f, err, &rewrite);
    if (err != NC_NOERR)
        restore_att(atts, index, &kept);
    return err;
}

static int overwrite_name(pnc_format *f, const pnc_format_change *change, pnc_extent where)
{
    entry_name name = find_name(f, change->entry);
    pnc_rewrite rewrite = {.where = where, .old_name = *name.at};
    char *old = *name.at;
    int err = pnc_classic_header_entry_check(f, change->entry, &rewrite.is_known);

    if (err == NC_NOERR)
        err = apply_name(f, change);
    rewrite.name = *name.at;
    err = pnc_classic_header_entry_write(f, err, &rewrite);
    if (err != NC_NOERR)
        pnc_format_name_undo(name.names, name.index, name.at, old);
    return err;
}

/* --- a new header --- */

/* As by enddef. */
static int write_whole_header(pnc_format *f)
{
    char *bytes;
    int64_t n;
    int err;

    PNC_TRY(pnc_classic_numrecs_flush(f, NC_NOERR, NULL));
    f->before->numrecs = f->model->numrecs;
    f->model->classic.header_size = pnc_format_header_get_size(f->model);
    PNC_TRY(pnc_classic_header_agree(f, NC_NOERR, &bytes, &n));
    err = pnc_classic_header_update(f, bytes, n);
    pnc_memory_free(bytes);
    return err;
}

static int replace_header(pnc_format *f, const pnc_format_change *change)
{
    int err = pnc_formats_before_copy(f);

    if (err == NC_NOERR)
        err = change->name != NULL ? apply_name(f, change) : apply_value(f, change);
    err = pnc_file_status_agree(f->file, err);
    if (err == NC_NOERR)
        err = write_whole_header(f);
    if (err == NC_NOERR)
        pnc_formats_before_free(f);
    else
        pnc_formats_before_restore(f);
    return err;
}

int pnc_classic_change_execute(pnc_format *f, const pnc_format_change *change)
{
    pnc_extent where;

    if (!find_change_place(f, change, &where))
        return replace_header(f, change);
    return change->name != NULL ? overwrite_name(f, change, where) : overwrite_value(f, change, where);
}
