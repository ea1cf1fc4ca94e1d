/* The default fill values, from the table of types. */
#include "convert/convert.h"

#include <assert.h>
#include <string.h>

/* Long has the fill value of NC_INT even if it has 8 bytes: existing programs compare with it. */
#define FILL_OF_LONG NC_FILL_INT

/* A function per external type. A memory type uses the external type that represents it exactly. */
#define PNC_XTYPE_ROW(constant, bytes, name, ctype, fill) \
    static void fill_##constant(void *out)                \
    {                                                     \
        const ctype value = fill;                         \
        memcpy(out, &value, sizeof value);                \
    }
#include "spec/type_table.h"

typedef void (*fill_writer)(void *out);

void pnc_convert_fill_get_memory(pnc_mem_type mem, void *out)
{
#define PNC_MEM_ROW(mem, ctype, suffix, exact) [mem] = fill_##exact,
    static const fill_writer writer[] = {
#include "spec/type_table.h"
    };
    const long of_long = FILL_OF_LONG;
    assert((unsigned)mem < PNC_MEM_TYPE_COUNT);
    memset(out, 0, 8);
    if (mem == PNC_LONG)
        memcpy(out, &of_long, sizeof of_long);
    else
        writer[mem](out);
}

void pnc_convert_fill_get_external(int xtype, pnc_encoding encoding, void *out)
{
#define PNC_XTYPE_ROW(constant, bytes, name, ctype, fill) [constant] = fill_##constant,
    static const fill_writer writer[] = {
#include "spec/type_table.h"
    };
    char value[8];
    assert(pnc_type_is_valid(xtype, 5));
    memset(out, 0, 8);
    writer[xtype](value);
    pnc_convert_kernel_find(PNC_PUT, xtype, pnc_type_get_mem_type(xtype), encoding, NULL)(out, value, 1, value);
}
