/* Locks that keep a second writer from a file, or from a folder that is a dataset: those of HDF5, whose readers still
 * open it, and one for the programs of this library. */
#ifndef PNC_HOST_WRITER_H
#define PNC_HOST_WRITER_H

#include <stddef.h>

#include "base/hold.h"

typedef struct pnc_host_writer pnc_host_writer;

#define PNC_HOST_WHY_BYTES 160

/* Take the file, or folder, at a path for writing. Never waits. The handles of this process share what it holds, and
 * the kernel releases that when the process ends, however it ends. PNC_HELD_BY_OTHERS: `why` says who has the file, as
 * far as the system knows. PNC_HELD_UNKNOWN: such locks are not for this file, as it is not on a local file system, or
 * as the environment variable HDF5_USE_FILE_LOCKING says so. *out is set with PNC_HELD only. */
pnc_held pnc_host_writer_begin(const char *path, pnc_host_writer **out, char *why, size_t capacity);
void pnc_host_writer_end(pnc_host_writer *writer);

#endif
