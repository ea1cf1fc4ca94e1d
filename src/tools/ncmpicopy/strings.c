/* Strings are read by collective calls, and by independent ones where they are not next to each other, or one of them
 * may be damaged. */
#include "tools/ncmpicopy/strings.h"

#include <string.h>

#include "base/memory.h"
#include "tools/common/join.h"
#include "tools/common/message.h"
#include "tools/common/parallel.h"
#include "tools/ncmpicopy/salvage.h"

/* Those of a block that this rank could not read. */
typedef struct losses {
    int64_t n, first, last; /* numbers of elements in the block */
    int code;
} losses;

/* --- runs --- */

/* Dimensions that are not read in runs: those up to the last one with a stride. */
static int count_outer(const copy_block *b)
{
    int outer = b->var->ndims;
    while (outer > 0 && b->stride[outer - 1] == 1)
        outer--;
    return outer;
}

/* The index, in the input, of an element of the block. */
static void find_index(const copy_block *b, int64_t element, MPI_Offset *index)
{
    for (int d = b->var->ndims - 1; d >= 0; d--) {
        index[d] = b->start[d] + element % b->count[d] * b->stride[d];
        element /= b->count[d];
    }
}

static int keep_fill(char *const *fill, int64_t n, losses *lost, int64_t at, int code, char **out)
{
    *lost = (losses){.n = lost->n + n, .first = lost->n > 0 ? lost->first : at, .last = at + n - 1, .code = code};
    for (int64_t i = 0; i < n; i++) {
        out[i] = pnc_string_copy(*fill);
        if (out[i] == NULL)
            return NC_ENOMEM;
    }
    return NC_NOERR;
}

/* The first `outer` dimensions are read index by index. fill: for strings that cannot be read; NULL: an error. */
static int read_runs(const copy_block *b, int outer, MPI_Offset *start, char *const *fill, losses *lost, char **out)
{
    MPI_Offset *count = start + b->var->ndims;
    int64_t run = 1;
    int err = NC_NOERR;
    for (int d = 0; d < b->var->ndims; d++) {
        count[d] = d < outer ? 1 : b->count[d];
        run *= count[d];
    }
    for (int64_t at = 0; err == NC_NOERR && at < b->n; at += run) {
        find_index(b, at, start);
        err = ncmpi_get_vara_string(b->ncid, b->varid, start, count, out + at);
        if (fill != NULL && copy_wreck_is_damage(err))
            err = keep_fill(fill, run, lost, at, err, out + at);
    }
    return err;
}

/* --- a block --- */

static void explain_element(const copy_block *b, int64_t element, MPI_Offset *index, char out[TOOL_MEANING_TEXT])
{
    int64_t number = 0;
    find_index(b, element, index);
    for (int d = 0; d < b->var->ndims; d++)
        number = number * b->lengths[d] + index[d];
    tool_index_explain(b->var->ndims, b->lengths, number, out, TOOL_MEANING_TEXT);
}

static void report(const copy_block *b, const losses *lost, MPI_Offset *index)
{
    char first[TOOL_MEANING_TEXT], last[TOOL_MEANING_TEXT];
    explain_element(b, lost->first, index, first);
    explain_element(b, lost->last, index, last);
    tool_error_print_last(b->path, lost->code);
    tool_error_print("variable %s: %lld strings from %s to %s become the fill value", b->var->name, (long long)lost->n,
                     first, last);
}

/* By this rank, in independent mode. */
static int read_here(copy_block *b, bool salvages, char **out)
{
    losses lost = {0};
    char *fill = NULL;
    int no_fill, err = NC_NOERR;
    MPI_Offset *start = pnc_memory_alloc(2 * (int64_t)b->var->ndims, sizeof *start);
    if (start == NULL)
        return NC_ENOMEM;
    if (salvages)
        err = ncmpi_inq_var_fill(b->ncid, b->varid, &no_fill, &fill);
    if (err == NC_NOERR)
        err = read_runs(b, salvages ? b->var->ndims : count_outer(b), start, salvages ? &fill : NULL, &lost, out);
    b->lost = lost.n;
    if (lost.n > 0 && b->is_reported)
        report(b, &lost, start);
    pnc_memory_free(fill);
    pnc_memory_free(start);
    return err;
}

static int read_apart(copy_block *b, bool salvages, pnc_reader_strings *strings)
{
    int err = tool_status_agree(ncmpi_begin_indep_data(b->ncid));
    if (err != NC_NOERR)
        return err;
    err = read_here(b, salvages, strings->at);
    int end = ncmpi_end_indep_data(b->ncid);
    return tool_status_agree(err != NC_NOERR ? err : end);
}

static int alloc_strings(int64_t n, pnc_reader_strings *strings)
{
    *strings = (pnc_reader_strings){.n = n, .at = pnc_memory_alloc_zeroed(n, sizeof *strings->at)};
    return tool_status_agree(strings->at != NULL ? NC_NOERR : NC_ENOMEM);
}

int copy_strings_read(copy_block *b, pnc_reader_strings *strings)
{
    bool strided = false;
    for (int d = 0; d < b->var->ndims; d++)
        strided = strided || b->stride[d] > 1;
    b->lost = 0;
    int err = alloc_strings(b->n, strings);
    if (err == NC_NOERR && strided)
        err = read_apart(b, false, strings);
    else if (err == NC_NOERR)
        err = tool_status_agree(ncmpi_get_vara_string_all(b->ncid, b->varid, b->start, b->count, strings->at));
    if (b->plan->options->salvage && copy_wreck_is_damage(err)) {
        ncmpi_free_string(b->n, strings->at); /* some may have been read */
        err = read_apart(b, true, strings);
    }
    return err == NC_NOERR ? err : copy_failure_print(b->plan, b->path, err);
}

int copy_strings_put(const copy_block *b, const pnc_reader_strings *strings, int to, int id, const MPI_Offset *start)
{
    int err = ncmpi_put_vara_string_all(to, id, start, b->count, (const char *const *)strings->at);
    return err == NC_NOERR ? err : copy_failure_print(b->plan, b->plan->options->output, err);
}

int copy_strings_compare(const copy_block *b, const pnc_reader_strings *strings, int to, int id,
                         const MPI_Offset *start, bool *same)
{
    pnc_reader_strings found;
    int err = alloc_strings(b->n, &found);
    if (err == NC_NOERR)
        err = ncmpi_get_vara_string_all(to, id, start, b->count, found.at);
    *same = err != NC_NOERR || tool_string_difference_find(strings->at, found.at, b->n) < 0;
    pnc_formats_strings_free(&found);
    return err == NC_NOERR ? err : copy_failure_print(b->plan, b->plan->options->output, err);
}
