/* The classic format: CDF-1, CDF-2 and CDF-5. The header and fixed-size variables come first in the file, then the
 * records. src/format has the codec of the header and the layout, src/growth moves data and survives deaths. */
#ifndef PNC_CLASSIC_CLASSIC_H
#define PNC_CLASSIC_CLASSIC_H

#include "formats/format.h"
#include "growth/cause.h"
#include "growth/growth.h"
#include "growth/patch.h"

typedef enum pnc_unrestored { PNC_RESTORED, PNC_UNRESTORED_GROWTH, PNC_UNRESTORED_PATCH } pnc_unrestored;

typedef struct pnc_classic {
    pnc_format format;
    pnc_layout_hints layout_hints; /* of the last enddef */
    pnc_growth_io growth_io;
    pnc_growth_life life;
    pnc_growth_change growth;   /* of the enddef in progress, or of one that has failed */
    pnc_growth_patch patch;     /* likewise, where no data move */
    pnc_unrestored unrestored;  /* which of them could not be undone either: the file is still marked */
    pnc_growth_origin origin;   /* what was there before data moved */
    pnc_growth_cause moved_for; /* why they did */
} pnc_classic;

static inline pnc_classic *pnc_classic_state_get(pnc_format *f)
{
    return (pnc_classic *)f;
}

/* The operations `enddef`, `check_change`, `change`, `check_record`, `fill_record`; the others are in headerio.h,
 * records.h and header_change.h. */
int pnc_classic_define_end(pnc_format *f, pnc_layout_hints *hints, int err);
int pnc_classic_change_check(pnc_format *f, const pnc_format_change *change);
int pnc_classic_change_execute(pnc_format *f, const pnc_format_change *change);
int pnc_classic_record_check(pnc_format *f, int64_t record);
int pnc_classic_record_fill(pnc_format *f, int varid, int64_t record);

#endif
