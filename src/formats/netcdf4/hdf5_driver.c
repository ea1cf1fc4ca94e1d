/* A virtual file driver of HDF5. The library keeps it registered until the program ends. */
#include "formats/netcdf4/hdf5_driver.h"

#include <string.h>

#include "base/memory.h"
#include "base/minmax.h"

/* The driver's file, of which HDF5 knows the first member only. */
typedef struct hdf5_driver_file {
    H5FD_t pub;
    pnc_hdf5_source *source;
    haddr_t end; /* of what is allocated, as HDF5 sets it */
} hdf5_driver_file;

/* Under the lock of the library. */
static hid_t driver_id = -1;
static const pnc_hdf5 *driver_library;

int pnc_netcdf4_source_init(pnc_hdf5_source *s, pnc_file *file, int64_t size)
{
    *s = (pnc_hdf5_source){.file = file, .size = size, .data_offset = -1};
    for (int i = 0; i < PNC_HDF5_BLOCKS; i++)
        s->at[i] = -1;
    s->blocks = pnc_memory_alloc(PNC_HDF5_BLOCKS, PNC_HDF5_BLOCK);
    return s->blocks == NULL ? pnc_error_set(file->error, NC_ENOMEM, "%s: no memory to read metadata", file->path)
                             : NC_NOERR;
}

void pnc_netcdf4_source_free(pnc_hdf5_source *s)
{
    pnc_memory_free(s->blocks);
    s->blocks = NULL;
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
    if (info == NULL || *info == NULL || (flags & H5F_ACC_RDWR) != 0)
        return NULL;
    f = pnc_memory_alloc_zeroed(1, sizeof *f);
    if (f == NULL)
        return NULL;
    f->source = *info;
    return &f->pub;
}

static herr_t close_by_driver(H5FD_t *p)
{
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
    (void)type;
    return ((const hdf5_driver_file *)p)->end;
}

static herr_t set_allocated_end(H5FD_t *p, H5FD_mem_t type, haddr_t address)
{
    (void)type;
    ((hdf5_driver_file *)p)->end = address;
    return 0;
}

static haddr_t get_file_end(const H5FD_t *p, H5FD_mem_t type)
{
    (void)type;
    return (haddr_t)((const hdf5_driver_file *)p)->source->size;
}

/* An address beyond the end of the file is an error of the file: HDF5 reads the first bytes of short files, too. */
static herr_t read_by_driver(H5FD_t *p, H5FD_mem_t type, hid_t dxpl, haddr_t address, size_t bytes, void *to)
{
    pnc_hdf5_source *s = ((hdf5_driver_file *)p)->source;
    int64_t at = (int64_t)address, n = (int64_t)bytes, part;
    char *out = to;
    const char *block;

    (void)dxpl;
    if (at < 0 || at > s->size || n < 0)
        return -1;
    if (type == H5FD_MEM_DRAW && s->notes_data) {
        s->data_offset = at;
        s->data_bytes = n;
        return 0;
    }
    if (n > s->size - at) {
        memset(out + (s->size - at), 0, (size_t)(n - (s->size - at)));
        n = s->size - at;
    }
    for (; n > 0; at += part, out += part, n -= part) {
        int64_t within = at % PNC_HDF5_BLOCK;

        block = get_block(s, at - within);
        if (block == NULL)
            return -1;
        part = pnc_min64(n, PNC_HDF5_BLOCK - within);
        memcpy(out, block + within, (size_t)part);
    }
    return 0;
}

static herr_t refuse_write(H5FD_t *p, H5FD_mem_t type, hid_t dxpl, haddr_t address, size_t bytes, const void *from)
{
    (void)p, (void)type, (void)dxpl, (void)address, (void)bytes, (void)from;
    return -1;
}

static const H5FD_class_t driver_class = {PNC_H5FD_FIRST.name = "pnetcdf", .maxaddr = (haddr_t)INT64_MAX,
                                          .fc_degree = H5F_CLOSE_STRONG,   .fapl_size = sizeof(pnc_hdf5_source *),
                                          .open = open_by_driver,          .close = close_by_driver,
                                          .query = query_driver,           .get_eoa = get_allocated_end,
                                          .set_eoa = set_allocated_end,    .get_eof = get_file_end,
                                          .read = read_by_driver,          .write = refuse_write,
                                          .fl_map = H5FD_FLMAP_DICHOTOMY};

hid_t pnc_netcdf4_source_open(const pnc_hdf5 *h, pnc_hdf5_source *source)
{
    hid_t fapl, file = -1;

    driver_library = h;
    if (driver_id < 0 || h->i_get_type(driver_id) != H5I_VFL) /* the program has called H5close */
        driver_id = h->fd_register(&driver_class);
    fapl = h->p_create(h->file_access);
    if (fapl >= 0 && driver_id >= 0 && h->p_set_driver(fapl, driver_id, &source) >= 0 &&
        h->p_set_fclose_degree(fapl, H5F_CLOSE_STRONG) >= 0)
        file = h->f_open(source->file->path, H5F_ACC_RDONLY, fapl);
    if (fapl >= 0)
        h->p_close(fapl);
    return file;
}
