/* What advice says about the chunks of a variable: their lengths, those of accesses, and better ones. */
#include "statistics/summary.h"

#include <string.h>

#include "base/minmax.h"

/* Chunks that are advised have about so many bytes: the library's own choice at most; at least what a request to a
 * file system and the filters need anyway. The latter is a guess. */
enum { MOST_BYTES = 2 << 20, LEAST_BYTES = 128 << 10 };

int64_t pnc_summary_chunked_count(const pnc_chunked_var *var, pnc_chunk_rule rule)
{
    const pnc_chunk_counts *c = &var->counts;
    int64_t n = c->written + c->read;

    switch (rule) {
    case PNC_WRITTEN_AGAIN: return c->written_again;
    case PNC_READ_AGAIN: return c->read_again;
    case PNC_LITTLE_USED: return pnc_max64(0, c->bytes_read - c->bytes_used);
    case PNC_SMALL_CHUNKS: return n > 0 && (c->bytes_written + c->bytes_read) / n < PNC_SMALL_CHUNK ? n : 0;
    default: return c->stored_written >= c->bytes_written / 10 * 9 ? c->stored_written : 0;
    }
}

static int64_t count_advised_bytes(const pnc_chunked_var *var, const int64_t *lengths)
{
    double bytes = var->elem_size;

    for (int d = 0; d < var->ndims; d++)
        bytes *= (double)lengths[d];
    return bytes < 1e15 ? (int64_t)bytes : (int64_t)1e15;
}

/* Double the lengths, those of the fastest dimensions first, until a chunk has enough bytes or all of the variable. */
static void grow_lengths(const pnc_chunked_var *var, int64_t *lengths)
{
    for (bool grows = true; grows && count_advised_bytes(var, lengths) < LEAST_BYTES;) {
        grows = false;
        for (int d = var->ndims - 1; d >= 0 && count_advised_bytes(var, lengths) < LEAST_BYTES; d--) {
            if (lengths[d] >= var->shape[d])
                continue;
            lengths[d] = pnc_min64(2 * lengths[d], var->shape[d]);
            grows = true;
        }
    }
}

/* Halve those of the slowest dimensions. */
static void cut_lengths(const pnc_chunked_var *var, int64_t *lengths)
{
    for (int d = 0; d < var->ndims; d++)
        while (lengths[d] > 1 && count_advised_bytes(var, lengths) > MOST_BYTES)
            lengths[d] = (lengths[d] + 1) / 2;
}

static bool has_lengths(const pnc_chunked_var *var, const int64_t *lengths)
{
    for (int d = 0; d < var->ndims; d++)
        if (lengths[d] <= 0)
            return false;
    return var->ndims > 0;
}

/* Puts are to fill whole chunks, so that those are not longer than a put. False: there are no better ones. */
static bool choose_advised_lengths(const pnc_chunked_var *var, pnc_chunk_rule rule, int64_t *out)
{
    const int64_t *from = rule == PNC_SMALL_CHUNKS ? var->chunk : var->lengths[rule == PNC_WRITTEN_AGAIN];

    if (rule == PNC_INCOMPRESSIBLE || !has_lengths(var, from))
        return false;
    for (int d = 0; d < var->ndims; d++)
        out[d] = pnc_max64(1, pnc_min64(from[d], pnc_max64(1, var->shape[d])));
    if (rule != PNC_WRITTEN_AGAIN)
        grow_lengths(var, out);
    cut_lengths(var, out);
    return count_advised_bytes(var, out) >= PNC_SMALL_CHUNK &&
           memcmp(out, var->chunk, (size_t)var->ndims * sizeof *out) != 0;
}

static void append_lengths(const pnc_chunked_var *var, const int64_t *lengths, char *text)
{
    size_t n = strlen(text);

    for (int d = 0; d < var->ndims && n < PNC_ADVICE_BYTES; d++)
        n += (size_t)snprintf(text + n, PNC_ADVICE_BYTES - n, "%s%lld", d > 0 ? " x " : "", (long long)lengths[d]);
}

static void append_spec(const pnc_chunked_var *var, const int64_t *lengths, char *text)
{
    size_t n = strlen(text);

    for (int d = 0; d < var->ndims && n < PNC_ADVICE_BYTES; d++)
        n += (size_t)snprintf(text + n, PNC_ADVICE_BYTES - n, "%s%.30s/%lld", d > 0 ? "," : "", var->dims[d],
                              (long long)lengths[d]);
}

static void append_advice(const char *more, char *text)
{
    size_t n = strlen(text);

    snprintf(text + n, PNC_ADVICE_BYTES - n, "%s", more);
}

void pnc_summary_chunked_explain(const pnc_chunked_var *var, pnc_chunk_rule rule, char *text)
{
    const int64_t *accessed = var->lengths[rule == PNC_WRITTEN_AGAIN];
    int64_t better[PNC_STATISTICS_DIMS];
    size_t n = strlen(text);

    if (var->name == NULL)
        return;
    snprintf(text + n, PNC_ADVICE_BYTES - n, ". Mostly variable \"%.60s\"", var->name);
    if (var->ndims == 0)
        return;
    append_advice(": its chunks are ", text);
    append_lengths(var, var->chunk, text);
    if (rule <= PNC_LITTLE_USED && has_lengths(var, accessed)) {
        append_advice(rule == PNC_WRITTEN_AGAIN ? ", the last put of rank 0 was " : ", the last get of rank 0 was ",
                      text);
        append_lengths(var, accessed, text);
    }
    if (!choose_advised_lengths(var, rule, better))
        return;
    if (rule == PNC_WRITTEN_AGAIN && var->chunks == PNC_CHOSEN_BY_PROGRAM) {
        append_advice(": ", text);
        append_lengths(var, better, text);
    } else {
        append_advice(rule == PNC_WRITTEN_AGAIN && var->chunks == PNC_CHOSEN_BY_HINTS ? ": nc_chunks=" : ": --chunks ",
                      text);
        append_spec(var, better, text);
    }
    append_advice(" suits better", text);
}
