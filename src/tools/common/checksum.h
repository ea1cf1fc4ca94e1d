/* Checksums of variables (convert/checksum.h) in tools. */
#ifndef PNC_TOOLS_COMMON_CHECKSUM_H
#define PNC_TOOLS_COMMON_CHECKSUM_H

#include "convert/checksum.h"
#include "tools/common/file.h"

/* NC_ENOTBUILT, after an error message, without xxHash. */
int tool_checksum_check(void);

/* That of a variable of an open file. NC_NOERR, or a code after an error message. */
int tool_checksum_compute(const tool_file *file, const pnc_var *var, char text[PNC_CHECKSUM_TEXT]);

#endif
