m4_include(`common.m4')m4_include([fortran.m4])m4_dnl
.\" Generated from src/spec.
.Dd November 21, 2026
.Dt PNETCDF_F77 3
.Os
.Sh [NAME]
.Nm pnetcdf_f77
.Nd read and write netCDF files in parallel from Fortran: the nfmpi_ functions
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
.Sy ncmpi_ .
The constants are those of
.In pnetcdf.h
with
.Sy nf_
in place of
.Dv NC_ .
The version and feature constants
.Pq Dv PNETCDF_VERSION_MAJOR , PNETCDF_THREAD_SAFE
have the same names as in C; there is none named
.Dv PNETCDF_VERSION .
.Pa pnetcdf.inc
declares all of them.
Include it among the declarations, in fixed or free form, after
.Ql include 'mpif.h'
or after
.Ql use mpi
and
.Ql implicit none .
Functions are of type integer and return
.Sy nf_noerr
or a negative code, except as described below.
.Ss Differences from C
.Bl -bullet
.It
Ids of dimensions and variables, numbers of attributes and indices
.Pq Va start , Va starts , Va recno
count from 1;
.Sy nf_global
is 0.
.It
The first dimension of a variable varies fastest, as in Fortran arrays.
Lists of dimension ids,
.Va start , count , stride
and
.Va imap
are in that order.
.Xr ncmpidump 1
and C use the reverse order.
.It
.Va start , count , stride , imap ,
lengths and sizes are integers of kind
.Sy MPI_OFFSET_KIND ;
write a constant as
.Ql 1_MPI_OFFSET_KIND .
.Va starts
and
.Va counts
of varn are arrays
.Pq number of dimensions , num .
.It
Trailing blanks of names are removed, and a name ends at a NUL character.
A returned name or text is padded with blanks to the length of the variable that receives it.
If that variable is too short, it receives the beginning, and the function returns
.Sy nf_ests .
An array of single characters receives a complete attribute, as in C.
So does a variable of one character, because such an array may begin there.
.Fn nfmpi_put_att_text
writes
.Va length
characters.
.It
Communicators, info objects and datatypes are the integer handles of
.Pa mpif.h
and the module mpi.
.It
If
.Va count
of
.Fn nfmpi_wait
is
.Sy nf_req_all ,
.Sy nf_get_req_all
or
.Sy nf_put_req_all
neither array is accessed.
.El
.Pp
.Pa pnetcdf.inc
declares the functions external, and constants with literal values.
It has no word that
.Xr m4 1
or
.Ql cpp -traditional
replaces.
The compiler does not check arguments: with one of the wrong kind a program reads or writes memory outside of it.
If a program passes values of several types to one function, as to the flexible ones, gfortran 10 and later needs
.Fl fallow-argument-mismatch ,
which the compilers of MPICH contain.
With
.Fl Wextra
gfortran warns of each constant that a program does not use, unless
.Fl Wno-unused-parameter
follows.
.Pp
New programs should include
.Pa pnetcdf_checked.inc
instead: the compiler then rejects such arguments, without these flags.
Buffers,
.Va start , count , stride , imap
and requests may still be scalars, elements, or arrays of any rank.
The compiler does not compare the type of a buffer with the name of the function.
Gfortran does not check the kind of
.Va start , count , stride
and
.Va imap .
If the buffer of a posted request is an array section, such as
.Ql a(1:9:2) ,
the compiler passes a temporary copy, which no longer exists when the request completes: use
.Sy imap
or an MPI datatype instead.
.Ss Data
The functions are
.Sy nfmpi_ Ns Ar op Ns Sy _var Ns Ar shape Ns Sy _ Ns Ar type Ns Op Sy _all ,
where
.Ar op
is put, get, iput, iget or bput and only put and get have
.Sy _all .
.Bl -column "shape" "arguments"
.It Sy shape Ta Sy arguments
m4_divert(-1)
m4_define([SHAPE], [OUTPUT([m4_dnl
.It m4_ifelse([$1], [], [none], [$1]) Ta EACH([DUMMY], [, ], [MEMBER_PARAMETERS([put], [$1], [int])])
])])
SHAPES
m4_divert(0)m4_dnl
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
.It none Ta any; followed by two arguments: bufcount and buftype, an MPI datatype
.El
.Pp
The last argument of iput, iget and bput is the id of the request.
.Ss Other functions
m4_divert(-1)
m4_define([ROW], [OUTPUT([m4_dnl
.Fn nfmpi_$1 EACH([DUMMY], [ ], [$3])
.br
])])
FUNCTIONS
VARD
m4_divert(0)m4_dnl
.Fn nfmpi_issyserr err
.Pp
.Fn nfmpi_strerror ,
.Fn nfmpi_strerrno
and
.Fn nfmpi_inq_libvers
are of type character(80).
The text of a code is that of
.Xr ncmpi_strerror 3 .
Right after a call has failed, the text that
.Fn nfmpi_strerror
returns for its code is about the failure: cause and cure without the name of the file, after the meaning of the code if
there is space for both.
What does not fit is missing;
.Fn nfmpi_inq_last_error
returns all of it, with file, call and rank.
Error names are those of
.Pa pnetcdf.inc ,
such as
.Sy NF_EBADID .
.Fn nfmpi_issyserr
is logical: true if a code is an error code of the operating system.
.Fn nfmpi_inq_last_error
accepts \-1 as
.Va ncid ,
which means any file.
Messages name the procedure that the program called and the constants of
.Pa pnetcdf.inc ,
with ids, indices and the order of dimensions as the program passed them:
.Bd -literal
nfmpi_put_vara_real_all on rank 0: out.nc: start(2) = 9, but
dimension "lat" of variable "t" has length 8 (NF_EINVALCOORDS)
.Ed
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
The source contains complete programs in
.Pa examples/F77 .
.Sh SEE ALSO
.Xr pnetcdf 3 ,
.Xr pnetcdf_hints 7 ,
.Xr pnetcdf-config 1
