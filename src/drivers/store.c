/* Behaviour common to all drivers. */
#include "drivers/store.h"

#include <assert.h>
#include <string.h>

void pnc_store_facts_set(pnc_store *store, int nnodes, pnc_neighbours neighbours, const pnc_striping *striping,
                         int64_t inode)
{
    for (; store != NULL; store = store->inner) {
        store->nnodes = nnodes;
        store->neighbours = neighbours;
        store->striping = *striping;
        store->identity.inode = inode;
    }
}

const struct pnc_objects *pnc_store_get_objects(const pnc_store *store)
{
    while (store->ops->get_objects == NULL)
        store = store->inner;
    return store->ops->get_objects(store);
}

bool pnc_store_has_neighbour(const pnc_store *store, int rank)
{
    int low = 0, high = store->neighbours.n;

    while (low < high) {
        int middle = low + (high - low) / 2;

        if (store->neighbours.ranks[middle] == rank)
            return true;
        if (store->neighbours.ranks[middle] < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

int pnc_store_pass_end(const pnc_store *store, const char *path, pnc_extent rest, int64_t size, char *to,
                       pnc_error *error)
{
    long long first = rest.offset, last = rest.offset + rest.length - 1, known = store->end->least_size;

    assert(rest.length > 0);
    if (size < known)
        return pnc_error_set(error, NC_EREAD,
                             "%s ends at byte %lld, but had %lld bytes before and was truncated while "
                             "it was open: bytes %lld to %lld are lost",
                             path, (long long)size, known, first, last);
    if (rest.offset < size)
        return pnc_error_set(error, NC_EREAD, "%s has %lld bytes, but the read at byte %lld returned none", path,
                             (long long)size, first);
    if (store->end->refuses_short)
        return pnc_error_set(error, NC_EREAD,
                             "%s ends at byte %lld, but the call reads bytes %lld to %lld: values "
                             "that were never written, or a truncated file; set the hint nc_short_file=zero to read "
                             "zeros",
                             path, (long long)size, first, last);
    memset(to, 0, (size_t)rest.length);
    return NC_NOERR;
}
