m4_include(`common.m4')m4_include([fortran.m4])m4_dnl
! Generated from src/spec: the external procedures nfmpi_*. Each passes its arguments to the C function of the same name
! (access.c.m4, functions.c.m4), strings with their lengths. The C function converts ids, indices and orders.
m4_divert(-1)

m4_dnl A parameter: in the interface of the C function, in the procedure, and as an argument of the call of C.
m4_define([BASE_TYPE], [m4_ifelse(
    m4_regexp([$1], [^\(text\|chars\)_]), 0, [character(kind=c_char)],
    m4_regexp([$1], [^\(buffer\|strings\)_]), 0, [type(*)],
    m4_regexp([$1], [^\(offset\|index\|indices\|sizes\|blocks\|block_sizes\)_]), 0, [integer(c_int64_t)],
    [integer(c_int)])])
m4_define([IS_ARRAY], [m4_ifelse(m4_regexp([$1],
    [^\(text\|chars\|buffer\|strings\|list\|indices\|sizes\|blocks\|block_sizes\)\(_\|$\)]), 0, [$2], [$3])])
m4_define([INTENT], [m4_ifelse(m4_regexp([$1], [_in$]), -1, [intent(inout)], [intent(in)])])
m4_define([ATTRIBUTE_OF_ARGUMENT], [IS_ARRAY([$1], [INTENT([$1])], [m4_ifelse(INTENT([$1]), [intent(in)], [value], [INTENT([$1])])])])
m4_define([IF_LENGTH], [m4_ifelse([$1], [text_in], [$2], [$1], [text_out], [$2], [$1], [chars_out], [$2], [$3])])

m4_define([C_DUMMY], [$3[]IF_LENGTH(PASSING([$1]), [[, ]$3_len])])
m4_define([C_DECLARATION], [
        BASE_TYPE(PASSING([$1])), ATTRIBUTE_OF_ARGUMENT(PASSING([$1])) :: $3[]IS_ARRAY(PASSING([$1]), [(*)])IF_LENGTH(PASSING([$1]), [
        integer(c_size_t), value :: $3_len])])
m4_define([DECLARATION], [
    m4_ifelse(m4_regexp(PASSING([$1]), [^\(text\|chars\|strings\)_]), 0, [character(len=*)], m4_dnl
[BASE_TYPE(PASSING([$1]))]), INTENT(PASSING([$1])) :: $3[]m4_dnl
m4_ifelse(m4_index(PASSING([$1]), [text]), 0, [], [IS_ARRAY(PASSING([$1]), [(*)])])])
m4_define([ARGUMENT], [$3[]IF_LENGTH(PASSING([$1]), [[, ]len($3, c_size_t)])])

m4_define([PROCEDURE], [OUTPUT([
function nfmpi_$1(EACH([DUMMY], [, ], [$3])) result(nfmpi_result)
    use, intrinsic :: iso_c_binding
    implicit none
    interface
        $5 pnc_f77_$2(EACH([C_DUMMY], [, ], [$3$7])) &
            bind(c)
        import[]EACH([C_DECLARATION], [], [$3$7])
        end $6
    end interface[]EACH([DECLARATION], [], [$3])
    $4 :: nfmpi_result

    m4_ifelse([$6], [subroutine], [call ], [nfmpi_result = ])pnc_f77_$2(EACH([ARGUMENT], [, ], [$3$7]))
end function
])])
m4_define([ROW], [m4_ifelse([$4], [int], 
    [PROCEDURE([$1], [$1], [$3], [integer(c_int)], [integer(c_int) function], [function], [])],
    [PROCEDURE([$1], [$1], [$3], [character(len=80)], [subroutine], [subroutine], [P(message_out, nfmpi_result)])])])
FUNCTIONS
VARD

m4_dnl The names of the data families have Fortran's words for types, the C functions behind them those of C.
m4_define([FORTRAN_MEMBER], [PROCEDURE([$1_var$2[]m4_ifelse([$3], [], [], [_$3])$5], [$1_var$2$6$5], m4_dnl
[MEMBER_PARAMETERS([$1], [$2], [$3])], [integer(c_int)], [integer(c_int) function], [function], [])])
FAMILIES

m4_divert(0)
! Whether an error code is one of the operating system.
pure logical function nfmpi_issyserr(err)
    implicit none
    integer, intent(in) :: err

    nfmpi_issyserr = err > 0
end function
