/* Scalar kernels of big-endian values. */
#define KERNELS pnc_kernels_scalar
#define EXTERNAL_ORDER __ORDER_BIG_ENDIAN__
#include "convert/kernels_scalar.h"
