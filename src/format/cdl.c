/* The grammar of CDL, one function for each construct.
 *
 * Beyond what the dumping tools print it takes what people write by hand: several dimensions or variables between
 * commas, a type before an attribute, values of several types in one attribute. */
#define _GNU_SOURCE /* some C libraries keep newlocale from plain C99 */
#include "format/cdl.h"

#include <limits.h>
#include <locale.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "format/cdl_parts.h"
#include "format/layout.h"

typedef enum cdl_section { NOWHERE, DIMENSIONS, VARIABLES, DATA } cdl_section;

typedef struct cdl_parser {
    pnc_cdl_scan scan;
    pnc_model *model;
    int *dimids; /* of the variable that is being read */
    int dimids_room;
} cdl_parser;

/* The values of an attribute, as a first reading finds them; the second one stores them. */
typedef struct cdl_values {
    int type;      /* the one wanted, or what all values share; 0 while there is none */
    bool wanted;
    bool text;     /* strings, which become one */
    int64_t count; /* elements */
} cdl_values;

/* The model refused what stands at a place: its message, with the place. */
static int refused(cdl_parser *p, int64_t at, const pnc_error *why)
{
    return why->code == NC_NOERR ? NC_NOERR : pnc_cdl_fail(&p->scan, at, why->code, "%s", why->text);
}

static int no_memory(cdl_parser *p)
{
    return pnc_cdl_fail(&p->scan, p->scan.begin, NC_ENOMEM, "no memory for what is defined so far");
}

static int type_of_name(const char *name)
{
    static const struct { const char *name; int type; } synonyms[] = {
        {"integer", NC_INT}, {"long", NC_INT}, {"real", NC_FLOAT},
    };

    for (int type = NC_BYTE; type <= NC_UINT64; type++)
        if (strcmp(name, pnc_type_name(type)) == 0)
            return type;
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
        if (strcmp(name, synonyms[i].name) == 0)
            return synonyms[i].type;
    return 0;
}

/* Keep the name that is the current token, and go on. */
static int take_name(cdl_parser *p, const char *what, char *name)
{
    if (p->scan.kind != PNC_CDL_NAME)
        return pnc_cdl_expected(&p->scan, what);
    memcpy(name, p->scan.name, sizeof p->scan.name);
    return pnc_cdl_next(&p->scan);
}

/* --- dimensions --- */

static int read_length(cdl_parser *p, int64_t *len)
{
    pnc_cdl_number number;
    int code;

    if (p->scan.kind == PNC_CDL_NAME && strcasecmp(p->scan.name, "UNLIMITED") == 0) {
        *len = NC_UNLIMITED;
        return pnc_cdl_next(&p->scan);
    }
    if (p->scan.kind != PNC_CDL_NUMBER)
        return pnc_cdl_expected(&p->scan, "a length or UNLIMITED");
    code = pnc_cdl_number_read(&p->scan, &number);
    if (code != NC_NOERR)
        return code;
    if (number.real || number.negative || number.magnitude == 0 || number.magnitude > INT64_MAX)
        return pnc_cdl_fail(&p->scan, p->scan.begin, NC_EDIMSIZE,
                            "the length of a dimension is a positive integer, or UNLIMITED");
    *len = (int64_t)number.magnitude;
    return pnc_cdl_next(&p->scan);
}

/* name = length [, name = length]... ;  The first name, at byte at, is read already. */
static int read_dimensions(cdl_parser *p, char *name, int64_t at)
{
    for (;;) {
        pnc_error why = {0};
        int64_t len = 0;
        int code = pnc_cdl_pass(&p->scan, '=');
        if (code == NC_NOERR)
            code = read_length(p, &len);
        if (code != NC_NOERR)
            return code;
        pnc_model_add_dim(p->model, name, len, NULL, &why);
        code = refused(p, at, &why);
        if (code != NC_NOERR || !pnc_cdl_is(&p->scan, ','))
            return code != NC_NOERR ? code : pnc_cdl_pass(&p->scan, ';');
        code = pnc_cdl_next(&p->scan);
        at = p->scan.begin;
        if (code == NC_NOERR)
            code = take_name(p, "the name of a dimension", name);
        if (code != NC_NOERR)
            return code;
    }
}

/* --- variables --- */

static int keep_dimid(cdl_parser *p, int n, int dimid)
{
    if (n == p->dimids_room) {
        int room = n < 8 ? 8 : n > INT_MAX / 2 ? INT_MAX : n * 2;
        int *grown = n == INT_MAX ? NULL : pnc_resize(p->dimids, room, sizeof *grown);
        if (grown == NULL)
            return no_memory(p);
        p->dimids = grown;
        p->dimids_room = room;
    }
    p->dimids[n] = dimid;
    return NC_NOERR;
}

