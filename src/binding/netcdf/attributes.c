/* Attributes: netCDF-C passes their values with the type that they have in memory. */
#include <string.h>

#include "binding/netcdf/door.h"

/* An attribute by its name: the variable, or NC_GLOBAL, has the id of the file, and the name the path of its group. */
typedef struct door_att_place {
    pnc_door_place at;
    pnc_door_file *f;
    int varid;
    pnc_door_name path;
    const char *name; /* that of path */
} door_att_place;

static int find_att_place(int ncid, int varid, const char *name, int code, door_att_place *a)
{
    PNC_DOOR_TRY(pnc_door_place_find(ncid, &a->at));
    a->f = a->at.f;
    a->varid = pnc_door_varid_get(&a->at, varid);
    PNC_DOOR_TRY(pnc_door_att_name_make(&a->at, varid, name, code, &a->path));
    a->name = a->path.text;
    return NC_NOERR;
}

/* Whether an attribute, which exists, is one of strings, and how many it has. */
static bool is_of_strings(const door_att_place *a, MPI_Offset *n)
{
    *n = -1;
    return a->f->is_netcdf4 && ncmpi_inq_att_string(a->f->id, a->varid, a->name, n) == NC_NOERR && *n >= 0;
}

int pnc_door_inq_att(int ncid, int varid, const char *name, nc_type *type, size_t *length)
{
    MPI_Offset n = 0, strings;
    nc_type found;
    door_att_place a;

    PNC_DOOR_TRY(find_att_place(ncid, varid, name, NC_ENOTATT, &a));
    PNC_DOOR_TRY(PNC_DOOR_CALL(a.f, "nc_inq_att", ncmpi_inq_att, a.varid, a.name, &found, &n));
    if (found == NC_CHAR && is_of_strings(&a, &strings)) {
        found = NC_STRING;
        n = strings;
    }
    if (type != NULL)
        *type = found;
    if (length != NULL)
        *length = (size_t)n;
    return NC_NOERR;
}

/* --- numbers: of a global attribute among those of its group --- */

static bool is_numbered_by_group(const door_att_place *a)
{
    return a->varid == NC_GLOBAL && a->f->ngroups > 1;
}

int pnc_door_inq_attid(int ncid, int varid, const char *name, int *number)
{
    door_att_place a;
    int id, i = 0;

    PNC_DOOR_TRY(find_att_place(ncid, varid, name, NC_ENOTATT, &a));
    PNC_DOOR_TRY(PNC_DOOR_CALL(a.f, "nc_inq_attid", ncmpi_inq_attid, a.varid, a.name, &id));
    if (is_numbered_by_group(&a)) {
        PNC_DOOR_TRY(pnc_door_atts_list(&a.at));
        while (i < a.f->natts && a.f->atts[i] != id)
            i++;
        id = i;
    }
    if (number != NULL)
        *number = id;
    return NC_NOERR;
}

int pnc_door_inq_attname(int ncid, int varid, int number, char *name)
{
    door_att_place a;

    PNC_DOOR_TRY(find_att_place(ncid, varid, NULL, NC_ENOTATT, &a));
    if (!is_numbered_by_group(&a))
        return PNC_DOOR_CALL(a.f, "nc_inq_attname", ncmpi_inq_attname, a.varid, number, name);
    PNC_DOOR_TRY(pnc_door_atts_list(&a.at));
    if (number < 0 || number >= a.f->natts)
        return NC_ENOTATT;
    PNC_DOOR_TRY(PNC_DOOR_CALL(a.f, "nc_inq_attname", ncmpi_inq_attname, a.varid, a.f->atts[number], name));
    if (name != NULL)
        pnc_door_name_truncate(a.f, a.at.group, name);
    return NC_NOERR;
}

int pnc_door_rename_att(int ncid, int varid, const char *name, const char *to)
{
    door_att_place a;
    int err, ended;

    PNC_DOOR_TRY(find_att_place(ncid, varid, name, NC_ENOTATT, &a));
    a.f->att_group = -1;
    err = PNC_DOOR_CALL(a.f, "nc_rename_att", ncmpi_rename_att, a.varid, a.name, to);
    if (err != NC_ENOTINDEFINE || a.f->is_strict)
        return err;
    PNC_DOOR_TRY(pnc_door_define_begin(a.f)); /* a longer name; netCDF-C stays in data mode */
    err = PNC_DOOR_CALL(a.f, "nc_rename_att", ncmpi_rename_att, a.varid, a.name, to);
    ended = pnc_door_define_end(a.f);
    return err != NC_NOERR ? err : ended;
}

int pnc_door_del_att(int ncid, int varid, const char *name)
{
    door_att_place a;

    PNC_DOOR_TRY(find_att_place(ncid, varid, name, NC_ENOTATT, &a));
    if (!a.f->is_strict) {
        PNC_DOOR_TRY(PNC_DOOR_CALL(a.f, "nc_del_att", ncmpi_inq_attid, a.varid, a.name, NULL));
        PNC_DOOR_TRY(pnc_door_define_begin(a.f)); /* netCDF-4 changes attributes in data mode, too */
    }
    a.f->att_group = -1;
    return PNC_DOOR_CALL(a.f, "nc_del_att", ncmpi_del_att, a.varid, a.name);
}

