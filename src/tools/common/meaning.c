#include "tools/common/meaning.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/types.h"
#include "convert/convert.h"
#include "format/coordinates.h"
#include "tools/common/file.h"
#include "tools/common/number.h"

static const pnc_att *find_own(const pnc_var *var, const char *name)
{
    int index = pnc_format_atts_find(&var->atts, name);
    return index < 0 ? NULL : var->atts.at[index];
}

/* --- variables that belong to others --- */

/* What it means that one of the attributes names a variable. */
static void relate(tool_relations *r, int from, const char *attribute, int to)
{
    bool bounds = strcmp(attribute, "bounds") == 0 || strcmp(attribute, "climatology") == 0;
    r->coordinate[to] = true;
    r->mapping[to] = r->mapping[to] || strcmp(attribute, "grid_mapping") == 0;
    if (bounds && r->parent[to] < 0 && from != to)
        r->parent[to] = from;
}

/* The names in a text, perhaps with a colon ("crs: x y"); those that are no variables are skipped. */
static void relate_words(const pnc_model *model, int varid, const char *attribute, tool_relations *r)
{
    const pnc_att *att = find_own(model->vars[varid], attribute);
    int64_t begin = 0, end = att != NULL && att->type == NC_CHAR ? att->len : -1;
    for (int64_t i = 0; i <= end; i++) {
        const char *text = att->value;
        char name[NC_MAX_NAME + 1];
        if (i < end && strchr(" \t\n", text[i]) == NULL)
            continue;
        int64_t n = i - begin;
        n -= n > 0 && text[i - 1] == ':';
        if (n > 0 && n <= NC_MAX_NAME) {
            memcpy(name, text + begin, (size_t)n);
            name[n] = '\0';
            int id = pnc_format_var_find(model, name);
            if (id >= 0)
                relate(r, varid, attribute, id);
        }
        begin = i + 1;
    }
}

int tool_relations_init(const pnc_model *model, tool_relations *r)
{
    static const char *const attributes[] = PNC_COORDINATE_ATTRIBUTES;
    r->parent = pnc_memory_alloc(model->nvars, sizeof *r->parent);
    r->coordinate = pnc_memory_alloc_zeroed(model->nvars, sizeof *r->coordinate);
    r->mapping = pnc_memory_alloc_zeroed(model->nvars, sizeof *r->mapping);
    if (r->parent == NULL || r->coordinate == NULL || r->mapping == NULL)
        return NC_ENOMEM;
    for (int i = 0; i < model->nvars; i++)
        r->parent[i] = -1;
    for (int i = 0; i < model->nvars; i++) {
        const pnc_var *var = model->vars[i];
        if (var->ndims == 1 && strcmp(model->dims[var->dimids[0]]->name, var->name) == 0)
            r->coordinate[i] = true;
        for (size_t k = 0; k < sizeof attributes / sizeof *attributes; k++)
            relate_words(model, i, attributes[k], r);
    }
    return NC_NOERR;
}

void tool_relations_free(tool_relations *r)
{
    pnc_memory_free(r->parent);
    pnc_memory_free(r->coordinate);
    pnc_memory_free(r->mapping);
}

const pnc_att *tool_attribute_find(const pnc_model *model, const tool_relations *relations, int varid, const char *name)
{
    int parent = relations->parent[varid];
    bool inherited = strcmp(name, "units") == 0 || strcmp(name, "calendar") == 0;
    if (inherited && parent >= 0 && find_own(model->vars[varid], "units") == NULL)
        varid = parent;
    return find_own(model->vars[varid], name);
}

/* --- values of attributes --- */

static bool is_number(const pnc_att *att)
{
    return att != NULL && att->type != NC_CHAR && att->len > 0;
}

static void load_element(const pnc_att *att, int64_t i, void *value)
{
    size_t size = pnc_type_get_size(att->type);
    const pnc_att one = {.type = att->type, .len = 1, .value = (char *)att->value + (size_t)i * size};
    tool_att_load(&one, value);
}

