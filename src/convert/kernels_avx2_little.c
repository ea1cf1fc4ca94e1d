/* Fast kernels of little-endian values for x86 processors with AVX2: this file is compiled with -mavx2. */
#define KERNELS pnc_kernels_avx2_little
#define SCALAR pnc_kernels_scalar_little
#define ISA "avx2"
#define EXTERNAL_ORDER __ORDER_LITTLE_ENDIAN__
#include "convert/kernels_block.h"
