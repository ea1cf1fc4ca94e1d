/* Fast kernels for x86 processors with AVX2: this file is compiled with -mavx2. */
#define KERNELS pnc_kernels_avx2
#define ISA "avx2"
#include "convert/kernels_block.h"
