m4_dnl Every hint of the library, once. From these rows come the table that src/dataset/hints.c reads
m4_dnl (hint_table.h), with it PNETCDF_HINTS_DISPLAY and ncmpi_inq_file_info, and the manual page pnetcdf_hints(7).
m4_dnl
m4_dnl HINT_SIZE(name, field of pnc_hints, default, least, most, below, multiple, reporter, meaning): an integer. A
m4_dnl   default of -1: not set. Below decides about a number less than the least: LEAST: the least replaces it;
m4_dnl   SENSELESS: it is ignored; MOST: the most replaces it if it is negative. A number greater than the most is
m4_dnl   replaced by the most. The result is rounded up to a multiple.
m4_dnl HINT_ALIAS(name, hint, meaning): another name of a HINT_SIZE. If PNETCDF_HINTS, or an MPI_Info, has several,
m4_dnl   the one with the first row is used.
m4_dnl HINT_CHOICE(name, field of pnc_hints, default, values, reporter, meaning): one of several words, which are
m4_dnl   WORDS(..) or a NULL-terminated array, the default first. The field holds the index. Any other word is ignored.
m4_dnl   Reporter: empty, or the function in src/dataset/hints.c that gives the value in effect, if the field alone does
m4_dnl   not.
m4_dnl HINT_TEXT(name, reader, meaning): a text without default. Reader: the function in src/dataset/hints.c that sets a
m4_dnl   field of pnc_hints from it; a text that it refuses is ignored.
m4_dnl HINT_COMMON_SIZE(name, field of pnc_hints, least, meaning),
m4_dnl HINT_COMMON_CHOICE(name, field of pnc_hints, values, meaning): a hint that both this library and MPI-IO
m4_dnl   use. It is passed to MPI-IO, which reports its value. Without it the field is 0.
m4_dnl HINT_FIXED(name, value, why): accepted and ignored, as the library always behaves as with this value.
m4_dnl HINT_FREE(name, default, why): accepted and ignored, as no value of it makes a difference.
m4_dnl HINT_OUTPUT(name, why): reported by libraries, not given to them.
m4_dnl HINT_PASSED(name, meaning): passed to MPI-IO unchanged.
m4_dnl HINT_PASSED_SIZE(name, least, meaning): an integer for MPI-IO; any other value is not passed.
m4_include([check.m4])m4_dnl
m4_divert(-1)

