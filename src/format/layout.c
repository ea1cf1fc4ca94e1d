/* Offsets of variables: fixed-size variables in order of definition, then the records, each with its part of every
 * record variable. */
#include "format/layout.h"

#include <assert.h>
#include <inttypes.h>

#include "base/memory.h"
#include "base/minmax.h"
#include "format/codec.h"

/* Round x up to a multiple of `align`; -1 if that exceeds 64 bits. */
static int round_up(int64_t x, int64_t align, int64_t *out)
{
    int64_t rest = x % align;

    assert(x >= 0 && align > 0);
    return rest == 0 ? pnc_size_add(x, 0, out) : pnc_size_add(x, align - rest, out);
}

/* The given alignment, or the default, as a multiple of 4. */
static int64_t choose_alignment(int64_t given, int64_t fallback)
{
    int64_t align = given > 0 ? given : fallback;

    return align > INT64_MAX - 3 ? INT64_MAX - 3 : (align + 3) & ~(int64_t)3;
}

static int64_t given_or_zero(int64_t given)
{
    return given > 0 ? given : 0;
}

int64_t pnc_format_var_get_padded_size(const pnc_model *model, const pnc_var *var)
{
    /* "In the special case of only a single record variable of character, byte, or short type, no padding is used
     * between data values" */
    if ((model->nrecvars == 1 && var->is_record) || var->size > INT64_MAX - 3)
        return var->size;
    return pnc_format_size_get_padded(var->size);
}

static int set_fixed_offsets(pnc_model *model, const pnc_model *before, int64_t align, int64_t *pos)
{
    bool first = true;

    for (int i = 0; i < model->nvars; i++) {
        pnc_var *var = model->vars[i];
        if (var->is_record)
            continue;
        if (before != NULL && i < before->nvars)
            *pos = pnc_max64(*pos, before->vars[i]->classic.begin);
        if (round_up(*pos, first ? align : 4, pos) < 0)
            return i;
        var->classic.begin = *pos;
        assert(var->classic.begin >= model->classic.header_size && var->classic.begin % 4 == 0);
        if (first)
            model->classic.header_extent = var->classic.begin;
        first = false;
        if (pnc_size_add(*pos, pnc_format_var_get_padded_size(model, var), pos) < 0)
            return i;
    }
    return -1;
}

static int set_record_offsets(pnc_model *model, int64_t pos)
{
    model->classic.recsize = 0;
    for (int i = 0; i < model->nvars; i++) {
        pnc_var *var = model->vars[i];
        if (!var->is_record)
            continue;
        var->classic.begin = pos;
        assert(pos >= model->classic.begin_rec);
        if (pnc_size_add(pos, pnc_format_var_get_padded_size(model, var), &pos) < 0)
            return i;
        model->classic.recsize += pnc_format_var_get_padded_size(model, var);
    }
    return -1;
}

/* Whether the records that the file has reach beyond the last offset. */
static bool has_too_many_records(const pnc_model *model)
{
    int64_t bytes, end;

    return pnc_size_multiply(model->numrecs, model->classic.recsize, &bytes) < 0 ||
           pnc_size_add(model->classic.begin_rec, bytes, &end) < 0 || pnc_size_add(end, 3, &end) < 0;
}

static int fail_too_far(const pnc_model *model, int varid, pnc_error *error)
{
    if (varid < 0)
        return pnc_error_set(error, NC_EVARSIZE,
                             "the given free space or alignment ends beyond byte 2^63 of the "
                             "file");
    return pnc_error_set(error, NC_EVARSIZE,
                         "variable \"%s\" would reach beyond byte 2^63 of the file: shorten its dimensions",
                         model->vars[varid]->name);
}

int64_t pnc_format_layout_get_max_size(int format)
{
    switch (format) {
    case 1: return INT32_MAX - 3;
    case 2: return (int64_t)UINT32_MAX - 3;
    default: return INT64_MAX;
    }
}

int pnc_format_layout_find_too_large(const pnc_model *model)
{
    int last = model->nvars - 1;

    while (last >= 0 && model->nrecvars > 0 && !model->vars[last]->is_record)
        last--;
    for (int i = 0; i < model->nvars; i++)
        if (model->vars[i]->size > pnc_format_layout_get_max_size(model->format) && i != last)
            return i;
    return -1;
}

