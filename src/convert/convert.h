/* Memory values to external bytes and back: range check, conversion, byte order; and the packer that walks a request's
 * memory while it does so. One set of kernels, compiled per instruction set, chosen once at run time. */
#ifndef PNC_CONVERT_CONVERT_H
#define PNC_CONVERT_CONVERT_H

#include "base/types.h"
#include "select/flat_type.h"

/* dst and src must not overlap; n elements side by side in both; any alignment on the external side.
 * Returns NC_NOERR or NC_ERANGE: the elements out of range became *fill (destination representation: external bytes
 * for a put, a memory value for a get), all others are converted. */
typedef int (*pnc_kernel)(void *dst, const void *src, int64_t n, const void *fill);

typedef enum pnc_direction { PNC_PUT, PNC_GET } pnc_direction;

/* The kernel of a type pair, or NULL where the pair is text <-> number (NC_ECHAR). format 1 and 2: NC_BYTE through
 * uchar copies bits and never gives NC_ERANGE. *same is set where memory and file hold the same bytes (memcpy). */
pnc_kernel pnc_convert_kernel_find(pnc_direction way, int xtype, pnc_mem_type mem, int format, bool *same);

/* The scalar twin of the same pair: says what is right. The fast kernels leave unusual blocks to it. */
pnc_kernel pnc_convert_kernel_find_scalar(pnc_direction way, int xtype, pnc_mem_type mem, int format);

/* The instruction set in use: "baseline", "avx2", ... */
const char *pnc_convert_kernel_get_isa(void);

/* The default fill value of a memory type, in memory form (what a get stores for an element out of range); out has 8
 * bytes. Long has the value of NC_FILL_INT. */
void pnc_convert_fill_get_memory(pnc_mem_type mem, void *out);
/* The default fill value of an external type as external bytes. */
void pnc_convert_fill_get_external(int xtype, void *out);

/* A request's memory as a stream of external bytes. */
typedef struct pnc_packer {
    pnc_direction way;
    pnc_kernel kernel;
    char *memory;           /* the user's buffer; never written when way is PNC_PUT */
    int mem_size, ext_size; /* bytes of one element on each side */
    bool same;              /* memory holds external bytes */
    char *direct;           /* next byte where memory is contiguous and holds external bytes already, else NULL */
    char *flat;             /* next element where memory is contiguous but needs conversion, else NULL */
    unsigned char fill[8];  /* for elements out of range */
    pnc_run_cursor cursor;  /* for all other memory */
    int status;             /* NC_NOERR or NC_ERANGE so far */
} pnc_packer;

/* map NULL: the elements lie side by side at memory. fill as a kernel takes it; NULL is the default of the
 * destination's type. Returns NC_ECHAR where the types do not convert, NC_ENOMEM, NC_EINTERNAL where the
 * map's elements have another size than mem. End a packer that failed too. */
int pnc_convert_packer_init(pnc_packer *packer, pnc_direction way, const pnc_flat_type *flat, void *memory, int xtype,
                            pnc_mem_type mem, int format, const void *fill);
/* A packer over memory that holds external bytes of ext_size each, side by side. */
void pnc_convert_packer_init_copy(pnc_packer *packer, pnc_direction way, void *memory, int ext_size);
void pnc_convert_packer_free(pnc_packer *packer);
/* Convert the next n elements of memory into ext (put) or the next n elements of ext into memory (get). */
void pnc_convert_packer_pack(pnc_packer *packer, void *ext, int64_t n);
void pnc_convert_packer_unpack(pnc_packer *packer, const void *ext, int64_t n);
/* Where direct is not NULL: the place of the next n elements in the user's memory, which then count as done. */
void *pnc_convert_packer_take_direct(pnc_packer *packer, int64_t n);

#endif
