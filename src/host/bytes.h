/* Bytes of an open file: loops over reads and writes that may be short or interrupted. */
#ifndef PNC_HOST_BYTES_H
#define PNC_HOST_BYTES_H

#include <stdint.h>

/* n bytes from `offset`. 0, or an errno; -1 if the file ends before. */
int pnc_host_bytes_read(int file, int64_t offset, void *bytes, int64_t n);
int pnc_host_bytes_write(int file, int64_t offset, const void *bytes, int64_t n);

#endif
