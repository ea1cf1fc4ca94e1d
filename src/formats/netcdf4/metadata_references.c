/* References between the datasets of a file and the scales of their dimensions. */
#include "formats/netcdf4/metadata_define.h"

#include <stdlib.h>

#include "base/memory.h"

/* The uses that datasets of this definition begin to make of each dimension, in lists. */
typedef struct new_use {
    int var, position;
    int next; /* -1: the last one */
} new_use;

typedef struct new_uses {
    new_use *at;
    int n;
    int *first;           /* of each dimension; -1: none */
    hobj_ref_t *detached; /* in ascending order */
    int ndetached;
} new_uses;

static void free_new_uses(new_uses *u)
{
    pnc_memory_free(u->at);
    pnc_memory_free(u->first);
    pnc_memory_free(u->detached);
}

static int compare_references(const void *a, const void *b)
{
    hobj_ref_t x = *(const hobj_ref_t *)a, y = *(const hobj_ref_t *)b;

    return x < y ? -1 : x > y;
}

static int lack_use_memory(pnc_definition *x)
{
    return pnc_error_set(x->error, NC_ENOMEM, "%s: no memory for the definitions", x->m->source.file->path);
}

static int collect_uses(pnc_definition *x, new_uses *u)
{
    const pnc_model *now = x->now;
    int64_t n = 0;

    for (int v = 0; v < now->nvars; v++)
        n += x->vars[v].attaches ? now->vars[v]->ndims : 0;
    *u = (new_uses){.at = n > INT32_MAX ? NULL : pnc_memory_alloc(n, sizeof *u->at),
                    .first = pnc_memory_alloc(now->ndims, sizeof *u->first),
                    .detached = pnc_memory_alloc(now->nvars, sizeof *u->detached)};
    if (u->at == NULL || u->first == NULL || u->detached == NULL)
        return lack_use_memory(x);
    for (int d = 0; d < now->ndims; d++)
        u->first[d] = -1;
    for (int v = now->nvars - 1; v >= 0; v--) { /* each list has the order of variables */
        const pnc_var *var = now->vars[v];

        if (x->vars[v].detaches)
            u->detached[u->ndetached++] = x->vars[v].reference;
        for (int k = var->ndims - 1; k >= 0 && (x->vars[v].attaches || x->vars[v].detaches); k--) {
            int d = var->dimids[k];

            x->dims[d].is_used_anew = true;
            if (!x->vars[v].attaches)
                continue;
            u->at[u->n] = (new_use){v, k, u->first[d]};
            u->first[d] = u->n++;
        }
    }
    if (u->ndetached > 0)
        qsort(u->detached, (size_t)u->ndetached, sizeof *u->detached, compare_references);
    return NC_NOERR;
}

/* --- one dimension --- */

static hid_t open_referred(pnc_netcdf4_metadata *m, hobj_ref_t reference)
{
    hid_t id = m->h->r_dereference(m->root, H5P_DEFAULT, H5R_OBJECT, &reference);

    if (id >= 0 && m->h->i_get_type(id) == H5I_DATASET)
        return id;
    if (id >= 0)
        m->h->o_close(id);
    return -1;
}

/* Also datasets that the model does not have, such as those of other groups. */
static int redirect_use(pnc_definition *x, const pnc_define_dim *dim, hobj_ref_t dataset)
{
    pnc_netcdf4_metadata *m = x->m;
    hid_t id = open_referred(m, dataset), space;
    int err, n = -1;

    if (id < 0)
        return NC_NOERR; /* it was deleted */
    space = m->h->d_get_space(id);
    if (space >= 0) {
        n = m->h->s_get_simple_extent_ndims(space);
        m->h->s_close(space);
    }
    err = pnc_netcdf4_dim_list_replace(m, id, n, dim->old, dim->now);
    m->h->o_close(id);
    return err;
}

