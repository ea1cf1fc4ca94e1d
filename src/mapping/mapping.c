/* Offsets, addresses and indices. */
#include "mapping/mapping.h"

#include <assert.h>

void pnc_mapping_part_find(pnc_locator *l, int64_t offset)
{
    int64_t part = offset / l->part;

    assert(offset >= 0);
    l->low = part * l->part;
    l->high = l->low + l->part;
    l->shift = l->begin + part * l->step - l->low;
}

void pnc_mapping_index_find(const pnc_mapping *m, int64_t address, int64_t *index)
{
    const pnc_array *a = &m->array;
    int64_t offset = address - a->begin;
    int first = 0;

    if (a->is_record) {
        index[first++] = offset / a->recsize;
        offset %= a->recsize;
    }
    offset /= a->elem_size;
    for (int i = a->ndims - 1; i >= first; offset /= a->shape[i--])
        index[i] = offset % a->shape[i];
}

bool pnc_mapping_has_address(const pnc_mapping *m, int64_t address)
{
    int64_t offset = address - m->array.begin;

    if (m->array.is_record && m->array.recsize > 0 && offset > 0)
        offset %= m->array.recsize;
    return offset >= 0 && offset < m->part;
}
