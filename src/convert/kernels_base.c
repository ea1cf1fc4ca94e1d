/* Fast kernels in the instruction set of the compiler's default target. */
#define KERNELS pnc_kernels_base
#define ISA "baseline"
#include "convert/kernels_block.h"
