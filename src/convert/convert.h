/* Conversion between values in memory and external bytes: range check, type, byte order. The packer applies it to
 * the memory of a request. One set of kernels, compiled per instruction set and selected at run time. */
#ifndef PNC_CONVERT_CONVERT_H
#define PNC_CONVERT_CONVERT_H

#include "base/types.h"
#include "convert/quantize.h"
#include "select/flat_type.h"

/* Convert n contiguous elements; dst and src must not overlap; any alignment on the external side. Returns NC_NOERR
 * or NC_ERANGE: elements out of range become *fill (in the representation of the destination: external bytes for a
 * put, a memory value for a get), or with fill NULL what a cast makes of them; all others are converted. */
typedef int (*pnc_kernel)(void *dst, const void *src, int64_t n, const void *fill);

typedef enum pnc_direction { PNC_PUT, PNC_GET } pnc_direction;

/* The kernel of a type pair, or NULL for text <-> number (NC_ECHAR). Where bytes have no sign, NC_BYTE through uchar
 * copies bits and never returns NC_ERANGE. *same is set if memory and file have the same bytes (memcpy). */
pnc_kernel pnc_convert_kernel_find(pnc_direction direction, int xtype, pnc_mem_type mem, pnc_encoding encoding,
                                   bool *same);

/* Whether the kernel of a type pair may find an element out of range, and store the fill value. False if both types
 * have the same values. */
bool pnc_convert_may_fail(int xtype, pnc_mem_type mem);

/* The scalar kernel of the same pair, which defines the correct result. The fast kernels call it for blocks with
 * special values. */
pnc_kernel pnc_convert_kernel_find_scalar(pnc_direction direction, int xtype, pnc_mem_type mem, pnc_encoding encoding);

/* The instruction set in use: "baseline", "avx2", ... */
const char *pnc_convert_kernel_get_isa(void);

/* The default fill value of a memory type, in memory form (the value that a get stores for an element out of range);
 * out has 8 bytes. Long has the value of NC_FILL_INT. */
void pnc_convert_fill_get_memory(pnc_mem_type mem, void *out);
/* The default fill value of an external type as external bytes; out has 8 bytes. */
void pnc_convert_fill_get_external(int xtype, pnc_encoding encoding, void *out);

/* A request's memory as a stream of external bytes. */
typedef struct pnc_packer {
    pnc_direction direction;
    pnc_kernel kernel;
    char *memory;           /* the user's buffer; never written if direction is PNC_PUT */
    int mem_size, ext_size; /* bytes of one element on each side */
    bool same;              /* memory holds external bytes */
    char *origin;           /* the first element of contiguous memory */
    char *direct;           /* next byte if memory is contiguous and holds external bytes, else NULL */
    char *flat;             /* next element if memory is contiguous and needs conversion, else NULL */
    unsigned char fill[8];  /* for elements out of range */
    bool casts;             /* they get none: see pnc_encoding */
    pnc_run_cursor cursor;  /* for all other memory */
    int status;             /* NC_NOERR or NC_ERANGE so far */
    pnc_quantizer quantizer;
    pnc_encoding encoding; /* with a quantizer: of its values */
    int64_t packed;        /* likewise: elements so far */
} pnc_packer;

/* The two sides of a conversion. */
typedef struct pnc_conversion {
    pnc_direction direction;
    int xtype;
    pnc_mem_type mem;
    pnc_encoding encoding;
    const void *fill; /* as for a kernel that may fail; NULL: the default of the destination's type */
} pnc_conversion;

/* flat NULL: the elements are contiguous at memory. NC_ECHAR if the types do not convert; NC_ENOMEM; NC_EINTERNAL if
 * the elements of `flat` have another size than those of memory. Free the packer even after a failure. */
int pnc_convert_packer_init(pnc_packer *packer, const pnc_conversion *conversion, const pnc_flat_type *flat,
                            void *memory);
/* A packer over contiguous memory that holds external bytes, ext_size per element. */
void pnc_convert_packer_init_copy(pnc_packer *packer, pnc_direction direction, void *memory, int ext_size);
/* Quantize what is packed, a copy, so that `direct` is NULL. For a packer of a put that has not advanced. */
void pnc_convert_packer_set_quantizer(pnc_packer *packer, const pnc_quantizer *quantizer, pnc_encoding encoding);
void pnc_convert_packer_free(pnc_packer *packer);
/* Continue at element number `element`. */
void pnc_convert_packer_seek(pnc_packer *packer, int64_t element);
/* Continue with other contiguous memory of the same type, and without a status; its first element has number 0. */
void pnc_convert_packer_set_memory(pnc_packer *packer, void *memory);
/* Convert the next n elements of memory into ext (put) or the next n elements of ext into memory (get). */
void pnc_convert_packer_pack(pnc_packer *packer, void *ext, int64_t n);
void pnc_convert_packer_unpack(pnc_packer *packer, const void *ext, int64_t n);
/* The same for elements of ext that are `stride` bytes apart. */
void pnc_convert_packer_pack_strided(pnc_packer *packer, void *ext, int64_t stride, int64_t n);
void pnc_convert_packer_unpack_strided(pnc_packer *packer, const void *ext, int64_t stride, int64_t n);
/* If direct is not NULL: the address of the next n elements in the user's memory; the packer advances by n. */
void *pnc_convert_packer_take_direct(pnc_packer *packer, int64_t n);

#endif
