/* The blocks of a variable are divided among the ranks, some in sequence for each, and their digests are combined. All
 * are computed: what other programs have changed meanwhile is not known. */
#include "dataset/checksum.h"

#include <string.h>

#include "base/memory.h"
#include "convert/checksum.h"
#include "dataset/access.h"
#include "dataset/message.h"
#include "file/agree.h"
#include "file/behind.h"

enum { BLOCKS_AT_ONCE = 8 };      /* of a rank: 8 MiB */
enum { COMBINED_MOST = 1 << 20 }; /* bytes of digests in a reduction */

const char *pnc_dataset_checksum_explain(const pnc_dataset *ds)
{
    if (!pnc_digest_has_xxh3())
        return "the library was built without xxHash";
    if (ds->format->ops != NULL && ds->model.groups.exist)
        return "the file has groups";
    return ds->file.read_only ? "the file is opened for reading only" : NULL;
}

static bool writes_checksums(const pnc_dataset *ds)
{
    return ds->hints.checksum != 0 && pnc_dataset_checksum_explain(ds) == NULL;
}

static bool has_any_checksum(const pnc_var *var)
{
    return pnc_format_atts_find(&var->atts, PNC_CHECKSUM_ATTRIBUTE) >= 0;
}

/* NULL: the variable has no such attribute, or one of another kind. */
static pnc_att *find_checksum(const pnc_var *var)
{
    int at = pnc_format_atts_find(&var->atts, PNC_CHECKSUM_ATTRIBUTE);
    pnc_att *att = at < 0 ? NULL : var->atts.at[at];

    return att != NULL && att->type == NC_CHAR && att->len == PNC_CHECKSUM_TEXT - 1 ? att : NULL;
}

static int put_checksum(pnc_dataset *ds, pnc_var *var, const char *text)
{
    return pnc_format_atts_put(&ds->model, &var->atts, PNC_CHECKSUM_ATTRIBUTE, NC_CHAR, PNC_CHECKSUM_TEXT - 1, text,
                               &ds->error);
}

int pnc_dataset_checksums_define(pnc_dataset *ds)
{
    if (!writes_checksums(ds))
        return NC_NOERR;
    for (int i = 0; i < ds->model.nvars; i++)
        if (!has_any_checksum(ds->model.vars[i]))
            PNC_TRY(put_checksum(ds, ds->model.vars[i], PNC_CHECKSUM_NONE));
    return NC_NOERR;
}

/* --- the checksum of a variable --- */

typedef struct summing {
    pnc_dataset *ds;
    int varid, type, ndims;
    int64_t *shape;
    int64_t total, nblocks, per_block; /* elements, blocks, elements of a block */
    unsigned char *digests;            /* of all blocks: zeros for those of other ranks */
    char *values, *bytes;              /* of the blocks that are read at once, and of one */
    MPI_Offset *indices;               /* start and count of hyperslabs */
    MPI_Offset **starts, **counts;
} summing;

static int alloc_summing(summing *s)
{
    int64_t most = 2 * (int64_t)s->ndims + 1;

    s->shape = pnc_memory_alloc_zeroed(s->ndims + 1, sizeof *s->shape);
    s->indices = pnc_memory_alloc_zeroed(2 * most * (s->ndims + 1), sizeof *s->indices);
    s->starts = pnc_memory_alloc(2 * most, sizeof *s->starts);
    if (s->shape == NULL || s->indices == NULL || s->starts == NULL)
        return NC_ENOMEM;
    s->counts = s->starts + most;
    for (int64_t i = 0; i < 2 * most; i++)
        s->starts[i] = s->indices + i * (s->ndims + 1);
    s->total = 1;
    for (int d = 0; d < s->ndims; d++) {
        s->shape[d] = pnc_format_var_get_length(&s->ds->model, s->ds->model.vars[s->varid], d);
        s->total *= s->shape[d];
    }
    s->per_block = PNC_CHECKSUM_BLOCK / (int64_t)pnc_type_get_size(s->type);
    s->nblocks = s->total / s->per_block + (s->total % s->per_block > 0);
    s->digests = pnc_memory_alloc_zeroed(s->nblocks, PNC_XXH3_BYTES);
    return s->digests == NULL ? NC_ENOMEM : NC_NOERR;
}

static void free_summing(summing *s)
{
    pnc_memory_free(s->shape);
    pnc_memory_free(s->indices);
    pnc_memory_free(s->starts);
    pnc_memory_free(s->digests);
}

/* The blocks of this rank that begin with `block`; none behind the last one. */
static int sum_blocks(summing *s, int64_t block)
{
    int64_t begin = block * s->per_block, end = begin + BLOCKS_AT_ONCE * s->per_block, n = 0;
    size_t size = pnc_type_get_size(s->type);
    pnc_call call = {.op = PNC_OP_GET,
                     .shape = PNC_VARN,
                     .collective = true,
                     .varid = s->varid,
                     .mem = pnc_type_get_mem_type(s->type),
                     .buf = s->values,
                     .starts = s->starts,
                     .counts = s->counts};
    int err;

    if (block < s->nblocks) {
        end = end < s->total ? end : s->total;
        n = end - begin;
        call.num = pnc_convert_checksum_find_slabs(s->ndims, s->shape, begin, end, s->starts, s->counts);
    }
    err = pnc_dataset_call_execute(s->ds, &call);
    PNC_TRY(pnc_file_status_agree(&s->ds->file, err));
    for (int64_t done = 0, now; done < n; done += now, block++) {
        now = n - done < s->per_block ? n - done : s->per_block;
        pnc_convert_checksum_compute(s->type, s->values + (size_t)done * size, now, s->bytes,
                                     s->digests + block * PNC_XXH3_BYTES);
    }
    return NC_NOERR;
}

