/* Attributes: netCDF-C passes their values with the type that they have in memory. */
#include <string.h>

#include "binding/netcdf/door.h"

int pnc_door_inq_att(int ncid, int varid, const char *name, nc_type *type, size_t *length)
{
    pnc_door_file *f = pnc_door_file_find(ncid);
    MPI_Offset n = 0;

    if (f == NULL)
        return NC_EBADID;
    PNC_DOOR_TRY(PNC_DOOR_CALL(f, "nc_inq_att", ncmpi_inq_att, varid, name, type, &n));
    if (length != NULL)
        *length = (size_t)n;
    return NC_NOERR;
}

int pnc_door_inq_attid(int ncid, int varid, const char *name, int *number)
{
    pnc_door_file *f = pnc_door_file_find(ncid);

    return f == NULL ? NC_EBADID : PNC_DOOR_CALL(f, "nc_inq_attid", ncmpi_inq_attid, varid, name, number);
}

int pnc_door_inq_attname(int ncid, int varid, int number, char *name)
{
    pnc_door_file *f = pnc_door_file_find(ncid);

    return f == NULL ? NC_EBADID : PNC_DOOR_CALL(f, "nc_inq_attname", ncmpi_inq_attname, varid, number, name);
}

/* netCDF-4 changes attributes in data mode, too. A strict file has rules for that, which ncmpi_ functions check. */
static int begin_att_change(pnc_door_file *f)
{
    return f->is_strict ? NC_NOERR : pnc_door_define_begin(f);
}

int pnc_door_rename_att(int ncid, int varid, const char *name, const char *to)
{
    pnc_door_file *f = pnc_door_file_find(ncid);
    int err, ended;

    if (f == NULL)
        return NC_EBADID;
    err = PNC_DOOR_CALL(f, "nc_rename_att", ncmpi_rename_att, varid, name, to);
    if (err != NC_ENOTINDEFINE || f->is_strict)
        return err;
    PNC_DOOR_TRY(pnc_door_define_begin(f)); /* a longer name; netCDF-C stays in data mode */
    err = PNC_DOOR_CALL(f, "nc_rename_att", ncmpi_rename_att, varid, name, to);
    ended = pnc_door_define_end(f);
    return err != NC_NOERR ? err : ended;
}

int pnc_door_del_att(int ncid, int varid, const char *name)
{
    pnc_door_file *f = pnc_door_file_find(ncid);

    if (f == NULL)
        return NC_EBADID;
    PNC_DOOR_TRY(begin_att_change(f));
    return PNC_DOOR_CALL(f, "nc_del_att", ncmpi_del_att, varid, name);
}

/* --- values --- */

#define GET(function) return PNC_DOOR_CALL(f, "nc_get_att", function, varid, name, values)

int pnc_door_get_att(int ncid, int varid, const char *name, void *values, nc_type memory)
{
    pnc_door_file *f = pnc_door_file_find(ncid);

    if (f == NULL)
        return NC_EBADID;
    switch (memory) {
    case NC_NAT: GET(ncmpi_get_att);
    case NC_BYTE: GET(ncmpi_get_att_schar);
    case NC_CHAR: GET(ncmpi_get_att_text);
    case NC_SHORT: GET(ncmpi_get_att_short);
    case NC_INT: GET(ncmpi_get_att_int);
    case NC_FLOAT: GET(ncmpi_get_att_float);
    case NC_DOUBLE: GET(ncmpi_get_att_double);
    case NC_UBYTE: GET(ncmpi_get_att_uchar);
    case NC_USHORT: GET(ncmpi_get_att_ushort);
    case NC_UINT: GET(ncmpi_get_att_uint);
    case NC_INT64: GET(ncmpi_get_att_longlong);
    case NC_UINT64: GET(ncmpi_get_att_ulonglong);
    default: return NC_EBADTYPE;
    }
}

typedef struct door_att {
    int varid;
    const char *name;
    nc_type type;
    MPI_Offset length;
    const void *values;
    nc_type memory;
} door_att;

#define PUT(function) return PNC_DOOR_CALL(f, "nc_put_att", function, a->varid, a->name, a->type, a->length, a->values)

static int put_values(pnc_door_file *f, const door_att *a)
{
    switch (a->memory) {
    case NC_NAT: PUT(ncmpi_put_att);
    case NC_BYTE: PUT(ncmpi_put_att_schar);
    case NC_CHAR: PUT(ncmpi_put_att);
    case NC_SHORT: PUT(ncmpi_put_att_short);
    case NC_INT: PUT(ncmpi_put_att_int);
    case NC_FLOAT: PUT(ncmpi_put_att_float);
    case NC_DOUBLE: PUT(ncmpi_put_att_double);
    case NC_UBYTE: PUT(ncmpi_put_att_uchar);
    case NC_USHORT: PUT(ncmpi_put_att_ushort);
    case NC_UINT: PUT(ncmpi_put_att_uint);
    case NC_INT64: PUT(ncmpi_put_att_longlong);
    case NC_UINT64: PUT(ncmpi_put_att_ulonglong);
    default: return NC_EBADTYPE;
    }
}

/* Whether an attribute of this name has as many bytes. */
static bool has_space_for(pnc_door_file *f, const door_att *a)
{
    size_t size = 0, old_size = 0;
    MPI_Offset old_length;
    nc_type old_type;

    if (ncmpi_inq_att(f->id, a->varid, a->name, &old_type, &old_length) != NC_NOERR)
        return false;
    (void)pnc_door_inq_type(0, a->type, NULL, &size);
    (void)pnc_door_inq_type(0, old_type, NULL, &old_size);
    return (size_t)a->length * size <= (size_t)old_length * old_size;
}

/* netCDF-C changes an attribute of a netCDF-4 file in data mode, where it stays; a new or longer one begins define
 * mode. */
static int put_in_data_mode(pnc_door_file *f, const door_att *a)
{
    bool exists = has_space_for(f, a);
    int err = exists ? put_values(f, a) : NC_ENOTINDEFINE, ended;

    if (err != NC_ENOTINDEFINE)
        return err;
    PNC_DOOR_TRY(pnc_door_define_begin(f));
    err = put_values(f, a);
    ended = exists ? pnc_door_define_end(f) : NC_NOERR;
    return err != NC_NOERR ? err : ended;
}

int pnc_door_put_att(int ncid, int varid, const char *name, nc_type type, size_t length, const void *values,
                     nc_type memory)
{
    const door_att a = {varid, name, type, (MPI_Offset)length, values, memory};
    pnc_door_file *f = pnc_door_file_find(ncid);

    if (f == NULL)
        return NC_EBADID;
    if (memory == NC_STRING || type == NC_STRING)
        return pnc_door_failure_report(NC_ENOTSUPPORT, "nc_put_att",
                                       "attribute \"%s\": libpnetcdf writes no NC_STRING yet: use NC_CHAR, or write "
                                       "this file without libpnetcdf-netcdf",
                                       name != NULL ? name : "");
    if ((memory == NC_CHAR) != (type == NC_CHAR) && memory != NC_NAT)
        return NC_ECHAR;
    if (f->is_strict || f->defines)
        return put_values(f, &a);
    return put_in_data_mode(f, &a);
}