/* (name [, name]...)  or nothing for a scalar */
static int read_shape(cdl_parser *p, int *ndims)
{
    int code, dimid;

    *ndims = 0;
    if (!pnc_cdl_is(&p->scan, '('))
        return NC_NOERR;
    do {
        code = pnc_cdl_next(&p->scan);
        if (code != NC_NOERR)
            return code;
        if (p->scan.kind != PNC_CDL_NAME)
            return pnc_cdl_expected(&p->scan, "the name of a dimension");
        dimid = pnc_model_find_dim(p->model, p->scan.name);
        if (dimid < 0)
            return pnc_cdl_fail(&p->scan, p->scan.begin, NC_EBADDIM, "no dimension \"%s\" is defined above",
                                p->scan.name);
        code = keep_dimid(p, *ndims, dimid);
        if (code == NC_NOERR)
            code = pnc_cdl_next(&p->scan);
        if (code != NC_NOERR)
            return code;
        (*ndims)++;
    } while (pnc_cdl_is(&p->scan, ','));
    return pnc_cdl_pass(&p->scan, ')');
}

/* type name[(dimensions)] [, name[(dimensions)]]... ;  Type and first name, at byte at, are read already. */
static int read_variables(cdl_parser *p, int type, char *name, int64_t at)
{
    for (;;) {
        pnc_error why = {0};
        int ndims, code = read_shape(p, &ndims);
        if (code != NC_NOERR)
            return code;
        pnc_model_add_var(p->model, name, type, ndims, p->dimids, NULL, &why);
        code = refused(p, at, &why);
        if (code != NC_NOERR || !pnc_cdl_is(&p->scan, ','))
            return code != NC_NOERR ? code : pnc_cdl_pass(&p->scan, ';');
        code = pnc_cdl_next(&p->scan);
        at = p->scan.begin;
        if (code == NC_NOERR)
            code = take_name(p, "the name of a variable", name);
        if (code != NC_NOERR)
            return code;
    }
}

/* --- attributes --- */

/* Count the value that is the current token, and learn its type. */
static int survey_value(cdl_parser *p, cdl_values *values, bool first)
{
    bool text = p->scan.kind == PNC_CDL_STRING || (p->scan.kind == PNC_CDL_CHARACTER && values->type == NC_CHAR);
    pnc_cdl_number number;
    int64_t n = 1;
    int code = text ? pnc_cdl_text(&p->scan, NULL, &n) : pnc_cdl_number_read(&p->scan, &number);

    if (code != NC_NOERR)
        return code;
    if (!first && text != values->text)
        return pnc_cdl_fail(&p->scan, p->scan.begin, NC_ECHAR, "an attribute holds either text or numbers, not both");
    if (values->wanted && text != (values->type == NC_CHAR) && n > 0)
        return pnc_cdl_fail(&p->scan, p->scan.begin, NC_ECHAR, "type %s does not hold %s", pnc_type_name(values->type),
                            text ? "text" : "numbers");
    if (!values->wanted)
        values->type = text ? NC_CHAR : first ? number.type : pnc_cdl_number_join(values->type, number.type);
    values->text = text;
    values->count += n;
    return NC_NOERR;
}

/* value [, value]... or nothing, which is an empty text. Stops before the semicolon. */
static int survey_values(cdl_parser *p, cdl_values *values)
{
    int code;

    if (pnc_cdl_is(&p->scan, ';')) {
        values->text = true;
        values->type = values->wanted ? values->type : NC_CHAR;
        return NC_NOERR;
    }
    for (bool first = true;; first = false) {
        code = survey_value(p, values, first);
        if (code == NC_NOERR)
            code = pnc_cdl_next(&p->scan);
        if (code != NC_NOERR || !pnc_cdl_is(&p->scan, ','))
            return code;
        code = pnc_cdl_next(&p->scan);
        if (code != NC_NOERR)
            return code;
    }
}

/* External bytes of what survey_values saw; scan is back at the first value. The tokens are sound by now. */
static int store_values(pnc_cdl_scan *scan, const cdl_values *values, char *out)
{
    int64_t n, size = (int64_t)pnc_type_size(values->type);
    int code;

    while (!pnc_cdl_is(scan, ';')) {
        pnc_cdl_number number;
        if (values->text) {
            code = pnc_cdl_text(scan, out, &n);
            out += n;
        } else {
            code = pnc_cdl_number_read(scan, &number);
            if (code == NC_NOERR)
                code = pnc_cdl_number_store(scan, &number, values->type, out);
            out += size;
        }
        if (code == NC_NOERR)
            code = pnc_cdl_next(scan);
        if (code == NC_NOERR && pnc_cdl_is(scan, ','))
            code = pnc_cdl_next(scan);
        if (code != NC_NOERR)
            return code;
    }
    return NC_NOERR;
}

