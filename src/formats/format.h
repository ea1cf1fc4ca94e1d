/* How a dataset is stored: the operations of a format, and what a format sees of an open dataset.
 *
 * src/dataset checks modes, permissions and arguments, compares them across the ranks, and calls a format, which keeps
 * the model (format/model.h) and the file the same. A format knows no modes and no ncid.
 *
 * Operations return NC_NOERR or a code, whose message they have set in file->error. Collective ones are called by all
 * ranks. Unless it says otherwise, such an operation returns an error on all ranks or on none; an `err` that it takes
 * is the result so far of this rank, which then takes part in all collective steps. All operations are there. */
#ifndef PNC_FORMATS_FORMAT_H
#define PNC_FORMATS_FORMAT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/error.h"
#include "file/file.h"
#include "filter/filter.h"
#include "format/addressing.h"
#include "format/layout_hints.h"
#include "format/model.h"
#include "host/pool.h"

#define PNC_FORMAT_THREADS_MOST PNC_POOL_THREADS_MOST /* of filters */

enum { PNC_FORMAT_ROOT_GROUP = 2 }; /* of pnc_format_hints.groups */

/* Hints that formats obey. */
typedef struct pnc_format_hints {
    pnc_layout_hints layout;   /* -1 where no hint was given */
    int64_t header_read_chunk; /* bytes of the metadata read at a time */
    int64_t data_move_chunk;   /* bytes per round when data moves at enddef */
    int64_t data_move_limit;   /* bytes that may move in an enddef */
    int64_t short_file;        /* 0: reads beyond the end of the file give zeros, 1: an error */
    int64_t assumes_dead;      /* 1: of a program of which it is not known whether it still changes the file */
    int64_t chunk_cache;       /* bytes of chunks that a rank keeps for the next read */
    int64_t shards;            /* bytes of values of a new shard, about; 0: no shards */
    int64_t filter_threads;    /* that encode and decode chunks beside the program's, + 1; 0, and -1 if the user has
                                * asked for it: as many as find cores */
    bool encodes_behind;       /* these threads encode chunks of puts that have returned, too */
    int64_t groups;            /* 0: those of groups have paths, 1: and are listed, 2: only those of the root group */
} pnc_format_hints;

/* Threads of this process that encode and decode chunks, where so many processors of the node are idle. */
int pnc_formats_threads_count(const pnc_format_hints *hints, int nidle);
/* Those that encode chunks of puts which have returned. The program may use processors for its own threads then: none,
 * unless the user asks for threads; with auto those that OpenMP does not have. */
int pnc_formats_threads_behind_count(const pnc_format_hints *hints, int nidle);
/* The same of those that decode chunks of gets that are foreseen. */
int pnc_formats_threads_ahead_count(const pnc_format_hints *hints, int nidle);

/* An open dataset as its format sees it. The struct of a format begins with one. */
typedef struct pnc_format {
    const struct pnc_format_ops *ops; /* NULL: not known yet, as the file is not open */
    pnc_file *file;                   /* with the error of the call in progress, and the statistics */
    pnc_model *model;                 /* the definitions; in define mode those of this rank */
    pnc_model *before; /* those that the file has, while `model` may differ; NULL outside define mode, in a new file */
    const pnc_format_hints *hints;
    /* Print a line about the file, on rank 0, for users who want to see what the library does. */
    void (*announce)(const pnc_file *file, const char *text, ...) PNC_PRINTF(2, 3);
    /* The version that the program has asked for, and whose rules hold, if a hint has chosen one with the same model;
     * 0: no hint has. */
    int asked;

    /* set by the format */
    bool is_new;          /* created, and its first enddef has not completed: the file has nothing yet */
    bool numrecs_dirty;   /* this rank has added records whose number is not yet written to the file */
    bool lacks_space;     /* variables have no space in the file before a put: `add_space`; the same on all ranks */
    bool overruled;       /* by an enddef: this rank's definitions differed and were replaced by rank 0's */
    char difference[256]; /* which; empty if only attributes, fill modes or offsets differed */
} pnc_format;

/* Bytes of the file that rank 0 has read to open it. */
typedef struct pnc_format_bytes {
    char *at;
    int64_t n; /* in memory; or those of the metadata, of which `at` may have more */
    int64_t file_size;
    bool is_first;     /* the first attempt to read them, for several ranks */
    bool is_estimated; /* not decoded yet: n is an estimate of the size of the metadata */
} pnc_format_bytes;

