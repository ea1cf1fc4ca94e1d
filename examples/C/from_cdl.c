/* A file whose definitions come from a text in CDL, which ncmpidump -h prints and an editor changes.
 *
 *     ncmpidump -h blocks.nc > blocks.cdl
 *     mpiexec -n 4 ./from_cdl blocks.cdl from_cdl.nc
 *
 * The definitions of a model's output need not be calls in its source. Each rank reads the text; the calls that define
 * are those of every program. */
#include "check.h"

static void copy_attributes(const char *text, const char *path, int ncid, int header, int varid)
{
    int n;

    NC_TRY(text, cdl_hdr_inq_nattrs(header, varid, &n));
    for (int a = 0; a < n; a++) {
        char *name;
        void *value;
        nc_type type;
        MPI_Offset length;

        NC_TRY(text, cdl_hdr_inq_attr(header, varid, a, &name, &type, &length, &value));
        NC_TRY(path, ncmpi_put_att(ncid, varid, name, type, length, value));
    }
}

static void define(const char *text, const char *path, int ncid, int header)
{
    int n, id;

    NC_TRY(text, cdl_hdr_inq_ndims(header, &n));
    for (int d = 0; d < n; d++) {
        char *name;
        MPI_Offset length;

        NC_TRY(text, cdl_hdr_inq_dim(header, d, &name, &length));
        NC_TRY(path, ncmpi_def_dim(ncid, name, length, &id));
    }
    NC_TRY(text, cdl_hdr_inq_nvars(header, &n));
    for (int v = 0; v < n; v++) {
        char *name;
        nc_type type;
        int ndims, *dims;

        NC_TRY(text, cdl_hdr_inq_var(header, v, &name, &type, &ndims, &dims));
        NC_TRY(path, ncmpi_def_var(ncid, name, type, ndims, dims, &id));
        copy_attributes(text, path, ncid, header, id);
    }
    copy_attributes(text, path, ncid, header, NC_GLOBAL);
}

int main(int argc, char **argv)
{
    const char *text = argc > 1 ? argv[1] : "blocks.cdl", *path = argc > 2 ? argv[2] : "from_cdl.nc";
    int ncid, header, format, mode = NC_CLOBBER;

    MPI_Init(&argc, &argv);
    NC_TRY(text, cdl_hdr_open(text, &header));
    NC_TRY(text, cdl_hdr_inq_format(header, &format));
    if (format == NC_FORMAT_CDF5)
        mode |= NC_64BIT_DATA;
    else if (format == NC_FORMAT_CDF2)
        mode |= NC_64BIT_OFFSET;
    NC_TRY(path, ncmpi_create(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &ncid));
    define(text, path, ncid, header);
    NC_TRY(text, cdl_hdr_close(header));
    NC_TRY(path, ncmpi_enddef(ncid));
    NC_TRY(path, ncmpi_close(ncid));
    return MPI_Finalize();
}
