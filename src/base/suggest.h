/* "Did you mean ...?": the name in a list that a mistyped name is nearest to. */
#ifndef PNC_BASE_SUGGEST_H
#define PNC_BASE_SUGGEST_H

/* The one of names[0..count) with the fewest letters to insert, delete, replace or swap with their neighbour, without
 * regard to case; the first of several. NULL where a third or more of the letters would have to change: then it would
 * not be a typing error. NULL entries of names are passed over. */
const char *pnc_name_suggest(const char *wanted, int count, const char *const names[]);

#endif