#define PNC_FORMAT_MESSAGE_BYTES (16 * 1024)

/* What rank 0 has found, in one broadcast. */
typedef struct pnc_format_message {
    pnc_error error;
    int64_t format; /* its number in the table */
    int64_t n, file_size;
    bool is_estimated;
    char bytes[PNC_FORMAT_MESSAGE_BYTES]; /* the first ones of n */
} pnc_format_message;

/* A name, or an attribute, that changes in data mode. */
typedef struct pnc_format_change {
    pnc_entry entry;
    const char *name; /* the new name, normalised; NULL: the attribute gets another value */
    int type;         /* of the new value, and as in pnc_att */
    int64_t len;
    const void *value;
    pnc_strings strings;
} pnc_format_change;

/* What the inquiries of the layout return; 0 where a format has no such number. */
typedef struct pnc_format_layout {
    int64_t header_size;   /* in define mode that of the header that the next enddef writes */
    int64_t header_extent; /* this and the next one are those of the file: before redef in define mode */
    int64_t record_size;
    int64_t v_align, r_align; /* arguments of the last enddef, or defaults */
} pnc_format_layout;

/* A version of a format. */
typedef struct pnc_format_version {
    int version;          /* NC_FORMAT_CLASSIC .. */
    int mode;             /* of ncmpi_create, and as ncmpi_inq_version returns it */
    const char *constant; /* the name of `version`; NULL: such files cannot be created */
    int model;            /* the format of its models, where no mode, but a hint chooses the version; 0: `version` */
} pnc_format_version;

/* Versions that have no constant of netCDF. */
enum { PNC_VERSION_ZARR = 100, PNC_VERSION_ZARR_CLASSIC };

/* Strings for a hyperslab of a variable of NC_STRING, which the caller has checked. */
typedef struct pnc_format_string_put {
    int varid;
    const int64_t *start, *count;
    int64_t n; /* the product of count; 0: nothing else is there */
    char *const *strings;
} pnc_format_string_put;

#define PNC_VERSIONS_MOST 4

