/* A file that the caller has opened, as a store of one process without MPI. */
#ifndef PNC_NETCDF4_DESCRIPTOR_H
#define PNC_NETCDF4_DESCRIPTOR_H

#include "file/file.h"

typedef struct pnc_netcdf4_descriptor {
    pnc_store store;
    pnc_store_end end;
    const char *path;
    int fd;
} pnc_netcdf4_descriptor;

/* Path, descriptor and error are the caller's, and outlive both structs. */
void pnc_netcdf4_descriptor_init(pnc_netcdf4_descriptor *s, pnc_file *file, int fd, char *path, pnc_error *error);

#endif
