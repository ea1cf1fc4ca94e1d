/* A virtual file driver of HDF5. The library keeps it registered until the program ends. */
#include "formats/netcdf4/hdf5_driver.h"

#include <string.h>

#include "base/memory.h"
#include "base/minmax.h"

/* The driver's file, of which HDF5 knows the first member only. */
typedef struct hdf5_driver_file {
    H5FD_t pub;
    pnc_hdf5_source *source;
} hdf5_driver_file;

/* Under the lock of the library. */
static hid_t driver_id = -1;
static const pnc_hdf5 *driver_library;

int pnc_netcdf4_source_init(pnc_hdf5_source *s, pnc_file *file, int64_t size)
{
    *s = (pnc_hdf5_source){.file = file, .size = size, .data_offset = -1, .next = -1, .freed_end = -1};
    pnc_netcdf4_source_clear(s);
    s->blocks = pnc_memory_alloc(PNC_HDF5_BLOCKS, PNC_HDF5_BLOCK);
    return s->blocks == NULL ? pnc_error_set(file->error, NC_ENOMEM, "%s: no memory to read metadata", file->path)
                             : NC_NOERR;
}

void pnc_netcdf4_source_free(pnc_hdf5_source *s)
{
    pnc_netcdf4_unwritten_clear(&s->unwritten);
    pnc_netcdf4_early_clear(&s->early);
    pnc_memory_free(s->blocks);
    s->blocks = NULL;
}

void pnc_netcdf4_source_clear(pnc_hdf5_source *s)
{
    for (int i = 0; i < PNC_HDF5_BLOCKS; i++)
        s->at[i] = -1;
}

int64_t pnc_netcdf4_source_get_end(const pnc_hdf5_source *s)
{
    return pnc_max64(s->size, pnc_max64(s->end, s->closed_end));
}

/* The block at this offset, or NULL after an error, which is that of the file. */
static const char *get_block(pnc_hdf5_source *s, int64_t offset)
{
    char *block;
    int oldest = 0;

    s->clock++;
    for (int i = 0; i < PNC_HDF5_BLOCKS; i++) {
        if (s->at[i] == offset) {
            s->used[i] = s->clock;
            return s->blocks + i * PNC_HDF5_BLOCK;
        }
        oldest = s->used[i] < s->used[oldest] ? i : oldest;
    }
    block = s->blocks + oldest * PNC_HDF5_BLOCK;
    s->at[oldest] = -1;
    if (pnc_file_range_read(s->file, (pnc_extent){offset, pnc_min64(PNC_HDF5_BLOCK, s->size - offset)}, block) !=
        NC_NOERR)
        return NULL;
    s->at[oldest] = offset;
    s->used[oldest] = s->clock;
    return block;
}

/* --- functions of the driver --- */

static H5FD_t *open_by_driver(const char *name, unsigned flags, hid_t fapl, haddr_t maxaddr)
{
    pnc_hdf5_source *const *info = driver_library->p_get_driver_info(fapl);
    hdf5_driver_file *f;

    (void)name, (void)maxaddr;
    if (info == NULL || *info == NULL || ((flags & H5F_ACC_RDWR) != 0 && !(*info)->is_writable))
        return NULL;
    f = pnc_memory_alloc_zeroed(1, sizeof *f);
    if (f == NULL)
        return NULL;
    f->source = *info;
    f->source->end = 0;
    return &f->pub;
}

static herr_t close_by_driver(H5FD_t *p)
{
    pnc_hdf5_source *s = ((hdf5_driver_file *)p)->source;

    s->closed_end = pnc_max64(s->closed_end, s->end);
    pnc_memory_free(p);
    return 0;
}

