/* Values that are strings: each rank reads them by libhdf5. */
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/minmax.h"
#include "format/strings.h"
#include "formats/netcdf4/netcdf4.h"

/* The part of a hyperslab that the dataset has: it may be shorter than its unlimited dimensions. Number of its
 * elements. */
static int64_t clip_hyperslab(int ndims, const int64_t *extent, const int64_t *start, const int64_t *count,
                              int64_t *inside)
{
    int64_t n = 1;

    for (int d = 0; d < ndims; d++) {
        inside[d] = pnc_max64(0, pnc_min64(count[d], extent[d] - start[d]));
        n *= inside[d];
    }
    return n;
}

/* The place among all elements of the next one that the dataset has; index: that one, which is changed. */
static int64_t find_next_place(int ndims, const int64_t *count, const int64_t *inside, int64_t *index)
{
    int64_t place = 0;

    for (int d = 0; d < ndims; d++)
        place = place * count[d] + index[d];
    for (int d = ndims - 1; d >= 0; d--) {
        if (++index[d] < inside[d])
            break;
        index[d] = 0;
    }
    return place;
}

/* Where they belong among all. */
static void place_found(int ndims, const int64_t *count, const int64_t *inside, pnc_reader_strings *found, char **out)
{
    int64_t index[PNC_STORAGE_DIMS_MOST] = {0};

    for (int64_t i = 0; i < found->n; i++) {
        int64_t place = find_next_place(ndims, count, inside, index);

        pnc_memory_free(out[place]);
        out[place] = found->at[i];
        found->at[i] = NULL;
    }
}

/* Those that libhdf5 has; others are the fill value, as in netCDF-C. */
static int get_stored_strings(pnc_netcdf4 *n, int varid, const int64_t *start, const int64_t *count, int64_t all,
                              char **out)
{
    const pnc_netcdf4_storage *s = &n->content.storage[varid];
    const pnc_var *var = n->format.model->vars[varid];
    int64_t extent[PNC_STORAGE_DIMS_MOST], inside[PNC_STORAGE_DIMS_MOST], has;
    pnc_reader_strings found = {0};

    PNC_TRY(pnc_netcdf4_handle_get(n));
    PNC_TRY(pnc_netcdf4_metadata_get_extent(n->metadata, s->path, var->ndims, extent));
    has = clip_hyperslab(var->ndims, extent, start, count, inside);
    if (has < all && !pnc_format_strings_fill(var, all, out))
        return pnc_formats_memory_fail(&n->format, all);
    if (has > 0)
        PNC_TRY(pnc_netcdf4_metadata_read_strings(n->metadata, s->path, var->ndims, start, inside, &found));
    place_found(var->ndims, count, inside, &found, out);
    pnc_formats_strings_free(&found);
    return NC_NOERR;
}

/* --- beside a program that writes the file --- */

/* File systems count the time of a change in ticks of the kernel, of at most 10 ms: in a tick that has passed there is
 * no further change. TICK: two of them, in nanoseconds. ATTEMPTS: about a second. A guess */
enum { TICK = 20 * 1000 * 1000, ATTEMPTS = 50 };

/* A time that is still to come is of a server whose clock is ahead: it says nothing. */
static bool has_settled(int64_t change)
{
    struct timespec now;
    int64_t age;

    clock_gettime(CLOCK_REALTIME, &now);
    age = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec - change;
    return age > TICK || age < 0;
}

/* The file may be shorter: behind its end is the log of a commit while that is written. */
static int open_again(pnc_netcdf4 *n)
{
    pnc_netcdf4_handle_release(n);
    n->format.file->store->end->least_size = 0;
    return pnc_file_get_size(n->format.file, &n->end);
}

/* Strings of one commit would be found in heaps of another: they count if the file has not changed since libhdf5 opened
 * it, which otherwise opens it again. */
static int get_settled_strings(pnc_netcdf4 *n, int varid, const int64_t *start, const int64_t *count, int64_t all,
                               char **out)
{
    static const struct timespec tick = {.tv_nsec = TICK};

    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        int64_t change = pnc_file_get_change(n->format.file);
        int err;

        if (!has_settled(change)) {
            nanosleep(&tick, NULL);
            continue;
        }
        if (change != n->opened)
            PNC_TRY(open_again(n));
        err = get_stored_strings(n, varid, start, count, all, out);
        if (n->opened == change && pnc_file_get_change(n->format.file) == change)
            return err;
        for (int64_t i = 0; i < all; i++) {
            pnc_memory_free(out[i]);
            out[i] = NULL;
        }
    }
    pnc_error_clear(n->format.file->error);
    return pnc_error_set(n->format.file->error, NC_EINTERRUPTED,
                         "%s: another program writes this file again and again, while strings of variable \"%s\" are "
                         "read: get them later",
                         n->format.file->path, n->format.model->vars[varid]->name);
}

/* The caller has set `out` to NULLs, and checked the hyperslab. */
int pnc_netcdf4_strings_get(pnc_format *f, int varid, const int64_t *start, const int64_t *count, bool collective,
                            char **out)
{
    pnc_netcdf4 *n = pnc_netcdf4_state_get(f);
    int64_t all = 1;

    if (collective && n->strings.are_dirty && f->file->nprocs > 1)
        PNC_TRY(pnc_netcdf4_chunks_flush(f, NC_NOERR, NULL));
    for (int d = 0; d < f->model->vars[varid]->ndims; d++)
        all *= count[d];
    if (all == 0)
        return NC_NOERR;
    PNC_TRY(f->file->read_only ? get_settled_strings(n, varid, start, count, all, out)
                               : get_stored_strings(n, varid, start, count, all, out));
    return pnc_netcdf4_strings_replace(n, varid, start, count, out);
}