/* --- values --- */

#define GET(function) return PNC_DOOR_CALL(a->f, "nc_get_att", function, a->varid, a->name, values)

static int get_att_values(const door_att_place *a, void *values, nc_type memory)
{
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

/* netCDF-C's memory: the program passes it to nc_free_string. */
static int get_strings(const door_att_place *a, MPI_Offset n, char **strings)
{
    PNC_DOOR_TRY(PNC_DOOR_CALL(a->f, "nc_get_att_string", ncmpi_get_att_string, a->varid, a->name, strings));
    return pnc_door_strings_convert(n, strings);
}

/* Values of strings are neither text nor numbers. */
int pnc_door_get_att(int ncid, int varid, const char *name, void *values, nc_type memory)
{
    door_att_place a;
    nc_type type;
    size_t n;

    PNC_DOOR_TRY(find_att_place(ncid, varid, name, NC_ENOTATT, &a));
    if (!a.f->is_netcdf4)
        return memory == NC_STRING ? NC_ECHAR : get_att_values(&a, values, memory);
    PNC_DOOR_TRY(pnc_door_inq_att(ncid, varid, name, &type, &n));
    if (n == 0) /* of any type */
        return NC_NOERR;
    if (type != NC_STRING && memory == NC_STRING)
        return type == NC_CHAR ? NC_ECHAR : NC_EBADTYPE;
    if (type != NC_STRING)
        return get_att_values(&a, values, memory);
    if (memory != NC_STRING && memory != NC_NAT)
        return memory == NC_CHAR ? NC_ECHAR : NC_EBADTYPE;
    return get_strings(&a, (MPI_Offset)n, values);
}

/* A put. The place comes first. */
typedef struct door_att {
    door_att_place place;
    nc_type type;
    MPI_Offset length;
    const void *values;
    nc_type memory;
} door_att;

#define PUT(function)                                                                                           \
    return PNC_DOOR_CALL(a->place.f, "nc_put_att", function, a->place.varid, a->place.name, a->type, a->length, \
                         a->values)

static int put_values(const door_att *a)
{
    if (a->type == NC_STRING)
        return PNC_DOOR_CALL(a->place.f, "nc_put_att_string", ncmpi_put_att_string, a->place.varid, a->place.name,
                             a->length, (const char *const *)a->values);
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

/* Whether an attribute of this name has as many bytes; for strings, as many strings. NC_ENOTATT: there is none. */
static int check_space(const door_att *a, bool *fits)
{
    const door_att_place *p = &a->place;
    size_t size = 0, old_size = 0;
    MPI_Offset old_length, strings;
    nc_type old_type;

    *fits = false;
    PNC_DOOR_TRY(ncmpi_inq_att(p->f->id, p->varid, p->name, &old_type, &old_length));
    if (is_of_strings(p, &strings)) {
        old_type = NC_STRING;
        old_length = strings;
    }
    if (a->type == NC_STRING) {
        *fits = old_type == NC_STRING && old_length == a->length;
        return NC_NOERR;
    }
    (void)pnc_door_inq_type(0, a->type, NULL, &size);
    (void)pnc_door_inq_type(0, old_type, NULL, &old_size);
    *fits = (size_t)a->length * size <= (size_t)old_length * old_size;
    return NC_NOERR;
}

/* netCDF-C changes an attribute of a netCDF-4 file in data mode, where it stays; a new or longer one begins define
 * mode. */
static int put_in_data_mode(const door_att *a)
{
    bool fits;
    int err = check_space(a, &fits), ended;

    if (err != NC_NOERR && err != NC_ENOTATT)
        return err;
    err = fits ? put_values(a) : NC_ENOTINDEFINE;
    if (err != NC_ENOTINDEFINE)
        return err;
    PNC_DOOR_TRY(pnc_door_define_begin(a->place.f));
    err = put_values(a);
    ended = fits ? pnc_door_define_end(a->place.f) : NC_NOERR;
    return err != NC_NOERR ? err : ended;
}

/* Of values, which are passed with their type in memory, NC_NAT being that of the attribute. */
static int check_memory(const door_att *a)
{
    if (a->memory == NC_NAT || a->memory == a->type)
        return NC_NOERR;
    if (a->memory == NC_CHAR || a->type == NC_CHAR || a->memory == NC_STRING || a->type == NC_STRING)
        return NC_ECHAR;
    return NC_NOERR;
}

int pnc_door_put_att(int ncid, int varid, const char *name, nc_type type, size_t length, const void *values,
                     nc_type memory)
{
    door_att a = {.type = type, .length = (MPI_Offset)length, .values = values, .memory = memory};

    PNC_DOOR_TRY(find_att_place(ncid, varid, name, NC_EBADNAME, &a.place));
    PNC_DOOR_TRY(check_memory(&a));
    a.place.f->att_group = -1;
    if (a.place.f->is_strict || a.place.f->defines)
        return put_values(&a);
    return put_in_data_mode(&a);
}
