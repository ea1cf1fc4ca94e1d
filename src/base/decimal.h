/* Decimal numbers in texts of users, such as hints. */
#ifndef PNC_BASE_DECIMAL_H
#define PNC_BASE_DECIMAL_H

#include <stdbool.h>

/* Whether the text is a decimal number, with the point of C, in any locale of the program; not NaN or infinity. */
bool pnc_text_decimal_parse(const char *text, double *value);

#endif
