/* Scalar kernels of little-endian values. */
#define KERNELS pnc_kernels_scalar_little
#define EXTERNAL_ORDER __ORDER_LITTLE_ENDIAN__
#include "convert/kernels_scalar.h"
