/* What users may ask of the layout of a file. */
#ifndef PNC_FORMAT_LAYOUT_HINTS_H
#define PNC_FORMAT_LAYOUT_HINTS_H

#include <stdint.h>

#define PNC_LAYOUT_NOT_GIVEN (-1)

/* Bytes; PNC_LAYOUT_NOT_GIVEN (0 for an alignment): the default applies. */
typedef struct pnc_layout_hints {
    int64_t h_minfree, v_align, v_minfree, r_align;
} pnc_layout_hints;

#endif
