/* Checksums of the values of a variable, the same in every format and with any chunks: XXH3 with 128 bits of blocks of
 * 1 MiB of its values, in the order of the variable, big-endian as in a classic file, and then of the digests of the
 * blocks. Kept in an attribute of the variable. */
#ifndef PNC_TOOLS_COMMON_CHECKSUM_H
#define PNC_TOOLS_COMMON_CHECKSUM_H

#include "base/xxh3.h"
#include "tools/common/file.h"

#define TOOL_CHECKSUM_ATTRIBUTE "_Checksum"
enum { TOOL_CHECKSUM_BLOCK = 1 << 20 }; /* bytes */
enum { TOOL_CHECKSUM_TEXT = 42 };       /* "xxh3-128:", 32 digits and a null character */

/* NC_ENOTBUILT, after an error message, without xxHash. */
int tool_checksum_check(void);

/* The digest of a block: n values in their memory type. `bytes` is memory for a block. */
void tool_checksum_block_compute(int type, const void *values, int64_t n, void *bytes,
                                 unsigned char digest[PNC_XXH3_BYTES]);
/* The checksum of a variable with n blocks. */
void tool_checksum_format(const unsigned char *digests, int64_t n, char text[TOOL_CHECKSUM_TEXT]);

/* That of a variable of an open file. NC_NOERR, or a code after an error message. */
int tool_checksum_compute(const tool_file *file, const pnc_var *var, char text[TOOL_CHECKSUM_TEXT]);

#endif
