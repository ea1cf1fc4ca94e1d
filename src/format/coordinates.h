/* Which variables say where the values of others are (CF conventions, 5, 5.6, 7.1 and 7.4). */
#ifndef PNC_FORMAT_COORDINATES_H
#define PNC_FORMAT_COORDINATES_H

#include "format/model.h"

/* Attributes that name such variables. */
#define PNC_COORDINATE_ATTRIBUTES                              \
    {                                                          \
        "coordinates", "bounds", "climatology", "grid_mapping" \
    }

/* Set the element of each coordinate variable, one of one dimension that has its name, and of each variable that an
 * attribute of another one names; `found` has nvars elements, all false. */
void pnc_format_coordinates_find(const pnc_model *model, bool *found);

#endif
