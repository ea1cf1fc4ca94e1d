/* Whether a hint decides anything for an open file. */
#ifndef PNC_DATASET_HINTS_EFFECT_H
#define PNC_DATASET_HINTS_EFFECT_H

#include "dataset/hints.h"

#define PNC_HINT_EFFECT_BYTES 160

/* True if something else decides: other hints, the number of ranks, how the file is opened. *why: which. */
bool pnc_dataset_hint_is_overruled(const pnc_dataset *ds, const char *name, char why[PNC_HINT_EFFECT_BYTES]);

/* True if the library uses another number than that of the hint. *used: which, with its bound. */
bool pnc_dataset_hint_is_limited(const pnc_dataset *ds, const char *name, char used[PNC_HINT_EFFECT_BYTES]);

/* Of which variables a hint decides the storage: *scope continues a sentence. False: it is not for variables. */
bool pnc_dataset_hint_has_scope(const pnc_dataset *ds, const char *name, char scope[PNC_HINT_EFFECT_BYTES]);

/* Why no writes are delayed (nc_write_behind); NULL: they are. */
const char *pnc_dataset_hint_explain_behind(const pnc_dataset *ds);
/* Whether nc_write_behind is not set, and would delay writes. */
bool pnc_dataset_behind_is_possible(const pnc_dataset *ds);
/* Why there are no logs (nc_burst_buf); false: there are. */
bool pnc_dataset_hint_explain_log(const pnc_dataset *ds, char why[PNC_HINT_EFFECT_BYTES]);
/* Why nothing is read ahead (nc_prefetch); NULL: it is. */
const char *pnc_dataset_hint_explain_ahead(const pnc_dataset *ds);

#endif
