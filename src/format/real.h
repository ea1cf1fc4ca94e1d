/* Floating point values as decimal text. */
#ifndef PNC_FORMAT_REAL_H
#define PNC_FORMAT_REAL_H

/* Capacity, with the null character: 24 are needed, and 38 are what compilers can prove. */
enum { PNC_REAL_TEXT = 40 };

/* The shortest text that strtof (NC_FLOAT) or strtod (NC_DOUBLE) reads back as this finite value, and of several the
 * nearest one: the digits of Python's repr. Returns out. */
const char *pnc_format_real_print(int type, double value, char out[PNC_REAL_TEXT]);

#endif
