/* Encode and decode the header of CDF-1, CDF-2, CDF-5, as in the NetCDF Classic Format Specification. */
#ifndef PNC_FORMAT_CODEC_H
#define PNC_FORMAT_CODEC_H

#include "format/model.h"

enum { PNC_KIND_UNKNOWN = 0, PNC_KIND_CDF1 = 1, PNC_KIND_CDF2 = 2, PNC_KIND_CDF5 = 5, PNC_KIND_HDF5 = 100 };

/* The file format of the first n bytes. HDF5 has an 8-byte signature at offset 0. */
int pnc_format_kind_identify(const void *bytes, size_t n);

/* The magic number is "CDF" and the number of the format. While a journal at the end of the file (src/growth) is needed
 * to read it, the last byte has the mark too: no reader takes it for a netCDF file. */
#define PNC_MAGIC_BYTES 4
#define PNC_MAGIC_MARK 0x80
bool pnc_format_magic_is_marked(const char *magic);

/* Decode a header from the first n bytes of a file of file_size bytes. Returns NC_NOERR and sets *out (also var->size,
 * layout fields, where); or PNC_NEED_MORE_BYTES and *need, the number of bytes with which to call again (n < *need <=
 * file_size), an estimate of the size of the header; or a code with a message that names the byte offset: NC_ENOTNC,
 * NC_EBADTYPE, NC_EBADDIM, NC_EUNLIMIT, NC_EUNLIMPOS, NC_EMAXNAME, NC_ENOMEM, NC_EINTERRUPTED (the magic number is
 * marked). Messages do not name the file. After an error *out is empty.
 *
 * Every count is checked against file_size minus the offset before memory is allocated. A header that ends beyond
 * file_size is NC_ENOTNC. Non-null padding is accepted. STREAMING numrecs is computed from file_size.
 *
 * Where a file counts terminating NULs in its names, the encoded header is shorter: every `where` is -1, and the header
 * can only be rewritten as a whole. */
#define PNC_NEED_MORE_BYTES 1
int pnc_format_header_decode(const void *bytes, int64_t n, int64_t file_size, pnc_model *out, int64_t *need,
                             pnc_error *error);

/* Bytes with their padding: names and attribute values occupy multiples of 4 bytes. n is at most INT64_MAX - 3. */
static inline int64_t pnc_format_size_get_padded(int64_t n)
{
    return n + (-n & 3);
}

/* Size in bytes of the encoded header. */
int64_t pnc_format_header_get_size(const pnc_model *model);

/* Encode into buf, of pnc_format_header_get_size bytes; sets `where` of every entry. */
void pnc_format_header_encode(pnc_model *model, void *buf);

/* Encode one entry, as in the header, into buf, to patch it in place in data mode; returns its size in bytes (buf NULL:
 * size only). */
int64_t pnc_format_att_encode(const pnc_model *model, const pnc_att *att, void *buf);
/* The name field of any entry (length word, bytes, padding), at offset `where`. */
int64_t pnc_format_name_encode(const pnc_model *model, const char *name, void *buf);

/* Where an entry is depends on what precedes it. These bytes are specific to a place: from the start of the header or,
 * for variables and their attributes, from the name of the variable, which no other one has, up to the end of the entry
 * (of a variable: of its dimensions). get_anchor returns the offset of the first one. */
int64_t pnc_format_entry_get_anchor(const pnc_model *model, pnc_entry entry);
int64_t pnc_format_entry_encode(const pnc_model *model, pnc_entry entry, void *buf); /* bytes; buf NULL: size only */
/* Whether both have the entry at the same offset, with the same name, type and length. */
bool pnc_format_entry_is_same(const pnc_model *a, const pnc_model *b, pnc_entry entry);

/* numrecs is at byte 4: 4 bytes, or 8 in CDF-5. Returns the number of bytes. */
int pnc_format_numrecs_encode(const pnc_model *model, void *buf);
/* The number of records from the first PNC_FRONT_BYTES bytes of a file of `format`; 0 if they are those of another
 * format, or if the number follows from the size of the file. */
#define PNC_FRONT_BYTES 12
int64_t pnc_format_numrecs_decode(const void *front, int format);

#endif