/* Put the attribute whose values begin with the current token, and go behind the semicolon. */
static int read_values(cdl_parser *p, int varid, const char *name, int64_t at, cdl_values *values)
{
    pnc_cdl_scan scan = p->scan;
    pnc_error why = {0};
    char *bytes;
    int code = survey_values(p, values);

    if (code == NC_NOERR && !pnc_cdl_is(&p->scan, ';'))
        code = pnc_cdl_expected(&p->scan, "',' or ';'");
    if (code != NC_NOERR)
        return code;
    if (!pnc_type_valid(values->type, p->model->format))
        return pnc_cdl_fail(&p->scan, at, NC_ESTRICTCDF2, "attribute \"%s\" is of type %s, which exists in CDF-5 only, "
                            "and the file format is CDF-%d", name, pnc_type_name(values->type), p->model->format);
    bytes = pnc_zalloc(values->count + 1, pnc_type_size(values->type));
    if (bytes == NULL)
        return no_memory(p);
    code = store_values(&scan, values, bytes);
    /* The dumping tools drop null characters at the end of a text: this one was the fill value. */
    if (varid != NC_GLOBAL && p->model->vars[varid]->type == NC_CHAR && strcmp(name, "_FillValue") == 0 &&
        values->type == NC_CHAR && values->count == 0)
        values->count = 1;
    if (code == NC_NOERR) {
        pnc_atts_put(pnc_model_atts(p->model, varid), name, values->type, values->count, bytes, &why);
        code = refused(p, at, &why);
    }
    pnc_free(bytes);
    return code != NC_NOERR ? code : pnc_cdl_next(&p->scan);
}

/* : name = values ;  The colon is the current token. type: written before the attribute, or 0. */
static int read_attribute(cdl_parser *p, int varid, int type)
{
    char name[sizeof p->scan.name];
    cdl_values values = {0};
    int64_t at;
    int code = pnc_cdl_pass(&p->scan, ':');

    at = p->scan.begin;
    if (code == NC_NOERR)
        code = take_name(p, "the name of an attribute", name);
    if (code == NC_NOERR)
        code = pnc_cdl_pass(&p->scan, '=');
    if (code != NC_NOERR)
        return code;
    values.type = type;
    values.wanted = type != 0;
    return read_values(p, varid, name, at, &values);
}

/* --- statements and sections --- */

static int unknown_type(cdl_parser *p, int64_t at, const char *name)
{
    return pnc_cdl_fail(&p->scan, at, NC_EBADTYPE, "\"%s\" is no type of the classic formats, which are byte, char, "
                        "short, int, float, double, ubyte, ushort, uint, int64, uint64", name);
}

static int unknown_var(cdl_parser *p, int64_t at, const char *name)
{
    return pnc_cdl_fail(&p->scan, at, NC_ENOTVAR, "no variable \"%s\" is defined above", name);
}

/* type name...: variables, or an attribute with a type of its own. The type, at byte at, is read already. */
static int read_typed(cdl_parser *p, cdl_section section, const char *type_name, int64_t at)
{
    char name[sizeof p->scan.name];
    int64_t name_at = p->scan.begin;
    int code, varid, type = type_of_name(type_name);

    if (type == 0)
        return unknown_type(p, at, type_name);
    code = take_name(p, "the name of a variable", name);
    if (code != NC_NOERR)
        return code;
    if (pnc_cdl_is(&p->scan, ':')) {
        varid = pnc_model_find_var(p->model, name);
        return varid < 0 ? unknown_var(p, name_at, name) : read_attribute(p, varid, type);
    }
    if (section != VARIABLES)
        return pnc_cdl_fail(&p->scan, at, NC_ENOTNC, "a variable is defined, but no \"variables:\" stands above");
    return read_variables(p, type, name, name_at);
}

static int read_statement(cdl_parser *p, cdl_section section)
{
    char name[sizeof p->scan.name];
    int64_t at = p->scan.begin;
    int code, varid;

    if (pnc_cdl_is(&p->scan, ':'))
        return read_attribute(p, NC_GLOBAL, 0);
    code = take_name(p, "a definition or '}'", name);
    if (code != NC_NOERR)
        return code;
    if (p->scan.kind == PNC_CDL_NAME)
        return read_typed(p, section, name, at);
    if (pnc_cdl_is(&p->scan, ':')) {
        varid = pnc_model_find_var(p->model, name);
        if (varid >= 0)
            return read_attribute(p, varid, 0);
        if (type_of_name(name) != 0)
            return read_attribute(p, NC_GLOBAL, type_of_name(name));
        return strcmp(name, "string") == 0 ? unknown_type(p, at, name) : unknown_var(p, at, name);
    }
    if (section == DIMENSIONS)
        return read_dimensions(p, name, at);
    if (pnc_cdl_is(&p->scan, '='))
        return pnc_cdl_fail(&p->scan, at, NC_ENOTNC, "a dimension is defined, but no \"dimensions:\" stands above");
    return pnc_cdl_expected(&p->scan, type_of_name(name) != 0 ? "the name of a variable" : "':' and an attribute");
}

