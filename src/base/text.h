/* Text from files that is shown on a terminal. */
#ifndef PNC_BASE_TEXT_H
#define PNC_BASE_TEXT_H

#include <stddef.h>

/* Bytes of the character at `text` if a terminal only shows it. 0: a control character of ASCII (ESC, BEL ...) or of
 * Unicode (U+0080 to U+009F: CSI ...), or a byte that is not UTF-8, which could be one. */
size_t pnc_text_count_plain(const char *text);

/* Each byte of the others becomes '?'. */
void pnc_text_make_plain(char *text);

#endif
