/* External types and memory types, from the rows of src/spec/types.m4. */
#include "base/types.h"

#include <stdio.h>
#include <string.h>

/* Indexed by the values of the constants, which start at 1 and have no gaps. */
const unsigned char pnc_type_sizes[] = {
    0,
#define PNC_XTYPE_ROW(constant, bytes, name, ctype, fill) bytes,
#include "spec/type_table.h"
};
_Static_assert(sizeof pnc_type_sizes == NC_UINT64 + 1, "pnc_type_get_size knows the last type");

static const char *const xtype_names[] = {
    "none",
#define PNC_XTYPE_ROW(constant, bytes, name, ctype, fill) name,
#include "spec/type_table.h"
};

static const struct {
    size_t size;
    const char *name;
    int exact;
} mems[] = {
#define PNC_MEM_ROW(mem, ctype, suffix, exact) {sizeof(ctype), suffix, exact},
#include "spec/type_table.h"
};

const char *pnc_type_get_name(int xtype)
{
    if (xtype == NC_STRING)
        return "string";
    return xtype_names[xtype >= 1 && xtype <= NC_UINT64 ? xtype : 0];
}

bool pnc_type_is_valid(int xtype, int format)
{
    return xtype >= 1 && xtype <= (format == NC_FORMAT_CDF5 || format == NC_FORMAT_NETCDF4 ? NC_UINT64 : NC_DOUBLE);
}

pnc_type_text pnc_type_explain_invalid(int xtype, pnc_language language)
{
    char translated[sizeof(pnc_type_text)];
    pnc_type_text out;

    if (xtype == NC_STRING)
        snprintf(out.text, sizeof out.text,
                 "%d (NC_STRING), a type of netCDF-4 files: use NC_CHAR; text of a variable then has a dimension for "
                 "its characters",
                 xtype);
    else if (xtype > NC_STRING && xtype <= NC_COMPOUND)
        snprintf(out.text, sizeof out.text,
                 "%d, a user-defined type of netCDF-4 files: use a variable or attribute for each of its parts", xtype);
    else
        snprintf(out.text, sizeof out.text, "%d: must be an external type, such as NC_FLOAT", xtype);
    if (pnc_language_translate(language, out.text, translated, sizeof translated) == translated)
        memcpy(out.text, translated, sizeof out.text);
    return out;
}

size_t pnc_mem_type_get_size(pnc_mem_type mem)
{
    return (unsigned)mem < PNC_MEM_TYPE_COUNT ? mems[mem].size : 0;
}

const char *pnc_mem_type_get_name(pnc_mem_type mem)
{
    return (unsigned)mem < PNC_MEM_TYPE_COUNT ? mems[mem].name : "none";
}

pnc_mem_type pnc_type_get_mem_type(int xtype)
{
    int mem;

    /* in descending order: NC_INT64 maps to long long, not to long, which has 4 bytes on some machines */
    for (mem = PNC_MEM_TYPE_COUNT - 1; mem >= 0; mem--)
        if (mems[mem].exact == xtype)
            return (pnc_mem_type)mem;
    return PNC_MEM_TYPE_COUNT;
}
