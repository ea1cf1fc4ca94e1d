m4_dnl The external types and the memory types. XTYPES and MEMTYPES expand a row for each.
m4_include([check.m4])m4_dnl
m4_divert(-1)

m4_dnl XTYPE(constant, bytes, CDL name, C type in which fill values are given, default fill value)
m4_define([XTYPES], [
XTYPE(NC_BYTE,   1, [byte],   [signed char],        NC_FILL_BYTE)
XTYPE(NC_CHAR,   1, [char],   [char],               NC_FILL_CHAR)
XTYPE(NC_SHORT,  2, [short],  [short],              NC_FILL_SHORT)
XTYPE(NC_INT,    4, [int],    [int],                NC_FILL_INT)
XTYPE(NC_FLOAT,  4, [float],  [float],              NC_FILL_FLOAT)
XTYPE(NC_DOUBLE, 8, [double], [double],             NC_FILL_DOUBLE)
XTYPE(NC_UBYTE,  1, [ubyte],  [unsigned char],      NC_FILL_UBYTE)
XTYPE(NC_USHORT, 2, [ushort], [unsigned short],     NC_FILL_USHORT)
XTYPE(NC_UINT,   4, [uint],   [unsigned int],       NC_FILL_UINT)
XTYPE(NC_INT64,  8, [int64],  [long long],          NC_FILL_INT64)
XTYPE(NC_UINT64, 8, [uint64], [unsigned long long], NC_FILL_UINT64)])

m4_dnl MEMTYPE(suffix in function names, C type, external type of the same values, suffix in Fortran or nothing)
m4_define([MEMTYPES], [m4_dnl
MEMTYPE(text,      [char],               NC_CHAR,   text)m4_dnl
MEMTYPE(schar,     [signed char],        NC_BYTE,   int1)m4_dnl
MEMTYPE(uchar,     [unsigned char],      NC_UBYTE)m4_dnl
MEMTYPE(short,     [short],              NC_SHORT,  int2)m4_dnl
MEMTYPE(ushort,    [unsigned short],     NC_USHORT)m4_dnl
MEMTYPE(int,       [int],                NC_INT,    int)m4_dnl
MEMTYPE(uint,      [unsigned int],       NC_UINT)m4_dnl
MEMTYPE(long,      [long],               NC_INT64)m4_dnl
MEMTYPE(float,     [float],              NC_FLOAT,  real)m4_dnl
MEMTYPE(double,    [double],             NC_DOUBLE, double)m4_dnl
MEMTYPE(longlong,  [long long],          NC_INT64,  int8)m4_dnl
MEMTYPE(ulonglong, [unsigned long long], NC_UINT64)])

m4_define([XTYPE], [CHECK_COUNT([types.m4], [$1], $#, 5, 5)CHECK_NAME([types.m4], [$1], [$1])m4_define([XTYPE_$1])])
m4_define([MEMTYPE], [CHECK_COUNT([types.m4], [$1], $#, 3, 4)CHECK_NAME([types.m4], [$1], [$1])m4_dnl
m4_ifdef([XTYPE_$3], [], [REFUSE([types.m4], [$1], ["$3" is not an external type])])])
CHECK_ROWS([types.m4], [XTYPES])
CHECK_ROWS([types.m4], [MEMTYPES])
m4_divert[]m4_dnl