m4_define([HINT_ROWS], [
HINT_SIZE([nc_var_align_size], [format.layout.v_align], [-1], [1], [INT64_C(1) << 40], [SENSELESS], [4], [report_alignment],
[bytes: the offset of the first fixed-size variable in the file is a multiple of this value. Takes precedence over the
argument v_align of ncmpi__enddef. Without both, 512])
HINT_ALIAS([nc_header_align_size], [nc_var_align_size],
[former name of nc_var_align_size. If both are given in PNETCDF_HINTS, or both in the MPI_Info, nc_var_align_size
applies. Otherwise PNETCDF_HINTS takes precedence over the MPI_Info with either name])
HINT_SIZE([nc_record_align_size], [format.layout.r_align], [-1], [0], [INT64_C(1) << 40], [SENSELESS], [4], [report_alignment],
[bytes: alignment of the first record. Takes precedence over the argument r_align of ncmpi__enddef. Without both, 4, or
512 in a file without fixed-size variables])
HINT_SIZE([nc_header_reserve], [format.layout.h_minfree], [-1], [0], [INT64_C(1) << 40], [SENSELESS], [1], [report_reserve],
[bytes after the header of a new file that are left free at its first enddef, so that later definitions need not move
data. Takes precedence over the argument h_minfree of ncmpi__enddef. Without both, and without an alignment of what
follows the header, the larger of 8192 and a tenth of the header if the fixed-size variables and one record have at
least 1 MiB, otherwise 0. 0: no free space. A later ncmpi_enddef that moves 1 MiB or more leaves 1/32 of it free, at
most 1 GiB; any value of this hint, or an alignment, prevents that])
HINT_SIZE([nc_header_read_chunk_size], [format.header_read_chunk], [262144], [48], [INT32_MAX], [LEAST], [4], [],
[bytes of the header that ncmpi_open reads at a time])
HINT_SIZE([nc_data_move_chunk_size], [format.data_move_chunk], [1048576], [4096], [1 << 28], [MOST], [1], [],
[bytes that each rank moves at a time when data move because the header or variables grew])
HINT_SIZE([nc_data_move_limit], [format.data_move_limit], [INT64_C(1) << 62], [0], [INT64_C(1) << 62], [SENSELESS], [1], [],
[bytes of data that ncmpi_enddef may move because the header or variables grew. If it would have to move more, it returns
NC_EMOVELIMIT, and the file is unchanged and in define mode. Without the hint there is no limit])
HINT_SIZE([nc_ibuf_size], [buffer_size], [16777216], [65536], [INT64_C(1) << 40], [LEAST], [1], [],
[bytes of memory that a rank uses, in addition to 4 MiB, to merge small pieces of blocking calls or of ncmpi_wait_all,
which also uses up to 40 bytes for each request. More data take several rounds])
HINT_CHOICE([nc_driver], [driver], [mpiio], [pnc_driver_names], [report_driver],
[I/O driver. mpiio (also called gio): MPI-IO. memory: the file is in the memory of its only process until the program
ends or deletes it, for scratch data and tests. A driver that stands in front of others is given with them, separated by
colons])
HINT_CHOICE([file_striping], [inherits_striping], [auto], [WORDS(auto, inherit)], [],
[stripes of a new file on Lustre. auto: if ranks on several nodes create it, as many as nodes, of 1048576 bytes, or of
what folder or file system say if that is more; at most one for every 16777216 bytes of nc_expected_size; on fewer
servers (OSTs) than nodes the same number on each, up to 4; never fewer than the file system gives to new files. A
file that one of several ranks creates has one, unless nc_expected_size is more than 16777216. What has been chosen
stays: striping_factor, a folder with more than one stripe, a composite (progressive) layout, a file that exists, and
what is left to the MPI library by ROMIO_HINTS, by stripes in MPICH_MPIIO_HINTS, or by OMPI_MCA_fs_lustre_stripe_size
and _width. inherit: those of the folder. The display names the stripes and the reason])
HINT_SIZE([nc_expected_size], [expected_size], [0], [0], [INT64_C(1) << 62], [SENSELESS], [1], [],
[bytes that a new file will have, about; 0: not known. Fewer stripes are chosen for a small one (file_striping)])
HINT_CHOICE([nc_format], [new_format], [automatic], [WORDS(automatic, netcdf4, netcdf4_classic, cdf1, cdf2, cdf5, zarr)], [],
[format of files that ncmpi_create makes, for programs that cannot be changed: it takes precedence over the mode and
over ncmpi_set_default_format. automatic: what those say. netcdf4: netCDF-4, with the classic model where the program
asks for CDF-1, CDF-2 or that model: it then gets the codes and values that it expects, and NC_FORMAT_NETCDF4 by
ncmpi_inq_format, which clients know that refuse the classic model. netcdf4_classic: with that model
in any case. What no rank puts reads as fill values where a variable has chunks, also in no-fill mode, in which a
classic file has zeros or what was there before: ncmpidiff --unwritten compares without it. A variable of a netCDF-4
file may be larger than those of CDF-1 and CDF-2, has at most 32 dimensions, and its size and offset in the file are
other ones. zarr: a folder that is a Zarr v3 store (docs/zarr.md), by the calls and with the models of netCDF-4])
HINT_CHOICE([nc_groups], [format.groups], [paths], [WORDS(paths, all, root)], [],
[what programs see of the groups of a netCDF-4 file. paths: variables and dimensions of groups are found by their paths,
such as /forecast/tas, and inquiries count those of the root group. all: they are listed behind those of the root group,
with names such as forecast/tas, and attributes of groups behind the global ones; to change definitions of a file that
has groups. root: only the root group, to which variables can be added then. A file that the program creates has
those that it defines, listed in their order])
HINT_SIZE([nc_chunk_cache_size], [format.chunk_cache], [33554432], [0], [INT64_C(1) << 40], [SENSELESS], [1], [],
[bytes of chunks of a netCDF-4 file that each rank keeps in memory, decompressed, for the next read. 0: only the chunk
that was used last. Chunks that wait for more values before they are written are not among them])
HINT_TEXT([nc_compression], [pnc_dataset_compression_parse],
[compression of variables that are defined in a netCDF-4 file, where the program has not called ncmpi_def_var_deflate,
ncmpi_def_var_zstandard or another function for filters. deflate:LEVEL, 1 to 9, alone 1, which all readers of netCDF-4
have; zstd:LEVEL, alone 3, faster, but readers need a plugin of HDF5; none. Filters of plugins of HDF5, which are found
where HDF5_PLUGIN_PATH says and are needed on all ranks: blosc:CODEC:LEVEL, blosc2:CODEC:LEVEL, bitshuffle:lz4,
bitshuffle:zstd:LEVEL, bzip2:LEVEL, lz4; for floating-point numbers other than coordinates zfp:accuracy:ERROR,
zfp:precision:BITS, zfp:rate:BITS, sz3:abs:ERROR, sz3:rel:ERROR, and zfp:reversible; or ID:PARAMETER:PARAMETER.., a
registered number. A variable for which the plugin refuses is not compressed. Scalars, and variables that the program
has made contiguous, are not compressed; text is where a pattern names the variable. New variables of a Zarr store are
compressed by blosc:zstd:1 without this hint, where the machine has the library of Blosc])
HINT_TEXT([nc_shuffle], [pnc_dataset_shuffle_parse],
[automatic, enable: nc_compression sorts the bytes of numbers of several bytes, so that they compress better, but for
bitshuffle, zfp, sz3 and filters by number; blosc and blosc2 sort them themselves. disable: it does not])
HINT_TEXT([nc_chunks], [pnc_dataset_chunks_parse],
[chunks of variables that are defined in a netCDF-4 file, where the program has not called ncmpi_def_var_chunking.
LENGTH,LENGTH,..: of variables with as many dimensions. DIMENSION/LENGTH,..: of variables that have one of them. A
length is at most that of the dimension; 0, or no length: chosen by the library, as all are with auto, the default])
HINT_SIZE([nc_shards], [format.shards], [268435456], [0], [INT64_C(1) << 40], [SENSELESS], [1], [],
[bytes of values that a shard of a new variable in a Zarr store has, about: a file with several chunks, of whole records
where they fit, and at most 4096 chunks. One rank writes it. 0, or less than two chunks: a file for each chunk])
HINT_TEXT([nc_quantize], [pnc_dataset_quantize_parse],
[quantization of NC_FLOAT and NC_DOUBLE variables, where the program has not called ncmpi_def_var_quantize. bitround:BITS,
granular:DIGITS, bitgroom:DIGITS: as NC_QUANTIZE_BITROUND, NC_QUANTIZE_GRANULARBR and NC_QUANTIZE_BITGROOM of
ncmpi_def_var_quantize; none. It changes what is written, also in classic files, and the attribute of netCDF-C says so.
Coordinate variables, and those that an attribute coordinates, bounds, climatology or grid_mapping names, are not
quantized, and neither are variables without so many bits or digits. Variables that the file has already are, if their
attribute says what the hint says])
HINT_TEXT([nc_error], [pnc_dataset_error_parse],
[bound of the error of NC_FLOAT and NC_DOUBLE variables. abs:NUMBER: what is stored differs from what was put by at most
NUMBER. rel:NUMBER: by at most NUMBER times the magnitude of what was put; zeros stay. none. Each value is rounded, when
it is put, to the fewest bits of its mantissa that keep the bound; one that could not keep it, or would become a missing
value, stays as its type has it, and so do NaN, infinities and the values of _FillValue and missing_value (the first 8).
It changes what is written, also in classic files, and an attribute maximum_absolute_error or maximum_relative_error
says so. Variables that nc_quantize does not quantize are not rounded, nor those with another such attribute, or for
which ncmpi_def_var_quantize or a hint nc_quantize with a pattern of more characters decides. Variables that the file
has already are rounded if their attribute says what the hint says])
HINT_CHOICE([nc_quantize_cf], [quantize_cf], [disable], [WORDS(disable, enable)], [],
[enable: the first ncmpi_enddef of a new file gives quantized variables (nc_quantize, ncmpi_def_var_quantize) what the
CF conventions since 1.12 have for them (8.4): attributes quantization and quantization_nsb or quantization_nsd, and for
each algorithm a variable of NC_CHAR without dimensions, quantization_bitround, quantization_granular_bitround or
quantization_bitgroom, behind those of the program, with attributes algorithm and implementation. Not coordinate
variables and those that nc_quantize leaves as they are, and not variables that have an attribute quantization. Programs
that count variables see more of them])
HINT_TEXT([nc_filter_threads], [pnc_dataset_threads_parse],
[threads of a process that compress and decompress chunks of netCDF-4 files beside the one that calls: a number, 0 to
63; auto, the default: as many as there are processors of the affinity mask of the process that no process of the
program has. They make no MPI calls, and are left out where they do not get processors. Chunks that pass plugins of
HDF5 have none of them. If the hint is set, a number or auto, together with nc_write_behind, they compress the chunks
that a put completes after it has returned; of auto, OpenMP has OMP_NUM_THREADS - 1 then])
HINT_CHOICE([nc_whole_files], [whole_files], [disable], [WORDS(disable, enable)], [report_ability],
[enable: a file that ncmpi_create makes is NAME.part-XXXXXXXX, in the same folder, until ncmpi_close has written all of
it to disk, and renames it. Until then a file of that name is unchanged. ncmpi_abort deletes the new one; a program that
ends before leaves it. With NC_NOCLOBBER, ncmpi_close, too, returns NC_EEXIST if there is a file of that name])
HINT_CHOICE([nc_write_behind], [write_behind], [disable], [WORDS(disable, enable)], [report_ability],
[enable: puts return when their values are copied, and a thread of the process writes them while the program continues.
Gets of the same file return what was put. Independent puts are written before they return if several ranks have the
file open. ncmpi_sync, ncmpi_close and other calls wait for the writes. If a write fails, the next call of the file
returns the error, on all ranks if it is collective, and so do ncmpi_sync and ncmpi_close. Not with NC_SHARE])
HINT_CHOICE([nc_burst_buf], [burst_buf], [disable], [WORDS(disable, enable)], [report_ability],
[enable: as nc_write_behind, but what was put waits in a log on the disk of the node: collective puts return when the
log has their values, and a thread of the process writes them to the file while the program continues. A program that
dies leaves its logs, and a mark beside the file, FILE.burst; ncmpilog --replay writes their values to the file. Until
then it cannot be opened for writing. ncmpi_sync returns when the file has all, ncmpi_flush when the logs have it on
disk. If a log cannot be written, puts write to the file. Not with NC_SHARE. The logs of a netCDF-4 file have the values
before filters, which no thread writes: ncmpi_sync, ncmpi_close, gets that need them, and puts for which the log has no
space put them into the file])
HINT_TEXT([nc_burst_buf_dirname], [read_folder],
[folder in which nc_burst_buf=enable has its logs, one for each process: on a disk of the node. Without the hint: the
folder of the file])
HINT_TEXT([nc_burst_buf_replay], [read_stamp],
[for ncmpilog: the stamp of the logs whose values the program writes. A file with a mark that has this stamp is opened
for writing, and the mark remains])
HINT_SIZE([nc_burst_buf_size], [burst_buf_size], [0], [1048576], [INT64_C(1) << 50], [LEAST], [1], [],
[bytes of a log of nc_burst_buf=enable. A put waits until the log has space. Without the hint: half of what is free in
the folder, divided by the ranks of the node])
HINT_CHOICE([nc_prefetch], [prefetch], [disable], [WORDS(disable, enable)], [report_ability],
[enable: when gets of a variable follow each other at equal distances in the file, as those of one record after the
other, a thread of the process reads what the next one will probably need while the program continues: of variables in
chunks those of the next box, which it also decompresses if nc_filter_threads says that a processor is idle. If gets do
not use it, that becomes rarer; the statistics have the bytes. At most nc_write_behind_memory. Not with NC_SHARE])
HINT_SIZE([nc_write_behind_memory], [behind_memory], [0], [INT64_C(1) << 21], [INT64_C(1) << 40], [LEAST], [INT64_C(1) << 21], [],
[bytes that nc_write_behind=enable uses on each rank for what was put and is not yet written, and nc_prefetch=enable for
what is read ahead and decompressed; half of them for each if both are enabled, in units of 2 MiB: with fewer than 4 MiB
nothing is read ahead then. Of a get that is larger, a part is read ahead. A put waits until there is memory. Without
the hint: an eighth of the memory of the node, divided by its ranks, at most 4 GiB])
HINT_CHOICE([nc_defer_puts], [defer_puts], [disable], [WORDS(disable, enable)], [report_ability],
[enable: blocking collective puts check their arguments and copy their values, and are written together: when the memory
of nc_defer_puts_memory is full, when a put overlaps an earlier one or a get needs it, and by ncmpi_wait_all,
ncmpi_begin_indep_data, ncmpi_sync, ncmpi_redef, ncmpi_close and other calls. If that fails, the call that writes them
returns the error. Not with NC_SHARE])
m4_dnl 64 MiB take 0.1 s and more to write: beside that, an agreement and the latency of an access, which deferral
m4_dnl saves, are small.
HINT_SIZE([nc_defer_puts_memory], [deferred_memory], [67108864], [65536], [INT64_C(1) << 40], [LEAST], [1], [],
[bytes that nc_defer_puts=enable uses on each rank for copies of puts])
HINT_CHOICE([nc_short_file], [format.short_file], [zero], [WORDS(zero, error)], [],
[result of a read beyond the end of a file that is shorter than its header describes. Other writers produce such files
if the fill mode is off and the last values are never written. zero: zeros. error: NC_EREAD. A read from a file that is
truncated while it is open always returns NC_EREAD])
HINT_CHOICE([nc_repair], [format.assumes_dead], [automatic], [WORDS(automatic, assume_dead)], [],
[what ncmpi_open for writing does if a program has not completed a change of the header. If that program is known to
run: NC_EINTERRUPTED. If it is known to have ended, the change is completed. If neither is known, as nodes share the
file system: automatic: NC_EINTERRUPTED; assume_dead: the change is completed, which destroys data if the program runs])
HINT_CHOICE([nc_checksum], [checksum], [disable], [WORDS(disable, enable)], [report_ability],
[enable: ncmpi_close of a file that was open for writing gives each variable an attribute _Checksum with a digest of its
values, which ncvalidator --checksum compares; it is that of ncmpicopy --checksum, the same in every format. All ranks
read all values again for it. ncmpi_enddef defines the attribute; a variable without it, as in a file that was opened
and never in define mode, gets none, and a warning says so. If they cannot be written, ncmpi_close returns an error on
all ranks, and the values are in the file])
HINT_CHOICE([nc_references], [references], [disable], [WORDS(disable, enable)], [report_ability],
[enable: ncmpi_close of a file that was open for writing leaves references beside it, FILE.json, as ncoffsets --kerchunk
writes them: xarray and Zarr find the values by them without reading the metadata of the file. They have its absolute
path. If they cannot be written, ncmpi_close returns an error on all ranks, and the file is complete])
HINT_CHOICE([nc_stats], [statistics], [disable], [WORDS(disable, enable, keep)], [],
[statistics of the file. enable: print a report when it is closed. keep: only for ncmpi_inq_stats. Also set by
PNETCDF_STATS, which pnetcdf(3) describes])
HINT_SIZE([nc_timeout], [timeout], [0], [0], [INT32_MAX], [SENSELESS], [1], [],
[seconds that a collective call waits for ranks that do not make it, before it returns NC_ETIMEOUT and prints which
ranks wait in which call. 0: without a limit, and after 60 seconds a rank that waits prints one warning for the file.
ncmpi_create and ncmpi_open have it on ranks that it is given to. Also set by PNETCDF_TIMEOUT; pnetcdf(3) describes the
state of the file after it])
HINT_CHOICE([nc_timeout_action], [timeout_action], [error], [WORDS(error, abort, warn)], [],
[what follows when nc_timeout is exceeded. error: NC_ETIMEOUT. abort: MPI_Abort ends the program. warn: only the warning,
after nc_timeout seconds instead of 60])
HINT_CHOICE([nc_strategy], [access.strategy], [automatic], [pnc_strategy_names], [report_ability],
[how data reach the file. automatic: the library chooses the cheapest for each call. direct: each request on its own.
merged: the requests of a rank in the order of the file. shared: if all ranks get the same bytes, few of them read these
and send them to the others, otherwise as two_phase. separate: each rank on its own, with data sieving, if the
ranks of a single node put into ranges of the file that do not overlap and ascend by rank, or ranks on several nodes
access such ranges of whole stripes, otherwise as two_phase. within_nodes: aggregators merge the requests of their node.
two_phase: aggregators of all nodes exchange data, and each accesses a part of the file. mpi_io: aggregators make
collective calls of MPI-IO, if that is ROMIO, otherwise as two_phase. Independent calls are direct or merged])
HINT_TEXT([nc_costs], [read_costs],
[NAME:NUMBER, separated by commas: what the steps of a call take on the system, by which strategies are chosen. Names:
access_ns, a read or write of the file; lock_change_ns, a lock of a stripe that moves between nodes; run_ns, a run
that is merged by itself; copied_ps and sent_ps, a byte that is copied within a node or sent to another one;
synchronisation_ns, a step in which all ranks wait for each other. ns: nanoseconds; ps: picoseconds. Numbers are
integers of at least 1. Without a name, the library's own figure for the kind of file system. The display shows all.
pnetcdf-bench --costs measures them])
HINT_SIZE([nc_num_aggrs_per_node], [access.aggregators_a_node], [0], [0], [INT32_MAX], [SENSELESS], [1], [],
[number of aggregators on each node. 0: on each of several nodes one for every 16 ranks, at least 1 and at most 8, and
all ranks of a single node. Where a file has few servers, as on Lustre, at most 8 for each, but one on each node])
HINT_CHOICE([nc_overlap], [access.no_overlap], [enable], [WORDS(enable, disable)], [report_ability],
[enable: if the file system is not local, accesses of aggregators overlap. In a call of several rounds they write one
half of their memory while they receive data in the other half, or, if a get reads most bytes of a range of the file,
read one half while they send the other. A get that reads fewer bytes of the range reads up to 8 pieces at the same
time])
HINT_FIXED([nc_in_place_swap], [disable], [the library never changes the buffer of a put, not even temporarily])
HINT_FREE([nc_hash_size_dim], [256], [tables of names grow by themselves])
HINT_FREE([nc_hash_size_var], [256], [tables of names grow by themselves])
HINT_FREE([nc_hash_size_gattr], [64], [tables of names grow by themselves])
HINT_FREE([nc_hash_size_vattr], [8], [tables of names grow by themselves])
HINT_FIXED([pnetcdf_subfiling], [disable], [a dataset is always one file])
HINT_FIXED([nc_num_subfiles], [0], [a dataset is always one file])
HINT_FIXED([nc_burst_buf_overwrite], [disable], [each log has a name of its own, so that none is overwritten])
HINT_FIXED([nc_burst_buf_shared_logs], [disable], [each process has a log of its own])
HINT_FIXED([nc_burst_buf_del_on_close], [enable], [ncmpi_close deletes the logs, whose values the file has then])
HINT_FREE([nc_burst_buf_flush_buffer_size], [0], [a log is read in portions of 8 MiB])
HINT_OUTPUT([nc_ina_node_list], [the display lists the aggregators])
HINT_PASSED_SIZE([striping_factor], [1],
[number of disks or servers over which a new file is distributed. On Lustre rank 0 creates it so, by liblustreapi, for
any MPI library])
HINT_COMMON_SIZE([striping_unit], [access.striping_unit], [1],
[number of consecutive bytes on one disk or server. File domains are aligned to it. The value that the file system
reports takes precedence. Without both, 1048576. A file system for which it is given is not local])
HINT_COMMON_SIZE([cb_nodes], [access.aggregators], [1],
[number of aggregators: ranks that access the file in collective calls. Default:
that of nc_num_aggrs_per_node, over which it takes precedence])
HINT_COMMON_SIZE([cb_buffer_size], [access.buffer_size], [1],
[bytes of memory of each aggregator for the data of a round. Default: 16777216, on a single node 4194304, on a local
file system 2097152, but at most nc_ibuf_size. At least 4096 and at most 536870912 are used, on several nodes with one
striping unit more if that is at most an eighth, and 1 MiB. Of a value above 16777216, a ninth of the excess is reserved
for bits that mark which bytes of the buffer have data, and the buffer has the rest])
HINT_PASSED_SIZE([cb_block_size], [1], [bytes of the file that one of these ranks accesses at a time])
HINT_PASSED([cb_config_list],
[list of NODE:NUMBER, separated by commas: at most so many aggregators on a node of that name; * is any name or number.
The first entry that matches a node applies; a node without one has no aggregator. *:NUMBER without cb_nodes means so
many on each node. MPICH cannot open a file with a list that has none of its nodes])
HINT_PASSED([collective_buffering], [true or false: whether MPI-IO uses such ranks])
HINT_PASSED([access_style], [how the program will access the file])
HINT_PASSED([file_perm], [permissions of a new file])
HINT_PASSED([io_node_list], [disks or servers that hold the file])
HINT_PASSED_SIZE([nb_proc], [1], [number of processes that access the file])
HINT_PASSED_SIZE([num_io_nodes], [1], [number of disks or servers])
HINT_PASSED_SIZE([ind_rd_buffer_size], [1], [ROMIO: bytes that one access of data sieving reads])
HINT_PASSED_SIZE([ind_wr_buffer_size], [1], [ROMIO: bytes that one access of data sieving writes])
HINT_PASSED([romio_ds_read], [ROMIO: enable, disable, automatic: data sieving in reads])
HINT_PASSED([romio_ds_write], [ROMIO: enable, disable, automatic: data sieving in writes])
HINT_COMMON_CHOICE([romio_cb_read], [access.cb_read], [WORDS(automatic, enable, disable)],
[enable: collective reads always use aggregators. disable: they never do])
HINT_COMMON_CHOICE([romio_cb_write], [access.cb_write], [WORDS(automatic, enable, disable)],
[enable: collective writes always use aggregators. disable: they never do])
HINT_COMMON_CHOICE([romio_no_indep_rw], [access.no_independent], [WORDS(false, true)],
[true: in collective calls only aggregators access the file])
HINT_PASSED([romio_cb_pfr], [ROMIO: persistent file realms; ROMIO of MPICH 4.0 crashes at close if it is enabled])
HINT_PASSED([romio_cb_fr_types], [ROMIO: kind of file realms])
HINT_PASSED_SIZE([romio_cb_fr_alignment], [1], [ROMIO: alignment of file realms])
HINT_PASSED_SIZE([romio_cb_ds_threshold], [0], [ROMIO: largest gap in bytes for data sieving in collective calls])
HINT_PASSED([romio_cb_alltoall], [ROMIO: how ranks exchange data])
HINT_PASSED_SIZE([romio_lustre_co_ratio], [1], [ROMIO: number of ranks that access each Lustre server])
HINT_PASSED_SIZE([romio_lustre_coll_threshold], [0], [ROMIO: request size from which collective calls access the file independently])
HINT_PASSED([romio_lustre_ds_in_coll], [ROMIO: data sieving in collective writes on Lustre])
HINT_PASSED([romio_visibility_immediate], [ROMIO: whether other ranks see a write at once])
HINT_PASSED([romio_synchronized_flush], [ROMIO: how a flush is coordinated])
])

