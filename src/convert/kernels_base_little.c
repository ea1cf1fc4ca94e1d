/* Fast kernels of little-endian values in the instruction set of the compiler's default target. */
#define KERNELS pnc_kernels_base_little
#define SCALAR pnc_kernels_scalar_little
#define ISA "baseline"
#define EXTERNAL_ORDER __ORDER_LITTLE_ENDIAN__
#include "convert/kernels_block.h"
