/* Leaving define mode: compute the layout, and change the file. */
#include <stdio.h>

#include "base/memory.h"
#include "dataset/agree.h"
#include "dataset/header_change.h"
#include "dataset/headerio.h"
#include "dataset/message.h"
#include "dataset/modes.h"
#include "io/request/queue.h"

#define NOT_GIVEN (-1)

/* A hint outranks the argument, which outranks the default. */
static int64_t first_given(int64_t hint, int64_t argument)
{
    return hint > 0 ? hint : argument;
}

/* nc_header_reserve is for new files: otherwise each redef that uses its space would move data to get it back. After
 * redef it means that the space that remains is enough: data that move do not leave more. */
static int64_t choose_header_space(const pnc_dataset *ds, int64_t argument)
{
    if (ds->hints.layout.h_minfree < 0)
        return argument;
    return ds->before == NULL ? ds->hints.layout.h_minfree : first_given(argument, 0);
}

static void announce_space(const pnc_dataset *ds, int64_t bytes, const char *after)
{
    if (bytes > 0)
        pnc_dataset_message_print(ds,
                                  "%lld bytes after the %s are reserved for later definitions (hint nc_header_reserve)",
                                  (long long)bytes, after);
}

static int compute_layout(pnc_dataset *ds, pnc_layout_hints *hints)
{
    if (ds->before == NULL)
        return pnc_format_layout_compute_new(&ds->model, hints, &ds->error);
    return pnc_format_layout_compute_changed(&ds->model, ds->before, hints, &ds->error);
}

/* The free space of a new file, which later definitions use, is that of its first enddef. */
static void keep_origin(pnc_dataset *ds, int64_t h_minfree, int64_t v_minfree)
{
    bool by_hint = ds->hints.layout.h_minfree >= 0;

    pnc_growth_origin_init(&ds->origin, &ds->model);
    ds->origin.by_hint = by_hint;
    if (by_hint || h_minfree > 0)
        ds->origin.h_minfree = h_minfree;
    if (v_minfree > 0)
        ds->origin.v_minfree = v_minfree;
}

/* err is the result so far of this rank. */
static int finish(pnc_dataset *ds, pnc_layout_hints *hints, int err)
{
    int64_t h_minfree = hints->h_minfree, v_minfree = hints->v_minfree;
    char *header;
    int64_t n;

    if (err == NC_NOERR)
        err = compute_layout(ds, hints);
    PNC_TRY(pnc_dataset_header_agree(ds, err, &header, &n));
    if (ds->before == NULL)
        err = pnc_dataset_header_create(ds, header, n);
    else
        err = pnc_dataset_header_update(ds, header, n);
    pnc_memory_free(header);
    PNC_TRY(err);
    if (ds->before == NULL)
        keep_origin(ds, h_minfree, v_minfree);
    if (h_minfree == NOT_GIVEN) {
        announce_space(ds, hints->h_minfree, "header");
        announce_space(ds, hints->v_minfree, "fixed-size variables");
    }
    pnc_dataset_before_free(ds);
    ds->layout_hints = *hints;
    ds->is_new = false;
    ds->mode = PNC_COLLECTIVE;
    return NC_NOERR;
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
    if (ds->difference[0] == '\0')
        return NC_NOERR;
    return pnc_error_set(&ds->error, NC_EMULTIDEFINE,
                         "%s: the definitions of rank %d differed from those of rank 0 and were replaced: %s",
                         ds->file.path, ds->file.rank, ds->difference);
}

static int report_overruled(pnc_dataset *ds)
{
    int err = ds->overruled ? describe_overruled(ds) : NC_NOERR;

    ds->overruled = false;
    ds->difference[0] = '\0';
    return err;
}

/* For a new file no collective step precedes the agreement on the header: it also carries the errors in arguments. */
static int end_define_mode(pnc_dataset *ds, pnc_layout_hints *hints, int err)
{
    pnc_argument args[] = {{NC_EMULTIDEFINE_FNC_ARGS, hints, sizeof *hints}};

    err = pnc_dataset_arguments_agree(ds, err, args, 1, ds->is_new ? PNC_STAYS_LOCAL : PNC_IS_COLLECTIVE);
    if (err != NC_NOERR && (!ds->is_new || ds->safe))
        return err;
    PNC_TRY(finish(ds, hints, err));
    return report_overruled(ds);
}

int pnc_dataset__enddef(pnc_dataset *ds, MPI_Offset h_minfree, MPI_Offset v_align, MPI_Offset v_minfree,
                        MPI_Offset r_align)
{
    pnc_layout_hints hints = {choose_header_space(ds, h_minfree), first_given(ds->hints.layout.v_align, v_align),
                              v_minfree, first_given(ds->hints.layout.r_align, r_align)};
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
    pnc_layout_hints hints = {choose_header_space(ds, NOT_GIVEN), first_given(ds->hints.layout.v_align, 0), NOT_GIVEN,
                              first_given(ds->hints.layout.r_align, 0)};

    return end_define_mode(ds, &hints, pnc_dataset_mode_check_define(ds));
}
