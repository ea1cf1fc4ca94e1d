/* Leaving define mode: lay out, make room, write the header, fill what is new. */
#include "dataset/dataset.h"

#include "base/memory.h"
#include "dataset/modes.h"
#include "dataset/move.h"
#include "io/queue.h"

/* The hint counts before the argument, the argument before the default. */
static int64_t first_given(int64_t hint, int64_t argument)
{
    return hint > 0 ? hint : argument;
}

static int fill_new(pnc_dataset *ds)
{
    int old = ds->before == NULL ? 0 : ds->before->nvars, err = NC_NOERR;

    for (int i = old; i < ds->model.nvars && err == NC_NOERR; i++) {
        const pnc_var *var = ds->model.vars[i];

        if (!var->no_fill)
            err = pnc_dataset_var_fill(ds, var, 0, var->is_record ? ds->model.numrecs : 1);
    }
    return pnc_dataset_status_agree(ds, err);
}

static void forget_before(pnc_dataset *ds)
{
    if (ds->before != NULL)
        pnc_format_model_free(ds->before);
    pnc_memory_free(ds->before);
    ds->before = NULL;
}

/* The new header comes last: until it is written, the old one and the data that it describes can be brought back. */
static int change_file(pnc_dataset *ds, const char *header, int64_t n)
{
    int err = fill_new(ds);

    if (err == NC_NOERR)
        err = pnc_dataset_file_extend(ds);
    return err != NC_NOERR ? err : pnc_dataset_header_replace(ds, header, n);
}

static int grow_file(pnc_dataset *ds, const char *header, int64_t n)
{
    pnc_move move;
    int err = pnc_dataset_move_init(ds, &move);

    if (err == NC_NOERR) {
        err = pnc_dataset_move_execute(&move);
        if (err == NC_NOERR)
            err = change_file(ds, header, n);
        if (err != NC_NOERR)
            pnc_dataset_move_undo(&move);
    }
    pnc_dataset_move_free(&move);
    return err;
}

static int finish(pnc_dataset *ds, const pnc_layout_hints *hints)
{
    char *header = NULL;
    int64_t n;
    int err = pnc_dataset_status_agree(ds, pnc_format_layout_compute(&ds->model, ds->before, hints, &ds->error));

    if (err == NC_NOERR)
        err = pnc_dataset_header_agree(ds, &header, &n);
    if (err == NC_NOERR)
        err = ds->before == NULL ? change_file(ds, header, n) : grow_file(ds, header, n);
    pnc_memory_free(header);
    if (err != NC_NOERR)
        return err;
    forget_before(ds);
    ds->layout_hints = *hints;
    ds->is_new = false;
    ds->mode = PNC_COLLECTIVE;
    return NC_NOERR;
}

/* What was posted for definitions that are no more could reach any place of the file. */
static int drop_overruled(pnc_dataset *ds)
{
    int64_t puts, gets;

    if (!ds->overruled || ds->queue->pending == 0)
        return NC_NOERR;
    pnc_io_queue_clear(ds, &puts, &gets);
    return pnc_error_set(&ds->error, NC_EMULTIDEFINE, "%s: rank %d defined other things than rank 0, whose definitions "
                         "count; %lld nonblocking requests that it had posted before are dropped", ds->path, ds->rank,
                         (long long)(puts + gets));
}

int pnc_dataset__enddef(pnc_dataset *ds, MPI_Offset h_minfree, MPI_Offset v_align, MPI_Offset v_minfree,
                        MPI_Offset r_align)
{
    pnc_layout_hints hints = {h_minfree, first_given(ds->hints.layout.v_align, v_align), v_minfree,
                              first_given(ds->hints.layout.r_align, r_align)};
    pnc_argument args[] = {{NC_EMULTIDEFINE_FNC_ARGS, &hints, sizeof hints}};
    int err = pnc_dataset_mode_check_define(ds);

    if (err == NC_NOERR && (h_minfree < 0 || v_align < 0 || v_minfree < 0 || r_align < 0))
        err = pnc_error_set(&ds->error, NC_EINVAL, "free space and alignment are bytes, 0 or more");
    err = pnc_dataset_arguments_agree(ds, err, args, 1, PNC_IS_COLLECTIVE);
    if (err == NC_NOERR)
        err = finish(ds, &hints);
    return err != NC_NOERR ? err : drop_overruled(ds);
}

int pnc_dataset_enddef(pnc_dataset *ds)
{
    return pnc_dataset__enddef(ds, 0, 0, 0, 0);
}
