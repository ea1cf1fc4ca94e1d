/* Types: those of netCDF's atomic values; what this library does not write yet says so. */
#include <string.h>

#include "binding/netcdf/door.h"

typedef struct atomic_type {
    const char *name;
    size_t size;
} atomic_type;

static const atomic_type atomic_types[] = {
    [NC_BYTE] = {"byte", 1},   [NC_CHAR] = {"char", 1},     [NC_SHORT] = {"short", 2},
    [NC_INT] = {"int", 4},     [NC_FLOAT] = {"float", 4},   [NC_DOUBLE] = {"double", 8},
    [NC_UBYTE] = {"ubyte", 1}, [NC_USHORT] = {"ushort", 2}, [NC_UINT] = {"uint", 4},
    [NC_INT64] = {"int64", 8}, [NC_UINT64] = {"uint64", 8}, [NC_STRING] = {"string", sizeof(char *)},
};

MPI_Datatype pnc_door_type_get_mpi(nc_type type)
{
    switch (type) {
    case NC_BYTE: return MPI_SIGNED_CHAR;
    case NC_CHAR: return MPI_CHAR;
    case NC_SHORT: return MPI_SHORT;
    case NC_INT: return MPI_INT;
    case NC_FLOAT: return MPI_FLOAT;
    case NC_DOUBLE: return MPI_DOUBLE;
    case NC_UBYTE: return MPI_UNSIGNED_CHAR;
    case NC_USHORT: return MPI_UNSIGNED_SHORT;
    case NC_UINT: return MPI_UNSIGNED;
    case NC_INT64: return MPI_LONG_LONG;
    case NC_UINT64: return MPI_UNSIGNED_LONG_LONG;
    default: return MPI_DATATYPE_NULL;
    }
}

int pnc_door_inq_type(int ncid, nc_type type, char *name, size_t *size)
{
    (void)ncid;
    if (type < NC_BYTE || type > NC_STRING)
        return NC_EBADTYPE;
    if (name != NULL)
        strcpy(name, atomic_types[type].name);
    if (size != NULL)
        *size = atomic_types[type].size;
    return NC_NOERR;
}

static int inquire_no_types(int ncid, int *n, int *ids)
{
    (void)ncid, (void)ids;
    if (n != NULL)
        *n = 0;
    return NC_NOERR;
}

static int compare_types(int ncid, nc_type type, int other_ncid, nc_type other, int *equal)
{
    (void)ncid, (void)other_ncid;
    if (equal != NULL)
        *equal = type == other;
    return NC_NOERR;
}

static int find_type(int ncid, const char *name, nc_type *type)
{
    (void)ncid;
    for (int i = NC_BYTE; name != NULL && i <= NC_STRING; i++)
        if (strcmp(name, atomic_types[i].name) == 0) {
            if (type != NULL)
                *type = i;
            return NC_NOERR;
        }
    return NC_EBADTYPE;
}

static int inquire_user_type(int ncid, nc_type type, char *name, size_t *size, nc_type *base, size_t *nfields,
                             int *class)
{
    (void)ncid, (void)type, (void)name, (void)size, (void)base, (void)nfields, (void)class;
    return NC_EBADTYPE;
}

/* --- definitions of types --- */

static int refuse_type(int ncid, const char *call, const char *name)
{
    pnc_door_file *f = pnc_door_file_find(ncid);

    if (f == NULL)
        return NC_EBADID;
    if (!f->is_netcdf4)
        return NC_ENOTNC4;
    if (f->is_strict)
        return NC_ESTRICTNC3;
    return pnc_door_failure_report(NC_ENOTSUPPORT, call,
                                   "type \"%s\": libpnetcdf writes no user-defined types: write this file without "
                                   "libpnetcdf-netcdf",
                                   name != NULL ? name : "");
}

static int define_compound(int ncid, size_t size, const char *name, nc_type *type)
{
    (void)size, (void)type;
    return refuse_type(ncid, "nc_def_compound", name);
}

static int define_vlen(int ncid, const char *name, nc_type base, nc_type *type)
{
    (void)base, (void)type;
    return refuse_type(ncid, "nc_def_vlen", name);
}

static int define_enum(int ncid, nc_type base, const char *name, nc_type *type)
{
    (void)base, (void)type;
    return refuse_type(ncid, "nc_def_enum", name);
}

static int define_opaque(int ncid, size_t size, const char *name, nc_type *type)
{
    (void)size, (void)type;
    return refuse_type(ncid, "nc_def_opaque", name);
}

/* --- of types that no file of the table has --- */

static int insert_field(int ncid, nc_type type, const char *name, size_t offset, nc_type field)
{
    (void)ncid, (void)type, (void)name, (void)offset, (void)field;
    return NC_EBADTYPE;
}

static int insert_array_field(int ncid, nc_type type, const char *name, size_t offset, nc_type field, int ndims,
                              const int *lengths)
{
    (void)ncid, (void)type, (void)name, (void)offset, (void)field, (void)ndims, (void)lengths;
    return NC_EBADTYPE;
}

static int inquire_field(int ncid, nc_type type, int number, char *name, size_t *offset, nc_type *field, int *ndims,
                         int *lengths)
{
    (void)ncid, (void)type, (void)number, (void)name, (void)offset, (void)field, (void)ndims, (void)lengths;
    return NC_EBADTYPE;
}

static int find_field(int ncid, nc_type type, const char *name, int *number)
{
    (void)ncid, (void)type, (void)name, (void)number;
    return NC_EBADTYPE;
}

static int put_vlen(int ncid, int type, void *vlen, size_t length, const void *values)
{
    (void)ncid, (void)type, (void)vlen, (void)length, (void)values;
    return NC_EBADTYPE;
}

static int get_vlen(int ncid, int type, const void *vlen, size_t *length, void *values)
{
    (void)ncid, (void)type, (void)vlen, (void)length, (void)values;
    return NC_EBADTYPE;
}

static int insert_member(int ncid, nc_type type, const char *name, const void *value)
{
    (void)ncid, (void)type, (void)name, (void)value;
    return NC_EBADTYPE;
}

static int inquire_member(int ncid, nc_type type, int number, char *name, void *value)
{
    (void)ncid, (void)type, (void)number, (void)name, (void)value;
    return NC_EBADTYPE;
}

static int identify_member(int ncid, nc_type type, long long value, char *name)
{
    (void)ncid, (void)type, (void)value, (void)name;
    return NC_EBADTYPE;
}

void pnc_door_types_add(NC_Dispatch *table)
{
    table->inq_typeids = inquire_no_types;
    table->inq_type_equal = compare_types;
    table->inq_user_type = inquire_user_type;
    table->inq_typeid = find_type;
    table->def_compound = define_compound;
    table->insert_compound = insert_field;
    table->insert_array_compound = insert_array_field;
    table->inq_compound_field = inquire_field;
    table->inq_compound_fieldindex = find_field;
    table->def_vlen = define_vlen;
    table->put_vlen_element = put_vlen;
    table->get_vlen_element = get_vlen;
    table->def_enum = define_enum;
    table->insert_enum = insert_member;
    table->inq_enum_member = inquire_member;
    table->inq_enum_ident = identify_member;
    table->def_opaque = define_opaque;
}
