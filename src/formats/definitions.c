/* Definitions that ranks adopt, and changes of names and attributes in data mode. */
#include "formats/definitions.h"

#include "format/codec.h"
#include "format/storage.h"
#include "format/strings.h"
#include "formats/difference.h"

/* The attributes of quantization may be those of a file that was copied: values are put as before. And what the program
 * has chosen remains its choice. */
static void keep_choices(const pnc_model *from, pnc_model *to)
{
    to->casts = from->casts;
    for (int i = 0; i < from->nvars && i < to->nvars; i++) {
        const pnc_storage *chosen = from->vars[i]->storage;
        pnc_storage *storage = to->vars[i]->storage;

        to->vars[i]->quantize_mode = from->vars[i]->quantize_mode;
        to->vars[i]->nsd = from->vars[i]->nsd;
        to->vars[i]->error_mode = from->vars[i]->error_mode;
        to->vars[i]->error_bound = from->vars[i]->error_bound;
        if (chosen == NULL || storage == NULL)
            continue;
        storage->chosen_layout = chosen->chosen_layout;
        storage->chosen_shards = chosen->chosen_shards;
        storage->chosen_filters = chosen->chosen_filters;
        storage->chosen_quantization = chosen->chosen_quantization;
    }
}

/* Whether attributes are not the same ones. Their order may be another one: Zarr stores do not keep that of all. */
static bool have_other_atts(const pnc_atts *a, const pnc_atts *b)
{
    bool differ = a->n != b->n;

    for (int i = 0; i < a->n && !differ; i++) {
        int at = pnc_format_atts_find(b, a->at[i]->name);

        differ = at < 0 || !pnc_format_att_is_same(a->at[i], b->at[at]);
    }
    return differ;
}

void pnc_formats_definitions_adopt(pnc_format *f, pnc_model *found)
{
    keep_choices(f->model, found);
    pnc_formats_difference_explain(f->model, found, f->difference, sizeof f->difference);
    f->overruled = f->difference[0] != '\0' || have_other_atts(&f->model->gatts, &found->gatts);
    for (int i = 0; i < found->nvars && !f->overruled; i++)
        f->overruled = have_other_atts(&f->model->vars[i]->atts, &found->vars[i]->atts);
}

static int64_t measure_att(int type, int64_t len)
{
    return pnc_format_size_get_padded(len * (int64_t)pnc_type_get_size(type));
}

int pnc_formats_change_check(pnc_format *f, const pnc_format_change *change)
{
    const pnc_att *att;

    if (change->name != NULL || f->model->format != NC_FORMAT_NETCDF4_CLASSIC)
        return NC_NOERR;
    att = pnc_format_atts_get(f->model, change->entry.varid)->at[change->entry.att];
    if (measure_att(change->type, change->len) <= measure_att(att->type, att->len))
        return NC_NOERR;
    return pnc_error_set(f->file->error, NC_ENOTINDEFINE, "attribute \"%s\" would grow: call ncmpi_redef first",
                         att->name);
}

int pnc_formats_rename_check(pnc_format *f, int varid, const char *name)
{
    (void)f;
    (void)varid;
    (void)name;
    return NC_NOERR;
}

int pnc_formats_change_apply(pnc_format *f, const pnc_format_change *change)
{
    pnc_atts *atts = change->entry.dimid >= 0 ? NULL : pnc_format_atts_get(f->model, change->entry.varid);

    if (change->name != NULL)
        return pnc_format_entry_rename(f->model, change->entry, change->name, f->file->error);
    if (change->strings.lengths != NULL)
        return pnc_format_atts_put_strings(f->model, atts, atts->at[change->entry.att]->name, &change->strings,
                                           change->value, f->file->error);
    return pnc_format_atts_put(f->model, atts, atts->at[change->entry.att]->name, change->type, change->len,
                               change->value, f->file->error);
}
