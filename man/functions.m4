m4_include(`common.m4')m4_include([types.m4])m4_include([errors.m4])m4_include([families.m4])m4_include([functions.m4])m4_include([parameters.m4])m4_dnl
m4_dnl What src/spec says about functions, as lines for man/functions.awk, which makes the manual pages:
m4_dnl   @error code|when it is returned      @argument name|what it is      @type suffix|C type
m4_dnl   @section title                       the pages that follow belong to it
m4_dnl   @page name|one line                  then its description, up to the next line that begins with @
m4_dnl   @member page|prototype               a function that the page describes
m4_divert(-1)
m4_define([ERROR], [@error $1|$4
])
m4_define([PARAMETER], [@argument $1|$2
])
m4_pushdef([MEMTYPE], [@type $1|$2
])
m4_divert(0)m4_dnl
ERRORS[]m4_dnl
PARAMETERS_OF_FUNCTIONS[]m4_dnl
MEMTYPES[]m4_dnl
m4_divert(-1)
m4_popdef([MEMTYPE])
m4_define([HEADING], [OUTPUT([m4_dnl
@section $1
])])
m4_define([PLAIN], [OUTPUT([m4_dnl
@page ncmpi_$2|
$5
@member ncmpi_$2|m4_patsubst([$1 ], [\* ], [*])ncmpi_$2(PROTOTYPE([$4]))
])])
m4_define([CDL_FUNCTION], [OUTPUT([m4_dnl
@page cdl_hdr_$1|
$3
@member cdl_hdr_$1|int cdl_hdr_$1(PROTOTYPE([$2]))
])])
m4_define([FUNCTION], [OUTPUT([m4_dnl
@page ncmpi_$1|
$4
@member ncmpi_$1|int ncmpi_$1(int ncid[]TYPED([$3]))
])])
m4_define([ATTRIBUTE], [OUTPUT([m4_dnl
@member ncmpi_put_att_text|int ncmpi_put_att_$1(int ncid, int varid, const char *name, m4_ifelse([$1], [text], [], [nc_type xtype, ])MPI_Offset len, const $2 *op)
@member ncmpi_get_att_text|int ncmpi_get_att_$1(int ncid, int varid, const char *name, $2 *ip)
])])
m4_define([ATTRIBUTES], [OUTPUT([m4_dnl
@page ncmpi_put_att_text|create or replace an attribute
PUT_ATT_DOC
@page ncmpi_get_att_text|read an attribute
GET_ATT_DOC
])EACH_ATTRIBUTE[]])
FUNCTIONS

m4_dnl A page for each operation and shape.
m4_define([DOES], [m4_ifelse(
    [$1], [put],  [write],
    [$1], [get],  [read],
    [$1], [iput], [post writing of],
    [$1], [iget], [post reading of],
    [post buffered writing of])])
m4_define([PLACES], [m4_ifelse(
    [$1], [],  [whole variable],
    [$1], [1], [single element],
    [$1], [a], [hyperslab],
    [$1], [s], [strided hyperslab],
    [$1], [m], [hyperslab in mapped memory],
    [list of hyperslabs])])
m4_define([DETAIL], [m4_ifelse(
    [$1], [put],  [Write values from memory to],
    [$1], [get],  [Read values into memory from],
    [$1], [bput], [Post a request that stores a copy of the values and writes them later to],
    [$1], [iput], [Post a request that writes values later to],
    [Post a request that reads values later from])])
m4_define([POSTED_TEXT], [m4_ifelse([$1], [bput], [Nothing is written until ncmpi_wait or ncmpi_wait_all. *req receives the id of the request (req may be NULL);
BPUT_DOC.
Where pending puts of a rank overlap, the last one posted wins.], [Nonblocking functions POST_DOC])
LOCAL])
m4_define([ACCESS_PAGE], [OUTPUT([m4_dnl
@page ncmpi_$1_var$2|DOES([$1]) a PLACES([$2])
DETAIL([$1]) SHAPE_DOC([$2]).
m4_ifelse([$2], [n], [counts NULL: single elements.
])m4_dnl
MEMORY_DOC
m4_ifelse([$1], [put], [MODE_DOC], [$1], [get], [MODE_DOC], [POSTED_TEXT([$1])])
RANGE_DOC
Errors: m4_ifelse([$1], [bput], [NC_ENULLABUF NC_EINSUFFBUF ])ACCESS_ERRORS
])])
m4_define([EMIT], [m4_ifelse([$3$6], [text], [ACCESS_PAGE([$1], [$2])])OUTPUT([m4_dnl
@member ncmpi_$1_var$2|int NAME($@)[]PARAMETERS($@)
])])
HEADING([Data])
FAMILIES

m4_dnl What a macro says, in terms of the arrays that have an entry for each variable.
m4_define([EACH_OF], [m4_patsubst(m4_defn([$1]), [\<\(start\|count\|stride\|imap\|bufcount\)\>], [\1s[[i]]])])
m4_define([MULTI_PAGE], [OUTPUT([m4_dnl
@page ncmpi_m$1_var$2|m4_ifelse([$1], [put], [write], [read]) a PLACES([$2]) of several variables
Access to several variables: MULTI_DOC
For variable i: EACH_OF([MEANING_OF_$2]).
EACH_OF([MEMORY_DOC])
MODE_DOC
RANGE_DOC
Errors: ACCESS_ERRORS
])])
m4_define([EMIT_MULTI], [m4_ifelse([$3$6], [text], [MULTI_PAGE([$1], [$2])])OUTPUT([m4_dnl
@member ncmpi_m$1_var$2|int MULTI_NAME($@)[]MULTI_PARAMETERS($@)
])])
MULTI_FAMILIES

m4_define([EMIT_VARD], [m4_ifelse([$2], [], [OUTPUT([m4_dnl
@page ncmpi_$1_vard|m4_ifelse([$1], [put], [write], [read]) a region given as an MPI datatype
m4_ifelse([$1], [put], [Write], [Read]) values; VARD_DOC
Memory is described by bufcount elements of an MPI datatype.
MODE_DOC
RANGE_DOC
Errors: ACCESS_ERRORS NC_ETYPESIZE NC_ETYPE_MISMATCH
])])OUTPUT([m4_dnl
@member ncmpi_$1_vard|int ncmpi_$1_vard$2[]VARD_PARAMETERS([$1])
])])
VARD