/* A section begins with its word and a colon at once: the tools write the attributes of a variable of such a name with
 * a space before the colon. Otherwise *section stays as it is. */
static int read_section(cdl_parser *p, cdl_section *section)
{
    static const struct { const char *word; cdl_section section; } rows[] = {
        {"dimensions", DIMENSIONS}, {"variables", VARIABLES}, {"data", DATA}, {"types", NOWHERE}, {"group", NOWHERE},
    };
    const pnc_cdl_scan *scan = &p->scan;

    if (scan->kind != PNC_CDL_NAME || scan->escaped || scan->end == scan->size || scan->text[scan->end] != ':')
        return NC_NOERR;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int code;
        if (strcmp(scan->name, rows[i].word) != 0)
            continue;
        if (rows[i].section == NOWHERE)
            return pnc_cdl_fail(scan, scan->begin, NC_ENOTNC, "\"%s:\" is of netCDF-4: the classic formats have "
                                "dimensions, variables and attributes", scan->name);
        *section = rows[i].section;
        code = pnc_cdl_next(&p->scan);
        return code != NC_NOERR ? code : pnc_cdl_pass(&p->scan, ':');
    }
    return NC_NOERR;
}

static int read_body(cdl_parser *p)
{
    cdl_section section = NOWHERE;
    int code = NC_NOERR;

    while (code == NC_NOERR && !pnc_cdl_is(&p->scan, '}')) {
        int64_t at = p->scan.begin;
        code = read_section(p, &section);
        if (section == DATA)
            return code;
        if (code == NC_NOERR && p->scan.begin == at)
            code = read_statement(p, section);
    }
    if (code == NC_NOERR)
        code = pnc_cdl_next(&p->scan);
    if (code == NC_NOERR && p->scan.kind != PNC_CDL_END)
        code = pnc_cdl_expected(&p->scan, "the end of the text");
    return code;
}

/* --- the whole --- */

static bool format_holds(pnc_model *model, int format)
{
    model->format = format;
    for (int i = 0; i < model->ndims; i++)
        if (model->dims[i]->len > pnc_model_longest_dim(format))
            return false;
    for (int v = NC_GLOBAL; v < model->nvars; v++) {
        const pnc_atts *atts = pnc_model_atts(model, v);
        for (int i = 0; i < atts->n; i++)
            if (!pnc_type_valid(atts->at[i]->type, format))
                return false;
        if (v != NC_GLOBAL && !pnc_type_valid(model->vars[v]->type, format))
            return false;
    }
    return pnc_layout(model, NULL, NULL, NULL) == NC_NOERR;
}

/* Without a word about the format. What not even CDF-5 can hold is for the one who creates a file from it to find. */
static void choose_format(pnc_model *model)
{
    if (!format_holds(model, NC_FORMAT_CLASSIC) && !format_holds(model, NC_FORMAT_CDF2))
        model->format = NC_FORMAT_CDF5;
}

/* netcdf name { ... }  The name is not looked at: not all tools escape it. */
static int read_all(cdl_parser *p)
{
    int named, code = pnc_cdl_next(&p->scan);

    if (code == NC_NOERR && (p->scan.kind != PNC_CDL_NAME || strcmp(p->scan.name, "netcdf") != 0))
        code = pnc_cdl_expected(&p->scan, "the word \"netcdf\" of a CDL text");
    if (code == NC_NOERR)
        code = pnc_cdl_seek_brace(&p->scan);
    if (code == NC_NOERR)
        code = pnc_cdl_next(&p->scan);
    if (code != NC_NOERR)
        return code;
    named = p->scan.format; /* later comments do not count */
    p->model->format = named != 0 ? named : NC_FORMAT_CDF5;
    code = read_body(p);
    if (code == NC_NOERR && named == 0)
        choose_format(p->model);
    return code;
}

int pnc_cdl_parse(const char *text, int64_t size, pnc_model *model, pnc_error *error)
{
    cdl_parser p = {.scan = {.text = text, .size = size, .error = error}, .model = model};
    locale_t plain, users;
    int code = pnc_model_init(model, NC_FORMAT_CDF5, error);

    if (code != NC_NOERR)
        return code;
    /* strtod takes the decimal mark of the program's locale, and CDL has a point. */
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0)
        return pnc_fail(error, NC_ENOMEM, "no memory to read CDL");
    users = uselocale(plain);
    code = read_all(&p);
    uselocale(users);
    freelocale(plain);
    pnc_free(p.dimids);
    if (code != NC_NOERR)
        pnc_model_free(model);
    return code;
}
