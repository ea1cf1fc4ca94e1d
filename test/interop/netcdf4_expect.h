/* Codes that a program of a Python test expects: another one is printed as a line "wrong ..", with the message of the
 * dataset that is open. */
#ifndef NETCDF4_EXPECT_H
#define NETCDF4_EXPECT_H

#include <stdio.h>

#include "pnetcdf.h"

static int rank, ncid;

static void expect(int err, int expected, const char *what)
{
    char message[NC_MAX_MESSAGE] = "";

    if (err == expected)
        return;
    ncmpi_inq_last_error(ncid, NULL, message);
    printf("wrong: rank %d: %s: %s, expected %s: %s\n", rank, what, ncmpi_strerrno(err), ncmpi_strerrno(expected),
           message);
    fflush(stdout);
}

#define OK(call) expect(call, NC_NOERR, #call)

#endif
