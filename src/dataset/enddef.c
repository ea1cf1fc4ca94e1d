/* Leaving define mode: arguments and hints of the layout, and definitions of this rank that differed. */
#include "dataset/agree.h"
#include "dataset/checksum.h"
#include "dataset/modes.h"
#include "dataset/storage_hints.h"
#include "format/quantization.h"
#include "io/request/queue.h"

/* A hint outranks the argument, which outranks the default. */
static int64_t first_given(int64_t hint, int64_t argument)
{
    return hint > 0 ? hint : argument;
}

/* nc_header_reserve is for new files: otherwise each redef that uses its space would move data to get it back. After
 * redef it means that the space that remains is enough: data that move do not leave more. */
static int64_t choose_header_space(const pnc_dataset *ds, int64_t argument)
{
    if (ds->hints.format.layout.h_minfree < 0)
        return argument;
    return ds->format->before == NULL ? ds->hints.format.layout.h_minfree : first_given(argument, 0);
}

/* The file is in data mode, with the definitions of rank 0. Other attributes are no error; other dimensions or
 * variables are, since the program has ids and lengths that are wrong now. Requests that were posted with definitions
 * that no longer exist could access any offset of the file. */
static int describe_overruled(pnc_dataset *ds)
{
    int64_t puts = 0, gets = 0;

    if (ds->io.queue->pending > 0)
        pnc_io_queue_clear(ds->io.queue, &puts, &gets);
    if (puts + gets > 0)
        return pnc_error_set(&ds->error, NC_EMULTIDEFINE,
                             "%s: the definitions of rank %d differed from those of rank 0 "
                             "and were replaced; its %lld pending requests are cancelled",
                             ds->file.path, ds->file.rank, (long long)(puts + gets));
    if (ds->format->difference[0] == '\0')
        return NC_NOERR;
    return pnc_error_set(&ds->error, NC_EMULTIDEFINE,
                         "%s: the definitions of rank %d differed from those of rank 0 and were replaced: %s",
                         ds->file.path, ds->file.rank, ds->format->difference);
}

static int report_overruled(pnc_dataset *ds)
{
    int err = ds->format->overruled ? describe_overruled(ds) : NC_NOERR;

    ds->format->overruled = false;
    ds->format->difference[0] = '\0';
    return err;
}

/* The storage of variables does not change after the enddef that follows their definition. */
static int finish_storage(pnc_dataset *ds)
{
    const pnc_model *before = ds->format->before;

    PNC_TRY(pnc_dataset_storage_hints_apply(ds));
    for (int i = before == NULL ? 0 : before->nvars; i < ds->model.nvars; i++)
        PNC_TRY(pnc_format_quantization_write(&ds->model, ds->model.vars[i], &ds->error));
    if (ds->format->is_new && ds->hints.quantize_cf != 0)
        PNC_TRY(pnc_format_quantization_describe(&ds->model, ds->format->ops->has_storage, &ds->error));
    return pnc_dataset_checksums_define(ds);
}

/* For a new file no collective step precedes the agreement on the header: it also carries the errors in arguments. */
static int end_define_mode(pnc_dataset *ds, pnc_layout_hints *hints, int err)
{
    pnc_argument args[] = {{NC_EMULTIDEFINE_FNC_ARGS, hints, sizeof *hints}};

    if (err == NC_NOERR)
        err = finish_storage(ds);
    err = pnc_dataset_arguments_agree(ds, err, args, 1, ds->format->is_new ? PNC_STAYS_LOCAL : PNC_IS_COLLECTIVE);
    if (err != NC_NOERR && (!ds->format->is_new || ds->safe))
        return err;
    PNC_TRY(ds->format->ops->enddef(ds->format, hints, err));
    ds->mode = PNC_COLLECTIVE;
    ds->io.has_unplaced = ds->io.queue->pending > 0;
    pnc_dataset_storage_hints_adopt(ds);
    return report_overruled(ds);
}

int pnc_dataset__enddef(pnc_dataset *ds, MPI_Offset h_minfree, MPI_Offset v_align, MPI_Offset v_minfree,
                        MPI_Offset r_align)
{
    pnc_layout_hints hints = {choose_header_space(ds, h_minfree), first_given(ds->hints.format.layout.v_align, v_align),
                              v_minfree, first_given(ds->hints.format.layout.r_align, r_align)};
    int err = pnc_dataset_mode_check_define(ds);

    (void)pnc_statistics_begin(ds->file.statistics, PNC_COUNT_TIME_DEFINE);
    if (err == NC_NOERR && (h_minfree < 0 || v_align < 0 || v_minfree < 0 || r_align < 0))
        err = pnc_error_set(&ds->error, NC_EINVAL,
                            "h_minfree, v_align, v_minfree, r_align are %lld, %lld, %lld, %lld: "
                            "must not be negative",
                            (long long)h_minfree, (long long)v_align, (long long)v_minfree, (long long)r_align);
    return end_define_mode(ds, &hints, err);
}

int pnc_dataset_enddef(pnc_dataset *ds)
{
    pnc_layout_hints hints = {choose_header_space(ds, PNC_LAYOUT_NOT_GIVEN),
                              first_given(ds->hints.format.layout.v_align, 0), PNC_LAYOUT_NOT_GIVEN,
                              first_given(ds->hints.format.layout.r_align, 0)};

    return end_define_mode(ds, &hints, pnc_dataset_mode_check_define(ds));
}
