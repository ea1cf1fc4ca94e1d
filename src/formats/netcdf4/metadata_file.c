/* An HDF5 file: opened, created, and committed. */
#include "formats/netcdf4/metadata_hdf5.h"

#include <stdio.h>
#include <string.h>

#include "config.h"

#include "base/memory.h"
#include "base/minmax.h"
#include "formats/netcdf4/redo.h"

/* --- creating --- */

/* Creation order of links and attributes, which netCDF-C needs to change a file; every address is new, so that chunks
 * stay where they were put. */
static hid_t make_file_properties(const pnc_hdf5 *h)
{
    const unsigned order = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
    hid_t fcpl = h->p_create(h->file_create);

    if (fcpl >= 0 && h->p_set_link_creation_order(fcpl, order) >= 0 && h->p_set_attr_creation_order(fcpl, order) >= 0 &&
        h->p_set_obj_track_times(fcpl, false) >= 0 &&
        h->p_set_file_space_strategy(fcpl, H5F_FSPACE_STRATEGY_NONE, false, 1) >= 0)
        return fcpl;
    if (fcpl >= 0)
        h->p_close(fcpl);
    return -1;
}

/* Which libraries made the file, and whether it keeps the rules of the classic model. */
static int write_provenance(pnc_netcdf4_metadata *m, int version)
{
    unsigned major = 0, minor = 0, release = 0;
    const int strict = 1;
    char text[120];

    m->h->get_libversion(&major, &minor, &release);
    snprintf(text, sizeof text, "version=2,pnetcdf=%s,hdf5=%u.%u.%u", PACKAGE_VERSION, major, minor, release);
    PNC_TRY(pnc_netcdf4_atts_put_text(m, m->root, "_NCProperties", text, (int64_t)strlen(text)));
    if (version != NC_FORMAT_NETCDF4_CLASSIC)
        return NC_NOERR;
    return pnc_netcdf4_atts_put_integers(m, m->root, "_nc3_strict", &strict, 1, true);
}

/* --- opening and closing --- */

/* Whether HDF5 looks for addresses in space that was freed, too. What it knows of such space must not be in the file:
 * when it reads it, it takes back the end of allocation, behind which chunks are put. */
static int find_strategy(pnc_netcdf4_metadata *m)
{
    H5F_fspace_strategy_t strategy = H5F_FSPACE_STRATEGY_FSM_AGGR;
    hid_t fcpl = m->h->f_get_create_plist(m->file);
    hbool_t persists = false;
    hsize_t threshold;

    if (fcpl >= 0) {
        m->h->p_get_file_space_strategy(fcpl, &strategy, &persists, &threshold);
        m->h->p_close(fcpl);
    }
    m->tracks_space = strategy == H5F_FSPACE_STRATEGY_FSM_AGGR;
    m->has_pages = strategy == H5F_FSPACE_STRATEGY_PAGE;
    if (!persists)
        return NC_NOERR;
    return pnc_error_set(m->source.file->error, NC_ENOTSUPPORT,
                         "%s: this HDF5 file has a list of its free space, with which this library does not change "
                         "it: open it without NC_WRITE",
                         m->source.file->path);
}

/* Files of HDF5's superblock 3 say that they are open for writing, until they are closed. */
static bool has_open_mark(pnc_netcdf4_metadata *m)
{
    H5F_info2_t info;

    return m->source.is_writable && m->h->f_get_info(m->file, &info) >= 0 && info.super.version >= 3;
}

/* HDF5 refuses the file: most often as a copy of it was interrupted. */
static int fail_to_open(pnc_netcdf4_metadata *m)
{
    char front[PNC_REDO_FRONT];
    int64_t n = pnc_min64(m->source.size, PNC_REDO_FRONT), stated = 0;

    if (pnc_file_range_read(m->source.file, (pnc_extent){0, n}, front) == NC_NOERR)
        stated = pnc_netcdf4_front_get_length(front, n);
    if (stated > m->source.size)
        return pnc_error_set(m->source.file->error, NC_EHDFERR,
                             "%s: the file is truncated: it has %lld bytes of %lld, and HDF5 reads none of them",
                             m->source.file->path, (long long)m->source.size, (long long)stated);
    return pnc_netcdf4_metadata_fail(m, "open group", "/");
}

/* Where the superblock is. */
static int find_base(pnc_netcdf4_metadata *m)
{
    hid_t fcpl = m->h->f_get_create_plist(m->file);
    hsize_t bytes = 0;
    bool good = fcpl >= 0 && m->h->p_get_userblock(fcpl, &bytes) >= 0 && bytes <= (hsize_t)INT64_MAX;

    if (fcpl >= 0)
        m->h->p_close(fcpl);
    m->base = (int64_t)bytes;
    return good ? NC_NOERR : pnc_netcdf4_metadata_fail(m, "find the first byte of", "/");
}

/* The library has begun. version 0: the file exists. */
static int open_hdf5_file(pnc_netcdf4_metadata *m, int version)
{
    hid_t fcpl = version == 0 ? -1 : make_file_properties(m->h);

    if (version == 0 || fcpl >= 0)
        m->file = pnc_netcdf4_source_open(m->h, &m->source, fcpl);
    if (fcpl >= 0)
        m->h->p_close(fcpl);
    if (m->file < 0 && version == 0)
        return fail_to_open(m);
    if (m->file >= 0)
        m->root = m->h->g_open(m->file, "/", H5P_DEFAULT);
    if (m->root < 0)
        return pnc_netcdf4_metadata_fail(m, version == 0 ? "open group" : "create group", "/");
    PNC_TRY(find_base(m));
    m->has_open_mark = has_open_mark(m);
    if (m->source.is_writable)
        PNC_TRY(find_strategy(m));
    m->committed = pnc_netcdf4_source_get_end(&m->source);
    return version == 0 ? NC_NOERR : write_provenance(m, version);
}

