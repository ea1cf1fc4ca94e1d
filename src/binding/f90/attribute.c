/* Attributes and fill values. Fill values are converted to the type of the variable, which the C interface requires. */
#include "binding/f90/f90.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

int pncf90_put_att_text(const int *ncid, const int *varid, const CFI_cdesc_t *name, const CFI_cdesc_t *text)
{
    size_t length = pnc_binding_text_get_length(text->base_addr, text->elem_len);
    char c_name[PNC_BINDING_TEXT_MAX];
    pnc_caller caller;
    int err;

    PNC_F90_BEGIN(&caller, put_att, put_att_text, *ncid);
    err = ncmpi_put_att_text(*ncid, pnc_binding_id_convert(*varid), pnc_f90_text_convert(name, c_name),
                             (MPI_Offset)length, text->base_addr);
    return pnc_dataset_caller_end(&caller, err);
}

/* Text that does not fit is not read. After an error the variable is blank: programs look at it instead of the code. */
int pncf90_get_att_text(const int *ncid, const int *varid, const CFI_cdesc_t *name, const CFI_cdesc_t *text)
{
    char c_name[PNC_BINDING_TEXT_MAX], *base = text->base_addr;
    size_t capacity = text->elem_len, length;
    int c_varid = pnc_binding_id_convert(*varid), err = NC_NOERR;
    pnc_att_facts facts = {0}; /* without such an attribute, ncmpi_get_att_text returns the error */
    pnc_caller caller;

    PNC_F90_BEGIN(&caller, get_att, get_att_text, *ncid);
    pnc_f90_text_convert(name, c_name);
    memset(base, ' ', capacity);
    pnc_dataset_caller_inquire_att(*ncid, c_varid, c_name, &facts);
    length = (size_t)facts.length;
    if (facts.type == NC_CHAR && length > capacity)
        pnc_error_set(&caller.error, NC_ESTS, "attribute \"%s\" has %zu characters, the variable that receives it %zu",
                      c_name, length, capacity);
    else
        err = ncmpi_get_att_text(*ncid, c_varid, c_name, base);
    return pnc_dataset_caller_end(&caller, err);
}

void pnc_f90_attribute_check(pnc_caller *caller, int varid, const char *name, MPI_Offset capacity)
{
    pnc_att_facts facts;

    if (!pnc_dataset_caller_inquire_att(caller->ncid, varid, name, &facts))
        return; /* the C function returns the error */
    if (facts.type != NC_CHAR && facts.length > capacity)
        pnc_error_set(&caller->error, NC_EIOMISMATCH,
                      "attribute \"%s\" has %lld values, the array that receives it %lld", name,
                      (long long)facts.length, (long long)capacity);
}

/* --- fill values --- */

/* A number of any type. */
typedef struct number {
    bool is_real;
    long long integer;
    double real;
} number;

typedef union place {
    int8_t byte;
    uint8_t ubyte;
    int16_t two;
    uint16_t utwo;
    int32_t four;
    uint32_t ufour;
    int64_t eight;
    uint64_t ueight;
    float single;
    double real;
} place;

static size_t size_of_number(nc_type type)
{
    switch (type) {
    case NC_SHORT:
    case NC_USHORT: return 2;
    case NC_INT:
    case NC_UINT:
    case NC_FLOAT: return 4;
    case NC_INT64:
    case NC_UINT64:
    case NC_DOUBLE: return 8;
    default: return 1;
    }
}

static bool is_real(nc_type type)
{
    return type == NC_FLOAT || type == NC_DOUBLE;
}

static number load_value(nc_type type, const place *p)
{
    switch (type) {
    case NC_BYTE: return (number){false, p->byte, p->byte};
    case NC_UBYTE: return (number){false, p->ubyte, p->ubyte};
    case NC_SHORT: return (number){false, p->two, p->two};
    case NC_USHORT: return (number){false, p->utwo, p->utwo};
    case NC_INT: return (number){false, p->four, p->four};
    case NC_UINT: return (number){false, p->ufour, p->ufour};
    case NC_INT64: return (number){false, p->eight, (double)p->eight};
    case NC_UINT64: return (number){p->ueight > INT64_MAX, (long long)p->ueight, (double)p->ueight};
    case NC_FLOAT: return (number){true, 0, p->single};
    default: return (number){true, 0, p->real};
    }
}

