/* Bounds, and the attributes that give the numbers of a coordinate their values. */
#include "tools/ncmpicopy/bounds.h"

#include <pnetcdf.h>

#include <math.h>
#include <string.h>

#include "tools/common/meaning.h"
#include "tools/common/moment.h"

/* An empty bound is open. */
static bool parse_least(const copy_scale *s, const char *text, copy_range *r)
{
    return *text == '\0' || copy_value_parse(s, text, &r->least);
}

static bool parse_most(const copy_scale *s, const char *text, copy_range *r)
{
    tool_moment m;
    if (!s->is_time || *text == '\0')
        return *text == '\0' || copy_value_parse(s, text, &r->most);
    return tool_moment_parse(text, &m) && tool_moment_convert_end(s->calendar, &m, &r->most);
}

/* Times have colons, too: the range is cut where both halves are bounds. */
bool copy_range_parse(const copy_scale *s, const char *text, copy_range *r)
{
    char first[COPY_WORD_SIZE];
    for (const char *colon = strchr(text, ':'); colon != NULL; colon = strchr(colon + 1, ':')) {
        *r = (copy_range){-INFINITY, INFINITY};
        memcpy(first, text, (size_t)(colon - text));
        first[colon - text] = '\0';
        if (parse_least(s, first, r) && parse_most(s, colon + 1, r))
            return true;
    }
    *r = (copy_range){-INFINITY, INFINITY};
    return *text != '\0' && parse_least(s, text, r) && parse_most(s, text, r);
}

bool copy_value_parse(const copy_scale *s, const char *text, double *value)
{
    return tool_value_parse(s->is_time, s->calendar, text, value);
}

/* --- attributes --- */

bool copy_word_get(int ncid, int varid, const char *name, char text[COPY_WORD_SIZE])
{
    nc_type type = NC_NAT;
    MPI_Offset length = 0;
    memset(text, 0, COPY_WORD_SIZE);
    return ncmpi_inq_att(ncid, varid, name, &type, &length) == NC_NOERR && type == NC_CHAR && length > 0 &&
           length < COPY_WORD_SIZE && ncmpi_get_att_text(ncid, varid, name, text) == NC_NOERR;
}

static double get_number(int ncid, int varid, const char *name, double otherwise)
{
    nc_type type = NC_CHAR;
    MPI_Offset length = 0;
    double number;
    bool good = ncmpi_inq_att(ncid, varid, name, &type, &length) == NC_NOERR && type != NC_CHAR && length == 1 &&
                ncmpi_get_att_double(ncid, varid, name, &number) == NC_NOERR;
    return good ? number : otherwise;
}

static bool has_limits(int ncid, int varid)
{
    static const char *const names[] = {"valid_min", "valid_max", "valid_range"};
    bool found = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        found = found || ncmpi_inq_attid(ncid, varid, names[i], NULL) == NC_NOERR;
    return found;
}

void copy_scale_load(int ncid, int varid, copy_scale *s)
{
    char units[COPY_WORD_SIZE], name[COPY_WORD_SIZE];
    bool has_units = copy_word_get(ncid, varid, "units", units);
    *s = (copy_scale){.factor = get_number(ncid, varid, "scale_factor", 1),
                      .offset = get_number(ncid, varid, "add_offset", 0)};
    copy_word_get(ncid, varid, "calendar", s->calendar);
    s->is_longitude =
        has_units && (tool_longitude_is_unit(units) ||
                      (strncmp(units, "degree", 6) == 0 && copy_word_get(ncid, varid, "standard_name", name) &&
                       strcmp(name, "longitude") == 0));
    s->is_time = has_units && tool_units_parse(units, s->calendar, &s->units) && s->units.hours > 0;
    s->is_plain = s->factor == 1 && s->offset == 0 && !has_limits(ncid, varid);
}
