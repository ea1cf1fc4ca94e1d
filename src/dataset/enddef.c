/* Leaving define mode: compute the layout, move data, fill new variables, write the header. */
#include <stdio.h>

#include "base/memory.h"
#include "dataset/agree.h"
#include "dataset/environment.h"
#include "dataset/file_end.h"
#include "dataset/growing.h"
#include "dataset/headerio.h"
#include "dataset/modes.h"
#include "dataset/records.h"
#include "file/agree.h"
#include "growth/fill.h"
#include "io/queue.h"

/* A hint outranks the argument, which outranks the default. */
static int64_t first_given(int64_t hint, int64_t argument)
{
    return hint > 0 ? hint : argument;
}

/* No data move: until the header is written, the old one is valid. The ranks agree on the error of each step. */
static int change_file(pnc_dataset *ds, const char *header, int64_t n)
{
    pnc_growth_io io = pnc_dataset_growing_get_io(&ds->file);

    PNC_TRY(pnc_growth_vars_fill(&io, &ds->model, ds->before == NULL ? 0 : ds->before->nvars));
    return pnc_dataset_header_replace(ds, header, n);
}

/* What rank 0 finds before the header of an existing dataset changes. */
typedef struct examination {
    int64_t size;              /* of the file */
    int64_t replaced_in_parts; /* a death can leave a mixture of both headers */
} examination;

static int examine_file(pnc_dataset *ds, const char *header, int64_t n, examination *found)
{
    int err = NC_NOERR;

    if (ds->file.rank == 0) {
        err = pnc_file_get_size(&ds->file, &found->size);
        if (err == NC_NOERR)
            err = pnc_dataset_file_end_check(ds, found->size);
        if (err == NC_NOERR)
            err = pnc_dataset_header_find_parts(ds, header, n, &found->replaced_in_parts);
    }
    PNC_TRY(pnc_file_status_broadcast(&ds->file, err));
    pnc_file_bytes_broadcast(&ds->file, found, sizeof *found, "the size of the file");
    return NC_NOERR;
}

/* The same on all ranks. */
static int check_move(pnc_dataset *ds, int64_t bytes)
{
    if (bytes <= ds->hints.data_move_limit)
        return NC_NOERR;
    pnc_error_set(&ds->error, NC_EMOVELIMIT,
                  "%s: %lld bytes of data would have to move, as the definitions have grown, but the hint "
                  "nc_data_move_limit is %lld: raise it, or reserve space in new files by nc_header_align_size or "
                  "h_minfree of ncmpi__enddef",
                  ds->file.path, (long long)bytes, (long long)ds->hints.data_move_limit);
    ds->error.remote = ds->file.rank != 0; /* one rank prints it */
    return NC_EMOVELIMIT;
}

/* Moves can take long. `text` follows the number of bytes. */
static void announce(const pnc_dataset *ds, const pnc_growth_change *growth, const char *text)
{
    if (ds->file.rank == 0 && growth->stream.total > 0 && pnc_dataset_environment_is_on("PNETCDF_VERBOSE", false))
        fprintf(stderr, "PnetCDF: %s: %s: %lld bytes of data %s\n", ds->file.call.name, ds->file.path,
                (long long)growth->stream.total, text);
}

static int change_with_journal(pnc_dataset *ds, pnc_growth_change *growth, const char *header, int64_t n)
{
    double start = MPI_Wtime(), took;
    char done[60];

    pnc_statistics_add(ds->file.statistics, PNC_COUNT_MOVED_BYTES, ds->file.rank == 0 ? growth->stream.total : 0);
    pnc_statistics_add(ds->file.statistics, PNC_COUNT_HEADER_BYTES, ds->file.rank == 0 ? n : 0);
    announce(ds, growth, "move to higher offsets, as the definitions have grown");
    PNC_TRY(pnc_growth_change_execute(growth, header));
    took = MPI_Wtime() - start;
    pnc_statistics_add(ds->file.statistics, PNC_COUNT_TIME_MOVES, (int64_t)(1e9 * took));
    snprintf(done, sizeof done, "have moved in %.1f s", took);
    announce(ds, growth, done);
    pnc_dataset_file_end_update(ds);
    pnc_dataset_numrecs_commit(ds);
    return NC_NOERR;
}

static int change_existing(pnc_dataset *ds, const char *header, int64_t n)
{
    pnc_growth_io io = pnc_dataset_growing_get_io(&ds->file);
    pnc_growth_change growth;
    examination found = {0};
    int err;

    PNC_TRY(examine_file(ds, header, n, &found));
    err = pnc_growth_change_init(&growth, &io, ds->before, &ds->model, found.size, ds->hints.data_move_chunk);
    if (err == NC_NOERR)
        err = check_move(ds, growth.stream.total);
    if (err != NC_NOERR)
        goto free;
    if (growth.stream.total > 0 || found.replaced_in_parts)
        err = change_with_journal(ds, &growth, header, n);
    else
        err = change_file(ds, header, n);
    if (err != NC_NOERR)
        pnc_growth_change_undo(&growth);
free:
    pnc_growth_change_free(&growth);
    return err;
}

static int finish(pnc_dataset *ds, const pnc_layout_hints *hints)
{
    char *header;
    int64_t n;
    int err = pnc_format_layout_compute(&ds->model, ds->before, hints, &ds->error);

    PNC_TRY(pnc_dataset_header_agree(ds, err, &header, &n));
    if (ds->before == NULL)
        err = change_file(ds, header, n);
    else
        err = change_existing(ds, header, n);
    pnc_memory_free(header);
    PNC_TRY(err);
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

int pnc_dataset__enddef(pnc_dataset *ds, MPI_Offset h_minfree, MPI_Offset v_align, MPI_Offset v_minfree,
                        MPI_Offset r_align)
{
    pnc_layout_hints hints = {h_minfree, first_given(ds->hints.layout.v_align, v_align), v_minfree,
                              first_given(ds->hints.layout.r_align, r_align)};
    pnc_argument args[] = {{NC_EMULTIDEFINE_FNC_ARGS, &hints, sizeof hints}};
    int err = pnc_dataset_mode_check_define(ds);

    (void)pnc_statistics_begin(ds->file.statistics, PNC_COUNT_TIME_DEFINE);
    if (err == NC_NOERR && (h_minfree < 0 || v_align < 0 || v_minfree < 0 || r_align < 0))
        err = pnc_error_set(&ds->error, NC_EINVAL,
                            "h_minfree, v_align, v_minfree, r_align are %lld, %lld, %lld, %lld: "
                            "must not be negative",
                            (long long)h_minfree, (long long)v_align, (long long)v_minfree, (long long)r_align);
    PNC_TRY(pnc_dataset_arguments_agree(ds, err, args, 1, PNC_IS_COLLECTIVE));
    PNC_TRY(finish(ds, &hints));
    return report_overruled(ds);
}

int pnc_dataset_enddef(pnc_dataset *ds)
{
    return pnc_dataset__enddef(ds, 0, 0, 0, 0);
}
