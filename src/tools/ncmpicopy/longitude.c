#include "tools/ncmpicopy/longitude.h"

#include "base/types.h"

void copy_runs_add(copy_runs *runs, int64_t index, double value, int turns)
{
    copy_run *run = runs->n > 0 ? &runs->at[runs->n - 1] : NULL;
    if (run != NULL && run->last + 1 == index && run->turns == turns) {
        run->last = index;
        run->previous_value = run->last_value;
        run->last_value = value;
    } else if (runs->n < COPY_RUNS) {
        runs->at[runs->n++] = (copy_run){index, index, turns, value, value, value};
    } else {
        runs->too_many = true;
    }
    runs->found++;
}

/* Leave out the last longitude, which is the first one. */
static void trim(copy_runs *runs, const copy_cycle *cycle)
{
    copy_run *run = &runs->at[runs->n - 1];
    if (!cycle->is_closed || runs->n < 2 || runs->at[0].first > 0 || run->last + 1 < cycle->length)
        return;
    run->last_value = run->previous_value;
    runs->n -= run->first == run->last;
    run->last--;
    runs->found--;
}

/* Whether the values go on where a run ends, or at the start of the dimension. */
static bool follows(const copy_run *a, const copy_run *b, const copy_cycle *cycle)
{
    bool at_end = cycle->is_cyclic && b->first == 0 && a->last + 1 == cycle->length - cycle->is_closed;
    double last = a->last_value + 360 * a->turns, next = b->first_value + 360 * b->turns;
    return (a->last + 1 == b->first || at_end) && (next > last) == cycle->ascends && next != last;
}

static void rotate(copy_runs *runs)
{
    copy_run first = runs->at[0];
    for (int i = 1; i < runs->n; i++)
        runs->at[i - 1] = runs->at[i];
    runs->at[runs->n - 1] = first;
}

bool copy_runs_join(copy_runs *runs, const copy_cycle *cycle, copy_selection *out)
{
    if (runs->n == 0 || runs->too_many)
        return false;
    trim(runs, cycle);
    for (int start = 0; start < runs->n; start++) {
        bool good = true;
        for (int i = 1; i < runs->n; i++)
            good = good && follows(&runs->at[i - 1], &runs->at[i], cycle);
        if (good) {
            int64_t end = runs->at[0].first + runs->found, most = cycle->length - (start > 0 && cycle->is_closed);
            *out = (copy_selection){runs->at[0].first, runs->found, end > most ? end - most : 0};
            return true;
        }
        rotate(runs);
    }
    return false;
}

/* Numbers of a type. */
#define DEFINE_TURN(name, type)                            \
    static void name(void *values, int64_t n, int degrees) \
    {                                                      \
        type *v = values;                                  \
        for (int64_t i = 0; i < n; i++)                    \
            v[i] = (type)(v[i] + (type)degrees);           \
    }

DEFINE_TURN(turn_float, float)
DEFINE_TURN(turn_double, double)
DEFINE_TURN(turn_short, int16_t)
DEFINE_TURN(turn_int, int32_t)
DEFINE_TURN(turn_int64, int64_t)

static void turn_values(int type, void *values, int64_t n, int degrees)
{
    switch (type) {
    case NC_FLOAT: turn_float(values, n, degrees); break;
    case NC_DOUBLE: turn_double(values, n, degrees); break;
    case NC_SHORT: turn_short(values, n, degrees); break;
    case NC_INT: turn_int(values, n, degrees); break;
    default: turn_int64(values, n, degrees);
    }
}

void copy_longitudes_convert(const copy_var *var, int64_t first, int64_t count, int64_t elements, void *values)
{
    int64_t inner = count > 0 ? elements / count : 0;
    size_t size = pnc_type_get_size(var->type);
    for (int t = 0; t < var->nturns; t++) {
        const copy_turn *turn = &var->turns[t];
        for (int64_t i = 0; i < count; i++)
            if (first + i >= turn->first && first + i <= turn->last)
                turn_values(var->type, (char *)values + (size_t)(i * inner) * size, inner, turn->degrees);
    }
}
