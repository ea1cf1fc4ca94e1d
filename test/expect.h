/* Checks of error codes: each message has the code that was returned and the one that was expected. */
#ifndef TEST_EXPECT_H
#define TEST_EXPECT_H

#include <pnetcdf.h>
#include "harness.h"

/* Collective: every rank must have got the expected code. */
static inline bool expect_code(int got, int wanted, const char *text)
{
    if (got == wanted)
        return t_check(true, "%s: %s", text, ncmpi_strerrno(wanted));
    /* ncmpi_strerrno may answer in a static buffer */
    char name[40] = "";
    for (int i = 0; i < 39 && ncmpi_strerrno(got)[i] != '\0'; i++)
        name[i] = ncmpi_strerrno(got)[i];
    return t_check(false, "%s: got %s (%d), expected %s (%d)", text, name, got, ncmpi_strerrno(wanted), wanted);
}

/* Collective: an error where documents name more than one code, or none. */
static inline bool expect_error(int got, const char *text)
{
    return t_check(got != NC_NOERR, "%s: expected an error, got %s (%d)", text, ncmpi_strerrno(got), got);
}

static inline bool expect_ok(int got, const char *text)
{
    return expect_code(got, NC_NOERR, text);
}

#endif
