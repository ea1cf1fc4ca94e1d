/* The header in the file: only rank 0 reads and writes it. Functions are collective unless they say otherwise. */
#ifndef PNC_CLASSIC_HEADERIO_H
#define PNC_CLASSIC_HEADERIO_H

#include "formats/format.h"

/* The operations `load` and `adopt`: rank 0 reads, all decode. */
int pnc_classic_header_load(pnc_format *f, pnc_format_bytes *header);
int pnc_classic_header_adopt(pnc_format *f, pnc_format_bytes *header, const pnc_format_message *message, int err);
/* Local: decode the header that the file has now. Free *out even after an error. */
int pnc_classic_header_read(pnc_format *f, pnc_model *out);
/* Before it is written: all ranks adopt rank 0's definitions and encode them, unless one of them passes an error; the
 * caller has set classic.header_size, and frees *bytes. */
int pnc_classic_header_agree(pnc_format *f, int err, char **bytes, int64_t *n);

#endif
