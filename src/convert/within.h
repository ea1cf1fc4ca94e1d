/* Rounding within a bound: of each value to the fewest bits of its mantissa that keep it. */
#ifndef PNC_CONVERT_WITHIN_H
#define PNC_CONVERT_WITHIN_H

#include "convert/quantize.h"

/* n values in memory, in place, with a quantizer of PNC_ABSOLUTE_ERROR or PNC_RELATIVE_ERROR. A result that would be
 * farther from its value than the bound, infinite, or one of those that are kept, is the value itself. */
void pnc_convert_within_quantize(const pnc_quantizer *quantizer, void *values, int64_t n);

#endif
