/* Copies of puts, with their values in external form, which need nothing of the caller any more. */
#ifndef PNC_IO_COPY_H
#define PNC_IO_COPY_H

#include "base/arena.h"
#include "io/request/request.h"

/* Bytes of memory for a copy; -1: the request, of a filetype, cannot be copied. */
int64_t pnc_io_copy_count_bytes(const pnc_io_context *io, const pnc_request *r);
/* Copy a put into the arena; pnc_arena_free frees the copy. r->status becomes NC_ERANGE if a value does not fit the
 * type of the variable. NC_ENOMEM. */
int pnc_io_copy_make(pnc_io_context *io, pnc_arena *arena, pnc_request *r, pnc_request **out);

#endif
