/* Numbers of ranks become those of all; numbers for people. */
#include "statistics/summary.h"

void pnc_spread_init(pnc_spread *spread, int64_t value, const pnc_place *place)
{
    *spread = (pnc_spread){value, value, value, *place, *place};
}

void pnc_spread_merge(pnc_spread *into, const pnc_spread *other)
{
    into->sum += other->sum;
    if (other->least < into->least || (other->least == into->least && other->at_least.rank < into->at_least.rank)) {
        into->least = other->least;
        into->at_least = other->at_least;
    }
    if (other->most > into->most || (other->most == into->most && other->at_most.rank < into->at_most.rank)) {
        into->most = other->most;
        into->at_most = other->at_most;
    }
}

void pnc_summary_var_add(pnc_summary *s, const pnc_var_summary *var)
{
    int at = s->nvars;

    if (var->put_bytes + var->get_bytes + var->nanoseconds == 0)
        return;
    while (at > 0 && s->vars[at - 1].nanoseconds < var->nanoseconds)
        at--;
    if (at == PNC_SUMMARY_VARS)
        return;
    if (s->nvars < PNC_SUMMARY_VARS)
        s->nvars++;
    for (int i = s->nvars - 1; i > at; i--)
        s->vars[i] = s->vars[i - 1];
    s->vars[at] = *var;
}

pnc_amount pnc_amount_of_bytes_format(double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    pnc_amount a;
    int i = 0;

    for (; bytes >= 1024 && i < 6; i++)
        bytes /= 1024;
    snprintf(a.text, sizeof a.text, i == 0 || bytes >= 100 ? "%.0f %s" : "%.1f %s", bytes, units[i]);
    return a;
}

pnc_amount pnc_amount_of_time_format(double nanoseconds)
{
    pnc_amount a;

    if (nanoseconds >= 1e9)
        snprintf(a.text, sizeof a.text, nanoseconds >= 1e11 ? "%.0f s" : "%.2f s", nanoseconds / 1e9);
    else if (nanoseconds >= 1e6)
        snprintf(a.text, sizeof a.text, "%.1f ms", nanoseconds / 1e6);
    else
        snprintf(a.text, sizeof a.text, "%.1f us", nanoseconds / 1e3);
    return a;
}

void pnc_summary_chunked_add(pnc_summary *s, const pnc_chunked_var *var)
{
    for (pnc_chunk_rule rule = 0; rule < PNC_CHUNK_RULES; rule++)
        if (pnc_summary_chunked_count(var, rule) > pnc_summary_chunked_count(&s->chunked[rule], rule))
            s->chunked[rule] = *var;
}