/* Without those of datasets that are detached. */
static int keep_old_uses(pnc_definition *x, const pnc_define_dim *dim, const new_uses *u, pnc_scale_uses *uses)
{
    int64_t kept = 0;

    for (int64_t i = 0; i < uses->n; i++) {
        const pnc_scale_use *use = &uses->at[i];

        if (u->ndetached > 0 &&
            bsearch(&use->dataset, u->detached, (size_t)u->ndetached, sizeof *u->detached, compare_references) != NULL)
            continue;
        if (dim->is_changed)
            PNC_TRY(redirect_use(x, dim, use->dataset));
        uses->at[kept++] = *use;
    }
    uses->n = kept;
    return NC_NOERR;
}

static int add_new_uses(pnc_definition *x, int d, const new_uses *u, pnc_scale_uses *uses)
{
    int64_t n = uses->n;

    for (int i = u->first[d]; i >= 0; i = u->at[i].next)
        n++;
    if (!pnc_netcdf4_scale_uses_reserve(uses, n))
        return lack_use_memory(x);
    for (int i = u->first[d]; i >= 0; i = u->at[i].next)
        uses->at[uses->n++] = (pnc_scale_use){x->vars[u->at[i].var].reference, u->at[i].position};
    return NC_NOERR;
}

static int read_old_uses(pnc_definition *x, const pnc_define_dim *dim, pnc_scale_uses *uses)
{
    hid_t id = dim->old == 0 ? -1 : open_referred(x->m, dim->old);
    int err;

    if (dim->old == 0)
        return NC_NOERR;
    if (id < 0)
        return pnc_netcdf4_metadata_fail(x->m, "open the scales of group", "/");
    err = pnc_netcdf4_scale_uses_read(x->m, id, uses);
    x->m->h->o_close(id);
    return err;
}

static int update_dim_uses(pnc_definition *x, int d, const new_uses *u, pnc_scale_uses *uses)
{
    const pnc_define_dim *dim = &x->dims[d];
    hid_t id;
    int err;

    uses->n = 0;
    PNC_TRY(read_old_uses(x, dim, uses));
    PNC_TRY(keep_old_uses(x, dim, u, uses));
    PNC_TRY(add_new_uses(x, d, u, uses));
    id = x->m->h->d_open(x->m->root, x->now->dims[d]->name, H5P_DEFAULT);
    if (id < 0)
        return pnc_netcdf4_metadata_fail(x->m, "open dimension", x->now->dims[d]->name);
    err = pnc_netcdf4_scale_uses_write(x->m, id, uses);
    x->m->h->d_close(id);
    return err;
}

/* --- one variable --- */

static int update_var_scales(pnc_definition *x, int v)
{
    pnc_netcdf4_metadata *m = x->m;
    const pnc_var *var = x->now->vars[v];
    hobj_ref_t scales[PNC_STORAGE_DIMS_MOST];
    hid_t id = m->h->d_open(m->root, x->vars[v].path, H5P_DEFAULT);
    int err;

    if (id < 0)
        return pnc_netcdf4_metadata_fail(m, "open", x->vars[v].path);
    for (int k = 0; k < var->ndims; k++)
        scales[k] = x->dims[var->dimids[k]].now;
    err = x->vars[v].attaches ? pnc_netcdf4_dim_list_write(m, id, scales, var->ndims)
                              : pnc_netcdf4_dim_list_remove(m, id);
    m->h->d_close(id);
    return err;
}

static int update_references(pnc_definition *x, const new_uses *u, pnc_scale_uses *uses)
{
    for (int d = 0; d < x->now->ndims; d++)
        if (x->dims[d].is_changed || x->dims[d].is_used_anew)
            PNC_TRY(update_dim_uses(x, d, u, uses));
    for (int v = 0; v < x->now->nvars; v++)
        if (x->vars[v].attaches || x->vars[v].detaches)
            PNC_TRY(update_var_scales(x, v));
    return NC_NOERR;
}

int pnc_netcdf4_definition_attach(pnc_definition *x)
{
    pnc_scale_uses uses = {0};
    new_uses u;
    int err = collect_uses(x, &u);

    if (err == NC_NOERR)
        err = update_references(x, &u, &uses);
    pnc_memory_free(uses.at);
    free_new_uses(&u);
    return err;
}
