#include "format/real.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/types.h"

static bool reads_back(int type, const char *text, double value)
{
    return type == NC_FLOAT ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value;
}

/* Add one unit of the last digit to a number of n digits, away from zero. At a power of two, the values above are twice
 * as far apart as those below: there, the nearest number of n digits may be too far below, and the next one right. */
static void raise_last_digit(int n, char *text)
{
    char *digit = strchr(text, 'e');

    for (; n > 0; n--) {
        digit -= digit[-1] == '.' ? 2 : 1;
        if (*digit != '9')
            break;
        *digit = '0';
    }
    ++*digit; /* a power of two has a digit other than 9 among these */
}

const char *pnc_format_real_print(int type, double value, char out[PNC_REAL_TEXT])
{
    double least = type == NC_FLOAT ? (double)FLT_MIN : DBL_MIN;
    int safe = type == NC_FLOAT ? FLT_DIG : DBL_DIG, most = type == NC_FLOAT ? FLT_DECIMAL_DIG : DBL_DECIMAL_DIG;
    char raised[PNC_REAL_TEXT];

    /* so many digits survive in a normal number: one that needs fewer is not printed longer */
    for (int digits = fabs(value) < least ? 1 : safe; digits <= most; digits++) {
        snprintf(out, PNC_REAL_TEXT, "%.*g", digits, value);
        if (reads_back(type, out, value))
            break;
        snprintf(raised, sizeof raised, "%.*e", digits - 1, value);
        raise_last_digit(digits, raised);
        if (reads_back(type, raised, value)) {
            snprintf(out, PNC_REAL_TEXT, "%s", raised);
            break;
        }
    }
    return out;
}
