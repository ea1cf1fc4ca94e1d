/* A netCDF-4 file that one process reads without MPI, for tools: its definitions, how they are stored, where its chunks
 * are, and its values.
 *
 * Functions that can fail return NC_NOERR, or a code with a message in the error that open was given. */
#ifndef PNC_NETCDF4_READER_H
#define PNC_NETCDF4_READER_H

#include "formats/netcdf4/description.h"
#include "formats/netcdf4/metadata.h"

typedef struct pnc_netcdf4_reader pnc_netcdf4_reader;

/* Whether a file that begins with these n bytes is an HDF5 file, or one whose metadata are not complete. */
bool pnc_netcdf4_reader_is_format(const char *front, int64_t n);

/* Path and error are the caller's, and so is the descriptor; all three outlive the reader. NC_EINTERRUPTED: a program
 * died while it wrote the metadata; NC_ENOMEM. */
int pnc_netcdf4_reader_open(int fd, const char *path, int64_t size, pnc_error *error, pnc_netcdf4_reader **out);
void pnc_netcdf4_reader_close(pnc_netcdf4_reader *reader); /* also NULL */

/* Complete the metadata of a file that a program was writing when it died: the descriptor is open for writing, and no
 * other program changes the file. *was_interrupted: there was something to complete. */
int pnc_netcdf4_reader_repair(int fd, const char *path, int64_t size, bool *was_interrupted, pnc_error *error);

/* The error that open was given. */
pnc_error *pnc_netcdf4_reader_get_error(const pnc_netcdf4_reader *reader);

/* Read the metadata. *bytes, which are to be freed, describe them also to readers of other processes. NC_EHDFERR;
 * NC_ENOTBUILT: without libhdf5. */
int pnc_netcdf4_reader_load(pnc_netcdf4_reader *reader, char **bytes, int64_t *n);
/* Use a description, which is copied. *model, which is replaced, is to be freed before the reader is closed. */
int pnc_netcdf4_reader_adopt(pnc_netcdf4_reader *reader, const char *bytes, int64_t n, pnc_model *model);

/* How a variable is stored, in memory of the reader. */
const pnc_netcdf4_storage *pnc_netcdf4_reader_get_storage(const pnc_netcdf4_reader *reader, int varid);
/* The place of the chunk that begins at this index, which is in the extent of the dataset. Within the file. */
int pnc_netcdf4_reader_find_chunk(pnc_netcdf4_reader *reader, int varid, const int64_t *index, pnc_chunk_place *out);
/* Read a chunk, and undo its filters: `chunk` gets all its bytes, as it is in memory. */
int pnc_netcdf4_reader_read_chunk(pnc_netcdf4_reader *reader, int varid, const int64_t *index,
                                  const pnc_chunk_place *place, void *chunk);
/* count elements from start, with the byte order of the variable (var->little), at values. NC_EBADTYPE, NC_EFILTER,
 * NC_EHDFERR, NC_EREAD, NC_ENOMEM */
int pnc_netcdf4_reader_read(pnc_netcdf4_reader *reader, int varid, const int64_t *start, const int64_t *count,
                            void *values);
/* The same of a variable of type NC_STRING, as many as count says; NULL where none was written. */
int pnc_netcdf4_reader_read_strings(pnc_netcdf4_reader *reader, int varid, const int64_t *start, const int64_t *count,
                                    pnc_netcdf4_strings *out);
/* Whether the file keeps the rules of the classic model; false, with an error, if its metadata cannot be read. */
bool pnc_netcdf4_reader_is_classic(pnc_netcdf4_reader *reader);
/* A hidden attribute of the file that is a text, such as _NCProperties. False: there is none, or it is longer. */
bool pnc_netcdf4_reader_get_text(pnc_netcdf4_reader *reader, const char *name, char *out, size_t capacity);

#endif
