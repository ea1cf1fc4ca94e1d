/* The blocks of a variable are divided among the ranks, some in sequence for each, and their digests are combined. */
#include "tools/ncmpicopy/checksum.h"

#include <string.h>

#include "base/memory.h"
#include "base/types.h"
#include "tools/common/checksum.h"
#include "tools/common/message.h"
#include "tools/common/output.h"
#include "tools/common/parallel.h"

enum { BLOCKS_AT_ONCE = 8 }; /* of a rank: 8 MiB */

/* Whether the values of a variable are all those of the input, so that its checksum is still right. */
static bool is_kept(const copy_plan *plan, const copy_var *var)
{
    bool kept = var->to == var->type && var->quantizer.mode == 0 && !var->joined && var->nturns == 0;
    for (int d = 0; d < var->ndims; d++) {
        const copy_dim *dim = &plan->dims[var->dimids[d]];
        kept = kept && dim->count == dim->total && dim->wrapped == 0;
    }
    return kept;
}

bool copy_checksum_is_possible(const copy_var *var)
{
    return var->type != NC_STRING;
}

bool copy_checksum_is_attribute(const copy_plan *plan)
{
    return plan->options->checksum && plan->options->manifest == NULL;
}

/* With --salvage, values may be lost after the attributes are there. */
bool copy_checksum_is_copied(const copy_plan *plan, const copy_var *var)
{
    return !copy_checksum_is_attribute(plan) && !plan->options->salvage && is_kept(plan, var);
}

int copy_checksum_define(int to, int varid)
{
    return ncmpi_put_att_text(to, varid, PNC_CHECKSUM_ATTRIBUTE, PNC_CHECKSUM_TEXT - 1, PNC_CHECKSUM_NONE);
}

typedef struct summary {
    const copy_plan *plan;
    const copy_var *var;
    int ncid, varid;
    int64_t total, nblocks, per_block; /* elements, blocks, elements of a block */
    unsigned char *digests;
    char *values, *bytes;
    MPI_Offset *indices; /* start and count of hyperslabs */
    MPI_Offset **starts, **counts;
} summary;

static int read_and_sum(summary *s, int64_t block)
{
    int64_t last = block + BLOCKS_AT_ONCE < s->nblocks ? block + BLOCKS_AT_ONCE : s->nblocks;
    int64_t begin = block * s->per_block, end = last * s->per_block < s->total ? last * s->per_block : s->total;
    size_t size = pnc_type_get_size(s->var->to);
    int num = pnc_convert_checksum_find_slabs(s->var->ndims, s->var->shape, begin, block < s->nblocks ? end : begin,
                                              s->starts, s->counts);
    int64_t n = block < s->nblocks ? end - begin : 0;
    PNC_TRY(
        ncmpi_get_varn_all(s->ncid, s->varid, num, s->starts, s->counts, s->values, n, tool_type_get_mpi(s->var->to)));
    for (int64_t done = 0, now; done < n; done += now, block++) {
        now = n - done < s->per_block ? n - done : s->per_block;
        pnc_convert_checksum_compute(s->var->to, s->values + (size_t)done * size, now, s->bytes,
                                     s->digests + block * PNC_XXH3_BYTES);
    }
    return NC_NOERR;
}

