/* Causes of moves, from the layouts before and after. */
#include "growth/cause.h"

#include <stdio.h>
#include <string.h>

#include "base/minmax.h"
#include "format/codec.h"
#include "format/layout.h"

#define SENTENCE_BYTES 240

/* Bytes of the fixed-size variables; *end: the offset after the last one, 0 without any. */
static int64_t sum_fixed(const pnc_model *model, int64_t *end)
{
    int64_t sum = 0;

    *end = 0;
    for (int i = 0; i < model->nvars; i++) {
        const pnc_var *var = model->vars[i];
        int64_t size = pnc_format_var_get_padded_size(model, var);

        if (var->is_record)
            continue;
        sum += size;
        *end = pnc_max64(*end, var->classic.begin + size);
    }
    return sum;
}

void pnc_growth_origin_init(pnc_growth_origin *origin, const pnc_model *model)
{
    int64_t end;

    *origin = (pnc_growth_origin){
        .header = model->classic.header_size, .fixed = sum_fixed(model, &end), .h_minfree = -1, .v_minfree = -1};
}

void pnc_growth_cause_add(pnc_growth_cause *cause, const pnc_growth_origin *origin, const pnc_model *old,
                          const pnc_model *now)
{
    int64_t header = pnc_format_header_get_size(now), end, unused;
    int64_t fixed = sum_fixed(now, &unused), more = fixed - sum_fixed(old, &end);
    bool is_before_records = more > 0 && old->numrecs > 0 && old->nrecvars > 0;
    bool is_first = is_before_records && old->nvars == old->nrecvars;
    bool lacks_header = header > old->classic.header_extent;
    bool lacks_fixed = is_before_records && !is_first && end + more > old->classic.begin_rec;
    bool has_longer_records = now->classic.recsize > old->classic.recsize && old->numrecs > 1;

    if (lacks_header)
        cause->header = pnc_max64(cause->header, header - origin->header);
    if (lacks_fixed)
        cause->fixed = pnc_max64(cause->fixed, fixed - origin->fixed);
    if (has_longer_records)
        cause->record += now->classic.recsize - old->classic.recsize;
    cause->has_first = cause->has_first || is_first;
    cause->is_asked = cause->is_asked || !(lacks_header || lacks_fixed || has_longer_records || is_first);
}

/* --- in words --- */

static void explain_header(const pnc_growth_cause *cause, const pnc_growth_origin *origin, char *out)
{
    const char *given = origin->by_hint ? "nc_header_reserve" : "h_minfree of ncmpi__enddef";
    long long needed = (long long)cause->header, asked = (long long)origin->h_minfree;

    if (asked < 0)
        snprintf(out, SENTENCE_BYTES,
                 "the header grew beyond its free space: create the file with the hint nc_header_reserve=%lld, or give "
                 "ncmpi__enddef that h_minfree",
                 needed);
    else if (origin->is_opened)
        snprintf(out, SENTENCE_BYTES,
                 "the header grew beyond its free space, which %s only decides when the file is created: %lld bytes "
                 "suffice there",
                 given, needed);
    else
        snprintf(out, SENTENCE_BYTES, "the header grew beyond its free space: %s is %lld, and %lld bytes suffice",
                 given, asked, needed);
}

static void explain_fixed(const pnc_growth_cause *cause, const pnc_growth_origin *origin, char *out)
{
    long long needed = (long long)cause->fixed, asked = (long long)origin->v_minfree;

    if (asked < 0)
        snprintf(out, SENTENCE_BYTES,
                 "new fixed-size variables took the place of records: define them before the first ncmpi_enddef, or "
                 "create the file with v_minfree=%lld in ncmpi__enddef",
                 needed);
    else
        snprintf(out, SENTENCE_BYTES,
                 "new fixed-size variables took the place of records: v_minfree of ncmpi__enddef is %lld, and %lld "
                 "bytes suffice",
                 asked, needed);
}

static void append(char *out, size_t capacity, const char *sentence)
{
    size_t n = strlen(out);

    if (n + strlen(sentence) + 2 < capacity)
        snprintf(out + n, capacity - n, "%s%s", n > 0 ? "; " : "", sentence);
}

void pnc_growth_cause_explain(const pnc_growth_cause *cause, const pnc_growth_origin *origin, char *out,
                              size_t capacity)
{
    char sentence[SENTENCE_BYTES];

    out[0] = '\0';
    if (cause->header > 0) {
        explain_header(cause, origin, sentence);
        append(out, capacity, sentence);
    }
    if (cause->fixed > 0) {
        explain_fixed(cause, origin, sentence);
        append(out, capacity, sentence);
    }
    if (cause->has_first)
        append(out, capacity,
               "the first fixed-size variables took the place of records: define one of them before the first "
               "ncmpi_enddef, then v_minfree of ncmpi__enddef reserves space for others");
    if (cause->record > 0) {
        snprintf(sentence, sizeof sentence,
                 "new record variables made each record %lld bytes longer: define all record variables before the "
                 "first record is written",
                 (long long)cause->record);
        append(out, capacity, sentence);
    }
    if (cause->is_asked)
        append(out, capacity,
               "ncmpi__enddef or a hint asked for more free space or another alignment than the file has: ask for it "
               "when the file is created");
}
