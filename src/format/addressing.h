/* What requests ask the format of a file about its variables: where their elements are, and how far they may reach.
 * Pure. */
#ifndef PNC_FORMAT_ADDRESSING_H
#define PNC_FORMAT_ADDRESSING_H

#include "format/model.h"
#include "mapping/mapping.h"

/* What a filetype covers: bytes from `first` to before `end`, relative to the beginning of a variable. */
typedef struct pnc_reach {
    int64_t first, end;
    bool is_aligned; /* each run begins at a multiple of the size of an element */
} pnc_reach;

typedef struct pnc_addressing {
    /* The mapping of a variable. In define mode the addresses are not yet assigned, or will change. */
    pnc_mapping (*get_mapping)(const pnc_model *model, const pnc_var *var);
    /* What the number of records may be. */
    int64_t (*get_most_records)(const pnc_model *model);
    /* Whether the file can have so many records, which a request needs; `first`: the first of them. */
    int (*check_records)(const pnc_model *model, const pnc_var *var, int64_t first, int64_t records, pnc_error *error);
    /* Whether a filetype may cover this. It may extend into other variables, where they are adjacent, because one call
     * may write several of them, but not beyond the data of the file. Records are unbounded: a put sets *numrecs if it
     * covers some of any variable, the number up to the highest one. */
    int (*check_reach)(const pnc_model *model, const pnc_var *var, const pnc_reach *reach, bool is_put,
                       int64_t *numrecs, pnc_error *error);
} pnc_addressing;

#endif
