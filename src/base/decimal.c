/* Reading decimal numbers. */
#define _GNU_SOURCE /* some C libraries hide newlocale in plain C99 */
#include "base/decimal.h"

#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Digits with at most one point, and an exponent. */
static bool is_decimal(const char *text)
{
    size_t whole, part = 0;

    text += *text == '-' || *text == '+';
    whole = strspn(text, "0123456789");
    text += whole;
    if (*text == '.') {
        part = strspn(text + 1, "0123456789");
        text += 1 + part;
    }
    if (*text == 'e' || *text == 'E') {
        text += text[1] == '-' || text[1] == '+' ? 2 : 1;
        if (!isdigit((unsigned char)*text))
            return false;
        text += strspn(text, "0123456789");
    }
    return whole + part > 0 && *text == '\0';
}

/* strtod uses the decimal separator of the locale. */
bool pnc_text_decimal_parse(const char *text, double *value)
{
    locale_t plain = is_decimal(text) ? newlocale(LC_ALL_MASK, "C", (locale_t)0) : (locale_t)0, users;

    if (plain == (locale_t)0)
        return false;
    users = uselocale(plain);
    *value = strtod(text, NULL);
    uselocale(users);
    freelocale(plain);
    return isfinite(*value);
}
