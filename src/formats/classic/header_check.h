/* Whether the header in the file is the one that this handle knows: another handle or program may have changed it. Then
 * the offsets that this handle knows can be those of something else, and nothing is written. */
#ifndef PNC_CLASSIC_HEADER_CHECK_H
#define PNC_CLASSIC_HEADER_CHECK_H

#include "formats/format.h"
#include "format/codec.h"

/* Local; ranks other than 0 return NC_NOERR. NC_ESTALE if an entry of *f->model is at another offset, or has another
 * name, type or length. Other values of an attribute are no error: *is_known, on rank 0, is whether the bytes are those
 * that this handle would write. */
int pnc_classic_header_entry_check(pnc_format *f, pnc_entry entry, bool *is_known);
/* On rank 0. NC_ESTALE if the file has another header than that of f->before, but for the number of records. `old` has
 * n bytes, the size of that header as this library encodes it. It gets those of the file. *is_known: they are the
 * header; else the file has the same definitions in another encoding, which may be longer. */
int pnc_classic_header_check(pnc_format *f, char *old, int64_t n, bool *is_known);

#endif
