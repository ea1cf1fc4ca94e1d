m4_dnl Every public function that is no member of a family, once.
m4_dnl
m4_dnl FUNCTION(name, faces, parameters after ncid, documentation): works on an open dataset. The entry point
m4_dnl   ncmpi_<name> looks ncid up and calls pnc_dataset_<name>.
m4_dnl PLAIN(return type, name, faces, parameters, documentation): everything else; its body is in src/api.
m4_dnl CDL_FUNCTION(name, parameters, documentation): cdl_hdr_<name>, which reads a header in text form; its body is in
m4_dnl   src/api/cdl.c.
m4_dnl HEADING(text): a section of the header and of the manual.
m4_dnl
m4_dnl Parameters are P(role, name in C, name in Fortran if it differs) each; src/spec/roles.m4 has the roles.
m4_dnl Faces: the languages that have the function, and where its Fortran form comes from.
m4_dnl   all           nfmpi_<name> and nf90mpi_<name> are generated from the row
m4_dnl   f77           nfmpi_<name> is generated; the module has a form of its own, or none
m4_dnl   f77_by_hand   nfmpi_<name> is declared from the row and written by hand (src/binding/f77/special.c)
m4_dnl   c             C alone
m4_dnl Documentation says what it does; shapes and units; whether it is collective; the errors beside NC_EBADID and
m4_dnl   the failures of I/O (NC_EREAD, NC_EWRITE, NC_ENO_SPACE, NC_EQUOTA, NC_ENOMEM) that any call may meet.
m4_include([roles.m4])m4_dnl
m4_divert(-1)

m4_dnl Parameters as they read in a prototype, and as arguments; after ncid, each follows a comma.
m4_define([DECLARED], [m4_patsubst(C_TYPE([$1])[ $2], [\* ], [*])])
m4_define([PASSED_ON], [$2])
m4_define([PROTOTYPE], [m4_ifelse([$1], [], [void], [EACH([DECLARED], [, ], [$1])])])
m4_define([TYPED], [m4_ifelse([$1], [], [], [[, ]EACH([DECLARED], [, ], [$1])])])
m4_define([PASSED], [m4_ifelse([$1], [], [], [[, ]EACH([PASSED_ON], [, ], [$1])])])

m4_dnl ATTRIBUTE(suffix, C type, pnc_mem_type) for each member of put_att_<T> and get_att_<T>; ubyte is a second name of
m4_dnl uchar.
m4_define([ATTRIBUTE_OF], [ATTRIBUTE([$1], [$2], [PNC_]m4_UP([$1]))])
m4_define([EACH_ATTRIBUTE], [m4_pushdef([MEMTYPE], m4_defn([ATTRIBUTE_OF]))MEMTYPES[]m4_popdef([MEMTYPE])ATTRIBUTE([ubyte], [unsigned char], [PNC_UCHAR])])

m4_define([COLLECTIVE], [Collective.])
m4_define([LOCAL], [Local: any rank may call it at any time.])

