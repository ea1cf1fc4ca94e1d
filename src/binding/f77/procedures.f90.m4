m4_include(`common.m4')m4_include([fortran.m4])m4_dnl
! Generated from src/spec: the external procedures nfmpi_*. Each passes its arguments to the C function of the same name
! (access.c.m4, functions.c.m4), strings with their lengths. The C function converts ids, indices and orders.
m4_divert(-1)

m4_dnl A parameter: in the interface of the C function, in the procedure, and as an argument of the call of C.
m4_define([BASE_TYPE], [m4_ifelse(
    m4_index([$1], [text]), 0, [character(kind=c_char)],
    m4_index([$1], [chars]), 0, [character(kind=c_char)],
    m4_index([$1], [buffer]), 0, [type(*)],
    m4_index([$1], [offset]), 0, [integer(c_int64_t)],
    [$1], [index_in], [integer(c_int64_t)],
    [integer(c_int)])])
m4_define([IS_ARRAY], [m4_ifelse(m4_regexp([$1], [^\(text\|chars\|buffer\|list\)]), 0, [$2], [$3])])
m4_define([INTENT], [m4_ifelse(m4_regexp([$1], [_in$]), -1, [intent(inout)], [intent(in)])])
m4_define([ATTRIBUTE_OF_ARGUMENT], [IS_ARRAY([$1], [INTENT([$1])], [m4_ifelse(INTENT([$1]), [intent(in)], [value], [INTENT([$1])])])])
m4_define([IF_LENGTH], [m4_ifelse([$1], [text_in], [$2], [$1], [text_out], [$2], [$1], [chars_out], [$2], [$3])])

m4_define([C_DUMMY], [$3[]IF_LENGTH(PASSING([$1]), [[, ]$3_len])])
m4_define([C_DECLARATION], [
        BASE_TYPE(PASSING([$1])), ATTRIBUTE_OF_ARGUMENT(PASSING([$1])) :: $3[]IS_ARRAY(PASSING([$1]), [(*)])IF_LENGTH(PASSING([$1]), [
        integer(c_size_t), value :: $3_len])])
m4_define([DECLARATION], [
    m4_patsubst(BASE_TYPE(PASSING([$1])), [kind=c_char], [len=*]), INTENT(PASSING([$1])) :: $3[]m4_dnl
m4_ifelse(m4_index(PASSING([$1]), [text]), 0, [], [IS_ARRAY(PASSING([$1]), [(*)])])])
m4_define([ARGUMENT], [$3[]IF_LENGTH(PASSING([$1]), [[, ]len($3, c_size_t)])])

m4_define([PROCEDURE], [m4_divert(0)
function nfmpi_$1(EACH([DUMMY], [, ], [$3])) result(answer)
    use, intrinsic :: iso_c_binding
    implicit none
    interface
        $5 pnc_f77_$1(EACH([C_DUMMY], [, ], [$3$7])) &
            bind(c)
        import[]EACH([C_DECLARATION], [], [$3$7])
        end $6
    end interface[]EACH([DECLARATION], [], [$3])
    $4 :: answer

    m4_ifelse([$6], [subroutine], [call ], [answer = ])pnc_f77_$1(EACH([ARGUMENT], [, ], [$3$7]))
end function
m4_divert(-1)])
m4_define([ROW], [m4_ifelse([$4], [int], 
    [PROCEDURE([$1], [$2], [$3], [integer(c_int)], [integer(c_int) function], [function], [])],
    [PROCEDURE([$1], [$2], [$3], [character(len=80)], [subroutine], [subroutine], [P(message_out, answer)])])])
FUNCTIONS
VARD

m4_dnl The data families.
m4_define([F_INDEX], [m4_ifelse(
    [$1], [1], [start, ],
    [$1], [a], [start, count, ],
    [$1], [s], [start, count, stride, ],
    [$1], [m], [start, count, stride, imap, ],
    [$1], [n], [num, starts, counts, ])])
m4_define([F_INDEX_ARRAYS], [m4_ifelse(
    [$1], [1], [start(*)],
    [$1], [a], [start(*), count(*)],
    [$1], [s], [start(*), count(*), stride(*)],
    [$1], [m], [start(*), count(*), stride(*), imap(*)],
    [$1], [n], [starts(*), counts(*)])])
m4_define([F_INDEX_TYPE], [m4_ifelse([$1], [n], [
$2    integer(c_int), $3 :: num[]])m4_ifelse([$1], [], [], [
$2    integer(c_int64_t), intent(in) :: F_INDEX_ARRAYS([$1])])])
m4_define([F_BUFFER], [m4_ifelse([$2], [text], [character(len=*)], [type(*)]), m4_dnl
m4_ifelse([$1], [get], [intent(inout)], [$1], [iget], [intent(inout)], [intent(in)]) :: buf(*)])

m4_define([FLEXIBLE], [m4_ifelse([$1], [], [$2])])

m4_define([FORTRAN_MEMBER], [m4_divert(0)
function nfmpi_$1_var$2[]m4_ifelse([$3], [], [], [_$3])$5(ncid, varid, F_INDEX([$2])buf[]m4_dnl
FLEXIBLE([$6], [, bufcount, buftype])[]IS_POSTED([$1], [, req])) result(answer)
    use, intrinsic :: iso_c_binding
    implicit none
    interface
        integer(c_int) function pnc_f77_$1_var$2$6$5(ncid, varid, F_INDEX([$2])buf[]m4_dnl
FLEXIBLE([$6], [, bufcount, buftype])[]IS_POSTED([$1], [, req])) &
            bind(c)
        import
        integer(c_int), value :: ncid, varid[]FLEXIBLE([$6], [, buftype
        integer(c_int64_t), value :: bufcount])[]F_INDEX_TYPE([$2], [    ], [value])
        F_BUFFER([$1])[]IS_POSTED([$1], [
        integer(c_int), intent(inout) :: req])
        end function
    end interface
    integer(c_int), intent(in) :: ncid, varid[]FLEXIBLE([$6], [, buftype
    integer(c_int64_t), intent(in) :: bufcount])[]F_INDEX_TYPE([$2], [], [intent(in)])
    F_BUFFER([$1], [$3])
    integer(c_int) :: answer[]IS_POSTED([$1], [
    integer(c_int), intent(inout) :: req])

    answer = pnc_f77_$1_var$2$6$5(ncid, varid, F_INDEX([$2])buf[]m4_dnl
FLEXIBLE([$6], [, bufcount, buftype])[]IS_POSTED([$1], [, req]))
end function
m4_divert(-1)])
FAMILIES

m4_divert(0)
! Whether an error code is one of the operating system.
pure logical function nfmpi_issyserr(err)
    implicit none
    integer, intent(in) :: err

    nfmpi_issyserr = err > 0
end function
