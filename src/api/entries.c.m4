m4_include(`common.m4')m4_include([types.m4])m4_include([families.m4])m4_include([functions.m4])m4_dnl
/* Generated from src/spec: the public entry points. Each turns its arguments into one internal call. */
#include "api/api.h"

m4_divert(-1)
m4_define([HEADING], [])
m4_define([PLAIN], [])
m4_define([CDL_FUNCTION], [])


m4_dnl close and abort free the dataset; they report errors themselves.
m4_define([FUNCTION], [OUTPUT([
int ncmpi_$1(int ncid[]TYPED([$3]))
{
    pnc_dataset *ds = pnc_dataset_registry_find(ncid, __func__);

    return ds == NULL ? NC_EBADID : m4_ifelse([$1], [close], [pnc_dataset_close(ds)], [$1], [abort], [pnc_dataset_abort(ds)], [pnc_dataset_error_report(ds, pnc_dataset_$1(ds[]PASSED([$3])))]);
}
])])

m4_dnl put_att_text has no xtype.
m4_define([ATTRIBUTE], [OUTPUT([
int ncmpi_put_att_$1(int ncid, int varid, const char *name, m4_ifelse([$1], [text], [], [nc_type xtype, ])MPI_Offset len, const $2 *op)
{
    pnc_dataset *ds = pnc_dataset_registry_find(ncid, __func__);

    return ds == NULL ? NC_EBADID : pnc_dataset_error_report(ds, pnc_dataset_attribute_put(ds, varid, &(pnc_new_att){name, m4_ifelse([$1], [text], [NC_CHAR], [xtype]), len, op, $3, {0}}));
}

int ncmpi_get_att_$1(int ncid, int varid, const char *name, $2 *ip)
{
    pnc_dataset *ds = pnc_dataset_registry_find(ncid, __func__);

    return ds == NULL ? NC_EBADID : pnc_dataset_error_report(ds, pnc_dataset_attribute_get(ds, varid, name, $3, ip));
}
])])
m4_define([ATTRIBUTES], [EACH_ATTRIBUTE[]])
FUNCTIONS

m4_define([EXECUTOR], [m4_ifelse(IS_POSTED([$1], [1]), [1], [pnc_dataset_call_post], [pnc_dataset_call_execute])])
m4_define([EMIT], [OUTPUT([
int NAME($@)[]PARAMETERS($@)
{
    pnc_dataset *ds = pnc_dataset_registry_find(ncid, __func__);

    return ds == NULL ? NC_EBADID : pnc_dataset_error_report(ds, EXECUTOR([$1])(ds, &(pnc_call){FIELDS($@)}));
}
])])
m4_define([EMIT_MULTI], [OUTPUT([
int MULTI_NAME($@)[]MULTI_PARAMETERS($@)
{
    pnc_dataset *ds = pnc_dataset_registry_find(ncid, __func__);

    return ds == NULL ? NC_EBADID :
                        pnc_dataset_error_report(ds, pnc_dataset_multi_execute(ds, &(pnc_multi){MULTI_FIELDS($@)}));
}
])])

m4_define([EMIT_VARD], [OUTPUT([
int ncmpi_$1_vard$2[]VARD_PARAMETERS([$1])
{
    pnc_dataset *ds = pnc_dataset_registry_find(ncid, __func__);

    return ds == NULL ? NC_EBADID : pnc_dataset_error_report(ds, pnc_dataset_vard_execute(ds, &(pnc_vard){PNC_OP_[]m4_UP([$1]), m4_ifelse([$2], [], [false], [true]), varid, filetype, (void *)buf, bufcount, buftype}));
}
])])
FAMILIES
MULTI_FAMILIES
VARD
m4_divert(0)m4_dnl
