/* Paths as users write them. */
#ifndef PNC_BASE_PATH_H
#define PNC_BASE_PATH_H

/* The path without the prefix of MPI-IO, "type:" for a type of file system. */
const char *pnc_path_strip(const char *path);

/* The last component of a path: what follows its last '/'. */
const char *pnc_path_get_name(const char *path);

/* The end of a message about a path that does not exist, from ": " on; "" if there is nothing to say. */
const char *pnc_path_explain_missing(const char *path);

#endif
