/* Search one value at a time, and numbers as text. */
#include "convert/misfit.h"

#include <stdio.h>

int pnc_convert_misfit_get_type(pnc_mem_type mem)
{
    switch (mem) {
    case PNC_FLOAT:
    case PNC_DOUBLE: return NC_DOUBLE;
    case PNC_UCHAR:
    case PNC_USHORT:
    case PNC_UINT:
    case PNC_ULONGLONG: return NC_UINT64;
    default: return NC_INT64;
    }
}

/* As a value of a memory type that has all values of the external one. */
static void get_value(int xtype, pnc_encoding encoding, const void *bytes, pnc_mem_type mem, void *out)
{
    const unsigned char fill[8] = {0};

    pnc_convert_kernel_find(PNC_GET, xtype, mem, encoding, NULL)(out, bytes, 1, fill);
}

pnc_misfit_text pnc_convert_misfit_print(int xtype, pnc_encoding encoding, const void *bytes)
{
    pnc_misfit_text out;
    unsigned long long natural;
    long long whole;
    double real;

    switch (xtype) {
    case NC_FLOAT:
    case NC_DOUBLE:
        get_value(xtype, encoding, bytes, PNC_DOUBLE, &real);
        snprintf(out.text, sizeof out.text, "%.*g", xtype == NC_FLOAT ? 7 : 15, real);
        break;
    case NC_UINT64:
        get_value(xtype, encoding, bytes, PNC_ULONGLONG, &natural);
        snprintf(out.text, sizeof out.text, "%llu", natural);
        break;
    default:
        get_value(xtype, encoding, bytes, PNC_LONGLONG, &whole);
        snprintf(out.text, sizeof out.text, "%lld", whole);
    }
    return out;
}

pnc_misfits pnc_convert_misfits_find(pnc_direction direction, int xtype, pnc_mem_type mem, pnc_encoding encoding,
                                     const void *values, int64_t n)
{
    pnc_kernel kernel = pnc_convert_kernel_find(direction, xtype, mem, encoding, NULL);
    int64_t size = (int64_t)(direction == PNC_PUT ? pnc_mem_type_get_size(mem) : pnc_type_get_size(xtype));
    int largest = pnc_convert_misfit_get_type(mem);
    const unsigned char fill[8] = {0};
    pnc_misfits found = {0};
    char converted[8], exact[8];

    for (int64_t i = 0; i < n; i++) {
        const char *value = (const char *)values + i * size;

        if (kernel(converted, value, 1, fill) == NC_NOERR || found.n++ > 0)
            continue;
        found.first = i;
        if (direction == PNC_GET) {
            found.value = pnc_convert_misfit_print(xtype, encoding, value);
        } else {
            pnc_convert_kernel_find(PNC_PUT, largest, mem, encoding, NULL)(exact, value, 1, fill);
            found.value = pnc_convert_misfit_print(largest, encoding, exact);
        }
    }
    return found;
}
