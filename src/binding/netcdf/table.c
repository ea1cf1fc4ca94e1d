/* The dispatch table, and the slot of netCDF-C that it gets. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "binding/netcdf/door.h"

static NC_Dispatch table = {
    .model = NC_FORMATX_UDF0,
    .dispatch_version = NC_DISPATCH_VERSION,
    .create = pnc_door_file_create,
    .open = pnc_door_file_open,
    .redef = pnc_door_redef,
    ._enddef = pnc_door__enddef,
    .sync = pnc_door_sync,
    .abort = pnc_door_abort,
    .close = pnc_door_close,
    .set_fill = pnc_door_set_fill,
    .inq_format = pnc_door_inq_format,
    .inq_format_extended = pnc_door_inq_format_extended,
    .inq = pnc_door_inq,
    .inq_type = pnc_door_inq_type,
    .def_dim = pnc_door_def_dim,
    .inq_dimid = pnc_door_inq_dimid,
    .inq_dim = pnc_door_inq_dim,
    .inq_unlimdim = pnc_door_inq_unlimdim,
    .rename_dim = pnc_door_rename_dim,
    .inq_att = pnc_door_inq_att,
    .inq_attid = pnc_door_inq_attid,
    .inq_attname = pnc_door_inq_attname,
    .rename_att = pnc_door_rename_att,
    .del_att = pnc_door_del_att,
    .get_att = pnc_door_get_att,
    .put_att = pnc_door_put_att,
    .def_var = pnc_door_def_var,
    .inq_varid = pnc_door_inq_varid,
    .rename_var = pnc_door_rename_var,
    .get_vara = pnc_door_get_vara,
    .put_vara = pnc_door_put_vara,
    .get_vars = pnc_door_get_vars,
    .put_vars = pnc_door_put_vars,
    .get_varm = pnc_door_get_varm,
    .put_varm = pnc_door_put_varm,
    .inq_var_all = pnc_door_inq_var_all,
    .var_par_access = pnc_door_var_par_access,
    .def_var_fill = pnc_door_def_var_fill,
    .show_metadata = pnc_door_show_metadata,
    .inq_unlimdims = pnc_door_inq_unlimdims,
    .inq_ncid = pnc_door_inq_ncid,
    .inq_grps = pnc_door_inq_grps,
    .inq_grpname = pnc_door_inq_grpname,
    .inq_grpname_full = pnc_door_inq_grpname_full,
    .inq_grp_parent = pnc_door_inq_grp_parent,
    .inq_grp_full_ncid = pnc_door_inq_grp_full_ncid,
    .inq_varids = pnc_door_inq_varids,
    .inq_dimids = pnc_door_inq_dimids,
    .def_grp = pnc_door_def_grp,
    .rename_grp = pnc_door_rename_grp,
    .def_var_deflate = pnc_door_def_var_deflate,
    .def_var_fletcher32 = pnc_door_def_var_fletcher32,
    .def_var_chunking = pnc_door_def_var_chunking,
    .def_var_endian = pnc_door_def_var_endian,
    .def_var_filter = pnc_door_def_var_filter,
    .set_var_chunk_cache = pnc_door_set_var_chunk_cache,
    .get_var_chunk_cache = pnc_door_get_var_chunk_cache,
    .inq_var_filter_ids = pnc_door_inq_var_filter_ids,
    .inq_var_filter_info = pnc_door_inq_var_filter_info,
    .def_var_quantize = pnc_door_def_var_quantize,
    .inq_var_quantize = pnc_door_inq_var_quantize,
    .inq_filter_avail = pnc_door_inq_filter_avail,
};

/* The slots of netCDF 4.9, and the formats that their tables have. */
static const struct slot {
    int flag, model;
} slots[] = {{NC_UDF0, NC_FORMATX_UDF0}, {NC_UDF1, NC_FORMATX_UDF1}};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int flag_of_table;

/* One that no other library has. */
static const struct slot *find_free_slot(void)
{
    PNC_DOOR_REAL_TYPE(nc_inq_user_format) inquire = PNC_DOOR_REAL(nc_inq_user_format);
    int n = (int)(sizeof slots / sizeof *slots);

    for (int i = 0; inquire != NULL && i < n; i++) {
        NC_Dispatch *used = NULL;
        char magic[NC_MAX_MAGIC_NUMBER_LEN + 1];

        if (inquire(slots[i].flag, &used, magic) == NC_NOERR && used == NULL)
            return &slots[i];
    }
    return inquire == NULL ? NULL : &slots[0];
}

static void register_once(void)
{
    PNC_DOOR_REAL_TYPE(nc_def_user_format) define = PNC_DOOR_REAL(nc_def_user_format);
    const struct slot *slot = find_free_slot();
    int err = NC_ENOTBUILT;

    pnc_door_types_add(&table);
    if (define != NULL && slot != NULL) {
        table.model = slot->model;
        err = define(slot->flag, &table, NULL);
    }
    if (err == NC_NOERR)
        flag_of_table = slot->flag;
    else
        fprintf(stderr,
                "libpnetcdf-netcdf: this libnetcdf does not take the table of a user-defined format (code %d): the "
                "program runs as without libpnetcdf-netcdf. netCDF 4.9.0 or later is needed\n",
                err);
}

int pnc_door_table_register(void)
{
    pthread_once(&once, register_once);
    return flag_of_table;
}
