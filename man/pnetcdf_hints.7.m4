m4_include(`common.m4')m4_include([hints.m4])m4_dnl
.\" Generated from src/spec/hints.m4.
.Dd November 21, 2026
.Dt PNETCDF_HINTS 7
.Os
.Sh NAME
.Nm pnetcdf_hints
.Nd hints on the layout and access of a file
.Sh DESCRIPTION
Hints affect the speed of access, the layout of the file, and which conditions are errors.
They never change the values in a file, except
.Li nc_quantize
and
.Li nc_error .
A hint is given, for each file, in one of these ways.
The first has the highest precedence:
.Bl -enum -compact
.It
in the environment variable
.Ev PNETCDF_HINTS
.Pq the value on rank 0 applies to all ranks ;
.It
in the
.Vt MPI_Info
given to
.Xr pnetcdf 3
.Fn ncmpi_create
or
.Fn ncmpi_open ;
.It
by an argument, if a function has one
.Pq Fn ncmpi__enddef ;
.It
by default.
.El
.Pp
.Fn ncmpi_inq_file_info
returns the hints in effect, including those that the MPI library reports.
.Ss PNETCDF_HINTS
.Bd -literal -offset indent
PNETCDF_HINTS='nc_ibuf_size=67108864;cb_nodes=8'
PNETCDF_HINTS='*.nc:striping_factor=4:nc_var_align_size=1048576,*.rst:cb_nodes=2'
.Ed
.Pp
Entries are separated by semicolons.
An entry
.Ql key=value
applies to every file.
An entry with a colon before its first equals sign is a list of file patterns as in
.Ev MPICH_MPIIO_HINTS
of Cray's MPI library: patterns are separated by commas, each followed by its hints, with a colon before each.
Only the first pattern that matches a file applies.
Its hints take precedence over the entries for every file.
If a pattern without hints matches a file, later patterns do not apply to it.
.Pp
In a pattern
.Ql *
matches any characters, including slashes,
.Ql \&?
matches one character and
.Ql [[0-9]]
matches one character of a set.
A pattern is compared with the path as passed to the library.
A pattern without a slash is also compared with the last component of the path.
A pattern cannot contain a colon, which ends it:
.Ql \&?
stands for one, and
.Ql wrfout*
matches the name
.Pa wrfout_d01_2005-08-28_00:00:00 .
With
.Ev PNETCDF_HINTS_DISPLAY
a pattern that matches no file is named when
.Fn MPI_Finalize
begins.
Blanks around keys, values and patterns are ignored.
The value of a hint in a pattern cannot contain a colon or a comma, except a colon before a number
.Pq Ql zstd:3 , abs:1e-3
and the commas of
.Li nc_chunks .
In a
.Ql key=value
for every file it can
.Pq Ql cb_config_list=*:1 .
Other text, a value that a hint cannot have, and an unknown hint that begins with nc_, are ignored, and rank 0 reports
them on stderr.
.Ss Variables
The hints
.Li nc_compression , nc_shuffle , nc_chunks , nc_quantize
and
.Li nc_error
are about variables that are defined while the file is open.
A name of a variable, or a pattern as above, may follow the hint, in
.Ev PNETCDF_HINTS
as in the
.Vt MPI_Info :
.Bd -literal -offset indent
PNETCDF_HINTS='*.nc:nc_format=netcdf4:nc_compression=deflate:nc_compression@T*=zstd:3'
PNETCDF_HINTS='out*.nc:nc_quantize@[TUV]=bitround:10:nc_chunks=time/1,lat/180'
PNETCDF_HINTS='out*.nc:nc_error=rel:1e-4:nc_error@T*=abs:0.01'
.Ed
.Pp
For a variable the hints of
.Ev PNETCDF_HINTS
decide before those of the
.Vt MPI_Info ,
then the pattern with most characters other than
.Ql *?[] ,
last the hint without a pattern.
The values on rank 0 apply to all ranks.
What the program itself has chosen for a variable stays.
.Ss PNETCDF_HINTS_DISPLAY
With
.Ev PNETCDF_HINTS_DISPLAY=1
rank 0 prints on stderr, for each file that is created or opened, every hint that was set with its value, its source
.Pq Vt MPI_Info No or Ev PNETCDF_HINTS ,
and whether it is used (it decides something for this file, with the number in effect if it is another one), in effect
(it has the value that the library always uses), ignored (with the reason, such as another hint that decides), or
unknown.
Of a hint that is passed to the MPI library, the value that it reports follows.
With
.Ev PNETCDF_HINTS_DISPLAY=all
all other hints follow, with the values that the library or the MPI library uses.
.Pp
Of a new file on Lustre a line says how many stripes it has, and why, or what prevents those that were chosen
.Pq Li file_striping ,
as where the MPI library ignores hints for them.
.Pp
Of a hint for variables the line says for which of them it is used.
When definitions end, rank 0 prints which hints name variables or dimensions that the file does not have, and which ones
are ignored as the program has chosen for all of their variables.
.Pp
Rank 0 also prints how calls access the file, for the first call of each class
.Pq put or get, collective or independent
and whenever that changes: the runs and bytes of its own request, whether the file is on a local file system or on
servers, the strategy that it chooses, and a table with what it expects of each.
A run is a sequence of bytes that are contiguous in the file.
.Bl -tag -width "bytes copied"
.It strategy
a value of the hint
.Li nc_strategy ,
below
.It ms
estimated milliseconds, the sum of what the next columns take; the suitable strategy with the least is chosen
.It accesses
reads or writes of the file by this rank; unless the file system is local, each of a stripe or less, or a read of data
sieving
.It locks
accesses of stripes that another node wrote last, so that a parallel file system must move their locks
.It bytes copied
within the memory of the node: to merge runs, or to and from an aggregator
.It bytes sent
to or from aggregators of other nodes
.It syncs
steps in which all ranks wait for each other
.It suitable
.Ql no :
not considered for this call, unless the hint forces it; what all ranks must know first
.Pq whether they get the same bytes, or whether their ranges of the file overlap
is not yet known here, so that collective calls may change to
.Li shared ,
.Li separate
or
.Li within_nodes
.El
.Pp
The costs are those of a local file system, or of one on servers that nodes share; they are not measured in the run.
If ranks need others, a second line says which strategy all have agreed on, also if the table says
.Ql no
for it. A list shows the aggregators of
.Li two_phase :
rank, node, and the first byte of the first block.
.Sh HINTS OF THE LIBRARY
Integers are decimal.
.Bl -tag -width Ds
m4_divert(-1)
m4_define([ITEM], [OUTPUT([m4_dnl
.It Li $1[]m4_ifelse([$2], [], [], [ (default: $2)])
$3[]m4_ifelse([$4], [], [], [.
$4]).
])])
m4_define([HINT_SIZE], [ITEM([$1], m4_ifelse([$3], [-1], [], [$3], [$5], [], [[$3]]), [$9], m4_ifelse([$6], [SENSELESS], [], [$6], [LEAST], [[At least $4]], [[At least $4; a negative number means as many as possible]]))])
m4_define([HINT_ALIAS], [ITEM([$1], [], [$3])])
m4_define([HINT_CHOICE], [ITEM([$1], [$3], [$6])])
m4_define([HINT_TEXT], [ITEM([$1], [], [$3])])
m4_define([HINT_FIXED], [])
m4_define([HINT_FREE], [])
m4_define([HINT_OUTPUT], [])
m4_define([HINT_PASSED], [])
m4_define([HINT_PASSED_SIZE], [])
m4_define([HINT_COMMON_SIZE], [])
m4_define([HINT_COMMON_CHOICE], [])
HINT_ROWS
m4_divert(0)m4_dnl
.El
.Sh HINTS WITHOUT EFFECT
Programs for other versions may set these hints.
They are accepted, and ignored for the stated reason.
.Bl -tag -width Ds
m4_divert(-1)
m4_define([HINT_SIZE], [])
m4_define([HINT_ALIAS], [])
m4_define([HINT_CHOICE], [])
m4_define([HINT_TEXT], [])
m4_define([HINT_FIXED], [ITEM([$1], [], [always $2: $3])])
m4_define([HINT_FREE], [ITEM([$1], [], [$3])])
m4_define([HINT_OUTPUT], [ITEM([$1], [], [$2])])
HINT_ROWS
m4_divert(0)m4_dnl
.El
.Sh HINTS OF THE LIBRARY AND OF MPI-IO
The library uses these hints in collective calls, and passes them to the MPI library.
.Fn ncmpi_inq_file_info
returns them as the MPI library reports them.
.Bl -tag -width Ds
m4_divert(-1)
m4_define([HINT_FIXED], [])
m4_define([HINT_FREE], [])
m4_define([HINT_OUTPUT], [])
m4_define([HINT_COMMON_SIZE], [ITEM([$1], [], [$4])])
m4_define([HINT_COMMON_CHOICE], [ITEM([$1], [], [$4])])
HINT_ROWS
m4_divert(0)m4_dnl
.El
.Sh HINTS OF MPI-IO
The library passes these hints and all unknown hints to the MPI library unchanged.
The MPI library decides which of them it uses.
A hint of this or the last section that is a number is passed only if it is an integer within its limits (at least 0 or
1, at most 2147483647), as some MPI libraries end the program or loop forever with others.
Most hints about its collective reads and writes have an effect only with
.Li nc_strategy=mpi_io ,
or where the library chooses this strategy.
.Bl -tag -width Ds
m4_divert(-1)
m4_define([HINT_COMMON_SIZE], [])
m4_define([HINT_COMMON_CHOICE], [])
m4_define([HINT_PASSED], [ITEM([$1], [], [$2])])
m4_define([HINT_PASSED_SIZE], [ITEM([$1], [], [$3])])
HINT_ROWS
m4_divert(0)m4_dnl
.El
.Pp
.Fn ncmpi_inq_striping
returns the stripe size and the stripe count that the file system reports (Lustre; of GPFS and BeeGFS the size only), or
.Li striping_unit
and
.Li striping_factor
as the MPI library reports them.
.Sh SEE ALSO
.Xr pnetcdf 3
