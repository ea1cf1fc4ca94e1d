/* Values of a variable in a log. */
#include "log/values.h"

#include <string.h>

#include "base/memory.h"

int64_t pnc_log_values_encode(int ndims, const int64_t *start, const int64_t *count, const int64_t *stride,
                              int64_t *numbers)
{
    size_t bytes = (size_t)ndims * sizeof *numbers;

    numbers[0] = stride != NULL ? 3 : 2;
    if (ndims > 0) {
        memcpy(numbers + 1, start, bytes);
        memcpy(numbers + 1 + ndims, count, bytes);
    }
    if (ndims > 0 && stride != NULL)
        memcpy(numbers + 1 + 2 * (int64_t)ndims, stride, bytes);
    return pnc_log_values_get_head(ndims, stride != NULL);
}

bool pnc_log_values_decode(const int64_t *numbers, int64_t n, int ndims, int elem_size, pnc_log_values *out)
{
    int64_t head, bytes = elem_size;
    bool strided;

    if (n < (int64_t)sizeof *numbers || n > PNC_LOG_VALUES_MOST || numbers[0] < 2 || numbers[0] > 3)
        return false;
    strided = numbers[0] == 3;
    head = pnc_log_values_get_head(ndims, strided);
    if (n < head)
        return false;
    *out = (pnc_log_values){.start = numbers + 1, .count = numbers + 1 + ndims, .bytes = (const char *)numbers + head};
    out->stride = strided ? out->count + ndims : NULL;
    for (int d = 0; d < ndims; d++)
        if (out->count[d] <= 0 || pnc_size_multiply(bytes, out->count[d], &bytes) != 0)
            return false;
    out->n = bytes / elem_size;
    return bytes == n - head;
}

bool pnc_log_values_is_inside(const pnc_log_values *v, int ndims, const int64_t *lengths)
{
    for (int d = 0; d < ndims; d++) {
        int64_t step = v->stride != NULL ? v->stride[d] : 1, last;

        if (v->start[d] < 0 || step <= 0 || pnc_size_multiply(v->count[d] - 1, step, &last) != 0 ||
            pnc_size_add(last, v->start[d], &last) != 0 || last == INT64_MAX)
            return false;
        if (lengths[d] >= 0 && last >= lengths[d])
            return false;
    }
    return true;
}
