/* Fast kernels of big-endian values for x86 processors with AVX2: this file is compiled with -mavx2. */
#define KERNELS pnc_kernels_avx2
#define SCALAR pnc_kernels_scalar
#define ISA "avx2"
#define EXTERNAL_ORDER __ORDER_BIG_ENDIAN__
#include "convert/kernels_block.h"