/* The limits of the format; begin is a signed 32-bit offset in CDF-1. */
static int check_limits(const pnc_model *model, pnc_error *error)
{
    int large = pnc_format_layout_find_too_large(model);

    if (has_too_many_records(model))
        return pnc_error_set(error, NC_EVARSIZE,
                             "%" PRId64 " records of %" PRId64 " bytes would reach beyond byte 2^63 of the file",
                             model->numrecs, model->classic.recsize);
    if (large >= 0)
        return pnc_error_set(error, NC_EVARSIZE,
                             "variable \"%s\" has %" PRId64 " bytes%s; CDF-%d allows %" PRId64
                             " to all variables but the last one in the file: create the file with NC_64BIT_DATA",
                             model->vars[large]->name, model->vars[large]->size,
                             model->vars[large]->is_record ? " a record" : "", model->format,
                             pnc_format_layout_get_max_size(model->format));
    for (int i = 0; model->format == 1 && i < model->nvars; i++)
        if (model->vars[i]->classic.begin > INT32_MAX)
            return pnc_error_set(error, NC_EVARSIZE,
                                 "variable \"%s\" would begin at byte %" PRId64
                                 "; CDF-1 offsets "
                                 "end at %d: create the file with NC_64BIT_OFFSET or NC_64BIT_DATA",
                                 model->vars[i]->name, model->vars[i]->classic.begin, INT32_MAX);
    return NC_NOERR;
}

int pnc_format_layout_compute(pnc_model *model, const pnc_model *before, const pnc_layout_hints *hints,
                              pnc_error *error)
{
    static const pnc_layout_hints none = {-1, -1, -1, -1};
    bool fixed = model->nvars > model->nrecvars;
    int64_t pos, v_align, r_align;
    int bad;

    if (hints == NULL)
        hints = &none;
    v_align = choose_alignment(hints->v_align, PNC_DEFAULT_ALIGN);
    r_align = choose_alignment(hints->r_align, fixed ? 4 : PNC_DEFAULT_ALIGN);
    model->classic.header_size = pnc_format_header_get_size(model);
    if (pnc_size_add(model->classic.header_size, given_or_zero(hints->h_minfree), &pos) < 0)
        return fail_too_far(model, -1, error);
    if (fixed && before != NULL && before->nvars > 0) /* also if only records were there (measured) */
        pos = pnc_max64(pos, before->classic.header_extent);
    if (before != NULL && before->nvars == 0) /* fill values must not overwrite a longer header, still in the file */
        pos = pnc_max64(pos, before->classic.header_size);
    bad = set_fixed_offsets(model, before, v_align, &pos);
    if (bad >= 0)
        return fail_too_far(model, bad, error);
    if (fixed && pnc_size_add(pos, given_or_zero(hints->v_minfree), &pos) < 0)
        return fail_too_far(model, -1, error);
    if (before != NULL && before->nrecvars > 0)
        pos = pnc_max64(pos, before->classic.begin_rec);
    if (round_up(pos, r_align, &model->classic.begin_rec) < 0)
        return fail_too_far(model, -1, error);
    bad = set_record_offsets(model, model->classic.begin_rec);
    if (bad >= 0)
        return fail_too_far(model, bad, error);
    if (!fixed)
        model->classic.header_extent = model->nrecvars > 0 ? model->classic.begin_rec : model->classic.header_size;
    assert(model->classic.header_size <= model->classic.header_extent &&
           model->classic.header_extent <= model->classic.begin_rec);
    return check_limits(model, error);
}

/* Of all fixed-size variables and one record; INT64_MAX if that exceeds 64 bits. */
static int64_t get_data_size(const pnc_model *model)
{
    int64_t size = 0;

    for (int i = 0; i < model->nvars; i++)
        if (pnc_size_add(size, pnc_format_var_get_padded_size(model, model->vars[i]), &size) < 0)
            return INT64_MAX;
    return size;
}

static int64_t choose_reserve(const pnc_model *model, const pnc_layout_hints *hints)
{
    bool fixed = model->nvars > model->nrecvars;
    int64_t alignment = fixed ? hints->v_align : hints->r_align;

    if (hints->h_minfree >= 0 || alignment > 0 || get_data_size(model) < PNC_RESERVE_LEAST_DATA)
        return given_or_zero(hints->h_minfree);
    return pnc_max64(PNC_RESERVE_LEAST, pnc_format_header_get_size(model) / PNC_RESERVE_DIVISOR);
}

int pnc_format_layout_compute_new(pnc_model *model, pnc_layout_hints *hints, pnc_error *error)
{
    pnc_layout_hints spacious = *hints;

    spacious.h_minfree = choose_reserve(model, hints);
    if (spacious.h_minfree != hints->h_minfree && pnc_format_layout_compute(model, NULL, &spacious, NULL) == NC_NOERR) {
        hints->h_minfree = spacious.h_minfree;
        return NC_NOERR;
    }
    hints->h_minfree = given_or_zero(hints->h_minfree);
    return pnc_format_layout_compute(model, NULL, hints, error);
}

