/* Strings of JSON (RFC 8259). */
#ifndef PNC_REFERENCES_JSON_H
#define PNC_REFERENCES_JSON_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* n bytes as a string in quotes. Null characters at the end are dropped. A byte that is not valid UTF-8, possible in
 * foreign files, becomes the character of its value. */
void pnc_references_text_write(FILE *out, const char *bytes, size_t n);
void pnc_references_part_write(FILE *out, const char *bytes, size_t n); /* all of them, without the quotes */
void pnc_references_string_write(FILE *out, const char *text);
/* "base64:..": n bytes as fsspec has them within references. */
void pnc_references_base64_write(FILE *out, const unsigned char *bytes, int64_t n);

#endif