static int combine_sums(summing *s)
{
    int64_t n = s->nblocks * PNC_XXH3_BYTES;
    int err = NC_NOERR;

    for (int64_t done = 0, now; err == NC_NOERR && done < n; done += now) {
        now = n - done < COMBINED_MOST ? n - done : COMBINED_MOST;
        err = pnc_file_bits_agree(&s->ds->file, s->digests + done, (int)now, "checksums");
    }
    return pnc_file_status_agree(&s->ds->file, err);
}

static int sum_variable(summing *s, char *text)
{
    int64_t step = (int64_t)BLOCKS_AT_ONCE * s->ds->file.nprocs;
    int err = alloc_summing(s);

    if (err != NC_NOERR)
        pnc_error_set(&s->ds->error, err, "not enough memory");
    err = pnc_file_status_agree(&s->ds->file, err);
    for (int64_t first = 0; err == NC_NOERR && first < s->nblocks; first += step)
        err = sum_blocks(s, first + (int64_t)BLOCKS_AT_ONCE * s->ds->file.rank);
    if (err == NC_NOERR && s->nblocks > 0)
        err = combine_sums(s);
    if (err == NC_NOERR)
        pnc_convert_checksum_format(s->digests, s->nblocks, text);
    else
        pnc_error_add_context(&s->ds->error, "variable %s", s->ds->model.vars[s->varid]->name);
    free_summing(s);
    return err;
}

/* --- those of a file --- */

/* *changed: whether an attribute has another text. */
static int sum_variables(pnc_dataset *ds, char *values, char *texts, bool *changed)
{
    for (int i = 0; i < ds->model.nvars; i++) {
        const pnc_var *var = ds->model.vars[i];
        const pnc_att *att = find_checksum(var);
        char *text = texts + (size_t)i * PNC_CHECKSUM_TEXT;
        summing s = {.ds = ds, .varid = i, .type = var->type, .ndims = var->ndims, .values = values};

        if (att == NULL)
            continue;
        s.bytes = values + (size_t)BLOCKS_AT_ONCE * PNC_CHECKSUM_BLOCK;
        PNC_TRY(sum_variable(&s, text));
        *changed = *changed || memcmp(att->value, text, PNC_CHECKSUM_TEXT - 1) != 0;
    }
    return NC_NOERR;
}

static int put_texts(pnc_dataset *ds, const char *texts)
{
    for (int i = 0; i < ds->model.nvars; i++)
        if (texts[(size_t)i * PNC_CHECKSUM_TEXT] != '\0')
            PNC_TRY(put_checksum(ds, ds->model.vars[i], texts + (size_t)i * PNC_CHECKSUM_TEXT));
    return NC_NOERR;
}

/* All at once, as by redef and enddef. The metadata keep their size, so that no values move. */
static int replace_checksums(pnc_dataset *ds, const char *texts)
{
    pnc_layout_hints hints = {PNC_LAYOUT_NOT_GIVEN, 0, PNC_LAYOUT_NOT_GIVEN, 0};
    int err = pnc_formats_before_keep(ds->format);

    err = ds->format->ops->redef(ds->format, err);
    if (err == NC_NOERR)
        err = ds->format->ops->enddef(ds->format, &hints, put_texts(ds, texts));
    if (err != NC_NOERR)
        pnc_formats_before_restore(ds->format);
    return err;
}

static int write_checksums(pnc_dataset *ds)
{
    char *values = pnc_memory_alloc(BLOCKS_AT_ONCE + 1, PNC_CHECKSUM_BLOCK);
    char *texts = pnc_memory_alloc_zeroed(ds->model.nvars + 1, PNC_CHECKSUM_TEXT);
    bool changed = false;
    int err = NC_NOERR;

    if (values == NULL || texts == NULL)
        err = pnc_error_set(&ds->error, NC_ENOMEM, "not enough memory");
    err = pnc_file_status_agree(&ds->file, err);
    if (err == NC_NOERR)
        err = sum_variables(ds, values, texts, &changed);
    if (err == NC_NOERR && changed)
        err = replace_checksums(ds, texts);
    pnc_memory_free(values);
    pnc_memory_free(texts);
    return err;
}

static void warn_of_others(const pnc_dataset *ds)
{
    const char *first = NULL;
    int n = 0;

    for (int i = 0; i < ds->model.nvars; i++) {
        if (find_checksum(ds->model.vars[i]) == NULL && n++ == 0)
            first = ds->model.vars[i]->name;
    }
    if (n > 0 && ds->file.rank == 0)
        pnc_dataset_warning_print(ds,
                                  "%d of %d variables, such as %s, have no attribute %s of %d characters, and so no "
                                  "checksum (nc_checksum): ncmpi_redef and ncmpi_enddef give it to those without any",
                                  n, ds->model.nvars, first, PNC_CHECKSUM_ATTRIBUTE, PNC_CHECKSUM_TEXT - 1);
}

int pnc_dataset_checksums_write(pnc_dataset *ds)
{
    int err;

    if (!writes_checksums(ds))
        return NC_NOERR;
    ds->mode = PNC_COLLECTIVE;
    pnc_file_ahead_discard(&ds->file);
    err = write_checksums(ds);
    if (err != NC_NOERR)
        pnc_error_add_context(&ds->error, "%s: all values are in the file, but not their checksums (nc_checksum)",
                              ds->file.path);
    else
        warn_of_others(ds);
    return err;
}
