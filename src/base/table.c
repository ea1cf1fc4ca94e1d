/* Map from name to index. */
#include "base/table.h"

#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/siphash.h"

enum { LEAST_SLOTS = 8 };

typedef struct slot {
    const char *name; /* borrowed; NULL: the slot is free */
    uint32_t hash;    /* of the name */
    int index;
} slot;

struct pnc_table_slots {
    pnc_siphash_key key;
    slot at[];
};

static uint32_t hash_of(const pnc_table *table, const char *name)
{
    return (uint32_t)pnc_siphash_compute(table->slots->key, name, (int64_t)strlen(name), 1, 3);
}

/* The slot of a name, or the free slot where the search for it ends. A quarter of the slots is free. */
static slot *find_slot(const pnc_table *table, const char *name, uint32_t hash)
{
    slot *slots = table->slots->at;
    int64_t i = hash & (table->capacity - 1);

    while (slots[i].name != NULL && (slots[i].hash != hash || strcmp(slots[i].name, name) != 0))
        i = (i + 1) & (table->capacity - 1);
    return &slots[i];
}

/* The slot of a name, or NULL. */
static slot *find_entry(const pnc_table *table, const char *name)
{
    slot *found;

    if (table->n == 0)
        return NULL;
    found = find_slot(table, name, hash_of(table, name));
    return found->name != NULL ? found : NULL;
}

/* Without names. */
static struct pnc_table_slots *create_slots(int64_t capacity)
{
    const int64_t most = (INT64_MAX - (int64_t)sizeof(struct pnc_table_slots)) / (int64_t)sizeof(slot);

    if (capacity > most)
        return NULL;
    return pnc_memory_alloc_zeroed((int64_t)sizeof(struct pnc_table_slots) + capacity * (int64_t)sizeof(slot), 1);
}

int pnc_table_reserve(pnc_table *table, int64_t n)
{
    pnc_table larger = {NULL, table->n, table->capacity > 0 ? table->capacity : LEAST_SLOTS};

    while (n > larger.capacity / 4 * 3)
        larger.capacity *= 2;
    if (larger.capacity == table->capacity)
        return NC_NOERR;
    larger.slots = create_slots(larger.capacity);
    if (larger.slots == NULL)
        return NC_ENOMEM;
    larger.slots->key = table->slots != NULL ? table->slots->key : pnc_siphash_key_make();
    for (int64_t i = 0; i < table->capacity; i++) {
        const slot *old = &table->slots->at[i];

        if (old->name != NULL)
            *find_slot(&larger, old->name, old->hash) = *old;
    }
    pnc_memory_free(table->slots);
    *table = larger;
    return NC_NOERR;
}

int pnc_table_find(const pnc_table *table, const char *name)
{
    const slot *found = find_entry(table, name);

    return found != NULL ? found->index : -1;
}

int pnc_table_add(pnc_table *table, const char *name, int index)
{
    uint32_t hash;
    slot *found;

    PNC_TRY(pnc_table_reserve(table, table->n + 1));
    hash = hash_of(table, name);
    found = find_slot(table, name, hash);
    if (found->name != NULL)
        return NC_ENAMEINUSE;
    *found = (slot){name, hash, index};
    table->n++;
    return NC_NOERR;
}

/* A search ends at the first free slot: a name behind the removed one whose search began at or before it moves there,
 * and so on. (Knuth, The Art of Computer Programming, volume 3, section 6.4, algorithm R) */
void pnc_table_remove(pnc_table *table, const char *name)
{
    slot *removed = find_entry(table, name), *slots;
    int64_t mask = table->capacity - 1, hole, i;

    if (removed == NULL)
        return;
    slots = table->slots->at;
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
    slot *found = find_entry(table, name);

    if (found != NULL)
        found->index = index;
}

void pnc_table_clear(pnc_table *table)
{
    pnc_memory_free(table->slots);
    *table = (pnc_table){NULL, 0, 0};
}
