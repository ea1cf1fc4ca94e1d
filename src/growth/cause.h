/* Why data move to higher offsets, and what would have avoided it. Pure arithmetic. */
#ifndef PNC_GROWTH_CAUSE_H
#define PNC_GROWTH_CAUSE_H

#include <stddef.h>

#include "format/model.h"

/* The file as it was created or opened: from then on its header and its fixed-size variables grow. */
typedef struct pnc_growth_origin {
    int64_t header, fixed;        /* bytes of the header, 0: not yet known; of the fixed-size variables */
    int64_t h_minfree, v_minfree; /* free space that was asked for; -1: none */
    bool by_hint;                 /* h_minfree is the hint nc_header_reserve */
    bool is_opened;               /* what was asked for did not decide its free space */
} pnc_growth_origin;

void pnc_growth_origin_init(pnc_growth_origin *origin, const pnc_model *model);

/* Of all growths since then that moved data. Zeros: there was none. */
typedef struct pnc_growth_cause {
    int64_t header; /* bytes of free space after the header that would have sufficed; 0: they sufficed */
    int64_t fixed;  /* the same before the records */
    int64_t record; /* bytes by which new variables made each record longer */
    bool has_first; /* fixed-size variables came before the records where there had been none */
    bool is_asked;  /* the program asked for other offsets */
} pnc_growth_cause;

/* Add the causes of a growth from `old` to `now`, which moves data. */
void pnc_growth_cause_add(pnc_growth_cause *cause, const pnc_growth_origin *origin, const pnc_model *old,
                          const pnc_model *now);

/* Sentences with each cause and its cure; only those that fit. */
void pnc_growth_cause_explain(const pnc_growth_cause *cause, const pnc_growth_origin *origin, char *out,
                              size_t capacity);

#endif
