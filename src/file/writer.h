/* The one program that writes a file whose format allows no second writer (netCDF-4, Zarr). Rank 0 holds the file while
 * it is open for writing, where the file system has locks for that; elsewhere, and against programs that do not lock,
 * the format compares what is in the file before it changes it. Readers hold nothing. All functions are local. */
#ifndef PNC_FILE_WRITER_H
#define PNC_FILE_WRITER_H

#include "file/file.h"

/* On rank 0: hold the file at this path until pnc_file_writer_end, in place of one that is held. NC_EACCESS: another
 * program has it open for writing. */
int pnc_file_writer_begin(pnc_file *file, const char *path);
/* Also if nothing is held. */
void pnc_file_writer_end(pnc_file *file);

/* Read at most n first bytes of the file at a path, before it is open. Returns how many: 0 if it cannot be read. */
int64_t pnc_file_front_peek(const pnc_file *file, const char *path, char *front, int64_t n);

#endif
