/* Filling a record. */
#include "base/memory.h"
#include "file/agree.h"
#include "format/mapping.h"
#include "formats/classic/classic.h"
#include "formats/classic/growing.h"
#include "formats/classic/header_change.h"
#include "formats/classic/records.h"
#include "growth/fill.h"

/* In CDF-5 the bound is the largest file offset. */
int pnc_classic_record_check(pnc_format *f, int64_t record)
{
    const pnc_model *model = f->model;
    long long named;
    int64_t end;

    if (record < pnc_format_records_get_most(model) &&
        pnc_size_multiply(record + 1, model->classic.recsize, &end) == 0 &&
        pnc_size_add(end, model->classic.begin_rec, &end) == 0)
        return NC_NOERR;
    named = pnc_error_get_index(f->file->error, record);
    return pnc_error_set(f->file->error, NC_EINVALCOORDS, "recno is %lld%s: too large for a CDF-%d file", named,
                         pnc_error_explain_kind(f->file->error, named), model->format);
}

int pnc_classic_record_fill(pnc_format *f, int varid, int64_t record)
{
    pnc_growth_io io = pnc_classic_growing_get_io(f->file);
    int err;

    PNC_TRY(pnc_classic_header_restore_before_put(f, true));
    err = pnc_growth_record_fill(&io, f->model, f->model->vars[varid], record);
    PNC_TRY(pnc_file_status_agree(f->file, err));
    pnc_classic_numrecs_update(f, record + 1);
    return pnc_classic_numrecs_flush(f, NC_NOERR, NULL);
}
