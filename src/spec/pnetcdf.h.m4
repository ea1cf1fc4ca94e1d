m4_include(`common.m4')m4_include([types.m4])m4_include([errors.m4])m4_include([constants.m4])m4_include([families.m4])m4_include([functions.m4])m4_dnl
/* pnetcdf.h - parallel reading and writing of classic netCDF files (CDF-1, CDF-2, CDF-5).
 *
 * Generated from src/spec; link with -lpnetcdf. All functions return NC_NOERR or a negative error code whose meaning
 * ncmpi_strerror tells. "Collective" calls are made by all ranks of the communicator given to ncmpi_create or
 * ncmpi_open, in the same order. Indices count from 0, the slowest dimension first; sizes of dimensions are in
 * elements, offsets and alignments in bytes.
 *
 * Threads: under MPI_THREAD_MULTIPLE different threads may work with different files at once. A file, that is an ncid,
 * belongs to one thread at a time; and threads that open files of several ranks at once each use a communicator of their
 * own (MPI_Comm_dup), as MPI wants it for collective calls. MPI_COMM_SELF serves all threads. */
#ifndef PNETCDF_H
#define PNETCDF_H

#include <mpi.h>

#define PNETCDF_VERSION "PNC_VERSION"
#define PNETCDF_VERSION_MAJOR PNC_VERSION_MAJOR
#define PNETCDF_VERSION_MINOR PNC_VERSION_MINOR
#define PNETCDF_VERSION_SUB PNC_VERSION_SUB
#define PNETCDF_VERSION_PRE ""
#define PNETCDF_RELEASE_DATE "PNC_RELEASE_DATE"
#define PNETCDF_ERANGE_FILL 1
#define PNETCDF_RELAX_COORD_BOUND 1
#define PNETCDF_SUBFILING 0
#define PNETCDF_DEBUG_MODE 0
#define PNETCDF_PROFILING 0
#define PNETCDF_NULL_BYTE_HEADER_PADDING 0
#define PNETCDF_BURST_BUFFERING 0
#define PNETCDF_THREAD_SAFE 1
#define PNETCDF_DRIVER_NETCDF4 0
#define PNETCDF_DRIVER_ADIOS 0

#ifndef _NETCDF_ /* netcdf.h has its own */
typedef int nc_type;
#endif
m4_include([constants_body.m4])m4_dnl

#ifdef __cplusplus
extern "C" {
#endif
m4_divert(-1)
m4_define([COMMENT], [m4_divert(0)
/* m4_patsubst([$1], [
], [
 * ]) */
m4_divert(-1)])

m4_define([HEADING], [m4_divert(0)
/* --- $1 --- */
m4_divert(-1)])
m4_define([PLAIN], [COMMENT([$4])m4_divert(0)m4_dnl
m4_patsubst([$1 ], [\* ], [*])ncmpi_$2($3);
m4_divert(-1)])
m4_define([CDL_FUNCTION], [COMMENT([$3])m4_divert(0)m4_dnl
int cdl_hdr_$1($2);
m4_divert(-1)])
m4_define([FUNCTION], [COMMENT([$3])m4_divert(0)m4_dnl
int ncmpi_$1(int ncid[]TYPED([$2]));
m4_divert(-1)])

m4_define([ATTRIBUTE], [m4_divert(0)m4_dnl
int ncmpi_put_att_$1(int ncid, int varid, const char *name, m4_ifelse([$1], [text], [], [nc_type xtype, ])MPI_Offset len, const $2 *op);
int ncmpi_get_att_$1(int ncid, int varid, const char *name, $2 *ip);
m4_divert(-1)])
m4_define([ATTRIBUTES], [COMMENT([put_att_<T>: create or replace attribute name of variable varid (or NC_GLOBAL) with len values, converted to xtype.
In data mode it may replace a value by one that is not longer. Collective. Errors: NC_EPERM NC_ENOTVAR NC_EBADNAME
NC_EBADTYPE NC_ESTRICTCDF2 NC_ECHAR NC_EINVAL NC_ENOTINDEFINE NC_ERANGE (the values that do not fit become fill values)
get_att_<T>: read all its values, converted to T. Local. Errors: NC_ENOTVAR NC_EBADNAME NC_ENOTATT NC_ECHAR NC_EINVAL NC_ERANGE])EACH_ATTRIBUTE[]])
FUNCTIONS

HEADING([Data])
COMMENT([put_var*: write values from memory to variable varid; get_var*: read them.
  var   the whole variable (all records that exist)
  var1  the one element at start[]
  vara  the block of count[] elements that begins at start[]
  vars  the same, taking every stride[d]-th element along dimension d
  varm  the same, with imap[d] = distance in memory, in elements, between neighbours along dimension d
  varn  num blocks of one variable, block i of counts[i][] elements at starts[i][]; memory holds one after the other
        (counts NULL: single elements)
start, count, stride and imap have one entry per dimension, slowest first; a NULL stride or imap means 1 and
contiguous. Memory is in C order. A suffix names the C type in memory, values are converted. Without a type suffix
memory is described by bufcount elements of an MPI datatype. MPI_DATATYPE_NULL: contiguous, of the variable's own type.
Functions ending in _all are collective, on ranks with nothing to do also (count 0); the others need independent mode.
Put: the buffer is never changed; a record variable grows. Values out of range become the variable's fill value, and
get turns them into the memory type's default fill value; the rest is moved and NC_ERANGE is returned.
Errors: NC_EPERM NC_EINDEFINE NC_EINDEP NC_ENOTINDEP NC_ENOTVAR NC_ECHAR NC_EINVALCOORDS NC_EEDGE NC_ENEGATIVECNT
NC_ESTRIDE NC_EINVAL NC_EIOMISMATCH NC_EUNSPTETYPE NC_EMULTITYPES NC_ENULLSTART NC_ERANGE

iput_var*, iget_var*: post such a request, in any mode, and give its id in *req (which may be NULL). Nothing moves, and the
buffer belongs to the library, until ncmpi_wait or ncmpi_wait_all. A put tells at once (NC_ERANGE) that values will not
fit, and is posted all the same; a get tells when it is waited for. Where pending puts of a rank overlap, the last one
posted wins. bput_var*: the same, but the buffer may be used again at once; its values are kept in what
ncmpi_buffer_attach allows (NC_ENULLABUF NC_EINSUFFBUF). All are local.])
m4_define([EMIT], [m4_divert(0)int NAME($@)[]PARAMETERS($@);
m4_divert(-1)])
FAMILIES
COMMENT([mput_var*, mget_var*: the same access to num variables in one call, with one entry of each array per variable. The
requests with right arguments are carried out; the first error is returned.])
m4_define([EMIT_MULTI], [m4_divert(0)int MULTI_NAME($@)[]MULTI_PARAMETERS($@);
m4_divert(-1)])
MULTI_FAMILIES
COMMENT([put_vard, get_vard: the place in the file is an MPI datatype made of the variable's own type, whose displacements are
bytes from the variable's begin (ncmpi_inq_varoffset). MPI_DATATYPE_NULL selects nothing. Errors as above, and NC_ETYPESIZE
NC_ETYPE_MISMATCH NC_ETYPESIZE_MISMATCH])
m4_define([EMIT_VARD], [m4_divert(0)int ncmpi_$1_vard$2[]VARD_PARAMETERS([$1]);
m4_divert(-1)])
VARD
m4_divert(0)m4_dnl

#ifdef __cplusplus
}
#endif

#endif
