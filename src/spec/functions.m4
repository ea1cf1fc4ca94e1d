m4_dnl Every public function that is not a member of a family, once.
m4_dnl
m4_dnl FUNCTION(name, faces, parameters after ncid, documentation): works on an open dataset. The entry point
m4_dnl   ncmpi_<name> looks ncid up and calls pnc_dataset_<name>.
m4_dnl PLAIN(return type, name, faces, parameters, documentation): any other function; its body is in src/api.
m4_dnl CDL_FUNCTION(name, parameters, documentation): cdl_hdr_<name>, which reads a header in text form; its body is in
m4_dnl   src/api/cdl.c.
m4_dnl HEADING(text): a section of the header and of the manual.
m4_dnl
m4_dnl Parameters are P(role, name in C, name in Fortran if it differs) each; src/spec/roles.m4 has the roles.
m4_dnl Faces: the languages that have the function, and the origin of its Fortran form.
m4_dnl   all           nfmpi_<name> and nf90mpi_<name> are generated from the row
m4_dnl   f77           nfmpi_<name> is generated; the module has a different form, or none
m4_dnl   f77_by_hand   nfmpi_<name> is declared from the row and written by hand (src/binding/f77/special.c)
m4_dnl   c             C only
m4_dnl Documentation states what the function does; shapes and units; whether it is collective; its errors beside
m4_dnl   NC_EBADID and the failures that any call may return (NC_EREAD, NC_EWRITE, NC_ENO_SPACE, NC_EQUOTA, NC_ENOMEM).
m4_include([roles.m4])m4_dnl
m4_divert(-1)

m4_dnl Parameters in a prototype, and as arguments; after ncid, a comma precedes each.
m4_define([PASSED_ON], [$2])
m4_define([PROTOTYPE], [m4_ifelse([$1], [], [void], [EACH([DECLARED], [, ], [$1])])])
m4_define([TYPED], [m4_ifelse([$1], [], [], [[, ]EACH([DECLARED], [, ], [$1])])])
m4_define([PASSED], [m4_ifelse([$1], [], [], [[, ]EACH([PASSED_ON], [, ], [$1])])])

m4_dnl ATTRIBUTE(suffix, C type, pnc_mem_type) for each member of put_att_<T> and get_att_<T>; ubyte is a second name of
m4_dnl uchar.
m4_define([ATTRIBUTE_OF], [ATTRIBUTE([$1], [$2], [PNC_]m4_UP([$1]))])
m4_define([EACH_ATTRIBUTE], [m4_pushdef([MEMTYPE], m4_defn([ATTRIBUTE_OF]))MEMTYPES[]m4_popdef([MEMTYPE])ATTRIBUTE([ubyte], [unsigned char], [PNC_UCHAR])])

m4_define([SHARE_DOC], [flush the file to disk after each collective put and each ncmpi_wait_all that writes])
m4_define([COLLECTIVE], [Collective.])
m4_define([STORAGE_ERRORS], [Errors: NC_ENOTNC4 (the file is a classic one) NC_EPERM NC_ENOTINDEFINE NC_ENOTVAR NC_EGLOBAL
NC_ELATEDEF (the variable existed before ncmpi_redef)])
m4_define([LOCAL], [Local: any rank may call it at any time.])

