/* Where the elements of a variable are: at which addresses of an address space. That of a variable of a classic file is
 * the file. The format gives the mapping of a variable. Pure.
 *
 * A variable has parts, whose elements are contiguous: one of a fixed size has one part, a record variable has one in
 * each record. An offset in a variable counts bytes as if its parts were contiguous. */
#ifndef PNC_MAPPING_MAPPING_H
#define PNC_MAPPING_MAPPING_H

#include "select/selection.h"

typedef struct pnc_mapping {
    pnc_array array;
    int64_t part; /* bytes of a part */
} pnc_mapping;

/* Of its first element. */
static inline int64_t pnc_mapping_address_get(const pnc_mapping *m)
{
    return m->array.begin;
}

/* How many records have addresses; any number, if the variable has none. */
static inline int64_t pnc_mapping_records_get_most(const pnc_mapping *m)
{
    return m->array.is_record ? pnc_select_records_get_most(&m->array) : INT64_MAX;
}

/* From offsets in a variable to addresses. It keeps the part of the last one, as the next one usually has the same. */
typedef struct pnc_locator {
    int64_t begin;      /* address of the variable */
    int64_t part, step; /* bytes of a part; from part to part */
    int64_t low, high;  /* offsets in the current part */
    int64_t shift;      /* what is added to them */
} pnc_locator;

static inline void pnc_mapping_locator_init(pnc_locator *l, const pnc_mapping *m)
{
    *l = (pnc_locator){.begin = m->array.begin,
                       .part = m->part,
                       .step = m->array.recsize,
                       .high = m->array.is_record ? 0 : INT64_MAX,
                       .shift = m->array.begin};
}

void pnc_mapping_part_find(pnc_locator *locator, int64_t offset);

static inline int64_t pnc_mapping_offset_locate(pnc_locator *l, int64_t offset)
{
    if (offset < l->low || offset >= l->high)
        pnc_mapping_part_find(l, offset);
    return offset + l->shift;
}

/* Whether the variable has the byte at an address. */
bool pnc_mapping_has_address(const pnc_mapping *mapping, int64_t address);
/* The index of the element at an address of the variable; index has its dimensions. */
void pnc_mapping_index_find(const pnc_mapping *mapping, int64_t address, int64_t *index);

#endif
