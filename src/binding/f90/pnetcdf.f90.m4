m4_include(`common.m4')m4_include([errors.m4])m4_include([constants.m4])m4_include([types.m4])m4_include([families.m4])m4_include([fortran_constants.m4])m4_include([fortran_module.m4])m4_dnl
! Generated from src/spec: module pnetcdf, the Fortran 90 interface of PnetCDF; manual: pnetcdf_f90(3).
!
! It consists of constants and interfaces. The C functions behind them receive arrays of any rank as descriptors, so
! that a section is passed with its strides and is not copied. Values pass through a Fortran procedure: gfortran 12
! passes wrong strides to C functions, but right ones to Fortran procedures, for an allocatable array that an intrinsic
! has allocated. If the MPI library has mpi_f08, handles may be integers or of its types.
module pnetcdf
    use, intrinsic :: iso_c_binding, only: c_char, c_double, c_float, c_int, c_int8_t, c_int16_t, c_int32_t, c_int64_t
m4_ifdef([WITH_MPI_F08], [    use mpi_f08, only: f08_comm => mpi_comm, f08_datatype => mpi_datatype, f08_info => mpi_info
])m4_dnl
    implicit none
    private :: c_char, c_double, c_float, c_int, c_int8_t, c_int16_t, c_int32_t, c_int64_t
m4_ifdef([WITH_MPI_F08], [    private :: f08_comm, f08_datatype, f08_info
])m4_dnl

    include 'pnetcdf_checked.inc'

    ! Programs and tests of build files contain `call nfmpi_put_att(...)', which is valid as long as it is not declared.
    private :: nfmpi_put_att, nfmpi_get_att

    ! --- constants: those of pnetcdf.inc by other names, and some of other kinds ---

    integer(c_int64_t), parameter :: nf90mpi_unlimited = nfmpi_unlimited
m4_divert(-1)
m4_define([FORTRAN_CONSTANT], [OUTPUT([    FILL_KIND([$1], [$2]), parameter :: nf90_$1 = nf_$1
])])
FORTRAN_CONSTANTS

m4_dnl --- declarations of each kind of argument ---
m4_define([DECLARE_int_in], [            integer(c_int), intent(in) :: $1
])
m4_define([DECLARE_id_in], m4_defn([DECLARE_int_in]))
m4_define([DECLARE_offset_in], [            integer(c_int64_t), intent(in) :: $1
])
m4_define([DECLARE_index_in], m4_defn([DECLARE_offset_in]))
m4_define([DECLARE_text_in], [            character(len=*), intent(in) :: $1
])
m4_define([DECLARE_int_out], [            integer(c_int), intent(out) :: $1
])
m4_define([DECLARE_id_out], m4_defn([DECLARE_int_out]))
m4_define([DECLARE_offset_out], [            integer(c_int64_t), intent(out) :: $1
])
m4_define([DECLARE_text_out], [            character(len=*), intent(out) :: $1
])
m4_define([DECLARE_comm_in], [            HANDLE(f08_comm), intent(in) :: $1
])
m4_define([DECLARE_info_in], [            HANDLE(f08_info), intent(in) :: $1
])
m4_define([DECLARE_info_out], [            HANDLE(f08_info), intent(out) :: $1
])
m4_define([DECLARE], [m4_indir([DECLARE_]PASSING([$1]), [$3])])
m4_define([LISTED], [$3])

m4_dnl With both kinds of handles: AS_INTEGERS(text) and AS_TYPES(text), where HANDLE(type) declares one.
m4_define([AS_INTEGERS], [m4_pushdef([HANDLE], [integer(c_int)])$1[]m4_popdef([HANDLE])])
m4_define([AS_TYPES], [m4_ifdef([WITH_MPI_F08], [m4_pushdef([HANDLE], m4_defn([HANDLE_TYPE]))$1[]m4_popdef([HANDLE])])])
m4_define([HANDLE_TYPE], [type($1)])

m4_dnl BODY(name, C function, arguments, declarations): an interface body.
m4_define([BODY], [        integer(c_int) function $1($3) &
                bind(c, name="pncf90_$2")
            import
$4        end function
])

m4_define([F90], [OUTPUT([
    interface
BODY([nf90mpi_$1], [$1], [EACH([LISTED], [, ], [$2])], [EACH([DECLARE], [], [$2])])    end interface
])])
m4_define([F90_HANDLES], [OUTPUT([
    interface nf90mpi_$1
AS_INTEGERS([BODY([pncf90_$1], [$1], [EACH([LISTED], [, ], [$2])], [EACH([DECLARE], [], [$2])])])AS_TYPES([BODY([pncf90_$1_f08], [$1], [EACH([LISTED], [, ], [$2])], [EACH([DECLARE], [], [$2])])])    end interface
])])

m4_dnl --- the generics that put and get values: the C function behind each, its specifics, and their procedures ---
m4_define([IS_GET], [m4_ifelse(_op, [get], [$1], _op, [iget], [$1], [$2])])
m4_define([ARGUMENTS], [ncid, varid, values[]IS_POSTED(_op, [, req]), &
                _arguments])
m4_define([HEAD], [            integer(c_int), intent(in) :: ncid, varid
            $1, dimension(..), intent(IS_GET([inout], [in]))[]IS_POSTED(_op, [, asynchronous]) :: values
IS_POSTED(_op, [            integer(c_int), intent(out) :: req
])])
m4_define([INDEX], [            integer(c_int64_t), dimension(:), contiguous, intent(in), optional :: start, count, stride, map
])
m4_define([INDICES], [            integer(c_int64_t), dimension(:,:), contiguous, intent(in) :: start
            integer(c_int64_t), dimension(:,:), contiguous, intent(in), optional :: count
])
m4_define([NUM], [            integer(c_int), intent(in) :: num
])
m4_define([BUFTYPE], [            HANDLE(f08_datatype), intent(in) :: buftype
])
m4_define([BUFCOUNT], [            integer(c_int64_t), intent(in)$1 :: bufcount
])

m4_dnl The forms of a generic: FORM(name, suffix, arguments, declarations, SPECIFICs) with SPECIFIC(suffix, type of
m4_dnl values).
m4_define([FORMS_OF_VAR], [m4_dnl
FORM([var], [], [start, count, stride, map], [INDEX], [EACH_KIND])m4_dnl
FORM([var], [_flexible], [start, count, stride, map, bufcount, buftype], [INDEX[]BUFCOUNT([, optional])BUFTYPE], [EACH_HANDLE])])
m4_define([FORMS_OF_VARN], [m4_dnl
FORM([varn], [], [start, count], [INDICES], [EACH_KIND])m4_dnl
FORM([varn], [_num], [num, start, count], [NUM[]INDICES], [EACH_KIND])m4_dnl
FORM([varn], [_flexible], [num, start, count, bufcount, buftype], [NUM[]INDICES[]BUFCOUNT[]BUFTYPE], [EACH_HANDLE])m4_dnl
VALUE_FORM])
m4_dnl PnetCDF calls the scalar of varn `value' and other values `values'. Arguments in another order make the specifics
m4_dnl of scalars differ from those of any rank where the keyword is used, and only there (Fortran 2018, 15.4.3.4.5).
m4_define([VALUE_FORM], [FORM([varn], [_value], [start, count], [INDICES], [EACH_KIND])])
m4_define([FORM], [m4_define([_form], [$1])m4_define([_suffix], [$2])m4_define([_arguments], [$3])m4_define([_declarations], [$4])EMIT_FORM([$5])[]])
m4_define([EACH_KIND], [m4_pushdef([KIND], [SPECIFIC([_]$][1, $][3)])KINDS[]m4_popdef([KIND])])
m4_define([EACH_HANDLE], [AS_INTEGERS([SPECIFIC([], [type(*)])])AS_TYPES([SPECIFIC([_f08], [type(*)])])])
m4_define([C_NAME], [_op[]_[]_form[]_twin[]_suffix[]])
m4_define([ACCESS], [m4_define([_op], [$1])m4_define([_twin], [$2])OUTPUT([EMIT_ACCESS[]])])

m4_define([C_FUNCTION], [AS_INTEGERS([        integer(c_int) function pncf90_[]C_NAME[](ARGUMENTS) &
                bind(c, name="pncf90_[]C_NAME")
            import
HEAD([type(*)])_declarations[]        end function
])])
m4_define([GENERICS], [
    interface nf90mpi_[]_op[]_var[]_twin
FORMS_OF_VAR[]    end interface
    interface nf90mpi_[]_op[]_varn[]_twin
FORMS_OF_VARN[]    end interface
])
m4_define([IN_GENERIC], [        procedure :: C_NAME[]$1
])
m4_define([HIDDEN], [    private :: C_NAME[]$1
])
m4_dnl A handle of mpi_f08 is passed on as the integer in it.
m4_define([PROCEDURE], [
    integer(c_int) function C_NAME[]$1(ARGUMENTS) result(err)
HEAD([$2])_declarations
        err = pncf90_[]C_NAME[](ARGUMENTS[]m4_ifelse([$1], [_f08], [%mpi_val]))
    end function
])
m4_define([VALUE_PROCEDURE], [
    integer(c_int) function C_NAME[]$1(ncid, varid[]IS_POSTED(_op, [, req]), start, count, value) result(err)
            integer(c_int), intent(in) :: ncid, varid
            $2, intent(IS_GET([inout], [in]))[]IS_POSTED(_op, [, asynchronous]) :: value
IS_POSTED(_op, [            integer(c_int), intent(out) :: req
])INDICES
        err = pncf90_[]_op[]_varn[]_twin[](ncid, varid, value[]IS_POSTED(_op, [, req]), start, count)
    end function
])

m4_define([VARD_HEAD], [            integer(c_int), intent(in) :: ncid, varid
            HANDLE(f08_datatype), intent(in) :: filetype, buftype
            type(*), dimension(..), intent(m4_ifelse([$1], [put], [in], [inout])) :: buf
BUFCOUNT])
m4_define([VARD_PROCEDURE], [
    integer(c_int) function $1_vard$2$3(ncid, varid, filetype, buf, bufcount, buftype) result(err)
VARD_HEAD([$1])
        err = pncf90_$1_vard$2(ncid, varid, filetype$4, buf, bufcount, buftype$4)
    end function
])

m4_dnl --- the storage of a variable: optional arguments of nf90mpi_def_var and nf90mpi_inquire_variable ---
m4_define([STORAGE_NAMES], [&
                contiguous, chunksizes, deflate_level, shuffle, fletcher32, endianness, quantize_mode, nsd])
m4_dnl type(*): logical, which is not of C's kind.
m4_define([STORAGE_DUMMIES], [            type(*), intent(m4_ifelse([$1], [in], [in], [inout])), optional :: contiguous, shuffle, fletcher32
            integer(c_int), dimension(:), contiguous, intent(m4_ifelse([$1], [in], [in], [inout])), optional :: chunksizes
            integer(c_int), intent($1), optional :: deflate_level, endianness, quantize_mode, nsd
])

m4_dnl --- attributes and fill values: one value of each kind ---
m4_define([SCALAR], [m4_ifelse([$1], [text], [character(kind=c_char)], [$2])])
m4_define([FILL_OF_KIND], [BODY([pncf90_$1_$2], [$1_$2], [ncid, varid, no_fill, fill_value], [            integer(c_int), intent(in) :: ncid, varid
            integer(c_int), intent($4) :: no_fill
            SCALAR([$2], [$3]), intent($4) :: fill_value
])])
m4_define([ATT_HEAD], [            integer(c_int), intent(in) :: ncid, varid
            character(len=*), intent(in) :: name
])
m4_define([ATT_OF_KIND], [m4_ifelse([$2], [text],
[BODY([pncf90_$1_att_text], [$1_att_text], [ncid, varid, name, values], [ATT_HEAD[]            character(len=*), intent($4) :: values
])], [BODY([pncf90_$1_att_$2], [$1_att_$2], [ncid, varid, name, values], [ATT_HEAD[]            $3, intent($4) :: values
])BODY([pncf90_$1_att_$2s], [$1_att_$2s], [ncid, varid, name, values], [ATT_HEAD[]            $3, dimension(:), contiguous, intent($4) :: values
])])])
m4_divert[]m4_dnl

    ! --- files, definitions, attributes, inquiry, requests ---
F90_FUNCTIONS
m4_divert[]m4_dnl

    interface
BODY([nf90mpi_enddef], [enddef], [ncid, h_minfree, v_align, v_minfree, r_align], [            integer(c_int), intent(in) :: ncid
            integer(c_int64_t), intent(in), optional :: h_minfree, v_align, v_minfree, r_align
])    end interface

    interface nf90mpi_def_dim
BODY([pncf90_def_dim], [def_dim], [ncid, name, len, dimid], [            integer(c_int), intent(in) :: ncid
            character(len=*), intent(in) :: name
            integer(c_int64_t), intent(in) :: len
            integer(c_int), intent(out) :: dimid
])BODY([pncf90_def_dim_int], [def_dim_int], [ncid, name, len, dimid], [            integer(c_int), intent(in) :: ncid
            character(len=*), intent(in) :: name
            integer(c_int), intent(in) :: len
            integer(c_int), intent(out) :: dimid
])    end interface

    interface nf90mpi_def_var
BODY([pncf90_def_var_scalar], [def_var_scalar], [ncid, name, xtype, varid], [            integer(c_int), intent(in) :: ncid, xtype
            character(len=*), intent(in) :: name
            integer(c_int), intent(out) :: varid
])BODY([pncf90_def_var_one], [def_var_one_stored], [ncid, name, xtype, dimids, varid, STORAGE_NAMES], [            integer(c_int), intent(in) :: ncid, xtype, dimids
            character(len=*), intent(in) :: name
            integer(c_int), intent(out) :: varid
STORAGE_DUMMIES([in])])BODY([pncf90_def_var_many], [def_var_many_stored], [ncid, name, xtype, dimids, varid, STORAGE_NAMES], [            integer(c_int), intent(in) :: ncid, xtype
            character(len=*), intent(in) :: name
            integer(c_int), dimension(:), contiguous, intent(in) :: dimids
            integer(c_int), intent(out) :: varid
STORAGE_DUMMIES([in])])    end interface

    interface
BODY([nf90mpi_inquire], [inquire], [ncid, ndimensions, nvariables, nattributes, unlimiteddimid, formatnum], [            integer(c_int), intent(in) :: ncid
            integer(c_int), intent(out), optional :: ndimensions, nvariables, nattributes, unlimiteddimid, formatnum
])
BODY([nf90mpi_inquire_dimension], [inquire_dimension], [ncid, dimid, name, len], [            integer(c_int), intent(in) :: ncid, dimid
            character(len=*), intent(out), optional :: name
            integer(c_int64_t), intent(out), optional :: len
])
BODY([nf90mpi_inquire_variable], [inquire_variable_stored], [ncid, varid, name, xtype, ndims, dimids, natts, STORAGE_NAMES], [            integer(c_int), intent(in) :: ncid, varid
            character(len=*), intent(out), optional :: name
            integer(c_int), intent(out), optional :: xtype, ndims, natts
            integer(c_int), dimension(:), contiguous, intent(inout), optional :: dimids
STORAGE_DUMMIES([out])])
BODY([nf90mpi_inquire_attribute], [inquire_attribute], [ncid, varid, name, xtype, len, attnum], [ATT_HEAD[]            integer(c_int), intent(out), optional :: xtype, attnum
            integer(c_int64_t), intent(out), optional :: len
])
BODY([nf90mpi_inq_path], [inq_path], [ncid, pathlen, path], [            integer(c_int), intent(in) :: ncid
            integer(c_int), intent(out) :: pathlen
            character(len=*), intent(out) :: path
])
BODY([nf90mpi_inq_files_opened], [inq_files_opened], [nfiles, ncids], [            integer(c_int), intent(out) :: nfiles
            integer(c_int), dimension(:), contiguous, intent(inout) :: ncids
])m4_dnl
m4_divert(-1)
m4_define([ON_REQUESTS], [OUTPUT([
BODY([nf90mpi_$1], [$1], [ncid, num, req, st], [            integer(c_int), intent(in) :: ncid, num
            integer(c_int), dimension(:), contiguous, intent(inout) :: req, st
])])])
ON_REQUESTS([wait])
ON_REQUESTS([wait_all])
ON_REQUESTS([cancel])
m4_divert[]m4_dnl
    end interface

    ! The text of nf90mpi_strerror and its length. In a specification expression, a function must be pure.
    interface
        pure integer(c_int) function pncf90_strerror_length(ncerr) bind(c)
            import
            integer(c_int), intent(in) :: ncerr
        end function
        subroutine pncf90_strerror(ncerr, text) bind(c)
            import
            integer(c_int), intent(in) :: ncerr
            character(len=*), intent(out) :: text
        end subroutine
    end interface

    ! --- attributes and fill values of each type ---

    interface nf90mpi_put_att
m4_define([KIND], [ATT_OF_KIND([put], [$1], [$3], [in])])KINDS[]    end interface

    interface nf90mpi_get_att
m4_define([KIND], [ATT_OF_KIND([get], [$1], [$3], [inout])])KINDS[]    end interface

    interface nf90mpi_def_var_fill
m4_define([KIND], [FILL_OF_KIND([def_var_fill], [$1], [$3], [in])])KINDS[]    end interface

    interface nf90mpi_inq_var_fill
m4_define([KIND], [FILL_OF_KIND([inq_var_fill], [$1], [$3], [out])])KINDS[]    end interface

    ! --- values of variables, of each type and any rank: procedures and the C functions that they call ---

    interface
m4_divert(-1)
m4_define([EMIT_FORM], [m4_ifelse(_suffix, [_value], [], [C_FUNCTION])])
m4_define([EMIT_ACCESS], [FORMS_OF_VAR[]FORMS_OF_VARN])
ACCESSES
m4_define([EMIT_VARD], [OUTPUT([AS_INTEGERS([BODY([pncf90_$1_vard$2], [$1_vard$2], [ncid, varid, filetype, buf, bufcount, buftype], [VARD_HEAD([$1])])])])])
VARD
m4_divert[]m4_dnl
    end interface
m4_divert(-1)
m4_define([EMIT_FORM], [$1])
m4_define([EMIT_ACCESS], [GENERICS])
m4_define([SPECIFIC], m4_defn([IN_GENERIC]))
ACCESSES
m4_define([EMIT_VARD], [OUTPUT([
    interface nf90mpi_$1_vard$2
        procedure :: $1_vard$2
m4_ifdef([WITH_MPI_F08], [        procedure :: $1_vard$2_f08
])    end interface
])])
VARD
m4_define([EMIT_ACCESS], [FORMS_OF_VAR[]FORMS_OF_VARN])
m4_define([SPECIFIC], m4_defn([HIDDEN]))
OUTPUT([
])
ACCESSES
m4_define([EMIT_VARD], [OUTPUT([    private :: $1_vard$2[]m4_ifdef([WITH_MPI_F08], [, $1_vard$2_f08])
])])
VARD
m4_divert[]m4_dnl

contains

    function nf90mpi_strerror(ncerr)
        integer, intent(in) :: ncerr
        character(len=pncf90_strerror_length(ncerr)) :: nf90mpi_strerror

        call pncf90_strerror(ncerr, nf90mpi_strerror)
    end function

    character(len=80) function nf90mpi_strerrno(ncerr)
        integer, intent(in) :: ncerr

        nf90mpi_strerrno = nfmpi_strerrno(ncerr)
        if (nf90mpi_strerrno(3:3) == '_') then  ! NF_...; without // and its run-time library
            nf90mpi_strerrno(5:) = nf90mpi_strerrno(3:)
            nf90mpi_strerrno(3:4) = '90'
        end if
    end function

    character(len=80) function nf90mpi_inq_libvers()
        nf90mpi_inq_libvers = nfmpi_inq_libvers()
    end function

    pure logical function nf90mpi_issyserr(ncerr)
        integer, intent(in) :: ncerr

        nf90mpi_issyserr = nfmpi_issyserr(ncerr)
    end function
m4_divert(-1)
m4_define([SPECIFIC], [m4_ifelse(_suffix, [_value], [VALUE_PROCEDURE($@)], [PROCEDURE($@)])])
ACCESSES
m4_define([EMIT_VARD], [OUTPUT([AS_INTEGERS([VARD_PROCEDURE([$1], [$2])])AS_TYPES([VARD_PROCEDURE([$1], [$2], [_f08], [%mpi_val])])])])
VARD
m4_divert[]m4_dnl
end module pnetcdf
