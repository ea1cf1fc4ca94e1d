/* Selects the kernel of a type pair and byte order for this machine. */
#include "convert/kernels.h"

#include <string.h>

/* The fastest kernels that this processor supports. __builtin_cpu_supports reads a table that the C runtime fills at
 * start: no need to cache the result. */
static const pnc_kernels *kernels_of_machine(bool little)
{
#ifdef PNC_WITH_AVX2 /* the build compiles kernels_avx2.c: x86 only */
    if (__builtin_cpu_supports("avx2"))
        return little ? &pnc_kernels_avx2_little : &pnc_kernels_avx2;
#endif
    return little ? &pnc_kernels_base_little : &pnc_kernels_base;
}

const char *pnc_convert_kernel_get_isa(void)
{
    return kernels_of_machine(false)->isa;
}

static int copy_bytes(void *dst, const void *src, int64_t n, const void *fill)
{
    (void)fill;
    if (n > 0)
        memcpy(dst, src, (size_t)n);
    return NC_NOERR;
}

static const pnc_num num_of_xtype[] = {
    [NC_BYTE] = PNC_NUM_i8,    [NC_SHORT] = PNC_NUM_i16,  [NC_INT] = PNC_NUM_i32,    [NC_FLOAT] = PNC_NUM_f32,
    [NC_DOUBLE] = PNC_NUM_f64, [NC_UBYTE] = PNC_NUM_u8,   [NC_USHORT] = PNC_NUM_u16, [NC_UINT] = PNC_NUM_u32,
    [NC_INT64] = PNC_NUM_i64,  [NC_UINT64] = PNC_NUM_u64,
};

static const pnc_num num_of_mem[] = {
    [PNC_SCHAR] = PNC_NUM_i8,
    [PNC_UCHAR] = PNC_NUM_u8,
    [PNC_SHORT] = PNC_NUM_i16,
    [PNC_USHORT] = PNC_NUM_u16,
    [PNC_INT] = PNC_NUM_i32,
    [PNC_UINT] = PNC_NUM_u32,
    [PNC_LONG] = sizeof(long) == 8 ? PNC_NUM_i64 : PNC_NUM_i32,
    [PNC_FLOAT] = PNC_NUM_f32,
    [PNC_DOUBLE] = PNC_NUM_f64,
    [PNC_LONGLONG] = PNC_NUM_i64,
    [PNC_ULONGLONG] = PNC_NUM_u64,
};
_Static_assert(sizeof(short) == 2 && sizeof(int) == 4 && sizeof(long long) == 8, "C types of the files' sizes");
_Static_assert(sizeof(float) == 4 && sizeof(double) == 8, "IEEE 754 binary32 and binary64");

static bool is_bytes(int xtype, pnc_mem_type mem, pnc_encoding encoding)
{
    return mem == PNC_TEXT || (xtype == NC_BYTE && mem == PNC_UCHAR && encoding.signless_bytes);
}

static pnc_kernel kernel_from(const pnc_kernels *set, pnc_direction direction, int xtype, pnc_mem_type mem,
                              pnc_encoding encoding)
{
    if (xtype < NC_BYTE || xtype > NC_UINT64 || (xtype == NC_CHAR) != (mem == PNC_TEXT))
        return NULL;
    if (is_bytes(xtype, mem, encoding))
        return copy_bytes;
    pnc_num file = num_of_xtype[xtype], memory = num_of_mem[mem];
    return direction == PNC_PUT ? set->put[memory][file] : set->get[file][memory];
}

pnc_kernel pnc_convert_kernel_find(pnc_direction direction, int xtype, pnc_mem_type mem, pnc_encoding encoding,
                                   bool *same)
{
    pnc_kernel kernel = kernel_from(kernels_of_machine(encoding.little), direction, xtype, mem, encoding);
    bool one_order;

    if (same == NULL)
        return kernel;
    one_order = encoding.little == PNC_HOST_IS_LITTLE || pnc_type_get_size(xtype) == 1;
    *same = kernel != NULL && (kernel == copy_bytes || (one_order && num_of_xtype[xtype] == num_of_mem[mem]));
    return kernel;
}

bool pnc_convert_may_fail(int xtype, pnc_mem_type mem)
{
    return xtype != NC_CHAR && mem != PNC_TEXT && num_of_xtype[xtype] != num_of_mem[mem];
}

pnc_kernel pnc_convert_kernel_find_scalar(pnc_direction direction, int xtype, pnc_mem_type mem, pnc_encoding encoding)
{
    const pnc_kernels *set = encoding.little ? &pnc_kernels_scalar_little : &pnc_kernels_scalar;

    return kernel_from(set, direction, xtype, mem, encoding);
}