typedef struct pnc_format_ops {
    const char *name;
    size_t bytes;                                   /* of the struct of the format */
    const char *driver;                             /* of PNC_DRIVERS_OF_DATASETS, which it needs; NULL: one of files */
    pnc_format_version versions[PNC_VERSIONS_MOST]; /* those whose modes have more flags first; zeros at the end */
    const pnc_addressing *addressing;
    bool has_storage; /* variables have chunks, filters .. (format/storage.h) */
    bool has_shards;  /* of chunks */
    /* Local. What new variables are compressed by, where neither the program nor a hint chooses, as a value of
     * nc_compression. NULL: nothing. */
    const char *(*choose_compression)(void);
    /* Local. Whether this machine has what a filter of a variable needs: NC_EFILTER; NULL: variables have none. */
    int (*check_filter)(const pnc_filter *filter, pnc_error *error);
    bool has_one_writer; /* `create` and `load` hold a file that is open for writing: file/writer.h */

    /* --- creating and opening --- */

    /* Whether files of this format begin with these n bytes. */
    bool (*is_format)(const char *front, int64_t n);
    /* Local. Make an empty model of a new file, to which nothing is written before enddef. */
    int (*create)(pnc_format *f, int version);
    /* On rank 0, which has read the first bytes of the file: read more, repair what a death has left if the file may be
     * written, and find the bytes that all ranks need. */
    int (*load)(pnc_format *f, pnc_format_bytes *found);
    /* Collective, if that has succeeded: get the rest of the bytes that do not fit into the message, which one rank
     * does not need, and make the model. Returns the result of this rank; the caller agrees. */
    int (*adopt)(pnc_format *f, pnc_format_bytes *found, const pnc_format_message *message, int err);
    /* Local, after opening. Whether there is a remark about the file for users, which is the text of file->error. */
    bool (*remark)(pnc_format *f);
    /* Local. Free what the struct of the format has. Not for a format whose `create` or `load` was never called. */
    void (*free)(pnc_format *f);

    /* --- define mode --- */

    /* Collective. `before` has the definitions, and `model` is a copy that may change: the file has, also after deaths,
     * what belongs to `before`. */
    int (*redef)(pnc_format *f, int err);
    /* Collective. Make the file that of `model`, and free `before`. All ranks adopt the definitions of rank 0; where
     * they differ, `overruled` is set. `hints` are those in effect; sets the free space that is used. After an error,
     * definitions and file are those before the call, the file perhaps only after `restore`. err as above. */
    int (*enddef)(pnc_format *f, pnc_layout_hints *hints, int err);

    /* Local, in define and in data mode. Whether the variable may get this name, normalised and without a path. */
    int (*check_rename)(pnc_format *f, int varid, const char *name);

    /* --- names and attributes in data mode, which need no more space than before --- */

    /* Local. Whether there is space, and what else the format requires: the same on all ranks. */
    int (*check_change)(pnc_format *f, const pnc_format_change *change);
    /* Collective, after that: change model and file. After an error both are as before, the file perhaps only after
     * `restore`. A process that dies meanwhile leaves the old definitions or the new ones. */
    int (*change)(pnc_format *f, const pnc_format_change *change);

    /* --- unlimited dimensions, records --- */

    /* Local. A put of this rank needs such a length of an unlimited dimension; it is written to the file later. */
    void (*add_length)(pnc_format *f, int dimid, int64_t length);
    /* Collective; all ranks pass the same length, and the file gets it at once. */
    int (*write_length)(pnc_format *f, int dimid, int64_t length);
    /* Local, after a put that has failed. Whether values wait to be written by the next flush. */
    bool (*keeps_values)(const pnc_format *f);
    /* Local. Whether a record can be filled: NC_EINVALCOORDS if the file cannot have so many. */
    int (*check_record)(pnc_format *f, int64_t record);
    /* Collective. Fill a record of a variable, and add it. */
    int (*fill_record)(pnc_format *f, int varid, int64_t record);
    /* Collective. Agree on the records that ranks have added, and write what the file lacks of the dataset but not the
     * caches of the file system. *unsynced, the same on all ranks, unchanged after an error of the agreement, may be
     * NULL: whether any rank has changed the file since the last flush. err as above. */
    int (*flush)(pnc_format *f, int err, bool *unsynced);
    /* Collective, before the ranks access the file each on its own: what any of them has put can be read by all. A file
     * where that is so at any time takes no collective step. */
    int (*prepare)(pnc_format *f);
    /* Local, before a get. Another handle of this process has changed values of the file: they are read again. False if
     * this handle may still read what was there before. */
    bool (*renew)(pnc_format *f);
    /* Local, for a file that can only be closed by each rank on its own, in any state: write what this rank can. */
    void (*abandon)(pnc_format *f);

    /* --- a change of the definitions that has failed, and whose file could not be restored, as on a full disk --- */

    /* Collective. Restore the file. A file that is as it should be, which all ranks know, takes no collective step. */
    int (*restore)(pnc_format *f);
    /* Collective, before a put in a file that lacks space. varid: the first variable without space that this rank puts
     * into, or -1. *more: whether a rank has one; then one variable has space afterwards.
     * NULL if files of the format never lack it. */
    int (*add_space)(pnc_format *f, int varid, bool *more);
    /* The same at the start of a put. An independent one of several ranks cannot: NC_EINTERRUPTED. */
    int (*restore_before_put)(pnc_format *f, bool collective);

    /* The strings of a hyperslab of a variable of NC_STRING; each becomes the caller's, and may be NULL. collective:
     * all ranks call it, and have what any of them has put; the result is that of this rank. NULL: the format has no
     * such variables. */
    int (*get_strings)(pnc_format *f, int varid, const int64_t *start, const int64_t *count, bool collective,
                       char **out);
    /* Put some, also beyond the lengths of unlimited dimensions, which grow. Local if it is not collective: the other
     * ranks see them after the next `flush` or `prepare`. err as above. Where there is get_strings, and files are
     * written. */
    int (*put_strings)(pnc_format *f, const pnc_format_string_put *put, bool collective, int err);

    /* --- inquiries: local, in all modes --- */

    void (*get_layout)(const pnc_format *f, pnc_format_layout *out);
    /* Offset in the file of the variable, which exists; 0 if it has none. */
    int64_t (*get_offset)(const pnc_format *f, int varid);
    /* Why enddefs have moved data, and what avoids it; an empty text if none has. */
    void (*explain_moves)(const pnc_format *f, char *out, size_t capacity);
} pnc_format_ops;