/* Bytes of data that begin elsewhere than before; INT64_MAX if that exceeds 64 bits. */
static int64_t get_moved_size(const pnc_model *model, const pnc_model *before)
{
    int64_t size = 0;

    if (model->classic.begin_rec != before->classic.begin_rec)
        size = before->numrecs * before->classic.recsize;
    for (int i = 0; i < before->nvars; i++)
        if (!before->vars[i]->is_record && model->vars[i]->classic.begin != before->vars[i]->classic.begin &&
            pnc_size_add(size, before->vars[i]->size, &size) < 0)
            return INT64_MAX;
    return size;
}

/* Free space before the first data that move, if fixed-size variables do; otherwise before the records. What the
 * alignment leaves after the header is not part of it. */
static void set_space(const pnc_model *model, const pnc_model *before, int64_t moved, pnc_layout_hints *hints)
{
    int64_t space = moved / PNC_MOVE_DIVISOR < PNC_MOVE_MOST_SPACE ? moved / PNC_MOVE_DIVISOR : PNC_MOVE_MOST_SPACE;

    if (model->classic.header_extent != before->classic.header_extent)
        hints->h_minfree = model->classic.header_extent - model->classic.header_size + space;
    else
        hints->v_minfree = space;
}

static bool are_given(const pnc_layout_hints *hints)
{
    return hints->h_minfree >= 0 || hints->v_minfree >= 0 || hints->v_align > 0 || hints->r_align > 0;
}

int pnc_format_layout_compute_changed(pnc_model *model, const pnc_model *before, pnc_layout_hints *hints,
                                      pnc_error *error)
{
    bool any_given = are_given(hints);
    pnc_layout_hints spacious;
    int64_t moved;

    hints->h_minfree = given_or_zero(hints->h_minfree);
    hints->v_minfree = given_or_zero(hints->v_minfree);
    PNC_TRY(pnc_format_layout_compute(model, before, hints, error));
    moved = get_moved_size(model, before);
    if (any_given || moved < PNC_RESERVE_LEAST_DATA)
        return NC_NOERR;
    spacious = *hints;
    set_space(model, before, moved, &spacious);
    if (pnc_format_layout_compute(model, before, &spacious, NULL) == NC_NOERR &&
        get_moved_size(model, before) == moved) { /* no data move for the space alone */
        *hints = spacious;
        return NC_NOERR;
    }
    return pnc_format_layout_compute(model, before, hints, error);
}

int64_t pnc_format_layout_get_data_end(const pnc_model *model)
{
    int64_t end = model->classic.header_size;

    for (int i = 0; i < model->nvars; i++) {
        const pnc_var *var = model->vars[i];
        if (!var->is_record)
            end = pnc_max64(end, var->classic.begin + var->size);
        else if (model->numrecs > 0)
            end = pnc_max64(end, var->classic.begin + (model->numrecs - 1) * model->classic.recsize + var->size);
    }
    return end;
}

int64_t pnc_format_layout_get_file_end(const pnc_model *model)
{
    int64_t end;

    if (round_up(pnc_format_layout_get_data_end(model), 4, &end) < 0)
        end = INT64_MAX;
    /* a single record variable has no padding: recsize has none */
    if (model->nrecvars > 0 && model->numrecs > 0)
        end = pnc_max64(pnc_format_layout_get_data_end(model),
                        model->classic.begin_rec + model->numrecs * model->classic.recsize);
    return end;
}

void pnc_format_layout_derive(pnc_model *model)
{
    bool fixed = false;
    int64_t end = model->classic.header_size;

    model->classic.begin_rec = -1;
    model->classic.recsize = 0;
    for (int i = 0; i < model->nvars; i++) {
        const pnc_var *var = model->vars[i];
        if (var->is_record) {
            if (model->classic.begin_rec < 0)
                model->classic.begin_rec = var->classic.begin;
            model->classic.recsize += pnc_format_var_get_padded_size(model, var);
            continue;
        }
        if (!fixed)
            model->classic.header_extent = var->classic.begin;
        fixed = true;
        end = pnc_max64(end, var->classic.begin + var->size);
    }
    if (model->classic.begin_rec < 0 && round_up(end, 4, &model->classic.begin_rec) < 0)
        model->classic.begin_rec = end;
    if (!fixed)
        model->classic.header_extent = model->nrecvars > 0 ? model->classic.begin_rec : model->classic.header_size;
}
