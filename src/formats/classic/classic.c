/* The classic format: its operations, and what they have in common. */
#include "formats/classic/classic.h"

#include <assert.h>
#include <string.h>

#include "format/codec.h"
#include "format/layout.h"
#include "format/mapping.h"
#include "formats/classic/header_change.h"
#include "formats/classic/headerio.h"
#include "formats/classic/records.h"
#include "formats/definitions.h"

static bool is_classic(const char *front, int64_t n)
{
    return n >= 3 && memcmp(front, "CDF", 3) == 0;
}

static int create_model(pnc_format *f, int version)
{
    return pnc_format_model_init(f->model, version, f->file->error);
}

/* Other writers may leave a file that is too short: in no-fill mode, or if they were interrupted. */
static bool remark_short_file(pnc_format *f)
{
    int64_t size = f->file->store->end->least_size, end = pnc_format_layout_get_data_end(f->model);

    if (size >= end)
        return false;
    pnc_error_set(
        f->file->error, NC_NOERR,
        f->file->store->end->refuses_short
            ? "%s ends at byte %lld, but its header describes data up to byte %lld: values beyond the end were "
              "never written, or the file was cut short; reading them is NC_EREAD (hint nc_short_file=error)"
            : "%s ends at byte %lld, but its header describes data up to byte %lld: values beyond the end were "
              "never written, or the file was cut short; they read as zeros",
        f->file->path, (long long)size, (long long)end);
    return true;
}

/* Records that another handle has added are those of both models. */
static int begin_define(pnc_format *f, int err)
{
    PNC_TRY(pnc_classic_numrecs_flush(f, err, NULL));
    f->before->numrecs = f->model->numrecs;
    return NC_NOERR;
}

static void add_classic_length(pnc_format *f, int dimid, int64_t length)
{
    (void)dimid;
    assert(dimid == f->model->recdim);
    pnc_classic_numrecs_update(f, length);
}

static int write_classic_length(pnc_format *f, int dimid, int64_t length)
{
    (void)dimid;
    assert(dimid == f->model->recdim);
    return pnc_classic_numrecs_write(f, length);
}

/* Values are in the file at once, where their offsets say. */
static bool has_new_values(pnc_format *f)
{
    (void)f;
    return true;
}

static void abandon_file(pnc_format *f)
{
    pnc_classic_numrecs_write_last(f);
    if (pnc_classic_state_get(f)->unrestored != PNC_RESTORED)
        pnc_growth_life_end(&pnc_classic_state_get(f)->growth_io);
}

/* The definitions that the file is laid out for: of the last enddef; NULL in a new file before the first one. */
static const pnc_model *get_laid_out(const pnc_format *f)
{
    if (f->is_new)
        return NULL;
    return f->before != NULL ? f->before : f->model;
}

/* Without an argument: the default, as in pnc_format_layout_compute. */
static int64_t get_alignment(int64_t given, int64_t otherwise)
{
    return given > 0 ? (given + 3) / 4 * 4 : otherwise;
}

static void get_classic_layout(const pnc_format *f, pnc_format_layout *out)
{
    const pnc_layout_hints *hints = &((const pnc_classic *)f)->layout_hints;
    const pnc_model *file = get_laid_out(f);
    bool has_fixed = f->model->nvars > f->model->nrecvars;

    *out = (pnc_format_layout){.header_size = file != f->model ? pnc_format_header_get_size(f->model)
                                                               : f->model->classic.header_size,
                               .header_extent = file == NULL ? 0 : file->classic.header_extent,
                               .record_size = file == NULL ? 0 : file->classic.recsize,
                               .v_align = get_alignment(hints->v_align, PNC_DEFAULT_ALIGN),
                               .r_align = get_alignment(hints->r_align, has_fixed ? 4 : PNC_DEFAULT_ALIGN)};
}

static int64_t get_var_offset(const pnc_format *f, int varid)
{
    const pnc_model *file = get_laid_out(f);

    return file == NULL || varid >= file->nvars ? 0 : file->vars[varid]->classic.begin;
}

static void explain_moved_data(const pnc_format *f, char *out, size_t capacity)
{
    const pnc_classic *c = (const pnc_classic *)f;

    pnc_growth_cause_explain(&c->moved_for, &c->origin, out, capacity);
}

const pnc_format_ops pnc_classic_format = {.name = "classic",
                                           .bytes = sizeof(pnc_classic),
                                           .versions = {{NC_FORMAT_CLASSIC, NC_CLASSIC_MODEL, "NC_FORMAT_CLASSIC"},
                                                        {NC_FORMAT_CDF2, NC_64BIT_OFFSET, "NC_FORMAT_CDF2"},
                                                        {NC_FORMAT_CDF5, NC_64BIT_DATA, "NC_FORMAT_CDF5"}},
                                           .addressing = &pnc_format_classic_addressing,
                                           .is_format = is_classic,
                                           .create = create_model,
                                           .load = pnc_classic_header_load,
                                           .adopt = pnc_classic_header_adopt,
                                           .remark = remark_short_file,
                                           .free = pnc_classic_header_unrestored_free,
                                           .redef = begin_define,
                                           .enddef = pnc_classic_define_end,
                                           .check_rename = pnc_formats_rename_check,
                                           .check_change = pnc_classic_change_check,
                                           .change = pnc_classic_change_execute,
                                           .add_length = add_classic_length,
                                           .write_length = write_classic_length,
                                           .check_record = pnc_classic_record_check,
                                           .fill_record = pnc_classic_record_fill,
                                           .flush = pnc_classic_numrecs_flush,
                                           .prepare = pnc_classic_numrecs_write_late,
                                           .renew = has_new_values,
                                           .abandon = abandon_file,
                                           .restore = pnc_classic_header_restore,
                                           .restore_before_put = pnc_classic_header_restore_before_put,
                                           .get_layout = get_classic_layout,
                                           .get_offset = get_var_offset,
                                           .explain_moves = explain_moved_data};
