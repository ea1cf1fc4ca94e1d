/* Groups of netCDF-4. What is in a group has a path as its name, such as "forecast/tas"; so has a group in another one.
 * Callers may begin a path with a slash. Pure. */
#ifndef PNC_FORMAT_GROUPS_H
#define PNC_FORMAT_GROUPS_H

#include "format/model.h"

/* Define a group, whose parent exists. NC_ENOTNC4 NC_ESTRICTNC3 NC_ENOTSUPPORT NC_EBADNAME NC_EMAXNAME NC_ENOGRP
 * NC_ENAMEINUSE NC_ENOMEM */
int pnc_format_group_add(pnc_model *model, const char *path, pnc_error *error);
/* Give a group, and all that is in it, another name, which is no path: the group stays in that above it. NC_ENOGRP
 * NC_ENOTSUPPORT NC_EBADNAME NC_EMAXNAME NC_ENAMEINUSE NC_ENOMEM */
int pnc_format_group_rename(pnc_model *model, int index, const char *name, pnc_error *error);
/* All groups get these paths, of which none is used twice, and what is in them. NC_ENOMEM: nothing has changed. */
int pnc_format_groups_replace(pnc_model *model, char *const *paths);
/* One that the file has, of n bytes. NC_ENOMEM. */
int pnc_format_group_append(pnc_model *model, const char *path, int64_t n);
int pnc_format_groups_copy(pnc_model *out, const pnc_model *from);
/* Its number, or -1: n bytes of a path without a slash in front. */
int pnc_format_group_find(const pnc_model *model, const char *path, size_t n);
/* Bytes of the path of the group that has an entry of this name; 0: the root group. */
size_t pnc_format_group_get_length(const pnc_model *model, const char *name);
/* Whether a variable, by its name, can have a dimension: its group or one above has that. */
bool pnc_format_group_has_dim(const pnc_model *model, const char *name, const char *dim);
/* NC_ENAMEINUSE: the name of a new dimension or variable is that of a group. */
int pnc_format_group_check(const pnc_model *model, const char *name, pnc_error *error);
/* NC_ENOTSUPPORT if there are groups and not all of their contents are in the model. */
int pnc_format_groups_check(const pnc_model *model, pnc_error *error);

/* As pnc_name_normalise, for the name of a new dimension, variable, group or global attribute, which may be the path of
 * one in a group. NC_ENOGRP: there is no such group. */
int pnc_format_path_normalise(const pnc_model *model, const char *name, char **out, pnc_error *error);
/* The new name of an entry with the name `old`, which stays in its group. */
int pnc_format_path_replace(const pnc_model *model, const char *old, const char *name, char **out, pnc_error *error);

#endif
