#include "tools/common/adaptation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/types.h"

static bool contains(const tool_meaning *m, const tool_meaning *other)
{
    for (int i = 0; i < other->nmissing; i++)
        if (tool_meaning_find(m, other->missing[i]) < 0)
            return false;
    return true;
}

void tool_adaptation_init(const tool_meaning *from, const tool_meaning *to, tool_adaptation *a)
{
    *a = (tool_adaptation){.from = *from, .to = *to};
    a->missing = !contains(from, to) || !contains(to, from);
    a->packing = from->scale != to->scale || from->offset != to->offset;
    a->valid = from->least != to->least || from->most != to->most;
    if (a->packing)
        a->linear = (tool_linear){from->scale, {from->offset, -to->offset, 0}, to->scale};
}

bool tool_adaptation_is_needed(const tool_adaptation *a)
{
    return a->missing || a->packing || a->time || a->valid;
}

static bool is_valid(const tool_meaning *m, const void *value)
{
    double parts[2], number;
    tool_number_load(m->type, value, parts);
    number = parts[0] + parts[1];
    return !(number < m->least || number > m->most);
}

/* A value that is missing in one file becomes one that is missing in the other: _FillValue that of _FillValue, if there
 * is one; a missing_value the same value, or the first missing_value. */
static tool_fault_cause replace_missing(const tool_adaptation *a, int which, void *value)
{
    const tool_meaning *to = &a->to;
    bool is_fill = a->from.has_fill && which == 0;
    if (to->nmissing == 0)
        return TOOL_FAULT_MISSING;
    if (!is_fill && tool_meaning_find(to, value) >= 0)
        return TOOL_FAULT_NONE;
    int choice = !is_fill && to->has_fill && to->nmissing > 1 ? 1 : 0;
    memcpy(value, to->missing[choice], pnc_type_get_size(to->type));
    return TOOL_FAULT_NONE;
}

static tool_fault_cause convert_one(const tool_adaptation *a, void *value, unsigned char result[8])
{
    size_t size = pnc_type_get_size(a->from.type);
    int which = tool_meaning_find(&a->from, value);
    memcpy(result, value, size);
    if (which >= 0)
        return replace_missing(a, which, value);
    if (a->packing || a->time) {
        switch (tool_linear_compute(&a->linear, a->from.type, value, a->time, result)) {
        case TOOL_LINEAR_TOO_LARGE: return TOOL_FAULT_RANGE;
        case TOOL_LINEAR_INEXACT: return TOOL_FAULT_INEXACT;
        default: break;
        }
    }
    if (tool_meaning_find(&a->to, result) >= 0)
        return TOOL_FAULT_COLLISION;
    if (is_valid(&a->from, value) != is_valid(&a->to, result))
        return TOOL_FAULT_VALID;
    memcpy(value, result, size);
    return TOOL_FAULT_NONE;
}

bool tool_adaptation_convert(const tool_adaptation *a, void *values, int64_t n, tool_fault *fault)
{
    char *value = values;
    size_t size = pnc_type_get_size(a->from.type);
    *fault = (tool_fault){.cause = TOOL_FAULT_NONE};
    for (int64_t i = 0; i < n; i++, value += size) {
        fault->cause = convert_one(a, value, fault->result);
        if (fault->cause == TOOL_FAULT_NONE)
            continue;
        fault->at = i;
        memcpy(fault->value, value, size);
        return false;
    }
    return true;
}

void tool_fault_explain(const tool_fault *fault, const tool_adaptation *a, char *text, size_t capacity)
{
    char value[TOOL_MEANING_TEXT], result[TOOL_MEANING_TEXT];
    const char *type = pnc_type_get_name(a->from.type);
    tool_value_explain(a->from.type, fault->value, value);
    tool_value_explain(a->from.type, fault->result, result);
    switch (fault->cause) {
    case TOOL_FAULT_RANGE:
        snprintf(text, capacity, "value %s is out of the range of type %s with the %s of the first file", value, type,
                 a->time ? "units" : "scale_factor and add_offset");
        break;
    case TOOL_FAULT_INEXACT:
        snprintf(text, capacity,
                 "time %s is not an integer in \"%s\", and the variable has type %s: convert all files by ncmpicopy -t "
                 "VARIABLE:double first",
                 value, a->to.units, type);
        break;
    case TOOL_FAULT_MISSING:
        snprintf(text, capacity, "value %s is missing, but the variable has no missing value in the first file", value);
        break;
    case TOOL_FAULT_COLLISION:
        snprintf(text, capacity, "value %s would become %s, a missing value in the first file", value, result);
        break;
    default:
        snprintf(text, capacity,
                 "value %s would become %s, and only one of them is in the range of its valid_min, "
                 "valid_max or valid_range",
                 value, result);
    }
}
