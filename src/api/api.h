/* What the entry points include: the public header and the rooms below. */
#ifndef PNC_API_API_H
#define PNC_API_API_H

#include <sys/types.h>

#include "pnetcdf.h"
#include "dataset/access.h"
#include "dataset/attribute.h"
#include "dataset/dataset.h"
#include "dataset/last_error.h"
#include "dataset/registry.h"
#include "io/request/call.h"

/* Open a file for reading, without MPI. NC_EBAD_FILE NC_ENOENT NC_EACCESS NC_EFILE */
int pnc_api_file_open(const char *filename, int *fd);
/* Bytes read, 0 at the end of the file, or a negative code. */
ssize_t pnc_api_file_read(int fd, void *bytes, size_t capacity);

#endif