/* The table of formats: the first one is that of files that no format recognizes, for its messages. */
#define PNC_FORMATS(F) F(classic, pnc_classic_format) F(netcdf4, pnc_netcdf4_format) F(zarr, pnc_zarr_format)

#define PNC_DECLARE_FORMAT(name, operations) extern const pnc_format_ops operations;
PNC_FORMATS(PNC_DECLARE_FORMAT)
#undef PNC_DECLARE_FORMAT

/* Zeros, of the size that any format needs; NULL without memory. free: also NULL, in any state. Local. */
pnc_format *pnc_formats_format_alloc(void);
void pnc_formats_format_free(pnc_format *f);

/* The version that ncmpi_create makes, which a flag of its mode chooses; without one, `otherwise`. NC_EINVAL_CMODE, or
 * NC_ENOTBUILT if no format has it. */
int pnc_formats_mode_choose(int cmode, int otherwise, int *version, pnc_error *error);
/* NC_EINVAL if files of a version cannot be created. */
int pnc_formats_version_check(int version, pnc_error *error);
/* The mode of a version. */
int pnc_formats_version_get_mode(int version);
/* The format of its models, and the driver that it needs; NULL: one of files. */
int pnc_formats_version_get_model(int version);
const char *pnc_formats_version_get_driver(int version);
/* The default compression on this machine of datasets with this driver, as a value of nc_compression; NULL: none. */
const char *pnc_formats_driver_choose_compression(const char *driver);
/* Whether its files, or files that begin with these n bytes, have one writer at a time. */
bool pnc_formats_version_has_one_writer(int version);
bool pnc_formats_front_has_one_writer(const char *front, int64_t n);

/* Local. Whether this machine has what a filter needs in the format that has filters: NC_EFILTER. */
int pnc_formats_filter_check(const pnc_filter *filter, pnc_error *error);

/* Local. Create the model of a file that is opened as a new one: version is NC_FORMAT_CLASSIC .. */
int pnc_formats_file_create(pnc_format *f, int version);
/* Collective. Find the format of an existing file, and read the model: one broadcast, unless the metadata are large.
 * err is the result so far of this rank, and the return value too: the caller agrees. */
int pnc_formats_file_load(pnc_format *f, int err);

/* Local. `before` gets the definitions. copy: a copy of them, which may be needed again after a change in data mode.
 * keep, for redef: the definitions themselves, which the file has until the next enddef; `model` becomes the copy,
 * which has no memory of what was replaced or deleted. free: forget them. */
int pnc_formats_before_copy(pnc_format *f);
int pnc_formats_before_keep(pnc_format *f);
void pnc_formats_before_free(pnc_format *f);
/* The definitions before become those of the file again, with the lengths that dimensions have now: a change of names
 * or attributes has failed, or redef, or define mode is aborted. Nothing if there are none. */
void pnc_formats_before_restore(pnc_format *f);

/* --- for formats --- */

/* On rank 0: read the first bytes of the file, and its size; then up to byte `upto`. `bytes` may have been read. */
int pnc_formats_bytes_begin(pnc_format *f, pnc_format_bytes *bytes);
int pnc_formats_bytes_extend(pnc_format *f, pnc_format_bytes *bytes, int64_t upto);
/* Collective, on several ranks. Broadcast what rank 0 has found, or its error. err is the result so far of this rank;
 * returns that of this rank. `bytes` gets what is in the message, but for the bytes. */
int pnc_formats_message_broadcast(pnc_format *f, pnc_format_bytes *bytes, pnc_format_message *message, int err);
/* Collective. Broadcast all bytes, if the message has not all. All ranks return an error, or none does. */
int pnc_formats_rest_broadcast(pnc_format *f, const pnc_format_message *message, pnc_format_bytes *bytes, int err);
/* Add the path to the message of a decoder, which has only bytes. Returns err. */
int pnc_formats_path_add(const pnc_format *f, int err);
/* NC_ENOMEM, with a message. */
int pnc_formats_memory_fail(const pnc_format *f, int64_t bytes);

/* The lengths of a chunk of a variable in chunks: those that the program has chosen, and those that the library would
 * choose now. */
void pnc_formats_chunk_find(const pnc_model *model, const pnc_var *var, int64_t *chunk);

#endif
