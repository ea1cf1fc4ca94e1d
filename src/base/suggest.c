/* Nearest name by the optimal string alignment distance (insert, delete, replace, swap two neighbours). */
#include "base/suggest.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "base/minmax.h"

enum { LONGEST = 64 }; /* bound on compared letters: longer names are rarely typed */

static int to_lower(char c)
{
    return tolower((unsigned char)c);
}

/* Row i of the table has the distances of the first i letters of a to the first j of b; three rows are kept. */
static int compute_distance(const char *a, int a_length, const char *b, int b_length)
{
    int rows[3][LONGEST + 1];
    assert(a_length <= LONGEST && b_length <= LONGEST);
    for (int i = 0; i <= a_length; i++) {
        int *row = rows[i % 3], *previous = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= b_length; j++) {
            if (i == 0) {
                row[j] = j;
                continue;
            }
            int same = to_lower(a[i - 1]) == to_lower(b[j - 1]);
            row[j] = (int)pnc_min64(pnc_min64(previous[j], row[j - 1]) + 1, previous[j - 1] + !same);
            if (i > 1 && j > 1 && to_lower(a[i - 1]) == to_lower(b[j - 2]) && to_lower(a[i - 2]) == to_lower(b[j - 1]))
                row[j] = (int)pnc_min64(row[j], before[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

const char *pnc_name_suggest(const char *wanted, int count, const char *const names[])
{
    size_t length = strlen(wanted);
    if (length > LONGEST)
        return NULL;
    int bound = ((int)length + 2) / 3; /* a suggestion must have a smaller distance */
    const char *nearest = NULL;
    for (int i = 0; i < count; i++) {
        size_t other = names[i] != NULL ? strlen(names[i]) : LONGEST + 1;
        if (other > LONGEST || (int)other - (int)length >= bound || (int)length - (int)other >= bound)
            continue;
        int d = compute_distance(wanted, (int)length, names[i], (int)other);
        if (d < bound) {
            bound = d;
            nearest = names[i];
        }
    }
    return nearest;
}
