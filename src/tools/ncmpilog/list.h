/* Listing what logs and marks have. */
#ifndef PNC_TOOLS_NCMPILOG_LIST_H
#define PNC_TOOLS_NCMPILOG_LIST_H

/* Print what a file is: a log, a mark, or a netCDF file with or without one. Returns an exit status. */
int log_file_print(const char *path);

#endif
