m4_include(`common.m4')m4_include([types.m4])m4_include([errors.m4])m4_include([constants.m4])m4_include([features.m4])m4_include([families.m4])m4_include([functions.m4])m4_dnl
/* pnetcdf.h - parallel reading and writing of classic netCDF files (CDF-1, CDF-2, CDF-5).
 * Generated from src/spec; link with -lpnetcdf. */
#ifndef PNETCDF_H
#define PNETCDF_H

/* Build files of clients read the version from the first 1000 bytes of this file. */
m4_define([FEATURE], [#define $1 $2])m4_dnl
VERSIONS
/* All functions return NC_NOERR or a negative error code; ncmpi_strerror returns its meaning. All ranks of the
 * communicator passed to ncmpi_create or ncmpi_open make "collective" calls, in the same order. Indices count from 0,
 * the slowest dimension first. Lengths of dimensions are in elements, offsets and alignments in bytes.
 *
 * Threads: under MPI_THREAD_MULTIPLE different threads may access different files at the same time. Only one thread at
 * a time may use a file (an ncid). Threads that open files of several ranks at the same time must use a different
 * communicator each (MPI_Comm_dup), as MPI requires for collective calls. All threads may use MPI_COMM_SELF. */

#include <stddef.h>

#include <mpi.h>

m4_ifelse(PNC_MPI, [mpich], [/* Handles of MPI are integers in MPICH and its relatives, and addresses in Open MPI. */
#ifdef OPEN_MPI
#error "mpi.h is of Open MPI, but this libpnetcdf was built with MPICH or a relative: compile with PNC_COMPILER"
#endif

], PNC_MPI, [open_mpi], [/* Handles of MPI are addresses in Open MPI, and integers in MPICH and its relatives. */
#if defined(MPICH_VERSION) || defined(MPICH_NAME) || defined(I_MPI_VERSION)
#error "mpi.h is of MPICH or a relative, but this libpnetcdf was built with Open MPI: compile with PNC_COMPILER"
#endif

])m4_dnl
FEATURES
#ifndef _NETCDF_ /* netcdf.h has its own */
typedef int nc_type;
#endif
m4_include([constants_body.m4])m4_dnl

/* Whether an error code is one of the system (errno): those of the library are negative. */
#ifndef NC_ISSYSERR
#define NC_ISSYSERR(err) ((err) > 0)
#endif

/* Not used here: interfaces in other languages declare what they export with it. */
#ifndef PNETCDF_PUBLIC_API
#ifdef __GNUC__
#define PNETCDF_PUBLIC_API __attribute__((visibility("default")))
#else
#define PNETCDF_PUBLIC_API
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif
m4_divert(-1)
m4_define([COMMENT], [OUTPUT([
/* m4_patsubst([$1], [
], [
 * ]) */
])])

m4_dnl The body of a documentation macro, as a part of a comment.
m4_define([IN_COMMENT], [m4_patsubst(m4_defn([$1]), [
], [
 * ])])

m4_define([HEADING], [OUTPUT([
/* --- $1 --- */
])])
m4_define([PLAIN], [COMMENT([$5])OUTPUT([m4_dnl
m4_patsubst([$1 ], [\* ], [*])ncmpi_$2(PROTOTYPE([$4]));
])])
m4_define([CDL_FUNCTION], [COMMENT([$3])OUTPUT([m4_dnl
int cdl_hdr_$1(PROTOTYPE([$2]));
])])
m4_define([FUNCTION], [COMMENT([$4])OUTPUT([m4_dnl
int ncmpi_$1(int ncid[]TYPED([$3]));
])])

m4_define([ATTRIBUTE], [OUTPUT([m4_dnl
int ncmpi_put_att_$1(int ncid, int varid, const char *name, m4_ifelse([$1], [text], [], [nc_type xtype, ])MPI_Offset len, const $2 *op);
int ncmpi_get_att_$1(int ncid, int varid, const char *name, $2 *ip);
])])
m4_define([ATTRIBUTES], [COMMENT([put_att_<T>: IN_COMMENT([PUT_ATT_DOC])
get_att_<T>: IN_COMMENT([GET_ATT_DOC])])EACH_ATTRIBUTE[]])
FUNCTIONS

HEADING([Data])
COMMENT([put_var*: write values from memory to variable varid; get_var*: read them.
  var   SHAPE_DOC()
  var1  SHAPE_DOC(1)
  vara  SHAPE_DOC(a)
  vars  SHAPE_DOC(s)
  varm  SHAPE_DOC(m)
  varn  SHAPE_DOC(n)
        (counts NULL: single elements)
IN_COMMENT([SELECTION_DOC MEMORY_DOC])
MODE_DOC
IN_COMMENT([RANGE_DOC])
Errors: IN_COMMENT([ACCESS_ERRORS])

iput_var*, iget_var*: IN_COMMENT([POST_DOC])
bput_var*: as iput_var*, but
IN_COMMENT([BPUT_DOC]) (NC_ENULLABUF NC_EINSUFFBUF). All are local.])
m4_define([EMIT], [OUTPUT([int NAME($@)[]PARAMETERS($@);
])])
FAMILIES
COMMENT([mput_var*, mget_var*: IN_COMMENT([MULTI_DOC])])
m4_define([EMIT_MULTI], [OUTPUT([int MULTI_NAME($@)[]MULTI_PARAMETERS($@);
])])
MULTI_FAMILIES
COMMENT([put_vard, get_vard: IN_COMMENT([VARD_DOC]) Errors as above, and
NC_ETYPESIZE NC_ETYPE_MISMATCH])
m4_define([EMIT_VARD], [OUTPUT([int ncmpi_$1_vard$2[]VARD_PARAMETERS([$1]);
])])
VARD
m4_divert(0)m4_dnl

#ifdef __cplusplus
}
#endif

#endif