static double load_double(const pnc_att *att, int64_t i)
{
    unsigned char value[8];
    double parts[2];
    load_element(att, i, value);
    tool_number_load(att->type, value, parts);
    return parts[0] + parts[1];
}

static double load_number(const pnc_var *var, const char *name, int64_t i, double otherwise)
{
    const pnc_att *att = find_own(var, name);
    return is_number(att) && i < att->len ? load_double(att, i) : otherwise;
}

/* A value of the variable's type that an attribute gives, perhaps in another type. Returns false if it is none. */
static bool load_value(const pnc_att *att, int64_t i, int type, unsigned char value[8])
{
    unsigned char element[8], external[8];
    double there[2], back[2];
    if ((att->type == NC_CHAR) != (type == NC_CHAR) || pnc_type_get_size(type) == 0)
        return false;
    load_element(att, i, element);
    if (att->type == type) {
        memcpy(value, element, 8);
        return true;
    }
    pnc_convert_fill_get_external(type, PNC_ENCODING_CDF5, external);
    pnc_kernel put = pnc_convert_kernel_find(PNC_PUT, type, pnc_type_get_mem_type(att->type), PNC_ENCODING_CDF5, NULL);
    pnc_kernel get = pnc_convert_kernel_find(PNC_GET, type, pnc_type_get_mem_type(type), PNC_ENCODING_CDF5, NULL);
    if (put(external, element, 1, external) != NC_NOERR)
        return false;
    get(value, external, 1, external);
    tool_number_load(att->type, element, there);
    tool_number_load(type, value, back);
    return type == NC_FLOAT || (there[0] == back[0] && there[1] == back[1]);
}

/* Cut only where the text is too long: then it is empty. Blanks and null characters at the end are dropped. */
static void load_text(const pnc_att *att, char out[TOOL_MEANING_TEXT])
{
    int64_t length = att != NULL && att->type == NC_CHAR ? att->len : 0;
    const char *text = length > 0 ? att->value : NULL;
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\0'))
        length--;
    if (length >= TOOL_MEANING_TEXT)
        length = 0;
    memset(out, 0, TOOL_MEANING_TEXT);
    if (length > 0)
        memcpy(out, text, (size_t)length);
}

/* --- the meaning of a variable --- */

static void load_missing(const pnc_var *var, tool_meaning *m)
{
    const pnc_att *fill = find_own(var, "_FillValue"), *missing = find_own(var, "missing_value");
    if (fill != NULL && fill->len == 1 && load_value(fill, 0, m->type, m->missing[0])) {
        m->has_fill = true;
    } else if (pnc_type_get_size(m->type) > 1) { /* in types of one byte all values are data */
        pnc_convert_fill_get_memory(pnc_type_get_mem_type(m->type), m->missing[0]);
        m->has_fill = true;
    }
    m->nmissing = m->has_fill;
    for (int64_t i = 0; missing != NULL && i < missing->len && m->nmissing < TOOL_MISSING_MOST; i++)
        if (load_value(missing, i, m->type, m->missing[m->nmissing]) &&
            tool_meaning_find(m, m->missing[m->nmissing]) < 0)
            m->nmissing++;
}

void tool_meaning_load(const pnc_model *model, const tool_relations *relations, int varid, tool_meaning *m)
{
    const pnc_var *var = model->vars[varid];
    *m = (tool_meaning){.type = var->type};
    load_missing(var, m);
    m->scale = load_number(var, "scale_factor", 0, 1);
    m->offset = load_number(var, "add_offset", 0, 0);
    m->least = load_number(var, "valid_min", 0, load_number(var, "valid_range", 0, -INFINITY));
    m->most = load_number(var, "valid_max", 0, load_number(var, "valid_range", 1, INFINITY));
    load_text(tool_attribute_find(model, relations, varid, "units"), m->units);
    load_text(tool_attribute_find(model, relations, varid, "calendar"), m->calendar);
    m->has_clock = tool_clock_parse(m->units, m->calendar, &m->clock);
}

