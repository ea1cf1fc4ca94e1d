/* What definitions of netCDF-4 files may have. Pure. */
#include "formats/netcdf4/description.h"

#define MOST_LENGTH (INT64_C(1) << 60)

static const char *const hidden[] = {"CLASS",          "NAME",          "REFERENCE_LIST",
                                     "DIMENSION_LIST", "_Netcdf4Dimid", "_Netcdf4Coordinates",
                                     "_NCProperties",  "_nc3_strict",   NULL};

const pnc_rules *pnc_netcdf4_rules_get(int format)
{
    static const pnc_rules rules = {.name = "netCDF-4",
                                    .last_type = NC_UINT64,
                                    .type_error = NC_EBADTYPE,
                                    .most_dim_length = MOST_LENGTH,
                                    .most_att_length = INT32_MAX,
                                    .most_var_dims = PNC_STORAGE_DIMS_MOST,
                                    .has_paths = true,
                                    .is_enhanced = true,
                                    .has_strings = true,
                                    .renames_groups = true,
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

/* The codes are those of the format that was asked for. */
const pnc_rules *pnc_netcdf4_rules_get_asked(int asked)
{
#define AS_NETCDF4(cdf)                                                                                        \
    {                                                                                                          \
        .name = cdf " (netCDF-4 by the hint nc_format)", .last_type = NC_DOUBLE, .type_error = NC_ESTRICTCDF2, \
        .wider = "CDF-5 and netCDF-4", .cure = "create the file with NC_64BIT_DATA or NC_NETCDF4",             \
        .most_dim_length = NC_MAX_INT, .most_att_length = INT32_MAX, .most_var_dims = PNC_STORAGE_DIMS_MOST,   \
        .one_unlimited = true, .has_paths = true, .hidden_atts = hidden                                        \
    }
    static const pnc_rules rules[] = {AS_NETCDF4("CDF-1"), AS_NETCDF4("CDF-2")};

    return &rules[asked == NC_FORMAT_CDF2];
}