m4_define([FUNCTIONS], [
HEADING([Files])

PLAIN([int], [create], [all], [P(comm, comm, mpi_comm)P(path, path)P(flags, cmode)P(info, info, mpi_info)P(ncid_out, ncidp, ncid)],
[Create a dataset and enter define mode. cmode: NC_CLOBBER or NC_NOCLOBBER, with NC_64BIT_OFFSET (CDF-2) or
NC_64BIT_DATA (CDF-5) for the larger formats; NC_DISKLESS and NC_MMAP are refused, other flags mean nothing. comm and
info may be freed afterwards. Collective over comm. Errors: NC_EEXIST NC_EINVAL_CMODE NC_ENOTBUILT (NC_NETCDF4)
NC_EBAD_FILE NC_EACCESS NC_ENFILE NC_EMULTIDEFINE_CMODE])

PLAIN([int], [open], [all], [P(comm, comm, mpi_comm)P(path, path)P(flags, omode)P(info, info, mpi_info)P(ncid_out, ncidp, ncid)],
[Open an existing dataset in collective data mode. omode: NC_NOWRITE or NC_WRITE; NC_DISKLESS and
NC_MMAP are refused, other flags mean nothing. Collective over comm. Errors: NC_ENOENT NC_EINVAL_OMODE NC_EACCESS
NC_ENOTNC NC_ENOTBUILT (HDF5) NC_EBAD_FILE NC_ENFILE NC_EMULTIDEFINE_OMODE NC_EMAXDIMS NC_EMAXATTS NC_EMAXVARS
NC_EMAXNAME (a count in the header that no file can have) NC_EVARSIZE])

PLAIN([int], [delete], [all], [P(path, filename, name)P(info, info, mpi_info)],
[Delete a file, by the driver that the hint nc_driver names. Call it on one rank. Errors: NC_ENOENT NC_EACCESS])

FUNCTION([redef], [all], [],
[Enter define mode again; leaves independent data mode. COLLECTIVE Errors: NC_EPERM NC_EINDEFINE])

FUNCTION([enddef], [f77], [],
[Leave define mode: lay the file out, move data that has to make room, write the header, fill new variables. COLLECTIVE
Errors: NC_ENOTINDEFINE NC_EVARSIZE])

FUNCTION([_enddef], [f77], [P(offset, h_minfree)P(offset, v_align)P(offset, v_minfree)P(offset, r_align)],
[Leave define mode with a choice of layout, all in bytes: free space after the header, alignment of the first fixed-size
variable, free space after the fixed-size variables, alignment of the first record. Hints outrank these arguments.
COLLECTIVE Errors: NC_ENOTINDEFINE NC_EVARSIZE NC_EINVAL])

FUNCTION([sync], [all], [],
[Write the number of records, and ask the file system to put all written data on the disk. Keeps the data mode,
independent or collective. COLLECTIVE Errors: NC_EINDEFINE])

FUNCTION([sync_numrecs], [all], [],
[Agree on the number of records and write it to the header. Keeps the data mode, independent or collective. COLLECTIVE
Errors: NC_EINDEFINE])

FUNCTION([flush], [all], [],
[Ask the file system to put written data on the disk. Keeps the mode. COLLECTIVE])

FUNCTION([begin_indep_data], [all], [],
[Enter independent data mode, in which each rank reads and writes on its own. COLLECTIVE Errors: NC_EINDEFINE])

FUNCTION([end_indep_data], [all], [],
[Go back to collective data mode; the ranks agree on the number of records. COLLECTIVE Errors: NC_EINDEFINE])

FUNCTION([abort], [all], [],
[Close without keeping definitions made since create (the file is deleted) or redef (they are dropped), and without the
requests that are pending. COLLECTIVE])

FUNCTION([close], [all], [],
[Close a dataset: end define mode where it is on, bring the file up to date. COLLECTIVE])

PLAIN([int], [set_default_format], [all], [P(flags, format, new_format)P(flags_out, old_formatp, old_format)],
[Format of files that ncmpi_create makes without a format flag: NC_FORMAT_CLASSIC, NC_FORMAT_CDF2 or NC_FORMAT_CDF5.
old_formatp may be NULL. LOCAL Errors: NC_EINVAL])

PLAIN([int], [inq_default_format], [all], [P(flags_out, formatp, default_format)],
[The format that ncmpi_create uses without a format flag. LOCAL Errors: NC_EINVAL])

PLAIN([int], [inq_file_format], [f77], [P(path, filename)P(flags_out, formatp, format)],
[The format of a file that need not be open: NC_FORMAT_CLASSIC, NC_FORMAT_CDF2, NC_FORMAT_CDF5, NC_FORMAT_NETCDF4 for
HDF5, NC_FORMAT_UNKNOWN for anything else. LOCAL Errors: NC_ENOENT NC_EACCESS NC_EBAD_FILE (no name) NC_EFILE (a
directory, or less than 8 bytes) NC_EREAD])

PLAIN([int], [inq_files_opened], [f77], [P(count_out, num)P(ncids_out, ncids)],
[Number and ids of the datasets that are open; either may be NULL, ncids has room for num of them. LOCAL])

PLAIN([int], [inq_malloc_size], [all], [P(offset_out, size)],
[Bytes that the library holds at present. Accounting is not built in: NC_ENOTENABLED. LOCAL])

PLAIN([int], [inq_malloc_max_size], [all], [P(offset_out, size)],
[The most bytes that the library ever held. Accounting is not built in: NC_ENOTENABLED. LOCAL])

PLAIN([int], [inq_malloc_list], [all], [],
[Print what the library holds. Accounting is not built in: NC_ENOTENABLED. LOCAL])

PLAIN([const char *], [strerror], [f77], [P(code, err)],
[The meaning of an error code. LOCAL])

PLAIN([const char *], [strerrno], [f77_by_hand], [P(code, err)],
[The name of an error code, such as "NC_EBADID". LOCAL])

PLAIN([int], [inq_last_error], [f77], [P(ncid, ncid)P(code_out, code)P(message_out, message)],
[What the last failing call on a file did wrong: its code, and a sentence that names the call, the rank, the file, the
variable or attribute, the index and its bound, and a cure. With -1 (NC_GLOBAL) as ncid: the last call of this thread
that failed, on any file or on none, such as ncmpi_create, ncmpi_open, or one with a bad ncid. Calls that succeed do not
change it. NC_NOERR where nothing has failed on the file yet, and then an empty message, or one that says that the file
was shorter than its header describes when it was opened. Either pointer may be NULL; message has room for
NC_MAX_MESSAGE characters, the terminating 0 included. LOCAL Errors: none])

PLAIN([const char *], [inq_libvers], [f77], [],
[Version of the library and date of its release. LOCAL])

HEADING([Definitions])

FUNCTION([def_dim], [f77], [P(name, name)P(length, len, length)P(dimid_out, idp, id)],
[Define a dimension of len elements; NC_UNLIMITED for the record dimension, of which there is one at most. COLLECTIVE
Errors: NC_EPERM NC_ENOTINDEFINE NC_EBADNAME NC_EMAXNAME NC_EDIMSIZE NC_EUNLIMIT NC_ENAMEINUSE])

FUNCTION([def_var], [f77_by_hand], [P(name, name)P(type, xtype)P(count, ndims)P(dimids, dimidsp, dimids)P(varid_out, varidp, varid)],
[Define a variable over ndims dimensions, slowest first; the record dimension can only be the first. COLLECTIVE Errors:
NC_EPERM NC_ENOTINDEFINE NC_EBADNAME NC_EMAXNAME NC_EBADTYPE NC_ESTRICTCDF2 NC_EINVAL NC_EBADDIM NC_EUNLIMPOS
NC_ENAMEINUSE])

FUNCTION([set_fill], [all], [P(flags, fillmode)P(flags_out, old_modep, old_mode)],
[Switch filling on or off for the variables of the dataset: NC_FILL or NC_NOFILL (the default); old_modep may be NULL.
COLLECTIVE Errors: NC_EPERM NC_ENOTINDEFINE NC_EINVAL])

FUNCTION([def_var_fill], [f77], [P(varid, varid)P(flags, no_fill)P(values, fill_value)],
[Switch filling of one variable off (no_fill 1) or on (0), with a fill value of the variable's type or NULL for the
default one. COLLECTIVE Errors: NC_EPERM NC_ENOTINDEFINE NC_ENOTVAR NC_EGLOBAL NC_ELATEFILL])

FUNCTION([rename_dim], [all], [P(dimid, dimid)P(name, name)],
[Give a dimension another name. In data mode the new name may not be longer than the old one. COLLECTIVE Errors:
NC_EPERM NC_EBADNAME NC_EBADDIM NC_ENAMEINUSE NC_ENOTINDEFINE])

FUNCTION([rename_var], [all], [P(varid, varid)P(name, name, newname)],
[Give a variable another name. In data mode the new name may not be longer than the old one. COLLECTIVE Errors: NC_EPERM
NC_EBADNAME NC_ENOTVAR NC_ENAMEINUSE NC_ENOTINDEFINE])

FUNCTION([fill_var_rec], [all], [P(varid, varid)P(recno, recno)],
[Fill one record of a record variable with its fill value: of a variable whose filling is on, or that has an attribute
_FillValue. COLLECTIVE Errors: NC_EPERM NC_EINDEFINE NC_EINDEP NC_EGLOBAL NC_ENOTVAR NC_ENOTRECVAR
NC_ENOTFILL NC_EINVAL (a negative record) NC_EINVALCOORDS (one that the format cannot count)])

HEADING([Attributes])

m4_dnl put_att_<T> and get_att_<T> for every memory type stand in the templates, between this heading and the rows
m4_dnl below.
ATTRIBUTES

FUNCTION([put_att], [f77], [P(varid, varid)P(name, name)P(type, xtype)P(length, nelems)P(values, value)],
[Create or replace an attribute from nelems values whose memory type is xtype's own. COLLECTIVE Errors: as put_att_<T>])

FUNCTION([get_att], [f77], [P(varid, varid)P(name, name)P(values_out, value)],
[Read an attribute in its own type; value has room for all its elements. LOCAL Errors: as get_att_<T>])

PLAIN([int], [copy_att], [all], [P(ncid, ncid_in)P(varid, varid_in)P(name, name)P(ncid, ncid_out)P(varid, varid_out)],
[Copy an attribute to another variable or dataset, or onto itself. COLLECTIVE Errors: as get_att and put_att])

FUNCTION([rename_att], [all], [P(varid, varid)P(name, name, curname)P(name, newname)],
[Give an attribute another name. In data mode the new name may not be longer than the old one. COLLECTIVE Errors:
NC_EPERM NC_ENOTVAR NC_EBADNAME NC_ENOTATT NC_ENAMEINUSE NC_ENOTINDEFINE])

FUNCTION([del_att], [all], [P(varid, varid)P(name, name)],
[Delete an attribute of a variable, or of the dataset (NC_GLOBAL). COLLECTIVE Errors: NC_EPERM NC_ENOTINDEFINE
NC_ENOTVAR NC_EBADNAME NC_ENOTATT])

FUNCTION([inq_att], [f77], [P(varid, varid)P(name, name)P(type_out, xtypep, xtype)P(length_out, lenp, length)],
[Type and number of elements of an attribute; either pointer may be NULL. varid NC_GLOBAL for the dataset's own. LOCAL
Errors: NC_ENOTVAR NC_EBADNAME NC_ENOTATT])

FUNCTION([inq_attid], [f77], [P(varid, varid)P(name, name)P(attnum_out, idp, id)],
[Number of an attribute, from 0. LOCAL Errors: NC_ENOTVAR NC_EBADNAME NC_ENOTATT])

FUNCTION([inq_atttype], [f77], [P(varid, varid)P(name, name)P(type_out, xtypep, xtype)],
[Type of an attribute. LOCAL Errors: NC_ENOTVAR NC_EBADNAME NC_ENOTATT])

FUNCTION([inq_attlen], [f77], [P(varid, varid)P(name, name)P(length_out, lenp, length)],
[Number of elements of an attribute. LOCAL Errors: NC_ENOTVAR NC_EBADNAME NC_ENOTATT])

FUNCTION([inq_attname], [all], [P(varid, varid)P(attnum, attnum)P(name_out, name)],
[Name of attribute number attnum (from 0); name has room for NC_MAX_NAME + 1 characters. LOCAL Errors: NC_ENOTVAR
NC_ENOTATT])

HEADING([Inquiry: every output pointer may be NULL])

FUNCTION([inq], [f77], [P(count_out, ndimsp, ndims)P(count_out, nvarsp, nvars)P(count_out, ngattsp, ngatts)P(dimid_out, unlimdimidp, unlimdimid)],
[What a dataset has: numbers of dimensions, variables and global attributes, and the record dimension's id or -1.
LOCAL])

FUNCTION([inq_ndims], [f77], [P(count_out, ndimsp, ndims)],
[Number of dimensions. LOCAL])
FUNCTION([inq_nvars], [f77], [P(count_out, nvarsp, nvars)], [Number of variables. LOCAL])
FUNCTION([inq_natts], [f77], [P(count_out, ngattsp, ngatts)], [Number of global attributes. LOCAL])
FUNCTION([inq_unlimdim], [f77], [P(dimid_out, unlimdimidp, unlimdimid)], [Id of the record dimension, or -1. LOCAL])
FUNCTION([inq_num_rec_vars], [all], [P(count_out, nvarsp, nvars)], [Number of record variables. LOCAL])
FUNCTION([inq_num_fix_vars], [all], [P(count_out, nvarsp, nvars)], [Number of fixed-size variables. LOCAL])

FUNCTION([inq_dim], [f77], [P(dimid, dimid)P(name_out, name)P(length_out, lenp, length)],
[What a dimension is: name (room for NC_MAX_NAME + 1 characters) and length, which is the number of records for the
record dimension. LOCAL Errors: NC_EBADDIM])
FUNCTION([inq_dimid], [all], [P(name, name)P(dimid_out, idp, dimid)],
[Id of the dimension of that name. LOCAL Errors: NC_EBADNAME NC_EBADDIM])
FUNCTION([inq_dimname], [f77], [P(dimid, dimid)P(name_out, name)],
[Name of a dimension (room for NC_MAX_NAME + 1 characters). LOCAL Errors: NC_EBADDIM])
FUNCTION([inq_dimlen], [f77], [P(dimid, dimid)P(length_out, lenp, length)],
[Number of elements of a dimension; number of records of the record dimension. LOCAL Errors: NC_EBADDIM])

FUNCTION([inq_var], [f77_by_hand], [P(varid, varid)P(name_out, name)P(type_out, xtypep, xtype)P(count_out, ndimsp, ndims)P(dimids_out, dimidsp, dimids)P(count_out, nattsp, natts)],
[What a variable is: name (room for NC_MAX_NAME + 1 characters), type, rank, dimension ids (room for rank of them) and
number of attributes. varid NC_GLOBAL serves for nattsp only. LOCAL Errors: NC_ENOTVAR NC_EGLOBAL])
FUNCTION([inq_varid], [all], [P(name, name)P(varid_out, varidp, varid)],
[Id of the variable of that name. LOCAL Errors: NC_EBADNAME NC_ENOTVAR])
FUNCTION([inq_varname], [f77], [P(varid, varid)P(name_out, name)],
[Name of a variable (room for NC_MAX_NAME + 1 characters). LOCAL Errors: NC_ENOTVAR])
FUNCTION([inq_vartype], [f77], [P(varid, varid)P(type_out, xtypep, xtype)],
[Type of a variable in the file: NC_INT, NC_DOUBLE ... LOCAL Errors: NC_ENOTVAR])
FUNCTION([inq_varndims], [f77], [P(varid, varid)P(count_out, ndimsp, ndims)],
[Number of dimensions of a variable, 0 for a scalar. LOCAL Errors: NC_ENOTVAR])
FUNCTION([inq_vardimid], [f77_by_hand], [P(varid, varid)P(dimids_out, dimidsp, dimids)],
[Ids of the dimensions of a variable, slowest first. LOCAL Errors: NC_ENOTVAR])
FUNCTION([inq_varnatts], [f77], [P(varid, varid)P(count_out, nattsp, natts)],
[Number of attributes of a variable, or of the dataset (NC_GLOBAL). LOCAL Errors: NC_ENOTVAR])
FUNCTION([inq_var_fill], [f77], [P(varid, varid)P(flags_out, no_fill)P(values_out, fill_value)],
[Fill mode of a variable: 1 where filling is off, and the fill value in the variable's own type. LOCAL Errors:
NC_ENOTVAR NC_EGLOBAL])
FUNCTION([inq_varoffset], [all], [P(varid, varid)P(offset_out, offset)],
[File offset in bytes of the variable's first element, as of the last ncmpi_enddef: 0 for a variable defined since. LOCAL
Errors: NC_ENOTVAR])

FUNCTION([inq_format], [f77], [P(flags_out, formatp, format)],
[Format of the file: NC_FORMAT_CLASSIC, NC_FORMAT_CDF2 or NC_FORMAT_CDF5. LOCAL])
FUNCTION([inq_version], [c], [P(flags_out, NC_mode)],
[The create flag of the format: 0, NC_64BIT_OFFSET or NC_64BIT_DATA. LOCAL])
FUNCTION([inq_path], [f77_by_hand], [P(count_out, pathlen)P(path_out, path)],
[The path given to create or open, and its length. LOCAL])
FUNCTION([inq_file_info], [all], [P(info_out, info_used, mpi_info)],
[The hints in use, the library's and the MPI library's, as a new info object that the caller frees. LOCAL])
FUNCTION([get_file_info], [all], [P(info_out, info_used, mpi_info)], [Older name of inq_file_info. LOCAL])
FUNCTION([inq_striping], [all], [P(count_out, striping_size)P(count_out, striping_count)],
[Stripe size in bytes and stripe count of the file, 0 where the file system does not tell. LOCAL])
FUNCTION([inq_header_size], [all], [P(offset_out, size, h_size)],
[Bytes that the header takes, as of the last ncmpi_enddef: 0 for a new file before its first one. LOCAL])
FUNCTION([inq_header_extent], [all], [P(offset_out, extent, h_extent)],
[Bytes reserved for the header, as of the last ncmpi_enddef: the first variable follows. 0 for a new file before its
first ncmpi_enddef. LOCAL])
FUNCTION([inq_recsize], [all], [P(offset_out, recsize)],
[Bytes of one record of all record variables, as of the last ncmpi_enddef: 0 for a new file before its first one. LOCAL])
FUNCTION([inq_put_size], [all], [P(offset_out, size, put_size)], [Bytes written so far by this rank. LOCAL])
FUNCTION([inq_get_size], [all], [P(offset_out, size, get_size)], [Bytes read so far by this rank. LOCAL])

HEADING([Nonblocking requests])

FUNCTION([wait], [f77_by_hand], [P(count, count)P(requests, array_of_requests, requests)P(statuses_out, array_of_statuses, statuses)],
[Carry out pending requests, in independent mode. count: how many ids there are in array_of_requests; or NC_REQ_ALL,
NC_GET_REQ_ALL, NC_PUT_REQ_ALL, and then both arrays may be NULL. Ids that are done become NC_REQ_NULL; entries that are
NC_REQ_NULL are skipped. array_of_statuses (or NULL) receives an error code per id. Local to the rank. Errors:
NC_EINDEFINE NC_ENOTINDEP NC_EINVAL_REQUEST NC_EINVAL NC_ERANGE])

FUNCTION([wait_all], [f77_by_hand], [P(count, count)P(requests, array_of_requests, requests)P(statuses_out, array_of_statuses, statuses)],
[Carry out pending requests in collective mode, named as for ncmpi_wait: the requests of all ranks are carried out
together. Numbers may differ across ranks, and be 0. COLLECTIVE Errors: NC_EINDEFINE NC_EINDEP NC_EINVAL_REQUEST
NC_EINVAL NC_ERANGE])

FUNCTION([cancel], [f77_by_hand], [P(count, num)P(requests, reqs)P(statuses_out, statuses)],
[Forget pending requests, named as for wait. LOCAL Errors: NC_EINVAL_REQUEST NC_EINVAL])

FUNCTION([inq_nreqs], [all], [P(count_out, nreqs)],
[Number of pending requests of this rank. LOCAL])

FUNCTION([buffer_attach], [all], [P(offset, bufsize)],
[Allow buffered puts to keep up to bufsize bytes, counted in the external types of the file. LOCAL Errors: NC_ENULLBUF
NC_EPREVATTACHBUF])

FUNCTION([buffer_detach], [all], [],
[Take back what ncmpi_buffer_attach allowed. LOCAL Errors: NC_ENULLABUF NC_EPENDINGBPUT])

FUNCTION([inq_buffer_usage], [all], [P(offset_out, usage)],
[Bytes of pending buffered puts. LOCAL Errors: NC_ENULLABUF])

FUNCTION([inq_buffer_size], [all], [P(offset_out, buf_size)],
[The bytes given to buffer_attach. LOCAL Errors: NC_ENULLABUF])

HEADING([Headers in CDL, the text that ncmpidump -h prints])

CDL_FUNCTION([open], [P(path, filename)P(hid_out, hid)],
[Read a file of CDL text, for example to create a dataset from it, and give it an id. All that the functions below
return by pointer belongs to the library and lives until cdl_hdr_close; every output pointer of theirs may be NULL. With
PNETCDF_VERBOSE=1 in the environment stderr tells what is wrong with the text, with line and column. LOCAL Errors:
NC_ENOENT NC_EACCESS NC_EBAD_FILE NC_ENFILE NC_EINVAL (hid is NULL); NC_ENOTNC (no CDL), NC_ECHAR (text and numbers in
one attribute), NC_ERANGE NC_ENOTVAR NC_EBADDIM NC_EBADTYPE NC_ESTRICTCDF2 and those of ncmpi_def_dim and
ncmpi_def_var])

CDL_FUNCTION([close], [P(hid, hid)],
[Forget a CDL header and all that the functions returned of it. LOCAL])

CDL_FUNCTION([inq_format], [P(hid, hid)P(flags_out, format)],
[Format of a CDL header: NC_FORMAT_CLASSIC, NC_FORMAT_CDF2 or NC_FORMAT_CDF5. It is what a comment "// file format:
CDF-n" says, else the smallest that holds all definitions. LOCAL])

CDL_FUNCTION([inq_ndims], [P(hid, hid)P(count_out, ndims)],
[Number of dimensions. LOCAL])

CDL_FUNCTION([inq_dim], [P(hid, hid)P(dimid, dimid)P(name_ref, name)P(length_out, size)],
[What a dimension of a CDL header is: name and length, which is NC_UNLIMITED for the record dimension. LOCAL Errors:
NC_EBADDIM])

CDL_FUNCTION([inq_nvars], [P(hid, hid)P(count_out, nvars)],
[Number of variables. LOCAL])

CDL_FUNCTION([inq_var], [P(hid, hid)P(varid, varid)P(name_ref, name)P(type_out, xtype)P(count_out, ndims)P(dimids_ref, dimids)],
[What a variable of a CDL header is: name, type, rank and dimension ids (NULL for a scalar). LOCAL Errors: NC_ENOTVAR])

CDL_FUNCTION([inq_nattrs], [P(hid, hid)P(varid, varid)P(count_out, nattrs)],
[Number of attributes of a variable, or of the file for NC_GLOBAL. LOCAL Errors: NC_ENOTVAR])

CDL_FUNCTION([inq_attr], [P(hid, hid)P(varid, varid)P(attnum, attrid)P(name_ref, name)P(type_out, xtype)P(length_out, nelems)P(values_ref, value)],
[What an attribute of a CDL header is, by its number attrid (from 0): name, type, number of elements and the elements in
the C type of xtype, ready for ncmpi_put_att. value is NULL where there are none. LOCAL Errors: NC_ENOTVAR NC_ENOTATT])
])

m4_dnl Checks of the rows above.
m4_define([CHECK_ROW], [CHECK_NAME([functions.m4], [$1], [$1])CHECK_PARAMETERS([functions.m4], [$1], [$3])m4_dnl
m4_ifelse([$2], [all], [], [$2], [f77], [], [$2], [f77_by_hand], [], [$2], [c], [],
    [REFUSE([functions.m4], [$1], ["$2" is not a word for its faces])])m4_dnl
m4_ifelse(m4_regexp([$4], [COLLECTIVE\|Collective\|LOCAL\|Local\|Call it on one rank]), -1,
    [REFUSE([functions.m4], [$1], [its documentation does not say whether it is collective])])])
m4_define([FUNCTION], [CHECK_COUNT([functions.m4], [$1], $#, 4, 4)CHECK_ROW($@)])
m4_define([PLAIN], [CHECK_COUNT([functions.m4], [$2], $#, 5, 5)CHECK_ROW(m4_shift($@))m4_dnl
m4_ifelse([$1], [int], [], [$1], [const char *], [], [REFUSE([functions.m4], [$2], [it returns "$1"])])])
m4_define([CDL_FUNCTION], [CHECK_COUNT([functions.m4], [$1], $#, 3, 3)CHECK_ROW([$1], [c], [$2], [$3])])
m4_define([HEADING], [CHECK_COUNT([functions.m4], [HEADING], $#, 1, 1)])
m4_define([ATTRIBUTES], [])
CHECK_ROWS([functions.m4], [FUNCTIONS])
m4_divert[]m4_dnl
