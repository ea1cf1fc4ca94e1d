/* Map from name to index. */
#include "base/table.h"

#include <stddef.h>
#include <string.h>

#include "base/digest.h"
#include "base/error.h"
#include "base/memory.h"

enum { LEAST_SLOTS = 8 };

struct pnc_table_slot {
    const char *name; /* borrowed; NULL: the slot is free */
    uint32_t hash;    /* of the name */
    int index;
};

/* Names often differ in their last digits only, which the last round of the digest has not spread to the low bits:
 * those of one more round are as good as random. */
static uint32_t hash_of(const char *name)
{
    return (uint32_t)pnc_digest_word_add(pnc_digest_add(PNC_DIGEST_START, name, (int64_t)strlen(name)), 0);
}

/* The slot of a name, or the free slot where the search for it ends. A quarter of the slots is free. */
static struct pnc_table_slot *find_slot(const pnc_table *table, const char *name, uint32_t hash)
{
    int64_t i = hash & (table->capacity - 1);

    while (table->slots[i].name != NULL && (table->slots[i].hash != hash || strcmp(table->slots[i].name, name) != 0))
        i = (i + 1) & (table->capacity - 1);
    return &table->slots[i];
}

/* The slot of a name, or NULL. */
static struct pnc_table_slot *find_entry(const pnc_table *table, const char *name)
{
    struct pnc_table_slot *slot;

    if (table->n == 0)
        return NULL;
    slot = find_slot(table, name, hash_of(name));
    return slot->name != NULL ? slot : NULL;
}

int pnc_table_reserve(pnc_table *table, int64_t n)
{
    pnc_table larger = {NULL, table->n, table->capacity > 0 ? table->capacity : LEAST_SLOTS};

    while (n > larger.capacity / 4 * 3)
        larger.capacity *= 2;
    if (larger.capacity == table->capacity)
        return NC_NOERR;
    larger.slots = pnc_memory_alloc_zeroed(larger.capacity, sizeof *larger.slots);
    if (larger.slots == NULL)
        return NC_ENOMEM;
    for (int64_t i = 0; i < table->capacity; i++)
        if (table->slots[i].name != NULL)
            *find_slot(&larger, table->slots[i].name, table->slots[i].hash) = table->slots[i];
    pnc_memory_free(table->slots);
    *table = larger;
    return NC_NOERR;
}

int pnc_table_find(const pnc_table *table, const char *name)
{
    const struct pnc_table_slot *slot = find_entry(table, name);

    return slot != NULL ? slot->index : -1;
}

int pnc_table_add(pnc_table *table, const char *name, int index)
{
    uint32_t hash = hash_of(name);
    struct pnc_table_slot *slot;

    PNC_TRY(pnc_table_reserve(table, table->n + 1));
    slot = find_slot(table, name, hash);
    if (slot->name != NULL)
        return NC_ENAMEINUSE;
    *slot = (struct pnc_table_slot){name, hash, index};
    table->n++;
    return NC_NOERR;
}

/* A search ends at the first free slot: a name behind the removed one whose search began at or before it moves there,
 * and so on. (Knuth, The Art of Computer Programming, volume 3, section 6.4, algorithm R) */
void pnc_table_remove(pnc_table *table, const char *name)
{
    struct pnc_table_slot *removed = find_entry(table, name), *slots = table->slots;
    int64_t mask = table->capacity - 1, hole, i;

    if (removed == NULL)
        return;
    hole = removed - slots;
    for (i = (hole + 1) & mask; slots[i].name != NULL; i = (i + 1) & mask)
        if (((i - slots[i].hash) & mask) >= ((i - hole) & mask)) {
            slots[hole] = slots[i];
            hole = i;
        }
    slots[hole].name = NULL;
    table->n--;
}

void pnc_table_set(pnc_table *table, const char *name, int index)
{
    struct pnc_table_slot *slot = find_entry(table, name);

    if (slot != NULL)
        slot->index = index;
}

void pnc_table_clear(pnc_table *table)
{
    pnc_memory_free(table->slots);
    *table = (pnc_table){NULL, 0, 0};
}
