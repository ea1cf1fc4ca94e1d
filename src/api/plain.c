/* Entry points that are not generated: those that do not call pnc_dataset_<name> with one dataset. */
#include "api/api.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dataset/caller.h"
#include "dataset/lifecycle.h"
#include "dataset/mpi_state.h"
#include "base/memory.h"
#include "drivers/driver.h"
#include "format/codec.h"
#include "formats/reader.h"

int ncmpi_create(MPI_Comm comm, const char *path, int cmode, MPI_Info info, int *ncidp)
{
    return pnc_dataset_create(comm, path, cmode, info, ncidp);
}

int ncmpi_open(MPI_Comm comm, const char *path, int omode, MPI_Info info, int *ncidp)
{
    return pnc_dataset_open(comm, path, omode, info, ncidp);
}

int ncmpi_delete(const char *filename, MPI_Info info)
{
    pnc_error error = {0};
    int err;

    PNC_TRY(pnc_dataset_mpi_state_check(__func__, filename, MPI_COMM_WORLD));
    pnc_dataset_caller_identify(__func__, &error);
    err = pnc_dataset_delete(filename, info, &error);
    return pnc_dataset_error_report_call(__func__, filename, err, &error);
}

int ncmpi_set_default_format(int format, int *old_formatp)
{
    pnc_error error = {0};
    int err;

    pnc_dataset_caller_identify(__func__, &error);
    err = pnc_dataset_default_format_set(format, old_formatp, &error);
    return pnc_dataset_error_report_call(__func__, NULL, err, &error);
}

int ncmpi_inq_default_format(int *formatp)
{
    if (formatp == NULL)
        return pnc_dataset_error_report_call(__func__, NULL, NC_EINVAL, NULL);
    *formatp = pnc_dataset_default_format_get();
    return NC_NOERR;
}

int ncmpi_inq_files_opened(int *num, int *ncids)
{
    return pnc_dataset_registry_list(num, ncids);
}

static int format_constant(int kind)
{
    switch (kind) {
    case PNC_KIND_CDF1:
    case PNC_KIND_CDF2:
    case PNC_KIND_CDF5: return kind; /* the constants are the version byte of the file */
    case PNC_KIND_HDF5: return NC_FORMAT_NETCDF4;
    default: return NC_FORMAT_UNKNOWN;
    }
}

int pnc_api_file_open(const char *filename, int *fd)
{
    if (filename == NULL || filename[0] == '\0')
        return NC_EBAD_FILE;
    *fd = open(filename, O_RDONLY);
    if (*fd >= 0)
        return NC_NOERR;
    if (errno == ENOENT || errno == ENOTDIR)
        return NC_ENOENT;
    return errno == EACCES ? NC_EACCESS : NC_EFILE;
}

ssize_t pnc_api_file_read(int fd, void *bytes, size_t capacity)
{
    ssize_t n;

    do
        n = read(fd, bytes, capacity);
    while (n < 0 && errno == EINTR);
    if (n >= 0)
        return n;
    return errno == EISDIR ? NC_EFILE : NC_EREAD;
}

/* False also if libhdf5 cannot read the file, or is not there. */
static bool has_classic_model(const pnc_reader_ops *ops, int fd, const char *filename)
{
    pnc_reader *reader = NULL;
    pnc_error error = {0};
    struct stat status;
    bool has = fstat(fd, &status) == 0 &&
               pnc_formats_reader_open(ops, fd, filename, status.st_size, &error, &reader) == NC_NOERR &&
               pnc_formats_reader_is_classic(reader);

    pnc_formats_reader_close(reader);
    return has;
}

/* A folder that is a dataset, whose models are those of netCDF-4. */
static bool has_own_driver(const char *filename)
{
    return filename != NULL && pnc_driver_choose(0, filename) != 0;
}

int ncmpi_inq_file_format(const char *filename, int *formatp)
{
    char magic[8];
    ssize_t n;
    int fd, format, err;

    if (has_own_driver(filename)) {
        if (formatp != NULL)
            *formatp = NC_FORMAT_NETCDF4;
        return NC_NOERR;
    }
    err = pnc_api_file_open(filename == NULL ? NULL : pnc_store_mpiio.local_path(filename), &fd);
    if (formatp != NULL)
        *formatp = NC_FORMAT_UNKNOWN; /* also if the call fails, as in PnetCDF 1.x */
    if (err != NC_NOERR)
        return pnc_dataset_error_report_call(__func__, filename, err, NULL);
    n = pnc_api_file_read(fd, magic, sizeof magic);
    format =
        n < (ssize_t)sizeof magic ? NC_FORMAT_UNKNOWN : format_constant(pnc_format_kind_identify(magic, (size_t)n));
    if (format == NC_FORMAT_NETCDF4 && has_classic_model(pnc_formats_readers_find(magic, n), fd, filename))
        format = NC_FORMAT_NETCDF4_CLASSIC;
    close(fd);
    if (n >= 0 && n < (ssize_t)sizeof magic) /* every format has at least 8 bytes */
        n = NC_EFILE;
    if (n < 0)
        return pnc_dataset_error_report_call(__func__, filename, (int)n, NULL);
    if (formatp != NULL)
        *formatp = format;
    return NC_NOERR;
}

int ncmpi_copy_att(int ncid_in, int varid_in, const char *name, int ncid_out, int varid_out)
{
    pnc_att_copy copy = {.varid_in = varid_in, .name = name, .varid_out = varid_out};

    copy.from = pnc_dataset_registry_find(ncid_in, __func__);
    copy.to = copy.from == NULL ? NULL : pnc_dataset_registry_find(ncid_out, __func__);
    if (copy.to == NULL)
        return NC_EBADID;
    return pnc_dataset_error_report(copy.to, pnc_dataset_attribute_copy(&copy));
}

int ncmpi_inq_last_error(int ncid, int *code, char *message)
{
    const pnc_failure *last;
    int err = pnc_dataset_error_get_last(ncid, &last);

    if (err != NC_NOERR) /* not reported: a bad ncid must not replace the failure that is inquired about */
        return err;
    if (code != NULL)
        *code = last->code;
    if (message != NULL)
        strcpy(message, last->message);
    return NC_NOERR;
}

int ncmpi_free_string(MPI_Offset len, char **texts)
{
    if (len < 0 || (len > 0 && texts == NULL))
        return pnc_dataset_error_report_call(__func__, NULL, NC_EINVAL, NULL);
    for (MPI_Offset i = 0; i < len; i++) {
        pnc_memory_free(texts[i]);
        texts[i] = NULL;
    }
    return NC_NOERR;
}

const char *ncmpi_strerror(int err)
{
    pnc_error error;

    pnc_dataset_caller_identify(__func__, &error);
    return pnc_dataset_error_explain(err, error.language);
}

const char *ncmpi_strerrno(int err)
{
    return pnc_error_get_name(err);
}

const char *ncmpi_inq_libvers(void)
{
    return PNETCDF_VERSION " of " PNETCDF_RELEASE_DATE;
}

/* Counting allocations would cost each of them a lock; tools such as valgrind report more. */
int ncmpi_inq_malloc_size(MPI_Offset *size)
{
    (void)size;
    return pnc_dataset_error_report_call(__func__, NULL, NC_ENOTENABLED, NULL);
}

int ncmpi_inq_malloc_max_size(MPI_Offset *size)
{
    (void)size;
    return pnc_dataset_error_report_call(__func__, NULL, NC_ENOTENABLED, NULL);
}

int ncmpi_inq_malloc_list(void)
{
    return pnc_dataset_error_report_call(__func__, NULL, NC_ENOTENABLED, NULL);
}
