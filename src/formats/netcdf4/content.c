/* The definitions and the storage of variables that all ranks know: from a description. */
#include <string.h>

#include "base/memory.h"
#include "base/minmax.h"
#include "format/entries.h"
#include "formats/netcdf4/netcdf4.h"

void pnc_netcdf4_content_free(pnc_netcdf4_content *c)
{
    pnc_memory_free(c->arrays);
    pnc_memory_free(c->varids);
    pnc_region_free(&c->region);
    pnc_memory_free(c->bytes);
    memset(c, 0, sizeof *c);
}

int pnc_netcdf4_description_take(pnc_netcdf4 *n, pnc_format_bytes *found, const pnc_format_message *message)
{
    if (found->at != NULL)
        return NC_NOERR;
    found->at = pnc_memory_alloc(found->n, 1);
    if (found->at == NULL)
        return pnc_formats_memory_fail(&n->format, found->n);
    memcpy(found->at, message->bytes, (size_t)found->n);
    return NC_NOERR;
}

/* Variables of a file that is only read have the lengths of their dimensions at the time of open; those of one that may
 * change grow. */
static int allow_growth(pnc_model *model, pnc_error *error)
{
    model->nrecvars = 0;
    for (int i = 0; i < model->nvars; i++) {
        if (pnc_format_var_derive(model, model->vars[i]) < 0)
            return pnc_error_set(error, NC_EVARSIZE, "variable \"%s\" is larger than 2^63 bytes", model->vars[i]->name);
        model->nrecvars += model->vars[i]->is_record;
    }
    return NC_NOERR;
}

int pnc_netcdf4_content_adopt(pnc_netcdf4 *n, char **bytes, int64_t nbytes, pnc_model *model,
                              pnc_netcdf4_content *content)
{
    pnc_error *error = n->format.file->error;
    int err;

    memset(content, 0, sizeof *content);
    content->bytes = *bytes;
    *bytes = NULL;
    err = pnc_netcdf4_description_decode(content->bytes, nbytes, n->end, model, &content->region, &content->storage,
                                         error);
    if (n->format.asked != 0)
        model->rules = pnc_netcdf4_rules_get_asked(n->format.asked);
    if (err == NC_NOERR && !n->format.file->read_only)
        err = allow_growth(model, error);
    if (err == NC_NOERR)
        err = pnc_netcdf4_properties_set(model, content->storage, error);
    if (err == NC_NOERR)
        return NC_NOERR;
    pnc_format_model_free(model);
    pnc_netcdf4_content_free(content);
    return pnc_formats_path_add(&n->format, err);
}

void pnc_netcdf4_content_extend(pnc_netcdf4 *n)
{
    const pnc_model *model = n->format.model;

    for (int64_t i = 0; i < n->content.narrays; i++) {
        const pnc_var *var = model->vars[n->content.varids[i]];
        int64_t *extent = (int64_t *)n->content.arrays[i].extent;

        if (n->content.storage[n->content.varids[i]].layout != PNC_NETCDF4_CHUNKED)
            continue;
        for (int d = 0; d < var->ndims; d++)
            extent[d] = pnc_max64(extent[d], pnc_format_var_get_length(model, var, d));
    }
    if (n->has_chunks)
        pnc_chunks_store_update(n->format.file->store);
}
