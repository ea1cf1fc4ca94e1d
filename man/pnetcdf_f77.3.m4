m4_include(`common.m4')m4_include([fortran.m4])m4_dnl
.\" Generated from src/spec.
.Dd November 21, 2026
.Dt PNETCDF_F77 3
.Os
.Sh [NAME]
.Nm pnetcdf_f77
.Nd netCDF files in parallel from Fortran: the nfmpi_ functions
.Sh LIBRARY
.Ql -lpnetcdf ,
with an MPI Fortran compiler
.Sh SYNOPSIS
.Bd -literal
      include 'mpif.h'
      include 'pnetcdf.inc'
.Ed
.Sh DESCRIPTION
The functions are those of
.Xr pnetcdf 3
with the prefix
.Sy nfmpi_
in place of
.Sy ncmpi_ ,
and the constants those of
.In pnetcdf.h
with
.Sy nf_
in place of
.Dv NC_ ;
version and features
.Pq Dv PNETCDF_VERSION_MAJOR , PNETCDF_THREAD_SAFE
keep their names.
.Pa pnetcdf.inc
declares all of them; it stands among the declarations, in fixed or free form, after
.Ql include 'mpif.h'
or after
.Ql use mpi
and
.Ql implicit none .
Functions are integers and return
.Sy nf_noerr
or a negative code, unless said otherwise below.
.Ss What is different from C
.Bl -bullet
.It
Ids of dimensions and variables, numbers of attributes and indices
.Pq Va start , Va starts , Va recno
count from 1;
.Sy nf_global
is 0.
.It
The first dimension of a variable is the one that runs fastest, as in arrays of Fortran.
Lists of dimension ids,
.Va start , count , stride
and
.Va imap
are in that order.
.Xr ncmpidump 1
and C show the dimensions the other way round.
.It
.Va start , count , stride , imap ,
lengths and sizes are integers of kind
.Sy MPI_OFFSET_KIND ;
a constant is written
.Ql 1_MPI_OFFSET_KIND .
.Va starts
and
.Va counts
of varn are arrays
.Pq number of dimensions , num .
.It
Names lose their trailing blanks, and end at a NUL character.
A name or text that is returned is filled with blanks to the length of the variable that receives it.
Where that is too short it gets the beginning, and the function returns
.Sy nf_ests .
Only an array of single characters, and a variable of one character, where such an array may begin, gets an attribute as
a whole, as in C.
.Fn nfmpi_put_att_text
writes as many characters as
.Va length
says.
.It
Communicators, info objects and datatypes are the integers of
.Pa mpif.h
and of the module mpi.
.It
Where
.Va count
of
.Fn nfmpi_wait
is
.Sy nf_req_all ,
.Sy nf_get_req_all
or
.Sy nf_put_req_all
both arrays are left alone.
.El
.Pp
.Pa pnetcdf.inc
accepts the programs that compile where functions are only declared external, and needs no flag such as
.Fl fallow-argument-mismatch .
Types, kinds and ranks of arguments are not checked: an argument of the wrong kind makes a program read or write memory
beside it.
.Pp
New programs include
.Pa pnetcdf_checked.inc
in its place: with it the compiler refuses such arguments.
Buffers,
.Va start , count , stride , imap
and requests may be scalars, elements, or arrays of any rank there too.
The type of a buffer is not compared with the name of the function; nor does gfortran check the kind of
.Va start , count , stride
and
.Va imap .
A buffer of a posted request that is an array section, such as
.Ql a(1:9:2) ,
is a copy that is gone when the request is carried out: use
.Sy imap ,
or an MPI datatype.
.Ss Data
The functions are
.Sy nfmpi_ Ns Ar op Ns Sy _var Ns Ar shape Ns Sy _ Ns Ar type Ns Op Sy _all ,
where
.Ar op
is put, get, iput, iget or bput and only put and get have
.Sy _all .
.Bl -column "shape" "arguments"
.It Sy shape Ta Sy arguments
.It none Ta ncid, varid, buf
.It 1 Ta ncid, varid, start, buf
.It a Ta ncid, varid, start, count, buf
.It s Ta ncid, varid, start, count, stride, buf
.It m Ta ncid, varid, start, count, stride, imap, buf
.It n Ta ncid, varid, num, starts, counts, buf
.El
.Pp
.Bl -column "double" "double precision"
.It Sy type Ta Sy buffer
.It text Ta character
.It int1 Ta integer of 1 byte
.It int2 Ta integer of 2 bytes
.It int Ta integer
.It int8 Ta integer of 8 bytes
.It real Ta real
.It double Ta double precision
.It none Ta any; two arguments follow it: bufcount and buftype, an MPI datatype
.El
.Pp
The last argument of iput, iget and bput is the id of the request.
.Ss Other functions
m4_divert(-1)
m4_define([ROW], [m4_divert(0)m4_dnl
.Fn nfmpi_$1 EACH([DUMMY], [ ], [$3])
.br
m4_divert(-1)])
FUNCTIONS
VARD
m4_divert(0)m4_dnl
.Fn nfmpi_issyserr err
.Pp
.Fn nfmpi_strerror ,
.Fn nfmpi_strerrno
and
.Fn nfmpi_inq_libvers
are character(80), and errors have the names of
.Pa pnetcdf.inc ,
.Sy NF_EBADID ;
.Fn nfmpi_issyserr
is logical: whether a code is one of the operating system.
.Fn nfmpi_inq_last_error
takes \-1 for
.Va ncid
where any file is meant.
.Sh EXAMPLES
Every rank writes one column of a variable of 10 rows:
.Bd -literal
      integer(kind=MPI_OFFSET_KIND) start(2), count(2)
      real column(10)
      start(1) = 1
      start(2) = rank + 1
      count(1) = 10
      count(2) = 1
      err = nfmpi_put_vara_real_all(ncid, varid, start, count, column)
      if (err .ne. nf_noerr) print *, nfmpi_strerror(err)
.Ed
.Pp
Whole programs are in
.Pa examples/F77
of the source.
.Sh SEE ALSO
.Xr pnetcdf 3 ,
.Xr pnetcdf_hints 7 ,
.Xr pnetcdf-config 1
