/* The addresses of variables, with the store that has them, while others replace them. */
#include "base/memory.h"
#include "formats/netcdf4/netcdf4.h"

static void exchange_var_addresses(const pnc_netcdf4 *n, pnc_netcdf4_var *vars)
{
    for (int i = 0; i < n->format.model->nvars; i++) {
        pnc_netcdf4_var other = vars[i];

        vars[i] = n->format.model->vars[i]->netcdf4;
        n->format.model->vars[i]->netcdf4 = other;
    }
}

int pnc_netcdf4_addresses_take(pnc_netcdf4 *n, pnc_netcdf4_addresses *old)
{
    pnc_file *file = n->format.file;
    int nvars = n->format.model->nvars;

    old->vars = pnc_memory_alloc_zeroed(nvars, sizeof *old->vars);
    if (old->vars == NULL)
        return pnc_formats_memory_fail(&n->format, nvars * (int64_t)sizeof *old->vars);
    exchange_var_addresses(n, old->vars);
    old->store = file->store;
    old->arrays = n->content.arrays;
    old->narrays = n->content.narrays;
    old->varids = n->content.varids;
    old->lacks_space = n->format.lacks_space;
    n->content.arrays = NULL;
    n->content.varids = NULL;
    file->store = file->store->inner;
    n->has_chunks = false;
    return NC_NOERR;
}

void pnc_netcdf4_addresses_restore(pnc_netcdf4 *n, pnc_netcdf4_addresses *old)
{
    if (old->vars == NULL)
        return;
    pnc_netcdf4_store_detach(n);
    pnc_memory_free(n->content.arrays);
    pnc_memory_free(n->content.varids);
    exchange_var_addresses(n, old->vars);
    n->format.file->store = old->store;
    n->has_chunks = true;
    n->content.arrays = old->arrays;
    n->content.narrays = old->narrays;
    n->content.varids = old->varids;
    n->format.lacks_space = old->lacks_space;
    pnc_memory_free(old->vars);
}

void pnc_netcdf4_addresses_discard(pnc_netcdf4_addresses *old)
{
    (void)pnc_chunks_store_detach(old->store);
    pnc_memory_free(old->arrays);
    pnc_memory_free(old->varids);
    pnc_memory_free(old->vars);
}
