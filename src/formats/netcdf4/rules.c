/* What definitions of netCDF-4 files may have. Pure. */
#include "formats/netcdf4/description.h"

#define MOST_LENGTH (INT64_C(1) << 60)

const pnc_rules *pnc_netcdf4_rules_get(int format)
{
    static const char *const hidden[] = {"CLASS",          "NAME",          "REFERENCE_LIST",
                                         "DIMENSION_LIST", "_Netcdf4Dimid", "_Netcdf4Coordinates",
                                         "_NCProperties",  "_nc3_strict",   NULL};
    static const pnc_rules rules = {.name = "netCDF-4",
                                    .last_type = NC_UINT64,
                                    .type_error = NC_EBADTYPE,
                                    .most_dim_length = MOST_LENGTH,
                                    .most_att_length = INT32_MAX,
                                    .most_var_dims = PNC_STORAGE_DIMS_MOST,
                                    .has_paths = true,
                                    .hidden_atts = hidden};
    static const pnc_rules classic_rules = {.name = "netCDF-4 with the classic model",
                                            .last_type = NC_DOUBLE,
                                            .type_error = NC_ESTRICTNC3,
                                            .wider = "netCDF-4",
                                            .cure = "create the file without NC_CLASSIC_MODEL",
                                            .most_dim_length = MOST_LENGTH,
                                            .most_att_length = INT32_MAX,
                                            .most_var_dims = PNC_STORAGE_DIMS_MOST,
                                            .one_unlimited = true,
                                            .has_paths = true,
                                            .hidden_atts = hidden};

    return format == NC_FORMAT_NETCDF4_CLASSIC ? &classic_rules : &rules;
}