/* Each rank has the digests of its blocks, and zeros for others. */
static void combine_digests(summary *s)
{
    int64_t n = s->nblocks * PNC_XXH3_BYTES;
    for (int64_t done = 0, now; done < n; done += now) {
        now = n - done < (1 << 20) ? n - done : 1 << 20;
        MPI_Allreduce(MPI_IN_PLACE, s->digests + done, (int)now, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
    }
}

static int sum_variable(summary *s, char text[PNC_CHECKSUM_TEXT])
{
    int err = NC_NOERR;
    int64_t step = (int64_t)BLOCKS_AT_ONCE * s->plan->nprocs;
    for (int64_t round = 0; err == NC_NOERR && round < s->nblocks; round += step)
        err = read_and_sum(s, round + (int64_t)BLOCKS_AT_ONCE * s->plan->rank);
    if (err != NC_NOERR)
        return copy_failure_print(s->plan, s->plan->options->output, err);
    combine_digests(s);
    pnc_convert_checksum_format(s->digests, s->nblocks, text);
    return NC_NOERR;
}

static int alloc_lists(summary *s)
{
    int64_t ndims = s->var->ndims, most = 2 * ndims + 1;
    s->indices = pnc_memory_alloc_zeroed(2 * most * (ndims + 1), sizeof *s->indices);
    s->starts = pnc_memory_alloc(2 * most, sizeof *s->starts);
    s->digests = pnc_memory_alloc_zeroed(s->nblocks, PNC_XXH3_BYTES);
    if (s->indices == NULL || s->starts == NULL || s->digests == NULL)
        return NC_ENOMEM;
    s->counts = s->starts + most;
    for (int64_t i = 0; i < 2 * most; i++)
        s->starts[i] = s->indices + i * (ndims + 1);
    return NC_NOERR;
}

/* Whether a rank has lost values of the variable. Collective. */
static bool has_lost(const summary *s)
{
    int64_t lost = s->var->lost;
    MPI_Allreduce(MPI_IN_PLACE, &lost, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    return lost > 0;
}

/* Compare with that of the input, which its copy would otherwise replace. */
static int check_input(const summary *s, int from, const char *text)
{
    char old[PNC_CHECKSUM_TEXT] = "";
    nc_type type = NC_NAT;
    MPI_Offset length = 0;
    int id = s->var->id;
    bool has_one = ncmpi_inq_att(from, id, PNC_CHECKSUM_ATTRIBUTE, &type, &length) == NC_NOERR && type == NC_CHAR &&
                   length == PNC_CHECKSUM_TEXT - 1 &&
                   ncmpi_get_att_text(from, id, PNC_CHECKSUM_ATTRIBUTE, old) == NC_NOERR;
    if (!has_one || !is_kept(s->plan, s->var) || strcmp(old, text) == 0 || has_lost(s))
        return NC_NOERR;
    return copy_error_print(s->plan, NC_EFILE,
                            "%s: variable %s: its values have the checksum %s, but its attribute %s "
                            "is %s",
                            s->plan->options->inputs[0], s->var->name, text, PNC_CHECKSUM_ATTRIBUTE, old);
}

/* The name that the variable has in the output. */
static int keep_checksum(const summary *s, const char *text, tool_manifest *manifest)
{
    char name[NC_MAX_NAME + 1];
    int err = ncmpi_inq_varname(s->ncid, s->varid, name);
    if (err == NC_NOERR)
        err = tool_manifest_add(manifest, name, text);
    err = tool_status_agree(err);
    return err == NC_NOERR ? err : copy_failure_print(s->plan, s->plan->options->output, err);
}

static int put_checksum(summary *s, int from, tool_manifest *manifest)
{
    char text[PNC_CHECKSUM_TEXT];
    s->total = 1;
    for (int d = 0; d < s->var->ndims; d++)
        s->total *= s->var->shape[d];
    s->per_block = PNC_CHECKSUM_BLOCK / (int64_t)pnc_type_get_size(s->var->to);
    s->nblocks = s->total / s->per_block + (s->total % s->per_block > 0);
    int err = tool_status_agree(alloc_lists(s));
    if (err != NC_NOERR)
        copy_error_print(s->plan, err, "%s: not enough memory for a checksum", s->plan->options->output);
    if (err == NC_NOERR)
        err = sum_variable(s, text);
    if (err == NC_NOERR)
        err = check_input(s, from, text);
    if (err == NC_NOERR && !copy_checksum_is_attribute(s->plan)) {
        err = keep_checksum(s, text, manifest);
    } else if (err == NC_NOERR) {
        err = ncmpi_put_att_text(s->ncid, s->varid, PNC_CHECKSUM_ATTRIBUTE, PNC_CHECKSUM_TEXT - 1, text);
        if (err != NC_NOERR)
            copy_failure_print(s->plan, s->plan->options->output, err);
    }
    pnc_memory_free(s->indices);
    pnc_memory_free(s->starts);
    pnc_memory_free(s->digests);
    return err;
}

static tool_output_request make_manifest_request(const copy_plan *plan)
{
    return (tool_output_request){.path = plan->options->manifest,
                                 .inputs = &plan->options->output,
                                 .ninputs = 1,
                                 .streams = true,
                                 .is_kind = tool_manifest_is_head,
                                 .kind = "a manifest"};
}

int copy_manifest_check(const copy_plan *plan)
{
    const tool_output_request request = make_manifest_request(plan);
    pnc_error error = {0};
    int err = NC_NOERR;
    if (plan->options->manifest == NULL)
        return NC_NOERR;
    if (plan->rank == 0)
        err = tool_output_check(&request, &error);
    if (err != NC_NOERR)
        tool_error_print("%s", error.text);
    return tool_status_agree(err);
}

static int write_manifest(const copy_plan *plan, const tool_manifest *manifest, pnc_error *error)
{
    const tool_output_request request = make_manifest_request(plan);
    tool_output output;
    PNC_TRY(tool_output_begin(&request, &output, error));
    FILE *out = fopen(output.temporary, "w");
    if (out != NULL)
        tool_manifest_write(manifest, plan->options->output, out);
    bool failed = out == NULL || ferror(out) != 0;
    if (out != NULL)
        failed |= fclose(out) != 0;
    if (!failed)
        return tool_output_commit(&output, error);
    tool_output_discard(&output);
    return pnc_error_set(error, NC_EWRITE, "%s: cannot be written", plan->options->manifest);
}

int copy_manifest_write(const copy_plan *plan, const tool_manifest *manifest)
{
    pnc_error error = {0};
    int err = NC_NOERR;
    if (plan->options->manifest == NULL)
        return NC_NOERR;
    if (plan->rank == 0)
        err = write_manifest(plan, manifest, &error);
    if (err != NC_NOERR)
        tool_error_print("%s", error.text);
    return tool_status_agree(err);
}

int copy_checksums_put(const copy_plan *plan, int ncid, tool_manifest *manifest)
{
    int from, err = copy_input_open(plan, plan->options->inputs[0], &from);
    if (err != NC_NOERR)
        return err;
    char *values = pnc_memory_alloc(BLOCKS_AT_ONCE, PNC_CHECKSUM_BLOCK);
    char *bytes = pnc_memory_alloc(PNC_CHECKSUM_BLOCK, 1);
    err = tool_status_agree(values != NULL && bytes != NULL ? NC_NOERR : NC_ENOMEM);
    if (err != NC_NOERR)
        copy_error_print(plan, err, "%s: not enough memory for checksums", plan->options->output);
    for (int i = 0; err == NC_NOERR && i < plan->nvars; i++) {
        if (!copy_checksum_is_possible(&plan->vars[i])) {
            if (plan->rank == 0)
                tool_warning_print("warning: %s: variable %s has no checksum: it is of strings", plan->options->output,
                                   plan->vars[i].name);
            continue;
        }
        summary s = {.plan = plan, .var = &plan->vars[i], .ncid = ncid, .varid = i, .values = values, .bytes = bytes};
        err = put_checksum(&s, from, manifest);
    }
    pnc_memory_free(values);
    pnc_memory_free(bytes);
    ncmpi_close(from);
    return err;
}