m4_define([HINT_SIZE], [CHECK_COUNT([hints.m4], [$1], $#, 9, 9)CHECK_HINT([$1], [$9])m4_dnl
m4_ifelse([$6], [LEAST], [], [$6], [SENSELESS], [], [$6], [MOST], [], [REFUSE([hints.m4], [$1],
    ["$6" does not say what a small number becomes])])])
m4_define([HINT_ALIAS], [CHECK_COUNT([hints.m4], [$1], $#, 3, 3)CHECK_HINT([$1], [$3])m4_dnl
m4_ifdef([HINT_$2], [], [REFUSE([hints.m4], [$1], ["$2" is not a hint above it])])])
m4_define([HINT_CHOICE], [CHECK_COUNT([hints.m4], [$1], $#, 6, 6)CHECK_HINT([$1], [$6])])
m4_define([HINT_TEXT], [CHECK_COUNT([hints.m4], [$1], $#, 3, 3)CHECK_HINT([$1], [$3])])
m4_define([HINT_COMMON_SIZE], [CHECK_COUNT([hints.m4], [$1], $#, 4, 4)CHECK_HINT([$1], [$4])])
m4_define([HINT_COMMON_CHOICE], m4_defn([HINT_COMMON_SIZE]))
m4_define([HINT_FIXED], [CHECK_COUNT([hints.m4], [$1], $#, 3, 3)CHECK_HINT([$1], [$3])])
m4_define([HINT_FREE], m4_defn([HINT_FIXED]))
m4_define([HINT_OUTPUT], [CHECK_COUNT([hints.m4], [$1], $#, 2, 2)CHECK_HINT([$1], [$2])])
m4_define([HINT_PASSED], m4_defn([HINT_OUTPUT]))
m4_define([HINT_PASSED_SIZE], m4_defn([HINT_FIXED]))
m4_define([CHECK_HINT], [CHECK_NAME([hints.m4], [$1], [$1])CHECK_VALUE([hints.m4], [$1], [$2], [meaning])m4_dnl
m4_define([HINT_$1])])
CHECK_ROWS([hints.m4], [HINT_ROWS])
m4_divert[]m4_dnl
