/* Types of the elements of arrays, and fill values. */
#include <string.h>

#include "base/types.h"
#include "formats/zarr/array.h"

/* In the order of types of netCDF: NC_BYTE is 1. Names of version 3, and kind and size of version 2. */
static const struct element_type {
    int type;
    const char *name, *v2;
} element_types[] = {{NC_BYTE, "int8", "i1"},     {NC_SHORT, "int16", "i2"},   {NC_INT, "int32", "i4"},
                     {NC_INT64, "int64", "i8"},   {NC_UBYTE, "uint8", "u1"},   {NC_USHORT, "uint16", "u2"},
                     {NC_UINT, "uint32", "u4"},   {NC_UINT64, "uint64", "u8"}, {NC_FLOAT, "float32", "f4"},
                     {NC_DOUBLE, "float64", "f8"}};
enum { NELEMENT_TYPES = sizeof element_types / sizeof *element_types };

/* Of zarr-python from 3.1 on: xarray reads characters as text. Other readers see a type that they do not have. */
#define CHARACTERS "null_terminated_bytes"

static int reject_type(const pnc_zarr_context *c, const char *name, pnc_zarr_array *array)
{
    bool is_text = strcmp(name, "string") == 0 || strcmp(name, "|O") == 0;

    array->type = is_text ? NC_STRING : NC_OPAQUE;
    return pnc_zarr_array_reject(c, array, "its data type, \"%s\", is not one of netCDF that this library reads", name);
}

/* {"name": "null_terminated_bytes", "configuration": {"length_bytes": 1}} */
static int read_composed_type(const pnc_zarr_context *c, void *value, pnc_zarr_array *array)
{
    void *name, *configuration = pnc_zarr_member_get(c, value, "configuration");
    int64_t length;

    PNC_TRY(pnc_zarr_member_find(c, value, "name", PNC_JSON_STRING, false, &name));
    if (!pnc_zarr_text_is(c, name, CHARACTERS) ||
        !pnc_zarr_integer_get(c, pnc_zarr_member_get(c, configuration, "length_bytes"), 1, 1, &length))
        return reject_type(c, c->json->get_string(name), array);
    array->type = NC_CHAR;
    array->content = PNC_ZARR_CHARACTERS;
    return NC_NOERR;
}

static int read_type(const pnc_zarr_context *c, void *value, pnc_zarr_array *array)
{
    const char *name = pnc_zarr_text_get(c, value);

    if (pnc_zarr_value_is(c, value, PNC_JSON_OBJECT))
        return read_composed_type(c, value, array);
    if (name == NULL)
        return pnc_zarr_damage_set(c, "\"data_type\" is not a text");
    for (int i = 0; i < NELEMENT_TYPES; i++)
        if (strcmp(name, element_types[i].name) == 0) {
            array->type = element_types[i].type;
            return NC_NOERR;
        }
    if (strcmp(name, "bool") != 0)
        return reject_type(c, name, array);
    array->type = NC_BYTE;
    array->content = PNC_ZARR_BOOLEANS;
    return NC_NOERR;
}

int pnc_zarr_elements_find_type(const char *name)
{
    for (int i = 0; i < NELEMENT_TYPES; i++)
        if (strcmp(name, element_types[i].v2) == 0)
            return element_types[i].type;
    return 0;
}

/* Order, kind and size, as numpy has them: "<f4". */
static int read_type_v2(const pnc_zarr_context *c, void *value, pnc_zarr_array *array)
{
    const char *name = pnc_zarr_text_get(c, value);

    if (name == NULL) /* a list of members */
        return reject_type(c, "structured", array);
    if (name[0] == '\0' || strchr("<>|", name[0]) == NULL)
        return pnc_zarr_damage_set(c, "\"dtype\" does not begin with <, > or |");
    array->is_big_endian = name[0] == '>';
    array->type = pnc_zarr_elements_find_type(name + 1);
    if (array->type != 0)
        return NC_NOERR;
    if (strcmp(name + 1, "b1") != 0 && strcmp(name + 1, "S1") != 0)
        return reject_type(c, name, array);
    array->type = name[1] == 'b' ? NC_BYTE : NC_CHAR;
    array->content = name[1] == 'b' ? PNC_ZARR_BOOLEANS : PNC_ZARR_CHARACTERS;
    return NC_NOERR;
}

int pnc_zarr_elements_read(const pnc_zarr_context *c, void *value, pnc_zarr_array *array)
{
    return array->version == 2 ? read_type_v2(c, value, array) : read_type(c, value, array);
}

static int fill_composed_type(const pnc_zarr_context *c, void *value)
{
    void *configuration;

    PNC_TRY(pnc_zarr_text_add(c, value, "name", CHARACTERS));
    configuration = pnc_zarr_object_add(c, value, "configuration");
    return configuration != NULL ? pnc_zarr_integer_add(c, configuration, "length_bytes", 1) : NC_ENOMEM;
}

static void *make_composed_type(const pnc_zarr_context *c)
{
    void *value = c->json->new_object();

    if (value != NULL && fill_composed_type(c, value) == NC_NOERR)
        return value;
    c->json->put(value);
    return NULL;
}

void *pnc_zarr_elements_make(const pnc_zarr_context *c, const pnc_zarr_array *array)
{
    if (array->content == PNC_ZARR_BOOLEANS)
        return c->json->new_string("bool", 4);
    for (int i = 0; i < NELEMENT_TYPES; i++)
        if (element_types[i].type == array->type)
            return c->json->new_string(element_types[i].name, (int)strlen(element_types[i].name));
    return make_composed_type(c);
}

/* Base64 of one byte, or of none for NUL; some writers of version 2 have the character itself, or 0. */
static bool read_character(const pnc_zarr_context *c, void *value, unsigned char *out)
{
    const char *text = pnc_zarr_text_get(c, value);
    int64_t zero;

    *out = '\0';
    if (text == NULL && pnc_zarr_value_is(c, value, PNC_JSON_STRING))
        return c->json->get_string_length(value) == 1; /* NUL */
    if (text == NULL)
        return pnc_zarr_integer_get(c, value, 0, 0, &zero);
    if (strlen(text) == 1)
        *out = (unsigned char)text[0];
    return strlen(text) <= 1 || pnc_zarr_base64_decode(text, 1, out);
}

int pnc_zarr_fill_read(const pnc_zarr_context *c, void *value, pnc_zarr_array *array)
{
    bool is_valid;

    array->has_fill = value != NULL;
    if (value == NULL)
        return NC_NOERR;
    if (array->content == PNC_ZARR_CHARACTERS) {
        is_valid = read_character(c, value, array->fill);
    } else if (array->content == PNC_ZARR_BOOLEANS && pnc_zarr_value_is(c, value, PNC_JSON_BOOLEAN)) {
        array->fill[0] = c->json->get_boolean(value) != 0;
        is_valid = true;
    } else {
        is_valid = pnc_zarr_number_read(c, array->type, value, array->fill);
    }
    if (!is_valid)
        return pnc_zarr_damage_set(c, "\"fill_value\" is not a value of the data type");
    return NC_NOERR;
}

void *pnc_zarr_fill_make(const pnc_zarr_context *c, const pnc_zarr_array *array)
{
    char text[8] = "";

    if (array->content == PNC_ZARR_BOOLEANS)
        return c->json->new_boolean(array->fill[0] != 0);
    if (array->type != NC_CHAR)
        return pnc_zarr_number_make(c, array->type, array->fill, true);
    if (array->fill[0] != '\0')
        pnc_zarr_base64_encode(array->fill, 1, text);
    return c->json->new_string(text, (int)strlen(text));
}
