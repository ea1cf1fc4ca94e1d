m4_dnl The functions of the Fortran 90 module that pass their arguments on one by one, once. The template of the module
m4_dnl makes an interface of each row, the one of the C shims a function.
m4_dnl
m4_dnl F90(name, arguments): nf90mpi_<name> calls ncmpi_<name>. Arguments are A(kind, name) each, in the order of both
m4_dnl   languages. F90_HANDLES is the same for functions that take or return handles of MPI, which the module offers
m4_dnl   with integers and with the types of mpi_f08.
m4_dnl Kinds: int, offset, text (blanks at its end do not count), id (of a variable or dimension, or number of an
m4_dnl   attribute: from 1 in Fortran, from 0 in C), each also as <kind>_out; comm, info, info_out.
m4_divert(-1)
m4_define([NCID], [A(int, ncid)])
m4_define([VARID], [A(int, ncid)A(id, varid)])

m4_define([F90_FUNCTIONS], [
F90_HANDLES([create], [A(comm, mpi_comm)A(text, path)A(int, cmode)A(info, mpi_info)A(int_out, ncid)])
F90_HANDLES([open], [A(comm, mpi_comm)A(text, path)A(int, omode)A(info, mpi_info)A(int_out, ncid)])
F90_HANDLES([delete], [A(text, name)A(info, mpi_info)])
F90([redef], [NCID])
F90([sync], [NCID])
F90([sync_numrecs], [NCID])
F90([flush], [NCID])
F90([begin_indep_data], [NCID])
F90([end_indep_data], [NCID])
F90([abort], [NCID])
F90([close], [NCID])
F90([set_default_format], [A(int, new_format)A(int_out, old_format)])
F90([inq_default_format], [A(int_out, default_format)])
F90([inq_malloc_size], [A(offset_out, size)])
F90([inq_malloc_max_size], [A(offset_out, size)])
F90([inq_malloc_list], [])

F90([set_fill], [NCID[]A(int, fillmode)A(int_out, old_mode)])
F90([fill_var_rec], [VARID[]A(record, recno)])
F90([rename_dim], [NCID[]A(id, dimid)A(text, name)])
F90([rename_var], [VARID[]A(text, newname)])

F90([copy_att], [A(int, ncid_in)A(id, varid_in)A(text, name)A(int, ncid_out)A(id, varid_out)])
F90([rename_att], [VARID[]A(text, curname)A(text, newname)])
F90([del_att], [VARID[]A(text, name)])
F90([inq_attname], [VARID[]A(id, attnum)A(text_out, name)])

F90([inq_dimid], [NCID[]A(text, name)A(id_out, dimid)])
F90([inq_varid], [NCID[]A(text, name)A(id_out, varid)])
F90([inq_num_rec_vars], [NCID[]A(int_out, nvars)])
F90([inq_num_fix_vars], [NCID[]A(int_out, nvars)])
F90([inq_varoffset], [VARID[]A(offset_out, offset)])
F90_HANDLES([inq_file_info], [NCID[]A(info_out, mpi_info)])
F90_HANDLES([get_file_info], [NCID[]A(info_out, mpi_info)])
F90([inq_striping], [NCID[]A(int_out, striping_size)A(int_out, striping_count)])
F90([inq_header_size], [NCID[]A(offset_out, h_size)])
F90([inq_header_extent], [NCID[]A(offset_out, h_extent)])
F90([inq_recsize], [NCID[]A(offset_out, recsize)])
F90([inq_put_size], [NCID[]A(offset_out, put_size)])
F90([inq_get_size], [NCID[]A(offset_out, get_size)])

F90([inq_nreqs], [NCID[]A(int_out, nreqs)])
F90([buffer_attach], [NCID[]A(offset, bufsize)])
F90([buffer_detach], [NCID])
F90([inq_buffer_usage], [NCID[]A(offset_out, usage)])
F90([inq_buffer_size], [NCID[]A(offset_out, buf_size)])
])

m4_dnl The types of values: KIND(C name, C type, Fortran declaration, external type of the same values).
m4_define([KINDS], [m4_pushdef([MEMTYPE], m4_defn([KIND_OF]))MEMTYPES[]m4_popdef([MEMTYPE])])
m4_define([KIND_OF], [m4_ifelse([$4], [], [], [KIND([$1], [$2], m4_defn([DECLARED_$1]), [$3])])])
m4_define([DECLARED_text],     [character(len=*)])
m4_define([DECLARED_schar],    [integer(c_int8_t)])
m4_define([DECLARED_short],    [integer(c_int16_t)])
m4_define([DECLARED_int],      [integer(c_int)])
m4_define([DECLARED_longlong], [integer(c_int64_t)])
m4_define([DECLARED_float],    [real(c_float)])
m4_define([DECLARED_double],   [real(c_double)])

m4_dnl The kinds of the default fill values, of which pnetcdf.inc has most as integers.
m4_define([FILL_KIND], [m4_ifelse(
    [$1], [fill_char],  [integer(c_int8_t)],
    [$1], [fill_byte],  [integer(c_int8_t)],
    [$1], [fill_int1],  [integer(c_int8_t)],
    [$1], [fill_short], [integer(c_int16_t)],
    [$1], [fill_int2],  [integer(c_int16_t)],
    [$1], [fill_ubyte], [integer(c_int16_t)],
    [$2], [OFFSET],     [integer(c_int64_t)],
    [$2])])

m4_dnl The generics that move values: ACCESS(operation, _all or nothing).
m4_define([ACCESSES], [m4_pushdef([OPERATION], m4_defn([ACCESS_OF]))FAMILIES[]m4_popdef([OPERATION])])
m4_define([ACCESS_OF], [ACCESS([$1], [])m4_ifelse([$2], [twins], [ACCESS([$1], [_all])])])
m4_divert[]m4_dnl