/* Whether a number, truncated towards 0, is in low..high. */
static bool fits_range(number n, double low, double high)
{
    return n.is_real ? n.real > low - 1 && n.real < high + 1 : n.real >= low && n.real <= high;
}

static int store(nc_type type, number n, place *p)
{
    static const struct {
        nc_type type;
        double low, high;
    } limits[] = {
        {NC_BYTE, INT8_MIN, INT8_MAX},      {NC_UBYTE, 0, UINT8_MAX},       {NC_SHORT, INT16_MIN, INT16_MAX},
        {NC_USHORT, 0, UINT16_MAX},         {NC_INT, INT32_MIN, INT32_MAX}, {NC_UINT, 0, UINT32_MAX},
        {NC_INT64, -0x1p63, 0x1p63 - 1024}, {NC_UINT64, 0, 0x1p64 - 2048},
    };

    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (limits[i].type == type && !fits_range(n, limits[i].low, limits[i].high))
            return NC_ERANGE;
    if (type == NC_FLOAT && isfinite(n.real) && fabs(n.real) > FLT_MAX)
        return NC_ERANGE;
    if (n.is_real && !is_real(type) && type != NC_UINT64)
        n.integer = (long long)n.real;
    switch (type) {
    case NC_FLOAT: p->single = (float)n.real; break;
    case NC_DOUBLE: p->real = n.real; break;
    case NC_UINT64: p->ueight = n.is_real ? (uint64_t)n.real : (uint64_t)n.integer; break;
    case NC_INT64: p->eight = n.integer; break;
    case NC_INT: p->four = (int32_t)n.integer; break;
    case NC_UINT: p->ufour = (uint32_t)n.integer; break;
    case NC_SHORT: p->two = (int16_t)n.integer; break;
    case NC_USHORT: p->utwo = (uint16_t)n.integer; break;
    case NC_BYTE: p->byte = (int8_t)n.integer; break;
    default: p->ubyte = (uint8_t)n.integer; break;
    }
    return NC_NOERR;
}

/* Fortran has no unsigned integers: signed ones of the same size have the same bits. */
static int convert(nc_type from, const place *in, nc_type to, place *out)
{
    if ((from == NC_CHAR) != (to == NC_CHAR))
        return NC_ECHAR;
    if (from != to && (size_of_number(from) != size_of_number(to) || is_real(from) || is_real(to)))
        return store(to, load_value(from, in), out);
    memcpy(out, in, size_of_number(from));
    return NC_NOERR;
}

/* The same, with a message. */
static void convert_or_fail(nc_type from, const place *in, nc_type to, place *out, pnc_error *error)
{
    int err = convert(from, in, to, out);

    if (err == NC_ECHAR)
        pnc_error_set(error, err, "one of the fill value and the variable is text, the other a number");
    if (err == NC_ERANGE)
        pnc_error_set(error, err, "the fill value does not fit the type that it is converted to");
}

/* Without a variable, and with an error of the caller, ncmpi_def_var_fill returns the error. */
int pnc_f90_fill_define(int ncid, int varid, int no_fill, nc_type kind, const void *value)
{
    const void *fill_value = NULL;
    pnc_var_facts facts;
    pnc_caller caller;
    place in, out;
    int err;

    PNC_F90_BEGIN(&caller, def_var_fill, def_var_fill, ncid);
    if (no_fill == 0 && pnc_dataset_caller_inquire_var(ncid, varid, &facts)) {
        memcpy(&in, value, size_of_number(kind));
        convert_or_fail(kind, &in, facts.type, &out, &caller.error);
        fill_value = caller.error.code == NC_NOERR ? &out : NULL;
    }
    err = ncmpi_def_var_fill(ncid, varid, no_fill, fill_value);
    return pnc_dataset_caller_end(&caller, err);
}

int pnc_f90_fill_inquire(int ncid, int varid, int *no_fill, nc_type kind, void *value)
{
    pnc_var_facts facts = {0};
    pnc_caller caller;
    place in, out;
    int err;

    PNC_F90_BEGIN(&caller, inq_var_fill, inq_var_fill, ncid);
    pnc_dataset_caller_inquire_var(ncid, varid, &facts);
    err = ncmpi_inq_var_fill(ncid, varid, no_fill, &in);
    if (err == NC_NOERR)
        convert_or_fail(facts.type, &in, kind, &out, &caller.error);
    if (err == NC_NOERR && caller.error.code == NC_NOERR)
        memcpy(value, &out, size_of_number(kind));
    return pnc_dataset_caller_end(&caller, err);
}
