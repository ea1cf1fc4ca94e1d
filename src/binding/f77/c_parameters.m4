m4_dnl C declarations of the parameters of the functions behind the nfmpi_ procedures, by the way of passing
m4_dnl (src/spec/roles.m4).
m4_divert(-1)
m4_define([SHIM_TYPE], [m4_ifelse(
    [$1], [text_in],    [const char *],
    [$1], [text_out],   [char *],
    [$1], [chars_in],   [const char *],
    [$1], [chars_out],  [char *],
    [$1], [buffer_in],  [const void *],
    [$1], [buffer_out], [void *],
    [$1], [comm_in],    [MPI_Fint ],
    [$1], [info_in],    [MPI_Fint ],
    [$1], [type_in],    [MPI_Fint ],
    [$1], [info_out],   [MPI_Fint *],
    [$1], [list_in],    [const int *],
    [$1], [list],       [int *],
    [$1], [index_in],   [MPI_Offset ],
    [$1], [offset_in],  [MPI_Offset ],
    [$1], [offset_out], [MPI_Offset *],
    [$1], [id_out],     [int *],
    [$1], [int_out],    [int *],
    [int ])])
m4_define([IF_LENGTH], [m4_ifelse([$1], [text_in], [$2], [$1], [text_out], [$2], [$1], [chars_out], [$2])])
m4_define([C_PARAMETER], [SHIM_TYPE(PASSING([$1]))[]$3[]IF_LENGTH(PASSING([$1]), [[, ]size_t $3_len])])
m4_define([C_FUNCTION], [m4_ifelse([$4], [text],
    [void pnc_f77_$1(EACH([C_PARAMETER], [, ], [$3P(message_out, answer)]))],
    [int pnc_f77_$1(m4_ifelse([$3], [], [void], [EACH([C_PARAMETER], [, ], [$3])]))])])

m4_dnl The families, with the names of C. In Fortran the num blocks are one contiguous array, not a list of pointers.
m4_define([C_FAMILY_FUNCTION], [int pnc_f77_$1_var$2$6$5(int ncid, int varid, m4_dnl
m4_ifelse([$2], [n], [int num, const MPI_Offset *starts, const MPI_Offset *counts, ], [INDEX_PARAMETERS([$2])])m4_dnl
IS_PUT([$1])void *buf[]m4_ifelse([$6], [], [, MPI_Offset bufcount, MPI_Fint buftype])[]IS_POSTED([$1], [, int *req]))])
m4_divert[]m4_dnl
