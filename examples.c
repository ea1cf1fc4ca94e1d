#include <stdio.h>
#include <pnetcdf.h>
void example_0(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_0(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
int ndims, dimids[8];
nc_type type;
MPI_Offset length;

ncmpi_inq_varid(ncid, "temperature", &varid);
ncmpi_inq_var(ncid, varid, NULL, &type, &ndims, NULL, NULL);
if (ndims > 0 && ndims <= 8) { /* NC_MAX_VAR_DIMS is too many for an array */
    ncmpi_inq_vardimid(ncid, varid, dimids);
    ncmpi_inq_dimlen(ncid, dimids[0], &length);
}
}
#include <stdio.h>
#include <pnetcdf.h>
void example_1(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_1(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
float range[2] = {0, 400}, found[2];

ncmpi_put_att_text(ncid, varid, "units", 1, "K");
ncmpi_put_att_float(ncid, varid, "valid_range", NC_FLOAT, 2, range);
ncmpi_get_att_float(ncid, varid, "valid_range", found);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_2(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_2(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
/* Every nprocs-th element of row 0, from index rank. */
MPI_Offset start[2] = {0, rank}, count[2] = {1, 10}, stride[2] = {1, nprocs};
float row[10] = {0};

ncmpi_put_vars_float_all(ncid, varid, start, count, stride, row);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_3(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_3(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
float all[10][20] = {{0}};

int request;
ncmpi_iput_var_float(ncid, varid, &all[0][0], &request);
ncmpi_wait_all(ncid, 1, &request, NULL);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_4(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_4(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
/* Three elements, then a row of 20. */
MPI_Offset start[4][2] = {{0, 1}, {0, 5}, {2, 7}, {4, 0}}, *starts[4] = {start[0], start[1], start[2], start[3]};
MPI_Offset count[4][2] = {{1, 1}, {1, 1}, {1, 1}, {1, 20}}, *counts[4] = {count[0], count[1], count[2], count[3]};
float values[23] = {0};

ncmpi_get_varn_float_all(ncid, varid, 4, starts, counts, values);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_5(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_5(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
char message[NC_MAX_MESSAGE];

if (ncmpi_enddef(ncid) != NC_NOERR) {
    ncmpi_inq_last_error(ncid, NULL, message);
    fprintf(stderr, "%s\n", message);
}
}
#include <stdio.h>
#include <pnetcdf.h>
void example_6(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_6(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
int hid, nvars, ndims, *dimids;
char *name;
nc_type type;

cdl_hdr_open("header.cdl", &hid);
cdl_hdr_inq_nvars(hid, &nvars);
for (int i = 0; i < nvars; i++) {
    cdl_hdr_inq_var(hid, i, &name, &type, &ndims, &dimids);
    ncmpi_def_var(ncid, name, type, ndims, dimids, &varid);
}
cdl_hdr_close(hid);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_7(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_7(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
/* A row of 20 elements per rank. */
MPI_Offset start[2] = {rank, 0}, count[2] = {1, 20};
float row[20] = {0};

ncmpi_get_vara_float_all(ncid, varid, start, count, row);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_8(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_8(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
/* Every nprocs-th element of a float variable, from index rank. */
float values[10];
MPI_Aint first = rank * (MPI_Aint)sizeof(float);
MPI_Datatype column, filetype;

MPI_Type_vector(10, 1, nprocs, MPI_FLOAT, &column);
MPI_Type_create_hindexed_block(1, 1, &first, column, &filetype);
MPI_Type_commit(&filetype);
ncmpi_get_vard_all(ncid, varid, filetype, values, 10, MPI_FLOAT);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_9(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_9(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
int status = ncmpi_enddef(ncid);

if (status != NC_NOERR)
    fprintf(stderr, "out.nc: %s (%s)\n", ncmpi_strerror(status), ncmpi_strerrno(status));
}
#include <stdio.h>
#include <pnetcdf.h>
void example_10(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_10(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
MPI_Offset start[2][1] = {{10 * rank}, {10 * rank}}, *starts[2] = {start[0], start[1]};
MPI_Offset count[2][1] = {{10}, {10}}, *counts[2] = {count[0], count[1]};
MPI_Offset stride[2][1] = {{1}, {1}}, *strides[2] = {stride[0], stride[1]};
MPI_Offset imap[2][1] = {{3}, {3}}, *imaps[2] = {imap[0], imap[1]}; /* one of three values per point */
float a[30] = {0}, b[30] = {0}, *bufs[2] = {a, b};

ncmpi_mput_varm_float_all(ncid, 2, varids, starts, counts, strides, imaps, bufs);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_11(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_11(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
float a[20] = {0}, b[20] = {0}, *bufs[2] = {a, b};

ncmpi_mput_var_float_all(ncid, 2, varids, bufs);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_12(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_12(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
float a[10] = {0}, b[10] = {0};
MPI_Offset start[1] = {10 * rank}, count[1] = {10};
int requests[2], statuses[2];

ncmpi_iput_vara_float(ncid, varids[0], start, count, a, &requests[0]);
ncmpi_iput_vara_float(ncid, varids[1], start, count, b, &requests[1]);
ncmpi_wait_all(ncid, 2, requests, statuses);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_13(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_13(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
int dims[2];

ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]);
ncmpi_def_dim(ncid, "x", 1000, &dims[1]);
ncmpi_def_var(ncid, "temperature", NC_FLOAT, 2, dims, &varid);
ncmpi_def_var_fill(ncid, varid, 0, NULL);
ncmpi_enddef(ncid);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_14(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_14(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
ncmpi_create(MPI_COMM_WORLD, "out.nc", NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &ncid);
/* ... definitions ... */
ncmpi_enddef(ncid);
/* ... data ... */
ncmpi_close(ncid);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_15(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_15(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
float all[10][20] = {{0}};

ncmpi_put_var_float_all(ncid, varid, &all[0][0]);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_16(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_16(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
float all[10][20] = {{0}};

ncmpi_get_var_float_all(ncid, varid, &all[0][0]);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_17(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_17(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
/* Three elements, then a row of 20. */
MPI_Offset start[4][2] = {{0, 1}, {0, 5}, {2, 7}, {4, 0}}, *starts[4] = {start[0], start[1], start[2], start[3]};
MPI_Offset count[4][2] = {{1, 1}, {1, 1}, {1, 1}, {1, 20}}, *counts[4] = {count[0], count[1], count[2], count[3]};
float values[23] = {0};

int request;
ncmpi_buffer_attach(ncid, 1024);
ncmpi_bput_varn_float(ncid, varid, 4, starts, counts, values, &request);
ncmpi_wait_all(ncid, 1, &request, NULL);
ncmpi_buffer_detach(ncid);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_18(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_18(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
float all[10][20] = {{0}};

int request;
ncmpi_buffer_attach(ncid, 1024);
ncmpi_bput_var_float(ncid, varid, &all[0][0], &request);
ncmpi_wait_all(ncid, 1, &request, NULL);
ncmpi_buffer_detach(ncid);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_19(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_19(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
float all[10][20] = {{0}};

int request;
ncmpi_iget_var_float(ncid, varid, &all[0][0], &request);
ncmpi_wait_all(ncid, 1, &request, NULL);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_20(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_20(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
float a[20] = {0}, b[20] = {0}, *bufs[2] = {a, b};

ncmpi_mget_var_float_all(ncid, 2, varids, bufs);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_21(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_21(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
/* Three elements, then a row of 20. */
MPI_Offset start[4][2] = {{0, 1}, {0, 5}, {2, 7}, {4, 0}}, *starts[4] = {start[0], start[1], start[2], start[3]};
MPI_Offset count[4][2] = {{1, 1}, {1, 1}, {1, 1}, {1, 20}}, *counts[4] = {count[0], count[1], count[2], count[3]};
float values[23] = {0};

int request;
ncmpi_iput_varn_float(ncid, varid, 4, starts, counts, values, &request);
ncmpi_wait_all(ncid, 1, &request, NULL);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_22(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_22(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
/* A hyperslab of 10 x 20 elements, transposed in memory. */
MPI_Offset start[2] = {10 * rank, 0}, count[2] = {10, 20}, imap[2] = {1, 10};
float local[20][10] = {{0}};

int request;
ncmpi_buffer_attach(ncid, 1024);
ncmpi_bput_varm_float(ncid, varid, start, count, NULL, imap, &local[0][0], &request);
ncmpi_wait_all(ncid, 1, &request, NULL);
ncmpi_buffer_detach(ncid);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_23(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_23(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
MPI_Offset start[2] = {3, rank};
float value = 1;

int request;
ncmpi_iput_var1_float(ncid, varid, start, &value, &request);
ncmpi_wait_all(ncid, 1, &request, NULL);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_24(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_24(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
/* A row of 20 elements per rank. */
MPI_Offset start[2] = {rank, 0}, count[2] = {1, 20};
float row[20] = {0};

ncmpi_put_vara_float_all(ncid, varid, start, count, row);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_25(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_25(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
MPI_Offset start[2] = {3, rank};
float value = 1;

int request;
ncmpi_iget_var1_float(ncid, varid, start, &value, &request);
ncmpi_wait_all(ncid, 1, &request, NULL);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_26(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_26(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
ncmpi_begin_indep_data(ncid);
if (rank == 0)
    ncmpi_put_var_int(ncid, varid, &nprocs);
ncmpi_end_indep_data(ncid);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_27(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_27(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
/* Three elements, then a row of 20. */
MPI_Offset start[4][2] = {{0, 1}, {0, 5}, {2, 7}, {4, 0}}, *starts[4] = {start[0], start[1], start[2], start[3]};
MPI_Offset count[4][2] = {{1, 1}, {1, 1}, {1, 1}, {1, 20}}, *counts[4] = {count[0], count[1], count[2], count[3]};
float values[23] = {0};

ncmpi_put_varn_float_all(ncid, varid, 4, starts, counts, values);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_28(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_28(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
/* Three elements, then a row of 20. */
MPI_Offset start[4][2] = {{0, 1}, {0, 5}, {2, 7}, {4, 0}}, *starts[4] = {start[0], start[1], start[2], start[3]};
MPI_Offset count[4][2] = {{1, 1}, {1, 1}, {1, 1}, {1, 20}}, *counts[4] = {count[0], count[1], count[2], count[3]};
float values[23] = {0};

int request;
ncmpi_iget_varn_float(ncid, varid, 4, starts, counts, values, &request);
ncmpi_wait_all(ncid, 1, &request, NULL);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_29(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_29(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
MPI_Offset start[2] = {3, rank};
float value = 1;

ncmpi_get_var1_float_all(ncid, varid, start, &value);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_30(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_30(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
MPI_Offset start[2][1] = {{10 * rank}, {10 * rank}}, *starts[2] = {start[0], start[1]};
MPI_Offset count[2][1] = {{10}, {10}}, *counts[2] = {count[0], count[1]};
float a[10] = {0}, b[10] = {0}, *bufs[2] = {a, b};

ncmpi_mget_vara_float_all(ncid, 2, varids, starts, counts, bufs);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_31(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_31(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
/* A hyperslab of 10 x 20 elements, transposed in memory. */
MPI_Offset start[2] = {10 * rank, 0}, count[2] = {10, 20}, imap[2] = {1, 10};
float local[20][10] = {{0}};

ncmpi_put_varm_float_all(ncid, varid, start, count, NULL, imap, &local[0][0]);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_32(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_32(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
/* A hyperslab of 10 x 20 elements, transposed in memory. */
MPI_Offset start[2] = {10 * rank, 0}, count[2] = {10, 20}, imap[2] = {1, 10};
float local[20][10] = {{0}};

ncmpi_get_varm_float_all(ncid, varid, start, count, NULL, imap, &local[0][0]);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_33(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_33(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
/* Reserve 64 KiB in the header, so that later definitions move no data. */
ncmpi__enddef(ncid, 65536, 0, 0, 0);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_34(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_34(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
/* Every nprocs-th element of row 0, from index rank. */
MPI_Offset start[2] = {0, rank}, count[2] = {1, 10}, stride[2] = {1, nprocs};
float row[10] = {0};

ncmpi_get_vars_float_all(ncid, varid, start, count, stride, row);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_35(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_35(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
/* A row of 20 elements per rank. */
MPI_Offset start[2] = {rank, 0}, count[2] = {1, 20};
float row[20] = {0};

int request;
ncmpi_iget_vara_float(ncid, varid, start, count, row, &request);
ncmpi_wait_all(ncid, 1, &request, NULL);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_36(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_36(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
MPI_Offset start[2][1] = {{rank}, {rank}}, *starts[2] = {start[0], start[1]};
float a = 0, b = 0, *bufs[2] = {&a, &b};

ncmpi_mput_var1_float_all(ncid, 2, varids, starts, bufs);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_37(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_37(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
MPI_Offset start[2][1] = {{rank}, {rank}}, *starts[2] = {start[0], start[1]};
MPI_Offset count[2][1] = {{10}, {10}}, *counts[2] = {count[0], count[1]};
MPI_Offset stride[2][1] = {{nprocs}, {nprocs}}, *strides[2] = {stride[0], stride[1]};
float a[10] = {0}, b[10] = {0}, *bufs[2] = {a, b};

ncmpi_mput_vars_float_all(ncid, 2, varids, starts, counts, strides, bufs);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_38(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_38(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
MPI_Offset start[2][1] = {{rank}, {rank}}, *starts[2] = {start[0], start[1]};
MPI_Offset count[2][1] = {{10}, {10}}, *counts[2] = {count[0], count[1]};
MPI_Offset stride[2][1] = {{nprocs}, {nprocs}}, *strides[2] = {stride[0], stride[1]};
float a[10] = {0}, b[10] = {0}, *bufs[2] = {a, b};

ncmpi_mget_vars_float_all(ncid, 2, varids, starts, counts, strides, bufs);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_39(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_39(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
MPI_Offset start[2] = {3, rank};
float value = 1;

ncmpi_put_var1_float_all(ncid, varid, start, &value);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_40(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_40(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
/* A row of 20 elements per rank. */
MPI_Offset start[2] = {rank, 0}, count[2] = {1, 20};
float row[20] = {0};

int request;
ncmpi_iput_vara_float(ncid, varid, start, count, row, &request);
ncmpi_wait_all(ncid, 1, &request, NULL);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_41(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_41(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
/* A hyperslab of 10 x 20 elements, transposed in memory. */
MPI_Offset start[2] = {10 * rank, 0}, count[2] = {10, 20}, imap[2] = {1, 10};
float local[20][10] = {{0}};

int request;
ncmpi_iget_varm_float(ncid, varid, start, count, NULL, imap, &local[0][0], &request);
ncmpi_wait_all(ncid, 1, &request, NULL);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_42(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_42(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
/* Every nprocs-th element of row 0, from index rank. */
MPI_Offset start[2] = {0, rank}, count[2] = {1, 10}, stride[2] = {1, nprocs};
float row[10] = {0};

int request;
ncmpi_iput_vars_float(ncid, varid, start, count, stride, row, &request);
ncmpi_wait_all(ncid, 1, &request, NULL);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_43(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_43(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
int status = ncmpi_open(MPI_COMM_WORLD, "in.nc", NC_NOWRITE, MPI_INFO_NULL, &ncid);

if (status != NC_NOERR)
    fprintf(stderr, "in.nc: %s\n", ncmpi_strerror(status));
}
#include <stdio.h>
#include <pnetcdf.h>
void example_44(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_44(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
MPI_Offset start[2][1] = {{10 * rank}, {10 * rank}}, *starts[2] = {start[0], start[1]};
MPI_Offset count[2][1] = {{10}, {10}}, *counts[2] = {count[0], count[1]};
MPI_Offset stride[2][1] = {{1}, {1}}, *strides[2] = {stride[0], stride[1]};
MPI_Offset imap[2][1] = {{3}, {3}}, *imaps[2] = {imap[0], imap[1]}; /* one of three values per point */
float a[30] = {0}, b[30] = {0}, *bufs[2] = {a, b};

ncmpi_mget_varm_float_all(ncid, 2, varids, starts, counts, strides, imaps, bufs);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_45(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_45(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
/* Every nprocs-th element of row 0, from index rank. */
MPI_Offset start[2] = {0, rank}, count[2] = {1, 10}, stride[2] = {1, nprocs};
float row[10] = {0};

int request;
ncmpi_iget_vars_float(ncid, varid, start, count, stride, row, &request);
ncmpi_wait_all(ncid, 1, &request, NULL);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_46(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_46(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
MPI_Offset start[2][1] = {{rank}, {rank}}, *starts[2] = {start[0], start[1]};
float a = 0, b = 0, *bufs[2] = {&a, &b};

ncmpi_mget_var1_float_all(ncid, 2, varids, starts, bufs);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_47(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_47(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
/* Every nprocs-th element of row 0, from index rank. */
MPI_Offset start[2] = {0, rank}, count[2] = {1, 10}, stride[2] = {1, nprocs};
float row[10] = {0};

int request;
ncmpi_buffer_attach(ncid, 1024);
ncmpi_bput_vars_float(ncid, varid, start, count, stride, row, &request);
ncmpi_wait_all(ncid, 1, &request, NULL);
ncmpi_buffer_detach(ncid);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_48(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_48(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
MPI_Offset start[2][1] = {{10 * rank}, {10 * rank}}, *starts[2] = {start[0], start[1]};
MPI_Offset count[2][1] = {{10}, {10}}, *counts[2] = {count[0], count[1]};
float a[10] = {0}, b[10] = {0}, *bufs[2] = {a, b};

ncmpi_mput_vara_float_all(ncid, 2, varids, starts, counts, bufs);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_49(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_49(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
MPI_Offset start[2] = {3, rank};
float value = 1;

int request;
ncmpi_buffer_attach(ncid, 1024);
ncmpi_bput_var1_float(ncid, varid, start, &value, &request);
ncmpi_wait_all(ncid, 1, &request, NULL);
ncmpi_buffer_detach(ncid);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_50(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_50(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
/* A hyperslab of 10 x 20 elements, transposed in memory. */
MPI_Offset start[2] = {10 * rank, 0}, count[2] = {10, 20}, imap[2] = {1, 10};
float local[20][10] = {{0}};

int request;
ncmpi_iput_varm_float(ncid, varid, start, count, NULL, imap, &local[0][0], &request);
ncmpi_wait_all(ncid, 1, &request, NULL);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_51(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_51(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
/* A row of 20 elements per rank. */
MPI_Offset start[2] = {rank, 0}, count[2] = {1, 20};
float row[20] = {0};

int request;
ncmpi_buffer_attach(ncid, 1024);
ncmpi_bput_vara_float(ncid, varid, start, count, row, &request);
ncmpi_wait_all(ncid, 1, &request, NULL);
ncmpi_buffer_detach(ncid);
}
#include <stdio.h>
#include <pnetcdf.h>
void example_52(int rank, int nprocs, int ncid, int varid, int dimid, int *varids);
void example_52(int rank, int nprocs, int ncid, int varid, int dimid, int *varids)
{
(void)rank, (void)nprocs, (void)ncid, (void)varid, (void)dimid, (void)varids;
/* Every nprocs-th element of a float variable, from index rank. */
float values[10] = {0};
MPI_Aint first = rank * (MPI_Aint)sizeof(float);
MPI_Datatype column, filetype;

MPI_Type_vector(10, 1, nprocs, MPI_FLOAT, &column);
MPI_Type_create_hindexed_block(1, 1, &first, column, &filetype);
MPI_Type_commit(&filetype);
ncmpi_put_vard_all(ncid, varid, filetype, values, 10, MPI_FLOAT);
}
