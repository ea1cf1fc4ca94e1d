/* A file that one process reads without MPI, for tools: its definitions, how they are stored, where its chunks are, and
 * its values. Classic files need no reader, as their values are where
 * the definitions say.
 *
 * Functions that can fail return NC_NOERR, or a code with a message in the error that open was given. */
#ifndef PNC_FORMATS_READER_H
#define PNC_FORMATS_READER_H

#include "drivers/chunks/cache.h"
#include "drivers/chunks/chunks.h"
#include "format/model.h"

/* How the values of a variable are stored. */
typedef struct pnc_stored {
    int layout;      /* NC_CONTIGUOUS, NC_COMPACT, NC_CHUNKED; NC_UNKNOWN_STORAGE: this library does not read it */
    int64_t address; /* of a contiguous one; -1: nothing was written */
    int64_t nbytes;  /* of a compact one, whose bytes are array.contents */
    bool is_alias;   /* another variable has the same values */
    bool has_fill;   /* it defines a fill value: that of values that were never written */
    unsigned char fill[8]; /* in host order */
    pnc_chunk_array array;
} pnc_stored;

/* Texts with null characters at their ends; NULL: there is none. */
typedef struct pnc_reader_strings {
    int64_t n;
    char **at;
} pnc_reader_strings;
void pnc_formats_strings_free(pnc_reader_strings *strings); /* also zeros */

typedef struct pnc_reader pnc_reader;

/* key: in the folder; why: what is wrong with it, behind its name: "belongs to nothing: ..". */
typedef void pnc_reader_stray(void *own, const char *key, const char *why);

typedef struct pnc_reader_ops {
    const char *name; /* of the format, for messages */
    size_t bytes;     /* of the format's struct, which begins with a pnc_reader */
    bool has_objects; /* places of chunks are not those of one file */
    /* Whether files of the format begin with these n bytes; NULL: it has no files. */
    bool (*is_format)(const char *front, int64_t n);
    bool (*is_folder)(int fd); /* whether an open folder is a dataset of the format; NULL: none is */
    /* Complete the metadata of a file that a program was writing when it died: the descriptor is open for writing, and
     * no other program changes the file. *was_interrupted: there was something to complete. */
    int (*repair)(int fd, const char *path, int64_t size, bool *was_interrupted, pnc_error *error);
    int (*open)(pnc_reader *r, int fd); /* NC_EINTERRUPTED, as below */
    void (*close)(pnc_reader *r);       /* also after an open that failed */
    int (*load)(pnc_reader *r, char **bytes, int64_t *n);
    /* Make the model, and r->stored, in memory of the format. The bytes are there until close. */
    int (*adopt)(pnc_reader *r, const char *bytes, int64_t n, pnc_model *model);
    int (*find_chunk)(pnc_reader *r, int varid, const int64_t *index, pnc_chunk_place *out);
    /* The bytes at a place; index: of the chunk that is there, NULL: a part of a contiguous variable. */
    int (*read)(pnc_reader *r, int varid, const int64_t *index, const pnc_chunk_place *place, void *to);
    int (*read_strings)(pnc_reader *r, int varid, const int64_t *start, const int64_t *count, pnc_reader_strings *out);
    bool (*is_classic)(pnc_reader *r);
    bool (*get_text)(pnc_reader *r, const char *name, char *out, size_t capacity);
    pnc_codecs (*get_codecs)(void);
    /* Of a format whose datasets are folders, else NULL: call `each` for what is in one and belongs to nothing, which
     * is deleted before if deletes is set; no other program changes it then. */
    int (*find_strays)(pnc_reader *r, bool deletes, pnc_reader_stray *each, void *own);
} pnc_reader_ops;

/* A format's struct begins with it. */
struct pnc_reader {
    const pnc_reader_ops *ops;
    char *path; /* a copy */
    int64_t size;
    pnc_error *error;
    const pnc_model *model; /* the caller's */
    pnc_stored *stored;     /* of each variable */

    /* of reader.c */
    char *bytes; /* the description; NULL: none yet */
    pnc_chunk_cache cache;
    pnc_codecs codecs;
    pnc_filter_worker worker;
    unsigned char *encoded; /* a chunk as the file has it */
    int64_t capacity;
};

/* The format of a file that begins with these n bytes; NULL: none that has a reader. */
const pnc_reader_ops *pnc_formats_readers_find(const char *front, int64_t n);
/* The same of an open folder. */
const pnc_reader_ops *pnc_formats_readers_find_folder(int fd);

/* Path and error are the caller's, and so is the descriptor; all three outlive the reader. NC_EINTERRUPTED: a program
 * died while it wrote the metadata; NC_ENOMEM. */
int pnc_formats_reader_open(const pnc_reader_ops *ops, int fd, const char *path, int64_t size, pnc_error *error,
                            pnc_reader **out);
void pnc_formats_reader_close(pnc_reader *r); /* also NULL */

/* Read the metadata. *bytes, which are to be freed, describe them also to readers of other processes. The format's code
 * for damage (NC_EHDFERR); NC_ENOTBUILT: this build has no such reader. */
int pnc_formats_reader_load(pnc_reader *r, char **bytes, int64_t *n);
/* Use a description, which is copied. *model, which is replaced, is to be freed before the reader is closed. */
int pnc_formats_reader_adopt(pnc_reader *r, const char *bytes, int64_t n, pnc_model *model);

/* In memory of the reader. */
const pnc_stored *pnc_formats_reader_get_stored(const pnc_reader *r, int varid);
/* The place of the chunk that begins at this index, which is in the extent of the array. Within the file. */
int pnc_formats_reader_find_chunk(pnc_reader *r, int varid, const int64_t *index, pnc_chunk_place *out);
/* Read a chunk, and undo its filters: `chunk` gets all its bytes, as it is in memory. */
int pnc_formats_reader_read_chunk(pnc_reader *r, int varid, const int64_t *index, const pnc_chunk_place *place,
                                  void *chunk);
/* count elements from start, with the byte order of the variable (var->little), at values. NC_EBADTYPE, NC_EFILTER,
 * NC_EHDFERR, NC_EREAD, NC_ENOMEM */
int pnc_formats_reader_read(pnc_reader *r, int varid, const int64_t *start, const int64_t *count, void *values);
/* The same of a variable of type NC_STRING, as many as count says; NULL where the file has none. */
int pnc_formats_reader_read_strings(pnc_reader *r, int varid, const int64_t *start, const int64_t *count,
                                    pnc_reader_strings *out);
/* As in the operations; nothing of a format without them. */
int pnc_formats_reader_find_strays(pnc_reader *r, bool deletes, pnc_reader_stray *each, void *own);
/* Whether the file keeps the rules of the classic model; false, with an error, if its metadata cannot be read. */
bool pnc_formats_reader_is_classic(pnc_reader *r);
/* A hidden attribute of the file that is a text, such as _NCProperties. False: there is none, or it is longer. */
bool pnc_formats_reader_get_text(pnc_reader *r, const char *name, char *out, size_t capacity);

/* --- for formats --- */

/* What is within the extent of an array: inside[] of count[]. Returns the number of these elements. */
int64_t pnc_formats_count_clip(const pnc_chunk_array *a, const int64_t *start, const int64_t *count, int64_t *inside);
/* An array in one part: the box of a hyperslab of it. */
void pnc_formats_box_find(int ndims, const int64_t *shape, const pnc_array_slab *slab, pnc_box *box);

#endif