static int open_metadata(pnc_file *file, int64_t size, bool is_writable, int version, pnc_netcdf4_metadata **out)
{
    pnc_netcdf4_metadata *m = pnc_memory_alloc_zeroed(1, sizeof *m);
    pnc_hdf5_visit visit;
    int err;

    if (m == NULL)
        return pnc_error_set(file->error, NC_ENOMEM, "%s: no memory to read metadata", file->path);
    m->file = m->root = m->dataset = -1;
    err = pnc_netcdf4_source_init(&m->source, file, size);
    m->source.is_writable = is_writable;
    if (err == NC_NOERR) {
        m->h = pnc_netcdf4_library_begin(&visit, file->error);
        err = m->h == NULL ? NC_ENOTBUILT : NC_NOERR;
    }
    if (err == NC_NOERR) {
        err = open_hdf5_file(m, version);
        pnc_netcdf4_library_end(&visit);
    }
    if (err != NC_NOERR) {
        pnc_netcdf4_metadata_close(m);
        return err;
    }
    *out = m;
    return NC_NOERR;
}

int pnc_netcdf4_metadata_open(pnc_file *file, int64_t size, bool is_writable, pnc_netcdf4_metadata **out)
{
    return open_metadata(file, size, is_writable, 0, out);
}

int pnc_netcdf4_metadata_create(pnc_file *file, int version, pnc_netcdf4_metadata **out)
{
    return open_metadata(file, 0, true, version, out);
}

void pnc_netcdf4_dataset_close(pnc_netcdf4_metadata *m)
{
    if (m->dataset >= 0)
        m->h->d_close(m->dataset);
    m->dataset = -1;
    pnc_memory_free(m->path);
    m->path = NULL;
    m->has_written = false;
}

static void close_hdf5_file(pnc_netcdf4_metadata *m)
{
    pnc_netcdf4_dataset_close(m);
    if (m->root >= 0)
        m->h->g_close(m->root);
    m->h->f_close(m->file);
    m->file = m->root = -1;
}

void pnc_netcdf4_metadata_close(pnc_netcdf4_metadata *m)
{
    pnc_hdf5_visit visit;

    if (m == NULL)
        return;
    m->source.drops = true;
    if (m->file >= 0 && pnc_netcdf4_library_begin(&visit, NULL) != NULL) {
        close_hdf5_file(m);
        pnc_netcdf4_library_end(&visit);
    }
    pnc_netcdf4_source_free(&m->source);
    pnc_memory_free(m);
}

/* --- the end of allocation --- */

int64_t pnc_netcdf4_metadata_get_end(const pnc_netcdf4_metadata *m)
{
    return m->source.end;
}

void pnc_netcdf4_metadata_raise_end(pnc_netcdf4_metadata *m, int64_t end)
{
    m->source.end = pnc_max64(m->source.end, end);
}

/* --- commit --- */

int64_t pnc_netcdf4_metadata_get_pending_bytes(const pnc_netcdf4_metadata *m)
{
    return pnc_netcdf4_unwritten_get_bytes(&m->source.unwritten);
}

/* A file that says it is open is closed until it is committed. */
static int flush_hdf5_file(pnc_netcdf4_metadata *m)
{
    pnc_hdf5_visit visit;
    int err = NC_NOERR;

    if (pnc_netcdf4_library_begin(&visit, m->source.file->error) == NULL)
        return NC_ENOTBUILT;
    if (m->h->f_flush(m->file, H5F_SCOPE_LOCAL) < 0)
        err = pnc_netcdf4_metadata_fail(m, "write", "/");
    if (err == NC_NOERR && m->has_open_mark)
        close_hdf5_file(m);
    pnc_netcdf4_library_end(&visit);
    return err;
}

int pnc_netcdf4_metadata_restore(pnc_netcdf4_metadata *m)
{
    const int64_t committed = m->committed;
    pnc_hdf5_visit visit;
    int err;

    if (m->file >= 0)
        return NC_NOERR;
    if (pnc_netcdf4_library_begin(&visit, m->source.file->error) == NULL)
        return NC_ENOTBUILT;
    err = open_hdf5_file(m, 0);
    pnc_netcdf4_library_end(&visit);
    m->committed = committed;
    return err;
}

int pnc_netcdf4_metadata_list(pnc_netcdf4_metadata *m, pnc_redo *redo)
{
    pnc_hdf5_source *s = &m->source;
    pnc_extent *extents;
    int64_t n;
    char *bytes;

    PNC_TRY(pnc_netcdf4_metadata_write_fills(m));
    PNC_TRY(flush_hdf5_file(m));
    if (!pnc_netcdf4_unwritten_list(&s->unwritten, &extents, &n, &bytes))
        return pnc_error_set(s->file->error, NC_ENOMEM, "%s: no memory to write metadata", s->file->path);
    pnc_netcdf4_redo_init(redo, extents, n, bytes, s->end, m->base);
    return NC_NOERR;
}

int pnc_netcdf4_metadata_discard_writes(pnc_netcdf4_metadata *m)
{
    pnc_hdf5_source *s = &m->source;

    pnc_netcdf4_unwritten_clear(&s->unwritten);
    pnc_netcdf4_source_clear(s);
    s->size = m->committed = pnc_netcdf4_source_get_end(s);
    return pnc_netcdf4_metadata_restore(m);
}