int tool_meaning_find(const tool_meaning *m, const void *value)
{
    bool real = m->type == NC_FLOAT || m->type == NC_DOUBLE;
    double a[2], b[2];
    for (int i = 0; i < m->nmissing; i++) {
        if (memcmp(m->missing[i], value, pnc_type_get_size(m->type)) == 0)
            return i;
        if (!real)
            continue;
        tool_number_load(m->type, m->missing[i], a);
        tool_number_load(m->type, value, b);
        if (a[0] == b[0] || (isnan(a[0]) && isnan(b[0])))
            return i;
    }
    return -1;
}

bool tool_longitude_is_unit(const char *units)
{
    static const char *const names[] = {"degrees_east", "degree_east", "degree_E", "degrees_E", "degreeE", "degreesE"};
    bool found = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        found = found || strcmp(units, names[i]) == 0;
    return found;
}

/* --- texts --- */

const char *tool_value_explain(int type, const void *value, char out[TOOL_MEANING_TEXT])
{
    const cdl_type *cdl = tool_cdl_type_find(type);
    cdl_value number = tool_cdl_value_load(cdl, value);
    char text[CDL_NUMBER_SIZE];
    if (cdl->class == CDL_TEXT)
        snprintf(out, TOOL_MEANING_TEXT, "'%c'", (char)number.i);
    else if (cdl->class == CDL_SIGNED)
        snprintf(out, TOOL_MEANING_TEXT, "%lld", number.i);
    else if (cdl->class == CDL_UNSIGNED)
        snprintf(out, TOOL_MEANING_TEXT, "%llu", number.u);
    else if (isfinite(number.r))
        snprintf(out, TOOL_MEANING_TEXT, "%s", tool_real_format(type, number.r, text));
    else if (isnan(number.r))
        snprintf(out, TOOL_MEANING_TEXT, "NaN");
    else
        snprintf(out, TOOL_MEANING_TEXT, "%sinfinity", number.r > 0 ? "" : "-");
    return out;
}

enum { TEXT_SHOWN = 60 };

static void explain_text(const char *text, int64_t n, char out[TOOL_MEANING_TEXT])
{
    int length = n < TEXT_SHOWN ? (int)n : TEXT_SHOWN;
    snprintf(out, TOOL_MEANING_TEXT, "\"%.*s%s\"", length, text, length < n ? "..." : "");
}

const char *tool_string_explain(const char *text, char out[TOOL_MEANING_TEXT])
{
    if (text != NULL)
        explain_text(text, (int64_t)strlen(text), out);
    else
        snprintf(out, TOOL_MEANING_TEXT, "NIL");
    return out;
}

const char *tool_attribute_explain(const pnc_att *att, char out[TOOL_MEANING_TEXT])
{
    enum { NUMBERS_SHOWN = 3 };
    size_t used = 0;
    if (att == NULL || att->len == 0) {
        snprintf(out, TOOL_MEANING_TEXT, "%s", att == NULL ? "missing" : "empty");
    } else if (att->type == NC_CHAR) {
        explain_text(att->value, att->len, out);
    } else {
        for (int64_t i = 0; i < att->len && i < NUMBERS_SHOWN && used < TOOL_MEANING_TEXT; i++) {
            char text[TOOL_MEANING_TEXT];
            unsigned char value[8];
            load_element(att, i, value);
            used += (size_t)snprintf(out + used, TOOL_MEANING_TEXT - used, "%s%s", i > 0 ? ", " : "",
                                     tool_value_explain(att->type, value, text));
        }
        if (att->len > NUMBERS_SHOWN && used < TOOL_MEANING_TEXT)
            snprintf(out + used, TOOL_MEANING_TEXT - used, ", ...");
    }
    return out;
}
