/* Offsets of variables, alignment, free space, and the limits of each format. */
#ifndef PNC_FORMAT_LAYOUT_H
#define PNC_FORMAT_LAYOUT_H

#include "format/layout_hints.h"
#include "format/model.h"

/* Bytes. The default of the first variable, and of the records if no fixed-size variable precedes them. */
#define PNC_DEFAULT_ALIGN 512

/* Bytes of data (fixed-size variables and one record) from which on a new file has a reserve after its header. Moving
 * less takes about as long as the rest of enddef. Small files, which tests of programs compare byte by byte with those
 * of other libraries, keep the offsets that these compute. */
#define PNC_RESERVE_LEAST_DATA (INT64_C(1) << 20)
/* The reserve: at least these bytes, and this part of the header. */
#define PNC_RESERVE_LEAST 8192
#define PNC_RESERVE_DIVISOR 10
/* Where at least PNC_RESERVE_LEAST_DATA bytes move, they move farther by this part of them: data that move by a longer
 * distance may be written once instead of twice (growth/growth.h), and later definitions have space. At most these
 * bytes: they remain in the file. */
#define PNC_MOVE_DIVISOR 32
#define PNC_MOVE_MOST_SPACE (INT64_C(1) << 30)

/* Set begin of every variable, header_size, header_extent, begin_rec and recsize. `before` is the layout before redef,
 * or NULL for a new file: no section moves to a lower offset. NC_EVARSIZE: a limit of the format is exceeded. */
int pnc_format_layout_compute(pnc_model *model, const pnc_model *before, const pnc_layout_hints *hints,
                              pnc_error *error);

/* The same for a new file. If neither h_minfree nor the alignment of what follows the header is given, and the data are
 * large, the file has a reserve, unless its offsets then exceed the limits of the format. Sets h_minfree to the free
 * space that is used. */
int pnc_format_layout_compute_new(pnc_model *model, pnc_layout_hints *hints, pnc_error *error);

/* The same after redef. If no free space and no alignment is given, and many data move, there is free space before
 * the first of them, unless other data would move for it, or the offsets would exceed the limits of the format. Sets
 * h_minfree and v_minfree to the free space that is used. */
int pnc_format_layout_compute_changed(pnc_model *model, const pnc_model *before, pnc_layout_hints *hints,
                                      pnc_error *error);

/* NetCDF Classic Format Specification, "Large File Support": the size of a variable, or of one record of it, must fit
 * in 31 (CDF-1) or 32 bits (CDF-2). Exempt is the last variable of the file: the last record variable, or the last
 * variable of a file without record variables. */
int64_t pnc_format_layout_get_max_size(int format);           /* bytes of any other variable */
int pnc_format_layout_find_too_large(const pnc_model *model); /* id of the first variable that is larger, or -1 */

/* Bytes in the file of var, or of one record of it, with padding (none if it is the only record variable). */
int64_t pnc_format_var_get_padded_size(const pnc_model *model, const pnc_var *var);

/* First offset after the data of `numrecs` records and of all fixed variables. */
int64_t pnc_format_layout_get_data_end(const pnc_model *model);
/* The same with the padding that follows the last variable: the length of a complete file. */
int64_t pnc_format_layout_get_file_end(const pnc_model *model);

/* recsize, begin_rec, header_extent from the variables' begins (after decode). */
void pnc_format_layout_derive(pnc_model *model);

#endif
