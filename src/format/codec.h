/* Header model to bytes and back: CDF-1, CDF-2, CDF-5, as in the NetCDF Classic Format Specification. */
#ifndef PNC_FORMAT_CODEC_H
#define PNC_FORMAT_CODEC_H

#include "format/model.h"

enum { PNC_KIND_UNKNOWN = 0, PNC_KIND_CDF1 = 1, PNC_KIND_CDF2 = 2, PNC_KIND_CDF5 = 5, PNC_KIND_HDF5 = 100 };

/* What the first n bytes of a file are. HDF5 is known by its 8-byte signature at offset 0. */
int pnc_format_kind_identify(const void *bytes, size_t n);

/* Decode a header from the first n bytes of a file of file_size bytes.
 * Returns NC_NOERR and fills *out (also var->size, layout fields, where); or NC_ENOTNC and friends with a message that
 * names the byte offset; or PNC_NEED_MORE_BYTES with *need = how many bytes to have at hand before trying again (n <
 * *need <= file_size). Every count is checked against file_size minus the offset before anything is allocated. A header
 * that runs past file_size is NC_ENOTNC. Non-null padding is accepted. STREAMING numrecs is computed from file_size.
 * Other codes: NC_EBADTYPE, NC_EBADDIM, NC_EUNLIMIT, NC_EUNLIMPOS, NC_EMAXNAME, NC_ENOMEM. Messages do not name the
 * file. On failure *out is left empty. Where a foreign file counts terminating NULs in its names, we would write it
 * shorter: every `where` is then -1, and the header can only be rewritten whole. */
#define PNC_NEED_MORE_BYTES 1
int pnc_format_header_decode(const void *bytes, int64_t n, int64_t file_size, pnc_model *out, int64_t *need,
                             pnc_error *error);

/* Exact size of the encoded header. */
int64_t pnc_format_header_get_size(const pnc_model *model);

/* Encode into buf, which has room for pnc_format_header_get_size bytes; sets `where` of every entry. */
void pnc_format_header_encode(pnc_model *model, void *buf);

/* Encode one entry alone, as it stands in the header, into buf; returns its size in bytes (buf NULL: size only).
 * Used to patch bytes in place in data mode. */
int64_t pnc_format_att_encode(const pnc_model *model, const pnc_att *att, void *buf);
/* The name field of any entry (length word, bytes, padding), which stands at its `where`. */
int64_t pnc_format_name_encode(const pnc_model *model, const char *name, void *buf);
/* numrecs stands at byte 4: 4 bytes, or 8 in CDF-5. Returns the number of bytes. */
int pnc_format_numrecs_encode(const pnc_model *model, void *buf);

#endif
