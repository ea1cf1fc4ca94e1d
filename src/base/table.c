/* Map from name to index over uthash. Its exit() on lack of memory is replaced by an error code. */
#include "base/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* uthash calls this macro if allocation fails, in the function that adds; the entry is then not in the table. */
#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(entry) (added = false)
#include <uthash.h>

struct pnc_table_entry {
    const char *name; /* borrowed */
    int index;
    UT_hash_handle hh;
};

static struct pnc_table_entry *find_entry(const pnc_table *table, const char *name)
{
    struct pnc_table_entry *entry;

    HASH_FIND(hh, table->head, name, (unsigned)strlen(name), entry);
    return entry;
}

int pnc_table_find(const pnc_table *table, const char *name)
{
    const struct pnc_table_entry *entry = find_entry(table, name);

    return entry != NULL ? entry->index : -1;
}

int pnc_table_add(pnc_table *table, const char *name, int index)
{
    bool added = true;
    struct pnc_table_entry *entry = pnc_memory_alloc(1, sizeof *entry);

    if (entry == NULL)
        return NC_ENOMEM;
    entry->name = name;
    entry->index = index;
    HASH_ADD_KEYPTR(hh, table->head, name, (unsigned)strlen(name), entry);
    if (added)
        return NC_NOERR;
    pnc_memory_free(entry);
    return NC_ENOMEM;
}

void pnc_table_remove(pnc_table *table, const char *name)
{
    struct pnc_table_entry *entry = find_entry(table, name);

    if (entry == NULL)
        return;
    HASH_DELETE(hh, table->head, entry);
    pnc_memory_free(entry);
}

void pnc_table_set(pnc_table *table, const char *name, int index)
{
    struct pnc_table_entry *entry = find_entry(table, name);

    if (entry != NULL)
        entry->index = index;
}

void pnc_table_clear(pnc_table *table)
{
    struct pnc_table_entry *entry, *next;

    /* HASH_CLEAR frees the buckets only: the chain in insertion order remains valid for the loop */
    entry = table->head;
    HASH_CLEAR(hh, table->head);
    for (; entry != NULL; entry = next) {
        next = entry->hh.next;
        pnc_memory_free(entry);
    }
    table->head = NULL;
}
