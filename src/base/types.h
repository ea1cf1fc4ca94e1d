/* External types and memory types: sizes and names, from the rows of src/spec/types.m4. */
#ifndef PNC_BASE_TYPES_H
#define PNC_BASE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/language.h"
#include "config.h"
#include "spec/constants.h"

typedef PNC_OFFSET_TYPE pnc_offset; /* MPI_Offset, for code that does not use MPI */

/* Types of values in the user's memory: PNC_TEXT, PNC_SCHAR ... PNC_ULONGLONG. */
typedef enum pnc_mem_type {
#define PNC_MEM_ROW(mem, ctype, suffix, exact) mem,
#include "spec/type_table.h"
    PNC_MEM_TYPE_COUNT
} pnc_mem_type;

/* How external values are stored. */
typedef struct pnc_encoding {
    bool little;         /* least significant byte first */
    bool signless_bytes; /* NC_BYTE has no sign, as in CDF-1, CDF-2 and the classic model: uchar has its bits */
    bool casts;          /* numbers that do not fit become what a cast of C makes of them, not the fill value */
} pnc_encoding;

#define PNC_ENCODING_CDF5 ((pnc_encoding){.little = false, .signless_bytes = false})
#define PNC_HOST_IS_LITTLE (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

extern const unsigned char pnc_type_sizes[];

/* Bytes of one external value; 0 if xtype is not a type. */
static inline size_t pnc_type_get_size(int xtype)
{
    return xtype >= NC_BYTE && xtype <= NC_UINT64 ? pnc_type_sizes[xtype] : 0;
}

const char *pnc_type_get_name(int xtype);      /* CDL name: "byte", "char", .. "string" */
bool pnc_type_is_valid(int xtype, int format); /* types 1..11 in CDF-5 and netCDF-4, else 1..6 */
/* "12 (NC_STRING), which ...": why a number is not a type, and what to use, with the names of a language. */
typedef struct pnc_type_text {
    char text[160];
} pnc_type_text;
pnc_type_text pnc_type_explain_invalid(int xtype, pnc_language language);
size_t pnc_mem_type_get_size(pnc_mem_type mem);
const char *pnc_mem_type_get_name(pnc_mem_type mem); /* suffix in function names: "schar", "longlong", ... */
pnc_mem_type pnc_type_get_mem_type(int xtype);       /* the memory type that holds an external type exactly */

#endif
