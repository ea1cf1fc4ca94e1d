/* A file that is only read, which another handle of this process has changed: its values as they are now. */
#include "formats/netcdf4/netcdf4.h"

/* Values of compact variables are in the description, which stays. */
static bool has_old_values(const pnc_netcdf4 *n)
{
    bool has = false;

    for (int i = 0; i < n->format.model->nvars; i++)
        has = has || n->content.storage[i].layout == PNC_NETCDF4_COMPACT;
    return has;
}

/* Contiguous variables may have got space. */
static int find_addresses(pnc_netcdf4 *n)
{
    for (int i = 0; i < n->format.model->nvars; i++) {
        pnc_netcdf4_storage *s = &n->content.storage[i];

        if (s->layout == PNC_NETCDF4_CONTIGUOUS && s->address < 0)
            PNC_TRY(pnc_netcdf4_metadata_get_address(n->metadata, s->path, &s->address));
    }
    return NC_NOERR;
}

/* The arrays are those of the file as it is now. */
static int attach_again(pnc_netcdf4 *n)
{
    pnc_netcdf4_addresses old = {.vars = NULL};
    int err = pnc_netcdf4_addresses_take(n, &old);

    if (err == NC_NOERR)
        err = pnc_netcdf4_handle_get(n);
    if (err == NC_NOERR)
        err = find_addresses(n);
    if (err == NC_NOERR)
        err = pnc_netcdf4_store_attach(n);
    if (err == NC_NOERR)
        pnc_netcdf4_addresses_discard(&old);
    else
        pnc_netcdf4_addresses_restore(n, &old);
    return err;
}

bool pnc_netcdf4_values_update(pnc_format *f)
{
    pnc_netcdf4 *n = pnc_netcdf4_state_get(f);
    pnc_file *file = f->file;
    int64_t end = n->end;

    if (!file->read_only || file->nprocs > 1 || !n->has_chunks || has_old_values(n))
        return false;
    pnc_netcdf4_handle_release(n);
    if (pnc_file_get_size(file, &n->end) == NC_NOERR && attach_again(n) == NC_NOERR) {
        pnc_file_end_raise(file, n->end);
        return true;
    }
    n->end = end;
    pnc_error_clear(file->error);
    return false;
}
