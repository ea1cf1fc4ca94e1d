/* Values that do not fit the type that they are converted to: found after a conversion that has failed, for messages.
 * Conversion itself does not count them. */
#ifndef PNC_CONVERT_MISFIT_H
#define PNC_CONVERT_MISFIT_H

#include "convert/convert.h"

#define PNC_MISFIT_TEXT 40

/* A number as text. */
typedef struct pnc_misfit_text {
    char text[PNC_MISFIT_TEXT];
} pnc_misfit_text;

/* The external type of 8 bytes that has all values of a memory type. */
int pnc_convert_misfit_get_type(pnc_mem_type mem);
/* A value of an external type, in external bytes. */
pnc_misfit_text pnc_convert_misfit_print(int xtype, pnc_encoding encoding, const void *bytes);

/* Values next to each other. */
typedef struct pnc_misfits {
    int64_t n, first;      /* how many, and the index of the first one */
    pnc_misfit_text value; /* of that one */
} pnc_misfits;
/* Search the arguments of a conversion without text, all of which have been converted once. */
pnc_misfits pnc_convert_misfits_find(pnc_direction direction, int xtype, pnc_mem_type mem, pnc_encoding encoding,
                                     const void *values, int64_t n);

#endif
