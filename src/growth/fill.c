/* Writing fill values. The bytes of all variables that a call fills are one sequence, of which each rank writes a part.
 * Values of small variables side by side take one write; memory is bounded whatever the size of a variable. */
#include "growth/fill.h"

#include <string.h>

#include "base/memory.h"
#include "base/minmax.h"

#define BUFFER_BYTES (1 << 20) /* at most */

typedef struct filler {
    const pnc_growth_io *io;
    const pnc_model *model;
    int64_t pos, first, end; /* in the sequence of bytes: the next variable, and this rank's part */
    char *buffer;
    int64_t capacity;
    pnc_extent held; /* of the file: what the buffer has, not yet written */
} filler;

/* This rank's part of `total` bytes. */
static int filler_init(filler *f, const pnc_growth_io *io, const pnc_model *model, int64_t total)
{
    int64_t share = total / io->nprocs, extra = total % io->nprocs;

    *f = (filler){.io = io, .model = model, .first = share * io->rank + pnc_min64(io->rank, extra)};
    f->end = f->first + share + (io->rank < extra);
    f->capacity = (pnc_min64(share, BUFFER_BYTES - 16) + 16) / 8 * 8; /* whole elements of any type */
    f->buffer = pnc_memory_alloc(f->capacity, 1);
    if (f->buffer == NULL)
        return pnc_error_set(io->error, NC_ENOMEM, "%s: no memory for %lld bytes of fill values", io->path,
                             (long long)f->capacity);
    return NC_NOERR;
}

static int flush(filler *f)
{
    pnc_extent held = f->held;

    f->held.length = 0;
    return held.length > 0 ? pnc_growth_extents_write(f->io, &held, 1, f->buffer) : NC_NOERR;
}

static int filler_finish(filler *f, int err)
{
    if (err == NC_NOERR)
        err = flush(f);
    pnc_memory_free(f->buffer);
    return err;
}

/* Repeat the variable's fill value. */
static void set_pattern(const pnc_model *model, const pnc_var *var, char *pattern, int64_t bytes)
{
    int64_t done = (int64_t)pnc_type_get_size(var->type), n;

    pnc_format_var_get_fill_value(model, var, pattern);
    for (; done < bytes; done += n) {
        n = pnc_min64(done, bytes - done);
        memcpy(pattern + done, pattern, (size_t)n);
    }
}

/* A buffer full of fill values is written repeatedly. */
static int fill_large(filler *f, const pnc_var *var, pnc_extent part)
{
    PNC_TRY(flush(f));
    set_pattern(f->model, var, f->buffer, f->capacity);
    for (int64_t at = 0; at < part.length; at += f->capacity) {
        pnc_extent portion = {part.offset + at, pnc_min64(part.length - at, f->capacity)};

        PNC_TRY(pnc_growth_extents_write(f->io, &portion, 1, f->buffer));
    }
    return NC_NOERR;
}

static int fill_small(filler *f, const pnc_var *var, pnc_extent part)
{
    if (part.offset != f->held.offset + f->held.length || part.length > f->capacity - f->held.length)
        PNC_TRY(flush(f));
    if (f->held.length == 0)
        f->held.offset = part.offset;
    set_pattern(f->model, var, f->buffer + f->held.length, part.length);
    f->held.length += part.length;
    return NC_NOERR;
}

/* Bytes of the variable before `pos` in the sequence of bytes, in whole elements. */
static int64_t bytes_before(const filler *f, const pnc_var *var, int64_t pos)
{
    int64_t bytes = pos <= f->pos ? 0 : pnc_min64(pos - f->pos, var->size);

    return bytes - bytes % (int64_t)pnc_type_get_size(var->type);
}

/* Fill what this rank has of a fixed-size variable or of a record. */
static int fill_var(filler *f, const pnc_var *var, int64_t offset)
{
    int64_t first = bytes_before(f, var, f->first), n = bytes_before(f, var, f->end) - first;
    pnc_extent part = {offset + first, n};

    f->pos += var->size;
    if (n == 0)
        return NC_NOERR;
    return n < f->capacity ? fill_small(f, var, part) : fill_large(f, var, part);
}

/* Bytes to fill in all fixed-size variables from varid on, or in a record of the others. */
static int64_t count_bytes(const pnc_model *model, int varid, bool records)
{
    int64_t total = 0;

    for (int i = varid; i < model->nvars; i++)
        if (!model->vars[i]->no_fill && model->vars[i]->is_record == records)
            total += model->vars[i]->size;
    return total;
}

static int fill_vars(filler *f, const pnc_model *model, int varid, bool records, int64_t record)
{
    for (int i = varid; i < model->nvars; i++) {
        const pnc_var *var = model->vars[i];

        if (!var->no_fill && var->is_record == records)
            PNC_TRY(fill_var(f, var, var->classic.begin + record * model->classic.recsize));
    }
    return NC_NOERR;
}

static int fill_from(const pnc_growth_io *io, const pnc_model *model, int varid)
{
    int64_t fixed = count_bytes(model, varid, false), record = count_bytes(model, varid, true);
    int64_t numrecs = record > 0 ? model->numrecs : 0;
    filler f;
    int err;

    if (fixed + numrecs * record == 0)
        return NC_NOERR;
    PNC_TRY(filler_init(&f, io, model, fixed + numrecs * record));
    err = fill_vars(&f, model, varid, false, 0);
    for (int64_t r = 0; r < numrecs && err == NC_NOERR; r++)
        err = fill_vars(&f, model, varid, true, r);
    return filler_finish(&f, err);
}

int pnc_growth_vars_fill(const pnc_growth_io *io, const pnc_model *model, int varid)
{
    bool fills = false; /* the same on all ranks */

    for (int i = varid; i < model->nvars && !fills; i++)
        fills = !model->vars[i]->no_fill;
    return fills ? io->agree(io->file, fill_from(io, model, varid)) : NC_NOERR;
}

int pnc_growth_record_fill(const pnc_growth_io *io, const pnc_model *model, const pnc_var *var, int64_t record)
{
    filler f;

    PNC_TRY(filler_init(&f, io, model, var->size));
    return filler_finish(&f, fill_var(&f, var, var->classic.begin + record * model->classic.recsize));
}
