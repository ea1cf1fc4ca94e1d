/* Fast kernels of big-endian values in the instruction set of the compiler's default target. */
#define KERNELS pnc_kernels_base
#define SCALAR pnc_kernels_scalar
#define ISA "baseline"
#define EXTERNAL_ORDER __ORDER_BIG_ENDIAN__
#include "convert/kernels_block.h"
