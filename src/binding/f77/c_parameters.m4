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
    [$1], [strings_in], [const void *],
    [$1], [strings_out], [void *],
    [$1], [indices_in], [const MPI_Offset *],
    [$1], [sizes_in],   [const MPI_Offset *],
    [$1], [sizes_out],  [MPI_Offset *],
    [$1], [blocks_in],  [const MPI_Offset *],
    [$1], [block_sizes_in], [const MPI_Offset *],
    [$1], [element_out], [int *],
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
    [void pnc_f77_$1(EACH([C_PARAMETER], [, ], [$3P(message_out, nfmpi_result)]))],
    [int pnc_f77_$1(m4_ifelse([$3], [], [void], [EACH([C_PARAMETER], [, ], [$3])]))])])

m4_dnl The families, with the names of C.
m4_define([C_FAMILY_FUNCTION], [int pnc_f77_$1_var$2$6$5(EACH([C_PARAMETER], [, ], [MEMBER_PARAMETERS([$1], [$2], [$3])]))])

m4_dnl What a function behind an nfmpi_ procedure passes to the C function for an argument: the converted strings are in
m4_dnl variables that end in _c, the converted indices in `at'.
m4_define([PASSED_ON], [m4_ifelse(
    PASSING([$1]), [text_in],  [pnc_binding_text_convert($3, $3_len, $3_c)],
    PASSING([$1]), [text_out], [$3_c],
    PASSING([$1]), [comm_in],  [pnc_binding_comm_convert($3)],
    PASSING([$1]), [info_in],  [pnc_binding_info_convert($3)],
    PASSING([$1]), [type_in],  [MPI_Type_f2c($3)],
    PASSING([$1]), [info_out], [&$3_c],
    PASSING([$1]), [id_in],    [pnc_binding_id_convert($3)],
    PASSING([$1]), [index_in], [pnc_binding_index_convert($3)],
    PASSING([$1]), [indices_in], [at.$3],
    PASSING([$1]), [sizes_in], [at.$3],
    PASSING([$1]), [blocks_in], [at.$3],
    PASSING([$1]), [block_sizes_in], [at.$3],
    [$3])])
m4_divert[]m4_dnl