static herr_t query_driver(const H5FD_t *p, unsigned long *flags)
{
    (void)p;
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

static haddr_t get_allocated_end(const H5FD_t *p, H5FD_mem_t type)
{
    pnc_hdf5_source *s = ((const hdf5_driver_file *)p)->source;
    int64_t end = type == H5FD_MEM_DRAW && s->freed_end >= 0 ? s->freed_end : s->end;

    if (type == H5FD_MEM_DRAW)
        s->freed_end = -1;
    return (haddr_t)end;
}

static herr_t set_allocated_end(H5FD_t *p, H5FD_mem_t type, haddr_t address)
{
    (void)type;
    if (address > (haddr_t)INT64_MAX)
        return -1;
    ((hdf5_driver_file *)p)->source->end = (int64_t)address;
    return 0;
}

static haddr_t get_file_end(const H5FD_t *p, H5FD_mem_t type)
{
    (void)type;
    return (haddr_t)pnc_netcdf4_source_get_end(((const hdf5_driver_file *)p)->source);
}

/* Raw data of the length that is expected get the address that was chosen for them. */
static haddr_t allocate_by_driver(H5FD_t *p, H5FD_mem_t type, hid_t dxpl, hsize_t bytes)
{
    pnc_hdf5_source *s = ((hdf5_driver_file *)p)->source;
    int64_t at = s->end;

    (void)dxpl;
    if (type == H5FD_MEM_DRAW && s->next >= 0 && (hsize_t)s->bytes == bytes) {
        at = s->next;
        s->next = -1;
        return (haddr_t)at;
    }
    if (bytes > (hsize_t)(INT64_MAX - at))
        return HADDR_UNDEF;
    s->end += (int64_t)bytes;
    return (haddr_t)at;
}

/* The end of what is allocated never comes back: chunks of other ranks may be in front of it. */
static herr_t free_nothing(H5FD_t *p, H5FD_mem_t type, hid_t dxpl, haddr_t address, hsize_t bytes)
{
    (void)p, (void)type, (void)dxpl, (void)address, (void)bytes;
    return 0;
}

/* From the file; bytes beyond its end are zeros. */
static bool read_blocks(pnc_hdf5_source *s, int64_t at, int64_t n, char *out)
{
    int64_t present = pnc_min64(pnc_max64(s->size - at, 0), n), part;

    memset(out + present, 0, (size_t)(n - present));
    for (; present > 0; at += part, out += part, present -= part) {
        int64_t within = at % PNC_HDF5_BLOCK;
        const char *block = get_block(s, at - within);

        if (block == NULL)
            return false;
        part = pnc_min64(present, PNC_HDF5_BLOCK - within);
        memcpy(out, block + within, (size_t)part);
    }
    return true;
}

/* An address beyond the end of the file is an error of the file: HDF5 reads the first bytes of short files, too. */
static herr_t read_by_driver(H5FD_t *p, H5FD_mem_t type, hid_t dxpl, haddr_t address, size_t bytes, void *to)
{
    pnc_hdf5_source *s = ((hdf5_driver_file *)p)->source;
    pnc_extent extent = {(int64_t)address, (int64_t)bytes};

    (void)dxpl;
    if (extent.offset < 0 || extent.offset > pnc_netcdf4_source_get_end(s) || extent.length < 0)
        return -1;
    if (type == H5FD_MEM_DRAW && s->notes_data) {
        s->data_offset = extent.offset;
        s->data_bytes = extent.length;
        return 0;
    }
    if (!pnc_netcdf4_unwritten_has(&s->unwritten, extent) && !read_blocks(s, extent.offset, extent.length, to))
        return -1;
    pnc_netcdf4_unwritten_read(&s->unwritten, extent, to);
    return 0;
}

static herr_t write_by_driver(H5FD_t *p, H5FD_mem_t type, hid_t dxpl, haddr_t address, size_t bytes, const void *from)
{
    pnc_hdf5_source *s = ((hdf5_driver_file *)p)->source;
    pnc_extent extent = {(int64_t)address, (int64_t)bytes};

    (void)dxpl;
    if (!s->is_writable || extent.offset < 0 || extent.length < 0 || extent.offset > INT64_MAX - extent.length)
        return -1;
    if (s->drops)
        return 0;
    if (type == H5FD_MEM_DRAW && s->drops_data && (s->dropped == NULL || from == s->dropped)) {
        s->data_offset = extent.offset;
        s->data_bytes = extent.length;
        return 0;
    }
    if (type == H5FD_MEM_DRAW && s->notes_fills && pnc_netcdf4_early_add(&s->early, extent.offset, from, extent.length))
        return 0;
    if (pnc_netcdf4_unwritten_write(&s->unwritten, extent, from))
        return 0;
    pnc_error_set(s->file->error, NC_ENOMEM, "%s: no memory to write metadata", s->file->path);
    return -1;
}

/* Who commits extends the file to the end of what is allocated. */
static herr_t truncate_nothing(H5FD_t *p, hid_t dxpl, hbool_t closing)
{
    (void)p, (void)dxpl, (void)closing;
    return 0;
}

/* Space that was freed is used again for metadata, which are committed all or none, but not for raw data. */
#define SPACE_MAP                                                                                        \
    {                                                                                                    \
        H5FD_MEM_DEFAULT, H5FD_MEM_SUPER, H5FD_MEM_SUPER, H5FD_MEM_DRAW, H5FD_MEM_SUPER, H5FD_MEM_SUPER, \
            H5FD_MEM_SUPER                                                                               \
    }

static const H5FD_class_t driver_class = {PNC_H5FD_FIRST.name = "pnetcdf",
                                          .maxaddr = (haddr_t)INT64_MAX,
                                          .fc_degree = H5F_CLOSE_STRONG,
                                          .fapl_size = sizeof(pnc_hdf5_source *),
                                          .open = open_by_driver,
                                          .close = close_by_driver,
                                          .query = query_driver,
                                          .alloc = allocate_by_driver,
                                          .free = free_nothing,
                                          .get_eoa = get_allocated_end,
                                          .set_eoa = set_allocated_end,
                                          .get_eof = get_file_end,
                                          .read = read_by_driver,
                                          .write = write_by_driver,
                                          .truncate = truncate_nothing,
                                          .fl_map = SPACE_MAP};

/* Of the cache of metadata; HDF5 lets it grow to 32 MiB. A guess: some nodes of the indices of many variables. */
#define CACHE_LEAST ((size_t)1 << 20)
#define CACHE_MOST ((size_t)4 << 20)

/* Files of the superblock that netCDF-C writes, which HDF5 1.8 reads. */
static bool prepare_writing(const pnc_hdf5 *h, hid_t fapl)
{
    H5AC_cache_config_t config = {.version = H5AC__CURR_CACHE_CONFIG_VERSION};

    if (h->p_set_libver_bounds(fapl, H5F_LIBVER_V18, H5F_LIBVER_LATEST) < 0 || h->p_get_mdc_config(fapl, &config) < 0)
        return false;
    config.set_initial_size = true;
    config.initial_size = config.min_size = CACHE_LEAST;
    config.max_size = CACHE_MOST;
    return h->p_set_mdc_config(fapl, &config) >= 0;
}

hid_t pnc_netcdf4_source_open(const pnc_hdf5 *h, pnc_hdf5_source *source, hid_t fcpl)
{
    const char *path = source->file->path;
    hid_t fapl, file = -1;
    bool is_ready;

    driver_library = h;
    if (driver_id < 0 || h->i_get_type(driver_id) != H5I_VFL) /* the program has called H5close */
        driver_id = h->fd_register(&driver_class);
    fapl = h->p_create(h->file_access);
    is_ready = fapl >= 0 && driver_id >= 0 && h->p_set_driver(fapl, driver_id, &source) >= 0 &&
               h->p_set_fclose_degree(fapl, H5F_CLOSE_STRONG) >= 0 && PNC_HDF5_TAKES_ALL_NUMBERS(h, fapl) &&
               (!source->is_writable || prepare_writing(h, fapl));
    if (is_ready && fcpl >= 0)
        file = h->f_create(path, H5F_ACC_TRUNC, fcpl, fapl);
    else if (is_ready)
        file = h->f_open(path, source->is_writable ? H5F_ACC_RDWR : H5F_ACC_RDONLY, fapl);
    if (fapl >= 0)
        h->p_close(fapl);
    return file;
}
