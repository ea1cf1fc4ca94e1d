/* --set-att, --del-att, --rename: attributes and names that change while the file is copied. */
#ifndef PNC_TOOLS_NCMPICOPY_EDIT_H
#define PNC_TOOLS_NCMPICOPY_EDIT_H

#include "tools/ncmpicopy/plan.h"

/* These parse var:att=value, var:att and old=new, and return -1, or the exit status after an error message. */
int copy_att_set_parse(const char *text, copy_options *options);
int copy_att_delete_parse(const char *text, copy_options *options);
int copy_rename_parse(const char *text, copy_options *options);

/* The first input must have what is renamed or deleted. NC_NOERR or, on all ranks, a code after an error message of
 * rank 0. */
int copy_edits_check(const copy_plan *plan, int ncid);

/* The name of a variable or dimension in the output. */
const char *copy_name_find(const copy_plan *plan, const char *name);

/* The edit of an attribute of a variable, or NULL; var NULL: of the file. */
const copy_edit *copy_edit_find(const copy_plan *plan, const copy_var *var, const char *att);

/* Collective. Give an attribute of the output the value of an edit; nothing for one that is deleted. */
int copy_edit_put(const copy_edit *edit, int from, const copy_var *var, int to, int varid, bool has_type_of_values);

/* Collective. Rename the variables that an attribute such as coordinates names: it gets the new names. False, and
 * nothing is done, if it names none. *err gets the result. */
bool copy_references_put(const copy_plan *plan, int from, const copy_var *var, const char *att, int to, int varid,
                         int *err);

#endif
