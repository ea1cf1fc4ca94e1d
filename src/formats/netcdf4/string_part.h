/* Strings that are put, as bytes: parts, each of which is a hyperslab of a variable and its strings. Pure. */
#ifndef PNC_NETCDF4_STRING_PART_H
#define PNC_NETCDF4_STRING_PART_H

#include <stdbool.h>
#include <stdint.h>

typedef struct pnc_string_part {
    int varid, ndims;
    const int64_t *start, *count;
    int64_t n;              /* strings: the product of count */
    const int64_t *lengths; /* -1: NULL */
    const char *texts;      /* one behind the other, each with a null character */
} pnc_string_part;

/* What n strings take in a part; with a limit: of the first ones that fit, *n, but one at least. */
int64_t pnc_netcdf4_string_part_count(char *const *strings, int64_t *n, int64_t limit);
/* Bytes of a part whose strings take so many, a multiple of 8. */
int64_t pnc_netcdf4_string_part_get_bytes(int ndims, int64_t strings);
/* Write one, of so many bytes. */
void pnc_netcdf4_string_part_encode(int varid, int ndims, const int64_t *start, const int64_t *count, int64_t n,
                                    char *const *strings, int64_t bytes, char *out);
/* The opposite, which refers to the bytes. The bytes of the part. */
int64_t pnc_netcdf4_string_part_decode(const char *bytes, pnc_string_part *out);
/* The strings of a part: n pointers into it. */
void pnc_netcdf4_string_part_list(const pnc_string_part *part, const char **strings);

#endif
