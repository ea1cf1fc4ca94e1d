/* How the definitions of a rank differ from those of rank 0. */
#ifndef PNC_FORMATS_DIFFERENCE_H
#define PNC_FORMATS_DIFFERENCE_H

#include <stddef.h>
#include "format/model.h"

/* Describe the first dimension or variable that differs; an empty text if there is none. Attributes are not compared:
 * the ids and shapes that the program knows stay right if those of rank 0 replace them. */
void pnc_formats_difference_explain(const pnc_model *own, const pnc_model *root, char *text, size_t size);

#endif