m4_define([FUNCTIONS], [
HEADING([Files])

PLAIN([int], [create], [all], [P(comm, comm, mpi_comm)P(path, path)P(flags, cmode)P(info, info, mpi_info)P(ncid_out, ncidp, ncid)],
[Create a dataset and enter define mode. cmode: NC_CLOBBER or NC_NOCLOBBER, with NC_64BIT_OFFSET (CDF-2) or
NC_64BIT_DATA (CDF-5) for the larger formats, NC_NETCDF4 for a netCDF-4 file, NC_NETCDF4 | NC_CLASSIC_MODEL for one with
the types and the one unlimited dimension of classic files, and with NC_SHARE to SHARE_DOC. NC_DISKLESS, NC_MMAP and two
formats are errors; other flags have no effect. comm and info may be freed after the call. Collective over comm. Errors:
NC_EEXIST NC_EINVAL_CMODE NC_ENOTBUILT (NC_NETCDF4 without libhdf5) NC_EBAD_FILE NC_EACCESS (also: another program has
the netCDF-4 file that would be replaced open for writing) NC_ENFILE NC_EMULTIDEFINE_CMODE
NC_EPARINIT (MPI_Init was not called, or MPI_Finalize was)])

PLAIN([int], [open], [all], [P(comm, comm, mpi_comm)P(path, path)P(flags, omode)P(info, info, mpi_info)P(ncid_out, ncidp, ncid)],
[Open an existing dataset in collective data mode. omode: NC_NOWRITE or NC_WRITE, and with it NC_SHARE to SHARE_DOC.
NC_DISKLESS and NC_MMAP are errors; other flags have no effect: the file has its format. Collective over comm. Errors:
NC_ENOENT NC_EINVAL_OMODE NC_EACCESS (also: NC_WRITE, and another program has the netCDF-4 file open for writing)
NC_ENOTNC NC_EHDFERR NC_ENOTBUILT (netCDF-4 without libhdf5) NC_EBAD_FILE NC_ENFILE NC_EMULTIDEFINE_OMODE
NC_EMAXDIMS NC_EMAXATTS NC_EMAXVARS NC_EMAXNAME (a count in the header exceeds the limit of the
format) NC_EVARSIZE NC_EINTERRUPTED (a program has not completed a change of the header: with NC_WRITE, ncmpi_open
completes that if the program has ended; see the hint nc_repair. Or values are in the logs of a burst buffer only:
ncmpilog(1)) NC_EPARINIT (MPI_Init was not called, or MPI_Finalize
was)])

PLAIN([int], [delete], [all], [P(path, filename, name)P(info, info, mpi_info)],
[Delete a file with the driver in the hint nc_driver. Call it on one rank. Errors: NC_ENOENT NC_EACCESS
NC_EPARINIT (MPI_Init was not called, or MPI_Finalize was)])

FUNCTION([redef], [all], [],
[Enter define mode again. This leaves independent data mode. COLLECTIVE Errors: NC_EPERM NC_EINDEFINE])

FUNCTION([enddef], [f77], [],
[Leave define mode: compute the layout of the file, move data if the header or variables grew, write the header, fill
new variables. At the first ncmpi_enddef, a file with at least 1 MiB of data gets free space after its header for later
definitions. A later one that moves 1 MiB or more leaves 1/32 of it free (hint nc_header_reserve). COLLECTIVE Errors:
NC_ENOTINDEFINE NC_EVARSIZE NC_EMULTIDEFINE (dimensions or variables differ from those of rank 0, which are used)
NC_EMOVELIMIT (the hint nc_data_move_limit forbids the move) NC_ESTALE (another program or ncid has changed the header;
nothing is written)])

FUNCTION([_enddef], [f77], [P(offset, h_minfree)P(offset, v_align)P(offset, v_minfree)P(offset, r_align)],
[Leave define mode with a specified layout. The arguments are in bytes: free space after the header, alignment of the
first fixed-size variable, free space after the fixed-size variables, alignment of the first record. Hints take
precedence over these arguments. COLLECTIVE Errors: NC_ENOTINDEFINE NC_EVARSIZE NC_EINVAL NC_EMOVELIMIT
NC_ESTALE])

FUNCTION([sync], [all], [],
[Write the number of records, and request the file system to write all data to disk. Keeps the data mode, independent or
collective. COLLECTIVE Errors: NC_EINDEFINE NC_ESTALE (another program or ncid has written the netCDF-4 file; nothing is
written)])

FUNCTION([sync_numrecs], [all], [],
[Agree on the number of records and write it to the header. Keeps the data mode, independent or collective. COLLECTIVE
Errors: NC_EINDEFINE])

FUNCTION([flush], [all], [],
[Request the file system to write all data to disk. Keeps the mode. In independent mode, what ranks have put before the
call is read by all ranks after it, and does not replace what they put after it. COLLECTIVE])

FUNCTION([begin_indep_data], [all], [],
[Enter independent data mode, in which ranks read and write independently. COLLECTIVE Errors: NC_EINDEFINE])

FUNCTION([end_indep_data], [all], [],
[Return to collective data mode. The ranks agree on the number of records. COLLECTIVE Errors: NC_EINDEFINE])

FUNCTION([abort], [all], [],
[Close a dataset and discard its pending requests and the definitions since create (the file is deleted) or redef.
NC_EFILE: the path names another file than create has made, which is not deleted. COLLECTIVE])

FUNCTION([close], [all], [],
[Close a dataset: leave define mode if it is active, write what the file lacks. The dataset is closed even after an
error; after NC_EMULTICALL or NC_ETIMEOUT without the other ranks. COLLECTIVE Errors: NC_EPENDING NC_ESTALE (as in
ncmpi_sync) NC_EMULTICALL (other ranks are, or were, in another collective call)])

PLAIN([int], [set_default_format], [all], [P(flags, format, new_format)P(flags_out, old_formatp, old_format)],
[Set the format of files that ncmpi_create creates without a format flag: NC_FORMAT_CLASSIC, NC_FORMAT_CDF2 or
NC_FORMAT_CDF5. old_formatp may be NULL. LOCAL Errors: NC_EINVAL])

PLAIN([int], [inq_default_format], [all], [P(flags_out, formatp, default_format)],
[The format that ncmpi_create uses without a format flag. LOCAL Errors: NC_EINVAL])

PLAIN([int], [inq_file_format], [f77], [P(path, filename)P(flags_out, formatp, format)],
[The format of a file, which need not be open: NC_FORMAT_CLASSIC, NC_FORMAT_CDF2, NC_FORMAT_CDF5, NC_FORMAT_NETCDF4 for
HDF5, NC_FORMAT_NETCDF4_CLASSIC if it has the classic model, NC_FORMAT_UNKNOWN for anything else. LOCAL Errors:
NC_ENOENT NC_EACCESS NC_EBAD_FILE (no name) NC_EFILE (a directory, or a file of less than 8 bytes) NC_EREAD])

PLAIN([int], [inq_files_opened], [f77], [P(count_out, num)P(ncids_out, ncids)],
[Number and ids of the open datasets. Either pointer may be NULL; ncids is an array of at least num elements. LOCAL])

PLAIN([int], [inq_malloc_size], [all], [P(offset_out, size)],
[Bytes of memory that the library holds now. Accounting is not built in: NC_ENOTENABLED. LOCAL])

PLAIN([int], [inq_malloc_max_size], [all], [P(offset_out, size)],
[Maximum number of bytes of memory that the library has held. Accounting is not built in: NC_ENOTENABLED. LOCAL])

PLAIN([int], [inq_malloc_list], [all], [],
[Print the memory blocks that the library holds. Accounting is not built in: NC_ENOTENABLED. LOCAL])

PLAIN([const char *], [strerror], [f77_by_hand], [P(code, err)],
[The meaning of an error code. If the most recent call of this thread has returned this code, the text goes on with a
sentence about that failure: "NetCDF: Variable not found: in.nc has no variable "tmep"". It begins with the meaning of
the code in any case, has at most 255 characters, and is valid until the program ends. The text of nf90mpi_strerror is
as long as it must be. That of nfmpi_strerror has 80 characters: cause and cure without the name of the file, and the
meaning where it fits; nfmpi_inq_last_error returns all. LOCAL])

PLAIN([const char *], [strerrno], [f77_by_hand], [P(code, err)],
[The name of an error code, such as "NC_EBADID". LOCAL])

PLAIN([int], [inq_last_error], [all], [P(ncid, ncid)P(code_out, code)P(message_out, message)],
[Error code and message of the last call that failed on a file. The message names the call, the rank, the file, the
variable or attribute, the index and its bound, and a cure. With -1 (NC_GLOBAL) as ncid: the last call of this thread
that failed, on any file or without a file, such as ncmpi_create, ncmpi_open, or a call with a bad ncid. Calls that
succeed do not change it. If no call has failed on the file, the code is NC_NOERR. The message is then empty, or it
states that the file was shorter than its header describes when it was opened. Either pointer may be NULL; message is an
array of at least NC_MAX_MESSAGE characters, including the terminating 0. LOCAL Errors: none])

PLAIN([const char *], [inq_libvers], [f77], [],
[Version and release date of the library. LOCAL])

HEADING([Definitions])

FUNCTION([def_dim], [f77], [P(name, name)P(length, len, length)P(dimid_out, idp, id)],
[Define a dimension of len elements; NC_UNLIMITED for the record dimension. A dataset has at most one, a netCDF-4 file
without NC_CLASSIC_MODEL any number. There the name may be the path of a dimension of a group, such as /forecast/x.
COLLECTIVE Errors: NC_EPERM NC_ENOTINDEFINE NC_EBADNAME NC_EMAXNAME NC_EDIMSIZE NC_EUNLIMIT NC_ENAMEINUSE NC_ENOGRP (no
group has this path)])

FUNCTION([def_grp], [all], [P(name, name)],
[Define a group in a netCDF-4 file without NC_CLASSIC_MODEL. name: its path, such as forecast, or /forecast/high in the
group forecast, which must exist. Dimensions, variables and global attributes whose names begin with the path of a group
are in it; variables have dimensions of their group and of those above. COLLECTIVE Errors: NC_EPERM NC_ENOTINDEFINE
NC_EBADNAME NC_EMAXNAME NC_ENOTNC4 (a classic file) NC_ESTRICTNC3 (the classic model) NC_ENOGRP (no group above it has
this path) NC_ENAMEINUSE NC_ENOTSUPPORT (a file with groups that was opened without the hint nc_groups=all)])

FUNCTION([rename_grp], [all], [P(grpid, grpid)P(name, name)],
[Give group number grpid (as of ncmpi_inq_grpname) another name, in define mode. name: its own one, no path. What is in
the group gets the new path, and keeps its id. COLLECTIVE Errors: NC_EPERM NC_ENOTINDEFINE NC_ENOGRP NC_EBADNAME
NC_EMAXNAME NC_ENAMEINUSE NC_ENOTNC4 (a classic file) NC_ESTRICTNC3 (the classic model) NC_ENOTSUPPORT (a file with
groups that was opened without the hint nc_groups=all, or a Zarr store)])

FUNCTION([def_var], [f77_by_hand], [P(name, name)P(type, xtype)P(count, ndims)P(dimids, dimidsp, dimids)P(varid_out, varidp, varid)],
[Define a variable over ndims dimensions, slowest first; the record dimension can only be the first, but for a netCDF-4
file without NC_CLASSIC_MODEL. There the name may be the path of a variable of a group, such as /forecast/tas.
COLLECTIVE Errors: NC_EPERM NC_ENOTINDEFINE NC_EBADNAME NC_EMAXNAME NC_EBADTYPE
NC_ESTRICTCDF2 NC_EINVAL NC_EBADDIM (also: a dimension of another group) NC_EUNLIMPOS NC_ENAMEINUSE NC_ENOGRP (no group
has this path)])

FUNCTION([set_fill], [all], [P(flags, fillmode)P(flags_out, old_modep, old_mode)],
[Set the fill mode of the variables of the dataset: NC_FILL or NC_NOFILL (the default). old_modep may be NULL.
COLLECTIVE Errors: NC_EPERM NC_ENOTINDEFINE NC_EINVAL])

FUNCTION([def_var_fill], [f77], [P(varid, varid)P(flags, no_fill)P(values, fill_value)],
[Set the fill mode of one variable: off (no_fill 1) or on (0), with a fill value of the variable's type, or NULL for the
default fill value. Of a variable of NC_STRING the fill value is the address of a string, and filling is always on.
COLLECTIVE Errors: NC_EPERM NC_ENOTINDEFINE NC_ENOTVAR NC_EGLOBAL NC_ELATEFILL NC_EINVAL (of NC_STRING) NC_EBADTYPE
(from Fortran)])

FUNCTION([rename_dim], [all], [P(dimid, dimid)P(name, name)],
[Rename a dimension. In data mode the new name must not be longer than the old one. COLLECTIVE Errors:
NC_EPERM NC_EBADNAME NC_EBADDIM NC_ENAMEINUSE NC_ENOTINDEFINE NC_ESTALE])

FUNCTION([rename_var], [all], [P(varid, varid)P(name, name, newname)],
[Rename a variable. In data mode the new name must not be longer than the old one. COLLECTIVE Errors: NC_EPERM
NC_EBADNAME NC_ENOTVAR NC_ENAMEINUSE NC_ENOTINDEFINE NC_ESTALE])

FUNCTION([fill_var_rec], [all], [P(varid, varid)P(recno, recno)],
[Fill one record of a record variable with its fill value. The fill mode of the variable must be on, or the variable
must have an attribute _FillValue. COLLECTIVE Errors: NC_EPERM NC_EINDEFINE NC_EINDEP NC_EGLOBAL NC_ENOTVAR
NC_ENOTRECVAR NC_ENOTFILL NC_EINVAL (a negative record) NC_EINVALCOORDS (a record beyond the limit of the format)])

HEADING([Storage: chunks, filters, byte order, quantization])

FUNCTION([def_var_chunking], [f77_by_hand], [P(varid, varid)P(flags, storage)P(chunk_lengths, chunksizes)],
[Choose contiguous or chunked storage of a variable. storage: NC_CONTIGUOUS, NC_CHUNKED, or NC_COMPACT (in the metadata;
for a few values). chunksizes: with NC_CHUNKED, the elements of a chunk along each dimension; 0 there, or NULL: the
library chooses. COLLECTIVE STORAGE_ERRORS NC_EBADCHUNK (a length is negative or above that of a fixed dimension, or a
chunk has 4 GiB) NC_EINVAL (not a storage; NC_CHUNKED for a scalar; another with an unlimited dimension or filters)
NC_EFILTER (szip with blocks that are longer than chunks) NC_EVARSIZE (NC_COMPACT for more than 65531 bytes)])

FUNCTION([inq_var_chunking], [f77_by_hand], [P(varid, varid)P(flags_out, storagep, storage)P(chunk_lengths_out, chunksizesp, chunksizes)],
[Storage of a variable, and the elements of a chunk along each dimension, also those that ncmpi_enddef will choose;
nothing is written unless the storage is NC_CHUNKED. In a classic file: NC_CONTIGUOUS. Either pointer may be NULL. LOCAL
Errors: NC_ENOTVAR NC_EGLOBAL])

FUNCTION([def_var_sharding], [f77_by_hand], [P(varid, varid)P(chunk_lengths, shardsizes)],
[Choose the shards of a variable in a Zarr store: files that have many chunks. shardsizes: the elements of a shard along
each dimension, multiples of the chunk lengths, which ncmpi_def_var_chunking has set before; NULL (in Fortran 0): a file
for each chunk. Without this call the hint nc_shards chooses. COLLECTIVE STORAGE_ERRORS NC_ENOTSUPPORT (a netCDF-4 file,
which has no shards) NC_EBADCHUNK (a length is not a multiple of that of the chunks, or a shard has more than 4194304
chunks) NC_EINVAL (a chunk length is not set; a scalar)])

FUNCTION([inq_var_sharding], [f77_by_hand], [P(varid, varid)P(chunk_lengths_out, shardsizesp, shardsizes)],
[Elements of a shard of a variable along each dimension: 0 where the variable has none, or ncmpi_enddef will choose.
LOCAL Errors: NC_ENOTVAR NC_EGLOBAL])

FUNCTION([def_var_deflate], [all], [P(varid, varid)P(flags, shuffle)P(flags, deflate)P(flags, deflate_level, level)],
[Compress a variable by deflate, the filter that every reader of netCDF-4 has, and order its bytes by shuffle before.
shuffle, deflate: 1 on, 0 off. deflate_level: 0 to 9; higher levels are slower and rarely much smaller. The variable
becomes chunked. COLLECTIVE STORAGE_ERRORS NC_EINVAL (a level out of range; a scalar)])

FUNCTION([inq_var_deflate], [all], [P(varid, varid)P(flags_out, shufflep, shuffle)P(flags_out, deflatep, deflate)P(flags_out, deflate_levelp, level)],
[Whether shuffle and deflate are on, and the level, 0 without. Every pointer may be NULL. LOCAL Errors: NC_ENOTVAR
NC_EGLOBAL])

FUNCTION([def_var_fletcher32], [all], [P(varid, varid)P(flags, fletcher32)],
[Store a checksum with each chunk of a variable, which is checked when it is read: NC_FLETCHER32 on, NC_NOCHECKSUM off.
The variable becomes chunked. COLLECTIVE STORAGE_ERRORS NC_EINVAL (a scalar)])

FUNCTION([inq_var_fletcher32], [all], [P(varid, varid)P(flags_out, fletcher32p, fletcher32)],
[NC_FLETCHER32 if chunks of the variable have checksums, otherwise NC_NOCHECKSUM. LOCAL Errors: NC_ENOTVAR NC_EGLOBAL])

FUNCTION([def_var_endian], [all], [P(varid, varid)P(flags, endian)],
[Choose the byte order of the values of a variable in the file: NC_ENDIAN_NATIVE (that of this machine, the default),
NC_ENDIAN_LITTLE or NC_ENDIAN_BIG. COLLECTIVE STORAGE_ERRORS NC_EINVAL (another value; a variable of characters)])

FUNCTION([inq_var_endian], [all], [P(varid, varid)P(flags_out, endianp, endian)],
[Byte order of the values of a variable in the file. LOCAL Errors: NC_ENOTNC4 NC_ENOTVAR NC_EGLOBAL])

FUNCTION([def_var_filter], [f77], [P(varid, varid)P(filter, filterid, id)P(length, nparams)P(words, params)],
[Add a filter of HDF5 to a variable, by its registered id, such as 1 (deflate) or 32015 (zstd), with nparams parameters;
params may be NULL if there are none. Chunks pass filters in the order of their definition. A filter that the variable
has gets the new parameters. The variable becomes chunked. Filters that are not the library's are plugins of HDF5, found
where HDF5_PLUGIN_PATH says, on every rank; one that refuses the variable is NC_EFILTER of ncmpi_enddef, and one that
does not encode is NC_EFILTER of the put. A chunk that a plugin makes no smaller may be stored without it. COLLECTIVE
STORAGE_ERRORS NC_EINVAL (a scalar; a level or another parameter out of range) NC_EFILTER (not an id; deflate, szip or
zstd with a wrong number of parameters; nbit and scaleoffset, which are only decoded; szip of NC_CHAR, or with blocks
that are longer than chunks) NC_ENOFILTER (no plugin has the filter)])

FUNCTION([inq_var_filter_ids], [f77], [P(varid, varid)P(length_out, nfiltersp, nfilters)P(words_out, filterids)],
[Number of filters of a variable, and their ids in the order in which chunks pass them. Either pointer may be NULL; at
most 32 ids. LOCAL Errors: NC_ENOTVAR NC_EGLOBAL])

FUNCTION([inq_var_filter_info], [f77], [P(varid, varid)P(filter, filterid, id)P(length_out, nparamsp, nparams)P(words_out, params)],
[Number of parameters of a filter of a variable, and the parameters. Either pointer may be NULL. LOCAL Errors:
NC_ENOTVAR NC_EGLOBAL NC_ENOFILTER (the variable has no such filter)])

FUNCTION([def_var_zstandard], [all], [P(varid, varid)P(flags, level)],
[Compress a variable by zstd: faster than deflate, but readers need a plugin of HDF5. level: -131072 to 22. The variable
becomes chunked. COLLECTIVE STORAGE_ERRORS NC_EINVAL (a level out of range; a scalar)])

FUNCTION([inq_var_zstandard], [all], [P(varid, varid)P(flags_out, hasfilterp, hasfilter)P(flags_out, levelp, level)],
[Whether a variable is compressed by zstd, and the level, unchanged without. Either pointer may be NULL. LOCAL Errors:
NC_ENOTVAR NC_EGLOBAL])

FUNCTION([def_var_quantize], [all], [P(varid, varid)P(flags, quantize_mode)P(flags, nsd)],
[Keep nsd significant digits of the values of an NC_FLOAT or NC_DOUBLE variable, so that they compress better.
quantize_mode: NC_QUANTIZE_BITGROOM or NC_QUANTIZE_GRANULARBR with decimal digits, at most 7 or 15;
NC_QUANTIZE_BITROUND with bits, at most 23 or 52; NC_NOQUANTIZE. Puts quantize a copy, with the bits of netCDF-C;
_FillValue, missing_value, zeros, NaN and infinities stay as they are. The attribute of netCDF-C says so from
ncmpi_enddef on; in a file that is opened it decides. COLLECTIVE STORAGE_ERRORS NC_EINVAL (another mode, a number out
of range, another type)])

FUNCTION([inq_var_quantize], [all], [P(varid, varid)P(flags_out, quantize_modep, quantize_mode)P(flags_out, nsdp, nsd)],
[Quantization of a variable, and its significant digits or bits. Either pointer may be NULL. LOCAL Errors: NC_ENOTNC4
NC_ENOTVAR NC_EGLOBAL])

FUNCTION([var_set_chunk], [f77_by_hand], [P(varid, varid)P(chunk_dims, chunk_dim)],
[Store a variable in chunks: chunk_dim has the elements of a chunk along each dimension. As ncmpi_def_var_chunking with
NC_CHUNKED. COLLECTIVE STORAGE_ERRORS NC_EBADCHUNK NC_EINVAL])

FUNCTION([var_get_chunk], [f77_by_hand], [P(varid, varid)P(chunk_dims_out, chunk_dim)],
[Elements of a chunk along each dimension. LOCAL Errors: NC_ENOTNC4 NC_ENOTVAR NC_EGLOBAL NC_EINVAL (the variable is not
chunked)])

FUNCTION([var_set_filter], [all], [P(varid, varid)P(flags, filter)],
[Compress a variable: NC_FILTER_DEFLATE (with shuffle, level 1), or NC_FILTER_NONE. COLLECTIVE STORAGE_ERRORS
NC_ENOFILTER (another filter) NC_EINVAL (a scalar)])

FUNCTION([var_get_filter], [all], [P(varid, varid)P(flags_out, filterp, filter)],
[NC_FILTER_DEFLATE if a variable is compressed by deflate, otherwise NC_FILTER_NONE. LOCAL Errors: NC_ENOTVAR
NC_EGLOBAL])

HEADING([Attributes])

m4_dnl The templates insert put_att_<T> and get_att_<T> for every memory type between this heading and the rows below.
ATTRIBUTES

FUNCTION([put_att], [f77], [P(varid, varid)P(name, name)P(type, xtype)P(length, nelems)P(values, value)],
[Create or replace an attribute from nelems values in the C type of xtype; NC_STRING: as ncmpi_put_att_string.
COLLECTIVE Errors: as put_att_<T>])

FUNCTION([get_att], [f77], [P(varid, varid)P(name, name)P(values_out, value)],
[Read all elements of an attribute without conversion; value is an array for all of them. LOCAL Errors: as get_att_<T>])

FUNCTION([put_att_string], [c], [P(varid, varid)P(name, name)P(length, nelems)P(texts, op)],
[Create or replace an attribute of nelems strings (NC_STRING) in a netCDF-4 file without NC_CLASSIC_MODEL. op: strings
in UTF-8 with a null character at their ends; NULL among them stays NULL. Other attribute functions see one text
(NC_CHAR), with newlines between the strings. COLLECTIVE Errors: as put_att_<T>, and NC_EBADTYPE (a classic file)
NC_ESTRICTNC3 (a netCDF-4 file with the classic model)])

FUNCTION([get_att_string], [c], [P(varid, varid)P(name, name)P(texts_out, ip)],
[Read the strings of an attribute, as many as ncmpi_inq_att_string says. Pass them to ncmpi_free_string afterwards.
LOCAL Errors: NC_ENOTVAR NC_EBADNAME NC_ENOTATT NC_EBADTYPE (the attribute has no strings) NC_EINVAL])

FUNCTION([inq_att_string], [c], [P(varid, varid)P(name, name)P(length_out, nstringsp)],
[Number of strings of an attribute; -1: it is not of NC_STRING, but a text or numbers. Strings of one length, as h5py
writes them of numpy arrays, are strings if there are several. LOCAL Errors: NC_ENOTVAR NC_EBADNAME NC_ENOTATT])

PLAIN([int], [free_string], [c], [P(length, len)P(texts_out, texts)],
[Free len strings that ncmpi_get_att_string has returned, but not their array; each becomes NULL. LOCAL Errors:
NC_EINVAL])

PLAIN([int], [copy_att], [all], [P(ncid, ncid_in)P(varid, varid_in)P(name, name)P(ncid, ncid_out)P(varid, varid_out)],
[Copy an attribute to another variable or dataset, or onto itself. COLLECTIVE Errors: as get_att and put_att])

FUNCTION([rename_att], [all], [P(varid, varid)P(name, name, curname)P(name, newname)],
[Rename an attribute. In data mode the new name must not be longer than the old one. COLLECTIVE Errors:
NC_EPERM NC_ENOTVAR NC_EBADNAME NC_ENOTATT NC_ENAMEINUSE NC_ENOTINDEFINE NC_ESTALE])

FUNCTION([del_att], [all], [P(varid, varid)P(name, name)],
[Delete an attribute of a variable, or of the dataset (NC_GLOBAL). COLLECTIVE Errors: NC_EPERM NC_ENOTINDEFINE
NC_ENOTVAR NC_EBADNAME NC_ENOTATT])

FUNCTION([inq_att], [f77], [P(varid, varid)P(name, name)P(type_out, xtypep, xtype)P(length_out, lenp, length)],
[Type and number of elements of an attribute. Either pointer may be NULL. varid NC_GLOBAL: a global attribute. LOCAL
Errors: NC_ENOTVAR NC_EBADNAME NC_ENOTATT])

FUNCTION([inq_attid], [f77], [P(varid, varid)P(name, name)P(attnum_out, idp, id)],
[Number of an attribute, from 0. LOCAL Errors: NC_ENOTVAR NC_EBADNAME NC_ENOTATT])

FUNCTION([inq_atttype], [f77], [P(varid, varid)P(name, name)P(type_out, xtypep, xtype)],
[Type of an attribute. LOCAL Errors: NC_ENOTVAR NC_EBADNAME NC_ENOTATT])

FUNCTION([inq_attlen], [f77], [P(varid, varid)P(name, name)P(length_out, lenp, length)],
[Number of elements of an attribute. LOCAL Errors: NC_ENOTVAR NC_EBADNAME NC_ENOTATT])

FUNCTION([inq_attname], [all], [P(varid, varid)P(attnum, attnum)P(name_out, name)],
[Name of attribute number attnum (from 0); name is an array of at least NC_MAX_NAME + 1 characters. LOCAL Errors:
NC_ENOTVAR NC_ENOTATT])

HEADING([Values that are strings])

FUNCTION([get_var_string_all], [c], [P(varid, varid)P(texts_out, values)],
[Read all values of a variable of NC_STRING, in a netCDF-4 file. values: an array of as many pointers, which become NULL
after an error; pass them to ncmpi_free_string afterwards. Values that were never written are empty. Each rank reads its
values itself, and has them twice for a moment.
COLLECTIVE Errors: NC_ENOTVAR NC_EGLOBAL NC_EBADTYPE (the variable has no strings) NC_EINVAL NC_EINDEFINE NC_EINDEP
NC_EHDFERR NC_ENOMEM])

FUNCTION([get_vara_string_all], [c], [P(varid, varid)P(start, start)P(counts, count)P(texts_out, values)],
[As get_var_string_all, for the hyperslab of count elements that begins at start. A rank without values has a count of
0. COLLECTIVE Errors: as get_var_string_all, and NC_ENULLSTART NC_ENULLCOUNT NC_ENEGATIVECNT NC_EINVALCOORDS NC_EEDGE])

FUNCTION([get_var1_string_all], [c], [P(varid, varid)P(start, start)P(texts_out, values)],
[As get_vara_string_all, for one element. COLLECTIVE Errors: as get_vara_string_all])

FUNCTION([get_var_string], [c], [P(varid, varid)P(texts_out, values)],
[As get_var_string_all, in independent data mode. LOCAL Errors: as get_var_string_all, with NC_ENOTINDEP for NC_EINDEP])

FUNCTION([get_vara_string], [c], [P(varid, varid)P(start, start)P(counts, count)P(texts_out, values)],
[As get_vara_string_all, in independent data mode. LOCAL Errors: as get_vara_string_all, with NC_ENOTINDEP for NC_EINDEP])

FUNCTION([get_var1_string], [c], [P(varid, varid)P(start, start)P(texts_out, values)],
[As get_var1_string_all, in independent data mode. LOCAL Errors: as get_vara_string_all, with NC_ENOTINDEP for NC_EINDEP])

FUNCTION([put_var_string_all], [c], [P(varid, varid)P(texts, values)],
[Write all values of a variable of NC_STRING, in a netCDF-4 file. values: an array of as many strings in UTF-8 with a
null character at their ends; NULL among them stays NULL. Rank 0 writes the strings of all ranks by libhdf5. It receives
them in messages of bounded size; the file has them after ncmpi_sync, ncmpi_redef or ncmpi_close. If one rank has wrong
arguments, no rank puts. Strings that all ranks put in the same place are written once. COLLECTIVE Errors: NC_EPERM
NC_ENOTVAR NC_EGLOBAL NC_EBADTYPE (the variable has no strings) NC_ENOTSUPPORT (strings of one length, as of h5py)
NC_EINVAL NC_EINDEFINE NC_EINDEP NC_EHDFERR NC_ENOMEM])

FUNCTION([put_vara_string_all], [c], [P(varid, varid)P(start, start)P(counts, count)P(texts, values)],
[As put_var_string_all, for the hyperslab of count elements that begins at start, which may be behind the end of an
unlimited dimension. A rank without values has a count of 0. COLLECTIVE Errors: as put_var_string_all, and NC_ENULLSTART
NC_ENULLCOUNT NC_ENEGATIVECNT NC_EINVALCOORDS NC_EEDGE])

FUNCTION([put_var1_string_all], [c], [P(varid, varid)P(start, start)P(texts, values)],
[As put_vara_string_all, for one element. COLLECTIVE Errors: as put_vara_string_all])

FUNCTION([put_var_string], [c], [P(varid, varid)P(texts, values)],
[As put_var_string_all, in independent data mode. The strings wait in memory of this rank, which sees them, until
ncmpi_end_indep_data, ncmpi_sync or ncmpi_flush. LOCAL Errors: as put_var_string_all, with NC_ENOTINDEP for NC_EINDEP])

FUNCTION([put_vara_string], [c], [P(varid, varid)P(start, start)P(counts, count)P(texts, values)],
[As put_vara_string_all, in independent data mode, as put_var_string. LOCAL Errors: as put_vara_string_all, with
NC_ENOTINDEP for NC_EINDEP])

FUNCTION([put_var1_string], [c], [P(varid, varid)P(start, start)P(texts, values)],
[As put_var1_string_all, in independent data mode, as put_var_string. LOCAL Errors: as put_vara_string_all, with
NC_ENOTINDEP for NC_EINDEP])

HEADING([Inquiry: every output pointer may be NULL])

FUNCTION([inq], [f77], [P(count_out, ndimsp, ndims)P(count_out, nvarsp, nvars)P(count_out, ngattsp, ngatts)P(dimid_out, unlimdimidp, unlimdimid)],
[Contents of a dataset: numbers of dimensions, variables and global attributes, and the id of the record dimension or
-1. LOCAL])

FUNCTION([inq_ndims], [f77], [P(count_out, ndimsp, ndims)],
[Number of dimensions. LOCAL])
FUNCTION([inq_nvars], [f77], [P(count_out, nvarsp, nvars)], [Number of variables. LOCAL])
FUNCTION([inq_natts], [f77], [P(count_out, ngattsp, ngatts)], [Number of global attributes. LOCAL])
FUNCTION([inq_unlimdim], [f77], [P(dimid_out, unlimdimidp, unlimdimid)], [Id of the record dimension, or -1. LOCAL])
FUNCTION([inq_unlimdims], [c], [P(count_out, nunlimdimsp)P(dimids_out, unlimdimidsp)],
[Number of unlimited dimensions, of which a netCDF-4 file can have several, and their ids in ascending order: an array
of at least so many elements. LOCAL])
FUNCTION([inq_ngrps], [all], [P(count_out, ngrpsp, ngrps)],
[Number of groups of a netCDF-4 file, also of those in groups, without the root group. LOCAL])
FUNCTION([inq_grpname], [all], [P(grpid, grpid)P(name_out, name)],
[Path of group number grpid (from 0), such as forecast/high: a group has a larger number than the one above it. name is
an array of at least NC_MAX_NAME + 1 characters. LOCAL Errors: NC_ENOGRP])
FUNCTION([inq_num_rec_vars], [all], [P(count_out, nvarsp, nvars)], [Number of record variables. LOCAL])
FUNCTION([inq_num_fix_vars], [all], [P(count_out, nvarsp, nvars)], [Number of fixed-size variables. LOCAL])

FUNCTION([inq_dim], [f77], [P(dimid, dimid)P(name_out, name)P(length_out, lenp, length)],
[Name and length of a dimension. name is an array of at least NC_MAX_NAME + 1 characters. The length of the record
dimension is the number of records. LOCAL Errors: NC_EBADDIM])
FUNCTION([inq_dimid], [all], [P(name, name)P(dimid_out, idp, dimid)],
[Id of the dimension with a given name. LOCAL Errors: NC_EBADNAME NC_EBADDIM])
FUNCTION([inq_dimname], [f77], [P(dimid, dimid)P(name_out, name)],
[Name of a dimension; name is an array of at least NC_MAX_NAME + 1 characters. LOCAL Errors: NC_EBADDIM])
FUNCTION([inq_dimlen], [f77], [P(dimid, dimid)P(length_out, lenp, length)],
[Length of a dimension; for the record dimension, the number of records. LOCAL Errors: NC_EBADDIM])

FUNCTION([inq_var], [f77_by_hand], [P(varid, varid)P(name_out, name)P(type_out, xtypep, xtype)P(count_out, ndimsp, ndims)P(dimids_out, dimidsp, dimids)P(count_out, nattsp, natts)],
[Name, type, number of dimensions, dimension ids and number of attributes of a variable. name is an array of at least
NC_MAX_NAME + 1 characters, dimidsp of at least as many elements as the variable has dimensions. varid NC_GLOBAL is
allowed if only nattsp is not NULL. LOCAL Errors: NC_ENOTVAR NC_EGLOBAL])
FUNCTION([inq_varid], [all], [P(name, name)P(varid_out, varidp, varid)],
[Id of the variable with a given name. LOCAL Errors: NC_EBADNAME NC_ENOTVAR])
FUNCTION([inq_varname], [f77], [P(varid, varid)P(name_out, name)],
[Name of a variable; name is an array of at least NC_MAX_NAME + 1 characters. LOCAL Errors: NC_ENOTVAR])
FUNCTION([inq_vartype], [f77], [P(varid, varid)P(type_out, xtypep, xtype)],
[Type of a variable in the file: NC_INT, NC_DOUBLE ... LOCAL Errors: NC_ENOTVAR])
FUNCTION([inq_varndims], [f77], [P(varid, varid)P(count_out, ndimsp, ndims)],
[Number of dimensions of a variable, 0 for a scalar. LOCAL Errors: NC_ENOTVAR])
FUNCTION([inq_vardimid], [f77_by_hand], [P(varid, varid)P(dimids_out, dimidsp, dimids)],
[Ids of the dimensions of a variable, slowest first. LOCAL Errors: NC_ENOTVAR])
FUNCTION([inq_varnatts], [f77], [P(varid, varid)P(count_out, nattsp, natts)],
[Number of attributes of a variable, or of the dataset (NC_GLOBAL). LOCAL Errors: NC_ENOTVAR])
FUNCTION([inq_var_fill], [f77], [P(varid, varid)P(flags_out, no_fill)P(values_out, fill_value)],
[Fill mode of a variable (1: filling is off) and its fill value in the variable's type; of NC_STRING, in C, a string for
ncmpi_free_string. LOCAL Errors: NC_ENOTVAR NC_EGLOBAL NC_EBADTYPE])
FUNCTION([inq_varoffset], [all], [P(varid, varid)P(offset_out, offset)],
[File offset in bytes of the variable's first element, as of the last ncmpi_enddef: 0 for a variable defined later, and
in a netCDF-4 file for one that is in chunks, or has no space yet.
LOCAL Errors: NC_ENOTVAR])

FUNCTION([inq_format], [f77], [P(flags_out, formatp, format)],
[Format of the file: NC_FORMAT_CLASSIC, NC_FORMAT_CDF2, NC_FORMAT_CDF5, NC_FORMAT_NETCDF4 or
NC_FORMAT_NETCDF4_CLASSIC. LOCAL])
FUNCTION([inq_version], [c], [P(flags_out, NC_mode)],
[The create flags of the format: 0, NC_64BIT_OFFSET, NC_64BIT_DATA, or NC_NETCDF4, with NC_CLASSIC_MODEL for the classic
model. LOCAL])
FUNCTION([inq_path], [f77_by_hand], [P(count_out, pathlen)P(path_out, path)],
[The path passed to create or open, and its length. LOCAL])
FUNCTION([inq_file_info], [all], [P(info_out, info_used, mpi_info)],
[The hints in effect, of this library and of the MPI library, in a new info object that the caller must free. LOCAL])
FUNCTION([get_file_info], [all], [P(info_out, info_used, mpi_info)], [Former name of inq_file_info. LOCAL])
FUNCTION([inq_striping], [all], [P(count_out, striping_size)P(count_out, striping_count)],
[Size of the stripes in bytes and their number, 0 if the file system does not report them. LOCAL])
FUNCTION([inq_header_size], [all], [P(offset_out, size, h_size)],
[Size of the header in bytes, in define mode with the definitions so far. A netCDF-4 file has no header: 0. LOCAL])
FUNCTION([inq_header_extent], [all], [P(offset_out, extent, h_extent)],
[Extent of the header in bytes, including its free space, as of the last ncmpi_enddef: the first variable follows it. 0
for a new file before its first ncmpi_enddef, and for a netCDF-4 file. LOCAL])
FUNCTION([inq_recsize], [all], [P(offset_out, recsize)],
[Record size in bytes, the sum over all record variables, as of the last ncmpi_enddef: 0 for a new file before its first
one. Of a netCDF-4 file, what a classic file with the same definitions would have; inner unlimited dimensions have their
current lengths. LOCAL])
FUNCTION([inq_put_size], [all], [P(offset_out, size, put_size)], [Number of bytes that this rank has written. LOCAL])
FUNCTION([inq_get_size], [all], [P(offset_out, size, get_size)], [Number of bytes that this rank has read. LOCAL])

HEADING([Nonblocking requests])

FUNCTION([wait], [f77_by_hand], [P(count, count)P(requests, array_of_requests, requests)P(statuses_out, array_of_statuses, statuses)],
[Complete pending requests in independent data mode. count is the number of ids in array_of_requests; or it is
NC_REQ_ALL, NC_GET_REQ_ALL or NC_PUT_REQ_ALL, and both arrays may be NULL. Ids of completed requests become NC_REQ_NULL.
Entries that are NC_REQ_NULL are skipped. array_of_statuses receives an error code for each id; it may be NULL. Local to
the rank. Errors:
NC_EINDEFINE NC_ENOTINDEP NC_EINVAL_REQUEST NC_EINVAL NC_ERANGE])

FUNCTION([wait_all], [f77_by_hand], [P(count, count)P(requests, array_of_requests, requests)P(statuses_out, array_of_statuses, statuses)],
[Complete pending requests in collective data mode, with arguments as in ncmpi_wait. The library merges the requests of
all ranks. The number of requests may differ across ranks, and may be 0. COLLECTIVE Errors: NC_EINDEFINE NC_EINDEP
NC_EINVAL_REQUEST NC_EINVAL NC_ERANGE])

FUNCTION([cancel], [f77_by_hand], [P(count, num)P(requests, reqs)P(statuses_out, statuses)],
[Cancel pending requests, with arguments as in ncmpi_wait. LOCAL Errors: NC_EINVAL_REQUEST NC_EINVAL])

FUNCTION([inq_nreqs], [all], [P(count_out, nreqs)],
[Number of pending requests of this rank. LOCAL])

FUNCTION([inq_stats], [all], [P(name, name)P(offset_out, value)],
[The present value of a counter of this rank for the file: docs/statistics.md lists the names, such as "writes" or
"time_convert" (nanoseconds). Statistics must be on: PNETCDF_STATS, or the hint nc_stats when the file is opened. LOCAL
Errors: NC_EINVAL (statistics are off, or no counter has this name)])

FUNCTION([buffer_attach], [all], [P(offset, bufsize)],
[Allow buffered puts to store up to bufsize bytes, with values in the external types of the file. LOCAL Errors:
NC_ENULLBUF NC_EPREVATTACHBUF])

FUNCTION([buffer_detach], [all], [],
[Detach the buffer of ncmpi_buffer_attach. LOCAL Errors: NC_ENULLABUF NC_EPENDINGBPUT])

FUNCTION([inq_buffer_usage], [all], [P(offset_out, usage)],
[Bytes of pending buffered puts. LOCAL Errors: NC_ENULLABUF])

FUNCTION([inq_buffer_size], [all], [P(offset_out, buf_size)],
[The size in bytes passed to ncmpi_buffer_attach. LOCAL Errors: NC_ENULLABUF])

HEADING([Headers in CDL, the text that ncmpidump -h prints])

CDL_FUNCTION([open], [P(path, filename)P(hid_out, hid)],
[Read a file of CDL text, for example to create a dataset from it, and return an id. The functions below return pointers
to memory that the library owns and that is valid until cdl_hdr_close. Each of their output pointers may be NULL. With
PNETCDF_VERBOSE=1 in the environment, an error in the text is printed on stderr with its line and column. LOCAL Errors:
NC_ENOENT NC_EACCESS NC_EBAD_FILE NC_ENFILE NC_EINVAL (hid is NULL); NC_ENOTNC (not CDL), NC_ECHAR (text and numbers in
one attribute), NC_ERANGE NC_ENOTVAR NC_EBADDIM NC_EBADTYPE NC_ESTRICTCDF2 and those of ncmpi_def_dim and
ncmpi_def_var])

CDL_FUNCTION([close], [P(hid, hid)],
[Free a CDL header and all memory that the functions returned for it. LOCAL])

CDL_FUNCTION([inq_format], [P(hid, hid)P(flags_out, format)],
[Format of a CDL header: NC_FORMAT_CLASSIC, NC_FORMAT_CDF2 or NC_FORMAT_CDF5. It is the format in a comment "// file
format: CDF-n", otherwise the first of the three that can hold all definitions. LOCAL])

CDL_FUNCTION([inq_ndims], [P(hid, hid)P(count_out, ndims)],
[Number of dimensions. LOCAL])

CDL_FUNCTION([inq_dim], [P(hid, hid)P(dimid, dimid)P(name_ref, name)P(length_out, size)],
[Name and length of a dimension of a CDL header. The length of the record dimension is NC_UNLIMITED. LOCAL Errors:
NC_EBADDIM])

CDL_FUNCTION([inq_nvars], [P(hid, hid)P(count_out, nvars)],
[Number of variables. LOCAL])

CDL_FUNCTION([inq_var], [P(hid, hid)P(varid, varid)P(name_ref, name)P(type_out, xtype)P(count_out, ndims)P(dimids_ref, dimids)],
[Name, type, number of dimensions and dimension ids (NULL for a scalar) of a variable of a CDL header. LOCAL Errors:
NC_ENOTVAR])

CDL_FUNCTION([inq_nattrs], [P(hid, hid)P(varid, varid)P(count_out, nattrs)],
[Number of attributes of a variable, or of the file for NC_GLOBAL. LOCAL Errors: NC_ENOTVAR])

CDL_FUNCTION([inq_attr], [P(hid, hid)P(varid, varid)P(attnum, attrid)P(name_ref, name)P(type_out, xtype)P(length_out, nelems)P(values_ref, value)],
[Name, type, number of elements and elements of attribute number attrid (from 0) of a CDL header. The elements have the
C type of xtype, as ncmpi_put_att requires. value is NULL for an empty attribute. LOCAL Errors: NC_ENOTVAR NC_ENOTATT])
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
