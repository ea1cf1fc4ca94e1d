/* Convert with the kernels of the library, by way of the external type. */
#include "tools/ncmpicopy/convert.h"

#include <math.h>
#include <string.h>

#include "base/types.h"
#include "convert/convert.h"

enum { SLICE = 512 }; /* elements converted at once: their external form stays in the first-level cache */

static pnc_kernel find_kernel(pnc_direction direction, int type, int values)
{
    return pnc_convert_kernel_find(direction, type, pnc_type_get_mem_type(values), PNC_ENCODING_CDF5, NULL);
}

static bool is_real(int type)
{
    return type == NC_FLOAT || type == NC_DOUBLE;
}

static bool is_nan(int type, const void *value)
{
    float single;
    double real;
    if (type == NC_FLOAT) {
        memcpy(&single, value, sizeof single);
        return isnan(single);
    }
    memcpy(&real, value, sizeof real);
    return isnan(real);
}

int copy_conversion_init(int from, int to, const void *own_fill, copy_conversion *conversion)
{
    unsigned char external[8];
    *conversion = (copy_conversion){.from = from, .to = to, .first = -1};
    pnc_kernel put = find_kernel(PNC_PUT, to, from);
    if (put == NULL)
        return NC_ECHAR;
    pnc_convert_fill_get_external(to, PNC_ENCODING_CDF5, conversion->external_fill);
    if (own_fill != NULL) {
        memcpy(conversion->fill_from, own_fill, pnc_type_get_size(from));
        bool nan = is_real(from) && !is_real(to) && is_nan(from, own_fill);
        if (!nan && put(external, own_fill, 1, conversion->external_fill) == NC_NOERR)
            memcpy(conversion->external_fill, external, pnc_type_get_size(to));
    } else {
        pnc_convert_fill_get_external(from, PNC_ENCODING_CDF5, external);
        find_kernel(PNC_GET, from, from)(conversion->fill_from, external, 1, external);
    }
    /* In types of one byte all values are data, unless the variable has a _FillValue. */
    conversion->has_fill = own_fill != NULL || pnc_type_get_size(from) > 1;
    find_kernel(PNC_GET, to, to)(conversion->fill_to, conversion->external_fill, 1, conversion->external_fill);
    return NC_NOERR;
}

static void count_misfit(copy_conversion *c, int64_t at)
{
    c->misfits++;
    if (c->first < 0 || at < c->first)
        c->first = at;
}

static bool is_missing(const copy_conversion *c, const char *value)
{
    return c->has_fill && memcmp(value, c->fill_from, pnc_type_get_size(c->from)) == 0;
}

/* Find the values that do not fit. */
static void convert_one_by_one(copy_conversion *c, pnc_kernel put, const char *in, int64_t n, int64_t at,
                               char *external)
{
    for (int64_t i = 0; i < n; i++, in += pnc_type_get_size(c->from), external += pnc_type_get_size(c->to))
        if (put(external, in, 1, c->external_fill) != NC_NOERR && !is_missing(c, in))
            count_misfit(c, at + i);
}

/* Keep missing values missing. NaN is not an integer, although the library converts it to one. */
static void restore_missing(copy_conversion *c, const char *in, int64_t n, int64_t at, char *out)
{
    bool nan_fits = !is_real(c->from) || is_real(c->to);
    bool nan_is_missing = !nan_fits && c->has_fill && is_nan(c->from, c->fill_from);
    for (int64_t i = 0; i < n; i++, in += pnc_type_get_size(c->from), out += pnc_type_get_size(c->to)) {
        bool lost = !nan_fits && is_nan(c->from, in);
        if (lost && !nan_is_missing)
            count_misfit(c, at + i);
        if (lost || is_missing(c, in))
            memcpy(out, c->fill_to, pnc_type_get_size(c->to));
    }
}

void copy_values_convert(copy_conversion *c, const void *in, int64_t n, int64_t at, void *out)
{
    char external[SLICE * 8];
    size_t from = pnc_type_get_size(c->from), to = pnc_type_get_size(c->to);
    pnc_kernel put = find_kernel(PNC_PUT, c->to, c->from), get = find_kernel(PNC_GET, c->to, c->to);
    const char *values = in;
    char *results = out;
    for (int64_t done = 0, now; done < n; done += now, values += (size_t)now * from, results += (size_t)now * to) {
        now = n - done < SLICE ? n - done : SLICE;
        if (put(external, values, now, c->external_fill) != NC_NOERR)
            convert_one_by_one(c, put, values, now, at + done, external);
        get(results, external, now, c->external_fill);
        restore_missing(c, values, now, at + done, results);
    }
}
