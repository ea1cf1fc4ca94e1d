/* "Did you mean ...?": the nearest name in a list to a mistyped name. */
#ifndef PNC_BASE_SUGGEST_H
#define PNC_BASE_SUGGEST_H

/* The name in names[0..count) with the fewest letters to insert, delete, replace or swap with their neighbour,
 * ignoring case; the first one if several are equally near. NULL if a third or more of the letters would change: the
 * name is then not a typing error. NULL entries are skipped. */
const char *pnc_name_suggest(const char *wanted, int count, const char *const names[]);

#endif
