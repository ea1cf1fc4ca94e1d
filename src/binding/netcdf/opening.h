/* What nc_create_par and nc_open_par know, and the functions of the table get through netCDF-C only in part. */
#ifndef PNC_BINDING_NETCDF_OPENING_H
#define PNC_BINDING_NETCDF_OPENING_H

#include "binding/netcdf/door.h"

typedef struct pnc_door_opening {
    MPI_Comm comm;
    MPI_Info info;
    int mode;         /* as the program has it, with the default format */
    const char *name; /* of the call */
    bool is_set;
    bool passes; /* set by open: netCDF-C shall open the file itself */
} pnc_door_opening;

/* Local. Of the call in progress of this thread; without one, as for a file of one process. */
pnc_door_opening *pnc_door_opening_take(int mode);
/* Create and open through the table, or by netCDF-C itself where the table has no place for such files. */
int pnc_door_opening_create(const char *path, int mode, MPI_Comm comm, MPI_Info info, const char *name, int *ncid);
int pnc_door_opening_open(const char *path, int mode, MPI_Comm comm, MPI_Info info, const char *name, int *ncid);
/* Whether nc_create and nc_open of one process come here, too: PNETCDF_NETCDF. */
bool pnc_door_opening_is_chosen(const char *path, int mode);
/* The hints, and that groups are seen; to be freed, or MPI_INFO_NULL. */
MPI_Info pnc_door_opening_info_create(const pnc_door_opening *o);
/* Whether netCDF-C may open the file itself instead. */
bool pnc_door_opening_check_pass(const pnc_door_file *f, const pnc_door_opening *o);
/* Whether the file has what this library lacks: then o->passes, or NC_ENOTSUPPORT if several ranks write it. */
int pnc_door_content_check(const pnc_door_file *f, pnc_door_opening *o, const char *path);

#endif
