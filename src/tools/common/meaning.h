/* What gives the numbers of a variable their meaning: the attributes of the conventions (CF 2.5.1, 3.1, 4.4, 7.1, 8.1;
 * netCDF User's Guide, Attribute Conventions). */
#ifndef PNC_TOOLS_COMMON_MEANING_H
#define PNC_TOOLS_COMMON_MEANING_H

#include "format/model.h"
#include "tools/common/calendar.h"

enum { TOOL_MISSING_MOST = 8, TOOL_MEANING_TEXT = 128 };

typedef struct tool_meaning {
    int type;
    bool has_fill; /* a value that is missing: the first one below is _FillValue, or the default of the type */
    int nmissing;  /* others come from missing_value */
    unsigned char missing[TOOL_MISSING_MOST][8]; /* in the memory type that belongs to the type */
    double scale, offset;
    double least, most; /* valid_min, valid_max, valid_range; infinities without them */
    char units[TOOL_MEANING_TEXT], calendar[TOOL_MEANING_TEXT]; /* empty without them; not cut: see below */
    bool has_clock;
    cal_clock clock;
} tool_meaning;

/* Of each variable of a file. */
typedef struct tool_relations {
    int *parent;      /* the variable that it is the bounds of, or -1 */
    bool *coordinate; /* other variables cannot be understood without it */
    bool *mapping;    /* it is a grid mapping: its attributes are the data */
} tool_relations;

/* NC_NOERR or NC_ENOMEM; may be freed in any case. */
int tool_relations_init(const pnc_model *model, tool_relations *relations);
void tool_relations_free(tool_relations *relations);

/* Texts that are too long are left empty, and more missing values than there is space for are left out: attributes must
 * be compared too. Bounds of a variable that have no units have its units and calendar. */
void tool_meaning_load(const pnc_model *model, const tool_relations *relations, int varid, tool_meaning *meaning);

/* Whether a value (in memory type) is missing: its number in meaning->missing, or -1. */
int tool_meaning_find(const tool_meaning *meaning, const void *value);

/* Whether units are those of longitudes, in a spelling of CF conventions 4.2. */
bool tool_longitude_is_unit(const char *units);

/* An attribute of a variable, units and calendar perhaps of the variable that it is the bounds of, or NULL. */
const pnc_att *tool_attribute_find(const pnc_model *model, const tool_relations *relations, int varid,
                                   const char *name);
/* A quoted text, or the first numbers; "missing" for NULL. Returns out. */
const char *tool_attribute_explain(const pnc_att *att, char out[TOOL_MEANING_TEXT]);
/* A value in the memory type of an external type. Returns out. */
/* An excerpt in quotes, or NIL. */
const char *tool_string_explain(const char *text, char out[TOOL_MEANING_TEXT]);
const char *tool_value_explain(int type, const void *value, char out[TOOL_MEANING_TEXT]);

#endif
